"""Options of the commands that filter files: what is to be done to every picture."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace

from kernels import Engine, Job, Sampling
from kernels.core.device import Device
from workbench.batch.filtering import Recipe
from workbench.cli.command_error import complain
from workbench.cli.own_kernel_option import named_kernel, read_named
from workbench.cli.state_options import PIXEL, changes_of, cut_bell, ignored
from workbench.model import intents
from workbench.model.state import OwnFile, State


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
