"""Walls of pictures to choose from, each with its name."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import (
    QAbstractItemModel,
    QModelIndex,
    QPersistentModelIndex,
    QRectF,
    QSignalBlocker,
    QSize,
    Qt,
    QTimer,
    Signal,
    Slot,
)
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QPainter,
    QPainterPath,
    QPen,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QFrame,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from workbench.base import theme

THUMBNAIL = QSize(144, 96)  # 3:2, in device-independent pixels
_PADDING, _GAP, _ROUND = 4, 4, 8  # so that two stand side by side in a panel
KEY = Qt.ItemDataRole.UserRole
CAPTION = Qt.ItemDataRole.UserRole + 1
_Index = QModelIndex | QPersistentModelIndex


class Tiles(QListView):
    """Tiles in as many columns as fit; a click, Enter or Space chooses one.

    Signals:
        chosen(key): open this picture.
    """

    chosen = Signal(object)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setItemDelegate(TileDelegate(self))
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)  # for the tile under the pointer
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setStyleSheet("QListView, QListView:focus { background: transparent; border: none; }")
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.clicked.connect(self._choose)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self._choose(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def _choose(self, index: _Index) -> None:
        if index.isValid():
            self.chosen.emit(index.data(KEY))

    def _fit_columns(self) -> int:
        """Fit the columns to the width, and return their number."""
        smallest = tile_size(self)
        width = self.viewport().width() - 1  # a row that fills the view to the last pixel wraps
        columns = max(1, width // smallest.width())
        grid = QSize(max(1, width // columns), smallest.height())
        if grid != self.gridSize():
            self.setGridSize(grid)
        return columns


class TileList(Tiles):
    """A wall of pictures, as high as all its rows; arrow keys walk over it."""

    def __init__(self, name: str, model: QAbstractItemModel) -> None:
        """Show `model`, and hide while it is empty; a tile stays current when others come."""
        super().__init__(name)
        self.setModel(model)
        self.setViewMode(QListView.ViewMode.IconMode)
        self.setMovement(QListView.Movement.Static)
        self.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._current: object = None
        model.modelReset.connect(self._show_all)
        self.hide()

    def keys(self) -> list[Any]:
        """Return the keys of the tiles, in order."""
        model = self.model()
        return [model.index(row, 0).data(KEY) for row in range(model.rowCount())]

    def currentChanged(self, current: _Index, previous: _Index) -> None:  # noqa: N802
        super().currentChanged(current, previous)
        if current.isValid():
            self._current = current.data(KEY)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fit()

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusInEvent(event)
        if not self.currentIndex().isValid():
            self.setCurrentIndex(self.model().index(0, 0))

    @Slot()
    def _show_all(self) -> None:
        keys = self.keys()
        if self._current in keys:
            self.setCurrentIndex(self.model().index(keys.index(self._current), 0))
        self._fit()
        self.setVisible(bool(keys))

    def _fit(self) -> None:
        columns = self._fit_columns()
        rows = -(-self.model().rowCount() // columns)
        height = rows * self.gridSize().height() + 2 * self.frameWidth() + (2 if rows else 0)
        self.setFixedHeight(height)


class Wall(Tiles):
    """Tiles of a folder of any size; `chosen` emits a path."""

    def __init__(self, model: QAbstractItemModel) -> None:
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


def caption_font(font: QFont) -> QFont:
    """Return the smaller font in which "8192×8192 grey float32" fits below a picture."""
    small = QFont(font)
    small.setPointSizeF(font.pointSizeF() * 0.85)
    return small


def tile_size(widget: QWidget) -> QSize:
    """Return the size of a tile with its margins, in the widget's font."""
    text = 2 * widget.fontMetrics().height()
    return QSize(
        THUMBNAIL.width() + 2 * _PADDING + _GAP, THUMBNAIL.height() + text + 2 * _PADDING + _GAP + 6
    )


class TileDelegate(QStyledItemDelegate):
    """A painter of tiles: a card, the picture with round corners, title and caption below."""

    def sizeHint(self, option: QStyleOptionViewItem, _index: _Index) -> QSize:  # noqa: N802
        view = option.widget
        return view.gridSize() if isinstance(view, QListView) else QSize(THUMBNAIL)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Paint the tile of `index`."""
        colors = theme.colors()  # the option's palette is the style sheet's transparent one
        card = QRectF(option.rect).adjusted(0, 0, -_GAP, -_GAP)
        painter.save()
        painter.setRenderHints(
            QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform
        )
        self._paint_card(painter, option, card, colors)
        frame = QRectF(card.x(), card.y() + _PADDING, card.width(), THUMBNAIL.height())
        self._paint_picture(painter, index, frame, colors)
        text = QRectF(
            card.x() + _PADDING,
            frame.bottom() + 6,
            card.width() - 2 * _PADDING,
            2 * option.fontMetrics.height(),
        )
        self._paint_text(painter, option, index, text, colors)
        painter.restore()

    def _paint_card(
        self, painter: QPainter, option: QStyleOptionViewItem, card: QRectF, colors: theme.Colors
    ) -> None:
        marks = QStyle.StateFlag.State_HasFocus | QStyle.StateFlag.State_Selected
        is_current = bool(option.state & marks)
        is_hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
        painter.setBrush(QColor(colors.hover if is_hovered else colors.panel))
        width = 2.0 if is_current else 1.0
        painter.setPen(QPen(QColor(colors.accent if is_current else colors.grid), width))
        inset = width / 2
        painter.drawRoundedRect(card.adjusted(inset, inset, -inset, -inset), _ROUND, _ROUND)

    def _paint_picture(
        self, painter: QPainter, index: _Index, frame: QRectF, colors: theme.Colors
    ) -> None:
        pixmap = index.data(Qt.ItemDataRole.DecorationRole)
        size = pixmap.deviceIndependentSize() if pixmap else THUMBNAIL.toSizeF()
        place = QRectF(frame.center().x() - size.width() / 2, 0, size.width(), size.height())
        place.moveCenter(frame.center())
        shape = QPainterPath()
        shape.addRoundedRect(place, 4, 4)
        if pixmap is None:
            painter.fillPath(shape, QColor(colors.surface))
            return
        painter.setClipPath(shape)
        painter.drawPixmap(place.topLeft(), pixmap)
        painter.setClipping(False)
        painter.strokePath(shape, QPen(QColor(colors.grid), 1))

    def _paint_text(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: _Index,
        text: QRectF,
        colors: theme.Colors,
    ) -> None:
        width, line = int(text.width()), option.fontMetrics.height()
        lines = (
            (index.data(Qt.ItemDataRole.DisplayRole), colors.text, option.font),
            (index.data(CAPTION) or "", colors.muted, caption_font(option.font)),
        )
        for row, (words, color, font) in enumerate(lines):
            shown = QFontMetrics(font).elidedText(words, Qt.TextElideMode.ElideRight, width)
            painter.setFont(font)
            at = QRectF(text.x(), text.y() + row * line, text.width(), line)
            painter.setPen(QColor(color))
            painter.drawText(at, Qt.AlignmentFlag.AlignHCenter, shown)
