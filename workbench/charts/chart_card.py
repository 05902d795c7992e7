"""A figure on the screen: its words, its legend and its plot, in letters that suit its size."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QFont, QFontInfo, QPalette
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QVBoxLayout, QWidget

from workbench import theme
from workbench.charts.canvas import Canvas
from workbench.charts.figure import Figure
from workbench.charts.legend import Legend
from workbench.views.tile import MUTED, scaled_font

EMPTY = "Points appear here as they are measured."
HIDDEN = "Everything is hidden; show something by the legend."
LEAST_PX = 200  # of the plot's height


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
        self._legend = Legend()
        self._legend.hidden.connect(self.hidden)
        self._legend.pinned.connect(self.pinned)
        self._canvas = Canvas(EMPTY)
        self._canvas.setObjectName("chart-canvas")
        self._canvas.setAccessibleName("Points of the chart")
        self._canvas.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._canvas.setMinimumHeight(LEAST_PX)
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
            self._notes: "\n".join(figure.notes) if figure else "",
        }
        for label, text in texts.items():
            if label.text() != text:
                label.setText(text)
            label.setVisible(bool(text))
        self._legend.show_entries(figure.entries if figure else ())
        self._draw()

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
        from workbench.charts.drawing import draw, least_px

        font = self._letters()
        least = round(least_px(figure, self._canvas.width(), font))
        if least != self._canvas.minimumHeight():
            self._canvas.setMinimumHeight(least)
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
        for widget in (self._title, self._subtitle, self._legend):
            inside.addWidget(widget)
        inside.addWidget(self._canvas, 1)
        for widget in (self._sentence, self._notes):
            inside.addWidget(widget)


def _words(name: str, role: QPalette.ColorRole | None = None) -> QLabel:
    label = QLabel()
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
