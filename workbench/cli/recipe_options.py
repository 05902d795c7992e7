"""The options of one filtering: State fields, recipes, and the GPUs that share the work."""

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
from kernels.filters import custom
from kernels.filters.parameters import DISK, NUMBERS, option_of
from kernels.rungs.own_kernels import is_own, read_own_kernel
from kernels.sweeps import step_words
from kernels.sweeps.plan_keys import MAX_DEVICES, known_name
from workbench.batch.device_run import processes_each
from workbench.batch.filtering import Recipe
from workbench.cli.output import USAGE, CommandError, complain
from workbench.cli.this_machine import engine_maker
from workbench.imaging.pictures import Picture
from workbench.model import bell, intents, step_files
from workbench.model.choices import alone
from workbench.model.intents import Changes
from workbench.model.state import FACTS, OwnFile, State

OF_FILTER = tuple(p.name for p in (*NUMBERS, DISK))  # fields that only some filters take
OPTIONS = {name: facts.option for name, facts in FACTS.items() if facts.option}
PIXEL = Picture("", np.zeros((1, 1, 1), np.uint8))  # for questions about any picture
GPU_BYTES_EACH = 1 << 30  # of a GPU's memory, for a process: half of it before the first picture


def changes_of(arguments: Namespace, state: State) -> Changes:
    """Collect the State fields that the options set, checked together with the rest of `state`.

    A sigma without a size brings the size that holds its bell; a filter or steps replace all steps
    there are.  A user kernel is left out: the reader of its file gives it to the State.
    Raises BadJobError where they make no sense: an even size, an unknown name, an option that
    would be ignored.
    """
    is_list = bool(arguments.step or arguments.steps)
    changes = _steps_changes(arguments) if is_list else _filter_changes(arguments, state)
    given = {name: getattr(arguments, option) for name, option in OPTIONS.items()}
    if named_kernel(arguments) is not None:
        del given["implementation"]
    given = {name: each for name, each in given.items() if each is not None}
    changes |= given
    if is_list:
        changes |= _list_changes(arguments, changes, given)
    # Of the implementation only if it is among the changes: `state` may be that of another day.
    named = changes.get("implementation", AUTO.key)
    pixel: Changes = {"picture": PIXEL, "implementation": named, "region": None}
    intents.job_for(replace(state, **{**changes, **pixel}))
    if named != AUTO.key:
        Engine(use_gpu=False).implementation(named)
    if arguments.round_between and not is_list:
        raise BadJobError("--round-between is for several steps; give them with --step.")
    if arguments.whole is not None and not is_list:
        raise BadJobError("--whole is for several steps; give them with --step.")
    if arguments.sigma is not None and arguments.size is None:
        changes["ksize"] = bell.size_for(replace(state, **changes))
    return changes


def _steps_changes(arguments: Namespace) -> Changes:
    if arguments.step and arguments.steps:
        raise BadJobError("--step and --steps both name the steps; give one of them.")
    for name in ("filter", "size", *OF_FILTER, "weights", "offset"):
        if getattr(arguments, OPTIONS.get(name, name)) is not None:
            words = f"{option_of(name)} is a step's: write it there"
            raise BadJobError(f"{words}, as in --step gaussian:7.")
    if arguments.step:
        return step_files.changes_of_steps(list(map(step_words.parse_step, arguments.step)))
    path = Path(arguments.steps)
    if path.suffix.lower() != step_words.SUFFIX and not path.exists():
        ready, other = step_words.ready_made(), ", or a file such as mine.toml"
        first = arguments.steps.replace(",", ":").partition(":")[0]
        if first in {each.key for each in filters.all_filters()}:
            raise BadJobError(f"--steps names a list; a step is --step {arguments.steps}.")
        found = ready[known_name("list", arguments.steps, tuple(ready), other)]
        return step_files.changes_of(found)
    return step_files.changes_of(step_words.read(path))


