"""Small pictures of what the list gives after each step, made in the background."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage

from kernels.core.cache import once_a_picture
from kernels.core.errors import KernelError
from kernels.core.job import Job, Result, StepRun
from kernels.cpu.opencv import filtered, reduced_weights
from kernels.engine.step_list import inside, mixed
from kernels.oracle.reference import to_pixel_type
from workbench.base.background import Background, Latest
from workbench.imaging.display import show
from workbench.imaging.display_mapping import DisplayMapping
from workbench.imaging.filter_previews import reduced
from workbench.imaging.pictures import Picture
from workbench.model import intents
from workbench.model.state import State, Step
from workbench.model.step_files import select

MAX_W, MAX_H = 160, 80  # twice what it takes of the screen, for those with small pixels
KNOWN = 64  # that are remembered
Samples = NDArray[Any]
V = TypeVar("V")


class Thumbnail(NamedTuple):
    """What a chip shows of a step's output."""

    image: QImage | None = None  # None: not made yet; its room is reserved
    is_reduced: bool = False  # made from the reduced picture, as that step did not run yet


class Wanted(NamedTuple):
    """A wish for the thumbnails of a state."""

    picture: Picture
    state: State
    job: Job  # of all steps that are on
    results: dict[object, tuple[StepRun, Result]]  # of those that ran, by the steps so far
    known: dict[object, Samples]  # what such steps gave, reduced


class Thumbnails(QObject):
    """A maker of thumbnails of one picture's list; idle while it is off.

    Signals:
        made(): there are other ones.
    """

    made = Signal()

    def __init__(self, background: Background, parent: QObject) -> None:
        super().__init__(parent)
        self.is_on = False
        self._of: weakref.ref[Picture] | None = None
        self._made: dict[object, Thumbnail] = {}
        self._known: dict[object, Samples] = {}
        self._latest: Latest[Wanted] = Latest(background, _make, self._take, lambda *_: None)

    def request(self, state: State, result: Result | None) -> None:
        """Make those that are missing, and those that `result`, if of `state`, shows better."""
        picture = state.picture
        if not self.is_on or picture is None or result is None:
            return
        if self._of is None or self._of() is not picture:
            self._of = weakref.ref(picture)
            self._made.clear()
            self._known.clear()
        if not intents.is_answer(result, state):
            return
        runs = zip(result.job.runs, result.steps or (result,), strict=True)
        results = dict(zip(_prefixes(state, intents.taken_in(state)), runs, strict=False))
        on = _prefixes(state, [each for each in state.steps if each.is_on])
        has_better = any(each in results and each not in self._known for each in on)
        numbers = range(-1, len(state.steps))
        if has_better or any(self.of(state, number).image is None for number in numbers):
            try:
                job = intents.job_for(_at(state, len(state.steps) - 1))
            except KernelError:
                return  # the window says why, once that step is selected
            if job is not None:
                self._latest.request(Wanted(picture, state, job, results, dict(self._known)))

    def of(self, state: State, number: int) -> Thumbnail:
        """What the list gives after step `number`, from 0; -1: the original."""
        return self._made.get(_look(state, number), Thumbnail())

    def _take(
        self, wanted: Wanted, found: tuple[dict[object, Thumbnail], dict[object, Samples]]
    ) -> None:
        if self._of is not None and self._of() is wanted.picture:
            self._made = _newest(self._made | found[0])
            self._known = _newest(found[1])
            self.made.emit()


def _newest(kept: dict[object, V]) -> dict[object, V]:
    return dict(list(kept.items())[-KNOWN:])


def _at(state: State, number: int) -> State:
    """The state with that step selected."""
    is_it = number == len(state.before)
    return state if is_it else replace(state, **select(state.steps, number))


def _prefixes(state: State, steps: tuple[Step, ...] | list[Step]) -> Iterator[object]:
    """What the output of each of `steps` depends on."""
    for taken in range(1, len(steps) + 1):
        yield tuple(steps[:taken]), state.border, state.is_rounded


def _look(state: State, number: int) -> object:
    """What the thumbnail after a step depends on."""
    if number < 0:
        return state.levels
    at = _at(state, number)
    return intents.taken_in(at), at.border, at.is_rounded, at.region, intents.look_for(at)


@once_a_picture
def _small(samples: Samples) -> Samples:
    height, width = samples.shape[:2]
    scale = min(MAX_W / width, MAX_H / height, 1)
    small = reduced(samples, max(round(width * scale), 1), max(round(height * scale), 1))
    return np.nan_to_num(small)


def _make(wanted: Wanted) -> tuple[dict[object, Thumbnail], dict[object, Samples]]:
    picture, state, job, results, known = wanted
    small = _small(picture.samples)
    height, width = small.shape[:2]
    factor = picture.samples.shape[1] / width
    part = intents.region_in(state, height, width, factor)
    whole = replace(job, picture=small, region=part)
    look = DisplayMapping(state.levels, full=picture.white)
    made: dict[object, Thumbnail] = {_look(state, -1): Thumbnail(_image(small, look))}
    runs, on, given, is_reduced = iter(job.runs), list[Step](), small, False
    for number, step in enumerate(state.steps):
        if step.is_on:
            run = next(runs)
            on.append(step)
            *_, prefix = _prefixes(state, on)
            is_reduced = prefix not in results and prefix not in known
            if prefix in results:
                ran = results[prefix][1]
                known[prefix] = mixed(run.mix, _small(ran.job.picture), _small(ran.picture))
            given = _filtered(job, run, given, factor) if is_reduced else known[prefix]
        shown = inside(whole, given)
        made[_look(state, number)] = Thumbnail(
            _image(shown, intents.look_for(_at(state, number))), is_reduced
        )
    return made, known


def _filtered(job: Job, run: StepRun, small: Samples, factor: float) -> Samples:
    """About what a run gives: its weights are shared among those of a coarser grid."""
    first, *length = run.steps
    assert first.weights is not None
    # From one pixel to the next a reduced picture rises as much more.
    weights = reduced_weights(first.weights, factor) / np.float32(factor if length else 1)
    step = replace(first, weights=weights, implementation="opencv")
    given = mixed(run.mix, small, filtered(Job(small, (step, *length), job.border)))
    rounded = to_pixel_type(given, job.picture.dtype) if job.is_rounded else given
    return np.ascontiguousarray(rounded, np.float32)


def _image(samples: Samples, look: DisplayMapping) -> QImage:
    return show(np.ascontiguousarray(samples), look).images[0].copy()
