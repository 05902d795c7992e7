"""Dialogs that ask for files and folders, and where to save."""

from __future__ import annotations

import os
import re
from pathlib import Path

from PySide6.QtCore import (
    QFileInfo,
    QIdentityProxyModel,
    QModelIndex,
    QPersistentModelIndex,
    Qt,
)
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QFileDialog, QFileIconProvider, QHeaderView, QTreeView, QWidget

from workbench.base import theme
from workbench.base.background import waited
from workbench.base.plain_text import is_agreed
from workbench.base.settings import Settings

Mode = QFileDialog.FileMode
SIZE = (960, 600)  # of Qt's own; at its usual 650 pixels it cuts names and dates


def ask_file(parent: QWidget, title: str, folder: str, file_types: str) -> Path | None:
    """Ask for a file that is there; return None for none.

    folder      where the dialog begins; empty: where the last one was
    file_types  as Qt has them: "PNG (*.png);;TIFF (*.tif *.tiff)"
    """
    chosen = _chosen(_dialog(parent, title, folder, file_types, Mode.ExistingFile))
    return Path(chosen[0]) if chosen else None


def ask_files(parent: QWidget, title: str, folder: str, file_types: str) -> list[Path]:
    """Ask for one or more files, as `ask_file` for one."""
    dialog = _dialog(parent, title, folder, file_types, Mode.ExistingFiles)
    return [Path(each) for each in _chosen(dialog)]


def ask_folder(parent: QWidget, title: str, folder: str = "", file_types: str = "") -> Path | None:
    """Ask for a folder that is there; return None for none.

    file_types  of files shown in grey, so that it does not seem empty; empty: folders alone
    """
    dialog = _dialog(parent, title, folder, file_types, Mode.Directory)
    if file_types:
        dialog.setProxyModel(_FilesInGrey(dialog))
    else:
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    chosen = _chosen(dialog)
    return Path(chosen[0]) if chosen else None


class _FilesInGrey(QIdentityProxyModel):
    """A dialog's files and folders, of which files can be seen and not chosen."""

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        """Disable a line that is no folder; Qt asks for each that it draws."""
        flags = super().flags(index)
        is_folder = super().hasChildren(index.sibling(index.row(), 0))
        return flags if is_folder else flags & ~Qt.ItemFlag.ItemIsEnabled


class _ByName(QFileIconProvider):
    """Icons and kinds of files by their names: Qt reads files for them, /proc/kmsg for ever."""

    def icon(self, of: QFileInfo | QFileIconProvider.IconType) -> QIcon:
        """Get the icon of a kind, or of a file."""
        if isinstance(of, QFileInfo):
            of = self.IconType.Folder if of.isDir() else self.IconType.File
        return super().icon(of)

    def type(self, info: QFileInfo) -> str:
        """Get the kind of a file in words."""
        return "Folder" if info.isDir() else f"{info.suffix()} File".strip()


def _dialog(
    parent: QWidget, title: str, folder: str, file_types: str, mode: QFileDialog.FileMode
) -> QFileDialog:
    dialog = QFileDialog(parent, title, folder, file_types, fileMode=mode)
    dialog.setIconProvider(_ICONS)
    table = dialog.findChild(QTreeView, "treeView")
    if table is not None:  # Qt's own
        header = table.header()
        header.setStretchLastSection(False)  # it would be cut on a small screen; now it scrolls
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        dialog.resize(theme.window_size(*SIZE))
    return dialog


def _chosen(dialog: QFileDialog) -> list[str]:
    chosen = list(dialog.selectedFiles()) if dialog.exec() else []
    dialog.deleteLater()  # in a moment
    return chosen


_ICONS = _ByName()  # Qt keeps none
FOLDER = "save-folder"  # the setting's name, of pictures; others have their kind behind it
PICTURE = "picture"
REPLACE, IS_OPEN = "{} is there already.{} Replace it?", " It is the picture that is open."


def ask_save_path(parent: QWidget, title: str, proposed: Path, file_types: str) -> Path | None:
    """Ask for a file to save in, and whether it may be replaced; return None for none.

    parent      whose window's `windowFilePath` is the file of the picture that is open
    proposed    with its ending, which chooses the type that is offered first
    file_types  as Qt has them: "PNG (*.png);;TIFF (*.tif *.tiff)"
    """
    types = file_types.split(";;")
    offered = next((each for each in types if proposed.suffix in _endings(each)), "")
    folder = "" if proposed.parent == Path() else str(proposed.parent)
    dialog = _dialog(parent, title, folder, file_types, Mode.AnyFile)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setOption(QFileDialog.Option.DontConfirmOverwrite)  # it knows neither ending nor picture
    dialog.selectNameFilter(offered)
    dialog.selectFile(proposed.name)
    if not (chosen := _chosen(dialog)):
        return None
    path = Path(chosen[0])
    if not _is_whole(path, types):
        ending = (_endings(dialog.selectedNameFilter()) or [proposed.suffix])[0]
        path = path.with_name(path.name + ending)
    question = waited(lambda: _question(path, parent.window().windowFilePath()))
    if question and not is_agreed(parent, "Save", question):
        return ask_save_path(parent, title, path, file_types)
    return path


def _question(path: Path, opened: str) -> str:
    """Format what is asked before `path` is replaced; empty: nothing is known to be there."""
    there = [os.path.exists(each) for each in (path, opened)]  # noqa: PTH110 - `Path.exists` raises
    is_open = all(there) and os.path.samefile(path, opened)  # noqa: PTH121 - one may be empty
    return REPLACE.format(path.name, IS_OPEN * is_open) if there[0] else ""


def ask_where(
    parent: QWidget,
    settings: Settings,
    kind: str,
    title: str,
    name: str,
    file_types: str,
    usual: Path | None = None,
) -> Path | None:
    """Do as `ask_save_path`, beginning where the last of its kind was, or at first in `usual`."""
    path = ask_save_path(parent, title, save_folder(settings, kind, usual) / name, file_types)
    if path is not None:
        remember_folder(settings, kind, path)
    return path


def ask_which(
    parent: QWidget, settings: Settings, kind: str, title: str, types: str, usual: Path | None
) -> Path | None:
    """Do as `ask_file`, beginning as `ask_where` does, or at first in the `usual` folder."""
    path = ask_file(parent, title, str(save_folder(settings, kind, usual)), types)
    if path is not None:
        remember_folder(settings, kind, path)
    return path


def save_folder(settings: Settings, kind: str, usual: Path | None = None) -> Path:
    """The folder of the last file of a kind, such as "report", else the usual or a picture's."""
    return Path(settings.get(f"{FOLDER}-{kind}", "") or usual or settings.get(FOLDER, ""))


def remember_folder(settings: Settings, kind: str, path: Path) -> None:
    """Begin in the folder of `path` the next time, if that is there."""
    if waited(lambda: os.path.isdir(path.parent)):  # noqa: PTH112 - the same
        settings.set(FOLDER if kind == PICTURE else f"{FOLDER}-{kind}", str(path.parent))


def _endings(file_type: str) -> list[str]:
    return re.findall(r"\*(\.\w+)", file_type)


def _is_whole(path: Path, types: list[str]) -> bool:
    """True if the name has an extension.

    Where there is a choice one that is not offered counts, too: the error of saving explains it
    better.  That of "lesson 1.5" is none.
    """
    if any(path.suffix.lower() in _endings(each) for each in types):
        return True
    is_choice = len([each for each in types if _endings(each)]) > 1
    return is_choice and path.suffix[1:2].isalpha()
