"""The State's steps as those of `kernels.sweeps.step_words`, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from kernels import filters
from kernels.core.device import Device, NoDevice
from kernels.engine.auto import AUTO
from kernels.filters.parameters import NUMBERS
from kernels.rungs.own_kernels import is_own
from kernels.sweeps.plan_keys import toml
from kernels.sweeps.step_words import (
    ALPHAS,
    VERSION,
    WHOLES,
    WrittenList,
    WrittenStep,
    as_word,
    refuse_number,
    to_words,
)
from workbench.model import intents
from workbench.model.intents import taken_in
from workbench.model.names import implementation_title
from workbench.model.state import State, Step


def _new(step: WrittenStep) -> Step:
    written = {each.name: getattr(step, each.name) for each in fields(WrittenStep)}
    return Step(**written, implementation=step.chosen_implementation or AUTO.key)


def run_here(state: State, device: Device | NoDevice | None) -> tuple[list[Step], list[str]]:
    """The steps, with `auto` in place of what cannot run here, and a sentence on each of these.

    device  None: not known yet, and checked once it is
    """
    lost, steps = [], list(state.steps)
    for number, step in enumerate(steps):
        chosen, reason = step.implementation, None
        if device is not None:
            reason = intents.why_not_here(intents.implementation(chosen), device)
        if is_own(chosen) and number != len(state.before):
            reason = "a user kernel is read for the selected step alone."
        if reason:
            lost.append(f"Step {number + 1} was to run on {implementation_title(chosen)}: {reason}")
            steps[number] = replace(step, implementation=AUTO.key, chosen_implementation=None)
    return steps, lost


def is_list(state: State) -> bool:
    """True where what is taken is more than the selected step alone and whole."""
    return taken_in(state) != (state.selected,) or state.mix != 1


def changes_of_steps(steps: Sequence[WrittenStep]) -> dict[str, Any]:
    """Changes to a State that has these steps, the last one selected.  Raises StepFileError."""
    refuse_number(len(steps))
    return {**select(list(map(_new, steps)), -1), "compared": None}  # it is gone


def select(steps: Sequence[Step], at: int) -> dict[str, Any]:
    """Changes to a State that has these steps, with number `at` selected, from 0; -1: the last."""
    at %= len(steps)
    chosen: dict[str, Any] = {each.name: getattr(steps[at], each.name) for each in fields(Step)}
    chosen["result_levels"] = None  # which were those of other values
    return {**chosen, "before": tuple(steps[:at]), "after": tuple(steps[at + 1 :])}


def part_in_words(state: State) -> str:
    """Format what is taken of several pages or steps: ", step 1 of 3 only"; empty: all is."""
    page = state.picture and state.picture.page
    words = [str(page)] if page and page.count > 1 else []
    words += filter(None, [steps_in_words(state)])
    return f", {', '.join(words)} only" if words else ""


def steps_in_words(state: State) -> str:
    """Format which steps are taken of those that are on: "steps 1 to 2 of 3"; empty: all are."""
    taken, count = len(taken_in(state)), sum(each.is_on for each in state.steps)
    return f"step{'s 1 to' if taken > 1 else ''} {taken} of {count}" if taken < count else ""


def changes_of(found: WrittenList) -> dict[str, Any]:
    """Changes to a State that takes the steps of a file."""
    given = {
        key: getattr(found, key)
        for key in ("border", "region", "alpha", "whole")
        if getattr(found, key)
    }
    return {**changes_of_steps(found.steps), **given, "is_rounded": found.round_between_steps}


def to_text(state: State) -> str:
    """The file of all steps of `state`, which `step_words.parse` reads."""
    lines = [f"version = {VERSION}", f"border = {toml(state.border)}"]
    lines += ["round_between_steps = true"] if state.is_rounded else []
    lines += [f"alpha = {toml(state.alpha)}"] if state.alpha != ALPHAS[0] else []
    lines += [f"whole = {toml(state.whole)}"] if state.whole != WHOLES[0] else []
    lines += [f'region = "{",".join(map(str, state.region))}"'] if state.region else []
    for each in state.steps:
        words = to_words(each).items()
        lines += ["", "[[step]]", *(f"{word} = {toml(value)}" for word, value in words)]
    return "".join(f"{line}\n" for line in lines)


def asked_of(state: State) -> dict[str, Any]:
    """The chosen filter and its parameters, or steps; None for those that it does not have."""
    of_list = is_list(state)
    taken = {each.name for each in filters.get(state.filter).parameters}
    single = {
        "filter": state.filter,
        "size": state.ksize,
        **{e.name: getattr(state, e.name) if e.name in taken else None for e in NUMBERS},
        "disk": state.is_disk if "is_disk" in taken else None,
        "weights": state.matrix if "matrix" in taken else None,
        "offset": state.offset if "matrix" in taken else None,
    }
    return {
        **(dict.fromkeys(single) if of_list else single),
        "border": state.border,
        "alpha": state.alpha,
        "steps": [as_word(each) for each in state.steps] if of_list else None,
        "round_between_steps": state.is_rounded if of_list else None,
        "whole": state.whole if of_list else None,
        "region": state.region,
    }
