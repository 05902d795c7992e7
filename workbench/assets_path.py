"""Where the bundled files lie: beside the packages in a source tree, inside this one in a wheel."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).parent
_FOLDERS = (_HERE / "assets", _HERE.parent / "assets")


def asset(name: str) -> Path:
    """The bundled file `name`, such as "icon.svg".  Raises FileNotFoundError."""
    for folder in _FOLDERS:
        if (folder / name).exists():
            return folder / name
    raise FileNotFoundError(f"The bundled file {name} is missing; install the program again.")
