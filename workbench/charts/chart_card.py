"""A card with a figure: its words, its legend and its plot, in fonts that suit its size."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QFont, QPalette, QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QToolButton, QVBoxLayout

from workbench.base.plain_text import Label
from workbench.charts.data.chart_words import NOT_IN_SIGHT
from workbench.charts.data.figure import Figure
from workbench.charts.figure_view import FigureView
from workbench.charts.legend import Legend
from workbench.widgets.tile import MUTED, scaled_font

EMPTY = "Points appear here as they are measured."
URGENT = ("✗", NOT_IN_SIGHT)  # the beginnings of notes that are never folded
NARROW_PX = 500  # of the card: in a narrower one notes are folded


class ChartCard(QFrame):
    """A card that shows one figure at a time.

    Signals:
        picked(cell): the user wants this Cell in the window.
        hidden(key, is_hidden), pinned(key): what to do with a series, from the legend.
    """

    picked = Signal(object)
    hidden = Signal(str, bool)
    pinned = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("card", True)
        self._figure: Figure | None = None
        self._title = _words("chart-title")
        self._subtitle = _words("chart-subtitle", MUTED)
        self._sentence = _words("chart-sentence")
        self._notes = _words("chart-notes", MUTED)
        self._fold = QToolButton()
        self._fold.setObjectName("chart-fold")
        self._fold.setProperty("flat", True)
        self._fold.setCheckable(True)
        self._fold.setAccessibleName("Notes")
        self._fold.setToolTip("What is not in the chart and why, and whose numbers are grey")
        self._fold.clicked.connect(self._show_notes)
        self._legend = Legend()
        self._legend.hidden.connect(self.hidden)
        self._legend.pinned.connect(self.pinned)
        self._view = FigureView(EMPTY)
        self._view.setObjectName("chart-canvas")
        self._view.setAccessibleName("Points of the chart")
        self._view.picked.connect(self.picked)
        self._lay_out()
        self.show_larger(1.0)

    def show_figure(self, figure: Figure | None) -> None:
        """Show a figure's words, and draw it as soon as there is a plot."""
        self._figure = figure
        texts = {
            self._title: figure.title if figure else "",
            self._subtitle: figure.subtitle if figure else "",
            self._sentence: figure.sentence if figure else "",
        }
        for label, text in texts.items():
            if label.text() != text:
                label.setText(text)
            label.setVisible(bool(text))
        self._legend.show_entries(figure.entries if figure else ())
        self._show_notes()
        self._view.show_figure(figure)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._show_notes()

    @Slot()
    def _show_notes(self) -> None:
        """Show the notes, folded behind a line in a narrow card, where the plot needs the room.

        Notes on wrong answers and on hidden measurements are never folded.
        """
        notes = self._figure.notes if self._figure else ()
        urgent = [note for note in notes if note.startswith(URGENT)]
        others = len(notes) - len(urgent)
        can_fold = self.width() < NARROW_PX and others > 0
        self._fold.setVisible(can_fold)
        is_open = self._fold.isChecked()
        count = f"{others} note{'s' if others != 1 else ''}"
        self._fold.setText(f"{'▾' if is_open else '▸'} {count}")
        self._notes.setText("\n".join(notes if is_open or not can_fold else urgent))
        self._notes.setVisible(bool(self._notes.text()))

    def show_larger(self, factor: float) -> None:
        """Set all fonts to so many times their usual size."""
        for label, scale, weight in (
            (self._title, 1.05, QFont.Weight.DemiBold),
            (self._subtitle, 0.85, QFont.Weight.Normal),
            (self._sentence, 1.0, QFont.Weight.Normal),
            (self._notes, 0.88, QFont.Weight.Normal),
        ):
            label.setFont(scaled_font(factor * scale, weight))
        self._legend.show_larger(factor)
        self._view.show_larger(factor)

    def make_plot(self) -> None:
        """Make the plot now rather than after the first paint of the window."""
        self._view.make_plot()

    def _lay_out(self) -> None:
        inside = QVBoxLayout(self)
        inside.setContentsMargins(10, 8, 10, 8)
        inside.setSpacing(4)
        above = (self._title, self._subtitle, self._legend)
        below = (self._sentence, self._fold, self._notes)
        for widget in (*above, self._view, *below):
            inside.addWidget(widget, int(widget is self._view))
        inside.addStretch()


def _words(name: str, role: QPalette.ColorRole | None = None) -> QLabel:
    label = Label()
    label.setObjectName(name)
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setTextInteractionFlags(
        Qt.TextInteractionFlag.TextSelectableByMouse
        | Qt.TextInteractionFlag.TextSelectableByKeyboard
    )
    label.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
    if role is not None:
        label.setForegroundRole(role)
    return label
