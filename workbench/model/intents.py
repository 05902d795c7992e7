"""Pure functions from the State's choices to work, or to the reason why there is none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from kernels import filters
from kernels.core.device import Device, NoDevice
from kernels.core.errors import KernelError
from kernels.core.job import Job, Pick, Result
from kernels.cpu import HostImplementation
from kernels.engine.auto import AUTO, DEFAULT_BLOCK_XY, Auto
from kernels.engine.engine import Implementation, all_implementations
from kernels.engine.own_kernel import UNTIMED, OwnKernel
from kernels.filters import Filter
from kernels.rungs.own_kernels import is_own
from kernels.rungs.rung import BrokenRung, Rung
from kernels.sweeps.cell_jobs import made_weights
from kernels.sweeps.plan_files import MAX_DEVICES
from workbench.imaging.display_mapping import (
    DisplayMapping,
    default_levels,
    is_signed,
    known_unclipped,
    natural_display,
)
from workbench.imaging.pictures import Picture
from workbench.model.state import FACTS, State, changed_fields

Changes = dict[str, Any]
Choice = Implementation | OwnKernel | Auto  # what may be chosen to run on
LOOKING = "Looking for a GPU…"


def job_for(state: State) -> Job | None:
    """Make the job to run now; None without a picture, or while a kernel's file is read.

    The same Job for the same newest state.  Raises KernelError where the choices clash.
    """
    if state.picture is None or (is_own(state.implementation) and not own_text(state)):
        return None
    wide = known_unclipped(state.picture.samples) if is_unclipped(state) else None
    samples = state.picture.samples if wide is None else wide
    newest = _newest_job.get(state)
    if newest is None or newest.picture is not samples:
        chosen = filters.get(state.filter)
        newest = Job(
            picture=samples,
            weights=weights_for(state),
            border=state.border,
            implementation=state.implementation,
            block_xy=state.block_xy,
            devices=state.devices,
            filter_title=chosen.title,
            gradient=chosen.gradient,
            offset=offset_for(state),
            own=own_text(state),
        )
        _newest_job.clear()
        _newest_job[state] = newest
    return newest


_newest_job: WeakKeyDictionary[State, Job] = WeakKeyDictionary()


def own_text(state: State) -> str:
    """Source of the chosen user kernel; empty: none is, or it is not read."""
    own = state.own_kernel
    return own.text if own is not None and own.name == state.implementation else ""


def needs_run(old: State, new: State) -> bool:
    """Return True if `new` asks for another result than `old`."""
    if any(FACTS[name].reruns for name in changed_fields(old, new)):
        return True
    return is_unclipped(new) != is_unclipped(old)


def offset_for(state: State) -> float:
    """Number added to every filtered sample, in sample values: only with custom weights."""
    if state.picture is None or not has_parameter(filters.get(state.filter), "matrix"):
        return 0.0
    return state.offset * state.picture.white


def is_unclipped(state: State) -> bool:
    """Return True if a picture of whole numbers is to be filtered as float32.

    Negative results are cut off only where a pixel type of whole numbers was chosen, and no way
    to see values below zero.
    """
    if state.picture is None or state.picture.samples.dtype.kind != "u":
        return False
    is_to_be_cut = state.pixel_type in ("uint8", "uint16") and (
        state.negative_display in (None, "clip")
    )
    return not is_to_be_cut and swings_around_zero(state)


def swings_around_zero(state: State) -> bool:
    """Return True if the filter's results lie around zero, as its weights cancel each other."""
    try:
        weights = weights_for(state)
    except KernelError:
        return False  # there is nothing to show
    return is_signed(weights, filters.get(state.filter).gradient) and not offset_for(state)


def is_around_zero(state: State) -> bool:
    """Return True if the result's values lie around zero, with negative ones kept."""
    picture = state.picture
    if picture is None or not (picture.samples.dtype.kind == "f" or is_unclipped(state)):
        return False
    return swings_around_zero(state)


def is_of(job: Job, picture: Picture | None) -> bool:
    """Return True if `job` filters `picture`, as it is or as float32."""
    if picture is None:
        return False
    return job.picture is picture.samples or job.picture is known_unclipped(picture.samples)


def look_for(state: State) -> DisplayMapping:
    """Display mapping of the result of the present choices."""
    return _look(state, weights_for(state) if is_around_zero(state) else None)


