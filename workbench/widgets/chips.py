"""Captions on dark chips in the corners of pictures."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter

CHIPS_HEIGHT = 112  # captions are within so much of the upper edge
SEPARATOR = " · "
_MARGIN, _INSIDE = 10, 10  # around a chip, and left and right of its text
_LINES = (3, 2)  # that the first line of a caption may become, and any other
_FLAGS = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
_BACK = QColor(12, 14, 17, 205)  # reads on black and on white pictures, in both themes
_TEXT = QColor("#ffffff")


def paint_chip(
    painter: QPainter, area: QRect, text: str, side: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft
) -> None:
    """Write `text` on a chip in an upper corner of `area`, as `lines_in` breaks it."""
    metrics = painter.fontMetrics()
    room = area.width() - 2 * (_MARGIN + _INSIDE)
    if not text or room < metrics.averageCharWidth() * 4:
        return
    lines = lines_in(text, metrics, room)
    wide = max(metrics.horizontalAdvance(line) for line in lines)
    chip = QRect(0, 0, wide + 2 * _INSIDE, metrics.height() * len(lines) + 8)
    chip.moveTop(area.top() + _MARGIN)
    if side == Qt.AlignmentFlag.AlignLeft:
        chip.moveLeft(area.left() + _MARGIN)
    else:
        chip.moveRight(area.right() - _MARGIN)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(_BACK)
    painter.drawRoundedRect(chip, 6, 6)
    painter.setPen(_TEXT)
    painter.drawText(chip.adjusted(_INSIDE, 0, -_INSIDE, 0), _FLAGS, "\n".join(lines))


def lines_in(text: str, metrics: QFontMetrics, room: int) -> list[str]:
    """Return `text` in lines of at most `room` pixels.

    A line that is too long is broken between its parts, as a number that is cut is another one, and
    only what is longer still loses its middle.
    """
    first, *others = text.splitlines()
    lines = _broken(first, metrics, room, _LINES[0])
    return lines + [part for line in others for part in _broken(line, metrics, room, _LINES[1])]


def _broken(line: str, metrics: QFontMetrics, room: int, most: int) -> list[str]:
    found = [""]
    for part in line.split(SEPARATOR):
        longer = f"{found[-1]}{SEPARATOR}{part}" if found[-1] else part
        is_last = len(found) == most
        if not found[-1] or is_last or metrics.horizontalAdvance(longer) <= room:
            found[-1] = longer
        else:
            found.append(part)
    return [_cut(each, metrics, room) for each in found]


def _cut(line: str, metrics: QFontMetrics, room: int) -> str:
    if metrics.horizontalAdvance(line) <= room:
        return line  # where Qt would want a pixel more
    return metrics.elidedText(line, Qt.TextElideMode.ElideMiddle, room)
