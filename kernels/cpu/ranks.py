"""Rank filters on the CPU: windows that are sorted, one by one, and the calls that cv2 has."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.borders import Span, counted, read
from kernels.core.job import Job
from kernels.core.nonlinear import Rank

MEDIAN_OF_REALS = 5  # the largest size that cv2.medianBlur takes of anything but bytes


def around(job: Job, rows: Span, columns: Span) -> tuple[Any, ...]:
    """What `rank_band` reads to fill rows × columns, and which windows it sorts.

    returns  the samples with their halo, float32 where they are float16; which of its rows and
             columns count; the window's places, (n, 2); the percentile
    """
    chosen = job.rank
    spans = [(start - chosen.reach, stop + chosen.reach) for start, stop in (rows, columns)]
    samples = read(job.picture, job.border, *spans)
    samples = samples.astype(np.float32) if samples.dtype == np.float16 else samples
    sizes = zip(spans, (job.height, job.width), strict=True)
    counts = (counted(*span, size, job.border) for span, size in sizes)
    places = np.ascontiguousarray(np.argwhere(chosen.window))  # one layout, so compiled once
    return samples, *counts, places, float(chosen.percentile)


def rank_band(
    samples: Any,
    rows: Any,
    columns: Any,
    places: Any,
    percentile: float,
    out: Any,
    colours: int,
    is_integer: bool,
    first: int,
    last: int,
) -> None:
    """Fill rows first to last - 1 of `out`, in plain loops for numba to compile."""
    values = np.empty(places.shape[0], np.float32)
    radius = (samples.shape[0] - out.shape[0]) // 2
    for y in range(first, last):
        for x in range(out.shape[1]):
            for c in range(colours):
                n = 0
                for at in range(places.shape[0]):
                    j, i = y + places[at, 0], x + places[at, 1]
                    if rows[j] and columns[i]:
                        values[n] = np.float32(samples[j, i, c])
                        n += 1
                ordered = values[:n]
                ordered.sort()
                if percentile == 50:
                    low, high = ordered[(n - 1) // 2], ordered[n // 2]
                    found = low if low == high else (low + high) * np.float32(0.5)
                    out[y, x, c] = np.rint(found) if is_integer else found
                else:
                    out[y, x, c] = ordered[min(int(n * percentile / 100), n - 1)]
            for c in range(colours, out.shape[2]):
                out[y, x, c] = samples[y + radius, x + radius, c]


def opencv_call(chosen: Rank, pixel_type: str) -> tuple[str, dict[str, Any]] | None:
    """The name and the arguments of the function of cv2 that gives the same; None: it has none."""
    element: NDArray[np.uint8] = chosen.window.astype(np.uint8)
    if chosen.percentile in (0, 100) and pixel_type != "float16":
        name = "cv2.dilate" if chosen.percentile else "cv2.erode"
        return name, {"kernel": element}
    is_taken = pixel_type == "uint8" or (
        chosen.ksize <= MEDIAN_OF_REALS and pixel_type in ("uint16", "float32")
    )
    if chosen.percentile == 50 and not chosen.is_disk and is_taken:
        return "cv2.medianBlur", {"ksize": chosen.ksize}
    return None
