"""A TIFF of tiles that is laid out first, then filled in row by row, and can be resumed.

Its tiles are not packed, so that each has its place from the beginning, whatever is in them.
"""

from __future__ import annotations

import os
from io import FileIO
from pathlib import Path
from typing import Any, Self

import numpy as np
import tifffile
from numpy.typing import NDArray

from workbench.files import exif as exif_of
from workbench.files.image_encoders import MAX_TIFF_BYTES, tiff_words
from workbench.imaging.pictures import Metadata

TILE = 256  # pixels across and down, fewer where the picture has fewer
STEP = 16  # which a tile's sides are multiples of


def lay_out(
    path: Path, shape: tuple[int, int, int], dtype: np.dtype[Any], metadata: Metadata
) -> None:
    """Write a TIFF of that shape, (H, W, C), that is black, and takes next to nothing of the disk.

    Raises OSError.
    """
    height, width, channels = shape
    high, wide = (min(TILE, -(-side // STEP) * STEP) for side in (height, width))
    pixels = -(-height // high) * high * -(-width // wide) * wide
    is_big = pixels * channels * dtype.itemsize > MAX_TIFF_BYTES
    with _Sparse(path, "w+") as file:
        with tifffile.TiffWriter(file, bigtiff=is_big) as tiff:
            tiff.write(
                None,
                shape=shape if channels > 1 else shape[:2],
                dtype=dtype,
                tile=(high, wide),
                **tiff_words(dtype, channels, metadata, is_big=is_big),
            )
        file.truncate(max(file.tell(), file.seek(0, 2)))
        if metadata.exif is not None:
            exif_of.fill_tiff(file, metadata.exif)


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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

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


class _Sparse(FileIO):
    """A file in which zeros that are written are left out, to be filled in later."""

    def write(self, data: Any) -> int:
        """Write `data`, or go on behind it where it is nothing but zeros."""
        view = memoryview(data).cast("B")
        if view.nbytes < STEP * TILE or np.frombuffer(view, np.uint8).any():
            return super().write(view)
        self.seek(view.nbytes, 1)
        return view.nbytes
