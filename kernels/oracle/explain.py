"""Explain one sample of the output: neighbours, weights, products, sum; or what is in its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from kernels.core.borders import OUTSIDE, counted, read, source_indices
from kernels.core.errors import BadJobError
from kernels.core.job import Job
from kernels.core.nonlinear import CUT, Bilateral, Guided, Morphology, Rank, Window
from kernels.core.step import Correlation, Filter, Length
from kernels.oracle.checking import taps_of_tile
from kernels.oracle.nonlinear import (
    Floats,
    Place,
    first_extremes,
    guided_factors,
    guided_means,
    output,
)
from kernels.oracle.reference import correlate, filtered, to_pixel_type

SOBEL_X: Floats = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], np.float64)
AT_ONCE = 10_000_000  # products that may be worked out while the pointer waits
MAX_OF_TWO = 31  # the largest window of a filter that looks at windows of windows, likewise
HEAVIEST = 5  # neighbours that are told by themselves


@dataclass(frozen=True, slots=True, eq=False)
class Slopes:
    """The gradient's part of an explanation: what follows the weights."""

    weighted: Floats  # (3, 3) of the weighted picture around the pixel, beyond its edges continued
    gx: float  # Sobel's derivatives of that
    gy: float
    length: float  # √(gx² + gy²)


class Extreme(NamedTuple):
    """The least or the greatest sample of a window, and the place that it is read from."""

    value: float
    y: int  # OUTSIDE: it is beyond the picture
    x: int


