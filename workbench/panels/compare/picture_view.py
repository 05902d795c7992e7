"""A view of one picture, zoomed and panned, painted in device pixels; the keys of pictures."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from PySide6.QtCore import (
    QCoreApplication,
    QEvent,
    QObject,
    QPoint,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFont,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QRegion,
    QResizeEvent,
    QTransform,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QWidget
from shiboken6 import isValid

from workbench.base import theme
from workbench.base.background import Throttle
from workbench.imaging.display import Display
from workbench.panels.compare.picture_layer import (
    LIMITS,
    PictureLayer,
    Point,
    Shown,
    Size,
    ViewTransform,
)
from workbench.widgets.chips import paint_chip
from workbench.widgets.keyboard import ARROWS

# Paints over the picture, in the picture's pixels; gets the rectangle of them in view, and how
# many device pixels each has.
Overlay = Callable[[QPainter, QRectF, float], None]

WHEEL_PER_DOUBLING = 360  # eighths of a degree: three notches of a common wheel
PAN_STEP = 0.1  # share of the view for one press of an arrow key
_SEAM = 3  # px of a picture's edge that may be partly covered
_MARK = 9  # half the size of the cross that marks a pixel, in device-independent pixels
_BY_KEY = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)
_HAIR = 1e-4  # device pixels off a pixel's edge, where rounding errors would choose the pixel


class PictureView(QWidget):
    """A `Display` seen through a `ViewTransform`; the user zooms, pans and points.

    Nearest neighbour from 100 % up, smooth below.  Wheel: zoom at the pointer; drag: pan; double
    click: 100 % there, or fit; keys + - 0 (fit) 1 2 4 (100 to 400 %) and the arrows.  Large pixels
    show their values.

    exact_scale  at which a screen pixel is one of the picture's file, whose copy this may be
    has_captions  false: nothing is written over the picture
    mark         the pixel (x, y) under the pointer in a linked view, or None
    """

    moved = Signal(object)  # (transform): the user wants this ViewTransform; None: fit the picture
    hovered = Signal(object)  # (point): the pixel (x, y) under the pointer, or None
    pointed = Signal(object)  # (point): the pointer in pixels of the picture, also beside it
    picked = Signal(object)  # (point): the pixel (x, y) that was clicked
    drawn = Signal(object, bool)  # (line, is_done): Shift and a drag, from one pixel to another
    cells_wanted = Signal(object, object)  # (CellRequest, deliver): takes what is `written`
    resized = Signal()  # another size in device pixels

    def __init__(self, name: str, hint: str, parent: QWidget | None = None) -> None:
        """Make an empty view, which shows `hint` until it has a picture."""
        super().__init__(parent)
        self.setAccessibleName(name)
        self._hint = hint
        self._layer = PictureLayer(self)
        self.transform = ViewTransform(1.0, (0.0, 0.0))
        self.mark: tuple[int, int] | None = None
        self._grabbed: QPointF | None = None
        self._pressed: QPointF | None = None  # where, until the pointer moves away
        self._line_from: tuple[int, int] | None = None
        self.is_reached_by_key = False  # a ring shows it; after a click nobody needs one
        self.take_tab: Callable[[], bool] = lambda: False  # whether Tab means the picture
        self.hides_values: Callable[[], bool] = lambda: False  # of large pixels
        self.overlays: list[Overlay] = []
        self.exact_scale, self.limits, self.has_captions = 1.0, LIMITS, True
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMinimumSize(60, 40)  # so that four fit into a narrow window

    @property
    def device_size(self) -> Size:
        """Width and height in device pixels."""
        ratio = self.devicePixelRatioF()
        return max(int(self.width() * ratio), 1), max(int(self.height() * ratio), 1)

    @property
    def display(self) -> Display | None:
        return self._layer.shown.display

    @property
    def caption(self) -> str:
        return self._layer.shown.label

    def show_picture(self, shown: Shown) -> None:
        """Paint this picture, its caption in its corner; without a display, the hint."""
        self._show_in(self._layer, shown)

    def _show_in(self, layer: PictureLayer, shown: Shown) -> None:
        if layer.show(shown):
            self._describe()
            self.update()

    def _describe(self) -> None:
        self.setAccessibleDescription(self.caption if self.display else self._hint)

    def show_hint(self, hint: str) -> None:
        if hint != self._hint:
            self._hint = hint
            self._describe()
            self.update()

    def show_transform(self, transform: ViewTransform) -> None:
        if transform != self.transform:
            self.transform = transform
            self.update()

    def show_mark(self, point: tuple[int, int] | None) -> None:
        """Mark the pixel that is under the pointer in a linked view."""
        if point != self.mark:
            for changed in (self.mark, point):
                if changed is not None:
                    self.update(self._mark_rect(changed))
            self.mark = point

    def pixel_at(self, position: QPointF) -> tuple[int, int] | None:
        """Find the picture's pixel (x, y) at `position` in the widget; None beside it."""
        if self.display is None:
            return None
        x, y = self.point_at(position)
        width, height = self.display.size
        return (math.floor(x), math.floor(y)) if 0 <= x < width and 0 <= y < height else None

    def point_at(self, position: QPointF) -> Point:
        """Find the place under `position` in the widget, in pixels of the picture or beside it."""
        return self.transform.to_picture(self._to_device(position), self.device_size)

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(480, 360)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        colors = theme.colors(self.palette())
        painter = QPainter(self)
        around = QRegion(event.rect()).subtracted(QRegion(self._covered))
        for rect in around:  # type: ignore[attr-defined]  # unknown to PySide's stubs
            painter.fillRect(rect, QColor(colors.surround))
        if self.display is None:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(QColor(colors.text), 1.5, Qt.PenStyle.DashLine))
            room = self.rect()
            margin = min(room.width(), room.height()) // 10
            frame = room.adjusted(margin, margin, -margin, -margin)
            painter.setOpacity(0.45)
            painter.drawRoundedRect(frame, 12, 12)
            painter.setOpacity(1.0)
            font = QFont(self.font())
            font.setPointSizeF(font.pointSizeF() * 1.25)
            painter.setFont(font)
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(frame.adjusted(12, 12, -12, -12), flags, self._hint)
        else:
            painter.save()
            use_device_pixels(painter, self.devicePixelRatioF())
            self._paint_picture(painter, self._parts(event.region()))
            painter.restore()
            self._paint_overlays(painter)
            if self.has_captions:
                self._paint_captions(painter)
        self._paint_mark(painter)
        if self.hasFocus() and self.is_reached_by_key:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            area = QRectF(self.rect())
            for color, inset in ((colors.panel, 3), (colors.accent, 1)):  # seen on any picture
                painter.setPen(QPen(QColor(color), 2))
                painter.drawRect(area.adjusted(inset, inset, -inset, -inset))

    @property
    def _covered(self) -> QRect:  # by the picture, to the last pixel of every row and column
        if self.display is None:
            return QRect()
        view, ratio = self.device_size, self.devicePixelRatioF()
        (left, top), (right, bottom) = (
            [round(at / ratio) for at in self.transform.to_view(corner, view)]
            for corner in ((0, 0), self.display.size)
        )
        return QRect(QPoint(left, top), QPoint(right, bottom)).adjusted(
            _SEAM, _SEAM, -_SEAM, -_SEAM
        )

    def _parts(self, region: QRegion) -> Sequence[QRect]:
        """Convert `region` to device pixels; none where pixels lie across edges."""
        ratio = self.devicePixelRatioF()
        if not ratio.is_integer():
            return ()
        scaled = QTransform.fromScale(ratio, ratio)
        return [scaled.mapRect(rect) for rect in region]  # type: ignore[attr-defined]  # as above

    def _paint_picture(self, painter: QPainter, parts: Sequence[QRect]) -> None:
        self._layer.paint(painter, self.transform, self.device_size, parts, not self.hides_values())

    def _paint_overlays(self, painter: QPainter) -> None:
        view, transform = self.device_size, self.transform
        part = QRectF(self.rect())
        corners = (self.point_at(at) for at in (part.topLeft(), part.bottomRight()))
        visible = QRectF(*(QPointF(*at) for at in corners))
        for paint in self.overlays:
            painter.save()
            use_device_pixels(painter, self.devicePixelRatioF())
            painter.translate(*transform.origin(view))
            painter.scale(transform.scale, transform.scale)
            paint(painter, visible, transform.scale)
            painter.restore()

    def _paint_captions(self, painter: QPainter) -> None:
        paint_chip(painter, self.rect(), self.caption)

    def _paint_mark(self, painter: QPainter) -> None:
        if self.mark is None or self.display is None:
            return
        centre = QRectF(self._mark_rect(self.mark)).center()
        for color, width in (("#000000", 3.0), ("#ffffff", 1.0)):
            painter.setPen(QPen(QColor(color), width))
            for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                start, end = QPointF(3 * dx, 3 * dy), QPointF(_MARK * dx, _MARK * dy)
                painter.drawLine(centre + start, centre + end)

    def _mark_rect(self, point: tuple[int, int]) -> QRect:
        ratio = self.devicePixelRatioF()
        x, y = self.transform.to_view((point[0] + 0.5, point[1] + 0.5), self.device_size)
        reach = _MARK + 2
        return QRect(round(x / ratio) - reach, round(y / ratio) - reach, 2 * reach, 2 * reach)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        self._zoom(event.position(), 2.0 ** (event.angleDelta().y() / WHEEL_PER_DOUBLING))
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        is_left = event.button() == Qt.MouseButton.LeftButton
        if is_left and event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self._line_from = self.pixel_at(event.position())
        if self._line_from is not None:
            return
        if is_left or event.button() == Qt.MouseButton.MiddleButton:
            self._grabbed = event.position()
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
        self._pressed = event.position() if is_left else None

    def _draw_line(self, event: QMouseEvent, is_done: bool) -> None:
        if self._line_from is not None and self.display is not None:
            at = self.point_at(event.position())
            x, y = (
                min(max(math.floor(where), 0), most - 1)
                for where, most in zip(at, self.display.size, strict=True)
            )
            self.drawn.emit((self._line_from, (x, y)), is_done)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        self._draw_line(event, False)
        if self._grabbed is not None and self.display is not None:
            step = self._to_device(event.position() - self._grabbed)
            self._grabbed = event.position()
            self.moved.emit(self.transform.panned(*step))
        if self._pressed is not None:
            moved = (event.position() - self._pressed).manhattanLength()
            self._pressed = self._pressed if moved < QApplication.startDragDistance() else None
        self.hovered.emit(self.pixel_at(event.position()))
        if self.display is not None:
            self.pointed.emit(self.point_at(event.position()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        self._draw_line(event, True)
        self._line_from = None
        pressed, self._pressed, self._grabbed = self._pressed, None, None
        self.unsetCursor()
        if pressed is not None and (pixel := self.pixel_at(event.position())) is not None:
            self.picked.emit(pixel)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if self.transform.scale == self.exact_scale:
            self.moved.emit(None)
        else:
            self._zoom(event.position(), self.exact_scale / self.transform.scale)

    def leaveEvent(self, _event: QEvent) -> None:  # noqa: N802
        self.hovered.emit(None)
        self.pointed.emit(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        width, height = self.device_size
        match event.key():
            case key if key in _ZOOM:
                self.moved.emit(self.transform.stepped(_ZOOM[key], self.limits))
            case Qt.Key.Key_0:
                self.moved.emit(None)
            case Qt.Key.Key_1 | Qt.Key.Key_2 | Qt.Key.Key_4:
                scale = self.exact_scale * (event.key() - Qt.Key.Key_0.value)
                self.moved.emit(ViewTransform(scale, self.transform.centre))
            case key if key in ARROWS:
                across, down = ARROWS[key]
                dx, dy = -across * PAN_STEP * width, -down * PAN_STEP * height
                self.moved.emit(self.transform.panned(dx, dy))
            case _:
                super().keyPressEvent(event)

    def resizeEvent(self, _event: QResizeEvent) -> None:  # noqa: N802
        self.resized.emit()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.DevicePixelRatioChange:
            self.resized.emit()
        # Qt moves the focus on as well where what has it is hidden: only the key itself counts.
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            plain = event.modifiers() == Qt.KeyboardModifier.NoModifier
            if event.key() == Qt.Key.Key_Tab and plain and self.take_tab():
                return True
        return super().event(event)

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        self.is_reached_by_key = event.reason() in _BY_KEY
        self.update()

    def _zoom(self, position: QPointF, factor: float) -> None:
        if self.display is not None:
            at = self._to_device(position)
            self.moved.emit(self.transform.zoomed_at(at, factor, self.device_size, self.limits))

    def _to_device(self, position: QPointF) -> Point:
        ratio = self.devicePixelRatioF()
        return position.x() * ratio, position.y() * ratio


def use_device_pixels(painter: QPainter, ratio: float) -> None:
    """Scale the painter so that one unit is one device pixel, on the device's grid.

    Under fractional scaling a widget's corner may lie between device pixels, elsewhere for each
    view; without the shift linked views would sample their pictures at different points.
    """
    corner = painter.deviceTransform()
    painter.scale(1 / ratio, 1 / ratio)
    painter.translate(
        round(corner.dx()) - corner.dx() + _HAIR, round(corner.dy()) - corner.dy() + _HAIR
    )


RELEASED_MS = 40  # X11 may tell of a held key as of one released and pressed again at once
_ZOOM: dict[int, int] = {Qt.Key.Key_Plus: 1, Qt.Key.Key_Equal: 1, Qt.Key.Key_Minus: -1}
_KEYS = {Qt.Key.Key_Space, Qt.Key.Key_Tab, *ARROWS, *_ZOOM}
_PLAIN = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier  # "+" may need them
TAKES_TEXT = Qt.WidgetAttribute.WA_InputMethodEnabled
_KEY_EVENTS = (QEvent.Type.KeyPress, QEvent.Type.KeyRelease)


class PictureKeys(QObject):
    """Sends keys to the view under the pointer, whichever widget has the focus.

    It does so from when the pointer moves over a picture until the focus moves; a text field
    keeps its keys.  Meanwhile it filters the events of the widget with the focus, and no others.
    """

    held = Signal(bool)  # (is_held): Space was pressed or released
    tabbed = Signal()  # Tab was pressed

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._parent = parent
        self._over: QWidget | None = None
        self._watched: QWidget | None = None
        self._is_held = self._is_passing_on = False
        self._is_claimed = False  # the pointer has moved over the picture since the focus did
        self._release = Throttle(RELEASED_MS, self.let_go, self)
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._follow)

    def point(self, view: QWidget, is_over: bool) -> None:
        """Follow the pointer, which moves over `view` or has left it."""
        self._is_claimed = is_over
        if is_over:
            self._over = view
            window = view.window()
            focus = QApplication.focusWidget() or window
            is_elsewhere = focus.window() is window and not self._parent.isAncestorOf(focus)
            if self._watched is None and is_elsewhere:
                self._watched = focus
                focus.installEventFilter(self)
        elif view is self._over:
            self._over = None
            if not self._is_held:
                self._stop_watching()

    def tab(self) -> bool:
        """Take Tab if the pointer moved over the picture last; else it moves the focus."""
        if self._is_claimed:
            self.tabbed.emit()
        return self._is_claimed

    def take(self, event: QKeyEvent) -> bool:
        """Begin or end holding with Space; return False for another key."""
        if event.key() != Qt.Key.Key_Space:
            return False
        if event.type() == QEvent.Type.KeyPress:
            self._release.stop()
            self._hold(self._is_held or not event.isAutoRepeat())
        elif not event.isAutoRepeat() and self._is_held:  # a held key tells of releases as well
            self._release.start()
        return True

    def let_go(self) -> None:
        self._release.stop()
        self._hold(False)
        if self._over is None:
            self._stop_watching()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() not in _KEY_EVENTS or not isinstance(event, QKeyEvent):
            return False
        # While passing on, the view had no use for it, and the watched widget is around it.
        if self._is_passing_on or not self._is_ours(watched, event):
            return False
        if event.key() == Qt.Key.Key_Tab:
            return event.type() == QEvent.Type.KeyPress and self.tab()
        self._is_passing_on = True
        try:
            QCoreApplication.sendEvent(self._over or self._parent, event)
        finally:
            self._is_passing_on = False
        return True

    def _is_ours(self, watched: QObject, event: QKeyEvent) -> bool:
        if event.key() not in _KEYS or event.modifiers() & ~_PLAIN:
            return False
        if event.key() == Qt.Key.Key_Space and self._is_held:
            return True
        is_number = isinstance(watched, QAbstractSpinBox) and event.key() == Qt.Key.Key_Space
        is_typed = isinstance(watched, QWidget) and watched.testAttribute(TAKES_TEXT)
        return self._over is not None and (is_number or not is_typed)  # numbers have no spaces

    def _stop_watching(self) -> None:
        watched, self._watched = self._watched, None
        if watched is not None and isValid(watched):  # the focus moves as well where it is deleted
            watched.removeEventFilter(self)

    def _follow(self, _old: QWidget | None, _new: QWidget | None) -> None:
        self._is_claimed = False
        self.let_go()
        self._stop_watching()

    def _hold(self, is_held: bool) -> None:
        if is_held != self._is_held:
            self._is_held = is_held
            self.held.emit(is_held)
