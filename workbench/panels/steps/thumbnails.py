"""Small pictures of what the list gives after each step."""

from __future__ import annotations

import weakref
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QImage

from kernels.core.cache import once_a_picture
from kernels.core.job import Job, Result
from kernels.core.step import Correlation
from kernels.cpu.opencv import filtered, reduced_filter, reduced_weights
from kernels.engine.step_list import blended, divided, inside
from kernels.oracle import reference
from workbench.imaging.display import show
from workbench.imaging.filter_previews import reduced
from workbench.model import intents
from workbench.model.state import State
from workbench.model.step_files import select

MAX_W, MAX_H = 160, 80  # twice what it takes of the screen, for those with small pixels


class Thumbnail(NamedTuple):
    """What a chip shows of a step's output."""

    image: QImage = QImage()  # null: not made yet; its room is reserved
    is_reduced: bool = False  # made as if the step had run on a reduced picture


def needs(state: State) -> list[tuple[Any, ...]]:
    """What the thumbnails of the original and of each step depend on; last how they are shown."""
    if state.picture is None:
        return []
    at = [replace(state, **select(state.steps, number)) for number in range(len(state.steps))]
    how = weakref.ref(state.picture), state.border, state.alpha, state.is_rounded, state.region
    after = [(*how, intents.taken_in(each), intents.look_for(each)) for each in at]
    return [(*how, (), replace(intents.look_before(state), full=state.picture.white)), *after]


@once_a_picture
def _small(samples: NDArray[Any]) -> NDArray[Any]:
    height, width = samples.shape[:2]
    scale = min(MAX_W / width, MAX_H / height, 1)
    small = reduced(samples, max(round(width * scale), 1), max(round(height * scale), 1))
    return np.nan_to_num(small)


def make(wanted: tuple[State, Result]) -> dict[object, Thumbnail]:
    """The thumbnails by `needs`; the result answers the state: what its steps really gave."""
    state, result = wanted
    small = _small(result.job.picture)
    given = _small((result.steps or (result,))[0].job.picture)  # maybe weighted by alpha
    height, width = small.shape[:2]
    factor = result.job.width / width
    between = None if state.is_rounded else np.dtype(np.float32)
    part = intents.region_in(state, height, width, factor)
    runs = zip(result.job.runs, result.steps or (result,), strict=False)
    original, *others = needs(state)
    made, is_reduced, opaque = dict[object, Thumbnail](), False, result.job.opaque
    made[original] = Thumbnail(show(small, original[-1]).images[0].copy())
    for number, (step, need) in enumerate(zip(state.steps, others, strict=True)):
        first, *length = steps = intents.made(state, step)
        if step.is_on and number <= len(state.before):
            run, ran = next(runs)
            given = blended(run, _small(ran.job.picture), _small(ran.picture), between)
        elif step.is_on:
            if isinstance(first.filter, Correlation):
                # Slopes are steeper by the factor.  Else `cpu.opencv.preview` does the same.
                weights = reduced_weights(first.filter.weights, factor)
                weights /= np.float32(factor if length else 1)
                coarse = replace(first.filter, weights=weights)
                first = replace(first, filter=coarse, implementation="opencv")
            else:
                first = replace(first, filter=reduced_filter(first.filter, factor))
            whole = Job(given, (first, *length), state.border, opaque=opaque)
            run, is_reduced = whole.runs[0], True
            one = whole.part(run, given)
            found = filtered(one) if one.has_weights else reference.filtered(one).astype("float32")
            given = blended(run, given, found)
        shown = np.ascontiguousarray(inside(Job(small, steps, region=part), divided(opaque, given)))
        made[need] = Thumbnail(show(shown, need[-1]).images[0].copy(), is_reduced)
    return made
