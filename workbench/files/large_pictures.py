"""A picture that is larger than memory: read some rows at a time, as the whole would be read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from math import prod
from pathlib import Path
from time import monotonic
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kernels.core.borders import Span, Surroundings
from kernels.pictures.generated import stored_as
from workbench.files import from_tiff
from workbench.files.from_pillow import IsStopped
from workbench.files.image_decoders import ON_ITS_SIDE, failures_in_words, kept_of, upright
from workbench.files.needs import Need, is_large
from workbench.files.picture_errors import ImageFileError, StoppedError
from workbench.files.tiff_rows import TiffRows
from workbench.imaging.pictures import LargeSource, Picture

BAND_SAMPLES = 1 << 21  # converted at once, since that takes several copies
# Orientations of EXIF that turn rows around, or columns.
_UPSIDE_DOWN, _MIRRORED = (3, 4), (2, 3)


class LargePicture:
    """A TIFF that is open, of any size, for one thread; to be closed.

    width, height, channels, dtype  of what `rows` gives: one of PIXEL_TYPES
    notes, metadata, page  as `Picture` has them
    stamp  numbers that are others once the file has changed, and by page
    """

    def __init__(
        self, path: Path, pixel_type: str | None = None, kept: int = 0, copy: int = 0, page: int = 1
    ) -> None:
        """Open the picture.

        pixel_type  store what is read so; None: as in the file
        kept        so many rows at the end of what was read last are wanted again, probably
        copy        0: all of it; else one of the reduced copies in the file, as `sizes` counts
        page        number of the page, from 1

        Raises ImageFileError, also for what cannot be read some rows at a time.
        """
        self.path, self._pixel_type = path, pixel_type
        self._files = ExitStack()
        try:
            with failures_in_words(path.name):
                reader = from_tiff.opened(path, self._files, page, copy, by_rows=True)
                if reader is None:
                    raise ImageFileError(
                        f"{path.name} does not fit into memory, and is of a kind that is read as a "
                        "whole; save it as a TIFF that is packed in another way, or not at all."
                    )
                self._reader, self._rows = reader, TiffRows(path, reader.page, kept)
                self.page, self.stamp = reader.shown, self._stamp()
                self._files.callback(self._rows.close)
                self.notes = tuple(self._look())
        except BaseException:
            self.close()
            raise

    def rows(
        self, first: int, end: int, out: NDArray[Any] | None = None, columns: Span | None = None
    ) -> NDArray[Any]:
        """Read rows first to end - 1, (rows, columns, C), C-contiguous.  Raises ImageFileError.

        columns  of them, for which little else is decoded; None: all
        out      where they are put; None: in a new array
        """
        left, right = columns or (0, self.width)
        shape = (end - first, right - left, self.channels)
        out = np.empty(shape, self.dtype) if out is None else out
        if self._orientation in _MIRRORED:
            left, right = self.width - right, self.width - left
        with failures_in_words(self.path.name):
            if self._is_as_stored:
                return self._rows.read(first, end, (left, right), out)
            band = max(BAND_SAMPLES // ((right - left) * self._rows.channels), 1)
            (start, stop), part = self._in_file(first, end), None
            if right - left < self.width:  # of which nothing is kept between two reads
                part = self._rows.read(start, stop, (left, right))
            for top in range(first, end, band):
                above, below = self._in_file(top, min(top + band, end))
                if part is None:
                    stored = self._rows.read(above, below)
                else:
                    stored = part[above - start : below - start]
                samples = upright(self._reader.decoded(stored, []), [])
                samples = stored_as(samples, self._pixel_type or str(samples.dtype))
                out[top - first : top - first + band] = samples
        return out

    def _in_file(self, first: int, end: int) -> Span:
        """The rows in the file that are rows first to end - 1 of the picture."""
        if self._orientation in _UPSIDE_DOWN:
            return self.height - end, self.height - first
        return first, end

    @property
    def sizes(self) -> tuple[tuple[int, int], ...]:
        """The width and height of the whole, then of its reduced copies in the file."""
        with failures_in_words(self.path.name):
            return self._reader.sizes()

    def sample(self) -> Picture:
        """A picture of one pixel, all 0, of this one's type, channels, page, notes and metadata."""
        pixel = np.zeros((1, 1, self.channels), self.dtype)
        how: dict[str, Any] = {"metadata": self.metadata, "page": self.page}
        return Picture(self.path.name, pixel, self.path, self.notes, **how)

    @property
    def row_bytes(self) -> int:
        return int(self.width * self.channels * self.dtype.itemsize)

    @property
    def decoding_bytes(self) -> int:
        """The most memory that reading takes, beside its result."""
        return self._rows.decoding_bytes + (0 if self._is_as_stored else 32 * BAND_SAMPLES)

    @property
    def is_changed(self) -> bool:
        """True if the open file was written since; another one in its place is not read."""
        return self._stamp() != self.stamp

    def _stamp(self) -> tuple[int, int, int]:
        status = self._rows.status()
        return status.st_size, status.st_mtime_ns, self._reader.shown.number

    def close(self) -> None:
        """Let go of the file."""
        self._files.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _look(self) -> list[str]:
        """Read one row, which tells of what type all are; returns the notes on the picture."""
        if 0 in (self._rows.height, self._rows.width):
            raise ValueError("no pixels")
        stored, notes = self._rows.read(0, 1), list[str]()
        decoded = self._reader.decoded(stored, notes)
        self._orientation = decoded.orientation
        if self._orientation >= ON_ITS_SIDE:
            raise ImageFileError(
                f"{self.path.name} does not fit into memory, and lies on its side: its rows are "
                "columns of the picture; save it upright with another program."
            )
        self.width, self.height = self._rows.width, self._rows.height
        as_read = upright(decoded, notes)
        made = stored_as(as_read, self._pixel_type or str(as_read.dtype))
        self.channels, self.dtype = made.shape[2], made.dtype
        self._is_as_stored = made is stored and not notes
        self.metadata = kept_of(decoded, self.height, self.width, notes)
        return notes


