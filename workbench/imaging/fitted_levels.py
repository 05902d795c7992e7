"""Levels that span the values which pictures really have."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.imaging.display_mapping import NegativeDisplay

HELD = 99.5  # per cent of a result around zero: its few largest values would hide all others
MAX_SAMPLES = 1 << 18  # looked at of such a result, evenly apart: it is shown many times a second

Levels = tuple[float, float]


def spanning(*pictures: NDArray[Any]) -> Levels | None:
    """Return the lowest and highest finite value of all pictures, alpha left out.

    None where there is only one value, or none that is finite.
    """
    spans = [_span(each) for each in map(_finite, pictures) if each.size]
    if not spans:
        return None
    low, high = min(low for low, _ in spans), max(high for _, high in spans)
    return (low, high) if low < high else None


def around_zero(samples: NDArray[Any], display: NegativeDisplay) -> Levels | None:
    """Return levels that hold HELD per cent of what is not zero in a result around zero.

    None where all of it is zero.
    """
    apart = math.isqrt(samples.size // MAX_SAMPLES) + 1
    sizes = np.abs(_finite(samples[::apart, ::apart])).ravel()
    sizes = sizes[sizes > 0]
    most = (
        float(np.percentile(sizes, HELD, method="inverted_cdf"))
        if sizes.size
        else _furthest(samples)
    )
    if most == 0:
        return None
    return (0.0, most) if display in ("clip", "absolute") else (-most, most)


def _furthest(samples: NDArray[Any]) -> float:
    """Return the finite value furthest from zero, alpha left out."""
    low, high = _span(finite) if (finite := _finite(samples)).size else (0.0, 0.0)
    return max(abs(low), abs(high))


def _finite(samples: NDArray[Any]) -> NDArray[Any]:
    colours = samples[..., :-1] if samples.shape[2] in (2, 4) else samples
    return colours[np.isfinite(colours)] if colours.dtype.kind == "f" else colours


def _span(values: NDArray[Any]) -> Levels:
    return float(values.min()), float(values.max())
