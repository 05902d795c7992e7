"""Analyses of a picture: histogram, levels, line profile, similarity to another."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.pictures.generated import with_channels
from workbench.imaging.display_mapping import NegativeDisplay

BINS = 256
PERCENTILES = (1.0, 50.0, 99.0)
NAMES = {1: ("grey",), 2: ("grey", "α"), 3: ("R", "G", "B"), 4: ("R", "G", "B", "α")}
_ROWS = 256


@dataclass(frozen=True, slots=True)
class Numbers:
    """The statistics of one channel of one picture; NaN and infinities left out, and counted."""

    low: float
    high: float
    mean: float
    deviation: float  # of the samples themselves, not an estimate from them
    percentiles: tuple[float, ...]  # the values below which 1, 50 and 99 % of the samples lie
    not_finite: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """The histogram of one channel of one picture."""

    channel: str
    edges: NDArray[np.float64]  # (n + 1,) the same for all pictures that are compared
    counts: NDArray[np.int64]  # (n,) with n at most BINS
    numbers: Numbers


def counting(
    pictures: tuple[NDArray[Any], ...],
) -> Iterator[tuple[tuple[Histogram, ...], ...] | None]:
    """Count each picture, (H, W, C) alike in shape, channel by channel; None on the way.

    The bins span what all of them hold; 8 bits have a bin for each value, and whole numbers as
    many values in each bin, or a comb of the bins' own would be seen.
    """
    ends: list[float] = []
    for picture in pictures:
        ends += _span(picture)
        yield None
    edges = _edges({str(picture.dtype) for picture in pictures}, min(ends), max(ends))
    found = []
    for picture in pictures:
        channels = []
        for index, name in enumerate(NAMES[picture.shape[2]]):
            channels.append((yield from _counting(picture[..., index], name, edges)))
        found.append(tuple(channels))
    yield tuple(found)


def _edges(pixel_types: set[str], low: float, high: float) -> NDArray[np.float64]:
    if pixel_types == {"uint8"}:
        low, high = 0.0, 255.0
    if pixel_types & {"uint8", "uint16"}:
        first = math.floor(low)
        width = -(-(math.ceil(high) - first + 1) // BINS)
        count = -(-(math.ceil(high) - first + 1) // width)
        return first - 0.5 + width * np.arange(count + 1, dtype=np.float64)
    if high <= low:
        high = low + max(1.0, abs(low) * 1e-6)
    return np.linspace(low, high, BINS + 1)


def _span(picture: NDArray[Any]) -> tuple[float, float]:
    low, high = float(picture.min()), float(picture.max())
    if not (math.isfinite(low) and math.isfinite(high)):
        finite = picture[np.isfinite(picture)]
        return (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    return low, high


def _counting(
    samples: NDArray[Any], name: str, edges: NDArray[np.float64]
) -> Generator[None, None, Histogram]:
    if samples.dtype.kind == "u":
        values = np.zeros(np.iinfo(samples.dtype).max + 1, np.int64)
        for top in range(0, samples.shape[0], _ROWS):
            values += np.bincount(samples[top : top + _ROWS].ravel(), minlength=values.size)
            yield None
        counts = np.histogram(np.arange(values.size), edges, weights=values)[0].astype(np.int64)
        return Histogram(name, edges, counts, _of_counts(values))
    flat = samples.astype(np.float32).ravel()
    finite = flat[np.isfinite(flat)]
    yield None
    counts = np.zeros(edges.size - 1, np.int64)
    step = _ROWS * samples.shape[1]
    for start in range(0, finite.size, step):
        counts += np.histogram(finite[start : start + step], edges)[0]
        yield None
    return Histogram(name, edges, counts, _of_values(finite, flat.size - finite.size))


def _of_counts(counts: NDArray[np.int64]) -> Numbers:
    there = np.flatnonzero(counts)
    total = int(counts.sum())
    values = np.arange(counts.size)
    mean = float((values * counts).sum() / total)
    deviation = math.sqrt(((values - mean) ** 2 * counts).sum() / total)
    reached = np.cumsum(counts)
    ranks = [np.ceil(share / 100 * total) for share in PERCENTILES]
    percentiles = tuple(float(np.searchsorted(reached, rank)) for rank in ranks)
    return Numbers(float(there[0]), float(there[-1]), mean, deviation, percentiles)


def _of_values(values: NDArray[np.float32], not_finite: int) -> Numbers:
    if values.size == 0:
        nan = math.nan
        return Numbers(nan, nan, nan, nan, (nan,) * len(PERCENTILES), not_finite)
    percentiles = np.percentile(values, PERCENTILES, method="inverted_cdf")
    return Numbers(
        float(values.min()),
        float(values.max()),
        float(values.mean(dtype=np.float64)),
        float(values.std(dtype=np.float64)),
        tuple(map(float, percentiles)),
        not_finite,
    )


HELD = 99.5  # per cent of a result around zero: its few largest values would hide all others
MAX_SAMPLES = 1 << 18  # looked at of such a result, evenly apart: it is shown many times a second

Levels = tuple[float, float]


def spanning(*pictures: NDArray[Any]) -> Levels | None:
    """The lowest and highest finite value of all pictures, alpha left out.

    None where there is only one value, or none that is finite.
    """
    there = [each for each in map(_finite, pictures) if each.size]
    low = min((float(each.min()) for each in there), default=0.0)
    high = max((float(each.max()) for each in there), default=0.0)
    return (low, high) if low < high else None


def around_zero(samples: NDArray[Any], display: NegativeDisplay) -> Levels | None:
    """Levels that hold HELD per cent of what is not zero in a result around zero.

    None where all of it is zero.
    """
    apart = math.isqrt(samples.size // MAX_SAMPLES) + 1
    sizes = np.abs(_finite(samples[::apart, ::apart])).ravel()
    sizes = sizes[sizes > 0]
    if sizes.size:
        most = float(np.percentile(sizes, HELD, method="inverted_cdf"))
    elif (ends := spanning(samples)) is not None:
        most = max(map(abs, ends))
    else:
        return None
    return (0.0, most) if display in ("clip", "absolute") else (-most, most)


KEY, FAR = 0.18, 4  # a share of white, and stops


def auto_ev(samples: NDArray[Any], levels: Levels) -> float | None:
    """The stops at which a picture is exposed well; None: no value is above black.

    The largest value becomes white.  Where that leaves the log-average of the luminance more than
    FAR stops below KEY, as with a lamp in view, that becomes KEY instead, and what lies above white
    is clipped.  Log-average and key are those of E. Reinhard, M. Stark, P. Shirley and J. Ferwerda,
    Photographic Tone Reproduction for Digital Images, ACM Transactions on Graphics 21 (3), 2002;
    values at black or below are left out of it.

    samples  (H, W, C) of any pixel type; levels: the values shown as black and white
    """
    black, white = levels
    top = float(_finite(samples).max(initial=black))
    if top <= black:
        return None
    apart = math.isqrt(samples.size // MAX_SAMPLES) + 1
    light = _finite(with_channels(samples[::apart, ::apart], 1)).astype(np.float64) - black
    average = float(np.exp(np.log(light[light > 0]).mean())) if (light > 0).any() else top - black
    largest, key = (math.log2((white - black) * at) for at in (1 / (top - black), KEY / average))
    return key if key - largest > FAR else largest


def _finite(samples: NDArray[Any]) -> NDArray[Any]:
    colours = samples[..., :-1] if samples.shape[2] in (2, 4) else samples
    return colours[np.isfinite(colours)] if colours.dtype.kind == "f" else colours


Pixel = tuple[int, int]  # x, y
Line = tuple[Pixel, Pixel]


def along(samples: NDArray[Any], line: Line) -> NDArray[Any]:
    """The samples along `line`, (n, C): one pixel per step of its longer side.

    Both its ends are among them.

    samples  (H, W, C); what of the line lies beyond its edges is left out
    """
    xs, ys, inside = _pixels(samples, line)
    found: NDArray[Any] = samples[ys[inside], xs[inside]]
    return found


def distances(samples: NDArray[Any], line: Line) -> NDArray[np.float64]:
    """Distances of `along`'s pixels from the beginning, in pixels: (n,) float64."""
    _, _, inside = _pixels(samples, line)
    return np.linspace(0.0, math.dist(*line), inside.size)[inside]


