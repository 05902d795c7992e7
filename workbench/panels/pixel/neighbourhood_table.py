"""The neighbourhood of one pixel as a table: samples, weights, products."""

from __future__ import annotations

import math
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
    Signal,
)
from PySide6.QtGui import QBrush, QColor, QFontMetricsF, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QScrollArea, QSizePolicy, QTableView

from kernels.core.borders import OUTSIDE
from kernels.oracle.explain import Explained
from workbench.base import theme
from workbench.base.background import Throttle
from workbench.base.plain_text import tip_text
from workbench.panels.pixel import pixel_words
from workbench.widgets.buttons import described
from workbench.widgets.keyboard import ARROWS
from workbench.widgets.lazy_panel import MARGINS
from workbench.widgets.letters import factor_of
from workbench.widgets.tile import dress_table, scaled_font

What = Literal["all", "samples", "weights", "products", "derivative"]
Index = QModelIndex | QPersistentModelIndex
LARGE_PX = 420  # tables in a wider panel may have the largest letters
# Of the program's font size, and whether numbers are narrow: the first that fits is taken.
SCALES = ((1.2, False), (0.95, False), (0.85, False), (0.85, True), (0.72, True), (0.6, True))
WIDE, NARROW = "= 0.0001234", "0" * pixel_words.NARROW  # as wide as numbers are, as a rule
AROUND_PX = 6  # of a number
ENOUGH_PX = 370  # a table that is higher scrolls by itself, in usual letters
WHOLE = 7  # rows that are not
FAR = 10  # pixels per arrow key with Shift
TIP = "Arrow keys: next pixel; with Shift ten further.\nEnter: this pixel, in a list a step before."


