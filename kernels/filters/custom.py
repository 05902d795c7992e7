"""Custom weights: the numbers that the user typed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kernels.core.errors import BadJobError
from kernels.filters import Filter
from kernels.filters.parameters import ANY_ODD, MATRIX


def weights(ksize: int, *, matrix: Sequence[Sequence[float]] | None = None) -> NDArray[np.float32]:
    """`matrix` as (ksize, ksize) float32; raises BadJobError if it has another size.

    matrix  rows of finite numbers; None: the identity
    """
    if matrix is None:
        return np.pad(np.ones((1, 1), np.float32), ksize // 2)
    if any(len(row) != len(matrix) for row in matrix):
        raise BadJobError("Custom weights must have as many columns as rows.")
    drawn = _as_float32(matrix)
    if drawn.shape != (ksize, ksize):
        raise BadJobError(f"Custom weights are {len(matrix)}×{len(matrix)}, not {ksize}×{ksize}.")
    if not np.isfinite(drawn).all():
        raise BadJobError("Custom weights must be finite numbers.")
    return drawn


def parse(text: str) -> tuple[tuple[float, ...], ...]:
    """Parse rows of numbers.

    Rows end at a newline or semicolon, numbers at a space or comma; 1/9 is a number.
    Raises BadJobError unless they form a square of odd size from 1 to 127, all finite.
    """
    lines = [line.replace(",", " ").split() for line in text.replace(";", "\n").splitlines()]
    rows = tuple(tuple(map(_number, line)) for line in lines if line)
    if not rows:
        raise BadJobError("Write rows of numbers, such as 0 1 0; 1 -4 1; 0 1 0.")
    size = len(rows)
    if any(len(row) != size for row in rows):
        raise BadJobError("Weights must form a square: as many columns as rows.")
    if size not in ANY_ODD:
        raise BadJobError(f"Weights must have an odd size from 1 to 127, not {size}.")
    if not np.isfinite(_as_float32(rows)).all():
        raise BadJobError("Weights must be finite numbers.")
    return rows


def _number(word: str) -> float:
    try:
        numbers = [float(part) for part in word.split("/")]
        above, below = numbers if len(numbers) > 1 else (*numbers, 1.0)
        return above / below
    except (ValueError, ZeroDivisionError):
        raise BadJobError(
            f"'{word}' is not a number; write numbers such as 0.25 or 1/9, separated by spaces."
        ) from None


def _as_float32(rows: Sequence[Sequence[float]]) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):  # too large a number becomes infinite, and is rejected as such
        return np.array(rows, np.float32)


IDEA = "The numbers that the user typed."
FILTERS = (Filter("custom", "Custom weights", 90, ANY_ODD, (MATRIX,), weights, idea=IDEA),)
