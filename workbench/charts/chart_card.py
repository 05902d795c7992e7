"""A card with a figure: its words, its legend and its plot, in fonts that suit its size."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QRect, QRectF, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QFont,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractButton, QLabel, QSizePolicy, QWidget

from workbench.base import theme
from workbench.base.plain_text import Label, tip_text
from workbench.charts.canvas import FigureView
from workbench.charts.data.figure import Figure, LegendLine
from workbench.widgets.boxes import Flow, UprightArea, VBox
from workbench.widgets.letters import factor_of
from workbench.widgets.tile import scaled_font, words_label

EMPTY = "Points appear here as they are measured."
PLOT_SHARE = 0.7  # of the card's height, which its plot has at least
# Names of the labels, and how large their letters are.
SCALES = {"chart-title": 1.05, "chart-subtitle": 0.85, "chart-sentence": 1.0, "chart-notes": 0.88}
SAMPLE_PX, GAP_PX, EDGE_PX = 28, 4, 3
MIN_ROW_PX = 24  # what a finger or an unsteady hand needs
FONT_SHARE = 0.85  # of the program's font
STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Up: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Down: 1}
HINT = "Click or Space: hide or show. P or right click: pin, which keeps it in front."


class ChartCard(UprightArea):
    """A card that shows one figure at a time, drawn in its `view`; it scrolls to its last words.

    The legend stands above the plot where marks need it, and below where lines have their names.
    """

    def __init__(self) -> None:
        inside = QWidget()
        super().__init__(inside)
        self.setProperty("card", True)
        self._labels = title, subtitle, sentence, notes = tuple(
            words_label(name, is_muted=name in ("chart-subtitle", "chart-notes")) for name in SCALES
        )
        self.legend = Legend()
        self.view = FigureView(EMPTY, fills=True)
        self.view.setObjectName("chart-canvas")
        self.view.setAccessibleName("Points of the chart")
        self._inside = VBox(inside, (10, 8, 10, 8), 4)
        self._inside.add(title, subtitle, (self.view, 1), sentence, notes, self.legend)
        self._factor = 1.0
        # At once, the parts of the card would get their new letters after it.
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self._show_letters)
        self._show_letters()

    def show_figure(self, figure: Figure | None) -> None:
        """Show a figure's words, and draw it as soon as there is a plot."""
        texts = ("", "", "", "")
        if figure:
            texts = figure.title, figure.subtitle, figure.sentence, "\n".join(figure.notes)
        for label, text in zip(self._labels, texts, strict=True):
            label.setText(text)
            label.setVisible(bool(text))
        is_below = figure is not None and figure.is_named
        self._inside.removeWidget(self.legend)
        self._inside.insertWidget(self._inside.count() if is_below else 2, self.legend)
        self.legend.show_entries(figure.entries if figure and figure.needs_legend else ())
        self.view.show_figure(figure)

    def show_larger(self, factor: float) -> None:
        """Magnify all fonts."""
        self._factor = factor
        self._show_letters()

    @Slot()
    def _show_letters(self) -> None:
        """Set all fonts as the size of the chart, and the letters of its panel, ask for."""
        factor = self._factor * factor_of(self)
        for label in self._labels:
            name = label.objectName()
            weight = QFont.Weight.DemiBold if name == "chart-title" else QFont.Weight.Normal
            label.setFont(scaled_font(factor * SCALES[name], weight))
        self.legend.show_larger(factor)
        self.view.show_larger(self._factor)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self.view.show_room(round(PLOT_SHARE * self.height()))

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        """Show it in the letters of the panel around it, once they are others."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._later.start()


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

    def show_entry(self, entry: LegendLine, font: QFont) -> None:
        """Show a series."""
        self._entry = entry
        self.setText(entry.name)
        self.setChecked(not entry.is_hidden)
        pinned = ", pinned" if entry.is_pinned else ""
        name = f"{entry.label}{pinned}{', hidden' if entry.is_hidden else ''}"
        self.setAccessibleName(name)
        self.setToolTip(tip_text(f"{name}\n{HINT}"))
        font = QFont(font)
        font.setBold(entry.is_pinned)
        font.setStrikeOut(entry.is_hidden)
        self.setFont(font)
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        """The size at which the whole name is readable, and a gap after it."""
        text_px = self.fontMetrics().horizontalAdvance(self.text())
        wide = 2 * EDGE_PX + SAMPLE_PX + 2 * GAP_PX + text_px
        return QSize(wide, max(MIN_ROW_PX, self.fontMetrics().height() + 6))

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
        from workbench.charts.drawing.marks import draw_sample

        colors, is_hidden = theme.colors(self.palette()), self._entry.is_hidden
        painter = QPainter(self)
        if self.hasFocus():
            painter.setPen(QPen(QColor(colors.accent), 2))
            painter.drawRoundedRect(self.rect().adjusted(1, 1, -1, -1), 4, 4)
        painter.setOpacity(0.4 if is_hidden else 1.0)
        draw_sample(painter, self._entry, colors, QRectF(EDGE_PX, 0, SAMPLE_PX, self.height()))
        painter.setOpacity(1.0)
        roles = QPalette.ColorRole
        painter.setPen(
            self.palette().color(roles.PlaceholderText if is_hidden else roles.WindowText)
        )
        left = EDGE_PX + SAMPLE_PX + GAP_PX
        room = QRect(left, 0, self.width() - left - EDGE_PX, self.height())
        cut = Qt.TextElideMode.ElideRight
        text = self.fontMetrics().elidedText(self.text(), cut, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)
        painter.end()


class Legend(QWidget):
    """A legend with as many entries per row as fit, those of each machine after its name.

    The arrow keys go from one to the next.

    Signals:
        hidden(key): leave this series out, or show it again.
        pinned(key): keep it in front, or no longer.
    """

    hidden = Signal(str)
    pinned = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._shown: tuple[LegendLine, ...] = ()
        self._buttons: list[LegendEntry] = []
        self._headings: dict[str, QLabel] = {}
        self._flow = Flow(0)
        self.setLayout(self._flow)
        self.setAccessibleName("Legend")
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    @property
    def entries(self) -> list[LegendEntry]:
        """The buttons shown, in order."""
        return self._buttons[: len(self._shown)]

    def show_larger(self, factor: float) -> None:
        """Magnify the font."""
        self.setFont(scaled_font(FONT_SHARE * factor))
        self._show()

    def show_entries(self, entries: Sequence[LegendLine]) -> None:
        """Show these entries; existing buttons are reused, so the focus stays."""
        if self._shown != tuple(entries):
            self._shown = tuple(entries)
            self._show()

    def _show(self) -> None:
        while len(self._buttons) < len(self._shown):
            self._buttons.append(self._new_button(len(self._buttons)))
        while self._flow.takeAt(0):
            pass
        parts: list[QWidget] = []
        for button, entry in zip(self._buttons, self._shown, strict=False):
            button.show_entry(entry, self.font())
            if entry.group not in self._headings:
                self._headings[entry.group] = Label(entry.group, self, is_muted=True)
            heading = self._headings[entry.group]
            if entry.group and heading not in parts:
                heading.setFont(self.font())
                heading.setFixedHeight(button.sizeHint().height())
                heading.setContentsMargins(EDGE_PX, 0, 2 * GAP_PX, 0)
                parts.append(heading)
            parts.append(button)
        for part in parts:
            self._flow.addWidget(part)
        for part in (*self._buttons, *self._headings.values()):
            part.setVisible(part in parts)
        self.setVisible(bool(parts))

    def _new_button(self, number: int) -> LegendEntry:
        button = LegendEntry(self)
        button.clicked.connect(lambda: self.hidden.emit(self._shown[number].key))
        button.pin_wanted.connect(lambda: self.pinned.emit(self._shown[number].key))
        return button

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        here = next((i for i, each in enumerate(self.entries) if each.hasFocus()), None)
        step = STEPS.get(Qt.Key(event.key()))
        if here is None or step is None:
            super().keyPressEvent(event)
        else:
            there = self.entries[(here + step) % len(self.entries)]
            there.setFocus(Qt.FocusReason.TabFocusReason)
