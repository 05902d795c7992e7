"""The pictures of a folder as a list of tiles; thumbnails only of those that are looked at."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QStringListModel, Qt

from workbench.base.plain_text import tip_text
from workbench.files.neighbours import Shelf
from workbench.panels.gallery.lazy_thumbnails import LazyThumbnails
from workbench.widgets.tile_list import CAPTION

_Index = QModelIndex | QPersistentModelIndex


class ShelfModel(QStringListModel):
    """The pictures of a `Shelf`, a row each.

    Qt counts and lays out the names by itself: a folder may hold a hundred thousand.
    """

    def __init__(self, device_pixel_ratio: Callable[[], float]) -> None:
        super().__init__()
        self.shelf: Shelf | None = None
        self._thumbnails = LazyThumbnails(device_pixel_ratio, self)
        self._thumbnails.made.connect(self._show)

    def close_threads(self) -> None:
        """Wait for the thread to end."""
        self._thumbnails.close_threads()

    def show_shelf(self, shelf: Shelf | None) -> None:
        """Replace what is listed; thumbnails of files that are still there are kept."""
        self.shelf = shelf
        self._thumbnails.forget_waiting()
        self.setStringList([] if shelf is None else list(shelf.names))

    def path(self, row: int) -> Path:
        """Return the file of a row."""
        assert self.shelf is not None
        return self.shelf.path(row)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return what Qt asks for of a tile; asking for its picture has one made."""
        if self.shelf is None or not index.isValid():
            return None
        path = self.path(index.row())
        if role == Qt.ItemDataRole.DisplayRole:
            return path.name
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip_text(str(path))
        if role == Qt.ItemDataRole.DecorationRole:  # it is being painted
            return self._thumbnails.pixmap(path, index.row())
        caption = self._thumbnails.caption(path)
        if role == CAPTION:
            return caption
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{path.name}, {caption}" if caption else path.name
        return None

    def _show(self, path: Path, row: int) -> None:
        if row < self.rowCount() and self.path(row) == path:
            index = self.index(row, 0)
            self.dataChanged.emit(index, index)
