"""Words for what the GPU's compiler made of a text, and how that changed since the last save."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kernels.cuda_child.gpu_trial import Built
from kernels.cuda_child.warm_children import Held
from workbench.base import numbers
from workbench.panels.kernel.facts_card import FactRow

REGISTERS_TIP = "Registers per thread. More of them can leave room for fewer threads."
SPILLS_TIP = (
    "Local memory of a thread: registers that were spilled, and arrays of its own that it indexes "
    "as it runs. Both lie in the GPU's memory."
)
SHARED_TIP = "Shared memory of a block whose size is fixed in the text."
OCCUPANCY_TIP = "Warps that a multiprocessor holds at once, of those that it can hold at most."
HELD_TIP = (
    "By the processes that run your kernels: one works, one stands by in case that the other has "
    "to be ended. CUDA itself takes some hundred MB of the GPU's memory besides, each. They end "
    "with the window."
)


def build_rows(built: Built, before: Built | None) -> list[FactRow]:
    """Return what was built; before: by the text of the last save, None where there is none."""
    return [
        FactRow("Registers", _changed(_registers, built, before), REGISTERS_TIP),
        FactRow("Spills", _changed(_spills, built, before), SPILLS_TIP),
        FactRow("Shared memory", _changed(_shared, built, before), SHARED_TIP),
        *_occupancy_rows(built, before),
    ]


def held_rows(held: Held) -> Iterator[FactRow]:
    """Yield what tells the memory that is held; nothing where none is."""
    if held.children:
        processes = f"{held.children} process{'es' if held.children > 1 else ''}"
        device = f", {numbers.byte_count(held.device_bytes)} of the GPU's"
        words = f"{numbers.byte_count(held.host_bytes)}{device}, in {processes}"
        yield FactRow("Memory held", words, HELD_TIP)


def _occupancy_rows(built: Built, before: Built | None) -> Iterator[FactRow]:
    if built.occupancy is not None:
        words = _changed(_occupancy, built, before)
        yield FactRow("Occupancy", f"{words}. {built.occupancy.limit}", OCCUPANCY_TIP)


def _changed(in_words: Callable[[Built], str], built: Built, before: Built | None) -> str:
    now, then = in_words(built), "" if before is None else in_words(before)
    return now if then in ("", now) else f"{now} ({then} at the last save)"


def _registers(built: Built) -> str:
    return f"{built.registers} per thread"


def _spills(built: Built) -> str:
    size = built.local_bytes
    return f"{numbers.byte_count(size)} per thread" if size else "none"


def _shared(built: Built) -> str:
    size = built.shared_bytes
    return f"{numbers.byte_count(size)} per block" if size else "none"


def _occupancy(built: Built) -> str:
    found = built.occupancy
    if found is None:
        return ""
    if not found.most:
        return f"{found.warps} warps"
    return f"{numbers.percent(found.share)}, {found.warps} of {found.most} warps"
