"""Implementations to tick, in two columns that scroll: the ladder is longer than a panel."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QGridLayout,
    QScrollArea,
    QSizePolicy,
    QStyle,
    QWidget,
)

from workbench.base.plain_text import Label
from workbench.widgets.tile import MUTED, scaled_font

ROWS_SEEN = 4.6  # the piece of a row says that there are more
MIN_PX = 90


class Tick(QCheckBox):
    """A box to tick whose words are cut with an ellipsis where they are too long."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._whole = text
        self.setFont(scaled_font(0.93))
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(MIN_PX, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        style = self.style()
        box_px = style.pixelMetric(QStyle.PixelMetric.PM_IndicatorWidth, None, self)
        gap_px = style.pixelMetric(QStyle.PixelMetric.PM_CheckBoxLabelSpacing, None, self)
        room = self.width() - box_px - gap_px - 12  # padding and border of theme.qss, twice
        mode = Qt.TextElideMode.ElideRight
        self.setText(self.fontMetrics().elidedText(self._whole, mode, room))


class TickList(QScrollArea):
    """A column per kind of implementation."""

    def __init__(self, titles: tuple[str, ...]) -> None:
        super().__init__()
        self._counts = [0] * len(titles)
        inside = QWidget()
        self._grid = QGridLayout(inside)
        self._grid.setContentsMargins(0, 0, 4, 0)
        self._grid.setVerticalSpacing(0)
        self._headings = [Label(title) for title in titles]
        for column, heading in enumerate(self._headings):
            heading.setFont(scaled_font(0.9))
            heading.setForegroundRole(MUTED)
            self._grid.addWidget(heading, 0, column)
            self._grid.setColumnStretch(column, 5 + 2 * column)  # CUDA's names are longer
        self.setWidget(inside)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def add(self, tick: Tick, column: int) -> None:
        """Add a box below those that the column has."""
        self._counts[column] += 1
        self._grid.addWidget(tick, self._counts[column], column)
        row_px, rows = tick.sizeHint().height(), max(self._counts)
        heading_px = self._headings[0].sizeHint().height()
        self.setFixedHeight(heading_px + int(row_px * min(rows, ROWS_SEEN)) + 2)
