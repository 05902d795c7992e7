"""A chart's legend: each series' line, marker and name, as buttons that hide and pin it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from workbench import theme
from workbench.charts.figure import Entry
from workbench.views.tile import scaled_font

SAMPLE_PX = 22
GAP_PX = 5
EDGE_PX = 4
LEAST_ROW_PX = 24  # what a finger or an unsteady hand needs
HINT = "Click or Space: hide or show. P or right click: pin, which keeps it in front."


class LegendEntry(QAbstractButton):
    """Checked while its series is shown.

    Signals:
        pin_wanted(): keep it in front, or no longer.
    """

    pin_wanted = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._entry: Entry | None = None
        self.setCheckable(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def show_entry(self, entry: Entry) -> None:
        self._entry = entry
        self.setChecked(not entry.is_hidden)
        pinned = ", pinned" if entry.is_pinned else ""
        hidden = ", hidden" if entry.is_hidden else ""
        self.setAccessibleName(f"{entry.label}{pinned}{hidden}")
        self.setToolTip(f"{entry.label}{pinned}{hidden}\n{HINT}")
        font = scaled_font(0.9)
        font.setBold(entry.is_pinned)
        font.setStrikeOut(entry.is_hidden)
        self.setFont(font)
        self.update()

    @property
    def wide_px(self) -> int:
        """What it takes to be read whole."""
        assert self._entry is not None
        return (
            EDGE_PX * 2
            + SAMPLE_PX
            + GAP_PX
            + self.fontMetrics().horizontalAdvance(self._entry.label)
        )

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(self.wide_px, LEAST_ROW_PX)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() == Qt.Key.Key_P and not event.modifiers():
            self.pin_wanted.emit()
        else:
            super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if event.button() == Qt.MouseButton.RightButton:
            self.pin_wanted.emit()
        else:
            super().mouseReleaseEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002, N802
        if self._entry is None:
            return
        from workbench.charts.looks import draw_sample

        colors = theme.colors(self.palette())
        painter = QPainter(self)
        if self.hasFocus():
            painter.setPen(QPen(QColor(colors.accent), 2))
            painter.drawRoundedRect(self.rect().adjusted(1, 1, -1, -1), 4, 4)
        painter.setOpacity(0.4 if self._entry.is_hidden else 1.0)
        box = QRectF(EDGE_PX, 0, SAMPLE_PX, self.height())
        draw_sample(painter, self._entry.look, colors, box)
        painter.setOpacity(1.0)
        role = QPalette.ColorRole.WindowText
        if self._entry.is_hidden:
            role = QPalette.ColorRole.PlaceholderText
        painter.setPen(self.palette().color(role))
        painter.setFont(self.font())
        left = EDGE_PX + SAMPLE_PX + GAP_PX
        room = QRect(left, 0, self.width() - left - EDGE_PX, self.height())
        label = self._entry.label
        text = self.fontMetrics().elidedText(label, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)
        painter.end()


class Legend(QWidget):
    """As many entries side by side as there is room for; the arrow keys go from one to the next.

    Signals:
        hidden(key, is_hidden): leave this series out, or show it again.
        pinned(key): keep it in front, or no longer.
    """

    hidden = Signal(str, bool)
    pinned = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._buttons: list[LegendEntry] = []
        self._keys: list[str] = []
        self.setAccessibleName("Legend")
        self.setFont(scaled_font(0.9))
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(0)

    @property
    def entries(self) -> list[LegendEntry]:
        """Its buttons, in order."""
        return self._buttons[: len(self._keys)]

    def show_entries(self, entries: Sequence[Entry]) -> None:
        self._keys = [entry.key for entry in entries]
        while len(self._buttons) < len(entries):
            self._buttons.append(self._new_button(len(self._buttons)))
        for button, entry in zip(self._buttons, entries, strict=False):
            button.show_entry(entry)
        for number, button in enumerate(self._buttons):
            button.setVisible(number < len(entries))
        self._lay_out()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Up: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Down: 1}
        here = next((i for i, each in enumerate(self.entries) if each.hasFocus()), None)
        step = steps.get(Qt.Key(event.key()))
        if here is None or step is None:
            super().keyPressEvent(event)
            return
        self.entries[(here + step) % len(self.entries)].setFocus(Qt.FocusReason.TabFocusReason)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._lay_out()

    def _new_button(self, number: int) -> LegendEntry:
        button = LegendEntry(self)
        button.clicked.connect(partial(self._tell_hidden, number))
        button.pin_wanted.connect(partial(self._tell_pinned, number))
        return button

    def _tell_hidden(self, number: int, is_shown: bool) -> None:
        self.hidden.emit(self._keys[number], not is_shown)

    def _tell_pinned(self, number: int) -> None:
        self.pinned.emit(self._keys[number])

    def _lay_out(self) -> None:
        """In rows, each entry as wide as its words, if there is as much room."""
        row_px = max(LEAST_ROW_PX, self.fontMetrics().height() + 6)
        x = y = 0
        for button in self.entries:
            wide = min(button.wide_px + GAP_PX, self.width())
            if x > 0 and x + wide > self.width():
                x, y = 0, y + row_px
            button.setGeometry(x, y, wide, row_px)
            x += wide
        self.setFixedHeight(y + row_px if self._keys else 0)
