"""What every thread of a block loads and stores, step by step.

Written beside the rungs' text, and as it has it: a test runs that text and compares all addresses.
Not here is what a library launches.
"""

from __future__ import annotations

from collections.abc import Callable

from kernels.anatomy.from_bands import (
    low_rank,
    register_columns,
    register_rows,
    ring_separable,
    tile_separable,
)
from kernels.anatomy.from_fft import crop, gather, multiply
from kernels.anatomy.from_fft_columns import filter_columns
from kernels.anatomy.from_fft_registers import restore_rows, transform_rows
from kernels.anatomy.from_global import by_taps, differentiate, measure
from kernels.anatomy.from_gradient import gradient_fused
from kernels.anatomy.from_matrices import by_bands
from kernels.anatomy.from_passes import columns_pass, columns_pass_flat, rows_pass, rows_pass_flat
from kernels.anatomy.from_registers import register_tile
from kernels.anatomy.from_rings import ring
from kernels.anatomy.from_sums import running_sums
from kernels.anatomy.from_thin_bands import tensor_separable
from kernels.anatomy.from_tiles import stage_apron, stage_flat, tiled, untiled
from kernels.anatomy.from_windows import window_tile
from kernels.anatomy.pattern import Pattern
from kernels.anatomy.scene import Scene
from kernels.anatomy.shapes import Shape
from kernels.job import Job

# By rung and pass.
PATTERNS: dict[tuple[str, str], Callable[[Scene, Shape], Pattern]] = {
    ("global", "convolve"): lambda at, _: by_taps(at, with_weights=True),
    ("constant", "convolve"): lambda at, _: by_taps(at),
    ("shared", "convolve"): lambda at, _: tiled(at, stage_flat),
    ("shared_two_batch", "convolve"): lambda at, _: tiled(at, stage_flat),
    ("shared_apron", "convolve"): lambda at, _: tiled(at, stage_apron),
    ("shared_untiled", "convolve"): lambda at, _: untiled(at),
    ("separable", "along_rows"): lambda at, _: rows_pass(at),
    ("separable", "along_columns"): lambda at, _: columns_pass(at),
    ("separable_flat", "along_rows"): lambda at, _: rows_pass_flat(at),
    ("separable_flat", "along_columns"): lambda at, _: columns_pass_flat(at),
    ("register_tile", "convolve"): lambda at, _: register_tile(at),
    ("ring", "convolve"): ring,
    ("window_tile", "convolve"): lambda at, _: window_tile(at),
    ("tile_separable", "convolve"): tile_separable,
    ("ring_separable", "convolve"): ring_separable,
    ("register_separable", "along_rows"): register_rows,
    ("register_separable", "along_columns"): register_columns,
    ("low_rank", "convolve"): low_rank,
    ("running_sums", "convolve"): running_sums,
    ("tensor", "convolve"): lambda at, shape: by_bands(at, shape, split=False),
    ("tensor_split", "convolve"): lambda at, shape: by_bands(at, shape, split=True),
    ("tensor_separable", "convolve"): tensor_separable,
    ("gradient_fused", "convolve"): gradient_fused,
    ("fft", "gather"): gather,
    ("fft", "multiply"): multiply,
    ("fft", "crop"): lambda at, _: crop(at),
    ("fft_registers", "transform_rows"): transform_rows,
    ("fft_registers", "filter_columns"): filter_columns,
    ("fft_registers", "restore_rows"): restore_rows,
    ("gradient", "weigh"): lambda at, _: by_taps(at, written="weighted"),
    ("gradient", "differentiate"): lambda at, _: differentiate(at),
    ("gradient", "measure"): lambda at, _: measure(at),
}


def pattern_of(key: str, shape: Shape, job: Job) -> Pattern | None:
    """The pattern of the pass that `shape` is of, of the rung `key`; None: it is not told here."""
    make = PATTERNS.get((key, shape.function))
    return make(Scene(job, shape.block), shape) if make else None
