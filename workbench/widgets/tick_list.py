"""Boxes to tick, in columns that scroll: the ladder is longer than a panel."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QScrollArea,
    QSizePolicy,
    QStyle,
    QWidget,
)

from workbench.base.plain_text import Label
from workbench.widgets.boxes import HBox, VBox
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
    """Columns of boxes below headings: a column may have several groups, each with its own."""

    def __init__(self, columns: tuple[tuple[str, ...], ...]) -> None:
        """Make the headings, which are seen once there is something below them."""
        super().__init__()
        inside = QWidget()
        beside = HBox(inside)
        beside.setContentsMargins(0, 0, 4, 0)
        self._groups: dict[str, tuple[Label, VBox]] = {}
        self._columns = [VBox(spacing=0) for _ in columns]
        for number, (titles, column) in enumerate(zip(columns, self._columns, strict=True)):
            for title in titles:
                heading, boxes = Label(title), VBox(spacing=0)
                heading.setFont(scaled_font(0.9))
                heading.setForegroundRole(MUTED)
                heading.hide()
                column.addWidget(heading)
                column.addLayout(boxes)
                self._groups[title] = heading, boxes
            column.addStretch(1)
            beside.addLayout(column, 5 + 2 * number)  # CUDA's names are longer
        self.setWidget(inside)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def add(self, tick: Tick, title: str) -> None:
        """Add a box below those of the group."""
        heading, boxes = self._groups[title]
        heading.show()
        boxes.addWidget(tick)
        self._fit(tick.sizeHint().height(), heading.sizeHint().height())

    def remove(self, tick: Tick, title: str) -> None:
        """Remove a box of the group."""
        heading, boxes = self._groups[title]
        boxes.removeWidget(tick)
        heading.setVisible(boxes.count() > 0)
        tick.deleteLater()

    def _fit(self, row_px: int, heading_px: int) -> None:
        """Set the height to that of the longest group, or to ROWS_SEEN."""
        rows = max(boxes.count() for _, boxes in self._groups.values())
        self.setFixedHeight(heading_px + int(row_px * min(rows, ROWS_SEEN)) + 2)
