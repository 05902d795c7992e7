"""The words IN and OUT as pairs: which files are read, and which each of them is written to."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from workbench.base.same_file import identity
from workbench.batch.file_pairs import FilePair, FilePairs, Group
from workbench.batch.naming import Naming, PairingError
from workbench.files import neighbours
from workbench.files.image_files import EXTENSIONS, ZARR


@dataclass(frozen=True, slots=True)
class Pairs:
    """Everything to do.

    into_folder  whether the output is a folder
    complaints   a sentence for each input in which there are no pictures
    """

    pairs: Collection[FilePair]
    into_folder: bool
    complaints: tuple[str, ...] = ()


def pairs_of(
    inputs: Iterable[Path], output: str, *, recursive: bool = False, rename: Naming | None = None
) -> Pairs:
    """Return which file each input is written to.

    inputs     files, and folders: of these the files that have a picture's extension and no dot in
               front of their name, as a person sorts them
    output     a file, or a folder: one that is there, or one whose name ends with a separator, or
               any where there are several inputs
    recursive  look into the folders in folders, too, but not through links; OUT gets the same ones
    rename     of what is written into a folder; None: a result is called as its picture
    Raises PairingError rather than lose a picture.
    """
    inputs = list(inputs)
    target = Path(output)
    is_folder = names_folder(output) or _is_folder(target)
    if not is_folder and (len(inputs) > 1 or _is_folder(inputs[0])):
        if target.suffix.lower() in EXTENSIONS or _is_file(target):
            raise PairingError(f"With several pictures, {target} must be a folder, not a file.")
        is_folder = True
    complaints: list[str] = []
    if is_folder:
        pairs = FilePairs(_groups(inputs, target, recursive, complaints), rename or str)
    else:
        _refuse_nameless(target, is_named=rename is not None)
        source = Group(inputs[0].parent, target.parent, (inputs[0].name,), is_named=True)
        pairs = FilePairs([source], lambda _: target.name)
    pairs.refuse_losses()
    return Pairs(pairs, is_folder, tuple(complaints))


def names_folder(output: str) -> bool:
    """Return whether `output` says itself that it is a folder."""
    return output.endswith(("/", os.sep))


def _refuse_nameless(target: Path, *, is_named: bool) -> None:
    if is_named:
        raise PairingError(
            f"The extension of {target} says its format; --format is for folders and -."
        )
    if not target.suffix:
        raise PairingError(
            f"{target} names no format; give it an extension such as .png, or end it with / for a "
            "folder."
        )


def _groups(
    inputs: list[Path], target: Path, recursive: bool, complaints: list[str]
) -> Iterator[Group]:
    """Yield the pictures that `inputs` mean; a folder without any becomes a complaint."""
    for folder, files in groupby(inputs, lambda each: None if _is_folder(each) else each.parent):
        if folder is not None:
            yield Group(folder, target, tuple(each.name for each in files))
            continue
        for each in files:
            wrong: list[str] = []
            found = list(_groups_in(each, target, recursive, wrong))
            yield from found
            is_empty = not any(group.names for group in found)
            complaints += wrong or ([_nothing_in(each, recursive)] if is_empty else [])


def _nothing_in(folder: Path, recursive: bool) -> str:
    hint = "" if recursive else "; --recursive looks into the folders in it, too"
    return f"There are no pictures in {folder}{hint}."


def _groups_in(top: Path, output: Path, recursive: bool, complaints: list[str]) -> Iterator[Group]:
    """Yield the pictures in `top`, but nothing of what lies in `output`.

    A folder that cannot be looked into becomes one of the `complaints`.
    """
    left, outside = [(top, output)], identity(output)
    while left:
        folder, target = left.pop()
        try:
            names = neighbours.pictures_in(folder)
            folders = _folders_in(folder)
        except OSError as error:
            complaints.append(f"Cannot look into {folder}: {error.strerror}.")
            continue
        yield Group(folder, target, tuple(_shown(names)), target if target != output else None)
        if recursive:
            inner = [name for name in _shown(folders) if identity(folder / name) != outside]
            left += [(folder / name, target / name) for name in reversed(inner)]


# `Path.is_dir` and `Path.is_file` raise where looking is not allowed.
def _is_folder(path: Path) -> bool:
    """Tell a folder of pictures from a file, and from an OME-Zarr, which reading rejects."""
    return os.path.isdir(path) and path.suffix.lower() != ZARR  # noqa: PTH112


def _is_file(path: Path) -> bool:
    return os.path.isfile(path)  # noqa: PTH113


def _folders_in(folder: Path) -> list[str]:
    """List folders without links, which may lead in circles.  Raises OSError."""
    with os.scandir(folder) as entries:
        return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))


def _shown(names: Iterable[str]) -> Iterator[str]:
    """Return names without hidden ones: such as what macOS puts beside each file on other disks."""
    return (name for name in names if not name.startswith("."))
