"""What a rung's text defines for its passes to launch."""

from kernels.rungs.rung import Rung


def functions_of(rung: Rung) -> tuple[str, ...]:
    """The CUDA functions of its passes, each once."""
    return tuple(dict.fromkeys(each.function for each in rung.passes if not each.library))
