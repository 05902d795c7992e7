"""The pictures of a batch that failed: a small picture where one can be read, and why."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import (
    QListWidget,
    QListWidgetItem,
    QStyledItemDelegate,
    QStyleOptionViewItem,
)

from workbench.base.plain_text import tip_text
from workbench.panels.gallery.lazy_thumbnails import LazyThumbnails

PREVIEW = QSize(72, 48)  # in device-independent pixels
PADDING_PX, MAX_ROW_PX = 12, 1000  # beside a failure's words, and as high as they may be
_PATH = Qt.ItemDataRole.UserRole


class FailureList(QListWidget):
    """A list of pictures, each with its sentence.

    Signals:
        picture_wanted(path): the user wants to see one.
        broke(sentence, details): a bug, with its traceback.
    """

    picture_wanted = Signal(object)
    broke = Signal(str, str)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("folder-failures")
        self.setAccessibleName("Pictures that failed")
        self.setToolTip(
            tip_text(
                "Pictures without a result, and why; Enter or a double click opens one in the "
                "window"
            )
        )
        self.setAlternatingRowColors(True)
        self.setWordWrap(True)
        self.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.thumbnails = LazyThumbnails(self.devicePixelRatioF, self)
        self.thumbnails.made.connect(lambda _path, _row: self.viewport().update())
        self.thumbnails.broke.connect(self.broke)
        self.setItemDelegate(_Rows(self))
        self.itemActivated.connect(lambda item: self.picture_wanted.emit(_path_of(item)))

    def add(self, path: str, sentence: str) -> None:
        """Show that a picture has no result, and why."""
        name = Path(path).name
        item = QListWidgetItem(sentence if name in sentence else f"{name}: {sentence}")
        item.setData(_PATH, path)
        item.setToolTip(tip_text(path))
        self.addItem(item)

    def show_nothing(self) -> None:
        """Forget all of them."""
        self.clear()
        self.thumbnails.forget_waiting()


class _Rows(QStyledItemDelegate):
    """Rows as high as their words take; Qt counts the room beside these as theirs, and cuts one.

    A row that is painted asks for its picture; without one its words stand where the others' do.
    """

    def __init__(self, view: FailureList) -> None:
        super().__init__(view)
        self._view = view

    def initStyleOption(  # noqa: N802
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().initStyleOption(option, index)
        small = self._view.thumbnails.pixmap(Path(index.data(_PATH)), index.row())
        option.features |= QStyleOptionViewItem.ViewItemFeature.HasDecoration
        option.decorationSize = PREVIEW
        option.icon = QIcon(small) if small is not None else QIcon()

    def sizeHint(  # noqa: N802
        self, _option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        width = self._view.viewport().width()
        for_words = max(width - PREVIEW.width() - 3 * PADDING_PX, 1)
        room = QRect(0, 0, for_words, MAX_ROW_PX)
        words = self._view.fontMetrics().boundingRect(room, Qt.TextFlag.TextWordWrap, index.data())
        return QSize(width, max(words.height(), PREVIEW.height()) + PADDING_PX)


def _path_of(item: QListWidgetItem) -> Path:
    return Path(item.data(_PATH))
