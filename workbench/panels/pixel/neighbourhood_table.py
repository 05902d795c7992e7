"""The neighbourhood of one pixel as a table: samples, weights, products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import (
    QAbstractTableModel,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QSize,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetrics, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QSizePolicy, QStyle, QTableView

from kernels.oracle.explain import Explained
from workbench.base import theme
from workbench.base.plain_text import tip_text
from workbench.panels.pixel import pixel_words
from workbench.widgets.keyboard import ARROWS
from workbench.widgets.letters import factor_of
from workbench.widgets.tile import scaled_font

What = Literal["all", "samples", "weights", "products", "derivative"]
Index = QModelIndex | QPersistentModelIndex
FULL = 15  # rows and columns that are measured one by one
LARGE_PX = 420  # tables in a wider panel may have the largest letters
# Of the program's font size, and whether numbers are narrow: the first that fits is taken.
SCALES = ((1.2, False), (0.95, False), (0.85, False), (0.85, True), (0.75, True), (0.68, True))
ENOUGH_PX = 270  # a table that is higher scrolls by itself, in usual letters
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
        self.is_narrow = False

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
                return tip_text(pixel_words.cell_tip(found, row, column, self._border))
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
        if way == Qt.Orientation.Horizontal:
            parts = found.columns, found.from_columns, found.beyond_columns
        else:
            parts = found.rows, found.from_rows, found.beyond_rows
        position, source, is_beyond = (each[section] for each in parts)
        text = pixel_words.place(int(position), int(source), bool(is_beyond))
        # A heading is narrow, but has room for two lines: beside the row where its cells have.
        is_above = way == Qt.Orientation.Horizontal
        return text.replace(" ", "\n", 1) if is_above or self.has_lines else text

    @property
    def has_lines(self) -> bool:
        """Return whether a cell has several lines of text."""
        return self._what in ("all", "derivative")

    def text(self, row: int, column: int) -> str:
        """Return the text of a cell; the table must not be empty."""
        found = self._found
        assert found is not None
        write = pixel_words.narrow if self.is_narrow else pixel_words.short
        sample, weight, product = (
            write(float(each[row, column]))
            for each in (found.samples, found.weights, found.products)
        )
        match self._what:
            case "samples":
                return sample
            case "weights":
                return weight
            case "products":
                return product
            case "derivative":
                return f"{sample} × {weight}\n= {product}"
        sign = "" if self.is_narrow else " "
        return f"{sample}\n×{sign}{weight}\n={sign}{product}"

    def _tinted(self) -> NDArray[np.float64] | None:
        """Return the numbers that cells are tinted by, (K, K); None where there are none."""
        found = self._found
        if found is None:
            return None
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
        if found.beyond_rows[row] or found.beyond_columns[column]:
            color.setAlpha(80)
            return QBrush(color, Qt.BrushStyle.BDiagPattern)
        return QBrush(color) if share > 0 else None


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

    def __init__(self, name: str, title: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setAccessibleName(title)
        self.setToolTip("Arrow keys: the next pixel; with Shift ten further")
        self._model = Neighbours()
        self._widest: dict[bool, _Widest] = {}  # whether numbers are narrow -> what decides
        self._fitted: tuple[dict[bool, _Widest], int, str] | None = None
        self._steady: tuple[int, int, int, str] | None = None  # while that is so, letters keep
        self._tried = 0  # or lose their size: the number of SCALES
        self._letters = self.font()
        # At once, the table would get the letters of its panel after its own.
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self._fit)
        self.setModel(self._model)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setWordWrap(False)
        self.setTextElideMode(Qt.TextElideMode.ElideNone)
        self.horizontalHeader().setAccessibleName("Columns of the picture")
        self.verticalHeader().setAccessibleName("Rows of the picture")
        for header in (self.horizontalHeader(), self.verticalHeader()):
            header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
            header.setDefaultAlignment(Qt.AlignmentFlag.AlignCenter)
            header.setMinimumSectionSize(8)
            header.setHighlightSections(False)
        self.setCornerButtonEnabled(False)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)

    def show_pixel(self, found: Explained | None, border: str, what: What) -> None:
        """Show another pixel, its own cell in the middle where the size has changed."""
        if found is None and self._model.rowCount() == 0:
            return  # as of most filters, which have no second table
        self._model.colors = theme.colors(self.palette())
        old_size = self._model.rowCount()
        self._model.show_pixel(found, border, what)
        self._widest = self._find_widest()
        self._fit()
        self.updateGeometry()
        size = self._model.rowCount()
        if size != old_size:  # not all cells may fit: show the pixel's own
            centre = self._model.index(size // 2, size // 2)
            self.scrollTo(centre, QAbstractItemView.ScrollHint.PositionAtCenter)
        if found is not None:
            self.setAccessibleDescription(pixel_words.sentence(found, border))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and not self._has_its_letters:
            self._later.start()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        step = ARROWS.get(event.key())
        if step is None:
            super().keyPressEvent(event)
            return
        far = FAR if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1
        self.stepped.emit(step[0] * far, step[1] * far)

    def sizeHint(self) -> QSize:  # noqa: N802
        """Return the size that all cells take."""
        across, down = self.horizontalHeader(), self.verticalHeader()
        frame = 2 * self.frameWidth()
        width = down.width() + across.length() + frame
        bar = self.horizontalScrollBar().sizeHint().height() if width > self.width() else 0
        return QSize(width, across.sizeHint().height() + down.length() + frame + bar)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        """Return the size without which it would be hard to read: that of 5×5, or all of it."""
        return QSize(120, min(self.sizeHint().height(), theme.in_letters(ENOUGH_PX)))

    def _find_widest(self) -> dict[bool, _Widest]:
        count = self._model.rowCount()
        if not count:
            return {}
        headers, beside = (
            [line for n in range(count) for line in self._model.headerData(n, way).split("\n")]
            for way in (Qt.Orientation.Horizontal, Qt.Orientation.Vertical)
        )
        rows = len(self._model.text(0, 0).split("\n"))
        found, was_narrow = {}, self._model.is_narrow
        for is_narrow in (False, True):
            self._model.is_narrow = is_narrow
            inside = (*self._longest_lines(count), *headers)
            found[is_narrow] = _Widest(count, rows, inside, (*beside, widest_heading(rows)))
        self._model.is_narrow = was_narrow
        return found

    def _fit(self) -> None:
        """Choose the largest font in which all columns fit, and make all cells of one size.

        Letters only become smaller while the pointer moves: else they would change all the time.
        """
        factor = factor_of(self)
        fitted = self._widest, self._room(), scaled_font(factor).key()
        if not self._widest or (fitted == self._fitted and self._has_its_letters):
            return
        self._fitted = fitted
        some = self._widest[False]
        steady = some.count, some.rows, *fitted[1:]
        if steady != self._steady:
            is_large = self._room() > theme.in_letters(LARGE_PX)
            self._steady, self._tried = steady, 0 if is_large else 1
        for tried, (scale, is_narrow) in list(enumerate(SCALES))[self._tried :]:
            self._tried = tried
            if self._fits(scale, is_narrow):
                break
        if factor != 1:
            scale, is_narrow = self._enlarged(factor) or (scale * factor, is_narrow)
        self._model.is_narrow = is_narrow
        widest, font = self._widest[is_narrow], scaled_font(scale)
        metrics = QFontMetrics(font, self)
        width, side = self._needed(scale, is_narrow)
        width = max(width, min((self._room() - side) // widest.count, 2 * width))
        self._set_fonts(font)
        across = self.horizontalHeader()
        across.setDefaultSectionSize(width)
        spare = self._room() - side - widest.count * width
        for column in range(widest.count):  # the last one ends at the frame
            is_wider = factor == 1 and column < spare < widest.count
            across.resizeSection(column, width + is_wider)
        self.verticalHeader().setDefaultSectionSize(widest.rows * metrics.height() + 6)
        self.verticalHeader().setFixedWidth(side)

    def _enlarged(self, factor: float) -> tuple[float, bool] | None:
        """Return the largest of enlarged letters with which all columns fit.

        None where they would not be large: then it is to scroll.
        """
        found = ((scale * factor, is_narrow) for scale, is_narrow in SCALES)
        large = ((scale, is_narrow) for scale, is_narrow in found if scale >= SCALES[0][0])
        return next((each for each in large if self._fits(*each)), None)

    def _fits(self, scale: float, is_narrow: bool) -> bool:
        width, side = self._needed(scale, is_narrow)
        return self._widest[is_narrow].count * width + side <= self._room()

    def _needed(self, scale: float, is_narrow: bool) -> tuple[int, int]:
        """Return how wide a column and the rows' headings are with these letters, in pixels."""
        widest, metrics = self._widest[is_narrow], QFontMetrics(scaled_font(scale), self)
        margin = 2 * self.style().pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin)
        width = max(map(metrics.horizontalAdvance, widest.inside)) + margin
        return width, max(map(metrics.horizontalAdvance, widest.beside)) + 8

    @property
    def _has_its_letters(self) -> bool:
        return self.font().pointSizeF() == self._letters.pointSizeF()

    def _set_fonts(self, font: QFont) -> None:
        self._letters = font
        for part in (self, self.horizontalHeader(), self.verticalHeader()):
            part.ensurePolished()
            part.setFont(font)  # of a header, too: what it takes over gives way to the theme's

    def _room(self) -> int:
        """Return the width inside the frame for all columns and the rows' headings, px."""
        return self.contentsRect().width() - 2

    def _longest_lines(self, count: int) -> list[str]:
        if count > FULL:
            number = "−1e−05" if self._model.is_narrow else "−1.234e−05"
            return [f"= {number}"] if self._model.has_lines else [number]
        texts = (self._model.text(row, column) for row in range(count) for column in range(count))
        return sorted({line for text in texts for line in text.split("\n")}, key=len)[-12:]


def widest_heading(rows: int) -> str:
    """Return the widest of usual headings beside rows that have so many lines of text."""
    return "↪ 000" if rows > 1 else "−00 ↪ 0"
