"""Before and after in one view, with a divider to drag across."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import (
    QColor,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractSlider, QWidget

from workbench import theme
from workbench.display import Display
from workbench.views.picture_view import CHIPS_HEIGHT, PictureView, draw, paint_chip

_STEPS = 1000
_HANDLE = 36
_REACH = 6  # how near the line counts as on it


class WipeView(PictureView):
    """The after-picture, covered by the before-picture left of a divider.

    The divider stays where it is while the picture moves under it.

    Signals: those of PictureView.
    """

    def __init__(self, name: str, hint: str, parent: QWidget | None = None) -> None:
        super().__init__(name, hint, parent)
        self._before: Display | None = None
        self._before_caption = ""
        self._line = 0
        self.divider = Divider(self)
        self.divider.valueChanged.connect(self._move_line)
        self.divider.hide()

    def show_before(self, display: Display | None, caption: str) -> None:
        """Cover the picture with `display` left of the divider; None: with nothing."""
        if (display, caption) != (self._before, self._before_caption):
            self._before, self._before_caption = display, caption
            self.divider.setVisible(display is not None)
            self.update()

    def _move_line(self) -> None:
        line = round(self.divider.value() / _STEPS * self.width())
        left, right = sorted((self._line, line))
        self._line = line
        self.divider.move(line - _HANDLE // 2, (self.height() - _HANDLE) // 2)
        self.update(QRect(QPoint(left - 3, 0), QPoint(right + 3, self.height())))
        self.update(0, 0, self.width(), CHIPS_HEIGHT)  # the captions give way to the line

    def _paint_picture(self, painter: QPainter) -> None:
        super()._paint_picture(painter)
        if self._before is not None:
            width, height = self.device_size
            line = round(self._line * self.devicePixelRatioF())
            painter.setClipRect(0, 0, line, height, Qt.ClipOperation.IntersectClip)
            painter.fillRect(0, 0, width, height, QColor(theme.colors(self.palette()).surround))
            draw(painter, self._before, self._transform, (width, height))

    def _paint_captions(self, painter: QPainter) -> None:
        if self._before is None:
            super()._paint_captions(painter)
            return
        left, right = QRect(self.rect()), QRect(self.rect())
        left.setRight(self._line)
        right.setLeft(self._line)
        paint_chip(painter, left, self._before_caption)
        paint_chip(painter, right, self._caption, Qt.AlignmentFlag.AlignRight)
        for color, width in (("#000000", 4), ("#ffffff", 2)):
            painter.setPen(QPen(QColor(color), width))
            painter.drawLine(self._line, 0, self._line, self.height())

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if self._on_line(event.position()) and event.button() == Qt.MouseButton.LeftButton:
            self.divider.take()
        else:
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if self.divider.isSliderDown():
            self.divider.drag_to(event.position().x())
        else:
            if self._grabbed is None:
                on_line = self._on_line(event.position())
                shape = Qt.CursorShape.SplitHCursor if on_line else Qt.CursorShape.ArrowCursor
                self.setCursor(shape)
            super().mouseMoveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        self.divider.setSliderDown(False)
        super().mouseReleaseEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        self._move_line()
        super().resizeEvent(event)

    def _on_line(self, position: QPointF) -> bool:
        return self._before is not None and abs(position.x() - self._line) <= _REACH


class Divider(QAbstractSlider):
    """The divider's handle: drag it, or focus it and use the arrow keys, Home and End.

    Signals:
        valueChanged(value): where the divider stands, in thousandths of the view's width.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._view = parent
        self.setObjectName("divider")
        self.setAccessibleName("Divider between before and after")
        self.setToolTip("Drag to uncover more of before or after; arrow keys move it too")
        self.setRange(0, _STEPS)
        self.setSingleStep(10)
        self.setPageStep(100)
        self.setOrientation(Qt.Orientation.Horizontal)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.SplitHCursor)
        self.resize(_HANDLE, _HANDLE)
        self.setValue(_STEPS // 2)

    def take(self) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self.setSliderDown(True)

    def drag_to(self, x: float) -> None:
        """Stand at `x`, in the view's coordinates."""
        self.setValue(round(x / max(self._view.width(), 1) * _STEPS))

    def mousePressEvent(self, _event: QMouseEvent) -> None:  # noqa: N802
        self.take()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if self.isSliderDown():
            self.drag_to(self.mapToParent(event.position()).x())

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
        for side in (-1, 1):
            tip = middle + QPointF(8 * side, 0)
            painter.drawLine(tip, tip + QPointF(-4 * side, -4))
            painter.drawLine(tip, tip + QPointF(-4 * side, 4))
