"""Find the bundled files: beside the packages in a source tree, inside this one in a wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
_FOLDERS = (_PACKAGE / "assets", _PACKAGE.parent / "assets")


def asset(name: str) -> Path:
    """Return the path of the bundled file `name`, such as "icon.svg"; raise FileNotFoundError."""
    for folder in _FOLDERS:
        if (folder / name).exists():
            return folder / name
    raise FileNotFoundError(f"The bundled file {name} is missing; install the program again.")
