"""Pictures in the device's memory: uploaded once, kept while they are wanted, downloaded."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels.core.cache import may_change, read_only
from kernels.core.device_turns import Turns
from kernels.core.errors import CannotRunError, OutOfMemoryError, cuda_errors_in_words
from kernels.core.job import Progress, Sampling
from kernels.core.nonlinear import MAX_KSIZE
from kernels.core.sampling import taking_samples
from kernels.core.timing import Timing
from kernels.rungs.headers import pitch_of

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
    # No view of another array, to which one may still write: it may be read-only altogether.
    return np.ndarray(picture.shape, picture.dtype, memory)


def pinned_bytes(count: int) -> int:
    """Page-locked bytes that CuPy's pool takes for `count` bytes: a power of two."""
    return 1 << (max(count, 512) - 1).bit_length()


class Moved(NamedTuple):
    """The time of one upload or download of a picture."""

    ms: float  # by the host's clock, from the call until all is there
    copy_ms: float  # over the bus alone, by CUDA events


class Staging:
    """An uploader of ordinary memory through two page-locked chunks.

    While one is on its way to the device, the next is being filled.  That is faster than CUDA's
    own copy from ordinary memory, and needs no page-locked copy of the whole picture.
    """

    def __init__(self, cp: Any, stream: Any) -> None:
        self._cp, self._stream = cp, stream
        self._chunks = [pinned_like(cp, np.empty(CHUNK_BYTES, np.uint8)) for _ in range(2)]

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
            copies.append(self._between_events((array.data + start).copy_from_host_async, staged))
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
    """Yield rows that fit a chunk, behind the byte of the array where they begin."""
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

Using = Callable[[str], AbstractContextManager[None]]  # of `Gpu`
WithRoom = Callable[[Callable[[], Any]], Any]


@dataclass(frozen=True, slots=True)
class Transfers:
    """The times of moving a picture each way, by the host's clock."""

    picture_bytes: int
    pageable_up: Timing  # as NumPy makes arrays
    pageable_down: Timing
    pinned_up: Timing  # memory that the device may read and write by itself
    pinned_down: Timing

    @property
    def timings(self) -> tuple[Timing, Timing, Timing, Timing]:
        return self.pageable_up, self.pageable_down, self.pinned_up, self.pinned_down


def measuring_transfers(
    cp: Any, stream: Any, count: int, using: Using, with_room: WithRoom, turns: Turns
) -> Iterator[Progress | Transfers]:
    """Measure all four, one after the other.  Raises CannotRunError, OutOfMemoryError."""
    if count > MAX_BYTES:
        raise CannotRunError(
            f"Transfers are measured up to {MAX_BYTES / 1e9:.1f} GB, and this picture takes "
            f"{count / 1e9:.1f} GB, as much of which again would have to be page-locked."
        )

    def make() -> Any:
        with using("making room for a transfer"):
            return cp.empty(count, np.uint8)

    memory = with_room(make).data
    ways = {"upload": memory.copy_from_host_async, "download": memory.copy_to_host_async}

    def run_ms(copy: Callable[[int, int, Any], None], host: int) -> float:
        with using("measuring a transfer"):
            start = perf_counter()
            copy(host, count, stream)
            stream.synchronize()
            return (perf_counter() - start) * 1e3

    def timed(host: int) -> Generator[Progress, None, list[Timing]]:
        found = []
        for name, copy in ways.items():
            run = partial(run_ms, copy, host)
            steps = taking_samples(run, SAMPLING, doing=f"timing the {name}", turns=turns)
            found.append((yield from steps))
        return found

    with using("making room for a transfer"):
        ordinary = np.empty(count, np.uint8)
        ordinary.fill(0)  # to have its pages, as a picture's bytes do
    pageable = yield from timed(ordinary.ctypes.data)
    del ordinary
    with using("page-locking memory for a transfer"):
        pinned = cp.cuda.alloc_pinned_memory(count)
    try:
        locked = yield from timed(pinned.ptr)
    finally:
        del pinned
        cp.get_default_pinned_memory_pool().free_all_blocks()
    yield Transfers(count, *pageable, *locked)


