"""A page for copying and exporting: title, legend, plot, sentence and notes of a chart.

Imports pyqtgraph: import it when exporting.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from workbench.base.theme import Colors
from workbench.charts.data.chart_spots import Spot
from workbench.charts.data.figure import Figure
from workbench.charts.data.legend_rows import rows_of
from workbench.charts.drawing.painter import draw, most_px, scaled
from workbench.charts.drawing.painter import least_px as least_px_of
from workbench.charts.drawing.plotting import PlotView
from workbench.charts.drawing.series_style import draw_sample

MARGIN_PX = 16.0
GAP_PX = 8.0
SAMPLE_PX = 30.0
ENTRY_GAP_PX = 18.0
MIN_PLOT_SHARE = 0.55  # of the size asked for; where words need more, the page grows


@dataclass(frozen=True, slots=True)
class Text:
    """Words across the whole width, in as many lines as they take."""

    words: str
    font: QFont
    color: str

    def height(self, wide: float) -> float:
        """Return the height at this width, in pixels."""
        return len(self.lines(wide)) * QFontMetricsF(self.font).lineSpacing()

    def lines(self, wide: float) -> list[str]:
        """Return the lines at this width, broken between words."""
        metrics = QFontMetricsF(self.font)
        lines: list[str] = []
        for paragraph in self.words.split("\n"):
            line = ""
            for word in paragraph.split(" "):
                longer = f"{line} {word}".strip()
                if line and metrics.horizontalAdvance(longer) > wide:
                    lines.append(line)
                    longer = word
                line = longer
            lines.append(line)
        return lines

    def paint(self, p: QPainter, top_left: QPointF, wide: float) -> None:
        """Paint the lines below a point."""
        metrics = QFontMetricsF(self.font)
        p.setFont(self.font)
        p.setPen(QColor(self.color))
        at = top_left + QPointF(0, metrics.ascent())
        for line in self.lines(wide):
            p.drawText(at, line)
            at = at + QPointF(0, metrics.lineSpacing())


class ChartPage:
    """A figure laid out for a size.

    size   as asked for; higher where words would leave the plot too little, and lower where the
           plot needs less
    spots  the box of each spot on the page, in pixels, and the spot; filled by `paint`
    """

    def __init__(self, figure: Figure, colors: Colors, font: QFont, size: QSize) -> None:
        self._figure, self._colors, self._font = figure, colors, font
        self._wide = size.width() - 2 * MARGIN_PX
        bold = scaled(font, 1.2)
        bold.setWeight(QFont.Weight.DemiBold)
        small = scaled(font, 0.88)
        self._above = _texts(
            (figure.title, bold, colors.text), (figure.subtitle, small, colors.muted)
        )
        self._below = _texts(
            (figure.sentence, font, colors.text),
            *((note, small, colors.muted) for note in figure.notes),
        )
        self._entries = figure.legend
        metrics = QFontMetricsF(font)
        self._legend = rows_of(
            self._entries,
            self._wide,
            lambda entry: SAMPLE_PX + 6 + metrics.horizontalAdvance(entry.name) + ENTRY_GAP_PX,
            lambda text: metrics.horizontalAdvance(text) + ENTRY_GAP_PX,
        )
        words = sum(text.height(self._wide) + GAP_PX for text in (*self._above, *self._below))
        words += self._legend.total * self._row_px + 2 * MARGIN_PX
        least_px = max(MIN_PLOT_SHARE * size.height(), least_px_of(figure, self._wide, font))
        plot_px = min(max(size.height() - words, least_px), most_px(figure, font))
        self.size = QSize(size.width(), round(words + plot_px))
        self._plot_size = QSizeF(self._wide, plot_px)
        self.spots: list[tuple[QRectF, Spot]] = []

    def paint(self, p: QPainter) -> None:
        """Paint the page from its top left corner."""
        p.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
        p.fillRect(QRectF(QPointF(), QSizeF(self.size)), QColor(self._colors.panel))
        at = QPointF(MARGIN_PX, MARGIN_PX)
        at = self._paint_texts(p, self._above, at)
        self._paint_legend(p, at)
        at = at + QPointF(0, self._legend.total * self._row_px)
        self._paint_plot(p, QRectF(at, self._plot_size))
        at = at + QPointF(0, self._plot_size.height() + GAP_PX)
        self._paint_texts(p, self._below, at)

    @property
    def _row_px(self) -> float:
        return 1.45 * QFontMetricsF(self._font).height()

    def _paint_texts(self, p: QPainter, texts: Sequence[Text], at: QPointF) -> QPointF:
        for text in texts:
            text.paint(p, at, self._wide)
            at = at + QPointF(0, text.height(self._wide) + GAP_PX)
        return at

    def _paint_legend(self, p: QPainter, at: QPointF) -> None:
        metrics = QFontMetricsF(self._font)
        p.setFont(self._font)
        p.setPen(QColor(self._colors.muted))
        for text, place in self._legend.headings:
            left = at + QPointF(place.x, place.row * self._row_px + metrics.ascent())
            p.drawText(left, _cut(text, metrics, place.wide))
        for entry, place in zip(self._entries, self._legend.entries, strict=True):
            left = at + QPointF(place.x, place.row * self._row_px)
            sample = QRectF(left, QSizeF(SAMPLE_PX, metrics.height()))
            draw_sample(p, entry, self._colors, sample)
            name = _cut(entry.name, metrics, place.wide - SAMPLE_PX - 6)
            p.setFont(self._font)
            p.setPen(QColor(self._colors.text))
            p.drawText(left + QPointF(SAMPLE_PX + 6, metrics.ascent()), name)

    def _paint_plot(self, p: QPainter, box: QRectF) -> None:
        plot = PlotView()
        try:
            plot.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
            plot.resize(box.size().toSize())
            plot.show()  # a hidden widget does not lay its contents out
            drawn = draw(plot, self._figure, self._colors, self._font)
            view = plot.getViewBox()
            self.spots = [(_box_of(spot, view, box), spot) for spot in drawn.spots]
            plot.scene().render(p, box, plot.sceneRect(), Qt.AspectRatioMode.IgnoreAspectRatio)
        finally:
            plot.close()
            plot.deleteLater()


def _texts(*given: tuple[str, QFont, str]) -> list[Text]:
    return [Text(*each) for each in given if each[0]]


def _cut(text: str, metrics: QFontMetricsF, wide: float) -> str:
    return metrics.elidedText(text, Qt.TextElideMode.ElideRight, wide)


def _box_of(spot: Spot, view: object, page: QRectF) -> QRectF:
    """Return the box of a spot on the page: that of a bar or tile, or one around a mark."""
    (x0, x1), (y0, y1) = view.viewRange()  # type: ignore[attr-defined]
    to_scene = view.mapViewToScene  # type: ignore[attr-defined]
    if spot.box is None:
        middle = to_scene(QPointF(spot.x, spot.y)) + page.topLeft()
        return QRectF(middle.x() - 8, middle.y() - 8, 16, 16)
    left, low, right, high = spot.box
    one = to_scene(QPointF(max(left, x0), max(low, y0)))
    other = to_scene(QPointF(min(right, x1), min(high, y1)))
    return QRectF(one, other).normalized().translated(page.topLeft())
