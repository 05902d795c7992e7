"""The sentences and numbers that explain how one sample came about."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kernels.core.borders import OUTSIDE
from kernels.oracle.explain import Explained

RULES = {
    "zero": "zero: what lies beyond counts as 0",
    "clamp": "clamp: the nearest pixel of the edge stands in",
    "reflect": "reflect: the picture is folded back at its edge, the edge's pixel twice",
    "mirror": "mirror: the picture is folded back around the edge's pixel",
    "wrap": "wrap: the opposite edge goes on",
}
NOTHING = "–"
STANDS_IN, ZERO = "↪", "∅"


def exact(value: float) -> str:
    """Return a number with twelve significant digits, nearly all that a float64 has."""
    return minus(f"{value + 0.0:.12g}")  # + 0.0 turns -0 into 0


def short(value: float) -> str:
    """Return a number for a cell of a table; samples of integer types whole."""
    return minus(f"{value:.0f}" if 1000 <= abs(value) < 1e6 else f"{value + 0.0:.4g}")


def stored(value: Any) -> str:
    """Return a sample as text, with the digits that its own type holds."""
    if not isinstance(value, np.floating):
        return minus(str(int(value)))
    return minus(f"{float(value):.9g}" if value.dtype == np.float32 else f"{float(value):.5g}")


def sentence(found: Explained, border: str) -> str:
    """Describe what is added up, and what the border has to do with it."""
    if found.is_alpha:
        return "Alpha is not filtered: it passes through as it is."
    ksize = len(found.rows)
    begin = f"{ksize} × {ksize} = {ksize**2:,} neighbours times their weights, added up."
    if ksize == 1:
        begin = "The sample itself times the only weight."
    if not found.beyond:
        return f"{begin} None of them lies beyond the picture."
    verb = "lies" if found.beyond == 1 else "lie"
    return f"{begin} {found.beyond:,} of them {verb} beyond the picture. Border {RULES[border]}."


def slopes_sentence(found: Explained) -> str:
    """Describe what follows the weights of a gradient; empty for other filters."""
    return (
        "The same for the eight pixels around; Sobel's derivatives gx and gy of those nine sums, "
        "and the length √(gx² + gy²)."
        if found.slopes is not None
        else ""
    )


def place(position: int, source: int, is_beyond: bool) -> str:
    """Return a row or column as text: its position, and what stands in for it: "−2 ↪ 1"."""
    if not is_beyond:
        return str(position)
    number = minus(str(position))
    return f"{number} {ZERO}" if source == OUTSIDE else f"{number} {STANDS_IN} {source}"


def cell_tip(found: Explained, row: int, column: int, border: str) -> str:
    """Describe one neighbour: which pixel it is, and its product."""
    x, y = (minus(str(int(each))) for each in (found.columns[column], found.rows[row]))
    from_x, from_y = int(found.from_columns[column]), int(found.from_rows[row])
    product = (
        f"{exact(found.samples[row, column])} × {exact(found.weights[row, column])} = "
        f"{exact(found.products[row, column])}"
    )
    if not (found.beyond_rows[row] or found.beyond_columns[column]):
        return f"Pixel x {x}, y {y}\n{product}"
    if OUTSIDE in (from_x, from_y):
        return f"x {x}, y {y} is beyond the picture and counts as 0\n{product}"
    return f"x {x}, y {y} is beyond the picture; {border} reads x {from_x}, y {from_y}\n{product}"


def difference(found: Explained, value: Any) -> str:
    """Compare an implementation's value with the exact one, in words."""
    if math.isnan(value) and math.isnan(found.value):
        return "none: both are NaN"
    if float(value) == found.value:
        return "0: exactly that"
    if not (math.isfinite(float(value)) and math.isfinite(found.value)):
        return f"none can be told: {exact(float(value))} where {exact(found.value)} would be exact"
    off = signed(float(value) - found.value)
    if isinstance(value, np.floating):
        return f"{off} from the exact value"
    whole = int(value) - int(found.rounded)
    steps = minus(f"{whole:+d}") if whole else "0"
    return f"{off} from the exact value, {steps} from its rounding"


def is_cut_off(found: Explained) -> bool:
    """Return whether the exact value lies beyond the range of its integer type."""
    if isinstance(found.rounded, np.floating) or not math.isfinite(found.value):
        return False
    return abs(float(found.rounded) - found.value) > 0.5


def signed(value: float) -> str:
    """Return a number with its sign and three digits: "+1.2e−05"."""
    return minus(f"{value:+.3g}")


def minus(number: str) -> str:
    """Return a number with a real minus sign, as wide as a plus, instead of a hyphen."""
    return number.replace("-", "−")
