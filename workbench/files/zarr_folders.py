"""Folders that are OME-Zarr pictures: told from folders of pictures, without the package zarr."""

from __future__ import annotations

import os
from pathlib import Path, PurePath
from types import ModuleType

from workbench.files.picture_errors import ImageFileError

EXTENSION = ".zarr"
PART = ".part"  # behind the name of what is not whole yet
INSTALL = 'pip install "filter-workbench[zarr]"'
_MARKS = ("zarr.json", ".zattrs", ".zgroup")  # files that say so, of either version of Zarr


def is_zarr(path: Path) -> bool:
    """Return whether `path` is a folder that counts as one picture."""
    # `Path.is_dir` raises where a name is too long, or looking at it is not allowed.
    return os.path.isdir(path) and (names_zarr(path) or holds_zarr(path))  # noqa: PTH112


def holds_zarr(path: Path) -> bool:
    """Return whether there is a picture in the folder `path`, or more than one."""
    return any(os.path.isfile(path / name) for name in _MARKS)  # noqa: PTH113 - as above


def names_part(name: str) -> bool:
    """Return whether a folder of that name is a picture that is not whole, and none therefore."""
    return name.endswith(PART) and EXTENSION in PurePath(name).suffixes


def names_zarr(path: Path) -> bool:
    """Return whether a picture of that name is an OME-Zarr, there or not."""
    return path.suffix.lower() == EXTENSION


def zarr_package(name: str) -> ModuleType:
    """Return the package zarr, which the picture `name` needs.  Raises ImageFileError."""
    try:
        import zarr
    except ImportError as error:
        raise ImageFileError(f"{name} is an OME-Zarr, which needs zarr: {INSTALL}.") from error
    package: ModuleType = zarr
    return package
