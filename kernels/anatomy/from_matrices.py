"""The pattern of the rungs on tensor cores whose weights are bands: the words of bands.cuh."""

from __future__ import annotations

import numpy as np

from kernels.anatomy.accesses import Access, Places
from kernels.anatomy.launch_scene import FLOAT, Mask, Scene, only
from kernels.anatomy.matrices import Matrices
from kernels.anatomy.pattern import Pattern
from kernels.anatomy.tile_shapes import Block, Shape
from kernels.anatomy.transactions import LANES
from kernels.rungs.job_facts import Facts


def whole(at: Scene, shape: Shape) -> Pattern:
    """Samples and weights are one half each."""
    return _by_bands(at, shape, is_split=False)


def split(at: Scene, shape: Shape) -> Pattern:
    """Samples and weights are the sum of two halves each."""
    return _by_bands(at, shape, is_split=True)


def _by_bands(at: Scene, shape: Shape, is_split: bool) -> Pattern:
    """A warp 16 rows, in blocks of 8 columns; plane by plane.  Staged once: where a guess at the
    scale of float32 samples turned out wrong, a block would do so twice."""
    on = Matrices(at)
    warps, columns = at.block_y, shape.covers[0] // at.channels
    tiles, rows, blocks = columns // 8, 16 * warps, Facts(at.job).value("BAND_BLOCKS")
    deep, across = rows + at.ksize - 1, tiles + blocks - 1
    stride = 8 * (across | 1)
    parts = 2 if is_split and not on.fits_half else 1
    plane_size = deep * stride + 8
    planes = {"plane": on.planes}
    # Of four neighbours: first those of each eight, then the others.
    loads = {**planes, "load": -(-deep * across // at.threads), "half": 2}
    words = {**planes, "row": at.ksize, "half": 1 + is_split, "word": blocks - 1}
    matrices = {**planes, "row": at.ksize, "pair": (across + 1) // 2, "matrix": 4, "half": parts}

    def halves(_: Places, load: Places, half: Places, part: Places) -> Places:
        row, n = np.divmod(load * at.threads + at.thread, across)
        return only(row * stride + n * 8 + 4 * half + part * plane_size, row < deep)

    def weights(_: Places, row: Places, low: Places, d: Places) -> Places:
        return 15 + 2 * on.t - on.g + (row + low * at.ksize) * on.words + 8 * d

    def matrix(_: Places, row: Places, pair: Places, number: Places, part: Places) -> Places:
        corner = (16 * at.ty + row) * stride + 16 * pair + part * plane_size
        return corner + on.in_block(number % 2, number // 2, stride)

    def steps(block: Block) -> tuple[Access, ...]:
        x0, y0 = block[0] * columns, block[1] * rows
        guess_x = np.minimum(x0 + at.tx * columns // LANES, at.job.width - 1)
        guess_y = np.minimum(y0 + at.tx * rows // LANES, at.height - 1)
        guesses = {"plane": on.planes * on.is_scaled}

        def guess(plane: Places) -> Places:
            return np.asarray(at.begin(guess_y) + guess_x * at.channels + plane)

        def pixels(_: Places, load: Places, half: Places) -> tuple[Places, Places, Mask]:
            row, n = np.divmod(load * at.threads + at.thread, across)
            return x0 - on.reach + n * 8 + 4 * half, y0 - at.radius + row, row < deep

        x, y, eights = x0 + 2 * on.t, y0 + 16 * at.ty + on.g, range(0, 8 * tiles, 8)
        return (
            at.load("Load a sample to guess the scale by", "picture", guesses, guess),
            *on.loads(loads, pixels),
            on.store_halves("Stage: store halves", {**loads, "part": parts}, halves, 4),
            *on.peaks(parts * plane_size, warps, on.planes),
            at.load("Load two words of a band", "weights", words, weights, 1, 2 * FLOAT),
            on.read_halves("Read a matrix of samples", matrices, matrix, 2),
            on.answer(x, y, eights, (0, 8), range(on.planes), at.height),
            *on.alpha(x0, y0, columns, rows),
        )

    stands = np.stack((2 * on.t * at.channels, 16 * at.ty + on.g), 1)
    also = stands[None] + np.array((0, 8))
    return Pattern(stands, (8 * at.channels, rows), steps, (2 * at.channels, 1), also)
