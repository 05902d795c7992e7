"""The pasting of text into the cells."""

from __future__ import annotations

from kernels.core.errors import BadJobError
from workbench.base.table_text import read_block, read_table, value_of
from workbench.panels.weights.weights_draft import WeightsDraft

Cells = list[tuple[int, int]]  # (row, column) of each


def pasted(text: str, drawing: WeightsDraft, cells: Cells) -> tuple[WeightsDraft, str]:
    """Return the drawing after `text` was pasted, and a sentence about it.

    A number goes into all the selected `cells`, a square of odd size takes the place of everything,
    and any other rectangle stands from the first of `cells` on, where there is room for it.
    Raises BadTextError where it is none of these.
    """
    if cells and drawing.size > 1 and value_of(text) is not None:
        for row, column in cells:
            drawing = drawing.with_cell(row, column, text)
        number = f"{len(cells)} cell{'s' if len(cells) != 1 else ''}"
        return drawing, f"Pasted a number into {number}."
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
