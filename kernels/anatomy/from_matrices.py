"""The pattern of the rungs on tensor cores whose weights are bands: the words of bands.cuh."""

from __future__ import annotations

import numpy as np

from kernels.anatomy.accesses import Places, Step
from kernels.anatomy.launch_scene import Mask, Scene, only
from kernels.anatomy.matrices import Matrices, turn_of
from kernels.anatomy.pattern import FLOAT, Pattern
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
    facts = Facts(at.job)
    warps, columns = at.block_y, shape.covers[0] // at.channels
    tiles, rows, blocks = columns // 8, 16 * warps, facts["BAND_BLOCKS"]
    deep, across = rows + at.ksize - 1, tiles + blocks - 1
    stride = 8 * (across | 1)
    parts = 2 if is_split and not on.fits_half else 1
    plane_size = deep * stride + 8
    staged = -(-deep * across // at.threads)
    pairs = (across + 1) // 2
    first_word = 15 + 2 * on.t - on.g
    peaks_at = parts * plane_size
    planes = range(on.planes)

    def steps(block: Block) -> tuple[Step, ...]:
        x0, y0 = block[0] * columns, block[1] * rows
        y = y0 + 16 * at.ty + on.g

        def guess(plane: int) -> Places:
            x = np.minimum(x0 + at.tx * columns // LANES, at.job.width - 1)
            row = np.minimum(y0 + at.tx * rows // LANES, at.height - 1)
            return np.asarray(at.begin(row) + x * at.channels + plane)

        def pixels(time: int) -> tuple[Places, Places, Mask]:
            """Of four neighbours: first those of each eight, then the others."""
            load, half = divmod(time % (2 * staged), 2)
            n = load * at.threads + at.thread
            x = x0 - on.reach + n % across * 8 + 4 * half
            return x, y0 - at.radius + n // across, n < deep * across

        def halves(time: int) -> Places:
            time, part = divmod(time, parts)
            load, half = divmod(time % (2 * staged), 2)
            n = load * at.threads + at.thread
            place = n // across * stride + n % across * 8 + 4 * half + part * plane_size
            return only(place, n < deep * across)

        def weights(time: int) -> Places:
            time, d = divmod(time, blocks - 1)
            row, low = divmod(time % (at.ksize * (1 + is_split)), 1 + is_split)
            return np.asarray(first_word + (row + low * at.ksize) * on.words + 8 * d)

        def matrix(time: int) -> Places:
            time, part = divmod(time, parts)
            time, number = divmod(time, 4)
            row, pair = divmod(time % (at.ksize * pairs), pairs)
            corner = (16 * at.ty + row) * stride + 16 * pair + part * plane_size
            return np.asarray(corner + on.in_block(number % 2, number // 2, stride))

        loads = on.pixels("Stage: load", 2 * staged * len(planes), pixels)
        return (
            *on.peaks_guess(planes, guess),
            *loads,
            on.shared("Stage: store halves", True, 2 * staged * parts * len(planes), halves, 4),
            *on.peaks(peaks_at, warps, len(planes)),
            Step(
                "Load two words of a band",
                "global",
                "weights",
                False,
                2 * FLOAT,
                len(planes) * at.ksize * (1 + is_split) * (blocks - 1),
                weights,
                turn_of("word", blocks - 1, "row"),
            ),
            on.shared_by_all(
                "Read a matrix of samples",
                len(planes) * at.ksize * pairs * 4 * parts,
                matrix,
                2,
            ),
            *on.answer(x0 + 2 * on.t, y, range(0, 8 * tiles, 8), (0, 8), planes, at.height),
            *on.alpha(x0, y0, columns, rows),
        )

    stands = np.stack((2 * on.t * at.channels, 16 * at.ty + on.g), 1)
    also = stands[None] + np.array((0, 8))
    return Pattern(stands, (8 * at.channels, rows), steps, (2 * at.channels, 1), also)
