"""Dialogs that ask for files and folders: the system's own, or Qt's with room for whole names."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QIdentityProxyModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QFileDialog, QHeaderView, QTreeView, QWidget

from workbench.base import theme

SIZE = (960, 600)  # of Qt's own; at its usual 650 pixels it cuts names and dates


def ask_file(parent: QWidget, title: str, folder: str, file_types: str) -> Path | None:
    """Ask for a file that is there; return None for none.

    folder      where the dialog begins; empty: where the last one was
    file_types  as Qt has them: "PNG (*.png);;TIFF (*.tif *.tiff)"
    """
    dialog = _dialog(parent, title, folder, file_types)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    return next((Path(each) for each in _chosen(dialog)), None)


def ask_files(parent: QWidget, title: str, folder: str, file_types: str) -> list[Path]:
    """Ask for one or more files, as `ask_file` for one."""
    dialog = _dialog(parent, title, folder, file_types)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
    return [Path(each) for each in _chosen(dialog)]


def ask_folder(parent: QWidget, title: str, folder: str = "", file_types: str = "") -> Path | None:
    """Ask for a folder that is there; return None for none.

    file_types  as of `ask_file`, what is looked for in it: shown in grey, so that the folder does
                not seem empty; empty: folders alone are shown
    """
    dialog = _dialog(parent, title, folder, file_types)
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    if file_types:
        dialog.setProxyModel(_FilesInGrey(dialog))
    else:
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    return next((Path(each) for each in _chosen(dialog)), None)


def ask_new_file(
    parent: QWidget, title: str, proposed: Path, file_types: str, offered: str
) -> tuple[str, str]:
    """Ask for a name to save under; return it, empty for none, and the type that was chosen.

    Of a file that is there already the dialog asks whether it is to be replaced.
    offered  the one of `file_types` that is chosen at first; empty: the first
    """
    folder = "" if proposed.parent == Path() else str(proposed.parent)
    dialog = _dialog(parent, title, folder, file_types)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setFileMode(QFileDialog.FileMode.AnyFile)
    if offered:
        dialog.selectNameFilter(offered)
    dialog.selectFile(proposed.name)
    chosen = _chosen(dialog)
    return (chosen[0], dialog.selectedNameFilter()) if chosen else ("", "")


class _FilesInGrey(QIdentityProxyModel):
    """A dialog's files and folders, of which files can be seen and not chosen."""

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        """Return what can be done with a line, as Qt asks for each that it draws."""
        flags = super().flags(index)
        is_folder = super().hasChildren(index.sibling(index.row(), 0))
        return flags if is_folder else flags & ~Qt.ItemFlag.ItemIsEnabled


def _dialog(parent: QWidget, title: str, folder: str, file_types: str) -> QFileDialog:
    dialog = QFileDialog(parent, title, folder, file_types)
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
