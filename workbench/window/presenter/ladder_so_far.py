"""The ladder so far: a bar for each step that was timed, and how much faster it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from kernels.core.comparison import SAME_WITHIN
from workbench.base import numbers, theme
from workbench.base.plain_text import tip_text

MAX_BARS = 4  # the newest
NAME_SHARE = 0.36  # of the width, at least, where a name needs it
MIN_NAME = 0.7  # of the longest name
ROW = 1.12  # height, in lines of text
BESIDE = 0.12  # of a row, above and below its bar
SPACE_PX, MIN_PX, MIN_ROOM_PX = 10, 3, 40
LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft


@dataclass(frozen=True, slots=True)
class LadderBar:
    """One step's time.

    key     what was timed: an implementation and its blocks
    source  where: here, or the name of the machine that a recorded time is from
    is_disturbed  whether something disturbed it
    """

    name: str
    key: tuple[object, ...]
    median_ms: float
    source: str = ""
    is_disturbed: bool = False

    @property
    def time(self) -> str:
        """Return its time in words, with a star where something disturbed it."""
        return f"{numbers.duration(self.median_ms)}{'*' if self.is_disturbed else ''}"

    def beside(self, before: LadderBar | None) -> str:
        """Return "1.9× the step before", or how much slower; empty where they do not compare."""
        if before is None or before.source != self.source:
            return ""
        ratio = before.median_ms / self.median_ms
        if abs(ratio - 1) < SAME_WITHIN:
            return "as fast as before"
        words = numbers.speed_up(ratio, numbers.fine_ratio)
        return f"{words} the step before" if ratio > 1 else words


def bars_so_far(bars: Sequence[LadderBar | None]) -> list[LadderBar]:
    """Return the bars of the steps up to now, each implementation once.

    It stands where it came first, with its newest time.
    """
    return list({(*each.key, each.source): each for each in bars if each is not None}.values())


class LadderSoFar(QWidget):
    """The newest bars in the order of the steps, the present one in colour."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("stage-ladder")
        self._bars: list[LadderBar] = []
        self._now: LadderBar | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.show_bars([])

    @property
    def lines(self) -> list[tuple[str, str, str]]:
        """Return name, time and comparison of each bar, as they are painted."""
        befores = [None, *self._bars][: len(self._bars)]
        is_mixed = len({each.source for each in self._bars}) > 1
        return [
            (
                f"{each.name}, here" if is_mixed and not each.source else each.name,
                each.time,
                each.beside(before),
            )
            for each, before in zip(self._bars, befores, strict=True)
        ][-MAX_BARS:]

    def show_bars(self, bars: Sequence[LadderBar], now: LadderBar | None = None) -> None:
        """Show the bars of the steps up to now, one of which is the present step's."""
        self._bars, self._now = list(bars), now
        sources = [f"recorded on an {each.source}" if each.source else "" for each in bars]
        words = [
            ", ".join(filter(None, (*line, source)))
            for line, source in zip(self.lines, sources[-MAX_BARS:], strict=True)
        ]
        self.setAccessibleName("The ladder so far")
        self.setAccessibleDescription("; ".join(words))
        self.setToolTip(tip_text("\n".join(words)))
        self.setVisible(bool(bars))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        return self._with_names(self._names_px())

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        # A name may lose its end rather than the words beside the ladder theirs.
        return self._with_names(round(MIN_NAME * self._names_px()))

    def _with_names(self, names_px: int) -> QSize:
        needed = names_px + self._said_px() + MIN_ROOM_PX + 3 * SPACE_PX
        return QSize(needed, round(MAX_BARS * ROW * self.fontMetrics().height()))

    def _names_px(self) -> int:
        # Whole pixels, and one more: what is wider by a part of one would be elided.
        names = (name for name, *_ in self.lines)
        return max(map(self.fontMetrics().horizontalAdvance, names), default=0) + 1

    def _said_px(self) -> int:
        said = (_said(time, beside) for _, time, beside in self.lines)
        return max(map(self.fontMetrics().horizontalAdvance, said), default=0)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        painter, colors = QPainter(self), theme.colors(self.palette())
        shown, lines, metrics = self._bars[-MAX_BARS:], self.lines, self.fontMetrics()
        # Times of two machines do not compare: only those that are from where the newest is.
        source = (self._now or shown[-1]).source if shown else ""
        longest = max((each.median_ms for each in shown if each.source == source), default=1.0)
        said = [_said(time, beside) for _, time, beside in lines]
        left_px = self.width() - self._said_px() - 3 * SPACE_PX
        names_px = min(
            self._names_px(), max(left_px - MIN_ROOM_PX, round(NAME_SHARE * self.width()))
        )
        room = max(left_px - names_px, MIN_ROOM_PX)
        high = self.height() / MAX_BARS
        for row, ((name, *_), text) in enumerate(zip(lines, said, strict=True)):
            is_now = self._now is not None and shown[row].key == self._now.key
            painter.setPen(QColor(colors.text if is_now else colors.muted))
            box = QRectF(0, row * high, names_px, high)
            elided = metrics.elidedText(name, Qt.TextElideMode.ElideRight, names_px)
            painter.drawText(box, LEFT, elided)
            left, length = names_px + SPACE_PX, 0.0
            if shown[row].source == source:
                length = max(shown[row].median_ms / longest * room, MIN_PX)
                color = QColor(colors.accent if is_now else colors.muted)
                color.setAlphaF(1.0 if is_now else 0.5)
                painter.fillRect(QRectF(left, box.top() + BESIDE * high, length,
                                        high * (1 - 2 * BESIDE)), color)  # fmt: skip
                left += SPACE_PX
            box = QRectF(left + length, box.top(), self.width(), high)
            painter.drawText(box, LEFT, text)


def _said(time: str, beside: str) -> str:
    """Return what stands behind a bar."""
    return f"{time}   {beside}".rstrip()
