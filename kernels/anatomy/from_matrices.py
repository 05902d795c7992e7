"""The pattern of the rungs on tensor cores whose weights are bands: the words of bands.cuh."""

from __future__ import annotations

import numpy as np

from kernels.anatomy.accesses import Places
from kernels.anatomy.launch_scene import FLOAT, Scene, only, turns
from kernels.anatomy.matrices import Matrices
from kernels.anatomy.pattern import Threads, stand
from kernels.anatomy.transactions import LANES


def whole(at: Scene) -> Threads:
    """Describe products of samples and weights rounded to one half each."""
    return _by_bands(at, is_split=False)


def split(at: Scene) -> Threads:
    """Describe products of samples and weights that are the sum of two halves each."""
    return _by_bands(at, is_split=True)


def _by_bands(at: Scene, is_split: bool) -> Threads:
    """Describe warps of 16 rows, in blocks of 8 columns, plane by plane.

    The tile is staged once; a real block stages it twice where its guess at the scale of float32
    samples turns out wrong.
    """
    on = Matrices(at)
    columns, blocks = at.shape.covers[0] // at.channels, int(at.facts["BAND_BLOCKS"])
    x0, tiles, rows = at.x0 // at.channels, columns // 8, 16 * at.block_y
    deep, across = rows + at.ksize - 1, tiles + blocks - 1
    stride = 8 * (across | 1)
    parts = 2 if is_split and not on.fits_half else 1
    plane_size = deep * stride + 8
    planes, guesses = {"plane": on.planes}, {"plane": on.planes * on.is_scaled}
    guess_x = np.minimum(x0 + at.tx * columns // LANES, at.job.width - 1)
    guess_y = np.minimum(at.y0 + at.tx * rows // LANES, at.height - 1)
    guess = at.begin(guess_y) + guess_x * at.channels + turns(guesses)[0]

    # Four neighbours at a time: the first half of each eight, then the second.
    loads = {**planes, "load": -(-deep * across // at.threads), "half": 2}
    _, load, half = turns(loads)
    row, n = np.divmod(load * at.threads + at.thread, across)
    pixels = x0 - on.reach + n * 8 + 4 * half, at.y0 - at.radius + row, row < deep
    place = (row * stride + n * 8 + 4 * half)[..., None, :]
    halves = place + np.arange(parts)[:, None] * plane_size

    words = {**planes, "row": at.ksize, "half": 1 + is_split, "word": blocks - 1}
    _, row, low, d = turns(words)
    weights = 15 + 2 * on.t - on.g + (row + low * at.ksize) * on.words + 8 * d

    def matrix(_: Places, row: Places, pair: Places, number: Places, part: Places) -> Places:
        corner = (16 * at.ty + row) * stride + 16 * pair + part * plane_size
        return corner + on.in_block(number % 2, number // 2, stride)

    matrices = {**planes, "row": at.ksize, "pair": (across + 1) // 2, "matrix": 4, "half": parts}
    x, y, eights = x0 + 2 * on.t, at.y0 + 16 * at.ty + on.g, range(0, 8 * tiles, 8)
    kept = only(halves, pixels[2][..., None, :])
    steps = (
        at.load("Load a sample to guess the scale by", "picture", guesses, guess),
        *on.loads(loads, pixels),
        on.store_halves("Stage: store halves", {**loads, "part": parts}, kept, 4),
        *on.peaks(parts * plane_size, on.planes, on.is_scaled),
        at.load("Load two words of a band", "weights", words, weights, 1, 2 * FLOAT),
        on.read_halves("Read a matrix of samples", matrices, matrix, 2),
        on.answer(x, y, eights, (0, 8), np.arange(on.planes)[:, None], at.height),
        *on.alpha(columns, rows, at.height),
    )
    stands = stand(2 * on.t * at.channels, 16 * at.ty + on.g)
    both = np.stack((stands, stands + np.array((0, 8))))
    return Threads(steps, both, (2 * at.channels, 1), (8 * at.channels, rows))