MAX_SHOWN_PIXELS = 40_000_000  # of a copy; 100,000×100,000 are shown at 1/16
WORTH = 16  # a copy in the file with fewer than the largest number by this is not worth it
NEWS_S = 0.1  # between two words on how far it is

Size = tuple[int, int]  # width and height
Say = Callable[[float], None]  # gets the share that has been read


def load_reduced(
    path: Path, is_stopped: IsStopped = lambda: False, say: Say = lambda _: None, page: int = 1
) -> Picture:
    """Read a copy of a picture that fits into memory; all of it where that does.

    is_stopped, page  as `image_files.load` has them
    say               gets the share that has been read now and then

    Raises ImageFileError.
    """
    with LargePicture(path, page=page) as whole:
        like, size, stamp = whole.sample(), (whole.width, whole.height), whole.stamp
        sizes: Sequence[Size] = (size,)
        with suppress(ImageFileError):  # damaged copies are none
            sizes = whole.sizes
    level, step = _choice(sizes, like.samples)
    try:
        samples = _read(path, level, step, like, is_stopped, say)
    except ImageFileError as error:
        if isinstance(error, StoppedError) or level == 0:
            raise
        level, step = _choice(sizes[:1], like.samples)  # the copy in the file is damaged
        samples = _read(path, level, step, like, is_stopped, say)
    if (level, step) == (0, 1):
        return replace(like, samples=samples)
    large = LargeSource(*size, step * _factor(size, sizes[level]), stamp)
    where = "a reduced copy in the file" if level else f"one pixel of every {step}×{step}"
    note = f"Shown at {large.scale_in_words}, from {where}; zoom in for full resolution."
    return replace(like, samples=samples, large=large, notes=(*like.notes, note))