RESIDENT_PICTURES = 2  # the one in view, and a sweep's

# Rows above and below those of a part: the halo of any filter, and of a gradient after it.
HALO_ROOM = MAX_KSIZE // 2 + 1

Rows = tuple[int, int]  # first, end


class DevicePictures:
    """A cache of pictures in the device's memory.

    using      the context in which CUDA may be called, given what is done; see `Gpu`
    with_room  calls what makes an array, and again after making room where there was none
    """

    def __init__(self, cp: Any, stream: Any, using: Using, with_room: WithRoom) -> None:
        self._cp, self._using, self._with_room = cp, using, with_room
        self._staging = Staging(cp, stream)
        # By the picture's identity, which no other can have while it is kept, and its rows.
        self._resident: OrderedDict[tuple[int, Rows | None], tuple[NDArray[Any], Any]] = (
            OrderedDict()
        )

    def has(self, picture: NDArray[Any], rows: Rows | None = None) -> bool:
        """True if `picture`, or those rows of it as a part, are there."""
        return (id(picture), rows) in self._resident

    @property
    def nbytes(self) -> int:
        """Bytes of the device's memory that all kept pictures take."""
        return sum(array.nbytes for _, array in self._resident.values())

    def forget(self) -> None:
        self._resident.clear()

    def empty(self, picture: NDArray[Any], rows_more: int = 0) -> Any:
        """Return an uninitialised device array (H, pitch) for `picture`: see `pitch_of`.

        rows_more  how many rows it has beside those of the picture
        """
        height, width, channels = picture.shape
        shape = (height + rows_more, pitch_of(width, channels, picture.itemsize))
        with self._using(f"making room for {picture.nbytes / 1e6:.0f} MB"):
            return self._cp.empty(shape, picture.dtype)

    def upload(self, picture: NDArray[Any], rows: Rows | None = None) -> tuple[Any, Moved | None]:
        """Return a picture, or a part between HALO_ROOM rows, on the device, and its time."""
        key = id(picture), rows
        if key in self._resident:
            self._resident.move_to_end(key)
            return self._resident[key][1], None
        part, room = (picture, 0) if rows is None else (picture[slice(*rows)], HALO_ROOM)
        array = self._with_room(lambda: self.empty(part, 2 * room))
        with self._using("uploading the picture"):
            moved = self._staging.upload(part, array[room : room + len(part)])
        if not may_change(picture):
            self._resident[key] = (picture, array)
            if len(self._resident) > RESIDENT_PICTURES:
                _, (gone, _) = self._resident.popitem(last=False)
                # Results of pictures as large take each other's: locking memory takes long.
                if pinned_bytes(gone.nbytes) != pinned_bytes(picture.nbytes):
                    self._cp.get_default_pinned_memory_pool().free_all_blocks()
        return array, moved

    def download(self, array: Any, like: NDArray[Any]) -> tuple[NDArray[Any], Moved]:
        """Copy `array`, (H, pitch), into memory like the picture `like`, and time that.

        The memory is its own and read-only.
        """
        picture = self.pinned(like)
        moved = self.download_into(picture, array)
        return read_only(picture), moved

    def pinned(self, like: NDArray[Any]) -> NDArray[Any]:
        """Make an array like `like`, page-locked if that can be."""
        with self._using("making room for the result"):
            return pinned_like(self._cp, like)

    def download_into(self, picture: NDArray[Any], array: Any) -> Moved:
        """Copy the rows of `array`, (H, pitch), to `picture`, wait for it, and time that."""
        with self._using("downloading the result"):
            columns = picture.size // len(picture)
            begun = perf_counter()
            # Padded rows are moved together on the device, which is quicker than over the bus.
            packed = self._cp.ascontiguousarray(array[:, :columns])
            return self._staging.download(packed, picture, begun)
