"""A canvas that draws a figure, and again whenever its size, theme or figure changes."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtGui import QFont, QFontInfo

from workbench.base import theme
from workbench.charts.canvas import Canvas
from workbench.charts.data.figure import Figure
from workbench.widgets.letters import factor_of
from workbench.widgets.tile import scaled_font

HIDDEN = "Everything is hidden; show something by the legend."
MIN_PX, MAX_PX = 200, 16_000  # of the plot's height


class FigureView(Canvas):
    """A canvas for figures of every kind, as high as they need, with fonts that suit its size."""

    def __init__(self, empty: str, *, fills: bool = False) -> None:
        """Take the text to show while there is nothing to draw.

        fills  take all the room there is, even where the figure gains nothing by it
        """
        super().__init__(empty)
        self._nothing, self._fills = empty, fills
        self._figure: Figure | None = None
        self._factor = 1.0
        self._is_drawing = False
        self.setMinimumHeight(MIN_PX)
        self.ready.connect(self._draw)
        self.show_summary(empty)

    @property
    def figure(self) -> Figure | None:
        """Return the figure shown; None if there is none."""
        return self._figure

    def show_figure(self, figure: Figure | None) -> None:
        """Show its summary at once, and draw it if there is a plot; ignore an equal figure."""
        if figure == self._figure:
            return
        self._figure = figure
        self.show_summary(figure.summary if figure else self._nothing)
        self._draw()

    def show_larger(self, factor: float) -> None:
        """Set the font to so many times its usual size, and draw again."""
        if factor != self._factor:
            self._factor = factor
            self._draw()

    @Slot()
    def _draw(self) -> None:
        """Draw, once, whatever the drawing changes about the size."""
        if not self._is_drawing:
            self._is_drawing = True
            try:
                self._draw_figure()
            finally:
                self._is_drawing = False

    def _draw_figure(self) -> None:
        figure = self._figure
        if figure is None or figure.is_empty:
            is_hidden = figure is not None and any(each.is_hidden for each in figure.entries)
            self.show_empty(HIDDEN if is_hidden else self._nothing)
            return
        if self.plot is None:
            return
        from workbench.charts.drawing.painter import draw, least_px, most_px

        font = self._letters()
        self.setMinimumHeight(round(least_px(figure, self.width(), font)))
        if not self._fills:
            self.setMaximumHeight(round(min(most_px(figure, font), MAX_PX)))
        self.show_plot()
        closer = self.closer_range
        drawn = draw(self.plot, figure, theme.colors(), font)
        self.show_drawn(drawn)
        if closer and drawn.can_zoom:
            self.plot.setXRange(*closer[0], padding=0)
            self.plot.setYRange(*closer[1], padding=0)

    def _letters(self) -> QFont:
        """Return the plot's font, sized in pixels, as an exported page has pixels but no points."""
        font, factor = scaled_font(0.92), self._factor * factor_of(self)
        font.setPixelSize(round(factor * QFontInfo(font).pixelSize()))
        return font
