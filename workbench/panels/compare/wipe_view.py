"""Several pictures at once: under a divider, in a grid, pinned, or in one image for a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QLine, QPoint, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QGuiApplication,
    QImage,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QRegion,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractSlider, QGridLayout, QWidget

from kernels.core.job import Result
from workbench.base import theme
from workbench.base.memory import require_memory
from workbench.imaging.display import Display
from workbench.imaging.display_mapping import DisplayMapping
from workbench.panels.compare.picture_layer import PictureLayer, Shown, Size, places_across
from workbench.panels.compare.picture_view import PictureView
from workbench.widgets.boxes import VBox
from workbench.widgets.buttons import described, make_button
from workbench.widgets.chips import CHIPS_HEIGHT, paint_chip
from workbench.widgets.watch import Watch

_STEPS = 1000
_HANDLE = 36
_REACH = 6  # px from the line that count as on it


class WipeView(PictureView):
    """The picture after, covered by the one before left of a divider, or above it.

    The divider stays where it is while the picture moves under it.
    """

    def __init__(self, name: str, hint: str) -> None:
        super().__init__(name, hint)
        self._cover = PictureLayer(self)
        self._line = 0  # its place in px, across or down
        self.divider = Divider(self)
        self.divider.valueChanged.connect(self._move_line)
        self.divider.hide()

    @property
    def is_level(self) -> bool:
        """True while the divider lies between above and below."""
        return self.divider.is_level

    def turn(self, is_level: bool) -> None:
        """Place the divider between above and below, or between left and right."""
        if is_level != self.is_level:
            self.divider.turn(is_level)
            self._move_line()
            self.update()

    def show_before(self, shown: Shown) -> None:
        """Cover the picture on the divider's near side; without a display, nothing."""
        self.divider.setVisible(shown.display is not None)
        self._show_in(self._cover, shown)

    def _describe(self) -> None:
        super()._describe()
        if self._cover.shown.display is not None:
            self.setAccessibleDescription(f"{self._cover.shown.label}; {self.caption}")

    def _move_line(self) -> None:
        width, height = self.width(), self.height()
        line = round(self.divider.value() / _STEPS * (height if self.is_level else width))
        low, high = sorted((self._line, line))
        self._line = line
        near = line - _HANDLE // 2
        if self.is_level:
            self.divider.move((width - _HANDLE) // 2, near)
            # The lower caption stands below the line.
            self.update(QRect(QPoint(0, low - 3), QPoint(width, high + CHIPS_HEIGHT)))
        else:
            self.divider.move(near, (height - _HANDLE) // 2)
            self.update(QRect(QPoint(low - 3, 0), QPoint(high + 3, height)))
            self.update(0, 0, width, CHIPS_HEIGHT)  # the captions give way to the line

    def _paint_picture(self, painter: QPainter, parts: Sequence[QRect]) -> None:
        if self._cover.shown.display is None:
            super()._paint_picture(painter, parts)
            return
        width, height = self.device_size
        line = round(self._line * self.devicePixelRatioF())
        near = QRect(0, 0, width, line) if self.is_level else QRect(0, 0, line, height)
        far = QRegion(0, 0, width, height).subtracted(near).boundingRect()
        painter.save()
        painter.setClipRect(far, Qt.ClipOperation.IntersectClip)
        super()._paint_picture(painter, parts)
        painter.restore()
        painter.setClipRect(near, Qt.ClipOperation.IntersectClip)
        self._cover.paint(painter, self.transform, (width, height), parts, not self.hides_values())

    def _paint_captions(self, painter: QPainter) -> None:
        if self._cover.shown.display is None:
            super()._paint_captions(painter)
            return
        near, far, line = self.rect(), self.rect(), self._line
        if self.is_level:
            near.setBottom(line)
            far.setTop(line)
            side = Qt.AlignmentFlag.AlignLeft
        else:
            near.setRight(min(line, near.right()))
            far.setLeft(line)
            side = Qt.AlignmentFlag.AlignRight
        paint_chip(painter, near, self._cover.shown.label)
        paint_chip(painter, far, self.caption, side)

    def _paint_overlays(self, painter: QPainter) -> None:
        super()._paint_overlays(painter)
        if self._cover.shown.display is None:
            return
        line, width, height = self._line, self.width(), self.height()
        ends = QLine(0, line, width, line) if self.is_level else QLine(line, 0, line, height)
        for color, width in (("#000000", 4), ("#ffffff", 2)):
            painter.setPen(QPen(QColor(color), width))
            painter.drawLine(ends)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if self._on_line(event.position()) and event.button() == Qt.MouseButton.LeftButton:
            self.divider.take()
        else:
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if self.divider.isSliderDown():
            self.divider.drag_to(event.position())
        else:
            if self._grabbed is None:
                on_line = self._on_line(event.position())
                self.setCursor(self.divider.shape if on_line else Qt.CursorShape.ArrowCursor)
            super().mouseMoveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        self.divider.setSliderDown(False)
        super().mouseReleaseEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        self._move_line()
        super().resizeEvent(event)

    def _on_line(self, position: QPointF) -> bool:
        along = position.y() if self.is_level else position.x()
        return self._cover.shown.display is not None and abs(along - self._line) <= _REACH


class Divider(QAbstractSlider):
    """The divider's handle: drag it, or focus it and use the arrow keys, Home and End.

    Its value is in thousandths of the view's width, or height.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._view = parent
        tip = "Drag to uncover more of before or after; arrow keys move it too"
        described(self, "divider", "Divider between before and after", tip)
        self.setRange(0, _STEPS)
        self.setSingleStep(10)
        self.setPageStep(100)
        self.setOrientation(Qt.Orientation.Horizontal)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(self.shape)
        self.resize(_HANDLE, _HANDLE)
        self.setValue(_STEPS // 2)

    def take(self) -> None:
        """Begin to drag the handle, and give it the keyboard."""
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self.setSliderDown(True)

    @property
    def is_level(self) -> bool:
        """True while it moves up and down."""
        return self.orientation() == Qt.Orientation.Vertical

    @property
    def shape(self) -> Qt.CursorShape:
        return Qt.CursorShape.SplitVCursor if self.is_level else Qt.CursorShape.SplitHCursor

    def turn(self, is_level: bool) -> None:
        """Move up and down, or across; Home is the upper end, or the left one."""
        self.setOrientation(Qt.Orientation.Vertical if is_level else Qt.Orientation.Horizontal)
        self.setInvertedControls(is_level)  # else Up would move it down
        self.setCursor(self.shape)
        self.update()

    def drag_to(self, place: QPointF) -> None:
        """Move the divider to `place`, in the view's coordinates."""
        at, extent = (
            (place.y(), self._view.height()) if self.is_level else (place.x(), self._view.width())
        )
        self.setValue(round(at / max(extent, 1) * _STEPS))

    def mousePressEvent(self, _event: QMouseEvent) -> None:  # noqa: N802
        self.take()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if self.isSliderDown():
            self.drag_to(self.mapToParent(event.position()))

    def mouseReleaseEvent(self, _event: QMouseEvent) -> None:  # noqa: N802
        self.setSliderDown(False)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        event.ignore()  # the wheel zooms the picture, here as well

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        colors = theme.colors(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        middle, radius = QRectF(self.rect()).center(), _HANDLE / 2 - 4
        edge = colors.accent if self.hasFocus() else "#000000"
        painter.setPen(QPen(QColor(edge), 3 if self.hasFocus() else 1))
        painter.setBrush(QColor("#ffffff"))
        painter.drawEllipse(middle, radius, radius)
        painter.setPen(QPen(QColor("#16191d"), 2, c=Qt.PenCapStyle.RoundCap))
        painter.translate(middle)
        painter.rotate(90 if self.is_level else 0)
        for side in (-1, 1):
            tip = QPointF(8 * side, 0)
            painter.drawLine(tip, tip + QPointF(-4 * side, -4))
            painter.drawLine(tip, tip + QPointF(-4 * side, 4))


_GAP = 6  # px between two views
_UNKNOWN: Size = (3, 2)  # a picture's shape while there is none


class Panes(QWidget):
    """A grid of views, arranged so that their pictures are largest."""

    def __init__(self, views: Sequence[PictureView]) -> None:
        """Take all views; `show_views` chooses those shown."""
        super().__init__()
        self._all = tuple(views)
        self.shown: tuple[PictureView, ...] = ()  # in their order
        self._picture: Size = _UNKNOWN
        self._placed: tuple[tuple[PictureView, ...], int] = ((), 0)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(_GAP)
        Watch(self, QEvent.Type.Resize).seen.connect(self._place)
        for view in self._all:
            view.setParent(self)

    def show_views(self, views: Sequence[PictureView]) -> None:
        self.shown = tuple(views)
        self._place()

    def show_size(self, picture: Size) -> None:
        """Place the views for pictures of this width and height."""
        self._picture = picture
        self._place()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        """Paint a place that is left over as the surround of the pictures."""
        count, across = len(self.shown), self._placed[1]
        painter, surround = QPainter(self), QColor(theme.colors(self.palette()).surround)
        for place in range(count, -(-count // max(across, 1)) * across):
            painter.fillRect(self._grid.cellRect(place // across, place % across), surround)

    def _place(self) -> None:
        across = places_across(len(self.shown), (self.width(), self.height()), self._picture, _GAP)
        if (self.shown, across) == self._placed:
            return
        self._placed = self.shown, across
        hidden = [view for view in self._all if view not in self.shown]
        for view in self.shown:
            view.show()
        for view in hidden:  # Qt would give the keyboard on as if by Tab, with a ring
            if view.window().focusWidget() is view:
                reasons = Qt.FocusReason.OtherFocusReason, Qt.FocusReason.TabFocusReason
                self.shown[0].setFocus(reasons[view.is_reached_by_key])
            view.hide()
        for view in self._all:
            self._grid.removeWidget(view)
        for index, view in enumerate(self.shown):
            self._grid.addWidget(view, index // across, index % across)
        down = -(-len(self.shown) // across)
        for line in range(len(self._all)):
            self._grid.setColumnStretch(line, int(line < across))
            self._grid.setRowStretch(line, int(line < down))


_MIN_TEXT_PX = 14
_TEXT_SHARE = 60  # of the width of all: letters of 32 pixels on a slide of 1920
_PAPER, _INK = QColor("#ffffff"), QColor("#16191d")


def side_by_side(tiles: Sequence[tuple[Display, str]], part: QRect, zoom: int = 1) -> QImage:
    """Join this part of pictures of one size under their captions; four or more in two rows.

    zoom  image pixels per pixel of a picture

    Raises MemoryError where the picture does not fit.
    """
    tiles = [(display, text.replace("\n", " · ")) for display, text in tiles]
    across = len(tiles) if len(tiles) < 4 else -(-len(tiles) // 2)
    down = -(-len(tiles) // across)
    width, height = zoom * part.width(), zoom * part.height()
    font = QFont(QGuiApplication.font())
    font.setPixelSize(max(_MIN_TEXT_PX, across * width // _TEXT_SHARE))
    metrics = QFontMetrics(font)
    gap, wrapped = metrics.height() // 2, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
    least = QRect(0, 0, max(width - 2 * gap, 16 * font.pixelSize()), height)
    boxes = [metrics.boundingRect(least, wrapped, text) for _, text in tiles]
    column = max(width, *(each.width() + 2 * gap for each in boxes))
    band = max(each.height() for each in boxes) + 2 * gap
    require_memory(4 * across * column * down * (band + height))
    size = across * column + (across + 1) * gap, down * (band + height) + gap
    image = QImage(*size, QImage.Format.Format_RGB32)
    if image.isNull():
        count = len(tiles)
        raise MemoryError(f"no memory for a comparison of {count} pictures of {width} × {height}")
    image.fill(_PAPER)
    painter = QPainter(image)
    painter.setFont(font)
    painter.setPen(_INK)
    for index, (display, text) in enumerate(tiles):
        x = gap + index % across * (column + gap)
        y = index // across * (band + height)
        painter.drawText(QRect(x + gap, y, column - 2 * gap, band), wrapped, text)
        place = QRect(x + (column - width) // 2, y + band, width, height)
        painter.drawImage(place, display.images[0], part)
    painter.end()
    return image


MAX_PINS = 3  # beside the newest result: four in all
_MARGIN = 8  # of the button


def pin_name(number: int) -> str:
    return f"Pinned {number}"


@dataclass(frozen=True, slots=True, eq=False)
class Pin:
    """A kept result and its display, made with `look`."""

    result: Result
    display: Display
    look: DisplayMapping
    caption: str  # "Gaussian blur 5×5 · OpenCV", and below that time and look: "1.23 ms"

    @property
    def samples(self) -> NDArray[Any]:
        """The filtered picture, (H, W, C)."""
        return self.result.picture


class PinView(PictureView):
    """The view of a pinned result; its button emits `removed`."""

    removed = Signal()

    def __init__(self, number: int) -> None:
        super().__init__(pin_name(number), "")
        tip, title = "Remove this result from the view", f"Remove pinned result {number}"
        self._close = make_button(f"unpin-{number}", "×", tip, title, look="onPicture")
        self._close.clicked.connect(self.removed)
        corner = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop
        VBox(self, _MARGIN).add((self._close, 0, corner))

    def _paint_captions(self, painter: QPainter) -> None:
        room = self._close.width() + _MARGIN
        paint_chip(painter, self.rect().adjusted(0, 0, -room, 0), self.caption)
