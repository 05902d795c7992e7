"""Time bringing a picture to the device and back, from ordinary and from pinned memory."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Literal

import numpy as np

from kernels.core.device_turns import Turns
from kernels.core.job import Progress, Sampling
from kernels.core.sampling import taking_samples
from kernels.core.timing import Timing

SAMPLING = Sampling(min_samples=10, max_samples=50, max_seconds=0.5, noise=0.02, warmups=2)
# Memory that is page-locked is taken from everything else that runs.
MAX_BYTES = 2 << 30

Using = Callable[[str], AbstractContextManager[None]]  # see `Gpu._using`


@dataclass(frozen=True, slots=True)
class Transfers:
    """The times of moving a picture of `picture_bytes` each way.

    Pageable: as NumPy makes arrays; pinned: memory that the device may read and write by
    itself.

    All four by the host's clock, from the call until the stream is done: a copy from pageable
    memory is for a good part the host's own work, which CUDA's events do not see.
    """

    picture_bytes: int
    pageable_up: Timing
    pageable_down: Timing
    pinned_up: Timing
    pinned_down: Timing


def why_not_transferred(picture_bytes: int) -> str | None:
    """Return why transfers of so much are not measured; None if they are."""
    if picture_bytes <= MAX_BYTES:
        return None
    return (
        f"Transfers are measured for pictures of up to {MAX_BYTES / 1e9:.1f} GB, and this one "
        f"takes {picture_bytes / 1e9:.1f} GB: as much memory again would have to be page-locked."
    )


def measuring_transfers(
    cp: Any, stream: Any, array: Any, using: Using, turns: Turns
) -> Iterator[Progress | Transfers]:
    """Measure all four, one after the other; at most one more picture takes host memory.

    array  uint8 of the picture's size, on the device
    using  the context in which CUDA may be called, which says failures in words
    turns  on the device, of which each copy has one
    Raises OutOfMemoryError where the host has no room for the picture, pinned or not.
    """
    count = int(array.nbytes)
    with using("making room for a transfer"):
        ordinary = _ordinary(count)
    up = yield from _one_way(stream, array, ordinary.ctypes.data, "up", using, turns)
    down = yield from _one_way(stream, array, ordinary.ctypes.data, "down", using, turns)
    del ordinary
    with using("page-locking memory for a transfer"):
        pinned = cp.cuda.alloc_pinned_memory(count)
    try:
        pinned_up = yield from _one_way(stream, array, pinned.ptr, "up", using, turns)
        pinned_down = yield from _one_way(stream, array, pinned.ptr, "down", using, turns)
    finally:
        del pinned
        cp.get_default_pinned_memory_pool().free_all_blocks()
    yield Transfers(count, up, down, pinned_up, pinned_down)


def _ordinary(count: int) -> np.ndarray[Any, Any]:
    """Return bytes that have their pages, as those of a picture do."""
    found = np.empty(count, np.uint8)
    found.fill(0)
    return found


def _one_way(
    stream: Any, array: Any, host: int, way: Literal["up", "down"], using: Using, turns: Turns
) -> Generator[Progress, None, Timing]:
    memory, count = array.data, int(array.nbytes)
    copy = memory.copy_from_host_async if way == "up" else memory.copy_to_host_async

    def run_ms() -> float:
        with using("measuring a transfer"):
            start = perf_counter()
            copy(host, count, stream)
            stream.synchronize()
            return (perf_counter() - start) * 1e3

    doing = "timing the upload" if way == "up" else "timing the download"
    return (yield from taking_samples(run_ms, SAMPLING, doing=doing, turns=turns))
