"""Pictures in the device's memory: uploaded once, kept while they are wanted, downloaded."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractContextManager
from time import perf_counter
from typing import Any

from numpy.typing import NDArray

from kernels.core.cache import may_change
from kernels.core.job import MAX_KSIZE
from kernels.cuda.staging import Moved, Staging, pinned_bytes, pinned_like
from kernels.rungs.job_facts import pitch_of

RESIDENT_PICTURES = 2  # the one in view, and a sweep's

# Rows above and below those of a part: the halo of any filter, and of a gradient after it.
HALO_ROOM = MAX_KSIZE // 2 + 1

Rows = tuple[int, int]  # first, end
Using = Callable[[str], AbstractContextManager[None]]


class DevicePictures:
    """A cache of pictures in the device's memory.

    cp         the cupy module
    stream        what copies are queued on
    using         the context in which CUDA may be called, given what is done; see `Gpu`
    with_room     calls what makes an array, and again after making room where there was none
    """

    def __init__(
        self, cp: Any, stream: Any, using: Using, with_room: Callable[[Callable[[], Any]], Any]
    ) -> None:
        self._cp = cp
        self._using, self._with_room = using, with_room
        self._staging = Staging(cp, stream)
        # By the picture's identity, which no other can have while it is kept, and its rows.
        self._resident: OrderedDict[tuple[int, Rows | None], tuple[NDArray[Any], Any]] = (
            OrderedDict()
        )

    def __contains__(self, picture: NDArray[Any]) -> bool:
        return self.has_rows(picture, None)

    def has_rows(self, picture: NDArray[Any], rows: Rows | None) -> bool:
        """Return whether those rows of `picture` are there; None: all of it as one."""
        return (id(picture), rows) in self._resident

    @property
    def nbytes(self) -> int:
        """Return the bytes of the device's memory that all kept pictures take."""
        return sum(array.nbytes for _, array in self._resident.values())

    def forget(self) -> None:
        """Drop all kept pictures."""
        self._resident.clear()

    def empty(self, picture: NDArray[Any], rows_more: int = 0) -> Any:
        """Return an uninitialised device array (H, pitch) for `picture`: see `pitch_of`.

        rows_more  how many rows it has beside those of the picture
        """
        height, width, channels = picture.shape
        shape = (height + rows_more, pitch_of(width, channels, picture.itemsize))
        with self._using(f"making room for {picture.nbytes / 1e6:.0f} MB"):
            return self._cp.empty(shape, picture.dtype)

    def upload(self, picture: NDArray[Any]) -> tuple[Any, Moved | None]:
        """Return `picture` on the device, and how long that took; None if it was there."""
        return self._there(picture, None, lambda: self.empty(picture), slice(None))

    def upload_rows(self, picture: NDArray[Any], rows: Rows) -> tuple[Any, Moved | None]:
        """Return rows (first, end) of `picture` on the device, and how long that took, as `upload`.

        returns  (HALO_ROOM + rows + HALO_ROOM, pitch): what stands around the rows is the caller's
        """
        part = picture[slice(*rows)]
        own = slice(HALO_ROOM, HALO_ROOM + len(part))
        return self._there(picture, rows, lambda: self.empty(part, 2 * HALO_ROOM), own)

    def _there(
        self, picture: NDArray[Any], rows: Rows | None, make: Callable[[], Any], own: slice
    ) -> tuple[Any, Moved | None]:
        key = id(picture), rows
        if key in self._resident:
            self._resident.move_to_end(key)
            return self._resident[key][1], None
        array = self._with_room(make)
        moved = self.upload_into(array[own], picture if rows is None else picture[slice(*rows)])
        if not may_change(picture):
            self._resident[key] = (picture, array)
            if len(self._resident) > RESIDENT_PICTURES:
                _, (gone, _) = self._resident.popitem(last=False)
                # Locking memory takes longer than filling it, and all threads wait meanwhile:
                # results of pictures as large take each other's.
                if pinned_bytes(gone.nbytes) != pinned_bytes(picture.nbytes):
                    self._cp.get_default_pinned_memory_pool().free_all_blocks()
        return array, moved

    def download(self, array: Any, like: NDArray[Any]) -> tuple[NDArray[Any], Moved]:
        """Copy `array`, (H, pitch), into memory like the picture `like`, and time that.

        The memory is its own and read-only.
        """
        picture = self.pinned(like)
        moved = self.download_into(picture, array)
        picture.flags.writeable = False
        return picture, moved

    def pinned(self, like: NDArray[Any]) -> NDArray[Any]:
        """Return an uninitialised array like `like`, page-locked if that can be."""
        with self._using("making room for the result"):
            return pinned_like(self._cp, like)

    def upload_into(self, array: Any, picture: NDArray[Any]) -> Moved:
        """Copy `picture` to the rows of `array`, (H, pitch), wait for it, and time that."""
        with self._using("uploading the picture"):
            return self._staging.upload(picture, array)

    def download_into(self, picture: NDArray[Any], array: Any) -> Moved:
        """Copy the rows of `array`, (H, pitch), to `picture`, wait for it, and time that."""
        with self._using("downloading the result"):
            columns = picture.size // len(picture)
            begun = perf_counter()
            # Padded rows are moved together on the device, which is quicker than over the bus.
            packed = self._cp.ascontiguousarray(array[:, :columns])
            return self._staging.download(packed, picture, begun)
