"""The wall of the pictures beside the open one: a folder's, or those opened together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QSignalBlocker,
    QStringListModel,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QListView, QWidget

from workbench.base.plain_text import Label, tip_text
from workbench.files.neighbours import Shelf
from workbench.panels.gallery.thumbnails import LazyThumbnails
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.buttons import push_button
from workbench.widgets.tile_list import CAPTION, KEY, Tiles, tile_size

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
        """List other pictures; the files' thumbnails are kept."""
        self.shelf = shelf
        self._thumbnails.forget_waiting()
        self.setStringList([] if shelf is None else list(shelf.names))

    def path(self, row: int) -> Path:
        """The file of a row."""
        assert self.shelf is not None
        return self.shelf.path(row)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Data of a tile; a request for its picture has one made."""
        if self.shelf is None or not index.isValid():
            return None
        path = self.path(index.row())
        if role == KEY:
            return path
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


NOTHING = "Open a picture or a folder, or drop one on the window, to see its neighbours here."


class ShelfPage(QWidget):
    """The wall with its heading; a click, Enter or Space opens a picture.

    Signals:
        file_wanted(path): open this picture.
        folder_wanted(): choose another folder.
    """

    file_wanted = Signal(Path)
    folder_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._model = ShelfModel(self.devicePixelRatioF)
        self._words = Label(NOTHING, name="shelf-words", wraps=True)
        tip = "Choose a folder; its first picture opens (Ctrl+Alt+O)"
        folder = push_button("shelf-folder", "Open folder…", tip)
        folder.clicked.connect(lambda: self.folder_wanted.emit())
        self._wall = Wall(self._model)
        self._wall.chosen.connect(self.file_wanted)
        row = HBox(margins=(0, 0, 6, 0))  # as far in as the sources above
        row.add((self._words, 1), (folder, 0, Qt.AlignmentFlag.AlignTop))
        column = VBox(self, (10, 2, 4, 4), 8)
        column.add(row, (self._wall, 1))

    def close_threads(self) -> None:
        """Wait for the thread that makes thumbnails to end."""
        self._model.close_threads()

    def is_other(self, shelf: Shelf | None) -> bool:
        """Tell whether `shelf` holds other pictures than those shown."""
        shown = self._model.shelf
        if shelf is None or shown is None:
            return shelf is not shown
        return (shelf.folder, shelf.names) != (shown.folder, shown.names)

    def show_shelf(self, shelf: Shelf | None) -> None:
        """Show these pictures and mark the open one; None keeps the pictures and marks none."""
        if shelf is not None and self.is_other(shelf):
            self._model.show_shelf(shelf)
            count = f"{len(shelf.names):,} picture{'s' * (len(shelf.names) != 1)}"
            where = "opened together" if shelf.folder is None else f"in {shelf.folder.name or '/'}"
            self._words.setText(f"{count} {where}")
            self._words.setToolTip(tip_text(str(shelf.folder or "")))
        self._wall.mark(shelf.index if shelf is not None else None)


class Wall(Tiles):
    """Tiles of a folder of any size; `chosen` emits a path."""

    def __init__(self, model: ShelfModel) -> None:
        super().__init__("Pictures in this folder")
        self.setObjectName("shelf")
        self.setModel(model)
        self.setFlow(QListView.Flow.LeftToRight)
        self.setWrapping(True)
        self.setGridSize(tile_size(self))  # or Qt would ask each of a hundred thousand
        self.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)

    def mark(self, row: int | None) -> None:
        """Mark the open picture, and bring it into view."""
        with QSignalBlocker(self.selectionModel()):
            if row is None:
                self.clearSelection()
            else:
                self.setCurrentIndex(self.model().index(row, 0))
        self._show_current()
        self.viewport().update()

    def _show_current(self) -> None:
        if self.currentIndex().isValid():
            self.scrollTo(self.currentIndex(), QListView.ScrollHint.PositionAtCenter)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        QTimer.singleShot(0, self, self._show_current)  # once it has its size

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        self._fit_columns()
        super().resizeEvent(event)
