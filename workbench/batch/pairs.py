"""Pairs of files: which are read, and which each of them is written to."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from workbench.base.same_file import identity
from workbench.files import neighbours
from workbench.files.image_files import EXTENSIONS


class PairingError(Exception):
    """Inputs and output do not fit together.  str(error) is one sentence for the user."""


@dataclass(frozen=True, slots=True)
class FilePair:
    """A picture file and the file that its result is to be written to.

    source_shown, target_shown  what they are called, if not by their paths
    folder  what may have to be made for the target, below the folder that was named; None: nothing
    """

    source: Path
    target: Path
    folder: Path | None = None
    source_shown: str = ""
    target_shown: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "source_shown", self.source_shown or str(self.source))
        object.__setattr__(self, "target_shown", self.target_shown or str(self.target))

    @property
    def name(self) -> str:
        """Return the source's name, without its folder."""
        return self.source.name or self.source_shown


@dataclass(frozen=True, slots=True)
class Pairs:
    """Everything to do.

    into_folder  whether the output is a folder
    complaints   a sentence for each input in which there are no pictures
    """

    pairs: tuple[FilePair, ...]
    into_folder: bool
    complaints: tuple[str, ...] = ()


def pairs_of(
    inputs: Iterable[Path], output: str, *, recursive: bool = False, extension: str | None = None
) -> Pairs:
    """Return which file each input is written to.

    inputs     files, and folders: of these the files that have a picture's extension and no dot in
               front of their name, as a person sorts them
    output     a file, or a folder: one that is there, or one whose name ends with a separator, or
               any where there are several inputs
    recursive  look into the folders in folders, too, but not through links; OUT gets the same ones
    extension  of what is written into a folder; None: as the input's
    Raises PairingError rather than lose a picture.
    """
    inputs = list(inputs)
    target = Path(output)
    is_folder = names_folder(output) or target.is_dir()
    if not is_folder and (len(inputs) > 1 or inputs[0].is_dir()):
        if target.suffix.lower() in EXTENSIONS or target.is_file():
            raise PairingError(f"With several pictures, {target} must be a folder, not a file.")
        is_folder = True
    if not is_folder:
        _refuse_nameless(target, extension)
        pairs, complaints = [FilePair(inputs[0], target)], list[str]()
    else:
        pairs, complaints = _into_folder(inputs, target, recursive, extension)
    _refuse_losses(pairs)
    return Pairs(tuple(pairs), is_folder, tuple(complaints))


def names_folder(output: str) -> bool:
    """Return whether `output` says itself that it is a folder."""
    return output.endswith(("/", os.sep))


def _refuse_nameless(target: Path, extension: str | None) -> None:
    if extension is not None:
        raise PairingError(
            f"The extension of {target} says its format; --format is for folders and -."
        )
    if not target.suffix:
        raise PairingError(
            f"{target} names no format; give it an extension such as .png, or end it with / for a "
            "folder."
        )


def _into_folder(
    inputs: list[Path], folder: Path, recursive: bool, extension: str | None
) -> tuple[list[FilePair], list[str]]:
    pairs: list[FilePair] = []
    complaints: list[str] = []
    for each in inputs:
        if each.is_dir():
            parent, wrong = each, list[str]()
            found = list(_pictures_in(each, recursive, folder, wrong))
            complaints += wrong or ([] if found else [_nothing_in(each, recursive)])
        else:
            parent, found = each.parent, [Path(each.name)]
        for name in found:
            target = (folder / name).with_suffix(extension or name.suffix)
            below = target.parent if target.parent != folder else None
            pairs.append(FilePair(parent / name, target, below))
    return pairs, complaints


def _nothing_in(folder: Path, recursive: bool) -> str:
    hint = "" if recursive else "; --recursive looks into the folders in it, too"
    return f"There are no pictures in {folder}{hint}."


def _pictures_in(
    folder: Path, recursive: bool, output: Path, complaints: list[str]
) -> Iterator[Path]:
    """Yield the pictures relative to `folder`; nothing of what lies in `output`.

    A folder that cannot be looked into becomes one of the `complaints`.
    """
    try:
        names = list(neighbours.pictures_in(folder))
        folders = _folders_in(folder) if recursive else []
    except OSError as error:
        complaints.append(f"Cannot look into {folder}: {error.strerror}.")
        return
    yield from map(Path, _shown(names))
    for name in _shown(folders):
        if identity(folder / name) != identity(output):
            for each in _pictures_in(folder / name, True, output, complaints):
                yield name / each


def _folders_in(folder: Path) -> list[str]:
    """Return folders without links, which may lead in circles.  Raises OSError."""
    with os.scandir(folder) as entries:
        return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))


def _shown(names: Iterable[str]) -> Iterator[str]:
    """Return names without hidden ones: such as what macOS puts beside each file on other disks."""
    return (name for name in names if not name.startswith("."))


def _refuse_losses(pairs: list[FilePair]) -> None:
    """Refuse to write onto an input, whatever it is called there, or onto another result."""
    originals = {identity(each.source) for each in pairs}
    counts = Counter(each.target for each in pairs)
    for each in pairs:
        if identity(each.target) in originals:
            raise PairingError(f"{each.target} is an input; write to another file or folder.")
        if counts[each.target] > 1:
            raise PairingError(
                f"Several inputs are called {each.target.name} in the output; rename one."
            )
