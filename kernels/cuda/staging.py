"""Page-locked memory, which the GPU can copy from and to at the full speed of the bus."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels.core.device_turns import Turns
from kernels.core.errors import OutOfMemoryError, cuda_errors_in_words
from kernels.core.job import Progress, Sampling
from kernels.core.sampling import taking_samples
from kernels.core.timing import Timing

EventPair = tuple[Any, Any]  # of CUDA, before a copy and after
CHUNK_BYTES = 4 << 20  # long enough for full speed, short enough to page-lock in no time


def pinned_like(cp: Any, picture: NDArray[Any]) -> NDArray[Any]:
    """Return an uninitialised page-locked array like `picture`, whose memory CuPy pools.

    Ordinary memory, which is slower to copy, where the system grants no more page-locked.
    """
    try:
        with cuda_errors_in_words("page-locking memory"):
            memory = cp.cuda.alloc_pinned_memory(picture.nbytes)
    except OutOfMemoryError:
        return np.empty_like(picture)
    return np.frombuffer(memory, picture.dtype, picture.size).reshape(picture.shape)


def pinned_bytes(count: int) -> int:
    """Return how much page-locked memory CuPy's pool takes for so many bytes: a power of two."""
    return 1 << (max(count, 512) - 1).bit_length()


class Moved(NamedTuple):
    """The time of one upload or download of a picture.

    ms       by the host's clock, from the call until all is there: the host's own copying included
    copy_ms  the copies over the bus alone, by CUDA events; the few microseconds that the host takes
             to queue a copy behind its first event are in it
    """

    ms: float
    copy_ms: float


class Staging:
    """An uploader of ordinary memory through two page-locked chunks.

    While one is on its way to the device, the next is being filled.  That is faster than CUDA's
    own copy from ordinary memory, and needs no page-locked copy of the whole picture.
    """

    def __init__(self, cp: Any, stream: Any) -> None:
        self._cp = cp
        self._stream = stream
        chunk = np.empty(CHUNK_BYTES, np.uint8)
        self._chunks = [pinned_like(cp, chunk) for _ in range(2)]

    def upload(self, picture: NDArray[Any], array: Any) -> Moved:
        """Copy `picture` to the rows of the device array `array`, and wait for it.

        `picture` is (H, W, C) and C-contiguous, `array` (H, pitch) of the same dtype.
        """
        begun = perf_counter()
        rows = picture.reshape(len(picture), -1).view(np.uint8)
        pitch_bytes = array.shape[1] * picture.itemsize
        if rows.shape[1] == pitch_bytes:  # nothing between them: as one long row
            rows, pitch_bytes = rows.reshape(1, -1), picture.nbytes
        copies: list[EventPair] = []
        for number, (start, part) in enumerate(_parts(rows, pitch_bytes)):
            chunk = self._chunks[number % 2]
            if number >= 2:
                copies[number - 2][1].synchronize()  # the chunk's last content has left
            apart = pitch_bytes if len(part) > 1 else part.shape[1]
            staged = chunk[: len(part) * apart]
            staged.reshape(len(part), apart)[:, : part.shape[1]] = part
            copy = (array.data + start).copy_from_host_async
            copies.append(self._between_events(copy, staged))
        self._stream.synchronize()
        return self._moved(begun, copies)

    def download(self, packed: Any, picture: NDArray[Any], begun: float) -> Moved:
        """Copy the contiguous device array `packed` to `picture`, of as many bytes, and wait.

        begun  when the host began with it, by `perf_counter`
        """
        copies = [self._between_events(packed.data.copy_to_host_async, picture)]
        self._stream.synchronize()
        return self._moved(begun, copies)

    def _between_events(
        self, copy: Callable[[int, int, Any], None], host: NDArray[Any]
    ) -> EventPair:
        """Queue `copy` from or to all of `host`, between two events."""
        begun, ended = self._cp.cuda.Event(), self._cp.cuda.Event()
        begun.record(self._stream)
        copy(host.ctypes.data, host.nbytes, self._stream)
        ended.record(self._stream)
        return begun, ended

    def _moved(self, begun: float, copies: list[EventPair]) -> Moved:
        ms = (perf_counter() - begun) * 1e3
        return Moved(ms, sum(float(self._cp.cuda.get_elapsed_time(*pair)) for pair in copies))


def _parts(rows: NDArray[np.uint8], pitch_bytes: int) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    """Return `rows` cut to fit a chunk, and at which byte of the device array each begins.

    Several whole ones, or pieces of one that is too long.
    """
    together = CHUNK_BYTES // pitch_bytes
    for y in range(0, len(rows), max(together, 1)):
        if together:
            yield y * pitch_bytes, rows[y : y + together]
            continue
        for x in range(0, rows.shape[1], CHUNK_BYTES):
            yield y * pitch_bytes + x, rows[y : y + 1, x : x + CHUNK_BYTES]


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

    @property
    def timings(self) -> tuple[Timing, Timing, Timing, Timing]:
        """All four, in their order."""
        return self.pageable_up, self.pageable_down, self.pinned_up, self.pinned_down


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