def _factor(size: Size, copy: Size) -> float:
    """Pixels of the whole for one of a copy, rounded where its size was."""
    factor = size[0] / copy[0]
    whole = round(factor)
    return whole if abs(factor - whole) * copy[0] <= 2 * whole else factor


def _choice(sizes: Sequence[Size], pixel: NDArray[Any]) -> tuple[int, int]:
    """Choose a level, 0 the whole, and a step: about the largest copy that takes little reading."""
    best = next((number for number, size in enumerate(sizes) if _fits(size, pixel)), None)
    if best == 0:
        return 0, 1
    larger = (len(sizes) if best is None else best) - 1
    step = 2
    while not _fits(_reduced(sizes[larger], step), pixel):
        step *= 2
    if best is not None and WORTH * prod(sizes[best]) >= prod(_reduced(sizes[larger], step)):
        return best, 1
    return larger, step


def _reduced(size: Size, step: int) -> Size:
    return -(-size[0] // step), -(-size[1] // step)


def _fits(size: Size, pixel: NDArray[Any]) -> bool:
    """True if so many pixels like that one can be worked on at ease."""
    samples = prod(size) * pixel.nbytes
    need = Need("", *size, pixel.shape[2], samples, samples)
    return min(size) < 2 or (prod(size) <= MAX_SHOWN_PIXELS and not is_large(need))


def _read(
    path: Path, level: int, step: int, like: Picture, is_stopped: Callable[[], bool], say: Say
) -> NDArray[Any]:
    """The chosen pixels, (H, W, C); raises ImageFileError where the copy is of another kind."""
    with LargePicture(path, copy=level, page=like.page.number) as picture:
        channels, dtype = like.samples.shape[2], like.samples.dtype
        if (picture.channels, picture.dtype) != (channels, dtype):
            raise ImageFileError(f"The reduced copies in {path.name} are of another kind.")
        width, height = _reduced((picture.width, picture.height), step)
        samples = np.empty((height, width, channels), dtype)
        columns, rows = (  # which stand for `step` of them each
            np.minimum(np.arange(count) * step + step // 2, extent - 1)
            for count, extent in ((width, picture.width), (height, picture.height))
        )
        told_s = monotonic()
        for number, row in enumerate(rows):
            if is_stopped():
                raise StoppedError("Reading was cancelled.")
            samples[number] = picture.rows(row, row + 1)[0, columns]
            if monotonic() - told_s > NEWS_S:
                told_s = monotonic()
                say(number / height)
    return samples


class RegionReader:
    """A reader of one file after another, for one thread; to be closed."""

    def __init__(self) -> None:
        self._file: LargePicture | None = None
        self._of: tuple[Path, str, int] | None = None
        self._last: tuple[Surroundings, NDArray[Any]] | None = None

    def read(self, picture: Picture, wanted: Surroundings) -> NDArray[Any]:
        """Return samples of the whole, (rows, columns, C), read-only, stored as the copy's.

        Raises ImageFileError.
        """
        assert picture.path is not None
        of = picture.path, str(picture.samples.dtype), picture.page.number
        if self._file is None or self._of != of:
            self.close()
            self._file, self._of = LargePicture(*of[:2], page=of[2]), of
        self._refuse_changed(picture)
        if self._last is None or self._last[0] != wanted:
            self._last = None  # before there are two
            file = self._file
            samples = wanted.read(lambda rows, columns: file.rows(*rows, columns=columns))
            samples.flags.writeable = False
            self._refuse_changed(picture)
            self._last = wanted, samples
        return self._last[1]

    def _refuse_changed(self, picture: Picture) -> None:
        assert self._file is not None
        is_other = picture.large is not None and self._file.stamp != picture.large.stamp
        if is_other or self._file.is_changed:
            name = self._file.path.name
            self.close()  # so that one that is put back is read
            raise ImageFileError(f"{name} has changed since it was opened; open it again.")

    def close(self) -> None:
        """Let go of the file, and of what was read."""
        if self._file is not None:
            self._file.close()
        self._file = self._of = self._last = None
