"""An OME-Zarr picture of one resolution that is laid out first, then filled in chunk by chunk.

A chunk is written once all of its rows are there, so that one is never read to be added to.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from workbench.files.tiled_tiff import TILE
from workbench.files.zarr_folders import zarr_package

ACROSS = 4 * TILE  # pixels of a chunk, which is TILE down and holds all channels
LEVEL = "0"  # the name of the array
_AXES = ({"name": "c", "type": "channel"}, *({"name": each, "type": "space"} for each in "yx"))
_SCALE = {"type": "scale", "scale": [1.0, 1.0, 1.0]}


def lay_out(path: Path, shape: tuple[int, int, int], dtype: np.dtype[Any], name: str) -> None:
    """Write a folder for a picture of that shape, (H, W, C), that is black.

    name  of the picture

    Raises OSError, and ImageFileError where there is no zarr.
    """
    height, width, channels = shape
    zarr = zarr_package(name)
    resolution = {"path": LEVEL, "coordinateTransformations": [_SCALE]}
    picture = {"name": name, "axes": list(_AXES), "datasets": [resolution]}
    said = {"ome": {"version": "0.5", "multiscales": [picture]}}
    group = zarr.open_group(path, mode="w", zarr_format=3, attributes=said)
    group.create_array(
        LEVEL,
        shape=(channels, height, width),
        chunks=(channels, min(TILE, height), min(ACROSS, width)),
        dtype=dtype,
        compressors=None,  # which takes longer than the disk
        dimension_names=("c", "y", "x"),
    )
    (path / LEVEL / "c" / "0").mkdir(parents=True)


def layout_of(path: Path) -> Path:
    """Return the file that says how the samples of a picture are laid out."""
    return path / LEVEL / "zarr.json"


class ChunkedZarr:
    """A folder that `lay_out` made, open for filling in its rows from `first` on, in order."""

    def __init__(self, path: Path, first: int) -> None:
        """Open the folder; `first` is a row that `finished` gave.  Raises OSError."""
        self._array = zarr_package(path.name).open_group(path, mode="r+")[LEVEL]
        channels, self._height, width = self._array.shape
        self._rows = self._array.chunks[1]
        self._folder = path / LEVEL / "c" / "0"
        self._held = np.empty((self._rows, width, channels), self._array.dtype)
        self._fresh: set[Path] = set()  # folders of chunks that may not be on the disk
        for each in self._folder.iterdir():  # what a kill left there may be cut short
            if each.name.isdecimal() and int(each.name) * self._rows >= first:
                shutil.rmtree(each)

    def fill(self, first: int, rows: NDArray[Any]) -> None:
        """Put samples, (rows, W, C), into rows `first` and those below.  Raises OSError."""
        done, end = 0, first + len(rows)
        while done < len(rows):
            top = first + done
            held = top % self._rows
            count = min(self._rows - held, len(rows) - done)
            chunks = self._held[: held + count]
            chunks[held:] = rows[done : done + count]
            done += count
            if len(chunks) == self._rows or end == self._height == top + count:
                self._write(top - held, chunks)

    def finished(self, rows: int) -> int:
        """Return how many rows are in the folder, where so many were filled in."""
        return rows if rows == self._height else rows - rows % self._rows

    def sync(self) -> None:
        """Return once what is in the folder is on the disk.  Raises OSError."""
        for folder in self._fresh:
            for chunk in folder.iterdir():
                _sync(chunk)
            _sync_folder(folder)
        _sync_folder(self._folder)
        self._fresh.clear()

    def close(self) -> None:
        """Let go of the folder."""
        self._fresh.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _write(self, top: int, chunks: NDArray[Any]) -> None:
        self._array[:, top : top + len(chunks)] = np.moveaxis(chunks, 2, 0)
        folder = self._folder / str(top // self._rows)
        if folder.is_dir():  # chunks that are black are left out
            self._fresh.add(folder)


def _sync(path: Path) -> None:
    with path.open("r+b") as file:
        os.fsync(file.fileno())


def _sync_folder(path: Path) -> None:
    with suppress(OSError):  # a system on which folders cannot be opened
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
