"""The pictures of a folder as a list of tiles; thumbnails only of those that are looked at."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QStringListModel, Qt, Signal
from PySide6.QtGui import QPixmap

from workbench.base.background import Background
from workbench.base.plain_text import tip_text
from workbench.files.neighbours import Shelf
from workbench.files.picture_errors import ImageFileError
from workbench.panels.gallery.thumbnails import thumbnail_of_file
from workbench.widgets.tile_list import CAPTION

MAX_THUMBNAILS = 300  # kept; at 200 % they take 66 MB
MAX_WAITING = 60  # those seen longest ago are asked for again when they are seen again
NO_THUMBNAIL = "no thumbnail"

_Index = QModelIndex | QPersistentModelIndex
_Made = tuple[QPixmap | None, str]


class ShelfModel(QStringListModel):
    """The pictures of a `Shelf`, a row each.

    Qt counts and lays out the names by itself: a folder may hold a hundred thousand.
    One thumbnail is made at a time, on a thread of its own; the tile painted last comes first.

    Signals:
        broke(sentence, details): a bug, with its traceback.
    """

    broke = Signal(str, str)

    def __init__(self, device_pixel_ratio: Callable[[], float]) -> None:
        super().__init__()
        self.shelf: Shelf | None = None
        self._ratio = device_pixel_ratio
        self._made: OrderedDict[Path, _Made] = OrderedDict()
        self._waiting: OrderedDict[Path, int] = OrderedDict()  # the rows that were painted
        self._making: tuple[Path, int] | None = None  # the file and the row of a thumbnail
        self._background = Background((ImageFileError, OSError), self)
        self._background.broke.connect(self._report)

    def close_threads(self) -> None:
        """Wait for the thread to end."""
        self._background.close()

    def show_shelf(self, shelf: Shelf | None) -> None:
        """Replace what is listed; thumbnails of files that are still there are kept."""
        self.shelf = shelf
        self._waiting.clear()
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
            return self._thumbnail(path, index.row())
        caption = self._made.get(path, (None, ""))[1]
        if role == CAPTION:
            return caption
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{path.name}, {caption}" if caption else path.name
        return None

    def _thumbnail(self, path: Path, row: int) -> QPixmap | None:
        if path in self._made:
            self._made.move_to_end(path)
            return self._made[path][0]
        if self._making is not None and self._making[0] == path:
            return None  # it is painted once more meanwhile
        self._waiting[path] = row
        self._waiting.move_to_end(path)
        while len(self._waiting) > MAX_WAITING:
            self._waiting.popitem(last=False)
        self._make_next()
        return None

    def _make_next(self) -> None:
        if self._making is not None or not self._waiting:
            return
        self._making = self._waiting.popitem()
        self._background.run(
            partial(thumbnail_of_file, self._making[0], self._ratio()),
            lambda made: self._take(QPixmap.fromImage(made[0]), made[1]),
            lambda _: self._take(None, NO_THUMBNAIL),  # opening it says why
        )

    def _report(self, sentence: str, details: str) -> None:
        """Report a bug, and go on with the next thumbnail."""
        self.broke.emit(sentence, details)
        self._take(None, NO_THUMBNAIL)

    def _take(self, pixmap: QPixmap | None, caption: str) -> None:
        assert self._making is not None
        (path, row), self._making = self._making, None
        self._made[path] = (pixmap, caption)
        while len(self._made) > MAX_THUMBNAILS:
            self._made.popitem(last=False)
        if row < self.rowCount() and self.path(row) == path:
            index = self.index(row, 0)
            self.dataChanged.emit(index, index)
        self._make_next()
