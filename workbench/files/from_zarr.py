"""An OME-Zarr picture of version 0.4 or 0.5, at one of its resolutions: some rows at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.borders import Span
from kernels.core.job import PIXEL_TYPES
from workbench.files.picture_errors import ImageFileError
from workbench.files.picture_reader import Decoded
from workbench.files.tiff_rows import MAX_SEGMENT_BYTES
from workbench.files.zarr_folders import zarr_package

AXES = ("t", "c", "z", "y", "x")  # in their order; of t and z there is one at most
VERSIONS = ("0.4", "0.5")
MAX_CHANNELS = 4
# Chunks that zarr decodes at a time, each of them packed, unpacked and as it is put in its place.
AT_ONCE, COPIES = 10, 3


class ZarrReader:
    """An OME-Zarr picture that is open for its rows."""

    def __init__(self, path: Path, level: int = 0) -> None:
        """Open it.  Raises ImageFileError for what is no picture that can be filtered.

        level  0: the highest resolution; else another, as `sizes` counts them
        """
        zarr = zarr_package(path.name)
        if not path.is_dir():
            raise ImageFileError(
                f"There is no folder {path.name} in {path.parent}; check the name."
            )
        group = _group(zarr, path)
        names, self._levels = _described(path, group.attrs.asdict())
        self._array = group[self._levels[level]]
        self._group, self._path, self._names = group, path, names
        _refuse_odd(path, names, self._array)

    def sizes(self) -> tuple[tuple[int, int], ...]:
        """Return width and height of each resolution, the highest first."""
        shapes = (self._group[name].shape for name in self._levels)
        return tuple((int(shape[-1]), int(shape[-2])) for shape in shapes)

    def rows(self, kept: int) -> ZarrRows:
        """Return what reads samples as they are stored; `kept` as TiffRows has it."""
        return ZarrRows(self._path, self._array, self._names, kept)

    def decoded(self, stored: NDArray[Any], _notes: list[str]) -> Decoded:
        """Return what samples, (rows, W, C) as they are stored, mean."""
        return Decoded(stored)

    def note_others(self, notes: list[str]) -> None:
        """Note what else is in the folder."""
        if len(self._levels) > 1:
            notes.append(f"The highest of its {len(self._levels)} resolutions is filtered.")


class ZarrRows:
    """The samples of an array, for one thread; chunks that are wanted again are kept."""

    def __init__(self, path: Path, array: Any, names: str, kept: int) -> None:
        self._array, self._names, self._kept_rows = array, names, kept
        size = dict(zip(names, array.shape, strict=True))
        chunk = dict(zip(names, array.chunks, strict=True))
        self.height, self.width = int(size["y"]), int(size["x"])
        self.channels = int(size.get("c", 1))
        self.dtype = np.dtype(array.dtype).newbyteorder("=")
        self.segment_rows = min(int(chunk["y"]), self.height)
        self._chunk_bytes = int(np.prod(array.chunks)) * self.dtype.itemsize
        self._kept: dict[int, NDArray[Any]] = {}  # rows of chunks, by their number from the top
        if max(self.segment_rows * self.row_bytes, self._chunk_bytes) > MAX_SEGMENT_BYTES:
            raise ImageFileError(
                f"{path.name} has chunks too large to be read one by one; save it in smaller ones."
            )

    @property
    def row_bytes(self) -> int:
        """Return the bytes of one row, decoded."""
        return int(self.width * self.channels * self.dtype.itemsize)

    @property
    def decoding_bytes(self) -> int:
        """Return what reading takes at most, beside what it gives."""
        # Two rows of chunks that are kept, one as zarr gives it, and that with its axes in order.
        across = -(-self.width // self._array.chunks[-1])
        unpacking: int = min(AT_ONCE, across * self.channels) * self._chunk_bytes
        return 4 * self.segment_rows * self.row_bytes + COPIES * unpacking

    def read(self, first: int, end: int, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return rows first to end - 1, (rows, W, C), in native byte order; in `out` if given."""
        shape = (end - first, self.width, self.channels)
        out = np.empty(shape, self.dtype) if out is None else out
        rows, wanted = self.segment_rows, end - self._kept_rows
        for number in range(first // rows, -(-end // rows)):
            top = number * rows
            chunks = self._chunks(number)
            y, stop = max(top, first), min(top + rows, end)
            out[y - first : stop - first] = chunks[y - top : stop - top]
            self._kept = {n: each for n, each in self._kept.items() if (n + 1) * rows > wanted}
        return out

    def read_part(self, rows: Span, columns: Span) -> NDArray[Any]:
        """Return a rectangle, (rows, columns, C), in native byte order, of the chunks it needs."""
        return self._found(slice(*rows), slice(*columns))

    def close(self) -> None:
        """Let go of what was kept."""
        self._kept.clear()

    def _chunks(self, number: int) -> NDArray[Any]:
        """Return the rows of all chunks beside each other, (rows, W, C)."""
        if number not in self._kept:
            top = number * self.segment_rows
            rows = slice(top, min(top + self.segment_rows, self.height))
            self._kept[number] = self._found(rows, slice(None))
        return self._kept[number]

    def _found(self, rows: slice, columns: slice) -> NDArray[Any]:
        at: dict[str, Any] = {"t": 0, "z": 0, "c": slice(None), "y": rows, "x": columns}
        found = self._array[tuple(at[name] for name in self._names)]
        beside = np.moveaxis(found, 0, 2) if "c" in self._names else found[:, :, None]
        return np.ascontiguousarray(beside, self.dtype)


def _group(zarr: Any, path: Path) -> Any:
    try:
        return zarr.open_group(path, mode="r")
    except FileNotFoundError as error:
        raise ImageFileError(
            f"{path.name} is a folder, but holds no OME-Zarr picture; choose a picture inside it."
        ) from error


def _described(path: Path, attributes: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Return the names of the axes, and where the resolutions are, the highest first."""
    said = attributes.get("ome", attributes)
    if "multiscales" not in said:
        raise ImageFileError(
            f"{path.name} is no OME-Zarr picture, or holds several; name the folder of one, "
            f"such as {path.name}/0."
        )
    picture = said["multiscales"][0]
    version = said.get("version", picture.get("version", VERSIONS[0]))
    if version not in VERSIONS:
        raise ImageFileError(
            f"{path.name} is an OME-Zarr of version {version}; "
            f"{' and '.join(VERSIONS)} can be read."
        )
    names = [str(axis["name"]) for axis in picture["axes"]]
    if names != [each for each in AXES if each in names] or names[-2:] != ["y", "x"]:
        raise ImageFileError(
            f"{path.name} has the axes {', '.join(names)}; y and x, with c before them, can be "
            "filtered, and t and z where there is one of them."
        )
    datasets: Sequence[Mapping[str, Any]] = picture["datasets"]
    return "".join(names), tuple(str(each["path"]) for each in datasets)


def _refuse_odd(path: Path, names: str, array: Any) -> None:
    """Raise ImageFileError for an array that is no picture as the workbench has them."""
    size = dict(zip(names, array.shape, strict=True))
    for name, what in (("t", "points in time"), ("z", "planes")):
        if size.get(name, 1) != 1:
            raise ImageFileError(f"{path.name} has {size[name]:,} {what}; save one of them alone.")
    if not 1 <= size.get("c", 1) <= MAX_CHANNELS:
        raise ImageFileError(
            f"{path.name} has {size['c']:,} channels; save 1 to {MAX_CHANNELS} of them alone."
        )
    if np.dtype(array.dtype).newbyteorder("=") not in map(np.dtype, PIXEL_TYPES):
        raise ImageFileError(
            f"{path.name} has samples of {array.dtype}; save them as {', '.join(PIXEL_TYPES[:-1])} "
            f"or {PIXEL_TYPES[-1]}."
        )
