"""The wall of the pictures among which the open one is: a folder's, or those opened together."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSignalBlocker, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QListView, QWidget

from workbench.base.plain_text import Label, tip_text
from workbench.files.neighbours import Shelf
from workbench.panels.gallery.shelf_model import ShelfModel
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.buttons import push_button
from workbench.widgets.tile_list import TileDelegate, tile_size

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
        self._wall.chosen.connect(lambda row: self.file_wanted.emit(self._model.path(row)))
        row = HBox(margins=(0, 0, 6, 0))  # as far in as the sources above
        row.add((self._words, 1), (folder, 0, Qt.AlignmentFlag.AlignTop))
        column = VBox(self, (10, 2, 4, 4), 8)
        column.add(row, (self._wall, 1))

    def close_threads(self) -> None:
        """Wait for the thread that makes thumbnails to end."""
        self._model.close_threads()

    def is_other(self, shelf: Shelf | None) -> bool:
        """Return whether `shelf` holds other pictures than the one shown."""
        shown = self._model.shelf
        if shelf is None or shown is None:
            return shelf is not shown
        return (shelf.folder, shelf.names) != (shown.folder, shown.names)

    def show_shelf(self, shelf: Shelf | None) -> None:
        """Show these pictures, the open one marked; None keeps those shown, and marks none."""
        if shelf is not None and self.is_other(shelf):
            self._model.show_shelf(shelf)
            count = f"{len(shelf.names):,} picture{'s' * (len(shelf.names) != 1)}"
            where = "opened together" if shelf.folder is None else f"in {shelf.folder.name or '/'}"
            self._words.setText(f"{count} {where}")
            self._words.setToolTip(tip_text(str(shelf.folder or "")))
        self._wall.mark(shelf.index if shelf is not None else None)


class Wall(QListView):
    """Tiles in as many columns as fit; arrow keys walk over them.

    Signals:
        chosen(row): the user wants to open this picture.
    """

    chosen = Signal(int)

    def __init__(self, model: ShelfModel) -> None:
        super().__init__()
        self.setObjectName("shelf")
        self.setAccessibleName("Pictures in this folder")
        self.setModel(model)
        self.setItemDelegate(TileDelegate(self))
        self.setFlow(QListView.Flow.LeftToRight)
        self.setWrapping(True)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setUniformItemSizes(True)
        self.setGridSize(tile_size(self))  # or Qt would ask each of a hundred thousand
        self.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.setMouseTracking(True)  # for the tile under the pointer
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setStyleSheet("QListView, QListView:focus { background: transparent; border: none; }")
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.clicked.connect(lambda index: self.chosen.emit(index.row()))

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

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        keys = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
        if event.key() in keys and self.currentIndex().isValid():
            self.chosen.emit(self.currentIndex().row())
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        smallest = tile_size(self)
        width = self.viewport().width() - 1  # a row that fills the view to the last pixel wraps
        grid = QSize(max(1, width // max(1, width // smallest.width())), smallest.height())
        if grid != self.gridSize():
            self.setGridSize(grid)
        super().resizeEvent(event)
