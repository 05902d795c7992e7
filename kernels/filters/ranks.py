"""Filters that take one of a window's samples, by its place in their order."""

from __future__ import annotations

from functools import partial

from kernels.core.step import Rank
from kernels.filters import Filter
from kernels.filters.parameters import ANY_ODD, DISK, PERCENTILE


def _rank(ksize: int, *, percentile: float, is_disk: bool = False) -> Rank:
    return Rank(ksize, percentile, bool(is_disk))


def _percentile(ksize: int, *, percentile: float = 25.0, is_disk: bool = False) -> Rank:
    return _rank(ksize, percentile=percentile, is_disk=is_disk)


_order = partial(Filter, group="Order", has_weights=False)
FILTERS = (
    _order(
        *("median", "Median", 50, ANY_ODD, (DISK,), partial(_rank, percentile=50.0)),
        idea="The middle one of a window's samples: single dots of noise go, edges stay.",
    ),
    _order(
        *("percentile", "Percentile", 51, ANY_ODD, (PERCENTILE, DISK), _percentile),
        idea="The sample that so many per cent of a window are below.",
    ),
    _order(
        *("minimum", "Minimum (erosion)", 52, ANY_ODD, (DISK,), partial(_rank, percentile=0.0)),
        idea="The least of a window's samples: dark parts grow.",
    ),
    _order(
        *("maximum", "Maximum (dilation)", 53, ANY_ODD, (DISK,), partial(_rank, percentile=100.0)),
        idea="The greatest of a window's samples: bright parts grow.",
    ),
)