def _pixels(
    samples: NDArray[Any], line: Line
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """X and y of each step, and whether it is inside the picture."""
    (x0, y0), (x1, y1) = line
    steps = max(abs(x1 - x0), abs(y1 - y0))
    xs = np.rint(np.linspace(x0, x1, steps + 1)).astype(np.int64)
    ys = np.rint(np.linspace(y0, y1, steps + 1)).astype(np.int64)
    height, width = samples.shape[:2]
    return xs, ys, (xs >= 0) & (xs < width) & (ys >= 0) & (ys < height)


def in_words(line: Line) -> str:
    """The course of the line: "row 12", "column 7", or from one pixel to another."""
    (x0, y0), (x1, y1) = line
    if y0 == y1:
        return f"row {y0}, x {min(x0, x1)} to {max(x0, x1)}"
    if x0 == x1:
        return f"column {x0}, y {min(y0, y1)} to {max(y0, y1)}"
    return f"({x0}, {y0}) to ({x1}, {y1}), {math.dist(*line):.0f} pixels long"


WINDOW = 11  # pixels; Gaussian with SIGMA, cut off at five pixels and normalised
SIGMA = 1.5
K1, K2 = 0.01, 0.03
ROWS = 128  # at once

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Similarity:
    """The outcome of comparing two pictures, alpha left out; NaN where one alone has a NaN."""

    largest: float  # |difference|, in sample values
    psnr_db: float  # 10 · log₁₀(full² / mean squared difference); infinite where nothing differs
    ssim: float | None  # mean over all windows and channels; None: smaller than a window
    full: float  # the value of full intensity, which PSNR and SSIM are relative to


def comparing(one: NDArray[Any], other: NDArray[Any], full: float) -> Iterator[Similarity | None]:
    """Compare strip by strip; the last step is the Similarity.

    one, other  (H, W, C) alike in shape, in the same units; full: the value of full intensity

    Two NaN at one place, or equal infinities, are alike.

    SSIM is that of Z. Wang, A. C. Bovik, H. R. Sheikh and E. P. Simoncelli, Image Quality
    Assessment: From Error Visibility to Structural Similarity, IEEE Transactions on Image
    Processing 13 (4), 2004: an 11×11 Gaussian window with σ = 1.5, K₁ = 0.01, K₂ = 0.03, L = full.
    """
    height, _, channels = one.shape
    colours = channels - (channels in (2, 4))
    largest, squares, windows, similarity = 0.0, 0.0, 0, 0.0
    around = WINDOW - 1
    for top in range(0, height, ROWS):
        rows = slice(top, min(top + ROWS + around, height))  # with the windows that begin here
        for channel in range(colours):
            a = one[rows, :, channel].astype(np.float64)
            b = other[rows, :, channel].astype(np.float64)
            alike = ~np.isfinite(a) & ((a == b) | (np.isnan(a) & np.isnan(b)))
            a[alike] = b[alike] = 0
            with np.errstate(invalid="ignore"):
                apart = np.abs(a[:ROWS] - b[:ROWS])
            largest = float(np.maximum(largest, apart.max()))  # which keeps a NaN
            squares += float((apart**2).sum())
            if min(a.shape) >= WINDOW:
                found = _similarities(a, b, full)
                windows += found.size
                similarity += float(found.sum())
            yield None
    mean = squares / (one.shape[0] * one.shape[1] * colours)
    psnr = math.inf if mean == 0 else 20 * math.log10(full) - 10 * math.log10(mean)
    yield Similarity(largest, psnr, similarity / windows if windows else None, full)


def _similarities(a: Floats, b: Floats, full: float) -> Floats:
    """SSIM of each window that lies wholly in a and b: (rows - 10, W - 10)."""
    c1, c2 = (K1 * full) ** 2, (K2 * full) ** 2
    with np.errstate(invalid="ignore"):  # of what is not finite comes NaN
        mean_a, mean_b = _weighted(a), _weighted(b)
        spread_a = _weighted(a * a) - mean_a**2
        spread_b = _weighted(b * b) - mean_b**2
        common = _weighted(a * b) - mean_a * mean_b
        above = (2 * mean_a * mean_b + c1) * (2 * common + c2)
        below = (mean_a**2 + mean_b**2 + c1) * (spread_a + spread_b + c2)
        found: Floats = above / below
    return found


def _weighted(values: Floats) -> Floats:
    import cv2  # here: the window paints before anything heavy is imported

    reach = WINDOW // 2
    line = cv2.getGaussianKernel(WINDOW, SIGMA, cv2.CV_64F)
    blurred = cv2.sepFilter2D(values, cv2.CV_64F, line, line)
    return np.asarray(blurred[reach:-reach, reach:-reach], np.float64)
