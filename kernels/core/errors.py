"""Failures that a user can meet; anything else is a bug and must look like one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches

# After these (illegal address, launch failure, ...) "the process must be terminated and
# relaunched", as the CUDA runtime's documentation of cudaError has it.
STICKY_STATUS = frozenset({4, 214, 220, 700, 702, 709, 710, *range(714, 720), 721, 999})
# The GPU is out of reach: unplugged, switched off, asleep, or another process has it for itself.
GONE_STATUS = frozenset({3, 46, 100, 101, 201, 802})
# A line of NVRTC's: 03_shared.cu(31): error: identifier "x" is undefined
FIRST_ERROR = re.compile(
    r"^(?:.*[/\\])?([^/\\\n]+?)\((\d+)\): (?:catastrophic )?error(?: #[\w-]+)?: (.+?)\.?$", re.M
)
OUT_OF_MEMORY = "The GPU ran out of memory while {}; use a smaller picture or a CPU implementation."
OUT_OF_MEMORY_STATUS = 2  # of CUDA's runtime and driver, and of cuFFT as well


class KernelError(Exception):
    """An expected failure; str(error) is one sentence written for the user."""


class BadJobError(KernelError):
    """The job makes no sense: an even size, an unknown border, a wrong pixel type."""


class CannotRunError(KernelError):
    """An implementation rejects this job; the sentence is its `why_not`."""


class OutOfMemoryError(KernelError):
    """The device, or this computer, has too little memory for the job."""


class CompileFailedError(KernelError):
    """A kernel did not compile; the compiler's own words are in `log`."""

    def __init__(self, sentence: str, log: str = "") -> None:
        super().__init__(sentence)
        self.log = log

    @classmethod
    def from_log(cls, what: str, log: str) -> CompileFailedError:
        """An error that says `what` and the first error of `log`, by file and line."""
        found = FIRST_ERROR.search(log)
        first = f"{found[1]}, line {found[2]}: {found[3]}" if found else "see the compiler's log"
        return cls(f"{what}: {first}.", log)


def in_full(error: KernelError) -> str:
    """The error's sentence for a terminal, with the compiler's log below it, if any."""
    log = error.log.rstrip() if isinstance(error, CompileFailedError) else ""
    return f"{error}\n{log}" if log else str(error)


def bug_in_words(error: BaseException) -> str:
    """Describe an unexpected exception in a sentence, without its traceback."""
    said = str(error).strip().partition("\n")[0].rstrip(".")
    return f"a bug in this program, {type(error).__name__}{said and f': {said}'}."


class LaunchRefusedError(KernelError):
    """The device refused this configuration; another may work."""


class GivenUpError(KernelError):
    """A first run takes, or would take, longer than it was given."""


class DeviceLostError(KernelError):
    """Nothing on the GPU will work until it is back, or the program is restarted."""


class SessionFileError(KernelError):
    """A file of measurements cannot be read or written, or belongs to another plan or machine."""


class PlanFileError(BadJobError):
    """A plan of measurements in a file makes no sense, or cannot be read."""


@contextmanager
def cuda_errors_in_words(doing: str) -> Iterator[None]:
    """Turn CuPy's exceptions into those of this module.

    No other module catches a CuPy exception.

    doing  what was under way, after "while": "filtering 4096×4096 pixels"
    """
    import cupy as cp

    try:
        yield
    except cp.cuda.memory.OutOfMemoryError as error:
        raise OutOfMemoryError(OUT_OF_MEMORY.format(doing)) from error
    except cp.cuda.compiler.CompileException as error:
        what = f"A kernel did not compile while {doing}"
        raise CompileFailedError.from_log(what, str(error)) from error
    except (OSError, ImportError) as error:  # no room for the kernel cache, no NVRTC
        raise CompileFailedError(
            f"The GPU cannot be used while {doing}: {error}; check the disk and `workbench doctor`."
        ) from error
    except RuntimeError as error:
        # By its name: to import cuFFT's takes cuFFT, which need not be there.
        if type(error).__name__ not in ("CUDARuntimeError", "CUDADriverError", "CuFFTError"):
            raise
        raise _from_status(error, doing) from error


def _from_status(error: Exception, doing: str) -> KernelError:
    status = getattr(error, "status", getattr(error, "result", 0))  # the latter in an older CuPy
    name = str(error).partition(":")[0]  # of the status: all behind it are words
    lost = f"while {doing} ({name}); until"
    if status in STICKY_STATUS:
        lost = f"The GPU failed {lost} the program is restarted only the CPU works."
        return DeviceLostError(lost)
    if status in GONE_STATUS:
        return DeviceLostError(f"The GPU was lost {lost} it is back only the CPU works.")
    if status == OUT_OF_MEMORY_STATUS:
        return OutOfMemoryError(OUT_OF_MEMORY.format(doing))
    return LaunchRefusedError(
        f"The GPU refused while {doing} ({error}); try another block shape or implementation."
    )


MANY = 24  # names that a sentence has room for


def hint_of(name: str, known: Sequence[str], otherwise: str = "") -> str:
    """The end of a sentence on an unknown name: the nearest of those `known`, or the first ones."""
    if near := get_close_matches(name, known, n=1):
        return f"did you mean {near[0]}?"
    more = "" if len(known) <= MANY else f" and {len(known) - MANY} more"
    return f"choose from {', '.join(known[:MANY])}{more}{otherwise}."
