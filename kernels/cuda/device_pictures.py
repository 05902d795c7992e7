"""Pictures in the device's memory: uploaded once, kept while they are wanted, downloaded."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractContextManager
from time import perf_counter
from typing import Any

from numpy.typing import NDArray

from kernels.core.cache import may_change
from kernels.cuda.staging import Moved, Staging, pinned_like
from kernels.rungs.job_facts import pitch_of

RESIDENT_PICTURES = 2  # the one in view, and a sweep's

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
        self._resident: OrderedDict[int, tuple[NDArray[Any], Any]] = OrderedDict()

    def __contains__(self, picture: NDArray[Any]) -> bool:
        return id(picture) in self._resident  # it is kept, so no other can have its identity

    @property
    def nbytes(self) -> int:
        """Return the bytes of the device's memory that all kept pictures take."""
        return sum(array.nbytes for _, array in self._resident.values())

    def forget(self) -> None:
        """Drop all kept pictures."""
        self._resident.clear()

    def empty(self, picture: NDArray[Any]) -> Any:
        """Return an uninitialised device array (H, pitch) for `picture`: see `pitch_of`."""
        height, width, channels = picture.shape
        shape = (height, pitch_of(width, channels, picture.itemsize))
        with self._using(f"making room for {picture.nbytes / 1e6:.0f} MB"):
            return self._cp.empty(shape, picture.dtype)

    def upload(self, picture: NDArray[Any]) -> tuple[Any, Moved | None]:
        """Return `picture` on the device, and how long that took; None if it was there."""
        if picture in self:
            self._resident.move_to_end(id(picture))
            return self._resident[id(picture)][1], None
        array = self._with_room(lambda: self.empty(picture))
        with self._using("uploading the picture"):
            moved = self._staging.upload(picture, array)
        if not may_change(picture):
            self._resident[id(picture)] = (picture, array)
            if len(self._resident) > RESIDENT_PICTURES:
                self._resident.popitem(last=False)
                self._cp.get_default_pinned_memory_pool().free_all_blocks()
        return array, moved

    def download(self, array: Any, like: NDArray[Any]) -> tuple[NDArray[Any], Moved]:
        """Copy `array`, (H, pitch), into memory like the picture `like`, and time that.

        The memory is its own and read-only.
        """
        with self._using("downloading the result"):
            picture = pinned_like(self._cp, like)
            columns = picture.size // len(picture)
            begun = perf_counter()
            # Padded rows are moved together on the device, which is quicker than over the bus.
            packed = self._cp.ascontiguousarray(array[:, :columns])
            moved = self._staging.download(packed, picture, begun)
        picture.flags.writeable = False
        return picture, moved
