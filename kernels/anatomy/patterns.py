"""What every thread of a block loads and stores, step by step, for the rungs that are plain.

Written beside the rungs' text, and as it has it: a test runs that text and compares all addresses.
Rungs whose threads make many samples each, or whose lanes hand values to one another, are not here.
"""

from __future__ import annotations

from collections.abc import Callable

from kernels.anatomy.from_global import by_taps, differentiate, measure
from kernels.anatomy.from_passes import columns_pass, columns_pass_flat, rows_pass, rows_pass_flat
from kernels.anatomy.from_tiles import stage_apron, stage_flat, tiled, untiled
from kernels.anatomy.pattern import Pattern
from kernels.anatomy.scene import Scene
from kernels.job import Job

PATTERNS: dict[tuple[str, str], Callable[[Scene], Pattern]] = {
    ("global", "convolve"): lambda at: by_taps(at, with_weights=True),
    ("constant", "convolve"): by_taps,
    ("shared", "convolve"): lambda at: tiled(at, stage_flat),
    ("shared_two_batch", "convolve"): lambda at: tiled(at, stage_flat),
    ("shared_apron", "convolve"): lambda at: tiled(at, stage_apron),
    ("shared_untiled", "convolve"): untiled,
    ("separable", "along_rows"): rows_pass,
    ("separable", "along_columns"): columns_pass,
    ("separable_flat", "along_rows"): rows_pass_flat,
    ("separable_flat", "along_columns"): columns_pass_flat,
    ("gradient", "weigh"): lambda at: by_taps(at, written="weighted"),
    ("gradient", "differentiate"): differentiate,
    ("gradient", "measure"): measure,
}


def pattern_of(key: str, function: str, job: Job) -> Pattern | None:
    """The pattern of the pass `function` of the rung `key`; None: it is not told here."""
    make = PATTERNS.get((key, function))
    return make(Scene(job)) if make else None
