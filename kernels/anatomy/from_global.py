"""Patterns of rungs that read global memory tap by tap, and of the gradient's passes."""

from __future__ import annotations

import numpy as np

from kernels.anatomy.accesses import NOWHERE, Places, Step, tap_words
from kernels.anatomy.launch_scene import Scene, only
from kernels.anatomy.pattern import (
    FLOAT,
    Pattern,
    alpha_load,
    answer_store,
    one_each,
    own_samples,
    taps_of,
)
from kernels.anatomy.tile_shapes import Block, Shape


def taps(at: Scene, shape: Shape) -> Pattern:
    """A thread a sample; samples come from global memory, tap by tap."""
    return _by_taps(at, shape.writes, with_weights=False)


def taps_and_weights(at: Scene, shape: Shape) -> Pattern:
    """Weights come from there as well."""
    return _by_taps(at, shape.writes, with_weights=True)


def _by_taps(at: Scene, written: str, with_weights: bool) -> Pattern:

    def steps(block: Block) -> tuple[Step, ...]:
        x, y, inside = own_samples(at, block)
        # Where the weighted picture goes on to another kernel, alpha's sums are made and dropped.
        works = inside if written != "picture" else inside & ~at.is_alpha(x)
        taps = taps_of(at, x, y, works)
        lines = taps.rows
        found = []
        if with_weights:
            found.append(_weights(at, lines))
        found.append(
            Step(
                "Load a sample",
                "global",
                "picture",
                False,
                at.sample_bytes,
                taps.count,
                taps.places,
                taps.turn,
                taps.loads,
            )
        )
        found += alpha_load(at, x, y, inside, is_known=written != "picture")
        found.append(answer_store(at, x, y, inside, written))
        return tuple(found)

    return one_each(at, steps)


def _weights(at: Scene, lines: Places) -> Step:
    """From global memory, in every row of taps that a thread has samples for."""

    def places(tap: int) -> Places:
        return only(np.full(at.threads, tap), lines[tap // at.ksize] != NOWHERE)

    def loads() -> tuple[int, int]:
        taken = lines != NOWHERE
        return int(taken.sum()) * at.ksize, int(taken.any(1).sum()) * at.ksize

    return Step(
        "Load a weight",
        "global",
        "weights",
        False,
        FLOAT,
        at.ksize**2,
        places,
        lambda tap: tap_words(tap, at.ksize),
        loads,
    )


def differentiate(at: Scene, shape: Shape) -> Pattern:
    # In the order of the text: left, right, above, below; a lane of alpha reads its own as well.
    sides = [(-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)]
    reads = [*sides, *((down, across) for across, down in sides)]
    names = [f"sample at x {across:+d}, y {down:+d}".replace("-", "−") for across, down in reads]

    def steps(block: Block) -> tuple[Step, ...]:
        x, y, inside = own_samples(at, block)

        def places(time: int) -> Places:
            across, down = reads[time]
            return only(at.source_sample(y + down, x + across * at.channels), inside)

        return (
            Step(
                "Load a weighted sample",
                "global",
                shape.reads,
                False,
                FLOAT,
                len(reads),
                places,
                lambda time: names[time],
            ),
            *alpha_load(at, x, y, inside, shape.reads, FLOAT),
            answer_store(at, x, y, inside, shape.writes, 2 * FLOAT),
        )

    return one_each(at, steps)


def measure(at: Scene, shape: Shape) -> Pattern:
    def steps(block: Block) -> tuple[Step, ...]:
        x, y, inside = own_samples(at, block)
        own = only(at.begin(y) + x, inside)
        return (
            Step("Load both slopes", "global", shape.reads, False, 2 * FLOAT, 1, lambda _: own),
            answer_store(at, x, y, inside),
        )

    return one_each(at, steps)
