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
        block: NDArray[np.uint8],
        places: Mapping[str, Place],
        cache: Cache,
        enter: Callable[[Phase], None],
    ) -> float:
        """Bring `block` to the device, run the kernel, wait for all of the device, fetch `block`.

        Says when it enters "launching" and "fetching"; returns the kernel's time in milliseconds.
        """

    def held_bytes(self) -> int:
        """Return the memory of the device that this process holds."""


class HostBlock:
    """Memory of this computer for what goes to the device, kept from run to run.

    New memory would cost a fault a page, each time.
    """

    def __init__(self) -> None:
        self._bytes = np.empty(0, np.uint8)

    def array(self, size: int, facts: Device) -> NDArray[np.uint8]:
        """Return `size` bytes, whatever is in them, where computer and device have as much."""
        if self._bytes.size != size:
            self._bytes = np.empty(0, np.uint8)
            self._bytes = _room(size, facts)
        return self._bytes


def guarded_run(
    device: GuardedDevice,
    rung: Rung,
    job: Job,
    turn: int,
    cache: Cache,
    enter: Callable[[Phase], None],
    host: HostBlock,
    answer: NDArray[Any],
) -> dict[str, Any]:
    """Run it once into `answer`, (H, W, C); return its time and what it did that it may not."""
    assert isinstance(device.facts, Device)
    layout = layout_of(rung, job, device.facts)
    block = host.array(layout.size, device.facts)
    layout.fill(block, job, turn)
    ms = device.launch(rung, job, block, layout.places, cache, enter)
    answer.reshape(job.height, -1)[:] = layout.samples(block, "target", job)
    return {
        "ms": ms,
        "outside": layout.touched_outside(block),
        "changed": layout.is_changed(block, job),
    }


def _room(size: int, facts: Device) -> NDArray[np.uint8]:
    if size <= facts.memory_bytes:
        try:
            return np.empty(size, np.uint8)
        except MemoryError:
            pass
    raise OutOfMemoryError(
        f"It takes {size / (1 << 30):,.3g} GiB for the picture, the answer and the kernel's own "
        "buffers, which there is no room for; use a smaller picture, or smaller buffers."
    )
