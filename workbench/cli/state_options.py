"""Options of the filter and the GPUs, as fields of the State."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import numpy as np

from kernels import Engine, filters
from kernels.core.errors import BadJobError
from kernels.engine.auto import AUTO
from kernels.filters import Filter, custom
from kernels.rungs.headers import HeaderError
from kernels.rungs.own_kernels import is_own, read_own_kernel
from kernels.rungs.rung import Rung
from kernels.sweeps.plan_values import MAX_DEVICES
from workbench.cli.output import CommandError
from workbench.model import bell, intents
from workbench.model.intents import Changes
from workbench.model.state import FACTS, Picture, State

OPTIONS = {name: facts.option for name, facts in FACTS.items() if facts.option}
PIXEL = Picture("", np.zeros((1, 1, 1), np.uint8))  # for asking what holds for any picture


def changes_of(arguments: Namespace, state: State) -> Changes:
    """Return the State fields that the options set, checked together with the rest of `state`.

    A sigma without a size brings the size that holds its bell.
    A kernel of the user's own is left out: what reads its file says what the State gets.
    Raises BadJobError where they make no sense: an even size, an unknown name, an option that
    would be ignored.
    """
    changes = _filter_changes(arguments, state)
    given = {name: getattr(arguments, option) for name, option in OPTIONS.items()}
    if named_kernel(arguments) is not None:
        del given["implementation"]
    changes |= {name: value for name, value in given.items() if value is not None}
    _check(state, changes)
    if arguments.sigma is not None and arguments.size is None:
        changes["ksize"] = bell.size_for(replace(state, **changes))
    return changes


def cut_bell(state: State) -> str | None:
    """Sentence on a bell that the size cuts off, or None."""
    return bell.in_words(state).replace("\n", " ") if bell.is_cut_off(state) else None


def _filter_changes(arguments: Namespace, state: State) -> Changes:
    if arguments.weights is not None:
        if arguments.filter not in (None, "custom"):
            raise BadJobError(f"--weights are own weights, so --filter {arguments.filter} clashes.")
        changes = intents.changes_for(state, {"matrix": custom.parse(arguments.weights)})
        return {"filter": "custom", "offset": arguments.offset or 0.0, **changes}
    if arguments.offset is not None:
        raise BadJobError("--offset is added to what own weights give; it needs --weights.")
    if arguments.filter == "custom":
        raise BadJobError(
            'The filter custom needs --weights, such as --weights="0 0 0; 0 1 0; 0 0 0".'
        )
    changes = intents.with_filter(state, arguments.filter or state.filter)
    _refuse_ignored(filters.get(changes["filter"]), arguments)
    return changes if arguments.filter else {}


def _refuse_ignored(chosen: Filter, arguments: Namespace) -> None:
    """Refuse what a filter does not take: the window hides it, here it would be dropped."""
    for name in ("sigma", "amount"):
        if getattr(arguments, name) is not None and not intents.has_parameter(chosen, name):
            raise BadJobError(f"{chosen.title} takes no --{name}.")


def ignored(arguments: Namespace, implementation: str, reason: str | None) -> str | None:
    """Return a sentence on the GPU's options that `implementation` does not use, or None.

    reason  why it is not one on the GPU, where nobody asked for one on the CPU
    """
    given = [f"--{name}" for name in ("block", "device") if getattr(arguments, name) is not None]
    kind = intents.implementation(implementation).kind
    if kind == "auto" and "--block" in given:
        return "--block is ignored: auto picks the block shape as well."
    if not given or kind != "cpu":
        return None
    be = "is" if len(given) == 1 else "are"
    sentence = f"{' and '.join(given)} {be} ignored: {implementation} runs on the CPU."
    return f"{sentence} {reason}" if reason else sentence


def _check(state: State, changes: Changes) -> None:
    """Raise BadJobError for what no picture could make sense of.

    Of the implementation only where it is among the changes: `state` may be that of another day.
    """
    named = changes.get("implementation", AUTO.key)
    asked = {**changes, "picture": PIXEL, "implementation": named}
    intents.job_for(replace(state, **asked))
    if named != AUTO.key:
        Engine(use_gpu=False).implementation(named)


def named_kernel(arguments: Namespace) -> Path | None:
    """Return the file that --implementation names; None where that is no kernel's."""
    named = arguments.implementation
    return Path(named) if named is not None and is_own(named) else None


def read_named(path: Path) -> Rung:
    """Read the kernel in a file.  Raises CommandError where it makes none."""
    try:
        return read_own_kernel(path)
    except HeaderError as error:
        raise CommandError(str(error)) from error


def devices_of_window(arguments: Namespace) -> Changes:
    """Return the State fields that say how many GPUs share a picture in the window.

    The `device` and the `devices` of `arguments` are then what its Engine has; whether they are
    there the window says, since to look takes a while.
    """
    named: tuple[int, ...] | None = arguments.devices
    arguments.device = named[0] if named else None
    if named is None:
        return {}
    if len(named) == 1:
        arguments.devices = None  # all may be chosen in the window, and begin with this one
    return {"devices": len(named) or MAX_DEVICES}
