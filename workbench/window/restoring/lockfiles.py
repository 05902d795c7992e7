"""Files in which running windows keep what they show, one per process, locked while it lives.

A process that ends normally removes its file; if a file is left that nobody locks, its process
crashed.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray
from platformdirs import user_state_dir

from kernels.core import atomic_files
from kernels.core.job import PIXEL_TYPES
from kernels.core.locks import hold
from workbench.base import limited_json
from workbench.base.settings import DIRECTORY_VARIABLE

VERSION = 1
MAX_SECONDS = 7 * 24 * 3600  # nobody wants an older window back
MAX_BYTES = 16 << 20
TRIES = 1  # at bringing one window back
_KEPT, _SAMPLES, _LOCK, _ASIDE = ".json", ".npy", ".lock", ".failed"


class LockedFile:
    """The file of one process, held until `remove` or `close`; made by `new_place` or `left`.

    path  of the file, which is there once something was written
    """

    def __init__(self, path: Path, held: BinaryIO) -> None:
        self.path = path
        self._held = held

    def write(self, data: dict[str, Any], *, tries: int = 0) -> None:
        """Write `data`, fit for JSON, in place of what was kept.  Raises OSError.

        tries  how many times it was tried to bring this back
        """
        values = {"version": VERSION, "at": time.time(), "tries": tries, "window": data}
        with atomic_files.replacing(self.path) as file:
            file.write(json.dumps(values).encode())

    def write_samples(self, samples: NDArray[Any]) -> None:
        """Write the samples of a picture that came from no file.  Raises OSError."""
        with atomic_files.replacing(self.path.with_suffix(_SAMPLES)) as file:
            np.save(file, samples)

    def read_samples(self) -> NDArray[Any]:
        """Read samples, (H, W, C) of one of `PIXEL_TYPES`.  Raises OSError where there are none."""
        try:
            samples = np.load(self.path.with_suffix(_SAMPLES), allow_pickle=False)
            if (
                samples.ndim == 3
                and 0 < samples.shape[2] <= 4
                and str(samples.dtype) in PIXEL_TYPES
            ):
                return np.ascontiguousarray(samples)
        except (ValueError, EOFError):
            pass
        raise OSError("These are no samples of a picture.")

    def read(self) -> tuple[dict[str, Any], float, int] | None:
        """Return what was kept; None where the file is not of this version, or damaged.

        That is the data, when it was written, in seconds since 1970, and how many times it was
        tried to bring it back.
        """
        try:
            if self.path.stat().st_size > MAX_BYTES:
                return None
            with open(self.path, "rb", opener=atomic_files.regular) as file:
                values = limited_json.parse(file.read())
            kept, at, tries = (values[name] for name in ("window", "at", "tries"))
            is_known = values["version"] == VERSION and isinstance(kept, dict)
            return (kept, float(at), int(tries)) if is_known else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def set_aside(self) -> Path:
        """Give the file up, but leave it under another name; return its path there."""
        aside = self.path.with_suffix(_ASIDE)
        with suppress(OSError):
            self.path.replace(aside)
        self.remove()
        return aside

    def remove(self) -> None:
        """Remove the file and all that belongs to it: there is nothing to bring back."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)  # first: without it nobody looks at the other
        self.close()
        for suffix in (_SAMPLES, _LOCK):
            with suppress(OSError):
                self.path.with_suffix(suffix).unlink(missing_ok=True)

    def close(self) -> None:
        """Let go of the file, so that another process may bring it back."""
        self._held.close()

    def hold(self) -> bool:
        """Try to lock the file again; return whether that worked.

        Another process may hold it by now.
        """
        if (again := _held(self.path)) is None:
            return False
        self._held = again._held
        return True


def folder() -> Path:
    """Return the folder of these files.

    It is in the user's folder for state, or in the one that FILTER_WORKBENCH_CONFIG names.
    """
    chosen = os.environ.get(DIRECTORY_VARIABLE) or user_state_dir("filter-workbench")
    return Path(chosen) / "running"


def new_place() -> LockedFile | None:
    """Return a file for this process; None where none can be written."""
    path = folder() / f"{uuid4().hex}{_KEPT}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return _held(path)
    except OSError:
        return None


def left(now: float) -> Iterator[LockedFile]:
    """Yield the files left by processes that are gone, the newest first.

    Files older than MAX_SECONDS are removed. Each file is held, so that of two windows that start
    at once only one gets it: close those that are not wanted.
    """
    _clear_away(now - MAX_SECONDS)
    for path in _by_age():
        try:
            place = _held(path)
            if place is None:
                continue  # its window is open
            if not path.exists():  # another window has just brought it back
                place.close()
            elif now - path.stat().st_mtime > MAX_SECONDS:
                place.remove()
            else:
                yield place
        except OSError:
            continue


def _clear_away(before: float) -> None:
    """Remove leftovers of processes that were killed while they wrote, or before.

    before  removes files last written before this time, in seconds since 1970
    """
    with suppress(OSError):
        for path in folder().iterdir():
            if path.suffix == _KEPT or path.stat().st_mtime > before:
                continue
            if path.suffix == _LOCK:
                if not path.with_suffix(_KEPT).exists() and (place := _held(path)) is not None:
                    place.remove()
            elif not path.with_suffix(_LOCK).exists():  # or a window that is open may need it
                path.unlink(missing_ok=True)


def _by_age() -> list[Path]:
    try:
        found = [(path.stat().st_mtime, path) for path in folder().glob(f"*{_KEPT}")]
    except OSError:
        return []
    return [path for _, path in sorted(found, reverse=True)]


def _held(path: Path) -> LockedFile | None:
    """Return the locked file; None where another process holds it.  Raises OSError."""
    held = hold(path.with_suffix(_LOCK))
    return LockedFile(path, held) if held is not None else None
