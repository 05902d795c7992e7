"""A chart with its words as a picture: PNG in pixels, or SVG whose marks tell their values.

Imports pyqtgraph: import it when exporting.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from html import escape
from typing import Any

from PySide6.QtCore import QBuffer, QIODevice, QPointF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontMetricsF, QImage, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QApplication

from workbench.base import theme
from workbench.charts.data.figure import Figure, Spot
from workbench.charts.drawing import painter
from workbench.charts.drawing.marks import draw_sample
from workbench.charts.drawing.plotting import PlotView, cut, scaled

SIZE_PX = (960, 600)
BASE_PX = (900, 560)  # a page of this size has letters of FONT_PX, larger ones have larger letters
FONT_PX = 13
MAX_FACTOR = 1.7
FAMILIES = "'DejaVu Sans', 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"
SVG_DPI = 96
PNG_SCALE = 2.0
NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
MARGIN_PX, GAP_PX = 16.0, 8.0
SAMPLE_PX, NAME_PX, ENTRY_GAP_PX = 30.0, 36.0, 18.0  # of the legend; where a name begins
LEGEND_ROW = 1.45  # heights of a letter, of a row of the legend
MIN_PLOT_SHARE = 0.55  # of the size asked for; where words need more, the page grows
MARK_PX = 8  # around a spot that has no box

Text = tuple[str, QFont, str]  # words, in which letters, of which colour


def svg_of(figure: Figure, size_px: tuple[int, int] = SIZE_PX) -> str:
    """The chart as SVG on white paper; higher than asked if words need it."""
    page = ChartPage(figure, theme.LIGHT, size_px)
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setResolution(SVG_DPI)
    generator.setSize(page.size)
    generator.setViewBox(QRectF(QPointF(), QSizeF(page.size)))
    generator.setTitle(figure.title)
    generator.setDescription(figure.summary)
    page.paint(generator)
    return _finished(bytes(buffer.data().data()).decode("utf-8"), page.spots)


def png_of(figure: Figure, colors: theme.Colors, size_px: tuple[int, int] = SIZE_PX) -> QImage:
    """The chart as an image with PNG_SCALE pixels per pixel of `size_px`."""
    page = ChartPage(figure, colors, size_px)
    image = QImage(page.size * PNG_SCALE, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(PNG_SCALE)
    page.paint(image)
    return image


_application: list[QApplication] = []  # made here and kept: Qt wants one as long as it is used


def have_application() -> None:
    """Ensure that there is the QApplication that drawing requires, off screen if it is new."""
    if QApplication.instance() is None:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
        _application.append(QApplication(["workbench"]))


def _finished(text: str, spots: Sequence[tuple[QRectF, Spot]]) -> str:
    """The SVG with portable fonts, and marks that show a text under the pointer."""
    marks = "".join(
        f'<rect x="{box.x():.1f}" y="{box.y():.1f}" width="{box.width():.1f}" '
        f'height="{box.height():.1f}"><title>{escape(spot.text)}</title></rect>\n'
        for box, spot in spots
    )
    text = re.sub(r'\s*font-(family="[^"]*"|weight="400"|style="normal")', "", text)
    text = re.sub(r"<g[^>]*>\s*</g>\s*", "", text)
    text = text.replace("<svg ", f'<svg role="img" font-family="{FAMILIES}" ', 1)
    group = f'<g fill="#000" fill-opacity="0" stroke="none">\n{marks}</g>\n</svg>'
    head, _, tail = text.rpartition("</svg>")
    return NOT_IN_XML.sub("", f"{head}{group}{tail}")


class ChartPage:
    """A figure on a page: title, legend, plot, sentence and notes.

    size   as asked for, but higher or lower where words and plot need it
    spots  the box of each spot on the page, in pixels, and the spot; filled by `paint`
    """

    def __init__(self, figure: Figure, colors: theme.Colors, size_px: tuple[int, int]) -> None:
        have_application()
        self._figure, self._colors = figure, colors
        wide, high = size_px
        # Large pages are viewed from farther away.
        factor = min(max(1.0, min(wide / BASE_PX[0], high / BASE_PX[1])), MAX_FACTOR)
        self._font = font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
        font.setPixelSize(round(factor * FONT_PX))
        self._wide = wide - 2 * MARGIN_PX
        bold, small = scaled(font, 1.2), scaled(font, 0.88)
        bold.setWeight(QFont.Weight.DemiBold)
        self._above = ((figure.title, bold, colors.text), (figure.subtitle, small, colors.muted))
        notes = ((note, small, colors.muted) for note in figure.notes)
        self._below = ((figure.sentence, font, colors.text), *notes)
        words = sum(map(self._high_px, (*self._above, *self._below)))
        words += self._lay_legend(None, 0.0) + 2 * MARGIN_PX
        least = max(MIN_PLOT_SHARE * high, painter.least_px(figure, self._wide, font))
        plot_px = min(max(high - words, least), painter.most_px(figure, self._wide, font))
        self.size = QSize(wide, round(words + plot_px))
        self._plot_size = QSizeF(self._wide, plot_px)
        self.spots: list[tuple[QRectF, Spot]] = []

    def paint(self, device: QImage | QSvgGenerator) -> None:
        p = QPainter(device)
        try:
            p.setRenderHints(p.RenderHint.Antialiasing | p.RenderHint.TextAntialiasing)
            p.fillRect(QRectF(QPointF(), QSizeF(self.size)), QColor(self._colors.panel))
            top = self._paint_texts(p, self._above, MARGIN_PX)
            top += self._lay_legend(p, top)
            self._paint_plot(p, QRectF(QPointF(MARGIN_PX, top), self._plot_size))
            self._paint_texts(p, self._below, top + self._plot_size.height() + GAP_PX)
        finally:
            p.end()

    def _high_px(self, text: Text) -> float:
        words, font, _ = text
        room, wrap = QRectF(0, 0, self._wide, 1e6), Qt.TextFlag.TextWordWrap
        return QFontMetricsF(font).boundingRect(room, wrap, words).height() + GAP_PX if words else 0

    def _paint_texts(self, p: QPainter, texts: Sequence[Text], top: float) -> float:
        for text in texts:
            words, font, color = text
            p.setFont(font)
            p.setPen(QColor(color))
            box = QRectF(MARGIN_PX, top, self._wide, self._high_px(text))
            p.drawText(box, Qt.TextFlag.TextWordWrap, words)
            top += self._high_px(text)
        return top

    def _lay_legend(self, p: QPainter | None, top: float) -> float:
        """Lay out the legend, and paint it if there is a painter; return its height."""
        metrics, x, y, group = QFontMetricsF(self._font), 0.0, top, ""
        row_px = LEGEND_ROW * metrics.height()
        for entry in self._figure.legend:
            parts = [(entry.group, 0.0)] if entry.group != group else []
            group = entry.group
            for name, sample_px in (*parts, (entry.name, NAME_PX)):
                wide = sample_px + metrics.horizontalAdvance(name) + ENTRY_GAP_PX
                wide = min(wide, self._wide)
                if x > 0 and x + wide > self._wide:
                    x, y = 0.0, y + row_px
                left, x = QPointF(MARGIN_PX + x, y), x + wide
                if p is None:
                    continue
                if sample_px:
                    box = QRectF(left, QSizeF(SAMPLE_PX, metrics.height()))
                    draw_sample(p, entry, self._colors, box)
                p.setFont(self._font)
                p.setPen(QColor(self._colors.text if sample_px else self._colors.muted))
                text = cut(name, metrics, wide - sample_px)
                p.drawText(left + QPointF(sample_px, metrics.ascent()), text)
        return y + row_px - top if self._figure.legend else 0.0

    def _paint_plot(self, p: QPainter, box: QRectF) -> None:
        plot = PlotView()
        try:
            plot.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
            plot.resize(box.size().toSize())
            plot.show()  # a hidden widget does not lay its contents out
            drawn = painter.draw(plot, self._figure, self._colors, self._font)
            view = plot.getViewBox()
            self.spots = [(_box_of(spot, view, box), spot) for spot in drawn.spots]
            plot.scene().render(p, box, plot.sceneRect(), Qt.AspectRatioMode.IgnoreAspectRatio)
        finally:
            plot.close()
            plot.deleteLater()


def _box_of(spot: Spot, view: Any, page: QRectF) -> QRectF:
    """The box of a spot on the page: that of a bar or tile, or one around a mark."""
    to_scene = view.mapViewToScene
    if spot.box is None:
        middle = to_scene(QPointF(spot.x, spot.y)) + page.topLeft()
        return QRectF(middle, QSizeF()).adjusted(-MARK_PX, -MARK_PX, MARK_PX, MARK_PX)
    (x0, x1), (y0, y1) = view.viewRange()
    left, low, right, high = spot.box
    one = to_scene(QPointF(max(left, x0), max(low, y0)))
    other = to_scene(QPointF(min(right, x1), min(high, y1)))
    return QRectF(one, other).normalized().translated(page.topLeft())
