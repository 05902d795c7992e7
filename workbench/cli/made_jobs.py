"""Jobs on pictures of noise, for `tune`, `launch`, `source` and `bench`; needs no Qt."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels import filters
from kernels.core.job import Job
from kernels.sweeps.cell_jobs import job_of
from kernels.sweeps.plan import Cell

RANDOM = "random"  # weights beside those of the filters: without any structure
GAIN = 1.5  # Σ|w| of random weights, as of a sharpening filter
SEED = 7


@lru_cache(maxsize=256)
def weights(name: str, ksize: int) -> NDArray[np.float32]:
    """Make (ksize, ksize) float32 of the filter called `name`, or "random"."""
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
    """Make a Job with the filter called `name`, its parameters left to it, or with random weights.

    size  (height, width) in pixels
    how   implementation and block_xy, where they matter
    """
    height, width = size
    like = "box" if name == RANDOM else name
    cell = Cell("sequential", None, like, ksize, border=border, width=width, height=height)
    made = job_of(replace(cell, channels=channels, pixel_type=pixel_type)).but(**how)
    is_random = name == RANDOM
    return made.but(weights=weights(name, ksize), title="Random weights") if is_random else made


def named_job(arguments: Namespace, name: str, ksize: int, size: tuple[int, int]) -> Job:
    """Make a Job with the samples, border and block that the options name."""
    kind = arguments.channels, arguments.pixel_type, arguments.border
    return job(name, ksize, size, *kind, block_xy=arguments.block)
