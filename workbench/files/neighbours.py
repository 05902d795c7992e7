"""The pictures before and after one in its folder, which may hold a hundred thousand."""

from __future__ import annotations

import os
import re
import time
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

from kernels.core.cache import LruCache
from workbench.files.formats import EXTENSIONS
from workbench.files.picture_errors import ImageFileError

# A folder changed so lately may change again without its time of change telling: file systems
# count in seconds at worst.
CALM_S = 2.0
SORTED_AT_ONCE = 2000  # which takes a millisecond

_NUMBERS = re.compile(r"([0-9]+)")
_BEFORE_NAME = "\0\0"  # in a key, behind all that goes by numbers: names that differ in zeros alone
# By folder and when it was last changed.
_listings: LruCache[tuple[Path, int], list[str]] = LruCache(1)


@dataclass(frozen=True, slots=True)
class Shelf:
    """The pictures that one is among, in order, to walk through or to choose from."""

    folder: Path | None  # that all of them lie in; None: they were opened together
    names: Sequence[str]  # in the folder, or else whole paths
    index: int | None  # which of them it is; None: it is not there any more

    def path(self, index: int) -> Path:
        return (self.folder or Path()) / self.names[index]


def shelf_of(path: Path, together: Sequence[Path] = ()) -> Shelf:
    """The pictures that were opened together with `path`, or else those in its folder.

    Takes as long as `neighbours`.  Raises ImageFileError when the folder cannot be read.
    """
    if path in together:
        return Shelf(None, [str(each) for each in together], together.index(path))
    names = _listed(path.parent)
    index = bisect_left(names, natural_key(path.name), key=natural_key)
    is_there = index < len(names) and names[index] == path.name
    return Shelf(path.parent, names, index if is_there else None)


def pictures_among(paths: Sequence[Path]) -> list[Path]:
    """The pictures among files, and those in folders, in order.

    Of several files those whose names are no picture's are left out.
    Raises ImageFileError where there is none, or a folder cannot be read.
    """
    found: list[Path] = []
    for path in paths:
        # `Path.is_dir` raises where a name is too long, or looking at it is not allowed.
        if os.path.isdir(path):  # noqa: PTH112
            found += [path / name for name in _listed(path)]
        elif len(paths) == 1 or path.suffix.lower() in EXTENSIONS:
            found.append(path)
    if not found:
        where = f"in {paths[0]}" if len(paths) == 1 else "among these files"
        raise ImageFileError(f"There are no pictures {where}; choose others.")
    return list(dict.fromkeys(found))


def neighbours(path: str | Path) -> tuple[Path | None, Path | None]:
    """The pictures before and after `path` in its folder, as a person sorts names.

    A third of a second for a hundred thousand files, and next to nothing the next time, unless the
    folder has changed.

    returns  (previous, next); None at either end.  `path` itself need not exist any more.
    raises   ImageFileError when the folder cannot be read
    """
    path = Path(path).absolute()
    here = natural_key(path.name)
    names = _listed(path.parent)
    before = bisect_left(names, here, key=natural_key)
    after = bisect_right(names, here, key=natural_key)
    return (
        path.parent / names[before - 1] if before else None,
        path.parent / names[after] if after < len(names) else None,
    )


def _listed(folder: Path) -> list[str]:
    try:
        changed_ns = folder.stat().st_mtime_ns
        if time.time() - changed_ns / 1e9 < CALM_S:
            return pictures_in(folder, to_open=True)
        make = partial(pictures_in, folder, to_open=True)
        return _listings.get_or_make((folder, changed_ns), make)
    except OSError as error:
        raise ImageFileError(
            f"Cannot look into {folder}: {error.strerror}; open a picture elsewhere."
        ) from error


def pictures_in(folder: Path, *, to_open: bool = False) -> list[str]:
    """The names of the pictures in `folder`, as a person sorts them.

    to_open  without what has a picture's name and is no file, such as a pipe or a link to nothing
    """
    with os.scandir(folder) as entries:
        names = [
            entry.name
            for entry in entries
            if entry.name.lower().endswith(EXTENSIONS) and _is_picture(entry, to_open=to_open)
        ]
    # Piece by piece: no other thread runs while one is being sorted.
    pieces = (
        _sorted_keys(names[n : n + SORTED_AT_ONCE]) for n in range(0, len(names), SORTED_AT_ONCE)
    )
    keys = sorted(chain.from_iterable(pieces))  # which takes no time: the pieces are merged
    return [key[key.rindex(_BEFORE_NAME) + len(_BEFORE_NAME) :] for key in keys]


def _is_picture(entry: os.DirEntry[str], *, to_open: bool) -> bool:
    try:
        return entry.is_file() if to_open else not entry.is_dir()
    except OSError:  # a link that leads back to itself: reading it says what is wrong
        return not to_open


def natural_key(name: str) -> str:
    """A key by which digits compare as numbers: img2 comes before img10."""
    return f"{_with_counted_digits(name)}{_BEFORE_NAME}{name}"


def _sorted_keys(names: Sequence[str]) -> list[str]:
    """The keys of names without folders; made of all at once, which is much quicker."""
    counted = _with_counted_digits("/".join(names)).split("/")
    return sorted(f"{key}{_BEFORE_NAME}{name}" for key, name in zip(counted, names, strict=True))


def _with_counted_digits(text: str) -> str:
    """The text in which each number follows a NUL and how many digits it has."""
    parts = _NUMBERS.split(text.casefold())
    digits = (each.lstrip("0") for each in parts[1::2])
    parts[1::2] = [f"\0{chr(1 + len(each))}{each}" for each in digits]
    return "".join(parts)
