"""A picture that is larger than memory: read some rows at a time, as the whole would be read."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kernels.core.borders import Span
from kernels.pictures.generated import stored_as
from workbench.files import colour_profiles, from_tiff, quiet_libraries
from workbench.files.image_decoders import failures_in_words, kept_of, upright
from workbench.files.picture_errors import ImageFileError
from workbench.files.picture_reader import Decoded
from workbench.model.state import Picture

BAND_SAMPLES = 1 << 21  # converted at once, since that takes several copies
# Orientations of EXIF that turn rows around, or columns; from _ON_ITS_SIDE on rows are columns.
_UPSIDE_DOWN, _MIRRORED = (3, 4), (2, 3)
_ON_ITS_SIDE = 5


class LargePicture:
    """A TIFF that is open, of any size, for one thread; to be closed.

    width, height, channels, dtype  of what `rows` gives: one of PIXEL_TYPES
    notes, metadata  as `Picture` has them
    """

    def __init__(
        self, path: Path, pixel_type: str | None = None, kept: int = 0, level: int = 0
    ) -> None:
        """Open the picture.

        pixel_type  store what is read so; None: as in the file
        kept        so many rows at the end of what was read last are wanted again, probably
        level       0: all of it; else one of the reduced copies in the file, as `sizes` counts

        Raises ImageFileError, also for what cannot be read some rows at a time.
        """
        self.path, self._pixel_type, self._level = path, pixel_type, level
        self._files = ExitStack()
        try:
            with quiet_libraries.without_warnings(), failures_in_words(path.name):
                self._reader = self._opened()
                self._rows = self._reader.rows(kept)
                self._files.callback(self._rows.close)
                self.notes = tuple(self._look())
        except BaseException:
            self.close()
            raise

    def rows(self, first: int, end: int, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return rows first to end - 1, (rows, W, C), C-contiguous; in `out` if given.

        Raises ImageFileError.
        """
        shape = (end - first, self.width, self.channels)
        out = np.empty(shape, self.dtype) if out is None else out
        with quiet_libraries.without_warnings(), failures_in_words(self.path.name):
            if self._is_as_stored:
                return self._rows.read(first, end, out)
            band = max(BAND_SAMPLES // (self.width * self._rows.channels), 1)
            for top in range(first, end, band):
                stop = min(top + band, end)
                if self._orientation in _UPSIDE_DOWN:
                    stored = self._rows.read(self.height - stop, self.height - top)
                else:
                    stored = self._rows.read(top, stop)
                out[top - first : stop - first] = self._meant(stored)
        return out

    def part(self, rows: Span, columns: Span) -> NDArray[Any]:
        """Return a rectangle, (rows, columns, C), C-contiguous; little else is decoded for it.

        Raises ImageFileError.
        """
        (first, end), (left, right) = rows, columns
        with quiet_libraries.without_warnings(), failures_in_words(self.path.name):
            if self._orientation in _UPSIDE_DOWN:
                first, end = self.height - end, self.height - first
            if self._orientation in _MIRRORED:
                left, right = self.width - right, self.width - left
            stored = self._rows.read_part((first, end), (left, right))
            if self._is_as_stored:
                return stored
            made = np.empty((*stored.shape[:2], self.channels), self.dtype)
            order = -1 if self._orientation in _UPSIDE_DOWN else 1
            into = made[::order]  # in the order of what is stored
            band = max(BAND_SAMPLES // stored[0].size, 1)
            for top in range(0, len(stored), band):
                into[top : top + band] = self._meant(stored[top : top + band])[::order]
        return made

    @property
    def sizes(self) -> tuple[tuple[int, int], ...]:
        """Return width and height of the whole, then of its reduced copies in the file."""
        with quiet_libraries.without_warnings(), failures_in_words(self.path.name):
            return self._reader.sizes()

    def sample(self) -> Picture:
        """Return a picture of one pixel that is like this one in all but its size."""
        pixel = np.zeros((1, 1, self.channels), self.dtype)
        return Picture(self.path.name, pixel, self.path, self.notes, metadata=self.metadata)

    @property
    def row_bytes(self) -> int:
        """Return the bytes of one row of what `rows` gives."""
        return int(self.width * self.channels * self.dtype.itemsize)

    @property
    def decoding_bytes(self) -> int:
        """Return what reading takes at most, beside what it gives."""
        return self._rows.decoding_bytes + (0 if self._is_as_stored else 32 * BAND_SAMPLES)

    @property
    def stamp(self) -> list[int]:
        """Return numbers that are others when the file has changed.  Raises OSError."""
        status = self.path.stat()
        return [status.st_size, status.st_mtime_ns]

    def close(self) -> None:
        """Let go of the file."""
        self._files.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _opened(self) -> from_tiff.TiffReader:
        reader = self._files.enter_context(from_tiff.opened_for_rows(self.path, self._level))
        if reader is None:
            raise ImageFileError(
                f"{self.path.name} does not fit into memory, and of this kind pictures are read as "
                "a whole; save it as a TIFF that is packed in another way, or not at all."
            )
        return reader

    def _look(self) -> list[str]:
        """Read one row, which tells of what type all are; return what is noted of the picture."""
        if 0 in (self._rows.height, self._rows.width):
            raise ValueError("no pixels")
        stored, notes = self._rows.read(0, 1), list[str]()
        decoded = self._reader.decoded(stored, notes)
        self._icc, self._orientation = decoded.icc, decoded.orientation
        if self._orientation >= _ON_ITS_SIDE:
            raise ImageFileError(
                f"{self.path.name} does not fit into memory, and lies on its side: its rows are "
                "columns of the picture; save it upright with another program."
            )
        self.width, self.height = self._rows.width, self._rows.height
        as_read = self._converted(decoded, notes)
        made = stored_as(as_read, self._pixel_type or str(as_read.dtype))
        self.channels, self.dtype = made.shape[2], made.dtype
        self._is_as_stored = made is stored and not notes
        self._reader.note_others(notes)
        self.metadata = kept_of(decoded, self.height, self.width, notes)
        return notes

    def _meant(self, stored: NDArray[Any]) -> NDArray[Any]:
        """Return what some rows as they are stored mean, upright, in the pixel type wanted."""
        samples = self._converted(self._reader.decoded(stored, []), [])
        return stored_as(samples, self._pixel_type or str(samples.dtype))

    def _converted(self, decoded: Decoded, notes: list[str]) -> NDArray[Any]:
        samples = decoded.samples
        if decoded.icc is not None:
            samples = colour_profiles.to_srgb(samples, decoded.icc, notes)
        return upright(samples, decoded.orientation, notes)
