"""Ranges of sizes and parameters that filters share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from kernels.core.errors import BadJobError

ANY_ODD = range(1, 128, 2)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A named input of weights().

    low, high  the allowed range, both included; None for a parameter that is not a number
    """

    name: str
    title: str
    tip: str
    low: float | None = None
    high: float | None = None
    step: float = 0.1
    default: Any = None  # None: the filter works it out from its size

    def check(self, filter_title: str, value: Any) -> None:
        """Raise BadJobError unless `value` is in range."""
        if value is None or self.low is None or self.high is None:
            return
        if not (math.isfinite(value) and self.low <= value <= self.high):
            raise BadJobError(
                f"{filter_title}: {self.title.lower()} must be from {self.low:g} to "
                f"{self.high:g}, not {value:g}."
            )


SIGMA = Parameter(
    "sigma",
    "Sigma",
    "Standard deviation of the bell, in pixels. Left on automatic it follows the size.",
    low=0.1,
    high=64.0,
)
AMOUNT = Parameter(
    "amount",
    "Amount",
    "How much of the detail that the blur removed is added back on top.",
    low=0.0,
    high=10.0,
    default=1.0,
)
PERCENTILE = Parameter(
    "percentile",
    "Percentile",
    "Which of a window's samples is taken: 0 the least, 50 the middle one, 100 the greatest.",
    low=0.0,
    high=100.0,
    step=5.0,
    default=25.0,
)
DISK = Parameter(
    "is_disk",
    "Disk",
    "Only samples within a disk count, instead of the whole square.",
    low=0.0,
    high=1.0,
    step=1.0,
    default=False,
)
MATRIX = Parameter(
    "matrix",
    "Weights",
    "Rows of numbers, applied as drawn: the middle one stands on the pixel itself.",
)