def look_at(job: Job, state: State) -> DisplayMapping:
    """Display mapping of an earlier result of the same picture."""
    has_sign = job.picture.dtype.kind == "f" and _is_signed(job)
    return _look(state, job.weights if has_sign else None)


def _look(state: State, weights: NDArray[np.float32] | None) -> DisplayMapping:
    full = None if state.picture is None else state.picture.white
    if weights is None or full is None:
        return DisplayMapping(state.levels, "clip", full)
    display = state.negative_display or natural_display(weights)
    low, high = state.levels or (0.0, full)  # a picture of little contrast has small differences
    return DisplayMapping(state.result_levels or default_levels(display, high - low), display, full)


def look_in_words(job: Job, look: DisplayMapping) -> str:
    """Display of values below zero, for a caption; "" where the filter makes none."""
    if not _is_signed(job):
        return ""
    return SIGNED_IN_WORDS[look.negative_display] if job.picture.dtype.kind == "f" else CUT_OFF


def _is_signed(job: Job) -> bool:
    return is_signed(job.weights, job.gradient) and not job.offset


CUT_OFF = "cut off: below 0 is stored as 0"
SIGNED_IN_WORDS = {
    "clip": "clipped: below 0 is black",
    "absolute": "absolute values",
    "offset": "centred: 0 is grey",
    "scaled": "fit range: 0 is grey",
}


def baseline_for(job: Job, state: State) -> Job:
    """Make the same work for the CPU implementation that speed-ups are measured against."""
    return replace(job, implementation=state.baseline, block_xy=DEFAULT_BLOCK_XY, own="", devices=1)


def is_baseline_of(baseline: Result | None, job: Job, state: State) -> bool:
    """Return True for a result of `baseline_for(job, state)`."""
    return (
        baseline is not None
        and baseline.job.same_work(job)
        and baseline.job.implementation == state.baseline
    )


def is_answer(result: Result, state: State) -> bool:
    """Return True if `result` is of the present choices."""
    try:
        wanted = job_for(state)
    except KernelError:
        return False
    return wanted is not None and result.job.same_run(wanted)


def weights_for(state: State) -> NDArray[np.float32]:
    """The state's weights, (ksize, ksize) float32; the same choices give the same array."""
    return made_weights(state.filter, state.ksize, state.sigma, state.amount, state.matrix)


def with_filter(state: State, key: str) -> Changes:
    """Changes at picking the filter `key`, with the nearest size that it accepts.

    A filter whose size is not the user's choice keeps the size before in `last_free_ksize`.
    """
    chosen = filters.get(key)
    wanted = state.ksize if has_sizes(filters.get(state.filter)) else state.last_free_ksize
    if has_sizes(chosen):
        return {"filter": key, "ksize": chosen.nearest_size(wanted or state.ksize)}
    ksize = len(state.matrix) if key == "custom" else chosen.nearest_size(state.ksize)
    return {"filter": key, "ksize": ksize, "last_free_ksize": wanted}


def has_sizes(chosen: Filter) -> bool:
    """Return True if the size of its weights is the user's choice."""
    return len(chosen.sizes) > 1 and not has_parameter(chosen, "matrix")


def with_picture(picture: Picture) -> Changes:
    """Changes at opening `picture`: levels go with the picture that they were set for."""
    return {"picture": picture, "levels": None, "result_levels": None}


def changes_for(state: State, wanted: Changes) -> Changes:
    """Changes when the user chooses `wanted`: these, and those that they bring along."""
    brought: Changes = {}
    if "filter" in wanted:
        brought |= with_filter(state, wanted["filter"])
    if "matrix" in wanted:
        brought["ksize"] = len(wanted["matrix"])
    if "implementation" in wanted:
        brought["chosen_implementation"] = wanted["implementation"]
    if state.result_levels is not None and {"filter", "negative_display"} & wanted.keys():
        brought["result_levels"] = None  # they were those of other values
    return brought | wanted


def choices() -> tuple[Choice, ...]:
    """Everything that may be chosen to run on: `auto`, then its candidates."""
    return (AUTO, *all_implementations())


def implementation(key: str) -> Choice:
    """Implementation called `key`, which exists; a user kernel without its source."""
    if is_own(key):
        return OwnKernel(key)
    return next(each for each in choices() if each.key == key)


