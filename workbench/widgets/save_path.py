"""Ask where to save: the name gets an extension, and no file gives way without a question."""

from __future__ import annotations

import os
import re
from pathlib import Path

from PySide6.QtWidgets import QWidget

from workbench.base.plain_text import is_agreed
from workbench.base.settings import Settings
from workbench.widgets.file_dialogs import ask_new_file

FOLDER = "save-folder"  # the setting's name
REPLACE = "{} is there already. Replace it?"


def ask_save_path(parent: QWidget, title: str, proposed: Path, file_types: str) -> Path | None:
    """Ask where to save; return None for nowhere.

    proposed    with its ending, which chooses the type that is offered first
    file_types  as Qt has them: "PNG (*.png);;TIFF (*.tif *.tiff)"
    """
    types = file_types.split(";;")
    offered = next((each for each in types if proposed.suffix in _endings(each)), "")
    chosen, kind = ask_new_file(parent, title, proposed, file_types, offered)
    if not chosen:
        return None
    path = Path(chosen)
    if _is_whole(path, types):
        return path  # Qt has asked about this name
    path = path.with_name(path.name + (_endings(kind) or [proposed.suffix])[0])
    is_there = os.path.exists(path)  # noqa: PTH110 - where that cannot be known nothing is
    may_write = not is_there or is_agreed(parent, "Save", REPLACE.format(path.name))
    return path if may_write else None


def save_folder(settings: Settings) -> Path:
    """Return where something was saved last."""
    return Path(settings.get(FOLDER, ""))


def remember_folder(settings: Settings, path: Path) -> None:
    """Begin in the folder of `path` the next time, if that is there."""
    if os.path.isdir(path.parent):  # noqa: PTH112 - the same
        settings.set(FOLDER, str(path.parent))


def _endings(file_type: str) -> list[str]:
    return re.findall(r"\*(\.\w+)", file_type)


def _is_whole(path: Path, types: list[str]) -> bool:
    """Return whether the name has an extension.

    Where there is a choice also one that is not offered, as whoever saves says better what is
    wrong with it.  That of "lesson 1.5" is none.
    """
    if any(path.suffix.lower() in _endings(each) for each in types):
        return True
    is_choice = len([each for each in types if _endings(each)]) > 1
    return is_choice and path.suffix[1:2].isalpha()
