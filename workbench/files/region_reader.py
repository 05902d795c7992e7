"""Read rectangles of a picture larger than memory, whose file stays open meanwhile."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from kernels.core.surroundings import Surroundings

if TYPE_CHECKING:
    from workbench.files.large_pictures import LargePicture


class RegionReader:
    """A reader of one file after another, for one thread; to be closed."""

    def __init__(self) -> None:
        self._file: LargePicture | None = None
        self._of: tuple[Path, str] | None = None
        self._last: tuple[Surroundings, NDArray[Any]] | None = None

    def read(self, path: Path, pixel_type: str, wanted: Surroundings) -> NDArray[Any]:
        """Return the samples, (rows, columns, C), read-only, stored as `pixel_type`.

        Raises ImageFileError.
        """
        from workbench.files.large_pictures import LargePicture  # a start has no use for it

        if self._file is None or self._of != (path, pixel_type):
            self.close()
            self._file, self._of = LargePicture(path, pixel_type), (path, pixel_type)
        if self._last is None or self._last[0] != wanted:
            self._last = None  # before there are two
            samples = wanted.read(self._file.part)
            samples.flags.writeable = False
            self._last = wanted, samples
        return self._last[1]

    def close(self) -> None:
        """Let go of the file, and of what was read."""
        if self._file is not None:
            self._file.close()
        self._file = self._of = self._last = None
