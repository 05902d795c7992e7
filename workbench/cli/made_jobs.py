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
from kernels.sweeps.step_words import AND, list_words, ready_made

# Weights beside those of the filters, without any structure; and such over a power of two.
DRAWN = RANDOM, WHOLE = "random", "whole"
GAIN = 1.5  # Σ|w| of random weights, as of a sharpening filter
SEED = 7


@lru_cache(maxsize=256)
def weights(name: str, ksize: int) -> NDArray[np.float32]:
    """Make (ksize, ksize) float32 of the filter called `name`, or "random", or "whole"."""
    if name not in DRAWN:
        return filters.get(name).weights(ksize)
    drawn = np.random.default_rng(SEED).uniform(-1, 2, (ksize, ksize))
    if name == WHOLE:
        drawn = (15 * drawn).round()
        unit = 2.0 ** np.log2(np.abs(drawn).sum() / GAIN).round()
        made: NDArray[np.float32] = (drawn / unit).astype(np.float32)
    else:
        made = (drawn * GAIN / np.abs(drawn).sum()).astype(np.float32)
    made.flags.writeable = False
    return made


def is_list(name: str) -> bool:
    """Whether that is no filter, but steps with " + " between, or a list that comes along."""
    return AND in name or name in ready_made()


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

    name  also a list, as "gaussian:5 + gradient" is: `ksize` says nothing then
    size  (height, width) in pixels
    how   implementation and block_xy, where they matter
    """
    height, width = size
    is_drawn = name in DRAWN
    like = "box" if is_drawn else name
    cell = Cell("sequential", None, like, ksize, border=border, width=width, height=height)
    if is_list(name):
        cell = replace(cell, implementation="auto", filter="", ksize=1, list=list_words(name))
    made = job_of(replace(cell, channels=channels, pixel_type=pixel_type)).but(**how)
    title = f"{name.title()} weights"
    return made.but(weights=weights(name, ksize), title=title) if is_drawn else made


def named_job(arguments: Namespace, name: str, ksize: int, size: tuple[int, int]) -> Job:
    """Make a Job with the samples, border and block that the options name."""
    kind = arguments.channels, arguments.pixel_type, arguments.border
    return job(name, ksize, size, *kind, block_xy=arguments.block)
