"""The part of the picture on the views: drawn, moved and resized by pointer or keys, outlined."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import cast

from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QApplication

from kernels.sweeps.step_words import Part
from workbench.model.intents import file_pixels, part_of
from workbench.model.state import State
from workbench.panels.compare.compare_view import CompareView
from workbench.panels.compare.picture_layer import Point
from workbench.panels.compare.picture_view import PictureView
from workbench.session.store import Store
from workbench.widgets.chips import hairline, on_screen, outline, paint_words
from workbench.widgets.keyboard import ARROWS, is_escape

Ends = tuple[int, int]  # the first pixel, and the one after the last
Area = tuple[Ends, Ends]  # across, and down
Held = tuple[bool, bool]  # which ends move with the pointer
GRIP_PX, HANDLE_PX = 7.0, 6.0  # around an edge that takes it; side of what marks it
CHIP_PX = 24.0  # room for the size below the part
WHITE, BLACK = QColor("#ffffff"), QColor("#000000")
KEYS = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier
SHAPES: dict[tuple[bool, bool, bool], Qt.CursorShape] = {  # across, down, along one diagonal
    (True, False, False): Qt.CursorShape.SizeHorCursor,
    (False, True, False): Qt.CursorShape.SizeVerCursor,
    (True, True, True): Qt.CursorShape.SizeFDiagCursor,
    (True, True, False): Qt.CursorShape.SizeBDiagCursor,
}


@dataclass(frozen=True, slots=True)
class Drag:
    """A drag from `start`, in pixels of the picture.

    held  the ends of `before` that move, across and down; None: it draws another part
    """

    pressed: QPointF
    start: Point
    before: Area | None = None
    held: tuple[Held, Held] | None = None


class PartSelection(QObject):
    """The mode of the pointer that selects a part of the picture; its outline is always there.

    A drag draws the part, moves it, or moves an edge; a click lets go of it.  Arrow keys move it,
    with Shift its lower right corner.  Esc ends a drag as if it had not begun, and then the mode.

    is_on  whether the pointer selects
    """

    toggled = Signal(bool)  # (is_on): it selects from now on, or no longer

    def __init__(self, store: Store, compare: CompareView, parent: QObject) -> None:
        super().__init__(parent)
        self._store, self._compare = store, compare
        self.is_on = self._zooms = False
        self._drag: Drag | None = None
        self._drawn: Area | None = None  # by the drag, so far
        self._views = compare.findChildren(PictureView)
        for view in self._views:
            view.installEventFilter(self)
        compare.add_overlay(self._paint)
        store.changed.connect(self._follow)

    def turn(self, is_on: bool, zooms: bool = False) -> None:
        """Have the pointer select, once what fills the view; or move the picture again."""
        self.is_on, self._zooms = is_on, zooms
        self._stop()
        for view in self._views:
            if is_on:
                view.setCursor(Qt.CursorShape.CrossCursor)
            else:
                view.unsetCursor()
        if is_on:
            self._compare.main.setFocus()
            self._compare.window().installEventFilter(self)  # Esc, wherever the keyboard is
        self.toggled.emit(is_on and not zooms)

    def choose(self, area: Area | None) -> None:
        """Filter `area` of the picture, in its pixels; None: all."""
        self._store.choose(region=None if area is None else self._part(area))

    @property
    def area(self) -> Area | None:
        """The part as it is drawn or chosen, in pixels of what is shown."""
        if self._drawn is not None:
            return self._drawn
        if (part := part_of(self._store.state)) is None:
            return None
        return (part.x, part.x + part.width), (part.y, part.y + part.height)

    def _part(self, area: Area) -> Part:
        (left, right), (top, bottom) = area
        state = self._store.state
        step, feather = file_pixels(state.picture), state.region[4] if state.region else 0
        x, y = round(left * step), round(top * step)
        return x, y, round(right * step) - x, round(bottom * step) - y, feather

    def _follow(self, old: State, new: State) -> None:
        if old.picture is not new.picture:
            self._stop()
        elif old.region != new.region:
            self._compare.repaint_overlays()

    def _stop(self) -> None:
        self._drag = self._drawn = None
        self._compare.repaint_overlays()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if not self.is_on:
            return False
        if not isinstance(watched, PictureView) or watched.display is None:
            return is_escape(event, event.type()) and self._take_key(cast("QKeyEvent", event))
        if event.type() in (QEvent.Type.KeyPress, QEvent.Type.ShortcutOverride):
            return self._take_key(cast("QKeyEvent", event))
        if not isinstance(event, QMouseEvent):
            return False
        if event.type() == QEvent.Type.MouseMove:
            watched.event(event)  # values and marks follow the pointer as ever
            self._move(watched, event.position())
            return True
        if event.button() != Qt.MouseButton.LeftButton:
            return False
        if event.type() == QEvent.Type.MouseButtonRelease:
            self._release()
        else:
            start = watched.point_at(event.position())
            self._drag = Drag(event.position(), start, self.area, self._held(watched, start))
        return True

    def _move(self, view: PictureView, at: QPointF) -> None:
        drag, place = self._drag, view.point_at(at)
        view.setCursor(_shape(drag.held if drag else self._held(view, place)))
        if drag is None:
            return
        far_px = (drag.pressed - at).manhattanLength()
        if self._drawn is not None or far_px >= QApplication.startDragDistance():
            if drag.held is None or drag.before is None:
                across, down = map(_between, drag.start, place, self._size)
            else:
                by = (round(now - then) for then, now in zip(drag.start, place, strict=True))
                across, down = map(_moved, drag.before, by, drag.held, self._size)
            self._drawn = across, down
            self._compare.repaint_overlays()

    def _release(self) -> None:
        drag, drawn = self._drag, self._drawn
        self._stop()
        if drag is None:
            return
        if not self._zooms:
            self.choose(drawn)
        elif drawn is not None:
            self.turn(False)
            (left, right), (top, bottom) = drawn
            self._compare.show_area(QRectF(left, top, right - left, bottom - top))

    def _take_key(self, event: QKeyEvent) -> bool:
        """Move or resize the part, or end the drag or the mode; False for another key."""
        is_press = event.type() == QEvent.Type.KeyPress
        step = ARROWS.get(event.key())
        if is_press and is_escape(event, event.type()):
            if self._drag is None:
                self.turn(False)
            else:
                self._stop()
        elif is_press and step and not (self._zooms or event.modifiers() & ~KEYS):
            self._go(step, (not event.modifiers() & Qt.KeyboardModifier.ShiftModifier, True))
        elif not is_escape(event, event.type()):
            return False
        event.accept()
        return True

    def _go(self, step: tuple[int, int], held: Held) -> None:
        """Move these ends by a step; the first key begins with the middle of the picture."""
        if (area := self.area) is None:
            across, down = ((each // 4, max(each - each // 4, 1)) for each in self._size)
        else:
            across, down = map(_moved, area, step, (held, held), self._size)
        self.choose((across, down))

    @property
    def _size(self) -> tuple[int, int]:
        picture = self._store.state.picture
        assert picture is not None
        height, width = picture.samples.shape[:2]
        return width, height

    def _held(self, view: PictureView, at: Point) -> tuple[Held, Held] | None:
        """The ends that a press at this point takes; None: it begins another part."""
        if (area := self.area) is None or self._zooms:
            return None
        reach = GRIP_PX * view.devicePixelRatioF() / view.transform.scale
        found: list[Held] = []
        for (first, end), where in zip(area, at, strict=True):
            if not first - reach <= where <= end + reach:
                return None
            found.append((abs(where - first) <= reach, abs(where - end) <= reach))
        across, down = found
        return (across, down) if any((*across, *down)) else ((True, True), (True, True))

    def _paint(self, painter: QPainter, visible: QRectF, scale: float) -> None:
        if (area := self.area) is None:
            return
        (left, right), (top, bottom) = area
        box = QRectF(left, top, right - left, bottom - top)
        ratio = painter.device().devicePixelRatio()
        if (part := part_of(self._store.state)) is not None and part.feather:
            fade = min(part.feather, box.width() / 2, box.height() / 2)
            inner = box.adjusted(fade, fade, -fade, -fade)
            outline(painter, [inner], WHITE, ratio, style=Qt.PenStyle.DashLine)
        outline(painter, [box], WHITE, 1.5 * ratio)
        if self.is_on:
            self._paint_handles(painter, box, scale)
            below = bottom + (HANDLE_PX + 2) * ratio / scale
            lowest = visible.bottom() - CHIP_PX * ratio / scale
            place = QPointF(max(left, visible.left()), min(below, lowest))
            paint_words(painter, scale, place, f"{right - left}×{bottom - top}")

    def _paint_handles(self, painter: QPainter, box: QRectF, scale: float) -> None:
        middle, half = box.center(), HANDLE_PX / 2
        xs, ys = (box.left(), middle.x(), box.right()), (box.top(), middle.y(), box.bottom())
        for place in (QPointF(x, y) for x in xs for y in ys if QPointF(x, y) != middle):
            with on_screen(painter, scale, place):
                painter.setPen(hairline(BLACK))
                painter.setBrush(WHITE)
                painter.drawRect(QRectF(-half, -half, HANDLE_PX, HANDLE_PX))


def _between(start: float, at: float, most: int) -> Ends:
    """All pixels from one to another, both included and of the picture."""
    one, other = (min(max(math.floor(each), 0), most - 1) for each in (start, at))
    return min(one, other), max(one, other) + 1


def _moved(ends: Ends, by: int, held: Held, most: int) -> Ends:
    """Ends of which those held are moved, within the picture, and at least one pixel apart."""
    first, end = ends
    if all(held):
        by = min(max(by, -first), most - end)
    first, end = sorted((first + by * held[0], end + by * held[1]))
    first = min(max(first, 0), most - 1)
    return first, max(min(end, most), first + 1)


def _shape(held: tuple[Held, Held] | None) -> Qt.CursorShape:
    if held is None:
        return Qt.CursorShape.CrossCursor
    across, down = held
    if across == down == (True, True):
        return Qt.CursorShape.SizeAllCursor
    return SHAPES[any(across), any(down), any(across) and across == down]