def _list_changes(arguments: Namespace, changes: Changes, given: Changes) -> Changes:
    how: Changes = {name: given[name] for name in ("implementation", "block_xy") if name in given}
    if "implementation" in how:
        how["chosen_implementation"] = how["implementation"]
    before = tuple(replace(each, **how) for each in changes["before"])
    named = [each.implementation for each in (*before, replace(State(), **changes).selected)]
    if any(map(is_own, named)) or (before and named_kernel(arguments) is not None):
        raise BadJobError("A user kernel is one filter: it is no step of a list here.")
    is_rounded = changes.get("is_rounded", False) or arguments.round_between
    return {**how, "before": before, "is_rounded": is_rounded}


def _filter_changes(arguments: Namespace, state: State) -> Changes:
    named = arguments.filter or ("custom" if arguments.weights is not None else state.filter)
    chosen = filters.get(named)
    for name in OF_FILTER:  # the window hides it, here it would be dropped
        is_given = getattr(arguments, OPTIONS[name]) is not None
        if is_given and not filters.has_parameter(chosen, name):
            raise BadJobError(f"{chosen.title} takes no {option_of(name)}.")
    if arguments.weights is not None:
        if arguments.filter not in (None, "custom"):
            raise BadJobError(f"--weights are own weights, so --filter {arguments.filter} clashes.")
        changes = intents.changes_for(state, {"matrix": custom.parse(arguments.weights)})
        return {**alone(state), "filter": "custom", "offset": arguments.offset or 0.0, **changes}
    if arguments.offset is not None:
        raise BadJobError("--offset is added to what own weights give; it needs --weights.")
    if arguments.filter == "custom":
        raise BadJobError('The filter custom needs --weights, such as "0 0 0; 0 1 0; 0 0 0".')
    changes = intents.with_filter(state, named)
    return {**alone(state), **changes} if arguments.filter else {}


def named_kernel(arguments: Namespace) -> Path | None:
    """The user kernel's file that --implementation names, if any."""
    named = arguments.implementation
    return Path(named) if named is not None and is_own(named) else None


def devices_of_window(arguments: Namespace) -> Changes:
    """Move the named GPUs to the `device` and `devices` of `arguments`, for the Engine.

    Returns the State field with their number; the window complains of GPUs that are not there.
    """
    named: tuple[int, ...] | None = arguments.devices
    arguments.device = named[0] if named else None
    if named is not None and len(named) == 1:
        arguments.devices = None  # all may be chosen in the window, and begin with this one
    return {} if named is None else {"devices": len(named) or MAX_DEVICES}


def recipe_of(arguments: Namespace, sampling: Sampling) -> Recipe:
    """Make the recipe for all pictures; warn of a bell that is cut off.

    Set `device` of `arguments` to the GPU that this process uses: of several it is number 0, which
    is there wherever there is any, and knows their number.
    Raises CommandError for a user kernel that cannot be read, and BadJobError.
    """
    own, numbers = named_kernel(arguments), arguments.devices
    arguments.device = None if numbers is None else numbers[0] if len(numbers) == 1 else 0
    check_every, is_every_pixel = arguments.verify
    chosen = replace(State(), **changes_of(arguments, State()))
    for each in filter(bell.is_cut_off, chosen.steps):
        complain(bell.in_words(each).replace("\n", " "))
    only = None if chosen.before else chosen.chosen_implementation
    if own is not None:
        file = OwnFile(own.absolute(), read_own_kernel(own).source)
        chosen = replace(chosen, implementation=file.name, own_kernel=file)
    return Recipe(
        chosen=chosen,
        implementation=own.name if own else arguments.implementation or only,
        sampling=replace(sampling, check_taps=None) if is_every_pixel else sampling,
        check_every=check_every,
        quality=arguments.quality,
        reduce=arguments.reduce,
        keeps_files=not arguments.replace,
        memory_bytes=arguments.memory,
        page=arguments.page or 1,
    )


