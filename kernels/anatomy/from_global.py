"""Patterns of rungs that read global memory tap by tap, and of the gradient's passes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kernels.anatomy.accesses import NOWHERE, Access, Places, tap_words
from kernels.anatomy.launch_scene import FLOAT, Scene, joined, only
from kernels.anatomy.pattern import Pattern, alpha_load, answer_store, one_each, own_samples
from kernels.anatomy.tile_shapes import Block, Shape


def taps(at: Scene, shape: Shape) -> Pattern:
    """A thread a sample; samples come from global memory, tap by tap."""
    return _by_taps(at, shape.writes, with_weights=False)


def taps_and_weights(at: Scene, shape: Shape) -> Pattern:
    """Weights come from there as well."""
    return _by_taps(at, shape.writes, with_weights=True)


def _by_taps(at: Scene, written: str, with_weights: bool) -> Pattern:
    reach = np.arange(at.ksize)[:, None] - at.radius

    def steps(block: Block) -> tuple[Access, ...]:
        x, y, inside = own_samples(at, block)
        # Where the weighted picture goes on to another kernel, alpha's sums are made and dropped.
        works = inside if written != "picture" else inside & ~at.is_alpha(x)
        lines = only(at.line(y + reach), works)
        columns = only(at.sample(x + reach * at.channels), works)
        return (
            *((_weights(at, lines),) if with_weights else ()),
            _samples(at, lines, columns),
            *alpha_load(at, x, y, inside),
            answer_store(at, x, y, inside, written),
        )

    return one_each(at, steps)


def _samples(at: Scene, lines: Places, columns: Places) -> Access:
    """lines, columns  (K, threads) where a tap's row begins and its sample in a row, or NOWHERE"""

    def find(row: Places, column: Places) -> Places:
        return joined(lines[row, at.thread], columns[column, at.thread])

    def different() -> Places:
        """All threads of a block that take part do so in every row and column of a rectangle."""
        works = (lines != NOWHERE).any(0) & (columns != NOWHERE).any(0)
        down, across = np.unique(lines[:, works]), np.unique(columns[:, works])
        down, across = down[down != NOWHERE], across[across != NOWHERE]
        return np.asarray(down[:, None] + across).ravel()

    loops, takes_part = {"row": at.ksize, "column": at.ksize}, (lines != NOWHERE).sum(0)
    known = int((takes_part * (columns != NOWHERE).sum(0)).sum())
    load = at.load("Load a sample", "picture", loops, find, words=tap_words, known=known)
    return replace(load, different=different)


def _weights(at: Scene, lines: Places) -> Access:
    """In every row of taps that a thread has samples for."""

    def find(row: Places, column: Places) -> Places:
        return only(row * at.ksize + column, lines[row, at.thread] != NOWHERE)

    loops, known = {"row": at.ksize, "column": at.ksize}, int((lines != NOWHERE).sum()) * at.ksize
    return at.load("Load a weight", "weights", loops, find, words=tap_words, known=known)


def differentiate(at: Scene, shape: Shape) -> Pattern:
    # In the order of the text: left, right, above, below; a lane of alpha reads its own as well.
    sides = [(-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)]
    reads = [*sides, *((down, across) for across, down in sides)]
    names = [f"sample at x {across:+d}, y {down:+d}".replace("-", "−") for across, down in reads]
    across, down = np.array(reads).T

    def steps(block: Block) -> tuple[Access, ...]:
        x, y, inside = own_samples(at, block)

        def find(n: Places) -> Places:
            return only(at.source_sample(y + down[n], x + across[n] * at.channels), inside)

        loops, name = {"sample": len(reads)}, "Load a weighted sample"
        return (
            at.load(name, shape.reads, loops, find, words=names.__getitem__),
            *alpha_load(at, x, y, inside, shape.reads),
            answer_store(at, x, y, inside, shape.writes, 2 * FLOAT),
        )

    return one_each(at, steps)


def measure(at: Scene, shape: Shape) -> Pattern:
    def steps(block: Block) -> tuple[Access, ...]:
        x, y, inside = own_samples(at, block)
        own = only(at.begin(y) + x, inside)
        return (
            at.load("Load both slopes", shape.reads, {}, lambda: own, 1, 2 * FLOAT),
            answer_store(at, x, y, inside),
        )

    return one_each(at, steps)
