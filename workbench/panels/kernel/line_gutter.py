"""The column beside the source: line numbers, counts, and a mark where something is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPolygonF
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from workbench.base import theme

BESIDE_PX = 6  # at either side of the numbers
FEWEST_DIGITS = 2
COUNT_DIGITS = 7  # "1,024 B"


class LineGutter(QWidget):
    """The column; screen readers get marks as sentences below the source, so it takes no keys."""

    def __init__(
        self,
        editor: QPlainTextEdit,
        lines_in_view: Callable[[], Iterator[tuple[int, QRect]]],
        marked_lines: Callable[[], Mapping[int, str]],
        counted_lines: Callable[[], Mapping[int, str]],
    ) -> None:
        """Make the column of `editor`.

        lines_in_view  gives the number of each line, from 0, and its place
        marked_lines   gives the kind of mark of each line that has one
        counted_lines  gives what stands before the number of each line that has such
        """
        super().__init__(editor)
        self._editor = editor
        self._lines_in_view, self._marked_lines = lines_in_view, marked_lines
        self._counted_lines, self._counts_digits = counted_lines, 0

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(self.needed_px(), 0)

    def make_room_for_counts(self, is_shown: bool) -> None:
        """Have room for counts, as much with none of them: else the text would jump."""
        self._counts_digits = COUNT_DIGITS if is_shown else 0

    def needed_px(self) -> int:
        """Return the width that the numbers, the counts and the marks take."""
        return self._editor.fontMetrics().height() + self._counts_px() + self._numbers_px()

    def _numbers_px(self) -> int:
        digits = max(FEWEST_DIGITS, len(str(self._editor.blockCount())))
        return digits * self._editor.fontMetrics().horizontalAdvance("0") + BESIDE_PX

    def _counts_px(self) -> int:
        return self._counts_digits * self._editor.fontMetrics().horizontalAdvance("0")

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        painter = QPainter(self)
        colors = theme.colors(self.palette())
        painter.fillRect(event.rect(), QColor(colors.surface))
        painter.setFont(self._editor.font())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        here, wrong = self._editor.textCursor().blockNumber(), self._marked_lines()
        counts = self._counted_lines()
        for number, box in self._lines_in_view():
            painter.setPen(QColor(colors.text if number == here else colors.muted))
            place = QRect(0, box.top(), self.width() - BESIDE_PX, box.height())
            painter.drawText(place, Qt.AlignmentFlag.AlignRight, str(number + 1))
            if number in counts:
                painter.setPen(QColor(colors.accent))
                place.setWidth(self.width() - self._numbers_px() - BESIDE_PX)
                painter.drawText(place, Qt.AlignmentFlag.AlignRight, counts[number])
            if kind := wrong.get(number):
                side = self._editor.fontMetrics().height()  # the last line's box is higher
                _draw_mark(painter, QRectF(0, box.top(), side, side), kind, colors)


def _draw_mark(painter: QPainter, box: QRectF, kind: str, colors: theme.Colors) -> None:
    """Draw a disc for an error and a triangle for a found bug: shapes differ, not just colours."""
    painter.save()
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colors.bad if kind == "error" else colors.warn))
    inner = box.adjusted(3, 3, -3, -3)
    if kind == "error":
        painter.drawEllipse(inner)
    else:
        top = QPointF(inner.center().x(), inner.top())
        painter.drawPolygon(QPolygonF([top, inner.bottomRight(), inner.bottomLeft()]))
    painter.restore()
