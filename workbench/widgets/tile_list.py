"""A wall of pictures to choose from, each with its name; as high as it needs to be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFont,
    QFontMetrics,
    QImage,
    QKeyEvent,
    QPainter,
    QPainterPath,
    QPen,
    QPixmap,
    QResizeEvent,
    QStandardItem,
    QStandardItemModel,
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
from workbench.base.plain_text import tip_text

THUMBNAIL = QSize(144, 96)  # 3:2, in device-independent pixels
_PADDING, _GAP, _ROUND = 4, 4, 8  # so that two stand side by side in a panel
KEY = Qt.ItemDataRole.UserRole
CAPTION = Qt.ItemDataRole.UserRole + 1
_Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class PictureTile:
    """A picture on the wall, and its name.

    key   what `chosen` carries
    hint  the tooltip: what the picture is good for
    """

    key: object
    title: str
    hint: str


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

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.setModel(QStandardItemModel(self))
        self.setViewMode(QListView.ViewMode.IconMode)
        self.setMovement(QListView.Movement.Static)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.hide()

    def show_tiles(self, tiles: list[PictureTile]) -> None:
        """Replace what is on the wall, or hide it when it is empty.

        Who was there before keeps its thumbnail, and the current tile stays the current one.
        """
        current = self.currentIndex().data(KEY)
        before = {item.data(KEY): item for item in self._take_items()}
        for tile in tiles:
            self._items().appendRow(before.get(tile.key) or _new_item(tile))
        if current in self.keys():
            self.setCurrentIndex(self.model().index(self.keys().index(current), 0))
        self._fit()
        self.setVisible(bool(tiles))

    def keys(self) -> list[Any]:
        """Return the keys of what is on the wall, in order."""
        return [item.data(KEY) for item in self._all_items()]

    def show_thumbnail(self, key: object, image: QImage, caption: str) -> None:
        """Put a picture into its tile, with a few words on it; ignored where the tile is gone."""
        for item in self._all_items():
            if item.data(KEY) == key:
                item.setData(QPixmap.fromImage(image), Qt.ItemDataRole.DecorationRole)
                item.setData(caption, CAPTION)
                item.setData(f"{item.text()}, {caption}", Qt.ItemDataRole.AccessibleTextRole)

    def caption(self, key: object) -> str | None:
        """Return what stands under the title; None until the thumbnail is there."""
        found = next(item for item in self._all_items() if item.data(KEY) == key)
        caption = found.data(CAPTION)
        return None if caption is None else str(caption)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fit()

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusInEvent(event)
        if not self.currentIndex().isValid():
            self.setCurrentIndex(self.model().index(0, 0))

    def _items(self) -> QStandardItemModel:
        model = self.model()
        assert isinstance(model, QStandardItemModel)
        return model

    def _all_items(self) -> list[QStandardItem]:
        return [self._items().item(row) for row in range(self._items().rowCount())]

    def _take_items(self) -> list[QStandardItem]:
        return [self._items().takeRow(0)[0] for _ in range(self._items().rowCount())]

    def _fit(self) -> None:
        columns = self._fit_columns()
        rows = -(-self._items().rowCount() // columns)
        height = rows * self.gridSize().height() + 2 * self.frameWidth() + (2 if rows else 0)
        self.setFixedHeight(height)


def _new_item(tile: PictureTile) -> QStandardItem:
    item = QStandardItem(tile.title)
    item.setData(tile.key, KEY)
    item.setToolTip(tip_text(tile.hint))
    item.setEditable(False)
    return item


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
