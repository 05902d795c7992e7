"""A chart's legend: each series' line, marker and name, as buttons that hide and pin it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
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
from PySide6.QtWidgets import QAbstractButton, QFrame, QLabel, QScrollArea, QSizePolicy, QWidget

from workbench.base import theme
from workbench.base.plain_text import Label, tip_text
from workbench.charts.data.figure import LegendLine
from workbench.charts.data.legend_rows import Rows, rows_of
from workbench.widgets.tile import scaled_font

SAMPLE_PX = 28
GAP_PX = 4
EDGE_PX = 3
MIN_ROW_PX = 24  # what a finger or an unsteady hand needs
FONT_SHARE = 0.85  # of the program's font
STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Up: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Down: 1}
HINT = "Click or Space: hide or show. P or right click: pin, which keeps it in front."


class LegendEntry(QAbstractButton):
    """A button for one series, checked while the series is shown.

    Signals:
        pin_wanted(): keep the series in front, or no longer.
    """

    pin_wanted = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._entry: LegendLine | None = None
        self.setCheckable(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def show_entry(self, entry: LegendLine, factor: float) -> None:
        """Show a series, with a font `factor` times as large as usual."""
        self._entry = entry
        self.setChecked(not entry.is_hidden)
        pinned = ", pinned" if entry.is_pinned else ""
        hidden = ", hidden" if entry.is_hidden else ""
        self.setAccessibleName(f"{entry.label}{pinned}{hidden}")
        self.setToolTip(tip_text(f"{entry.label}{pinned}{hidden}\n{HINT}"))
        font = scaled_font(FONT_SHARE * factor)
        font.setBold(entry.is_pinned)
        font.setStrikeOut(entry.is_hidden)
        self.setFont(font)
        self.update()

    @property
    def wide_px(self) -> int:
        """Return the width in pixels at which the whole name is readable."""
        name = self._entry.name if self._entry else ""
        text_px = self.fontMetrics().horizontalAdvance(name)
        return 2 * EDGE_PX + SAMPLE_PX + GAP_PX + text_px

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(self.wide_px, MIN_ROW_PX)

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
        from workbench.charts.drawing.series_style import draw_sample

        colors = theme.colors(self.palette())
        painter = QPainter(self)
        if self.hasFocus():
            painter.setPen(QPen(QColor(colors.accent), 2))
            painter.drawRoundedRect(self.rect().adjusted(1, 1, -1, -1), 4, 4)
        painter.setOpacity(0.4 if self._entry.is_hidden else 1.0)
        box = QRectF(EDGE_PX, 0, SAMPLE_PX, self.height())
        draw_sample(painter, self._entry, colors, box)
        painter.setOpacity(1.0)
        role = QPalette.ColorRole.WindowText
        if self._entry.is_hidden:
            role = QPalette.ColorRole.PlaceholderText
        painter.setPen(self.palette().color(role))
        painter.setFont(self.font())
        left = EDGE_PX + SAMPLE_PX + GAP_PX
        room = QRect(left, 0, self.width() - left - EDGE_PX, self.height())
        name = self._entry.name
        text = self.fontMetrics().elidedText(name, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)
        painter.end()


class Legend(QScrollArea):
    """A legend with as many entries per row as fit, those of each machine after its name.

    The arrow keys go from one to the next.  Where it may have few rows it scrolls.

    Signals:
        hidden(key, is_hidden): leave this series out, or show it again.
        pinned(key): keep it in front, or no longer.
    """

    hidden = Signal(str, bool)
    pinned = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._shown: tuple[LegendLine, ...] = ()
        self._buttons: list[LegendEntry] = []
        self._headings: list[QLabel] = []
        self._inside = QWidget()
        self.setWidget(self._inside)
        self.setAccessibleName("Legend")
        self.setFont(scaled_font(FONT_SHARE))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._factor = 1.0
        self._most = math.inf
        self.viewport().setAutoFillBackground(False)
        self._inside.setAutoFillBackground(False)
        self.setFixedHeight(0)

    @property
    def entries(self) -> list[LegendEntry]:
        """Return the buttons shown, in order."""
        return self._buttons[: len(self._shown)]

    def show_larger(self, factor: float) -> None:
        """Set the font to so many times its usual size."""
        self._factor = factor
        self.setFont(scaled_font(FONT_SHARE * factor))
        self._show()

    def show_at_most(self, rows: float) -> None:
        """Show no more rows at once; the scroll bar says that there are more."""
        if rows != self._most:
            self._most = rows
            self._lay_out()

    def show_entries(self, entries: Sequence[LegendLine]) -> None:
        """Show these entries; existing buttons are reused, so the focus stays."""
        if self._shown != tuple(entries):
            self._shown = tuple(entries)
            self._show()

    def _show(self) -> None:
        while len(self._buttons) < len(self._shown):
            self._buttons.append(self._new_button(len(self._buttons)))
        for button, entry in zip(self._buttons, self._shown, strict=False):
            button.show_entry(entry, self._factor)
        for number, button in enumerate(self._buttons):
            button.setVisible(number < len(self._shown))
        self._lay_out()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        here = next((i for i, each in enumerate(self.entries) if each.hasFocus()), None)
        step = STEPS.get(Qt.Key(event.key()))
        if here is None or step is None:
            super().keyPressEvent(event)
            return
        there = self.entries[(here + step) % len(self.entries)]
        there.setFocus(Qt.FocusReason.TabFocusReason)
        self.ensureWidgetVisible(there, 0, 0)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._lay_out()

    def _new_button(self, number: int) -> LegendEntry:
        button = LegendEntry(self._inside)
        button.clicked.connect(partial(self._tell_hidden, number))
        button.pin_wanted.connect(partial(self._tell_pinned, number))
        return button

    def _tell_hidden(self, number: int) -> None:
        self.hidden.emit(self._shown[number].key, not self._buttons[number].isChecked())

    def _tell_pinned(self, number: int) -> None:
        self.pinned.emit(self._shown[number].key)

    def high_px(self, rows: float, wide_px: float) -> float:
        """Return its height in pixels where it may show so many rows, at a width."""
        return min(rows, self._placed(wide_px).total) * self._row_px

    @property
    def _row_px(self) -> int:
        return max(MIN_ROW_PX, self.fontMetrics().height() + 6)

    def _placed(self, wide_px: float) -> Rows:
        entry_px = _entry_px(self.entries, self._shown)
        return rows_of(self._shown, wide_px, entry_px, self._heading_px)

    def _lay_out(self) -> None:
        row_px, wide = self._row_px, self.width()
        rows = self._placed(wide)
        if rows.total > self._most:
            wide -= self.verticalScrollBar().sizeHint().width()
            rows = self._placed(wide)
        for button, place in zip(self.entries, rows.entries, strict=True):
            button.setGeometry(round(place.x), place.row * row_px, int(place.wide), row_px)
        while len(self._headings) < len(rows.headings):
            heading = Label(is_muted=True, parent=self._inside)
            self._headings.append(heading)
        for number, label in enumerate(self._headings):
            label.setVisible(number < len(rows.headings))
        for label, (text, place) in zip(self._headings, rows.headings, strict=False):
            label.setText(text)
            label.setFont(self.font())
            label.setGeometry(EDGE_PX, place.row * row_px, int(place.wide), row_px)
        self._inside.resize(wide, rows.total * row_px)
        self.setFixedHeight(int(min(rows.total, self._most) * row_px))

    def _heading_px(self, text: str) -> float:
        return EDGE_PX + self.fontMetrics().horizontalAdvance(text) + 2 * GAP_PX


def _entry_px(
    buttons: Sequence[LegendEntry], entries: Sequence[LegendLine]
) -> Callable[[LegendLine], float]:
    wide = {entry.key: button.wide_px for button, entry in zip(buttons, entries, strict=True)}
    return lambda entry: wide[entry.key] + GAP_PX
