"""Choices, layout and recent files, remembered between two runs in one small JSON file."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Collection
from pathlib import Path
from reprlib import repr as short_repr
from typing import Any

from platformdirs import user_config_dir

from kernels.core import plain_data, safe_files
from kernels.core.safe_files import holding

VERSION = 1
RECENT, RECENT_LISTS = "recent", "recent-steps"  # kinds of files: pictures, lists of steps
NO_LONGER_KEPT = ("geometry", "layout")  # earlier versions' windows, as only Qt could read them
RECENT_FILES = 10
MAX_BYTES = 1 << 23  # a few thousand are usual; eight steps of the largest weights are millions
LOCK_NAME = ".settings.lock"  # held while the file is read, merged and written
PATIENCE_S = 2.0  # writing takes milliseconds, but several windows may close at once
DIRECTORY_VARIABLE = "FILTER_WORKBENCH_CONFIG"

Values = dict[str, Any]


class UnreadableSettingsError(Exception):
    """The settings file, its one argument, holds no settings."""


class Settings:
    """Named values that outlive the program.

    Never fails: without a readable file it starts empty, and says so once in `complaint`.

    Nobody's settings are lost: a file that cannot be read is kept aside before another takes its
    place; one of a newer version stays as it is, and this version keeps a file of its own beside
    it; and what another window has written meanwhile stays, but for what was changed here.

    complaint  one sentence on what is wrong with the file or its folder; "" when nothing is
    lost       values that make no sense, in words
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or default_path()
        self.complaint = ""
        self.lost: set[str] = set()
        self._is_forgotten = False
        self._values = self._read()
        self._before = _texts(self._values)  # what is in the file, as far as is known here

    def get(self, name: str, default: Any = None, among: Collection[Any] = ()) -> Any:
        """Value called `name`, if it has the default's type and is `among` those allowed."""
        value = self._values.get(name, default)
        if default is None or (isinstance(value, type(default)) and (not among or value in among)):
            return value
        self.lost.add(f"{name} {short_repr(value)}")
        return default

    def set(self, name: str, value: Any) -> None:
        """Remember `value`, anything JSON can hold, from the next `save` on."""
        self._values[name] = value

    def values(self) -> Values:
        """All values, by name."""
        return dict(self._values)

    def save(self) -> str:
        """Write the file, whole or not at all; return the reason of a failure, or ""."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # If the lock stays held, it is better to write than to lose everything.
            with holding(self._path.with_name(LOCK_NAME), PATIENCE_S):
                values = self._merged(self._theirs())
                with safe_files.replacing(self._path) as file:
                    file.write(json.dumps({"version": VERSION, **values}, indent=1).encode())
        except OSError as error:
            reason = safe_files.reason(error)
            return f"What was chosen is not remembered: {self._path} cannot be written, {reason}."
        self._values, self._before = values, _texts(values)
        self._is_forgotten = False
        return ""

    def forget(self) -> None:
        """Forget all, as on the first day."""
        self._values = {}
        self._is_forgotten = True

    # -- recent files

    def recent_files(self, kind: str = RECENT) -> list[Path]:
        """Recent files of this kind, the newest first."""
        names = [each for each in self.get(kind, []) if isinstance(each, str) and each]
        return [Path(name) for name in names[:RECENT_FILES]]

    def add_recent_file(self, path: Path, kind: str = RECENT) -> None:
        """Remember `path` as the newest of the recent files of this kind."""
        others = [each for each in self.recent_files(kind) if each != path]
        self.set(kind, [str(each) for each in [path, *others][:RECENT_FILES]])

    # -- the file

    def _read(self) -> Values:
        named = self._path
        try:
            self._path, values = _read_file(named)
        except UnreadableSettingsError as error:
            (self._path,) = error.args
            self.complaint = (
                f"The settings in {self._path} could not be read; starting afresh, and what they "
                f"were is kept as {self._aside().name}."
            )
            return {}
        if self._path != named and not self._path.exists():
            self.complaint = (
                f"The settings in {named} are from a newer version of this program; they stay as "
                "they are, and this version begins with its own."
            )
        elif not _can_write_below(self._path.parent):
            self.complaint = (
                f"What is chosen here will not be remembered: writing to {self._path.parent} is "
                "not possible."
            )
        return values

    def _theirs(self) -> Values:
        """Read the file now; move an unreadable one out of the way.  Raises OSError."""
        try:
            self._path, values = _read_file(self._path)  # a newer version may have run meanwhile
        except UnreadableSettingsError as error:
            (self._path,) = error.args
            if not self._path.is_dir():
                self._path.rename(self._aside())
            return {}
        return values

    def _merged(self, theirs: Values) -> Values:
        """Changes made here, and of everything else the values in the file now."""
        if self._is_forgotten:
            return dict(self._values)
        texts = _texts(self._values)
        ours = {n: v for n, v in self._values.items() if texts[n] != self._before.get(n)}
        for kind in ours.keys() & {RECENT, RECENT_LISTS}:
            known = [*_listed(json.loads(self._before.get(kind, "[]"))), *ours[kind]]
            new = [each for each in _listed(theirs.get(kind)) if each not in known]
            ours[kind] = [*ours[kind], *new][:RECENT_FILES]
        return {**theirs, **ours}

    def _aside(self) -> Path:
        stem, suffix = self._path.stem, self._path.suffix
        names = (f"{stem}.damaged{number}{suffix}" for number in ("", *range(2, 100)))
        paths = [self._path.with_name(name) for name in names]
        return next((path for path in paths if not os.path.lexists(path)), paths[-1])


def default_path() -> Path:
    """File in the user's configuration folder, or FILTER_WORKBENCH_CONFIG's."""
    folder = os.environ.get(DIRECTORY_VARIABLE) or user_config_dir("filter-workbench")
    return Path(folder) / "settings.json"


def _read_file(path: Path) -> tuple[Path, Values]:
    """Read `path`, or this version's own file beside a newer one's; {} where there is none.

    Raises UnreadableSettingsError.
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_BYTES:
            raise UnreadableSettingsError(path)  # a pipe would be waited for
        values = plain_data.parse_json(path.read_bytes())
        version = values.pop("version")
    except (FileNotFoundError, NotADirectoryError):
        return path, {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnreadableSettingsError(path) from error
    if type(version) is not int or version < VERSION:
        raise UnreadableSettingsError(path)
    if version > VERSION:
        return _read_file(path.with_name(f"{path.stem}.{VERSION}{path.suffix}"))
    return path, {name: value for name, value in values.items() if name not in NO_LONGER_KEPT}


def _texts(values: Values) -> dict[str, str]:
    """Values as text, to be compared: JSON has one kind of list."""
    return {name: json.dumps(value) for name, value in values.items()}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _can_write_below(folder: Path) -> bool:
    there = next((each for each in (folder, *folder.parents) if os.path.exists(each)), None)  # noqa: PTH110 - Path's raises where looking is not allowed
    return there is not None and there.is_dir() and os.access(there, os.W_OK | os.X_OK)
