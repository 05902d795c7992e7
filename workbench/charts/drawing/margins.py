"""Margins of a plot: room for the axes, captions above and below, wrapped names."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetricsF

from workbench.base.theme import Colors

EDGE_PX = 12  # right of the plot, for half of the last tick's text
MAX_LINES = 3
GAP_PX = 4
CLAUSE = re.compile(r"(?:[:;.]| ·) [^:;·]*$")  # the last one of a caption
USUAL_FONT_PX = 13
CAPTION_ROWS = 1.7  # of the font's height


class Captions(NamedTuple):
    """The captions of a plot.

    above  what the values are, over the upper left corner
    below  what x is, under the plot
    """

    above: str
    below: str = ""


def magnified(font: QFont) -> float:
    """Return how much larger than usual marks and lines are drawn, to match this font."""
    return max(1.0, font.pixelSize() / USUAL_FONT_PX)


def reduced(font: QFont) -> QFont:
    """Return a slightly smaller font, for what stands inside a plot."""
    small = QFont(font)
    small.setPixelSize(max(9, round(0.9 * font.pixelSize())))
    return small


def make_room(
    plot: Any, captions: Captions, colors: Colors, font: QFont, left_px: float | None = None
) -> None:
    """Give axes and captions the room they take, once the plot shows its range.

    left_px  width of the left axis; None: what its texts take
    """
    row_px = CAPTION_ROWS * QFontMetricsF(font).height()
    above_px = row_px if captions.above else GAP_PX
    below_px = row_px if captions.below else 0.0
    left, bottom = plot.getAxis("left"), plot.getAxis("bottom")
    below_px += bottom.room_px(plot.width())
    tall = plot.height() - above_px - below_px
    left_px = left.room_px(tall) if left_px is None else left_px
    layout = plot.getPlotItem().layout
    layout.setContentsMargins(2, 2, EDGE_PX, 2)
    wide = plot.width() - left_px - EDGE_PX - 4
    _write_above(plot, _cut(captions.above, font, wide), colors, font, above_px)
    _write_below(bottom, _cut(captions.below, font, wide), colors, font)
    bottom.setHeight(below_px)
    left.setWidth(left_px)
    layout.invalidate()
    layout.activate()


def wrapped(names: Sequence[str], metrics: QFontMetricsF, wide_px: float) -> list[str]:
    """Return names broken into lines, MAX_LINES at most; an empty list if one does not fit."""
    found = []
    for name in names:
        lines = [""]
        for word in name.split(" "):
            longer = f"{lines[-1]} {word}".strip()
            if metrics.horizontalAdvance(longer) <= wide_px:
                lines[-1] = longer
            else:
                lines.append(word)
        lines = [line for line in lines if line]
        if len(lines) > MAX_LINES or any(metrics.horizontalAdvance(x) > wide_px for x in lines):
            return []
        found.append("\n".join(lines))
    return found


def _cut(text: str, font: QFont, wide: float) -> str:
    """Return as many clauses of a caption as fit, eliding the first if even that is too long."""
    metrics = QFontMetricsF(font)
    while metrics.horizontalAdvance(text) > wide and (shorter := CLAUSE.sub("", text)) != text:
        text = shorter
    return metrics.elidedText(text, Qt.TextElideMode.ElideRight, wide)


def _write_above(plot: Any, text: str, colors: Colors, font: QFont, high: float) -> None:
    item = plot.getPlotItem()
    label = item.titleLabel
    label.setVisible(True)
    label.setMaximumHeight(high)
    item.layout.setRowFixedHeight(0, high)
    label.item.setFont(font)
    size = f"{font.pixelSize()}px"
    label.setText(html.escape(text), color=colors.muted, size=size, justify="left")


def _write_below(axis: Any, text: str, colors: Colors, font: QFont) -> None:
    axis.label.setFont(font)
    axis.enableAutoSIPrefix(False)  # each tick has its unit
    axis.setLabel(html.escape(text), color=colors.muted)
    axis.showLabel(bool(text))
