"""Asks where to save: the name gets an ending, and no file gives way without a question."""

from __future__ import annotations

import re
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

REPLACE = "{} is there already. Replace it?"


def ask_save_path(parent: QWidget, title: str, proposed: Path, file_types: str) -> Path | None:
    """Where to save; None: nowhere.

    proposed    with its ending, which chooses the type that is offered first
    file_types  as Qt has them: "PNG (*.png);;TIFF (*.tif *.tiff)"
    """
    types = file_types.split(";;")
    offered = next((each for each in types if proposed.suffix in _endings(each)), "")
    chosen, kind = QFileDialog.getSaveFileName(parent, title, str(proposed), file_types, offered)
    if not chosen:
        return None
    path = Path(chosen)
    if _is_whole(path, types):
        return path  # Qt has asked about this name
    path = path.with_name(path.name + (_endings(kind) or [proposed.suffix])[0])
    return path if not path.exists() or _may_replace(parent, path) else None


def _endings(file_type: str) -> list[str]:
    return re.findall(r"\*(\.\w+)", file_type)


def _is_whole(path: Path, types: list[str]) -> bool:
    """Whether the name has an ending; where there is a choice also one that is not offered, as who
    saves says better what is wrong with it.  That of "lesson 1.5" is none."""
    if any(path.suffix.lower() in _endings(each) for each in types):
        return True
    return len(types) > 1 and path.suffix[1:2].isalpha()


def _may_replace(parent: QWidget, path: Path) -> bool:
    yes = QMessageBox.StandardButton.Yes
    return QMessageBox.question(parent, "Save", REPLACE.format(path.name)) == yes
