"""Explain one sample of the output: neighbours, weights, products, sum; or their order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels.core.borders import OUTSIDE, counted, read, source_indices
from kernels.core.job import Job
from kernels.core.nonlinear import Rank
from kernels.oracle.checking import taps_of_tile
from kernels.oracle.nonlinear import Floats
from kernels.oracle.reference import correlate, filtered, to_pixel_type

SOBEL_X: Floats = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], np.float64)
AT_ONCE = 10_000_000  # products that may be worked out while the pointer waits


@dataclass(frozen=True, slots=True, eq=False)
class Slopes:
    """The gradient's part of an explanation: what follows the weights."""

    weighted: Floats  # (3, 3) of the weighted picture around the pixel, beyond its edges continued
    gx: float  # Sobel's derivatives of that
    gy: float
    length: float  # √(gx² + gy²)


@dataclass(frozen=True, slots=True, eq=False)
class Explained:
    """One sample of the output and how it comes about."""

    y: int
    x: int
    channel: int
    rows: NDArray[np.intp]  # (K,) where its neighbours stand; may be beyond the picture
    columns: NDArray[np.intp]
    from_rows: NDArray[np.intp]  # (K,) where those are read, or OUTSIDE where samples are zero
    from_columns: NDArray[np.intp]
    beyond_rows: NDArray[np.bool_]  # (K,) whether those are beyond the picture
    beyond_columns: NDArray[np.bool_]
    samples: Floats  # (K, K) the neighbours, zero OUTSIDE
    weights: Floats  # (K, K); of a rank 1 for the sample that is taken, a half each for two
    products: Floats  # (K, K)
    total: float  # their sum; of alpha the sample itself, which passes through
    offset: float  # added to that, as the float32 that it is given as; 0 for alpha
    slopes: Slopes | None  # None where no gradient follows
    rounded: Any  # the output in the picture's type: what an exact implementation would give
    is_alpha: bool  # whether the sample passes through untouched
    ordered: Floats | None = None  # of a rank: the samples that count, in their order
    taken: tuple[int, int] = (0, 0)  # which of these, from 0; two whose mean it is, or one twice

    @property
    def value(self) -> float:
        """The output before rounding: sum plus offset, or the gradient's length."""
        return self.slopes.length if self.slopes is not None else self.total + self.offset

    @property
    def beyond(self) -> int:
        """Neighbours beyond the picture."""
        return int((self.beyond_rows[:, None] | self.beyond_columns).sum())


def explain_pixel(job: Job, y: int, x: int, channel: int) -> Explained:
    """Explain what `job` asks for in one place, whatever the implementation.

    y, x, channel  inside the picture; IndexError else
    """
    if not (0 <= y < job.height and 0 <= x < job.width and 0 <= channel < job.channels):
        raise IndexError(f"there is no sample at x {x}, y {y}, channel {channel}")
    spans = (y - job.radius, y + job.radius + 1), (x - job.radius, x + job.radius + 1)
    samples = read(job.picture, job.border, *spans)[..., channel].astype(np.float64)
    around, order = _around(job, y, x, job.radius), Order(None, (0, 0))
    if isinstance(job.filter, Rank):
        order, weights = _order(job, samples, around)
    else:
        weights = job.correlation.weights.astype(np.float64)
    is_alpha = job.has_alpha and channel == job.channels - 1
    with np.errstate(invalid="ignore", over="ignore"):
        products = weights * samples
        # One after the other from the first on, as the oracle; NumPy's own sum goes by pairs.
        total = float(np.add.accumulate(products.ravel())[-1])
    if is_alpha:
        total = float(job.picture[y, x, channel])
    slopes = _slopes(job, y, x, channel) if job.has_length and not is_alpha else None
    offset = 0.0 if is_alpha or not job.has_weights else float(np.float32(job.correlation.offset))
    value = slopes.length if slopes is not None else total + offset
    return Explained(
        *(y, x, channel),
        **around,
        samples=samples,
        weights=weights,
        products=products,
        total=total,
        offset=offset,
        slopes=slopes,
        rounded=to_pixel_type(np.array(value), job.picture.dtype)[()],
        is_alpha=is_alpha,
        ordered=order.samples,
        taken=order.taken,
    )


