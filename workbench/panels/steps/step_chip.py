"""The chip of a step: a tick for on and off, the filter, its time, and its share of the list's."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QApplication, QSizePolicy, QToolButton

from workbench.base import numbers, theme
from workbench.base.numbers import GAP
from workbench.base.plain_text import tip_text
from workbench.panels.steps.thumbnails import Thumbnail

HEIGHT_PX, LEAST_PX = 30, 52
TICK_PX, TICK_ZONE_PX = 14, 28  # the box that is drawn, and what a click on it may hit
SIDE_PX, GAP_PX, BAR_PX = 9, 8, 3
WIDEST_TIME = f"88.8{GAP}ms"
KEYS_TIP = (
    "Click: the picture after this step.\n"
    "Tick: on or off.  Drag: another place.  Right click: more.  Del: remove."
)
PICTURE_PX = QSize(80, 40)  # of a thumbnail at most
TICK = (3.0, 7.5), (6.0, 10.5), (11.0, 4.0)
MIN_LETTERS = 4  # of a name that is cut, with its …
PALE = 110  # of 255: how much is seen of what is behind a bar


class StepLook(NamedTuple):
    """What a chip shows.

    share  where its time begins and ends in the list's, 0 to 1; None: it is not known
    """

    number: int  # from 1
    filter: str  # "Gaussian blur"
    size: str  # "5×5", and how much it is mixed with its input
    is_on: bool = True
    is_selected: bool = False
    is_beyond: bool = False  # what is seen is without it, as it comes after the selected one
    time_ms: float | None = None
    share: tuple[float, float] | None = None
    is_wrong: bool = False
    runs_on: str = ""
    thumbnail: Thumbnail | None = None  # None: there is no room for one

    @property
    def in_words(self) -> str:
        """All of it, for tooltips and screen readers."""
        time = numbers.duration(self.time_ms) if self.time_ms is not None else ""
        share = numbers.percent(self.share[1] - self.share[0]) if self.share else ""
        words = (
            f"Step {self.number}: {self.filter} {self.size}",
            "" if self.is_on else "off",
            "not in the picture shown" if self.is_beyond else "",
            "its output is WRONG" if self.is_wrong else "",
            f"{time}, {share} of the list" if time and share else time,
            self.runs_on,
            "small picture reduced" if self.thumbnail and self.thumbnail.is_reduced else "",
        )
        return ", ".join(filter(None, words))


class StepChip(QToolButton):
    """A button that selects its step; arrow keys, Space and Del do what the row says."""

    switched = Signal()  # the tick was clicked, or Space pressed
    removed = Signal()  # Del was pressed
    stepped = Signal(int)  # (by): the chip before (-1) or after (1) is wanted
    dragged = Signal(int)  # (x): it is dragged; where its left edge is now, in pixels of the row
    dropped = Signal()  # it was let go of after that

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCheckable(True)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.look = StepLook(1, "", "")
        self._pressed: QPoint | None = None
        self._is_dragged = False

    def show_look(self, look: StepLook) -> None:
        """Show another step, or other facts about it; an unknown time of the same one stays."""
        before = self.look
        if look.time_ms is None and look.filter == before.filter and look.is_on:
            look = look._replace(time_ms=before.time_ms)
        if look == before:
            return
        self.look = look
        self.setObjectName(f"step-{look.number}")
        self.setChecked(look.is_selected)
        self.setAccessibleName(look.in_words)
        self.setToolTip(tip_text(f"{look.in_words}\n{KEYS_TIP}"))
        if (*look[1:3], not look.thumbnail) != (*before[1:3], not before.thumbnail):
            self.updateGeometry()
        self.update()

    def width_of(self, *, has_time: bool) -> int:
        """Width with all words, and with the room for a time."""
        words = self.fontMetrics().horizontalAdvance(f"{self.look.filter} {self.look.size}") + 1
        time = GAP_PX + self._small.horizontalAdvance(WIDEST_TIME) if has_time else 0
        return TICK_ZONE_PX + words + time + SIDE_PX

    @property
    def _line_px(self) -> int:  # of all but the thumbnail above it
        return max(theme.in_letters(HEIGHT_PX), self.fontMetrics().height() + 12)

    def sizeHint(self) -> QSize:  # noqa: N802
        above = PICTURE_PX.height() + SIDE_PX if self.look.thumbnail else 0
        return QSize(self.width_of(has_time=True), above + self._line_px)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(LEAST_PX, self.sizeHint().height())

    def nextCheckState(self) -> None:  # noqa: N802
        """Leave it to the row which chip is down."""

    @property
    def _small_font(self) -> QFont:
        font = theme.numbers_font()
        font.setPointSizeF(0.85 * self.font().pointSizeF())
        return font

    @property
    def _small(self) -> QFontMetrics:
        return QFontMetrics(self._small_font)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        look, colors = self.look, theme.colors(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        face = colors.surface if look.is_beyond else colors.raised
        face = colors.hover if self.underMouse() else face
        edge = colors.bad if look.is_wrong else colors.border
        text, pale, mark = colors.text, colors.muted, colors.accent
        width = 2 if look.is_wrong or look.is_selected else 1
        if look.is_selected:
            edge = edge if look.is_wrong else colors.accent
        if is_filled := look.is_selected and not look.is_beyond:
            face, text = colors.accent, colors.on_accent
            pale = mark = text
        elif look.is_beyond:
            text = mark = pale
        painter.setPen(_pen(edge, width))
        painter.setBrush(QColor(face))
        box = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        painter.drawRoundedRect(box, 6, 6)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(_pen(colors.ring if is_filled else colors.accent, 2))
            painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), 5, 5)
        if look.thumbnail is not None:
            self.icon().paint(painter, 0, SIDE_PX, self.width(), PICTURE_PX.height())
        painter.translate(0, self.height() - self._line_px)
        self._paint_tick(painter, text if look.is_on else pale)
        self._paint_words(painter, text if look.is_on else pale, pale)
        if look.share is not None and look.is_on:
            self._paint_share(painter, QColor(pale), QColor(mark))

    def _paint_tick(self, painter: QPainter, color: str) -> None:
        box = QRectF(SIDE_PX, (self._line_px - TICK_PX) / 2 - 1, TICK_PX, TICK_PX)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(_pen(color, 1))
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)
        if self.look.is_on:
            painter.setPen(_pen(color, 2))
            painter.drawPolyline([box.topLeft() + QPointF(*each) for each in TICK])

    def _paint_words(self, painter: QPainter, color: str, pale: str) -> None:
        look, metrics = self.look, self.fontMetrics()
        mark = "✗ " if look.is_wrong else ""
        words, size = f"{mark}{look.filter}", f" {look.size}"
        time = numbers.duration(look.time_ms) if look.time_ms is not None and look.is_on else ""
        room = self.width() - TICK_ZONE_PX - SIDE_PX
        time_px = self._small.horizontalAdvance(time) + GAP_PX
        if metrics.horizontalAdvance(words + size) + time_px > room:
            time = ""
        if metrics.horizontalAdvance(words + size) > room:
            size = size.partition("×")[0]  # one side of it says as much
            elided = partial(metrics.elidedText, words, Qt.TextElideMode.ElideRight)
            words = elided(room - metrics.horizontalAdvance(size))
            if len(words) < MIN_LETTERS:  # the name says more than the size
                words, size = elided(room), ""
        area = QRect(TICK_ZONE_PX, 0, room, self._line_px - 2)
        font = QFont(self.font())
        font.setStrikeOut(not look.is_on)
        painter.setFont(font)
        painter.setPen(QColor(color))
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(area, middle | Qt.AlignmentFlag.AlignLeft, words + size)
        if time:
            painter.setFont(self._small_font)
            painter.setPen(QColor(pale))
            painter.drawText(area, middle | Qt.AlignmentFlag.AlignRight, time)

    def _paint_share(self, painter: QPainter, behind: QColor, color: QColor) -> None:
        """Paint the list's time as a bar, and in it this step's."""
        assert self.look.share is not None
        begin, end = self.look.share
        left, width = float(SIDE_PX), self.width() - 2.0 * SIDE_PX
        y = self._line_px - BAR_PX - 3.0
        behind.setAlpha(PALE)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(behind)
        painter.drawRect(QRectF(left, y + 1, width, 1))
        painter.setBrush(color)
        painter.drawRect(QRectF(left + begin * width, y, max((end - begin) * width, 2), BAR_PX))

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if event.button() == Qt.MouseButton.LeftButton:
            self._pressed, self._is_dragged = event.position().toPoint(), False
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if self._pressed is None:
            super().mouseMoveEvent(event)
            return
        moved = event.position().toPoint().x() - self._pressed.x()
        self._is_dragged = self._is_dragged or abs(moved) >= QApplication.startDragDistance()
        if self._is_dragged:
            self.dragged.emit(self.x() + moved)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        pressed, self._pressed = self._pressed, None
        if pressed is None or not (self._is_dragged or self._is_on_tick(pressed, event)):
            super().mouseReleaseEvent(event)
            return
        self.setDown(False)
        if self._is_dragged:
            self._is_dragged = False
            self.dropped.emit()
        else:
            self.switched.emit()

    def _is_on_tick(self, pressed: QPoint, event: QMouseEvent) -> bool:
        at = event.position().toPoint()
        zone = QRect(0, self.height() - self._line_px, TICK_ZONE_PX, self._line_px)
        return zone.contains(pressed) and zone.contains(at)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        match event.key():
            case Qt.Key.Key_Space:
                self.switched.emit()
            case Qt.Key.Key_Delete | Qt.Key.Key_Backspace:
                self.removed.emit()
            case Qt.Key.Key_Left:
                self.stepped.emit(-1)
            case Qt.Key.Key_Right:
                self.stepped.emit(1)
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self.click()
            case _:
                super().keyPressEvent(event)


def _pen(color: str, width: float) -> QPen:
    return QPen(QColor(color), width, c=Qt.PenCapStyle.RoundCap, j=Qt.PenJoinStyle.RoundJoin)
