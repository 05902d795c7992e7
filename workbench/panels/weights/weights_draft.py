"""Content of the weights editor: cells as typed, divisor, offset."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kernels.core.errors import BadJobError
from kernels.sweeps.plan import Matrix
from workbench.base.numbers import plural
from workbench.base.table_text import Texts, compact, read_block, read_table, shortest, value_of

MAX_DIVISOR = 4096  # tried for weights that are fractions of it


@dataclass(frozen=True, slots=True)
class WeightsDraft:
    """Weights as they are typed; immutable."""

    cells: Texts  # as they were typed, square, of odd size
    divisor: str = "1"  # what all of them are divided by
    offset: str = "0"  # what is added to every filtered sample, as a part of white: "1/2", "-0.25"

    @property
    def size(self) -> int:
        """The number of cells along a side."""
        return len(self.cells)

    @property
    def divided_by(self) -> float | None:
        """The divisor; None where that is no number, or zero."""
        return value_of(self.divisor) or None

    @property
    def added(self) -> float | None:
        """The offset, from -1 to 1; None where that is no such number."""
        value = value_of(self.offset)
        return value if value is not None and abs(value) <= 1 else None

    @property
    def invalid(self) -> tuple[tuple[int, int], ...]:
        """(row, column) of each cell that is no number."""
        return tuple(
            (y, x)
            for y, row in enumerate(self.cells)
            for x, text in enumerate(row)
            if value_of(text) is None
        )

    @property
    def matrix(self) -> Matrix | None:
        """The weights: each cell over the divisor.

        None while a cell or the divisor is invalid, or a weight is beyond what float32 holds.
        """
        divisor = self.divided_by
        values = [[value_of(text) for text in row] for row in self.cells]
        if divisor is None or any(None in row for row in values):
            return None
        rows = tuple(tuple((value or 0.0) / divisor for value in row) for row in values)
        with np.errstate(over="ignore"):
            return rows if np.isfinite(np.array(rows).astype(np.float32)).all() else None

    @property
    def weights(self) -> NDArray[np.float32] | None:
        """The weights, (K, K) float32, rounded once; None where there is no matrix."""
        matrix = self.matrix
        return None if matrix is None else np.array(matrix, np.float32)

    def with_cell(self, row: int, column: int, text: str) -> WeightsDraft:
        return self.with_block(row, column, ((text,),))

    def with_block(self, row: int, column: int, block: Texts) -> WeightsDraft:
        """The drawing with `block` from (row, column) on, where it has to fit."""
        rows = [list(cells) for cells in self.cells]
        for y, texts in enumerate(block, row):
            rows[y][column : column + len(texts)] = [text.strip() for text in texts]
        return replace(self, cells=tuple(map(tuple, rows)))

    def transposed(self) -> WeightsDraft:
        return replace(self, cells=tuple(zip(*self.cells, strict=True)))

    def flipped_across(self) -> WeightsDraft:
        """The drawing with left and right swapped."""
        return replace(self, cells=tuple(row[::-1] for row in self.cells))

    def flipped_down(self) -> WeightsDraft:
        """The drawing with top and bottom swapped."""
        return replace(self, cells=self.cells[::-1])

    def rotated(self) -> WeightsDraft:
        """The drawing after a quarter turn clockwise."""
        return replace(self, cells=tuple(zip(*self.cells[::-1], strict=True)))

    def resized(self, size: int) -> WeightsDraft:
        """The drawing at this odd size: with zeros around it, or its middle alone."""
        by = (size - self.size) // 2
        if by <= 0:
            cut = slice(-by, self.size + by)
            return replace(self, cells=tuple(row[cut] for row in self.cells[cut]))
        side, empty = ("0",) * by, (("0",) * size,) * by
        return replace(self, cells=(*empty, *((*side, *row, *side) for row in self.cells), *empty))

    def normalised(self) -> WeightsDraft:
        """The drawing divided so that its weights add up to 1.

        Raises BadJobError where a cell is invalid, and where the sum is zero.
        """
        values = [value_of(text) for row in self.cells for text in row]
        if None in values:
            raise BadJobError("One cell is not a number yet, so there is no sum to divide by.")
        total = float(np.sum(np.array(values, np.float64)))
        largest = max(abs(value or 0.0) for value in values)
        if abs(total) <= 1e-12 * largest or total == 0:
            raise BadJobError("These weights add up to 0, which no divisor makes 1.")
        return replace(self, divisor=shortest(total))


def drawing_of(weights: NDArray[np.float32], offset: float = 0.0) -> WeightsDraft:
    """Cells with exactly these weights, (K, K).

    They are whole numbers over a divisor if there is one, so that 0.11111111 is 1 over 9.

    offset  a part of white; in 8-bit steps where that is shorter: "0.5", "128/255"
    """
    step = round(offset * 255)
    added = shortest(offset)
    if step / 255 == offset:
        added = min(added, f"{step}/255", key=len)
    if (divisor := whole_over(weights)) is None:  # str(): the fewest digits of this float32
        texts = ((str(value).removesuffix(".0") for value in row) for row in weights)
        return WeightsDraft(tuple(map(tuple, texts)), offset=added)
    cells = np.rint(weights.astype(np.float64) * divisor).astype(np.int64).tolist()
    return WeightsDraft(tuple(tuple(map(str, row)) for row in cells), str(divisor), added)


def whole_over(weights: NDArray[np.float32]) -> int | None:
    """A small divisor with which all `weights` are whole to the last bit, or None."""
    size = np.abs(weights[weights != 0]).astype(np.float64)
    if size.size == 0 or float(size.max()) > 1e6:
        return 1 if size.size == 0 else None
    for times in range(1, 5):
        divisor = round(times / float(size.min()))
        if divisor > MAX_DIVISOR:
            return None
        for candidate in (1, divisor):
            if candidate < 1:
                continue
            whole = np.rint(weights.astype(np.float64) * candidate)
            if np.array_equal((whole / candidate).astype(weights.dtype), weights):
                return candidate
    return None


def brightness_in_words(total: float) -> str:
    """The effect of weights with this sum: "brightens 16×"."""
    if abs(total - 1) < 1e-6:
        return "keeps the brightness"
    if total > 0:
        return f"brightens {compact(total, 4)}×" if total > 1 else f"darkens to {compact(total, 3)}"
    return "flat areas turn black" if total == 0 else "flat areas fall below black"


Cells = list[tuple[int, int]]  # (row, column) of each


def pasted(text: str, drawing: WeightsDraft, cells: Cells) -> tuple[WeightsDraft, str]:
    """The drawing after `text` was pasted, and a sentence about it.

    A number goes into all the selected `cells`, a square of odd size takes the place of everything,
    and any other rectangle goes from the first of `cells` on, if it fits.  Raises BadTextError.
    """
    if cells and drawing.size > 1 and value_of(text) is not None:
        for row, column in cells:
            drawing = drawing.with_cell(row, column, text)
        return drawing, f"Pasted a number into {plural(len(cells), 'cell')}."
    try:
        table = read_table(text)
    except BadJobError:
        block = read_block(text) if cells else None
        if block is None:
            raise
        (row, column), (height, width) = cells[0], (len(block), len(block[0]))
        if row + height > drawing.size or column + width > drawing.size:
            raise
        words = f"Pasted {height}×{width} numbers from row {row + 1}, column {column + 1} on."
        return drawing.with_block(row, column, block), words
    return WeightsDraft(table), f"Pasted {len(table)}×{len(table)} numbers."