def complain_of_ignored(
    arguments: Namespace, implementation: str, reason: str | None = None
) -> None:
    """Name the GPU's options that `implementation` does not use, in a sentence.

    reason  for running on the CPU, if that is nobody's choice
    """
    given = [f"--{name}" for name in ("block", "device") if getattr(arguments, name) is not None]
    kind = intents.implementation(implementation).kind
    if kind == "auto" and "--block" in given:
        complain("--block is ignored: auto picks the block shape as well.")
    elif given and kind == "cpu":
        sentence = f"Ignored: {' and '.join(given)}, as {implementation} runs on the CPU."
        complain(f"{sentence} {reason or ''}".rstrip())


def complain_of(engine: Engine, recipe: Recipe, arguments: Namespace) -> None:
    """Name a slow or an ignored option, in a sentence."""
    if not recipe.is_own:
        named, reason = _implementation(engine, recipe)
        complain_of_ignored(arguments, named, reason)
    elif not isinstance(engine.device, Device):
        complain(f"{recipe.implementation} runs on the CPU, which is slow; no time is taken.")


def _implementation(engine: Engine, recipe: Recipe) -> tuple[str, str | None]:
    """The named implementation or auto's pick; and why that is none on the GPU.

    Of several steps that of the first which does not run on the CPU, else of the first.
    """
    if recipe.implementation is not None:
        return recipe.implementation, None
    job = intents.job_for(replace(recipe.chosen, picture=PIXEL, region=None))
    assert job is not None
    if job.is_one_launch:
        return engine.best_for(job), engine.why_not_auto(job)
    parts = [job.part(run, PIXEL.samples) for run in job.runs]
    keys = {_key(engine, each): each for each in reversed(parts)}
    on_gpu = (each for each in reversed(keys) if intents.implementation(each).kind != "cpu")
    named = next(on_gpu, _key(engine, parts[0]))
    is_auto = keys[named].implementation == AUTO.key
    return named, engine.why_not_auto(keys[named]) if is_auto else None


def _key(engine: Engine, job: Job) -> str:
    return engine.best_for(job) if job.implementation == AUTO.key else job.implementation


def _gpu_for(engine: Engine, recipe: Recipe) -> Device | None:
    device = engine.device if isinstance(engine.device, Device) else None
    if device is None or recipe.is_own:
        return device
    named, _ = _implementation(engine, recipe)
    return device if intents.implementation(named).kind != "cpu" else None


def several_gpus(arguments: Namespace, recipe: Recipe) -> tuple[int, ...]:
    """The GPUs that --device names; none if it is one, or nothing runs on a GPU.

    Raises CommandError where one of them is not there.
    """
    named: tuple[int, ...] | None = arguments.devices
    if named is None or len(named) == 1:
        return ()
    if (device := _gpu_for(engine_maker(arguments)(), recipe)) is None:
        return ()
    if missing := sorted(set(named) - set(range(device.count))):
        raise CommandError(
            f"There is no GPU number {missing[0]}: this computer has {device.count}, from 0.", USAGE
        )
    found = named or tuple(range(device.count))
    return found if len(found) > 1 else ()


def processes_for(
    sharing: tuple[int, ...], pictures: int, recipe: Recipe, arguments: Namespace
) -> tuple[int | None, ...]:
    """The GPU, or None for the CPU, of each process that filters so many pictures.

    sharing  the GPUs that share the pictures; none: one engine filters them all
    returns  none if this process does it all: too few pictures or threads for more; a limit of
             memory; or a user kernel, which has its own processes
    """
    jobs, count = arguments.jobs or usable_cores(), len(sharing) or 1
    each = processes_each(jobs // count, pictures // count)
    is_plain = each == 1 or recipe.is_own or recipe.memory_bytes is not None
    if is_plain and not sharing:
        return ()
    engine = engine_maker(arguments)()
    complain_of(engine, recipe, arguments)
    if is_plain:
        return sharing
    if (device := _gpu_for(engine, recipe)) is None:
        return (None,) * each
    return (sharing or (device.index,)) * min(each, max(device.memory_bytes // GPU_BYTES_EACH, 1))
