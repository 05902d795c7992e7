"""Options of `apply` and `batch`: the recipe for all pictures, and who shares the work."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import numpy as np

from kernels import Engine, Job, Sampling, filters
from kernels.core.cpu_load import usable_cores
from kernels.core.device import Device
from kernels.core.errors import BadJobError
from kernels.engine.auto import AUTO
from kernels.filters import Filter, custom
from kernels.rungs.headers import HeaderError
from kernels.rungs.own_kernels import is_own, read_own_kernel
from kernels.rungs.rung import Rung
from kernels.sweeps.plan_files import MAX_DEVICES
from workbench.batch.device_run import processes_each
from workbench.batch.filtering import Recipe
from workbench.cli.output import USAGE, CommandError, complain
from workbench.cli.this_machine import engine_maker
from workbench.model import bell, intents
from workbench.model.intents import Changes
from workbench.model.state import FACTS, OwnFile, Picture, State

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


GPU_BYTES_EACH = 1 << 30  # of a GPU's memory, for a process: half of it before the first picture


def recipe_of(arguments: Namespace, sampling: Sampling) -> Recipe:
    """Read what is to be done to every picture; say so of a bell that is cut off.

    sampling  how often each is filtered for its time
    Raises CommandError for a kernel of the user's own that cannot be read, and BadJobError.
    """
    own = named_kernel(arguments)
    check_every, is_every_pixel = arguments.verify
    chosen = replace(State(), **changes_of(arguments, State()))
    if note := cut_bell(chosen):
        complain(note)
    if own is not None:
        file = OwnFile(own.absolute(), read_named(own).source)
        chosen = replace(chosen, implementation=file.name, own_kernel=file)
    return Recipe(
        chosen=chosen,
        implementation=own.name if own else arguments.implementation,
        sampling=replace(sampling, check_taps=None) if is_every_pixel else sampling,
        check_every=check_every,
        quality=arguments.quality,
        reduce=arguments.reduce,
        keeps_files=not arguments.replace,
        memory_bytes=arguments.memory,
    )


def note_on(engine: Engine, recipe: Recipe, arguments: Namespace) -> str | None:
    """Return a sentence on what is not as the options may make one expect, or None."""
    if recipe.is_own and isinstance(engine.device, Device):
        return None
    if recipe.is_own:
        return f"{recipe.implementation} runs on the CPU runtime, which is slow; no time is taken."
    if recipe.implementation is not None:
        return ignored(arguments, recipe.implementation, None)
    job = _job_of(recipe)
    return ignored(arguments, engine.best_for(job), engine.why_not_auto(job))


def runs_on_gpu(engine: Engine, recipe: Recipe) -> bool:
    """Return whether pictures are filtered on a GPU, which is there."""
    if not isinstance(engine.device, Device) or recipe.is_own:
        return isinstance(engine.device, Device)
    named = recipe.implementation or engine.best_for(_job_of(recipe))
    return intents.implementation(named).kind != "cpu"


def _job_of(recipe: Recipe) -> Job:
    job = intents.job_for(replace(recipe.chosen, picture=PIXEL))
    assert job is not None
    return job


def first_device(arguments: Namespace) -> int | None:
    """Return the GPU that this process uses; None: nobody named one.

    Where several are named it is number 0, which is there wherever there is any, to be asked how
    many there are.
    """
    named: tuple[int, ...] | None = arguments.devices
    if named is None:
        return None
    return named[0] if len(named) == 1 else 0


def with_devices(recipe: Recipe, arguments: Namespace) -> Recipe:
    """Return `recipe` with the named GPUs sharing the rows of every picture.

    They become the `device` and the `devices` of `arguments`.  Raises CommandError.
    """
    if (numbers := _several_gpus(arguments, recipe)) is None:
        return recipe
    arguments.devices, arguments.device = numbers, numbers[0]
    return replace(recipe, chosen=replace(recipe.chosen, devices=len(numbers)))


def sharing_devices(arguments: Namespace, recipe: Recipe) -> tuple[int, ...]:
    """Return the GPUs that share the pictures; none: one engine does them all.

    Raises CommandError where one of them is not there, and where a cluster is to do it.
    """
    if (
        arguments.scheduler is not None
        and arguments.devices is not None
        and len(arguments.devices) != 1
    ):
        raise CommandError(
            "With --scheduler each worker has one GPU: choose --device N, and start a worker for "
            "each GPU.",
            USAGE,
        )
    numbers = _several_gpus(arguments, recipe) or ()
    if len(numbers) <= 1:
        return ()
    if note := note_on(engine_maker(arguments)(), recipe, arguments):
        complain(note)
    return numbers


def _several_gpus(arguments: Namespace, recipe: Recipe) -> tuple[int, ...] | None:
    """Return the GPUs that are named; None where one is, or nothing runs on a GPU."""
    named: tuple[int, ...] | None = arguments.devices
    if named is None or len(named) == 1:
        return None
    engine = engine_maker(arguments)()
    if not runs_on_gpu(engine, recipe):
        return None
    assert isinstance(engine.device, Device)
    return _numbers(named, engine.device)


def processes_for(
    sharing: tuple[int, ...], pictures: int, recipe: Recipe, arguments: Namespace
) -> tuple[int | None, ...]:
    """Return the GPU of each process that is to filter so many pictures, or None for the CPU.

    sharing  the GPUs that share the pictures, as `sharing_devices` gives them
    returns  none where this process does it all: there is too little to do for more, or too few
             threads; pictures are to take as little memory as is said; or it is a kernel of the
             user's own, which has processes of its own
    """
    jobs, count = arguments.jobs or usable_cores(), len(sharing) or 1
    each = processes_each(jobs // count, pictures // count)
    if each == 1 or recipe.is_own or recipe.memory_bytes is not None:
        return sharing
    engine = engine_maker(arguments)()
    if not sharing and (note := note_on(engine, recipe, arguments)):
        complain(note)
    if not runs_on_gpu(engine, recipe):
        return (None,) * each
    assert isinstance(engine.device, Device)
    room = max(engine.device.memory_bytes // GPU_BYTES_EACH, 1)
    return (sharing or (engine.device.index,)) * min(each, room)


def _numbers(named: tuple[int, ...], device: Device) -> tuple[int, ...]:
    """Return the GPUs that are named; none: all.  Raises CommandError where one is not there."""
    there = range(device.count)
    if missing := sorted(set(named) - set(there)):
        choice = f"0 to {there[-1]}" if there[-1] else "0"
        raise CommandError(
            f"There is no GPU number {missing[0]}: this computer has {len(there)}, counted from 0. "
            f"Choose --device {choice}, or all.",
            USAGE,
        )
    return named or tuple(there)
