"""Ranges of sizes and parameters that filters share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from kernels.core.errors import BadJobError

ANY_ODD = range(1, 128, 2)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A named input of a filter, or of its step.

    low, high  the allowed range, both included; None for a parameter that is not a number
    of_white   the power of white that it is a part of; 0: it is no part of it
    """

    name: str
    title: str
    tip: str
    low: float | None = None
    high: float | None = None
    step: float = 0.1
    default: Any = None  # None: the filter works it out from its size
    is_of_step: bool = False  # of what follows the filter, which does not take it
    of_white: int = 0

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
SIGMA_COLOUR = Parameter(
    "sigma_colour",
    "Colour sigma",
    "Colours that differ by 3 times this part of white, summed over the channels, stay apart.",
    low=0.001,
    high=10.0,
    step=0.02,
    default=0.1,
    of_white=1,
)
PATCH = Parameter(
    "patch",
    "Patch",
    "Side of the patches that are compared, in pixels, odd.",
    low=1.0,
    high=31.0,
    step=2.0,
    default=7,
)
STRENGTH = Parameter(
    "strength",
    "Strength",
    "How much patches may differ that are averaged, as a part of white: about the noise.",
    low=0.001,
    high=10.0,
    step=0.01,
    default=0.04,
    of_white=1,
)
EPSILON = Parameter(
    "epsilon",
    "Epsilon",
    "What varies less is smoothed, as a part of white squared: 0.01 is a contrast of 0.1.",
    low=1e-6,
    high=10.0,
    step=0.005,
    default=0.01,
    of_white=2,
)
THRESHOLD = Parameter(
    "threshold",
    "Threshold",
    "Detail below this part of white stays as it is, such as noise; more is weakened by as much.",
    low=0.0,
    high=1.0,
    step=0.01,
    default=0.0,
    is_of_step=True,
    of_white=1,
)
MATRIX = Parameter(
    "matrix",
    "Weights",
    "Rows of numbers, applied as drawn: the middle one stands on the pixel itself.",
)
# Those that are numbers, in the order in which they are said.
NUMBERS = (SIGMA, AMOUNT, PERCENTILE, SIGMA_COLOUR, PATCH, STRENGTH, EPSILON, THRESHOLD)


def option_of(name: str) -> str:
    """The command line's word for a parameter: "--sigma-colour"."""
    return f"--{name.removeprefix('is_').replace('_', '-')}"
