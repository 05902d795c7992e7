"""Edits of a State's list of steps, and the times of its steps."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from kernels.core.job import MAX_STEPS, Result
from kernels.engine.auto import AUTO
from kernels.rungs.own_kernels import is_own
from workbench.imaging.pictures import Picture
from workbench.model import intents
from workbench.model.intents import Changes
from workbench.model.state import State, Step
from workbench.model.step_files import select

FULL = f"A list has {MAX_STEPS} steps at most; remove one first."
ALONE = "It is the only step."
FIRST, LAST = "It is the first step already.", "It is the last step already."


def why_no_more(state: State) -> str:
    """Reason why no step can be added; empty: one can."""
    return FULL if len(state.steps) >= MAX_STEPS else ""


def adding(state: State) -> Changes:
    """Changes that add a blur after the last step, run by what the selected one runs on."""
    new = replace(Step(), implementation=state.implementation, block_xy=state.block_xy)
    new = replace(new, chosen_implementation=state.chosen_implementation)
    if is_own(state.implementation):
        new = replace(new, implementation=AUTO.key, chosen_implementation=None)
    return select((*state.steps, new), len(state.steps))


def duplicating(state: State) -> Changes:
    """Changes that add a copy of the selected step after it."""
    number, count = len(state.before), len(state.steps)
    return ordered(state, [*range(number + 1), *range(number, count)], number + 1)


def on_brightness(state: State) -> Changes:
    """Changes that add a grey step before the selected one, which so filters brightness."""
    grey = Step("grey", 1, implementation=AUTO.key)
    return select((*state.before, grey, state.selected, *state.after), len(state.before) + 1)


def removing(state: State) -> Changes:
    """Changes that take the selected step out; the one after it is selected, else the last."""
    number, left = len(state.before), len(state.steps) - 1
    return ordered(state, [*range(number), *range(number + 1, left + 1)], min(number, left - 1))


def moving(state: State, number: int, to: int) -> Changes:
    """Changes that put step `number` where `to` is; the same step stays selected."""
    order = list(range(len(state.steps)))
    order.insert(to, order.pop(number))
    return ordered(state, order, order.index(len(state.before)))


def ordered(state: State, order: Sequence[int], at: int) -> Changes:
    """Changes to the steps of these former numbers; the one compared with stays, or is none."""
    compared = order.index(state.compared) if state.compared in order else None
    return {**select([state.steps[each] for each in order], at), "compared": compared}


def switching(state: State, number: int) -> Changes:
    """Changes that turn a step on or off; which one is selected stays."""
    steps = list(state.steps)
    steps[number] = replace(steps[number], is_on=not steps[number].is_on)
    return select(steps, len(state.before))


class StepTime(NamedTuple):
    """What is known of a step: the sum of its runs' medians, and what its checks say."""

    ms: float | None
    is_wrong: bool
    runs_on: str  # titles of implementations


KNOWN = 512  # steps that are remembered


class StepTimes:
    """A memory of the times of steps, by all that goes before them, for one picture."""

    def __init__(self) -> None:
        self._known: dict[object, StepTime] = {}
        self._of: weakref.ref[Picture] | None = None

    def take(self, result: Result, state: State) -> None:
        """Note the times in a result, if it answers `state` and its steps were checked."""
        if self._of is None or state.picture is not self._of():
            self._known.clear()
            self._of = weakref.ref(state.picture) if state.picture else None
        if not intents.is_answer(result, state):
            return
        steps = intents.taken_in(state)
        for number, runs in enumerate(intents.runs_of_steps(result, state), 1):
            if runs and all(each.check is not None for each in runs):
                self._known[_key(state, steps[:number])] = _time_of(runs)
        while len(self._known) > KNOWN:
            del self._known[next(iter(self._known))]

    def of(self, state: State) -> list[StepTime | None]:
        """The time of each step that is on, where it is known."""
        found, on = [], []
        for step in state.steps:
            on += [step] * step.is_on
            found.append(self._known.get(_key(state, on)) if step.is_on else None)
        return found


def _key(state: State, steps: Sequence[Step]) -> object:
    return tuple(steps), state.border, state.is_rounded, state.alpha, state.devices, state.cache


def _time_of(runs: Sequence[Result]) -> StepTime:
    times = [each.kernel.median_ms for each in runs if each.kernel is not None]
    is_wrong = any(each.check is not None and not each.check.ok for each in runs)
    titles = (intents.title_with_pick(each.job.implementation, each.picked) for each in runs)
    ms = sum(times) if len(times) == len(runs) else None
    return StepTime(ms, is_wrong, ", ".join(dict.fromkeys(titles)))
