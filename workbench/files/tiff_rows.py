"""The rows of large TIFFs, some at a time: read from any, and filled into one laid out first."""

from __future__ import annotations

import io
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import tifffile
from numpy.typing import NDArray
from PIL import Image
from tifffile import COMPRESSION, PREDICTOR

from kernels.core.borders import Span
from kernels.core.cpu_load import usable_cores
from workbench.files.image_encoders import tiff_around
from workbench.files.picture_errors import ImageFileError
from workbench.imaging.pictures import Metadata

JPEG_BLOCK = 16  # rows and columns that a JPEG may be filled up to
MAX_SEGMENT_BYTES = 1 << 30  # of the rows that can only be decoded together


class TiffRows:
    """The samples of a page, for one thread.

    page      of a kind that `from_tiff` reads, with samples that lie beside each other or in planes
    kept      so many rows at the end of what was read last are likely to be wanted again, and are
              not decoded twice; at its beginning, where one reads from the bottom up
    """

    def __init__(self, path: Path, page: tifffile.TiffPage, kept: int) -> None:
        self._page, self._kept_rows = page, kept
        self.height, self.width = int(page.imagelength), int(page.imagewidth)
        self.channels = int(page.samplesperpixel)
        stored = np.dtype(page.dtype)
        self.dtype = np.dtype(np.uint8) if stored == np.bool_ else stored.newbyteorder("=")
        self._is_raw = _is_raw(page)
        rows = int(page.tilelength if page.is_tiled else page.rowsperstrip)
        self._segment_width = int(page.tilewidth if page.is_tiled else page.imagewidth)
        self.segment_rows = 1 if self._is_raw else min(rows, self.height)
        if self.segment_rows * self.row_bytes > MAX_SEGMENT_BYTES:
            raise ImageFileError(
                f"{path.name} is packed in pieces too large to be read one by one; save it as a "
                "TIFF of tiles with another program."
            )
        self._file = path.open("rb")
        self._threads = ThreadPoolExecutor(usable_cores(), "tiff-segments")
        self._kept: dict[int, NDArray[Any]] = {}  # by their number from the top, decoded
        self._first = 0  # of what was read last

    @property
    def row_bytes(self) -> int:
        return self.width * self.channels * self.dtype.itemsize

    @property
    def decoding_bytes(self) -> int:
        """The most memory that reading takes, beside its result."""
        # Two rows of segments that are kept, one as it is in the file, and one that is unpacked.
        return 4 * self.segment_rows * self.row_bytes

    def read(
        self, first: int, end: int, columns: Span | None = None, out: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """Read rows first to end - 1, (rows, columns, C), in native byte order.

        columns  of them; None: all.  Of tiles only those are decoded that they need
        out      where they are put; None: in a new array
        Raises EOFError where the file is cut short, and whatever tifffile does where it is damaged.
        """
        left, right = columns or (0, self.width)
        is_whole = right - left == self.width
        shape = (end - first, right - left, self.channels)
        out = np.empty(shape, self.dtype) if out is None else out
        if self._is_raw:
            for y, rows in enumerate([out] if is_whole else out, first):
                # Samples lie one behind the other, not packed.
                before = y * self.row_bytes + left * self.channels * self.dtype.itemsize
                self._file.seek(self._page.dataoffsets[0] + before)
                if self._file.readinto(rows.data.cast("B")) < rows.nbytes:
                    raise EOFError(self._file.name)
                if np.dtype(self._page.parent.byteorder + rows.dtype.char) != rows.dtype:
                    rows.byteswap(inplace=True)
            return out
        rows, wide, kept = self.segment_rows, self._segment_width, dict[int, NDArray[Any]]()
        again = (end - self._kept_rows, end)
        if first < self._first:  # from the bottom up
            again = (first, first + self._kept_rows)
        across = range(left // wide, -(-right // wide))
        start, stop = across.start * wide, min(across.stop * wide, self.width)
        for number in range(first // rows, -(-end // rows)):
            top, bottom = number * rows, min((number + 1) * rows, self.height)
            span = slice(max(top, first) - top, min(bottom, end) - top)
            into = out[top + span.start - first : top + span.stop - first]
            is_kept = is_whole and top < again[1] and bottom > again[0]
            segments = self._kept.get(number) if is_whole else None
            if segments is None and is_whole and not is_kept and len(into) == bottom - top:
                self._decode(number, into, across)
                continue
            if segments is None:
                segments = np.empty((bottom - top, stop - start, self.channels), self.dtype)
                self._decode(number, segments, across)
            if is_kept:
                kept[number] = segments
            into[:] = segments[span, left - start : right - start]
        if is_whole:
            self._kept, self._first = kept, first
        return out

    def status(self) -> os.stat_result:
        """That of the open file.  Raises OSError."""
        return os.fstat(self._file.fileno())

    def close(self) -> None:
        """Let go of the file, and of the threads."""
        self._threads.shutdown()
        self._file.close()

    def _decode(self, number: int, out: NDArray[Any], across: range) -> None:
        page = self._page
        down = -(-self.height // self.segment_rows)
        all_across = -(-self.width // self._segment_width)
        planes = page.samplesperpixel if _is_planar(page) else 1
        at = [(plane * down + number) * all_across + x for plane in range(planes) for x in across]
        left = across.start * self._segment_width
        offsets, counts = (
            [each[i] for i in at] for each in (page.dataoffsets, page.databytecounts)
        )
        packed = page.parent.filehandle.read_segments(offsets, counts, at)

        def decode(each: tuple[bytes | None, int]) -> None:
            self._place(*each, (number * self.segment_rows, left), out)

        list(self._threads.map(decode, packed))  # which raises what they do

    def _how(self, data: bytes | None) -> dict[str, Any]:
        """The options of a segment's decoder; raises ValueError for a huge JPEG."""
        page = self._page
        if page.compression != COMPRESSION.JPEG:
            return {}
        if data is not None:
            with Image.open(io.BytesIO(data)) as packed:
                across, down = packed.width - self._segment_width, packed.height - self.segment_rows
                if max(across, down) >= JPEG_BLOCK or across < 0:
                    raise ValueError(f"a segment of {packed.size}")
        return {"jpegtables": page.jpegtables, "jpegheader": page.jpegheader}

    def _place(
        self, data: bytes | None, index: int, corner: tuple[int, int], out: NDArray[Any]
    ) -> None:
        """Decode a segment into `out`, whose first sample is of the row and column `corner`."""
        page = self._page
        segment, (plane, _, y, x, _), _ = page.decode(data, index, **self._how(data))
        y, x = y - corner[0], x - corner[1]
        channels = slice(plane, plane + 1) if _is_planar(page) else slice(None)
        if segment is None:  # left out, as of a picture with holes
            out[y:, x : x + self._segment_width, channels] = page.nodata
            return
        rows, width = out.shape[0] - y, out.shape[1] - x
        samples = segment[0, :rows, :width]
        out[y : y + len(samples), x : x + samples.shape[1], channels] = samples


def _is_planar(page: tifffile.TiffPage) -> bool:
    return bool(page.shaped[0] > 1)  # whatever number a damaged tag has for it


def _is_raw(page: tifffile.TiffPage) -> bool:
    """True if samples lie in the file as in memory, row by row, but for the order of bytes."""
    return bool(
        page.is_contiguous
        and page.compression == COMPRESSION.NONE
        and page.predictor == PREDICTOR.NONE
        and page.fillorder == 1
        and page.bitspersample == 8 * np.dtype(page.dtype).itemsize
        and not _is_planar(page)
    )


MAX_PAGES = 64  # that are looked at; a file with more is a stack
SAME_SHAPE = 0.01  # by so much the factors across and down may differ, beside rounding


def levels_of(tiff: tifffile.TiffFile) -> list[tifffile.TiffPage]:
    """The pages that hold the first page's picture smaller, the largest first.

    They are those in its SubIFDs, those that say so of themselves, and those that lie in tiles like
    it and are what a pyramid of tiles would have next.
    """
    first, found = tiff.pages.first, dict[int, tifffile.TiffPage]()
    others = tiff.pages[1:] if len(tiff.pages) <= MAX_PAGES else []
    for page in (*(first.pages or ()), *others):
        assert isinstance(page, tifffile.TiffPage)  # as `useframes` is off
        if _is_copy(page, first):
            found[page.imagewidth] = page
    return [found[width] for width in sorted(found, reverse=True)]


def _is_copy(page: tifffile.TiffPage, first: tifffile.TiffPage) -> bool:
    width, height = page.imagewidth, page.imagelength
    is_like = (page.samplesperpixel, page.dtype) == (first.samplesperpixel, first.dtype)
    if not is_like or min(width, height) < 1 or width >= first.imagewidth:
        return False
    across, down = first.imagewidth / width, first.imagelength / height
    is_next = page.is_tiled and first.is_tiled and abs(across - round(across)) <= across / width
    rounding = max(across / width, down / height)
    is_so_shaped = abs(across - down) <= SAME_SHAPE * across + rounding
    return bool(is_so_shaped and (page.is_subifd or page.is_reduced or is_next))


# -- TIFFs of tiles that are not packed: each has its place from the beginning, whatever is in it

TILE = 256  # pixels across and down, fewer where the picture has fewer
STEP = 16  # which a tile's sides are multiples of


def lay_out(
    path: Path, shape: tuple[int, int, int], dtype: np.dtype[Any], metadata: Metadata
) -> None:
    """Write a TIFF of that shape, (H, W, C), that is black, and takes next to nothing of the disk.

    Raises OSError.
    """
    high, wide = (min(TILE, -(-side // STEP) * STEP) for side in shape[:2])
    head, end, directory = tiff_around(shape, dtype, metadata, (high, wide))
    with path.open("wb") as file:
        file.write(head)
        file.seek(end)
        file.write(directory)


class TiledTiff:
    """A file that `lay_out` made, open for filling in its rows; to be closed."""

    def __init__(self, path: Path) -> None:
        """Open the file.  Raises OSError, and tifffile.TiffFileError where it is another one."""
        with tifffile.TiffFile(path) as tiff:
            page = tiff.pages.first
            self._offsets = np.array(page.dataoffsets, np.int64).reshape(
                -1, -(-page.imagewidth // page.tilewidth)
            )
            self._high, self._wide = page.tilelength, page.tilewidth
        self._file = path.open("r+b")
        self._tiles: NDArray[Any] | None = None

    def fill(self, first: int, rows: NDArray[Any]) -> None:
        """Put samples, (rows, W, C), into rows `first` and those below.  Raises OSError."""
        done = 0
        while done < len(rows):
            tile_row, top = divmod(first + done, self._high)
            count = min(self._high - top, len(rows) - done)
            self._fill(tile_row, top, rows[done : done + count])
            done += count

    def sync(self) -> None:
        """Return once all is on the disk.  Raises OSError."""
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def _fill(self, tile_row: int, top: int, rows: NDArray[Any]) -> None:
        """Put rows into tiles beside each other, from their row `top` on."""
        offsets = self._offsets[tile_row]
        height, width, channels = rows.shape
        across, wide = len(offsets), self._wide
        tiles = self._room((across, height, wide, channels), rows.dtype)
        whole = width // wide
        tiles[:whole] = (
            rows[:, : whole * wide].reshape(height, whole, wide, channels).swapaxes(0, 1)
        )
        if whole < across:
            tiles[whole, :, : width - whole * wide] = rows[:, whole * wide :]
            tiles[whole, :, width - whole * wide :] = 0
        if height == self._high and np.all(np.diff(offsets) == tiles[0].nbytes):
            self._write(int(offsets[0]), tiles)
            return
        for offset, tile in zip(offsets, tiles, strict=True):
            self._write(int(offset) + top * tile[0].nbytes, tile)

    def _room(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return an array with anything in it, the same as last time where it is like that."""
        if self._tiles is None or (self._tiles.shape, self._tiles.dtype) != (shape, dtype):
            self._tiles = np.empty(shape, dtype)
        return self._tiles

    def _write(self, offset: int, samples: NDArray[Any]) -> None:
        self._file.seek(offset)
        self._file.write(samples.data)