@dataclass(frozen=True, slots=True, eq=False)
class Explained:
    """One sample of the output and how it comes about.

    samples  (K, K) the neighbours, zero OUTSIDE; of two extremes one after the other, what the
             first gives there
    weights  (K, K); of a rank 1 for the sample that is taken, a half each for two; of a mean by
             likeness not yet divided by their sum; of a guided filter those of the window's mean
    total    the sum of the products, or what another filter gives; of alpha the sample itself
    figures  numbers on the way to the total, by name, in their order
    """

    filter: Filter
    y: int
    x: int
    channel: int
    rows: NDArray[np.intp]  # (K,) where its neighbours stand; may be beyond the picture
    columns: NDArray[np.intp]
    from_rows: NDArray[np.intp]  # (K,) where those are read, or OUTSIDE where samples are zero
    from_columns: NDArray[np.intp]
    beyond_rows: NDArray[np.bool_]  # (K,) whether those are beyond the picture
    beyond_columns: NDArray[np.bool_]
    sample: float  # the pixel's own
    samples: Floats
    weights: Floats
    products: Floats  # (K, K)
    total: float
    offset: float  # added to that, as the float32 that it is given as; 0 for alpha
    slopes: Slopes | None  # None where no gradient follows
    rounded: Any  # the output in the picture's type: what an exact implementation would give
    is_alpha: bool  # whether the sample passes through untouched
    ordered: Floats | None = None  # of a rank: the samples that count, in their order
    taken: tuple[int, int] = (0, 0)  # which of these, from 0; two whose mean it is, or one twice
    extremes: tuple[Extreme, ...] = ()  # of a morphology, in the order in which it takes them
    apart: Floats | None = None  # (K, K) how unlike the neighbours are: c of a bilateral, or d²
    figures: Mapping[str, float] = field(default_factory=dict)

    @property
    def value(self) -> float:
        """The output before rounding: sum plus offset, or the gradient's length."""
        return self.slopes.length if self.slopes is not None else self.total + self.offset

    @property
    def window(self) -> NDArray[np.bool_]:
        """True at the neighbours that are looked at, of a disk those in it: (K, K)."""
        is_disk = getattr(self.filter, "is_disk", isinstance(self.filter, Bilateral))
        return Window(len(self.rows)).disk() if is_disk else np.ones(self.weights.shape, bool)

    @property
    def beyond(self) -> int:
        """Those of them that are beyond the picture."""
        return int((self.window & (self.beyond_rows[:, None] | self.beyond_columns)).sum())

    @property
    def heaviest(self) -> list[tuple[int, int]]:
        """Row and column, in the window, of the HEAVIEST neighbours that weigh anything."""
        weights = self.weights.copy()
        weights[len(weights) // 2, len(weights) // 2] = 0  # the pixel itself is like itself
        order = np.argsort(-weights, axis=None, kind="stable")[:HEAVIEST]
        places = [divmod(int(at), len(weights)) for at in order]
        return [at for at in places if weights[at] > 0]


def explain_pixel(job: Job, y: int, x: int, channel: int) -> Explained:
    """Explain what `job` asks for in one place, whatever the implementation.

    y, x, channel  inside the picture; IndexError else
    Raises BadJobError for a window that takes too long.
    """
    if not (0 <= y < job.height and 0 <= x < job.width and 0 <= channel < job.channels):
        raise IndexError(f"there is no sample at x {x}, y {y}, channel {channel}")
    spans = (y - job.radius, y + job.radius + 1), (x - job.radius, x + job.radius + 1)
    samples = read(job.picture, job.border, *spans)[..., channel].astype(np.float64)
    sample, around = float(job.picture[y, x, channel]), _around(job, y, x, job.radius)
    around |= {"sample": sample, "samples": samples, "channel": channel}
    is_alpha = job.has_alpha and channel == job.channels - 1
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        if is_alpha:
            found = {"weights": np.zeros_like(samples), "total": sample}
        else:
            found = _found(job, y, x, around)
        made = {**around, **found}
        made["products"] = made["weights"] * made["samples"]
        # One after the other from the first on, as the oracle; NumPy's own sum goes by pairs.
        made.setdefault("total", float(np.add.accumulate(made["products"].ravel())[-1]))
    slopes = _slopes(job, y, x, channel) if job.has_length and not is_alpha else None
    offset = 0.0 if is_alpha or not job.has_weights else float(np.float32(job.correlation.offset))
    value = slopes.length if slopes is not None else made["total"] + offset
    return Explained(
        *(job.filter, y, x),
        **made,
        offset=offset,
        slopes=slopes,
        rounded=to_pixel_type(np.array(value), job.picture.dtype)[()],
        is_alpha=is_alpha,
    )


def _found(job: Job, y: int, x: int, around: dict[str, Any]) -> dict[str, Any]:
    """The weights, and whatever else a filter has in an Explained, by its fields."""
    chosen, channel = job.filter, around["channel"]
    if isinstance(chosen, Rank):
        return _order(job, chosen, around)
    if isinstance(chosen, Correlation | Length):
        return {"weights": job.correlation.weights.astype(np.float64)}
    is_of_two = isinstance(chosen, Morphology | Guided)  # and of each channel by itself
    if is_of_two and chosen.ksize > MAX_OF_TWO:
        size, most = (f"{each}×{each}" for each in (chosen.ksize, MAX_OF_TWO))
        raise BadJobError(f"A window of {size} is too large to be explained; choose up to {most}.")
    spans = (y - chosen.reach, y + chosen.reach + 1), (x - chosen.reach, x + chosen.reach + 1)
    given = read(job.picture, job.border, *spans).astype(np.float64)
    if is_of_two:
        given, channel = given[..., channel : channel + 1], 0
    where = (y, y + 1), (x, x + 1), (job.height, job.width), job.border
    here = Place(given, chosen.reach, *where, job.channels - job.has_alpha)
    total = float(output(chosen, here)[0, 0, channel])
    if isinstance(chosen, Morphology):
        return _extremes(job, chosen, here, around) | {"total": total}
    if isinstance(chosen, Guided):
        return _smooth(chosen, here) | {"total": total}
    radius, counts = chosen.radius, here.counts(chosen.radius)
    if isinstance(chosen, Bilateral):
        near, along = here.read(radius)[..., : here.colours], np.arange(-radius, radius + 1)
        apart = np.abs(near - near[radius, radius]).sum(2)
        space = (along[:, np.newaxis] ** 2 + along**2) / chosen.sigma_space**2
        weights = np.exp(-(space + (apart / chosen.sigma_colour) ** 2) / 2) * chosen.disk()
    else:
        shape = chosen.patch, chosen.patch
        patches = sliding_window_view(here.given[..., : here.colours], shape, (0, 1))
        pairs = sliding_window_view(here.counts(chosen.reach), shape)
        pairs = pairs & pairs[radius, radius]
        squares = ((patches - patches[radius, radius]) ** 2).mean(2) * pairs
        apart = squares.sum((2, 3)) / np.maximum(pairs.sum((2, 3)), 1)
        weights = np.exp(-apart / chosen.strength**2)
        weights *= weights >= CUT
    weights = weights * counts
    sums = {"weighted": float((weights * around["samples"]).sum()), "weights": float(weights.sum())}
    return {"weights": weights, "apart": apart, "figures": sums} | {"total": total}


def _order(job: Job, chosen: Rank, around: dict[str, Any]) -> dict[str, Any]:
    """The order of the samples that count, and the share that each has in what is taken."""
    rows, columns, samples = around["rows"], around["columns"], around["samples"]
    down = counted(rows[0], rows[-1] + 1, job.height, job.border)
    counts = chosen.window & down[:, np.newaxis]
    counts &= counted(columns[0], columns[-1] + 1, job.width, job.border)
    places = np.flatnonzero(counts)
    places = places[np.argsort(samples.ravel()[places], kind="stable")]
    low, high = (int(each) for each in chosen.ranks(np.array(len(places))))
    weights = np.zeros(samples.size)
    weights[places[low]] += 0.5
    weights[places[high]] += 0.5
    shares = weights.reshape(samples.shape)
    return {"ordered": samples.ravel()[places], "taken": (low, high), "weights": shares}


def _extremes(job: Job, chosen: Morphology, here: Place, around: dict[str, Any]) -> dict[str, Any]:
    """Both extremes with their places, and which neighbour is the second."""
    first, second = chosen.ranks
    if chosen.kind == "gradient":
        (most, plus), (least, minus) = (_extreme(job, each, around) for each in chosen.ranks)
        return {"weights": plus - minus, "extremes": (most, least)}
    samples = first_extremes(chosen, here)[..., 0]
    last, taken = _extreme(job, second, {**around, "samples": samples})
    made = {"samples": samples, "weights": taken}
    if last.y == OUTSIDE:
        return made | {"extremes": (last,)}
    near = _around(job, last.y, last.x, chosen.radius)  # which sample it was there
    spans = ((int(each[0]), int(each[-1]) + 1) for each in (near["rows"], near["columns"]))
    near["samples"] = read(job.picture, job.border, *spans)[..., around["channel"]]
    return made | {"extremes": (_extreme(job, first, near)[0], last)}


def _extreme(job: Job, chosen: Rank, near: dict[str, Any]) -> tuple[Extreme, Floats]:
    """A window's least or greatest sample, and 1 where it stands: (K, K)."""
    taken = _order(job, chosen, near)["weights"]
    row, column = divmod(int(taken.argmax()), len(taken))
    at = int(near["from_rows"][row]), int(near["from_columns"][column])
    y, x = (OUTSIDE, OUTSIDE) if OUTSIDE in at else at
    return Extreme(float(near["samples"][row, column]), y, x), taken


def _smooth(chosen: Guided, here: Place) -> dict[str, Any]:
    """The numbers of a guided filter, and the weights of its window's mean."""
    counts = here.counts(chosen.radius)
    factors = (*guided_factors(chosen, here), *guided_means(chosen, here))
    names = "mean", "variance", "a", "b", "mean_a", "mean_b"
    figures = {name: float(each[0, 0, 0]) for name, each in zip(names, factors, strict=True)}
    return {"weights": counts / counts.sum(), "figures": figures}


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
