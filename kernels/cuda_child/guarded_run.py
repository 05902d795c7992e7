"""One run in the child: its memory poisoned before, its red zones and its input looked at after."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kernels.core.device import Device, NoDevice
from kernels.core.errors import OutOfMemoryError
from kernels.core.job import Job
from kernels.core.timing import Cache
from kernels.cuda_child.child_requests import Phase
from kernels.cuda_child.device_layout import Layout, Place, layout_of
from kernels.cuda_child.kept_memory import KeptMemory
from kernels.rungs.rung import Rung


class GuardedDevice(Protocol):
    """A device as the child uses it: CUDA's, or one that a test makes up.

    facts  of it, or why there is none
    """

    facts: Device | NoDevice

    def compile(self, rung: Rung, job: Job) -> dict[str, Any]:
        """Compile a rung for a job; return what the compiler made of it."""

    def launch(
        self,
        rung: Rung,
        job: Job,
        rows: tuple[int, int] | None,
        block: NDArray[np.uint8],
        places: Mapping[str, Place],
        cache: Cache,
        enter: Callable[[Phase], None],
    ) -> float:
        """Bring `block` to the device, run the kernel, wait for all of the device, fetch `block`.

        rows  (first, end) to write; None: all
        Says when it enters "launching" and "fetching"; returns the kernel's time in milliseconds.
        """

    def host_memory(self, size: int) -> NDArray[np.uint8]:
        """Return so many bytes of this computer's memory, for what goes to the device and back.

        Raises MemoryError.
        """

    def held_bytes(self) -> int:
        """Return the memory of the device that this process holds."""


@dataclass(slots=True, eq=False)
class _Room:
    """Memory of this computer for runs that need as much.

    block   goes to the device, and comes back
    before  what all of it but the picture is when it goes: not locked, so that on most computers no
            kernel reaches it
    filled  what `before` was filled for: which layout, and which turn
    """

    block: NDArray[np.uint8]
    before: NDArray[np.uint8]
    filled: tuple[Layout, int] | None = None


class HostMemory:
    """Memory of this computer for what goes to a device, kept from run to run with what is in it.

    New memory would cost a fault a page, and to poison it all again a good part of a run.
    """

    def __init__(self, device: GuardedDevice) -> None:
        self._device = device
        self._kept = KeptMemory(self._made)

    def filled(
        self, layout: Layout, job: Job, turn: int
    ) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Return the block that a run takes, and what to hold all but the picture in it against."""
        room = self._kept.get(layout.size)
        filled, room.filled = room.filled, None  # until it is filled wholly
        if filled is None or filled[0] != layout:
            layout.fill(room.before, job, turn)
        elif filled[1] != turn:
            layout.turn_over(room.before)
        room.filled = layout, turn
        layout.lay_around(room.block, room.before)
        layout.lay_in(room.block, job)
        return room.block, room.before

    def _made(self, size: int) -> _Room:
        assert isinstance(self._device.facts, Device)
        if size <= self._device.facts.memory_bytes:
            try:
                return _Room(self._device.host_memory(size), np.empty(size, np.uint8))
            except MemoryError:
                pass
        raise OutOfMemoryError(
            f"It takes {size / (1 << 30):,.3g} GiB for the picture, the answer and the kernel's "
            "own buffers, which there is no room for; use a smaller picture, or smaller buffers."
        )


def guarded_run(
    device: GuardedDevice,
    rung: Rung,
    job: Job,
    rows: tuple[int, int] | None,
    turn: int,
    cache: Cache,
    enter: Callable[[Phase], None],
    host: HostMemory,
    answer: NDArray[Any],
    taking_turn: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> dict[str, Any]:
    """Run it once into `answer`, (H, W, C); return its time and what it did that it may not.

    taking_turn  has the device for us alone
    """
    assert isinstance(device.facts, Device)
    layout = layout_of(rung, job, device.facts)
    block, before = host.filled(layout, job, turn)
    with taking_turn():
        ms = device.launch(rung, job, rows, block, layout.places, cache, enter)
    answer.reshape(job.height, -1)[:] = layout.samples(block, "target", job)
    return {
        "ms": ms,
        "outside": layout.touched_outside(block, before),
        "padding": layout.touched_padding(block, before, job),
        "changed": layout.is_changed(block, job),
    }