def chosen_in(state: State) -> Choice:
    """Chosen implementation, a user kernel with its source."""
    key = state.implementation
    return OwnKernel(key, own_text(state)) if is_own(key) else implementation(key)


def implementation_of(job: Job, picked: Pick | None = None) -> Choice:
    """Implementation that runs `job`, or that was picked for it."""
    key = picked.implementation if picked else job.implementation
    return OwnKernel.of(job) if is_own(key) else implementation(key)


def implementation_for(state: State, device: Device | NoDevice) -> str:
    """Key of the user's choice, or of the best there is where that cannot run."""
    chosen = state.chosen_implementation
    if chosen is not None and not why_not_here(implementation(chosen), device):
        return chosen
    return first_choice(state, device)


def devices_for(state: State, device: Device | NoDevice) -> int:
    """Number of GPUs that share a picture: as chosen, or as many as there are."""
    return min(state.devices, device.count) if isinstance(device, Device) else state.devices


def not_as_chosen(state: State, device: Device | NoDevice) -> Iterator[str]:
    """Yield a sentence for each choice of what to run on that `device` cannot fulfil."""
    chosen = state.chosen_implementation
    if chosen is not None and (reason := why_not_here(implementation(chosen), device)):
        yield f"{implementation(chosen).title} was chosen, and cannot run here: {reason}"
    if isinstance(device, Device) and device.count < state.devices < MAX_DEVICES:  # else: all
        yield f"{state.devices} GPUs were chosen, and there are no more than {device.count} now."


def first_choice(state: State, device: Device | NoDevice | None) -> str:
    """Key of `auto` with a GPU, else of the last CPU implementation that can run."""
    usual = replace(state, block_xy=DEFAULT_BLOCK_XY)  # auto ignores the block shape chosen
    able = [i for i in all_implementations() if why_unavailable(usual, i, device) is None]
    return AUTO.key if isinstance(able[-1], Rung) else able[-1].key


def why_not_here(candidate: Choice, device: Device | NoDevice | None) -> str | None:
    """Reason why `candidate` cannot run on this computer at all; None if some jobs may."""
    if isinstance(candidate, BrokenRung):
        return candidate.reason
    if isinstance(candidate, OwnKernel):
        return LOOKING if device is None else candidate.why_not_here(device)
    if candidate.kind != "cuda" or isinstance(device, Device):
        return None
    return device.reason if isinstance(device, NoDevice) else LOOKING


def why_untimed(own: OwnKernel, device: Device | NoDevice | None) -> str | None:
    """Reason why a user kernel has no time on this computer; None if it may."""
    if device is None:
        return LOOKING
    return None if isinstance(device, Device) else UNTIMED.format(key=own.key)


def job_caption(job: Job, picked: Pick | None = None) -> str:
    """Format the job: "Gaussian blur 5×5 · OpenCV", or "… · Auto: OpenCV"."""
    title = title_with_pick(job.implementation, picked)
    sign = "−" if job.offset < 0 else "+"
    offset = f" {sign} {abs(job.offset):g}" if job.offset else ""
    return f"{job.filter_title} {job.ksize}×{job.ksize}{offset} · {title}"


def title_with_pick(key: str, picked: Pick | None = None) -> str:
    """Format a title: "OpenCV", or "Auto: OpenCV" where it was picked."""
    title = implementation(key).title
    return f"{title}: {implementation(picked.implementation).title}" if picked else title


def has_parameter(chosen: Filter, name: str) -> bool:
    """Return True if the filter takes the parameter `name`."""
    return any(parameter.name == name for parameter in chosen.parameters)


def why_unavailable(
    state: State, candidate: Choice, device: Device | NoDevice | None
) -> str | None:
    """Reason why `candidate` cannot run what `state` asks for; None if it can, as `auto` always.

    device  None: still being looked for
    """
    if isinstance(candidate, Auto):
        return None
    if reason := why_not_here(candidate, device):
        return reason
    try:
        job = job_for(state)
    except KernelError:
        return None  # whatever is wrong is not the candidate's fault
    if job is None:
        return None
    if isinstance(candidate, HostImplementation):
        return candidate.why_not(job)
    if isinstance(candidate, OwnKernel):
        return candidate.why_not(job, device) if candidate.text and device else None
    return candidate.why_not(job, device) if isinstance(device, Device) else None
