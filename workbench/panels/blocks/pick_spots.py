"""A widget of places to point at: each says what it is, and a click or Enter takes it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPoint, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QToolTip, QWidget

from workbench.base import theme
from workbench.base.plain_text import tip_text
from workbench.panels.blocks.candidates import Key
from workbench.panels.blocks.rows import Row

RING_PX = 2.0
ACROSS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
DOWN = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}


class Spots(QWidget):
    """Shows Rows; whoever inherits it says where, and paints them.

    The arrow keys go from one to the next and tell what is there; Enter or a click picks it.

    Signals:
        picked(key): the user wants this one.
    """

    picked = Signal(object)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.rows: tuple[Row, ...] = ()
        self._at: Key | None = None  # where the arrow keys are

    def show_rows(self, rows: Sequence[Row], summary: str) -> None:
        """summary  what all of it says, for who cannot see it"""
        self.rows = tuple(rows)
        self.setAccessibleDescription(summary)
        self.updateGeometry()
        self.update()

    # -- for who inherits it

    def boxes(self) -> list[tuple[QRectF, Row]]:
        """Where each row is, those to point at."""
        raise NotImplementedError

    @property
    def columns(self) -> int:
        """How many stand side by side: so far Up and Down go."""
        return 1

    def paint_ring(self, painter: QPainter) -> None:
        """Around what the keys are on, as long as they are."""
        if not self.hasFocus():
            return
        painter.setBrush(Qt.BrushStyle.NoBrush)
        colors = theme.colors()
        box = next((box for box, row in self.boxes() if row.key == self._at), None)
        area = box if box is not None else QRectF(self.rect())
        for color, width in ((colors.panel, 2 * RING_PX), (colors.accent, RING_PX)):
            painter.setPen(QPen(QColor(color), width))  # on any tile one of the two is seen
            painter.drawRoundedRect(area.adjusted(1, 1, -1, -1), 5, 5)

    # -- what the user does

    def row_at(self, place: QPoint) -> Row | None:
        return next((row for box, row in self.boxes() if box.contains(place.toPointF())), None)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        row = self.row_at(event.position().toPoint())
        shapes = Qt.CursorShape
        can = row is not None and row.state != "refused"
        self.setCursor(shapes.PointingHandCursor if can else shapes.ArrowCursor)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        row = self.row_at(event.position().toPoint())
        if row is not None and event.button() == Qt.MouseButton.LeftButton:
            self._at = row.key
            self.update()
            self._pick(row)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            row = self.row_at(event.pos())
            QToolTip.showText(event.globalPos(), tip_text(row.text if row else ""), self)
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        key = Qt.Key(event.key())
        rows = [row for _, row in self.boxes()]
        steps = ACROSS.get(key, 0) if self.columns > 1 else 0
        steps += DOWN.get(key, 0) * self.columns
        now = next((n for n, row in enumerate(rows) if row.key == self._at), None)
        if steps and rows:
            at = (0 if steps > 0 else len(rows) - 1) if now is None else now + steps
            self._go_to(rows[min(max(at, 0), len(rows) - 1)])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and now is not None:
            self._pick(rows[now])
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusOutEvent(event)
        self._at = None
        self.update()

    def _go_to(self, row: Row) -> None:
        self._at = row.key
        self.setAccessibleDescription(row.text)
        box = next(box for box, each in self.boxes() if each.key == row.key)
        self.scroll_to(box)
        QToolTip.showText(self.mapToGlobal(box.bottomLeft().toPoint()), tip_text(row.text), self)
        self.update()

    def scroll_to(self, box: QRectF) -> None:
        """Bring `box` into sight, where this scrolls."""

    def _pick(self, row: Row) -> None:
        if row.state != "refused":
            self.picked.emit(row.key)
