"""Options of `apply` and `batch`: the recipe for all pictures, and who shares the work."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace

from kernels import Engine, Job, Sampling
from kernels.core.cores import usable_cores
from kernels.core.device import Device
from workbench.batch.device_run import processes_each
from workbench.batch.filtering import Recipe
from workbench.cli.output import USAGE, CommandError, complain
from workbench.cli.state_options import (
    PIXEL,
    changes_of,
    cut_bell,
    ignored,
    named_kernel,
    read_named,
)
from workbench.cli.this_machine import engine_maker
from workbench.model import intents
from workbench.model.state import OwnFile, State

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
