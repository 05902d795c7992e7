"""A journal of what is typed into a kernel, written as it is typed: it outlives a crash.

One file per running program, held while it lives; one that nobody holds is from a program that has
ended, and what is in it was not saved.
"""

from __future__ import annotations

import json
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple
from uuid import uuid4

from kernels.core import plain_data, safe_files
from kernels.core.safe_files import hold
from workbench.base.paths import data_folder

MAX_BYTES = 8_000_000  # JSON takes up to six bytes for a letter


@dataclass(frozen=True, slots=True)
class Unsaved:
    """A text that was typed and not saved.

    path  the file that it belongs to; None: it has none yet
    """

    text: str
    path: Path | None

    @property
    def name(self) -> str:
        """Its name on the screen."""
        return self.path.name if self.path else "a new kernel"


class KernelJournal:
    """The journal of this program, and those that others left.

    Never fails: where nothing can be written, `write` returns why.
    `note` and `set_aside` wait for no disk; all else does, and is called on one thread.
    """

    def __init__(self) -> None:
        self._folder = data_folder() / "unsaved-kernels"
        self._own: _Held | None = None
        self._left: tuple[Unsaved, _Held] | None = None
        self._noted: Unsaved | None = None
        self._leaving: deque[Unsaved] = deque()

    def note(self, unsaved: Unsaved | None) -> None:
        """Keep this text from the next `write` on, instead of the one before; None: nothing."""
        self._noted = unsaved

    def set_aside(self) -> None:
        """Leave the text to `left` at the next `write`: another one is typed from now on."""
        if self._noted is not None:
            self._leaving.append(self._noted)
            self._noted = None

    def write(self) -> str:
        """Write what was noted last, or remove it; returns why it cannot be kept, or ""."""
        try:
            while self._leaving:
                self._keep(self._leaving[0])
                self._leaving.popleft()
                self._let_go(is_wanted=True)
            if (noted := self._noted) is None:
                self._let_go(is_wanted=False)
            else:
                self._keep(noted)
        except OSError as error:
            return f"What you type is not kept if the program ends: {safe_files.reason(error)}."
        return ""

    def left(self) -> Unsaved | None:
        """The newest text that was not saved, by a program that has ended or by this one.

        It is held here, so that no other program offers it, until `drop_left`.
        """
        if self._left is None:
            found: list[tuple[float, Path]] = []
            with suppress(OSError):
                found = [(path.stat().st_mtime, path) for path in self._folder.glob("*.json")]
            for _, path in sorted(found, reverse=True):
                with suppress(OSError, ValueError, TypeError, KeyError):
                    unsaved = _read(path)
                    is_own = self._own is not None and path == self._own.path
                    if not is_own and (lock := hold(path.with_suffix(".lock"))) is not None:
                        self._left = unsaved, _Held(path, lock)
                        break
        return self._left[0] if self._left else None

    def drop_left(self, *, is_wanted: bool = False) -> None:
        """Let go of what `left` returned; unless it is still wanted, remove it."""
        if self._left is not None:
            self._left[1].close(is_wanted=is_wanted)
            self._left = None

    def close(self) -> None:
        """Let go of the files; what was not saved is offered the next time."""
        self.set_aside()
        self.write()
        self.drop_left(is_wanted=True)

    def _keep(self, noted: Unsaved) -> None:
        """Write a text.  Raises OSError."""
        if self._own is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            path = self._folder / f"{uuid4().hex}.json"
            lock = hold(path.with_suffix(".lock"))
            assert lock is not None  # nobody else knows its name
            self._own = _Held(path, lock)
        # Not on the disk yet but with the system, which outlives the program.
        with safe_files.replacing(self._own.path, is_synced=False) as file:
            data = {"text": noted.text, "path": str(noted.path or "")}
            file.write(json.dumps(data).encode())

    def _let_go(self, *, is_wanted: bool) -> None:
        if self._own is not None:
            self._own.close(is_wanted=is_wanted)
            self._own = None


class _Held(NamedTuple):
    """A journal, and the lock beside it."""

    path: Path
    lock: BinaryIO

    def close(self, *, is_wanted: bool) -> None:
        """Unlock it; where it is not wanted, remove both."""
        if not is_wanted:  # first, or another program offers it
            with suppress(OSError):
                self.path.unlink()
        self.lock.close()
        if not is_wanted:
            with suppress(OSError):
                self.path.with_suffix(".lock").unlink()


def _read(path: Path) -> Unsaved:
    """Read a journal.  Raises OSError, ValueError, TypeError or KeyError."""
    if path.stat().st_size > MAX_BYTES:
        raise ValueError(path)
    with open(path, "rb", opener=safe_files.regular) as file:
        data = plain_data.parse_json(file.read())
    text, name = data["text"], data["path"]
    if not isinstance(text, str) or not isinstance(name, str):
        raise TypeError(path)
    return Unsaved(text, Path(name) if name else None)
