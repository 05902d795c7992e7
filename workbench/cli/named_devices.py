"""The GPUs that `--device 0,1` or `--device all` names, and the processes that they have."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace

from kernels.core.cores import usable_cores
from kernels.core.device import Device
from workbench.batch.device_run import processes_each
from workbench.batch.filtering import Recipe
from workbench.cli.command_error import USAGE, CommandError, complain
from workbench.cli.recipe_options import note_on, runs_on_gpu
from workbench.cli.this_machine import engine_maker

GPU_BYTES_EACH = 1 << 30  # of a GPU's memory, for a process: half of it before the first picture


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
    """Return `recipe` with the GPUs that are named sharing the rows of every picture.

    They are the `device` and the `devices` of `arguments` then.  As it is where nothing runs on a
    GPU, or one is named.  Raises CommandError where one of them is not there.
    """
    named: tuple[int, ...] | None = arguments.devices
    if named is None or len(named) == 1:
        return recipe
    engine = engine_maker(arguments)()
    if not runs_on_gpu(engine, recipe):
        return recipe
    assert isinstance(engine.device, Device)
    arguments.devices = _numbers(named, engine.device)
    arguments.device = arguments.devices[0]
    return replace(recipe, chosen=replace(recipe.chosen, devices=len(arguments.devices)))


def sharing_devices(arguments: Namespace, recipe: Recipe) -> tuple[int, ...]:
    """Return the GPUs that share the pictures; none: one engine does them all.

    Raises CommandError where one of them is not there, and where a cluster is to do it.
    """
    named: tuple[int, ...] | None = arguments.devices
    if named is None or len(named) == 1:
        return ()
    if arguments.scheduler is not None:
        raise CommandError(
            "With --scheduler each worker has one GPU: choose --device N, and start a worker for "
            "each GPU.",
            USAGE,
        )
    engine = engine_maker(arguments)()
    if not runs_on_gpu(engine, recipe):
        return ()
    assert isinstance(engine.device, Device)
    found = _numbers(named, engine.device)
    if len(found) == 1:
        return ()
    if note := note_on(engine, recipe, arguments):
        complain(note)
    return found


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
