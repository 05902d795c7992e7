"""The pictures before and after one in its folder, which may hold a hundred thousand."""

from __future__ import annotations

import os
import re
import time
from bisect import bisect_left, bisect_right
from heapq import merge
from pathlib import Path
from typing import Any

from kernels.core.cache import LruCache
from workbench.files.image_files import EXTENSIONS
from workbench.files.picture_errors import ImageFileError

# A folder changed so lately may change again without its time of change telling: file systems
# count in seconds at worst.
CALM_S = 2.0
SORTED_AT_ONCE = 2000  # which takes a millisecond

_NUMBERS = re.compile(r"([0-9]+)")
_listings: LruCache[tuple[Path, int], list[str]] = LruCache(
    1
)  # by folder and when it was last changed


def neighbours(path: str | Path) -> tuple[Path | None, Path | None]:
    """Return the pictures before and after `path` in its folder, as a person sorts names.

    Most of a second for a hundred thousand files, and next to nothing the next time, unless the
    folder has changed.

    returns  (previous, next); None at either end.  `path` itself need not exist any more.
    raises   ImageFileError when the folder cannot be read
    """
    path = Path(path).absolute()
    here = _natural_key(path.name)
    try:
        names = _names_in(path.parent)
    except OSError as error:
        raise ImageFileError(
            f"Cannot look into {path.parent}: {error.strerror}; open a picture elsewhere."
        ) from error
    before = bisect_left(names, here, key=_natural_key)
    after = bisect_right(names, here, key=_natural_key)
    return (
        path.parent / names[before - 1] if before else None,
        path.parent / names[after] if after < len(names) else None,
    )


def _names_in(folder: Path) -> list[str]:
    """Return the names of the pictures, sorted.  Raises OSError."""
    changed_ns = folder.stat().st_mtime_ns
    if time.time() - changed_ns / 1e9 < CALM_S:
        return pictures_in(folder)
    return _listings.get_or_make((folder, changed_ns), lambda: pictures_in(folder))


def pictures_in(folder: Path) -> list[str]:
    """Return the names of the pictures in `folder`, as a person sorts them."""
    with os.scandir(folder) as entries:
        keys = [
            _natural_key(entry.name)
            for entry in entries
            if entry.name.lower().endswith(EXTENSIONS) and entry.is_file()
        ]
    # Piece by piece: no other thread runs while one is being sorted.
    pieces = [sorted(keys[n : n + SORTED_AT_ONCE]) for n in range(0, len(keys), SORTED_AT_ONCE)]
    return [name for _, name in merge(*pieces)]


def _natural_key(name: str) -> tuple[tuple[Any, ...], str]:
    """Return a key by which digits compare as numbers: img2 comes before img10.

    Text and numbers take turns.
    """
    parts: list[Any] = _NUMBERS.split(name.casefold())
    parts[1::2] = map(int, parts[1::2])
    return tuple(parts), name
