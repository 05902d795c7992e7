"""Small pictures of files, made off the GUI thread, and only of those that are looked at."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QPixmap

from workbench.base.background import Background
from workbench.files.picture_errors import ImageFileError
from workbench.panels.gallery.thumbnails import thumbnail_of_file

MAX_THUMBNAILS = 300  # kept; at 200 % they take 66 MB
MAX_WAITING = 60  # those seen longest ago are asked for again when they are seen again
NO_THUMBNAIL = "no thumbnail"

_Made = tuple[QPixmap | None, str]


class LazyThumbnails(QObject):
    """Thumbnails for views that ask for them as they paint.

    One is made at a time, on a thread of its own; the one asked for last comes first.

    Signals:
        made(path, row): there is one, or none can be had.
    """

    made = Signal(object, int)

    def __init__(self, device_pixel_ratio: Callable[[], float], parent: QObject) -> None:
        super().__init__(parent)
        self._ratio = device_pixel_ratio
        self._made: OrderedDict[Path, _Made] = OrderedDict()
        self._waiting: OrderedDict[Path, int] = OrderedDict()  # the rows that were painted
        self._making: tuple[Path, int] | None = None  # the file and the row of a thumbnail
        self._background = Background((ImageFileError, OSError), self)

    def close_threads(self) -> None:
        """Wait for the thread to end."""
        self._background.close()

    def pixmap(self, path: Path, row: int) -> QPixmap | None:
        """Return the thumbnail of the file in that row, or None; then one is being made."""
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

    def caption(self, path: Path) -> str:
        """Return what is known of a file once its thumbnail is made; empty before."""
        return self._made.get(path, (None, ""))[1]

    def forget_waiting(self) -> None:
        """Make none of those that are asked for: other files are listed now."""
        self._waiting.clear()

    def _make_next(self) -> None:
        if self._making is not None or not self._waiting:
            return
        self._making = self._waiting.popitem()
        self._background.run(
            partial(thumbnail_of_file, self._making[0], self._ratio()),
            lambda made: self._take(QPixmap.fromImage(made[0]), made[1]),
            lambda _: self._take(None, NO_THUMBNAIL),  # opening it says why
            lambda: self._take(None, NO_THUMBNAIL),
        )

    def _take(self, pixmap: QPixmap | None, caption: str) -> None:
        assert self._making is not None
        (path, row), self._making = self._making, None
        self._made[path] = (pixmap, caption)
        while len(self._made) > MAX_THUMBNAILS:
            self._made.popitem(last=False)
        self.made.emit(path, row)
        self._make_next()
