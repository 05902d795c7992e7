"""A result that is written strip by strip: under another name, and gone on with after a kill.

Beside it lies a journal of what it is and which rows of it are finished; a row counts as finished
when it is on the disk.  When all are, the result gets its name, and the journal goes.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core import atomic_files
from kernels.core.growing_file import GrowingFile, whole_lines
from workbench.base import numbers
from workbench.base.limited_json import parse
from workbench.files import tiled_tiff
from workbench.files.picture_errors import ImageFileError
from workbench.files.tiled_tiff import TiledTiff
from workbench.model.metadata import Metadata

Line = Mapping[str, Any]
FORMAT = 1
PART, JOURNAL = ".part", ".part.jsonl"  # behind the result's own name


def is_begun(target: Path) -> bool:
    """Return whether there is a part of `target` that can be gone on with."""
    part, journal = _beside(target)
    return part.exists() and journal.exists()


class Unfinished:
    """The file that becomes `target`, open for writing; one process at a time.

    Raises ImageFileError where it cannot be written.

    rows  so many are finished, from the top
    pick  what filters all rows, as `note_pick` was told; None: that is not decided
    """

    def __init__(
        self,
        target: Path,
        shape: tuple[int, int, int],
        dtype: np.dtype[Any],
        metadata: Metadata,
        asked: Line,
    ) -> None:
        """Open what was begun, where it was the same, or begin.

        shape  of the result, (H, W, C)
        asked  all that decides what is in it
        """
        self.target = Path(os.path.realpath(target))
        self._part, path = _beside(self.target)
        with self._failures():
            _refuse(self.target)
            self._journal = GrowingFile(path, "a+")
        self.pick: Line | None = None
        try:
            if not self._journal.hold():
                raise ImageFileError(f"Another process is writing {target.name}; wait for it.")
            with self._failures():
                self.rows = self._begin(shape, dtype, metadata, json.loads(json.dumps(asked)))
                self._open = TiledTiff(self._part)
        except BaseException:
            self._journal.close()
            raise

    def add(self, samples: NDArray[Any]) -> None:
        """Put samples, (rows, W, C), below those that are finished."""
        with self._failures():
            self._open.fill(self.rows, samples)
            self._open.sync()
            self.rows += len(samples)
            self._journal.put(_line({"rows": self.rows}))

    def note_pick(self, pick: Line) -> None:
        """Keep what filters, before the first rows: what is resumed is filtered alike."""
        with self._failures():
            self.pick = pick
            self._journal.put(_line({"pick": pick}))

    def finish(self) -> None:
        """Give the result its name."""
        self.close()
        with self._failures():
            with suppress(OSError):  # there is none yet, or a file system that knows no permissions
                self._part.chmod(stat.S_IMODE(self.target.stat().st_mode) & 0o777)
            self._part.replace(self.target)
            self._journal.path.unlink()

    def drop(self) -> None:
        """Remove what was written."""
        self.close()
        self._part.unlink(missing_ok=True)
        self._journal.path.unlink(missing_ok=True)

    def close(self) -> None:
        """Let go of what was written, so that it can be gone on with."""
        self._open.close()
        self._journal.close()

    def _begin(
        self,
        shape: tuple[int, int, int],
        dtype: np.dtype[Any],
        metadata: Metadata,
        asked: Line,
    ) -> int:
        """Return how many rows are finished already."""
        lines, whole = _lines_of(self._journal.path)
        if lines and self._is_of(lines[0], asked):
            self._journal.go_on_behind(whole)
            self.pick = next((line["pick"] for line in lines[1:] if "pick" in line), None)
            return max((int(line["rows"]) for line in lines[1:] if "rows" in line), default=0)
        self._journal.go_on_behind(0)
        self._part.unlink(missing_ok=True)
        self._refuse_lack_of_room(shape, dtype)
        tiled_tiff.lay_out(self._part, shape, dtype, metadata)
        self._journal.put(_line(self._first_line(asked)), sync=True)
        return 0

    def _is_of(self, line: Line, asked: Line) -> bool:
        return self._part.is_file() and line == self._first_line(asked)

    def _first_line(self, asked: Line) -> Line:
        return {"strips": FORMAT, "bytes": self._part.stat().st_size, "asked": asked}

    def _refuse_lack_of_room(self, shape: tuple[int, int, int], dtype: np.dtype[Any]) -> None:
        needed, free = (
            int(np.prod(shape)) * dtype.itemsize,
            shutil.disk_usage(self._part.parent).free,
        )
        if needed > free:
            raise ImageFileError(
                f"Cannot save {self.target.name}: it takes {numbers.file_size(needed)} of the "
                f"disk, and {numbers.file_size(free)} are free; choose another folder."
            )

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise ImageFileError(
                f"Cannot save {self.target.name}: {atomic_files.reason(error)}."
            ) from error


def _beside(target: Path) -> tuple[Path, Path]:
    """Return where `target` is written to at first, and the journal of that."""
    return target.with_name(target.name + PART), target.with_name(target.name + JOURNAL)


def _refuse(target: Path) -> None:
    if target.is_dir() or atomic_files.is_special(target):
        raise ImageFileError(
            f"Cannot save {target.name}: what is written in strips has to be a file; choose "
            "another name."
        )


def _line(said: Line) -> bytes:
    return f"{json.dumps(said)}\n".encode()


def _lines_of(path: Path) -> tuple[list[Line], int]:
    """Return what the whole lines say, and their bytes; nothing of a file that is damaged."""
    said, whole = [], 0
    for line in whole_lines(path):
        try:
            said.append(parse(line.text))
        except ValueError:
            return [], 0
        whole += line.length
    return (said, whole) if all(isinstance(each, dict) for each in said) else ([], 0)
