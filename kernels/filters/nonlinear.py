"""Filters that are no weighted sum: by a window's order, or by how alike its pixels are."""

from __future__ import annotations

from functools import partial
from typing import Any

from kernels.core.nonlinear import KINDS, Bilateral, Guided, Morphology, NonLocalMeans, Rank
from kernels.filters import Filter, gaussian
from kernels.filters.parameters import (
    ANY_ODD,
    DISK,
    EPSILON,
    PATCH,
    PERCENTILE,
    SIGMA,
    SIGMA_COLOUR,
    STRENGTH,
)


def _bilateral(ksize: int, *, sigma: float | None = None, sigma_colour: float) -> Bilateral:
    return Bilateral(ksize, sigma or gaussian.default_sigma(ksize), sigma_colour)


def _non_local_means(ksize: int, *, patch: float, strength: float) -> NonLocalMeans:
    return NonLocalMeans(ksize, int(patch), strength)


_order = partial(Filter, group="Order", has_weights=False)
_smooth = partial(Filter, group="Blur", has_weights=False)


def _one_of(key: str, title: str, order: int, make: Any, idea: str) -> Filter:
    return _order(key, title, order, ANY_ODD, (DISK,), make, idea=idea)


IDEAS = (
    ("Opening", "Bright specks that the window does not fit into go, all else keeps its size."),
    ("Closing", "Dark specks that the window does not fit into go, all else keeps its size."),
    ("Morphological gradient", "The greatest of a window's samples less the least: edges."),
    ("Top-hat", "The bright specks that an opening takes away."),
    ("Black-hat", "The dark specks that a closing takes away."),
)
FILTERS = (
    _smooth(
        *("bilateral", "Bilateral", 16, range(3, 64, 2), (SIGMA, SIGMA_COLOUR), _bilateral),
        automatic_sigma=gaussian.default_sigma,
        idea="A blur of what is near and alike: skin and sky get smooth, edges stay.",
        usual_size=9,
    ),
    _smooth(
        *("non_local_means", "Non-local means", 17, range(3, 42, 2), (PATCH, STRENGTH)),
        make=_non_local_means,
        idea="The mean of pixels whose surroundings look alike: noise goes, texture stays.",
        usual_size=21,
    ),
    _smooth(
        *("guided", "Guided", 18, range(3, 128, 2), (EPSILON,), Guided),
        idea="Smooth where a window varies little, as it is where it varies much.",
        usual_size=9,
    ),
    _one_of(
        *("median", "Median", 50, partial(Rank, percentile=50.0)),
        idea="The middle one of a window's samples: single dots of noise go, edges stay.",
    ),
    _order(
        *("percentile", "Percentile", 51, ANY_ODD, (PERCENTILE, DISK), Rank),
        idea="The sample that so many per cent of a window are below.",
    ),
    _one_of(
        *("minimum", "Minimum (erosion)", 52, partial(Rank, percentile=0.0)),
        idea="The least of a window's samples: dark parts grow.",
    ),
    _one_of(
        *("maximum", "Maximum (dilation)", 53, partial(Rank, percentile=100.0)),
        idea="The greatest of a window's samples: bright parts grow.",
    ),
    *(
        _one_of(
            "morphological_gradient" if kind == "gradient" else kind,
            title,
            54 + number,
            partial(Morphology, kind=kind),
            idea,
        )
        for number, (kind, (title, idea)) in enumerate(zip(KINDS, IDEAS, strict=True))
    ),
)
