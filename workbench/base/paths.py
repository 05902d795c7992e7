"""Paths of bundled files and of the user's, and the identity of a file."""

from __future__ import annotations

import os
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from platformdirs import user_data_dir

_PACKAGE = Path(__file__).parents[1]
_FOLDERS = (_PACKAGE / "assets", _PACKAGE.parent / "assets")


def asset(name: str) -> Path:
    """Path of the bundled file `name`, such as "icon.svg".  Raises FileNotFoundError."""
    for folder in _FOLDERS:
        if (folder / name).exists():
            return folder / name
    raise FileNotFoundError(f"The bundled file {name} is missing; install the program again.")


@cache
def asset_table(name: str) -> dict[str, Any]:
    """Read a bundled TOML file, such as "menus.toml", once; not to be changed."""
    return tomllib.loads(asset(name).read_text("utf-8"))


DATA_VARIABLE = "FILTER_WORKBENCH_DATA"


def data_folder() -> Path:
    """Folder in the user's data, or FILTER_WORKBENCH_DATA's."""
    return Path(os.environ.get(DATA_VARIABLE) or user_data_dir("filter-workbench"))


def identity(path: Path) -> tuple[int, int] | str:
    """A value equal for two names of one file."""
    try:
        status = path.stat()
    except (OSError, ValueError):  # there is none, it is a loop of links, or no name at all
        return str(path.absolute())
    return status.st_dev, status.st_ino