class Order(NamedTuple):
    """The samples of a window in their order, and which of them are taken."""

    samples: Floats | None
    taken: tuple[int, int]


def _order(job: Job, samples: Floats, around: dict[str, Any]) -> tuple[Order, Floats]:
    """The order of the samples that count, and the share that each has in what is taken."""
    rows, columns = around["rows"], around["columns"]
    down = counted(rows[0], rows[-1] + 1, job.height, job.border)
    counts = job.rank.window & down[:, np.newaxis]
    counts &= counted(columns[0], columns[-1] + 1, job.width, job.border)
    places = np.flatnonzero(counts)
    places = places[np.argsort(samples.ravel()[places], kind="stable")]
    low, high = (int(each) for each in job.rank.ranks(np.array(len(places))))
    weights = np.zeros(samples.size)
    weights[places[low]] += 0.5
    weights[places[high]] += 0.5
    return Order(samples.ravel()[places], (low, high)), weights.reshape(samples.shape)


def value_at(job: Job, y: int, x: int, at_once: int = AT_ONCE) -> Floats | None:
    """What all steps of `job` give at a pixel, (1, 1, C), not rounded; None: it takes too long."""
    is_long = taps_of_tile(job, 1, 1) > at_once
    return None if is_long else filtered(job, (y, y + 1), (x, x + 1))


def derivative(job: Job, found: Explained, axis: Literal["x", "y"]) -> Explained:
    """Explain one derivative of a `found` gradient: weighted pixels times Sobel's weights."""
    slopes = found.slopes
    assert slopes is not None
    weights = SOBEL_X if axis == "x" else SOBEL_X.T
    with np.errstate(invalid="ignore", over="ignore"):
        products = weights * slopes.weighted
    return replace(
        found,
        **_around(job, found.y, found.x, 1),
        samples=slopes.weighted,
        weights=weights,
        products=products,
        total=slopes.gx if axis == "x" else slopes.gy,
        slopes=None,
    )


def _around(job: Job, y: int, x: int, radius: int) -> dict[str, Any]:
    """Positions around a sample, and the rows and columns that they are read from."""
    rows, columns = (np.arange(at - radius, at + radius + 1) for at in (y, x))
    return {
        "rows": rows,
        "columns": columns,
        "from_rows": source_indices(rows[0], rows[-1] + 1, job.height, job.border),
        "from_columns": source_indices(columns[0], columns[-1] + 1, job.width, job.border),
        "beyond_rows": (rows < 0) | (rows >= job.height),
        "beyond_columns": (columns < 0) | (columns >= job.width),
    }


def _slopes(job: Job, y: int, x: int, channel: int) -> Slopes:
    """The slopes of the weighted picture, which is continued from its own values."""
    around, weighted = _around(job, y, x, 1), np.zeros((3, 3))
    for j, row in enumerate(map(int, around["from_rows"])):
        for i, column in enumerate(map(int, around["from_columns"])):
            if OUTSIDE not in (row, column):
                place = (row, row + 1), (column, column + 1)
                one = correlate(job.picture, job.correlation.weights, job.border, *place)
                weighted[j, i] = one[0, 0, channel]
    with np.errstate(invalid="ignore", over="ignore"):
        along_y = weighted[0] + 2 * weighted[1] + weighted[2]
        along_x = weighted[:, 0] + 2 * weighted[:, 1] + weighted[:, 2]
        gx, gy = along_y[2] - along_y[0], along_x[2] - along_x[0]
        length = np.sqrt(gx * gx + gy * gy)  # of a single number ** may be an ulp off
    return Slopes(weighted, float(gx), float(gy), float(length))
