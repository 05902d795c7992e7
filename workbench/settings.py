"""What is remembered between two runs: choices, layout, recent files; one small JSON file."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from platformdirs import user_config_dir

from workbench.files import whole_files

VERSION = 1
RECENT_FILES = 10
DIRECTORY_VARIABLE = "FILTER_WORKBENCH_CONFIG"


class Settings:
    """Named values that outlive the program.  Never fails: without a readable file it starts
    empty, and says so once in `complaint`.

    complaint  one sentence on what was wrong with the file; "" when nothing was
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or default_path()
        self.complaint = ""
        self._values = self._read()

    def get(self, name: str, default: Any = None) -> Any:
        """The value called `name`, if there is one of the default's type."""
        value = self._values.get(name, default)
        return value if default is None or isinstance(value, type(default)) else default

    def set(self, name: str, value: Any) -> None:
        """Remember `value`, anything JSON can hold, from the next `save` on."""
        self._values[name] = value

    def save(self) -> None:
        """Write the file, whole or not at all; a folder that cannot be written is no reason to
        bother anybody who is closing the program."""
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with whole_files.replacing(self._path) as file:
                file.write(json.dumps({"version": VERSION, **self._values}, indent=1).encode())

    def forget(self) -> None:
        """Begin anew, as on the first day."""
        self._values = {}

    # -- recent files

    @property
    def recent_files(self) -> list[Path]:
        """The newest first."""
        names = [each for each in self.get("recent", []) if isinstance(each, str) and each]
        return [Path(name) for name in names[:RECENT_FILES]]

    def add_recent_file(self, path: Path) -> None:
        others = [each for each in self.recent_files if each != path]
        self.set("recent", [str(each) for each in [path, *others][:RECENT_FILES]])

    def _read(self) -> dict[str, Any]:
        try:
            values = json.loads(self._path.read_bytes())
            version = values.pop("version")
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            self.complaint = f"The settings in {self._path} could not be read; starting afresh."
            return {}
        if version != VERSION:
            self.complaint = (
                f"The settings in {self._path} are from another version; starting afresh."
            )
            return {}
        return dict(values)


def default_path() -> Path:
    """In the user's configuration folder, or in the one that FILTER_WORKBENCH_CONFIG names."""
    folder = os.environ.get(DIRECTORY_VARIABLE) or user_config_dir("filter-workbench")
    return Path(folder) / "settings.json"
