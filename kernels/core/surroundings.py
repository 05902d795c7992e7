"""A rectangle of a picture with the samples around it that its answer needs: a strip both ways.

See `row_strips`: of the edges those inside the whole picture come out wrong, as far in as the
filter reaches, and are cut off; at the whole picture's own edges the filter applies the border.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.borders import Span
from kernels.core.row_strips import RowStrip, strip_of_rows


@dataclass(frozen=True, slots=True)
class Surroundings:
    """A plan of what to read of a picture for a rectangle of it, and where that lies in it.

    rows, columns  along either axis, columns counted as rows are
    """

    rows: RowStrip
    columns: RowStrip

    @property
    def own(self) -> tuple[slice, slice]:
        """Return where the rectangle's rows and columns stand in the answer to what is read."""
        return self.rows.own, self.columns.own

    def read(self, part: Callable[[Span, Span], NDArray[Any]]) -> NDArray[Any]:
        """Return all of it, (rows, columns, C).

        part  gives a rectangle of the whole picture, by its rows and columns
        """
        bands = [
            [part(rows, columns) for columns in self.columns.spans] for rows in self.rows.spans
        ]
        if len(bands) == len(bands[0]) == 1:
            return bands[0][0]
        return np.concatenate([np.concatenate(band, axis=1) for band in bands])


def surroundings_of(
    rows: Span, columns: Span, size_hw: tuple[int, int], reach: int, border: str
) -> Surroundings:
    """Return what the answer for a rectangle needs.

    size_hw  height and width of the whole picture
    reach    how many pixels away a sample still counts, at least: `Job.reach`
    """
    down, across = (
        strip_of_rows(*span, size, reach, border)
        for span, size in zip((rows, columns), size_hw, strict=True)
    )
    return Surroundings(down, across)
