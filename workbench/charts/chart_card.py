"""A figure on the screen: its words, its legend and its plot, in letters that suit its size."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QFont, QFontInfo, QPalette, QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from workbench.base import theme
from workbench.base.plain_text import Label
from workbench.charts.canvas import Canvas
from workbench.charts.data.chart_words import NOT_IN_SIGHT
from workbench.charts.data.figure import Figure
from workbench.charts.legend import Legend
from workbench.widgets.tile import MUTED, scaled_font

EMPTY = "Points appear here as they are measured."
HIDDEN = "Everything is hidden; show something by the legend."
MIN_PX, MAX_PX = 200, 16_000  # of the plot's height
URGENT = ("✗", NOT_IN_SIGHT)  # how notes begin that are never folded
NARROW_PX = 500  # of the card: in a narrower one notes are folded


class ChartCard(QFrame):
    """Shows a figure, anew each time.

    Signals:
        picked(cell): the user wants this Cell in the window.
        hidden(key, is_hidden), pinned(key): what to do with a series, from the legend.
    """

    picked = Signal(object)
    hidden = Signal(str, bool)
    pinned = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", True)
        self._figure: Figure | None = None
        self._factor = 1.0  # of all letters
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
        self._canvas = Canvas(EMPTY)
        self._canvas.setObjectName("chart-canvas")
        self._canvas.setAccessibleName("Points of the chart")
        self._canvas.setMinimumHeight(MIN_PX)
        self._canvas.ready.connect(self._draw)
        self._canvas.picked.connect(self.picked)
        self._lay_out()
        self.show_larger(1.0)

    def show_figure(self, figure: Figure | None) -> None:
        """Its words, and as soon as there is a plot, what it draws."""
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
        self._canvas.show_summary(figure.summary if figure else EMPTY)
        self._show_notes()
        self._draw()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._show_notes()

    @Slot()
    def _show_notes(self) -> None:
        """In a narrow place behind a line, as the plot needs the room; but not wrong answers, nor
        that something is not in sight."""
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
        """Letters so many times as large as usual; the plot follows with the next figure."""
        self._factor = factor
        for label, scale, weight in (
            (self._title, 1.05, QFont.Weight.DemiBold),
            (self._subtitle, 0.85, QFont.Weight.Normal),
            (self._sentence, 1.0, QFont.Weight.Normal),
            (self._notes, 0.88, QFont.Weight.Normal),
        ):
            label.setFont(scaled_font(factor * scale, weight))
        self._legend.show_larger(factor)

    def make_plot(self) -> None:
        """Now, rather than after the window was painted."""
        self._canvas.make_plot()

    @Slot()
    def _draw(self) -> None:
        plot, figure = self._canvas.plot, self._figure
        if plot is None:
            return
        if figure is None or figure.is_empty:
            is_hidden = figure is not None and any(each.is_hidden for each in figure.entries)
            self._canvas.show_empty(HIDDEN if is_hidden else EMPTY)
            return
        from workbench.charts.drawing.painter import draw, least_px, most_px

        font = self._letters()
        self._canvas.setMinimumHeight(round(least_px(figure, self._canvas.width(), font)))
        self._canvas.setMaximumHeight(round(min(most_px(figure, font), MAX_PX)))
        self._canvas.show_plot()
        closer = self._canvas.closer_range
        drawn = draw(plot, figure, theme.colors(self._canvas.palette()), font)
        self._canvas.show_drawn(drawn)
        if closer and drawn.can_zoom:
            plot.setXRange(*closer[0], padding=0)
            plot.setYRange(*closer[1], padding=0)

    def _letters(self) -> QFont:
        """Of the plot, by pixels: a page has them too, and no points."""
        font = scaled_font(0.92)
        font.setPixelSize(round(self._factor * QFontInfo(font).pixelSize()))
        return font

    def _lay_out(self) -> None:
        inside = QVBoxLayout(self)
        inside.setContentsMargins(10, 8, 10, 8)
        inside.setSpacing(4)
        above = (self._title, self._subtitle, self._legend)
        below = (self._sentence, self._fold, self._notes)
        for widget in (*above, self._canvas, *below):
            inside.addWidget(widget, int(widget is self._canvas))
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