class Neighbours(QAbstractTableModel):
    """A model of an `Explained`, one cell for each neighbour."""

    def __init__(self) -> None:
        super().__init__()
        self.found: Explained | None = None
        self._border = ""
        self._what: What = "all"
        self._largest = 1.0
        self.colors = theme.LIGHT
        self.is_narrow = False
        self.breaks = [False, False]  # whether headings have two lines: beside rows, above columns

    def show_pixel(self, found: Explained | None, border: str, what: What) -> None:
        """Show another pixel; None empties the table."""
        self.beginResetModel()
        self.found, self._border, self._what = found, border, what
        self.breaks[0] = what in ("all", "derivative")  # as cells have
        tinted = np.empty(0) if found is None else self._tinted(found)
        sizes = np.abs(tinted[np.isfinite(tinted)])
        self._largest = float(sizes.max(initial=0.0)) or 1.0
        self.endResetModel()

    def rowCount(self, _parent: Index = QModelIndex()) -> int:  # noqa: N802, B008
        return 0 if self.found is None else len(self.found.rows)

    def columnCount(self, _parent: Index = QModelIndex()) -> int:  # noqa: N802, B008
        return self.rowCount()

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        found = self.found
        if found is None or not index.isValid():
            return None
        at = index.row(), index.column()
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self.text(*at, self.is_narrow)
            case Qt.ItemDataRole.ToolTipRole:
                return tip_text(pixel_words.cell_tip(found, *at, self._border))
            case Qt.ItemDataRole.BackgroundRole:
                return self._brush(found, *at)
            case Qt.ItemDataRole.TextAlignmentRole:
                return Qt.AlignmentFlag.AlignCenter
        return None

    def headerData(  # noqa: N802
        self, section: int, way: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        found = self.found
        if found is None or role != Qt.ItemDataRole.DisplayRole:
            return None
        is_above = way == Qt.Orientation.Horizontal
        parts = found.rows, found.from_rows, found.beyond_rows
        if is_above:
            parts = found.columns, found.from_columns, found.beyond_columns
        position, source, is_beyond = (each[section] for each in parts)
        text = pixel_words.place(int(position), int(source), bool(is_beyond))
        return text.replace(" ", "\n", 1) if self.breaks[is_above] else text

    @property
    def widest(self) -> str:
        """As many digits as the places have, and three at least."""
        assert self.found is not None
        return "0" * max(3, *(len(str(int(each))) for each in self.found.rows))

    def text(self, row: int, column: int, is_narrow: bool) -> str:
        """Write a cell of a table that is not empty."""
        found = self.found
        assert found is not None
        write = pixel_words.narrow if is_narrow else pixel_words.short
        sample, weight, product = (
            write(float(each[row, column]))
            for each in (found.samples, found.weights, found.products)
        )
        return {
            "samples": sample,
            "weights": weight,
            "products": product,
            "derivative": f"{sample} × {weight}\n= {product}",
            "all": "\n".join((sample, weight, product))
            if is_narrow
            else f"{sample}\n× {weight}\n= {product}",
        }[self._what]

    def _tinted(self, found: Explained) -> NDArray[np.float64]:
        """The numbers, (K, K), that cells are tinted by."""
        usual = found.products if found.apart is None else found.weights  # which say what is alike
        what = "weights" if isinstance(found.filter, pixel_words.ORDER) else self._what
        return {"samples": found.samples, "weights": found.weights}.get(what, usual)

    def _brush(self, found: Explained, row: int, column: int) -> QBrush | None:
        """A tint by sign and size, striped for neighbours beyond the picture."""
        value = float(self._tinted(found)[row, column])
        share = min(abs(value) / self._largest, 1.0) if value == value else 0.0  # NaN has no size
        color = QColor(self.colors.series[0 if value >= 0 else 1])
        color.setAlpha(round(20 + 90 * share))
        if found.beyond_rows[row] or found.beyond_columns[column]:
            color.setAlpha(80)
            return QBrush(color, Qt.BrushStyle.BDiagPattern)
        return QBrush(color) if share > 0 else None


class NeighbourTable(QTableView):
    """The view of `Neighbours`; arrow keys emit `stepped(across, down)`, in pixels.

    `followed(x, y)`: a cell was double-clicked, or Enter pressed for the middle; what that reads.
    """

    stepped = Signal(int, int)
    followed = Signal(int, int)

    def __init__(self, name: str, title: str) -> None:
        super().__init__()
        described(self, name, title, TIP)
        self.doubleClicked.connect(lambda cell: self._follow(cell.row(), cell.column()))
        self.area: QScrollArea | None = None  # that scrolls the table
        self._model = Neighbours()
        self._letters = self.font()
        # At once, the table would get the letters of its panel after its own.
        self._later = Throttle(0, self._fit, self)
        self.setModel(self._model)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTabKeyNavigation(False)
        dress_table(self, "Columns of the picture", "Rows of the picture", 8)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)

    def show_pixel(self, found: Explained | None, border: str, what: What) -> None:
        """Show another pixel, its own cell in the middle where the size has changed."""
        old_size = self._model.rowCount()
        if found is None and old_size == 0:
            return  # as of most filters, which have no second table
        self._model.colors = theme.colors(self.palette())
        self._model.show_pixel(found, border, what)
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
        self.updateGeometry()  # or its last row is cut

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and self.font() != self._letters:
            self._later.start()

    def _follow(self, row: int, column: int) -> None:
        found = self._model.found
        if found is not None and OUTSIDE not in (found.from_rows[row], found.from_columns[column]):
            self.followed.emit(int(found.from_columns[column]), int(found.from_rows[row]))

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._follow(*(self._model.rowCount() // 2,) * 2)
            return
        if (step := ARROWS.get(event.key())) is None:
            super().keyPressEvent(event)
            return
        far = FAR if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1
        self.stepped.emit(step[0] * far, step[1] * far)

    def sizeHint(self) -> QSize:  # noqa: N802
        across, down = self.horizontalHeader(), self.verticalHeader()
        frame = 2 * self.frameWidth()
        width = down.width() + across.length() + frame
        bar = self.horizontalScrollBar().sizeHint().height() if width > self.width() else 0
        return QSize(width, across.height() + down.length() + frame + bar)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        # As high as 7×7 cells, or all of them: a lower one would be hard to read.
        return QSize(120, min(self.sizeHint().height(), theme.in_letters(ENOUGH_PX)))

    def _fit(self) -> None:
        """Choose the largest font in which all columns fit the widest numbers there may be."""
        if not (count := self._model.rowCount()):
            return
        beside = f"↪ {self._model.widest}"  # as if a pixel were beyond the edge
        whole = f"{self._model.widest} {beside}"
        beside = beside if self._model.breaks[0] else whole
        # As with a scroll bar: that would come for large letters, and go for small, without end.
        around = MARGINS.left() + MARGINS.right() + self.width() - self.contentsRect().width()
        bar = self.verticalScrollBar().sizeHint().width()
        bars = bar if count <= WHOLE else 2 * bar  # the panel's, and its own
        room = (self.area or self).width() - around - bars - 2
        factor, scales = factor_of(self), SCALES[room <= theme.in_letters(LARGE_PX) :]
        # Before a number is cut, large letters become no larger than usual.
        usual = min(factor, 1.0) * SCALES[-1][0], True
        for scale, is_narrow in (*((factor * each, how) for each, how in scales), usual):
            self._letters = scaled_font(scale)
            metrics = QFontMetricsF(self._letters, self)
            widest = metrics.horizontalAdvance(NARROW if is_narrow else WIDE)
            width = math.ceil(widest) + AROUND_PX
            side = metrics.horizontalAdvance(beside) + 8
            if fits := count * width + side <= room:
                break
        column_px = (room - side) / count if fits else width
        self._model.breaks[1] = metrics.horizontalAdvance(whole) + AROUND_PX > column_px
        self._model.is_narrow = is_narrow
        across, down = self.horizontalHeader(), self.verticalHeader()
        # What is inherited gives way to the theme's, and a header paints with its viewport's.
        for part in (self, across, across.viewport(), down, down.viewport()):
            part.ensurePolished()
            part.setFont(self._letters)
        mode = QHeaderView.ResizeMode.Stretch if fits else QHeaderView.ResizeMode.Fixed
        across.setSectionResizeMode(mode)
        across.setDefaultSectionSize(width)
        if not fits:  # those that were stretched would stay so
            for column in range(count):
                across.resizeSection(column, width)
        lines, line_px = self._model.text(0, 0, is_narrow).count("\n") + 1, metrics.lineSpacing()
        down.setDefaultSectionSize(math.ceil(lines * line_px) + AROUND_PX // 2)
        down.setFixedWidth(math.ceil(side))
        high = 1 + self._model.breaks[1]  # also where no heading here needs it
        across.setFixedHeight(math.ceil(high * line_px) + AROUND_PX // 2)
