"""One run in the child: its memory poisoned before, its red zones and its input looked at after."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kernels.core.device import Device, NoDevice
from kernels.core.errors import OutOfMemoryError
from kernels.core.job import Job
from kernels.core.timing import Cache
from kernels.cuda_child.child_requests import Phase
from kernels.cuda_child.device_layout import Place, layout_of
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


class HostMemory:
    """Memory of this computer for what goes to a device, kept from run to run.

    New memory would cost a fault a page, each time.
    """

    def __init__(self, device: GuardedDevice) -> None:
        self._device = device
        self._kept = KeptMemory(self._made)

    def array(self, size: int) -> NDArray[np.uint8]:
        """Return `size` bytes, whatever is in them, where computer and device have as much."""
        return self._kept.get(size)

    def _made(self, size: int) -> NDArray[np.uint8]:
        assert isinstance(self._device.facts, Device)
        if size <= self._device.facts.memory_bytes:
            try:
                return self._device.host_memory(size)
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
) -> dict[str, Any]:
    """Run it once into `answer`, (H, W, C); return its time and what it did that it may not."""
    assert isinstance(device.facts, Device)
    layout = layout_of(rung, job, device.facts)
    block = host.array(layout.size)
    layout.fill(block, job, turn)
    ms = device.launch(rung, job, rows, block, layout.places, cache, enter)
    answer.reshape(job.height, -1)[:] = layout.samples(block, "target", job)
    return {
        "ms": ms,
        "outside": layout.touched_outside(block),
        "padding": layout.touched_padding(block, job, turn),
        "changed": layout.is_changed(block, job),
    }
