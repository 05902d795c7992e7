"""A chart as a picture: PNG in pixels, or SVG whose text stays text and whose marks tell values.

Works without a window, also from the command line.
"""

from __future__ import annotations

import os
import re
from html import escape
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QBuffer, QIODevice, QRectF, QSize
from PySide6.QtGui import QFont, QFontDatabase, QImage, QPaintDevice, QPainter, QPicture
from PySide6.QtWidgets import QApplication

from workbench.base import theme
from workbench.charts.data.figure import Figure

if TYPE_CHECKING:
    from workbench.charts.drawing.chart_page import ChartPage

SIZE_PX = (960, 600)
BASE_PX = (900, 560)  # a page of this size has letters of FONT_PX, larger ones have larger letters
FONT_PX = 13
MAX_FACTOR = 1.7
FAMILIES = "'DejaVu Sans', 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"
SVG_DPI = 96
PNG_SCALE = 2.0
NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")

Scheme = Literal["light", "dark"]


def svg_of(figure: Figure, scheme: Scheme = "light", size_px: tuple[int, int] = SIZE_PX) -> str:
    """Return the chart as SVG, by default on white paper; higher than asked if words need it."""
    have_application()
    from PySide6.QtSvg import QSvgGenerator

    from workbench.charts.drawing.chart_page import ChartPage

    page = ChartPage(figure, _colors(scheme), font_for(*size_px), QSize(*size_px))
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setResolution(SVG_DPI)
    generator.setSize(page.size)
    generator.setViewBox(QRectF(0, 0, page.size.width(), page.size.height()))
    generator.setTitle(figure.title)
    generator.setDescription(figure.summary)
    _paint(page, generator)
    text = bytes(buffer.data().data()).decode("utf-8")
    marks = "".join(_mark(box, spot.text) for box, spot in page.spots)
    return _finished(text, marks)


def strokes_of(figure: Figure, size_px: tuple[int, int] = SIZE_PX) -> tuple[QPicture, QSize]:
    """Return the chart as recorded painting, on white paper, and its size in pixels.

    The recording can be painted in any thread.  The page is higher than asked if words need it.
    """
    have_application()
    from workbench.charts.drawing.chart_page import ChartPage

    page = ChartPage(figure, _colors("light"), font_for(*size_px), QSize(*size_px))
    picture = QPicture()
    _paint(page, picture)
    return picture, page.size


def png_of(figure: Figure, scheme: Scheme = "light", size_px: tuple[int, int] = SIZE_PX) -> QImage:
    """Return the chart as an image with PNG_SCALE pixels per pixel of `size_px`."""
    have_application()
    from workbench.charts.drawing.chart_page import ChartPage

    page = ChartPage(figure, _colors(scheme), font_for(*size_px), QSize(*size_px))
    image = QImage(page.size * PNG_SCALE, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(PNG_SCALE)
    _paint(page, image)
    return image


def _paint(page: ChartPage, device: QPaintDevice) -> None:
    painter = QPainter(device)
    try:
        page.paint(painter)
    finally:
        painter.end()


def font_for(wide: int, high: int) -> QFont:
    """Return a font for a page of this size: large pages are viewed from farther away."""
    factor = min(max(1.0, min(wide / BASE_PX[0], high / BASE_PX[1])), MAX_FACTOR)
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    font.setPixelSize(round(factor * FONT_PX))
    return font


def _colors(scheme: Scheme) -> theme.Colors:
    return theme.DARK if scheme == "dark" else theme.LIGHT


_application: list[QApplication] = []  # made here and kept: Qt wants one as long as it is used


def have_application() -> None:
    """Ensure that there is the QApplication that drawing requires, off screen if it is new."""
    if QApplication.instance() is None:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
        _application.append(QApplication(["workbench"]))


def _mark(box: QRectF, text: str) -> str:
    """Return an element that shows a text under the pointer, without a script."""
    place = (
        f'x="{box.x():.1f}" y="{box.y():.1f}" width="{box.width():.1f}" height="{box.height():.1f}"'
    )
    return f"<rect {place}><title>{escape(text)}</title></rect>\n"


def _finished(text: str, marks: str) -> str:
    """Return the SVG without redundant attributes, with portable fonts and the marks on top."""
    text = re.sub(r'\s*font-(family="[^"]*"|weight="400"|style="normal")', "", text)
    text = re.sub(r"<g[^>]*>\s*</g>\s*", "", text)
    text = text.replace("<svg ", f'<svg role="img" font-family="{FAMILIES}" ', 1)
    group = f'<g fill="#000" fill-opacity="0" stroke="none">\n{marks}</g>\n</svg>'
    head, _, tail = text.rpartition("</svg>")
    return NOT_IN_XML.sub("", f"{head}{group}{tail}")
