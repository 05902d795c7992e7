"""Jobs made from a few words, on pictures of noise: what `tune`, `launch` and `bench` measure.

Knows nothing of Qt: they also run where there is none.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels import filters
from kernels.core.job import Job
from kernels.filters import Filter
from kernels.pictures import generated

RANDOM = "random"  # weights beside those of the filters: nothing in them to make use of
GAIN = 1.5  # Σ|w| of random weights, as of a sharpening filter
SEED = 7


@lru_cache(maxsize=2)
def picture(height: int, width: int, channels: int, pixel_type: str) -> NDArray[Any]:
    """Return (height, width, channels) of noise, read-only, so that it may stay on the device."""
    made = generated.noise(height, width, channels, pixel_type)
    made.flags.writeable = False
    return made


@lru_cache(maxsize=256)
def weights(name: str, ksize: int) -> NDArray[np.float32]:
    """Return (ksize, ksize) float32 of the filter called `name`, or "random"."""
    if name != RANDOM:
        return filters.get(name).weights(ksize)
    drawn = np.random.default_rng(SEED).uniform(-1, 2, (ksize, ksize))
    made: NDArray[np.float32] = (drawn * GAIN / np.abs(drawn).sum()).astype(np.float32)
    made.flags.writeable = False
    return made


def job(
    name: str,
    ksize: int,
    size: tuple[int, int],
    channels: int = 1,
    pixel_type: str = "float32",
    border: str = "clamp",
    **how: Any,
) -> Job:
    """Return a Job with the weights called `name`.

    size  (height, width) in pixels
    how   implementation and block_xy, where they matter
    """
    return Job(
        picture=picture(*size, channels, pixel_type),
        weights=weights(name, ksize),
        border=border,
        filter_title=weights_title(name),
        gradient=name != RANDOM and filters.get(name).gradient,
        **how,
    )


def weights_title(name: str) -> str:
    """Return what people call the weights."""
    chosen: Filter | None = None if name == RANDOM else filters.get(name)
    return chosen.title if chosen else "Random weights"
