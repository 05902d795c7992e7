"""The neighbourhood of one pixel as a table: samples, weights, products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QFontMetrics, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QStyle, QTableView

from kernels.oracle.explain import Explained
from workbench.base import theme
from workbench.base.plain_text import tip_text
from workbench.panels.pixel import pixel_words
from workbench.widgets.tile import scaled_font

What = Literal["all", "samples", "weights", "products", "weighted"]
Index = QModelIndex | QPersistentModelIndex
FULL = 15  # rows and columns that are measured one by one
SCALES = (0.95, 0.85, 0.75)  # of the program's font size, largest first
STEPS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}
FAR = 10  # pixels per arrow key with Shift


class Neighbours(QAbstractTableModel):
    """A table model of an `Explained`: one cell for each neighbour."""

    def __init__(self) -> None:
        super().__init__()
        self._found: Explained | None = None
        self._border = ""
        self._what: What = "all"
        self._largest = 1.0
        self.colors = theme.LIGHT

    def show_pixel(self, found: Explained | None, border: str, what: What) -> None:
        """Show another pixel; None empties the table."""
        self.beginResetModel()
        self._found, self._border, self._what = found, border, what
        tinted = self._tinted()
        sizes = np.abs(tinted[np.isfinite(tinted)]) if tinted is not None else np.empty(0)
        self._largest = float(sizes.max(initial=0.0)) or 1.0
        self.endResetModel()

    def rowCount(self, _parent: Index = QModelIndex()) -> int:  # noqa: N802, B008
        tinted = self._tinted()
        return 0 if tinted is None else len(tinted)

    def columnCount(self, _parent: Index = QModelIndex()) -> int:  # noqa: N802, B008
        return self.rowCount()

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a cell's text, tooltip, background or alignment, as Qt asks for its cells."""
        found = self._found
        if found is None or not index.isValid():
            return None
        row, column = index.row(), index.column()
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self.text(row, column)
            case Qt.ItemDataRole.ToolTipRole:
                return tip_text(self._tip(found, row, column))
            case Qt.ItemDataRole.BackgroundRole:
                return self._brush(found, row, column)
            case Qt.ItemDataRole.TextAlignmentRole:
                return Qt.AlignmentFlag.AlignCenter
        return None

    def headerData(  # noqa: N802
        self, section: int, way: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        found = self._found
        if found is None or role != Qt.ItemDataRole.DisplayRole:
            return None
        if self._what == "weighted":
            here = found.x if way == Qt.Orientation.Horizontal else found.y
            return pixel_words.minus(str(here + section - 1))
        if way == Qt.Orientation.Horizontal:
            parts = found.columns, found.from_columns, found.beyond_columns
        else:
            parts = found.rows, found.from_rows, found.beyond_rows
        position, source, is_beyond = (each[section] for each in parts)
        text = pixel_words.place(int(position), int(source), bool(is_beyond))
        # A column's heading is narrow, but has room for two lines.
        return text.replace(" ", "\n", 1) if way == Qt.Orientation.Horizontal else text

    def text(self, row: int, column: int) -> str:
        """Return the text of a cell; the table must not be empty."""
        found = self._found
        assert found is not None
        if self._what == "weighted":
            assert found.slopes is not None
            return pixel_words.short(found.slopes.weighted[row, column])
        sample, weight, product = (
            pixel_words.short(each[row, column])
            for each in (found.samples, found.weights, found.products)
        )
        match self._what:
            case "samples":
                return sample
            case "weights":
                return weight
            case "products":
                return product
        return f"{sample}\n× {weight}\n= {product}"

    def _tinted(self) -> NDArray[np.float64] | None:
        """Return the numbers that cells are tinted by, (K, K); None where there are none."""
        found = self._found
        if found is None:
            return None
        if self._what == "weighted":
            return found.slopes.weighted if found.slopes is not None else None
        return (
            found.samples
            if self._what == "samples"
            else (found.weights if self._what == "weights" else found.products)
        )

    def _brush(self, found: Explained, row: int, column: int) -> QBrush | None:
        """Return a tint by sign and size, striped for neighbours beyond the picture."""
        tinted = self._tinted()
        assert tinted is not None
        value = float(tinted[row, column])
        share = min(abs(value) / self._largest, 1.0) if value == value else 0.0  # NaN has no size
        color = QColor(self.colors.series[0 if value >= 0 else 1])
        color.setAlpha(round(20 + 90 * share))
        is_beyond = self._what != "weighted" and (
            found.beyond_rows[row] or found.beyond_columns[column]
        )
        if is_beyond:
            color.setAlpha(150)
            return QBrush(color, Qt.BrushStyle.BDiagPattern)
        return QBrush(color) if share > 0 else None

    def _tip(self, found: Explained, row: int, column: int) -> str:
        if self._what == "weighted":
            return "What the weights give there, in float64, not rounded"
        return pixel_words.cell_tip(found, row, column, self._border)


@dataclass(frozen=True, slots=True)
class _Widest:
    """The contents that decide the size of cells.

    count   cells in a row
    rows    lines of text in a cell
    inside  the longest texts in the cells and above them
    beside  the texts beside the rows
    """

    count: int
    rows: int
    inside: tuple[str, ...]
    beside: tuple[str, ...]


class NeighbourTable(QTableView):
    """The view of `Neighbours`, in which arrow keys ask for another pixel.

    Signals:
        stepped(across, down): the user wants the pixel so many further on.
    """

    stepped = Signal(int, int)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("pixel-table")
        self.setAccessibleName("Neighbours, weights and products")
        self.setToolTip("Arrow keys: the next pixel; with Shift ten further")
        self._model = Neighbours()
        self._widest: _Widest | None = None
        self._fitted: tuple[_Widest | None, int, str] | None = None
        self.setModel(self._model)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setWordWrap(False)
        self.horizontalHeader().setAccessibleName("Columns of the picture")
        self.verticalHeader().setAccessibleName("Rows of the picture")
        for header in (self.horizontalHeader(), self.verticalHeader()):
            header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
            header.setDefaultAlignment(Qt.AlignmentFlag.AlignCenter)
            header.setMinimumSectionSize(8)
            header.setHighlightSections(False)
        self.setCornerButtonEnabled(False)
        self.setMinimumHeight(120)

    def show_pixel(self, found: Explained | None, border: str, what: What) -> None:
        """Show another pixel, its own cell in the middle where the size has changed."""
        self._model.colors = theme.colors(self.palette())
        old_size = self._model.rowCount()
        self._model.show_pixel(found, border, what)
        self._widest = self._find_widest()
        self._fit()
        size = self._model.rowCount()
        if size != old_size:  # not all cells may fit: show the pixel's own
            centre = self._model.index(size // 2, size // 2)
            self.scrollTo(centre, QAbstractItemView.ScrollHint.PositionAtCenter)
        if found is not None:
            self.setAccessibleDescription(pixel_words.sentence(found, border))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        step = STEPS.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
            return
        far = FAR if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1
        self.stepped.emit(step[0] * far, step[1] * far)

    def _find_widest(self) -> _Widest | None:
        count = self._model.rowCount()
        if not count:
            return None
        headers, beside = (
            [self._model.headerData(n, way) for n in range(count)]
            for way in (Qt.Orientation.Horizontal, Qt.Orientation.Vertical)
        )
        above = [line for text in headers for line in text.split("\n")]
        rows = len(self._model.text(0, 0).split("\n"))
        inside = (*self._longest_lines(count), *above)
        return _Widest(count, rows, inside, (*beside, "−00 ↪ 0"))

    def _fit(self) -> None:
        """Choose the largest font in which all columns fit, and make all cells of one size."""
        widest = self._widest
        fitted = widest, self._room(), scaled_font(1.0).key()
        if widest is None or fitted == self._fitted:
            return
        self._fitted = fitted
        count = widest.count
        beside_text = 2 * self.style().pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin) + 4
        for scale in SCALES:
            font = scaled_font(scale)
            metrics = QFontMetrics(font, self)
            width = max(map(metrics.horizontalAdvance, widest.inside)) + beside_text
            side = max(map(metrics.horizontalAdvance, widest.beside)) + 8
            if count * width + side <= self._room():
                width = min((self._room() - side) // count, 2 * width)
                break
        for part in (self, self.horizontalHeader(), self.verticalHeader()):
            if part.font() != font:
                part.setFont(font)
        self.horizontalHeader().setDefaultSectionSize(width)
        self.verticalHeader().setDefaultSectionSize(widest.rows * metrics.height() + 6)
        self.verticalHeader().setFixedWidth(side)

    def _room(self) -> int:
        """Return the width inside the frame for all columns and the rows' headings, px."""
        return self.contentsRect().width() - 6

    def _longest_lines(self, count: int) -> list[str]:
        if count > FULL:
            return ["= −1.234e−05"] if "\n" in self._model.text(0, 0) else ["−1.234e−05"]
        texts = (self._model.text(row, column) for row in range(count) for column in range(count))
        return sorted({line for text in texts for line in text.split("\n")}, key=len)[-12:]
