"""Patterns of rungs that read global memory tap by tap, and of the gradient's passes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kernels.anatomy.accesses import NOWHERE, Access, Places, tap_words
from kernels.anatomy.launch_scene import FLOAT, Scene, joined, only
from kernels.anatomy.pattern import Threads, alpha_load, answer_store, one_each


def taps(at: Scene) -> Threads:
    """Describe one thread per sample, which reads samples from global memory, tap by tap."""
    lines, columns = _taps(at)
    return one_each(at, _samples(at, lines, columns), *alpha_load(at), answer_store(at))


def taps_and_weights(at: Scene) -> Threads:
    """Describe one thread per sample, which reads samples and weights from global memory.

    A weight is loaded wherever the thread has a row of samples for it.
    """
    lines, columns = _taps(at)

    def find(row: Places, column: Places) -> Places:
        return only(row * at.ksize + column, lines[row, at.thread] != NOWHERE)

    loops, known = {"row": at.ksize, "column": at.ksize}, int((lines != NOWHERE).sum()) * at.ksize
    weights = at.load("Load a weight", "weights", loops, find, words=tap_words, known=known)
    samples = _samples(at, lines, columns)
    return one_each(at, weights, samples, *alpha_load(at), answer_store(at))


def _taps(at: Scene) -> tuple[Places, Places]:
    """Return where a tap's row begins, and its sample in a row, or NOWHERE: (K, threads)."""
    reach = np.arange(at.ksize)[:, None] - at.radius
    # Where the weighted picture goes on to another kernel, alpha's sums are made and dropped.
    drops_alpha = at.shape.writes == "picture"
    works = at.inside & ~(drops_alpha & at.is_alpha(at.x))
    return only(at.line(at.y + reach), works), only(at.sample(at.x + reach * at.channels), works)


def _samples(at: Scene, lines: Places, columns: Places) -> Access:
    def find(row: Places, column: Places) -> Places:
        return joined(lines[row, at.thread], columns[column, at.thread])

    def different() -> Places:
        """Return all distinct places.

        All threads that take part do so in every row and column of a rectangle.
        """
        works = (lines != NOWHERE).any(0) & (columns != NOWHERE).any(0)
        down, across = np.unique(lines[:, works]), np.unique(columns[:, works])
        down, across = down[down != NOWHERE], across[across != NOWHERE]
        return np.asarray(down[:, None] + across).ravel()

    loops, takes_part = {"row": at.ksize, "column": at.ksize}, (lines != NOWHERE).sum(0)
    known = int((takes_part * (columns != NOWHERE).sum(0)).sum())
    load = at.load("Load a sample", "picture", loops, find, words=tap_words, known=known)
    return replace(load, different=different)


def differentiate(at: Scene) -> Threads:
    """Describe one thread per sample, which reads the neighbours that Sobel needs."""
    # In the order of the text: left, right, above, below; a lane of alpha reads its own as well.
    sides = [(-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)]
    reads = [*sides, *((down, across) for across, down in sides)]
    names = [f"sample at x {across:+d}, y {down:+d}".replace("-", "−") for across, down in reads]
    across, down = np.array(reads).T[..., None]
    samples = only(at.source_sample(at.y + down, at.x + across * at.channels), at.inside)
    array, loops = at.shape.reads, {"sample": len(reads)}
    return one_each(
        at,
        at.load("Load a weighted sample", array, loops, samples, words=names.__getitem__),
        *alpha_load(at, array),
        answer_store(at, 2 * FLOAT),
    )


def measure(at: Scene) -> Threads:
    """Describe one thread per sample, which reads both slopes and stores the gradient's length."""
    own = only(at.begin(at.y) + at.x, at.inside)
    slopes = at.load("Load both slopes", at.shape.reads, {}, own, 1, 2 * FLOAT)
    return one_each(at, slopes, answer_store(at))
