"""Room for a plot that is made only after the window was painted: pyqtgraph costs 0.4 s."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QStackedLayout, QToolTip, QWidget

from workbench.views.tile import MUTED

NEAR_PX = 18


class Spot(NamedTuple):
    """A place in the plot's coordinates that says something to whoever points there."""

    x: float
    y: float
    text: str


class Canvas(QWidget):
    """Shows `empty` until there is a plot and something to draw.

    plot  a pyqtgraph PlotWidget; None until the first paint is over

    Signals:
        ready(): draw now: the plot was made, or has another theme or size.
    """

    ready = Signal()

    def __init__(
        self, empty: str, in_words: Callable[[float], str], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.plot: Any = None
        self._in_words = in_words
        self.spots: Sequence[Spot] = ()
        self._empty = QLabel(empty)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setWordWrap(True)
        self._empty.setForegroundRole(MUTED)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._empty)

    def show_spots(self, spots: Sequence[Spot]) -> None:
        """What there is to point at.  Without any, there is nothing to see."""
        self.spots = spots
        self._stack.setCurrentWidget(self.plot if spots else self._empty)

    @Slot()
    def make_plot(self) -> None:
        """Make it now, if it is not there yet."""
        if self.plot is not None:
            return
        from workbench.charts import plotting

        self.plot = plotting.new_plot(self._in_words)
        self.plot.scene().sigMouseMoved.connect(self._tell)
        self.plot.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self._stack.addWidget(self.plot)
        self.plot.resize(self.size())
        self._dress()

    def spot_at(self, position: QPointF) -> Spot | None:
        """The spot nearest to a position in the plot's pixels, if one is near."""
        if not self.spots:
            return None
        box = self.plot.getViewBox()
        places = ((box.mapViewToScene(QPointF(s.x, s.y)) - position, s) for s in self.spots)
        away, nearest = min(
            ((math.hypot(offset.x(), offset.y()), spot) for offset, spot in places),
            key=lambda pair: pair[0],
        )
        return nearest if away <= NEAR_PX else None

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        super().paintEvent(event)
        if self.plot is None:
            QTimer.singleShot(0, self, self.make_plot)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        if self.plot is not None:
            self.plot.resize(self.size())  # the layout does so only while it is shown
            self.ready.emit()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self.plot is not None:
            self._dress()

    def _dress(self) -> None:
        from workbench.charts import plotting

        plotting.dress(self.plot, self.palette())
        self.ready.emit()

    @Slot(object)
    def _tell(self, position: QPointF) -> None:
        spot = self.spot_at(position)
        if spot is None:
            QToolTip.hideText()
            return
        beside = self.plot.mapToGlobal(position.toPoint() + QPoint(12, 12))
        QToolTip.showText(beside, spot.text, self.plot)
