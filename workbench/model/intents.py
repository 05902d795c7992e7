"""Pure functions from the State's choices to work, or to the reason why there is none."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from functools import lru_cache, partial
from itertools import accumulate, chain, takewhile
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from kernels import filters
from kernels.core.cache import blank
from kernels.core.device import Device, NoDevice
from kernels.core.errors import BadJobError, KernelError
from kernels.core.job import Job, Pick, Region, Result
from kernels.core.step import Correlation, Step, StepRun
from kernels.cpu import HostImplementation
from kernels.cuda.listed_run import why_no_strips
from kernels.engine.auto import AUTO, DEFAULT_BLOCK_XY, Auto
from kernels.engine.engine import Implementation, all_implementations
from kernels.engine.list_ways import LIST_RUNGS, STRIPS, why_not
from kernels.engine.own_kernel import UNTIMED, OwnKernel
from kernels.engine.step_list import type_after
from kernels.filters import has_sizes
from kernels.rungs.own_kernels import is_own
from kernels.rungs.rung import BrokenRung, Rung
from kernels.sweeps.plan_keys import MAX_DEVICES
from kernels.sweeps.step_words import WrittenStep, job_steps, made_filter
from workbench.base.numbers import GAP
from workbench.imaging.display_mapping import (
    DisplayMapping,
    default_levels,
    is_signed,
    known_unclipped,
    natural_display,
)
from workbench.imaging.pictures import Picture
from workbench.model.names import implementation_title
from workbench.model.state import FACTS, State, changed_fields
from workbench.model.state import Step as ListStep

Changes = dict[str, Any]
Choice = Implementation | OwnKernel | Auto  # what may be chosen to run on
LOOKING = "Looking for a GPU…"
T = TypeVar("T")


def or_none(make: Callable[..., T], *of: Any) -> T | None:
    """What `make` makes of these; None where the choices clash, of which the window says why."""
    with suppress(KernelError):
        return make(*of)
    return None


def job_for(state: State, *, is_newest: bool = True) -> Job | None:
    """Make the job to run now; None without a picture, or while a kernel's file is read.

    The same Job for the same newest state.  Raises KernelError where the choices clash.
    """
    if state.picture is None or (is_own(state.implementation) and not own_text(state)):
        return None
    wide = known_unclipped(state.picture.samples) if is_unclipped(state) else None
    samples = state.picture.samples if wide is None else wide
    newest = _newest_job.get(state) if is_newest else None
    if newest is None or newest.picture is not samples:
        steps = tuple(chain.from_iterable(map(partial(made, state), taken_in(state))))
        newest = Job(
            *(samples, steps, state.border, state.is_rounded, region_in(state, *samples.shape[:2])),
            devices=state.devices,
            list_way=state.whole,
            opaque=_opaque_in(state, steps),
        )
        if is_newest:
            _newest_job.clear()
            _newest_job[state] = newest
    return newest


def _opaque_in(state: State, steps: Sequence[Step]) -> float | None:
    """The alpha by which colours are weighted; None where they are not.

    User kernels have alpha as it is, which they copy; what changes nothing keeps hidden colours.
    """
    is_own_kernel = any(is_own(each.implementation) for each in steps)
    if state.picture is None or state.alpha == "apart" or is_own_kernel or change_nothing(steps):
        return None
    return state.picture.white if state.picture.is_transparent else None


def alpha_in_words(job: Job) -> str:
    """What becomes of alpha by which colours are weighted; "" where they are not."""
    if job.opaque is None:
        return ""
    leave = [run.steps[0].title for run in job.runs if run.keeps_alpha]
    if len(leave) == len(job.runs):
        return "alpha stays"
    names = " and ".join(dict.fromkeys(leave))
    return "alpha is filtered as well" + (f", but not by {names}" if names else "")


def change_nothing(steps: Sequence[Step]) -> bool:
    return all(getattr(e.filter, "is_identity", False) and not e.is_grey for e in steps)


def region_in(state: State, height: int, width: int, factor: float = 1) -> Region | None:
    """What of the chosen part lies inside a picture; None: all is filtered.

    Of a copy that is smaller by `factor`, or of a picture larger than memory, in its pixels.

    Raises BadJobError where nothing of it does.
    """
    if state.region is None:
        return None
    x, y, wide, high, feather = state.region
    step = file_pixels(state.picture) * factor
    left, top, right, bottom = (round(each / step) for each in (x, y, x + wide, y + high))
    right, bottom = min(max(right, left + 1), width), min(max(bottom, top + 1), height)
    if left >= right or top >= bottom:
        size = f"{round(width * step)}×{round(height * step)}"
        raise BadJobError(f"The part of the picture begins at {x},{y}, outside {size}.")
    return Region(left, top, right - left, bottom - top, round(feather / step))


def file_pixels(picture: Picture | None) -> float:
    """Pixels of the picture's file, across and down, that are one of its samples."""
    return picture.large.step if picture is not None and picture.large is not None else 1.0


def part_of(state: State) -> Region | None:
    """What of the chosen part lies inside the picture; None: nothing, or none is chosen."""
    if state.picture is None:
        return None
    return or_none(region_in, state, *state.picture.samples.shape[:2])


def taken_in(state: State) -> tuple[ListStep, ...]:
    """The steps that are on, up to the selected one: what is seen is what that gives.

    One that changes nothing, where none is.
    """
    on = tuple(each for each in (*state.before, state.selected) if each.is_on)
    return on or (replace(state.selected, filter="identity", ksize=1, mix=1.0),)


def made(state: State, step: ListStep) -> tuple[Step, ...]:
    """A step as a Job has it, with the length of a gradient behind it where its filter has one."""
    how: dict[str, Any] = {"implementation": step.implementation, "block_xy": step.block_xy}
    return job_steps(step, white_of(state), own=own_text(step), **how)


_newest_job: WeakKeyDictionary[State, Job] = WeakKeyDictionary()


def own_text(step: State | ListStep) -> str:
    """Source of the chosen user kernel; empty: none is, or it is not read."""
    own = step.own_kernel
    return own.text if own is not None and own.name == step.implementation else ""


def step_job(state: State, result: Result | None = None) -> Job | None:
    """`job_for`, for panels about one launch: of a list the last run, with its real input.

    result  of the same list, or one that begins alike: what knows that input.  None without one.
    """
    job = job_for(state)
    if job is None or job.is_one_launch:
        return job
    before = len(job.runs) - 1
    if result is None or len(result.steps) <= before or runs_known(job, result) < before:
        return None
    return job.part(job.runs[-1], result.steps[before].job.picture)


def runs_known(job: Job, result: Result | None) -> int:
    """Number of the first runs of a list that are those of `result`, too."""
    if result is None or not replace(result.job, steps=job.steps).same_work(job):
        return 0

    def is_same(pair: tuple[StepRun, StepRun]) -> bool:
        one, other = (job.part(run, job.picture) for run in pair)
        return pair[0].blend == pair[1].blend and one.same_run(other)

    return sum(1 for _ in takewhile(is_same, zip(job.runs, result.job.runs, strict=False)))


def like_step_job(state: State) -> Job | None:
    """`step_job` with a blank input of the same kind: for whatever does not depend on samples."""
    job = job_for(state)
    if job is None or job.is_one_launch:
        return job
    if (known := _like.get(job)) is None:
        known = _like[job] = _like_run(job, len(job.runs) - 1)
    return known


def _like_run(job: Job, number: int) -> Job:
    if job.is_one_launch:
        return job
    is_kept = (dtype := type_after(job, number)) == job.picture.dtype
    given = job.picture if is_kept else blank(job.picture.shape, str(dtype))
    return job.part(job.runs[number], given)


_like: WeakKeyDictionary[Job, Job] = WeakKeyDictionary()


def last_run(result: Result) -> Result:
    """Result of a list's last run alone, given its real input; else `result` itself."""
    return result.steps[-1] if result.steps else result


def runs_of_steps(result: Result, state: State) -> list[tuple[Result, ...]]:
    ends = _ends_of_steps(state)
    found: list[list[Result]] = [[] for _ in ends]
    for run, each in zip(result.job.runs, result.steps or (result,), strict=True):
        found[bisect_left(ends, run.taken)].append(each)
    return [tuple(each) for each in found]


def _ends_of_steps(state: State) -> list[int]:
    return list(accumulate(1 + filters.get(each.filter).gradient for each in taken_in(state)))


def needs_run(old: State, new: State) -> bool:
    """Return True if `new` asks for another result than `old`."""
    if any(FACTS[name].reruns for name in changed_fields(old, new)):
        return True
    return is_unclipped(new) != is_unclipped(old)


def white_of(state: State) -> float:
    """The sample value that offsets and parameters of steps are parts of."""
    return state.picture.white if state.picture else 1.0


def is_unclipped(state: State) -> bool:
    """Return True if a picture of whole numbers is to be filtered as float32.

    Negative results are cut off only where a pixel type of whole numbers was chosen, and no way
    to see values below zero.
    """
    if state.picture is None or state.picture.samples.dtype.kind != "u":
        return False
    is_cut = state.pixel_type in ("uint8", "uint16") and state.negative_display in (None, "clip")
    return not is_cut and swings_around_zero(state)


def swings_around_zero(state: State) -> bool:
    """Return True if the filter's results lie around zero, as its weights cancel each other."""
    return _swing_of(taken_in(state)) is not None


@lru_cache(maxsize=16)  # asked for with each implementation that might be chosen
def _swing_of(steps: tuple[ListStep, ...]) -> NDArray[np.float32] | None:
    return or_none(lambda: _swinging([made for step in steps for made in job_steps(step)]))


def _swinging(steps: Sequence[Step]) -> NDArray[np.float32] | None:
    """Weights of the last step that has what all of them give lie around zero; None: it does not"""
    found = None
    for step in steps:
        if not isinstance(step.filter, Correlation) or step.mix != 1:
            found = None
        elif is_signed(step.filter.weights, False):
            found = None if step.filter.offset else step.filter.weights
    return found


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
    return _look(state, _swing_of(taken_in(state)) if is_around_zero(state) else None)


def look_before(state: State) -> DisplayMapping:
    """Display mapping of the picture itself."""
    return DisplayMapping(state.levels, tone=state.tone)


def look_at(job: Job, state: State) -> DisplayMapping:
    """Display mapping of an earlier result of the same picture."""
    return _look(state, _swinging(job.steps) if job.picture.dtype.kind == "f" else None)


def _look(state: State, weights: NDArray[np.float32] | None) -> DisplayMapping:
    full = None if state.picture is None else state.picture.white
    if weights is None or full is None:
        return DisplayMapping(state.levels, "clip", full, state.tone)
    display = state.negative_display or natural_display(weights)
    low, high = state.levels or (0.0, full)  # a picture of little contrast has small differences
    levels = state.result_levels or default_levels(display, high - low)
    return DisplayMapping(levels, display, full, state.tone)


def look_in_words(job: Job, look: DisplayMapping) -> str:
    """Display of values below zero, for a caption; "" where the filter makes none."""
    if _swinging(job.steps) is None:
        return ""
    return SIGNED_IN_WORDS[look.negative_display] if job.picture.dtype.kind == "f" else CUT_OFF


CUT_OFF = "cut off: below 0 is stored as 0"
SIGNED_IN_WORDS = {
    "clip": "clipped: below 0 is black",
    "absolute": "absolute values",
    "offset": "centred: 0 is grey",
    "scaled": "fit range: 0 is grey",
}


def baseline_for(job: Job, state: State) -> Job:
    """Make the same work for the CPU implementation that speed-ups are measured against."""
    how: Changes = {"implementation": state.baseline, "block_xy": DEFAULT_BLOCK_XY, "own": ""}
    return replace(job, steps=tuple(replace(each, **how) for each in job.steps), devices=1)


def is_baseline_of(baseline: Result | None, job: Job, state: State) -> bool:
    return (
        baseline is not None
        and baseline.job.same_work(job)
        and all(key == state.baseline for key in keys_of(baseline.job))
    )


def is_answer(result: Result, state: State) -> bool:
    """Return True if `result` is of the present choices."""
    wanted = or_none(job_for, state)
    return wanted is not None and result.job.same_run(wanted)


def weights_for(step: State | ListStep) -> NDArray[np.float32] | None:
    """A step's weights, (ksize, ksize) float32; None: it has none.

    The same choices give the same array.

    step  of a State the selected one
    """
    found = made_filter(step)
    return found.weights if isinstance(found, Correlation) else None


def with_filter(state: State, key: str) -> Changes:
    """Changes at picking the filter `key`, with its usual size, or the nearest that it accepts.

    A filter whose size is not the user's choice keeps the size before in `last_free_ksize`.
    """
    chosen, now = filters.get(key), filters.get(state.filter)
    is_usual = state.ksize == now.usual_size and state.last_free_ksize is not None
    wanted = state.ksize if has_sizes(now) and not is_usual else state.last_free_ksize
    if has_sizes(chosen):
        if chosen.usual_size and chosen is not now:
            return {"filter": key, "ksize": chosen.usual_size, "last_free_ksize": wanted}
        return {"filter": key, "ksize": chosen.nearest_size(wanted or state.ksize)}
    ksize = len(state.matrix) if key == "custom" else chosen.nearest_size(state.ksize)
    return {"filter": key, "ksize": ksize, "last_free_ksize": wanted}


def with_picture(picture: Picture, state: State | None = None) -> Changes:
    """Changes at opening `picture`: levels go with the picture that they were set for.

    state  the one before: what it put aside comes back; its part of the picture goes where nothing
           of it is in this one
    """
    changes: Changes = {"levels": None, "result_levels": None, "reference": None, "aside": ()}
    changes["picture"] = picture
    if state is None or state.picture is None:
        return changes
    changes = dict(state.aside) | changes
    is_in_it = part_of(replace(state, **changes)) is not None
    return changes if is_in_it else {**changes, "region": None}


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


def is_offered(state: State, candidate: Choice) -> bool:
    """False for a rung of other filters than the selected step's, unless the step runs on it."""
    if isinstance(candidate, Rung) and (job := or_none(like_step_job, state)):
        return candidate.key == state.implementation or candidate.does(job)
    return True


def giving_way(state: State) -> tuple[Changes, str]:
    """Changes that put `auto` in place of what cannot run its step, and why; "": all can.

    GPUs and the texts of user kernels have no say here.
    """
    job, steps, why = or_none(job_for, state), list(state.steps[: len(state.before) + 1]), ""
    on, ends = [n for n, each in enumerate(steps) if each.is_on], _ends_of_steps(state)
    if job is None or not on:
        return {}, ""
    if is_unclipped(state) and job.picture.dtype.kind == "u":  # it is stored as float32 first
        job = replace(job, picture=blank(job.picture.shape, "float32"))
    for at, run in enumerate(job.runs):
        number, like = on[bisect_left(ends, run.taken)], _like_run(job, at)
        chosen, reason = implementation(steps[number].implementation), None
        if isinstance(chosen, HostImplementation):
            reason = chosen.why_not(like)
        elif isinstance(chosen, Rung) and not chosen.does(like):
            reason = f"{chosen.title} cannot run this filter"
        if reason is not None:
            how: Changes = {"implementation": AUTO.key, "chosen_implementation": None}
            steps[number] = replace(steps[number], **how)
            place = "" if job.is_one_launch else f"Step {number + 1}, {run.steps[0].title}: "
            reason = reason.partition(";")[0].removesuffix(".")
            why = f"{why} {place}{reason}, so {AUTO.title} takes its place.".lstrip()
    names = "implementation", "chosen_implementation"
    return {"before": tuple(steps[:-1]), **{each: getattr(steps[-1], each) for each in names}}, why


def choices() -> tuple[Choice, ...]:
    """Everything that may be chosen to run on: `auto`, then its candidates."""
    return (AUTO, *all_implementations())


def implementation(key: str) -> Choice:
    """Implementation called `key`, which exists; a user kernel without its source."""
    return OwnKernel(key) if is_own(key) else next(each for each in choices() if each.key == key)


def chosen_in(state: State) -> Choice:
    """Chosen implementation, a user kernel with its source."""
    key = state.implementation
    return OwnKernel(key, own_text(state)) if is_own(key) else implementation(key)


def implementation_of(job: Job, picked: Pick | None = None) -> Choice:
    key = picked.implementation if picked else job.implementation
    return OwnKernel.of(job) if is_own(key) else implementation(key)


def implementation_for(state: State, device: Device | NoDevice) -> str:
    """Key of the user's choice, or of the best there is where that cannot run."""
    chosen = state.chosen_implementation
    if chosen is not None and not why_not_here(implementation(chosen), device):
        return chosen
    return first_choice(state, device)


def changes_on(state: State, device: Device | NoDevice) -> Changes:
    """Changes with which all steps run on what was chosen for them, or on the best there is.

    What runs on `auto` goes on so, even if nobody chose it, unless something was chosen.  GPUs are
    as many as were chosen, or as there are.
    """

    def able(step: ListStep) -> ListStep:
        if step.implementation == AUTO.key and step.chosen_implementation is None:
            return step
        alone = replace(state, **{each.name: getattr(step, each.name) for each in fields(step)})
        return replace(step, implementation=implementation_for(alone, device))

    before, after = (tuple(map(able, steps)) for steps in (state.before, state.after))
    best = {"implementation": able(state.selected).implementation, "before": before, "after": after}
    count = device.count if isinstance(device, Device) else state.devices
    return {**best, "devices": min(state.devices, count)}


def not_as_chosen(state: State, device: Device | NoDevice) -> Iterator[str]:
    """Yield a sentence for each choice of what to run on that `device` cannot fulfil."""
    for chosen in dict.fromkeys(each.chosen_implementation for each in state.steps):
        if chosen is not None and (reason := why_not_here(implementation(chosen), device)):
            yield f"{implementation(chosen).title} was chosen, and cannot run here: {reason}"
    if isinstance(device, Device) and device.count < state.devices < MAX_DEVICES:  # else: all
        yield f"{state.devices} GPUs were chosen, and there are no more than {device.count} now."


def first_choice(state: State, device: Device | NoDevice | None) -> str:
    """Key of OpenCV where no GPU can run it and that can, else of `auto`."""
    usual = replace(state, block_xy=DEFAULT_BLOCK_XY)  # auto ignores the block shape chosen
    able = [i for i in all_implementations() if why_unavailable(usual, i, device) is None]
    return able[-1].key if able[-1].key == ListStep().implementation else AUTO.key


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


def why_no_way(state: State, way: str, device: Device | NoDevice | None) -> str:
    """Reason why the list cannot run as a whole in `way`; empty if it can, or may."""
    if not isinstance(device, Device):
        return device.reason if device is not None else LOOKING
    if (job := or_none(job_for, state)) is None:
        return ""
    chosen = list(map(implementation, keys_of(job)))
    if way in LIST_RUNGS or any(isinstance(e, HostImplementation | OwnKernel) for e in chosen):
        return why_not(way, job, (), device)
    rungs = [each for each in chosen if isinstance(each, Rung)]
    return why_no_strips(job, rungs) if way == STRIPS else ""


def keys_of(job: Job) -> list[str]:
    """Keys of the implementations of all steps, each once."""
    return list(dict.fromkeys(each.implementation for each in job.steps if not each.is_length))


def job_caption(job: Job, picked: Pick | None = None) -> str:
    """Format the job: "Gaussian blur 5×5 in a part · OpenCV", or "… · Auto: OpenCV"."""
    work = work_in_words(job) + (" in a part" if job.region is not None else "")
    if len(keys := keys_of(job)) > 1:
        return f"{work} · {len(keys)} implementations"
    return f"{work} · {title_with_pick(job.implementation, picked)}"


def step_in_words(step: WrittenStep) -> str:
    """Format a step: "Gaussian blur 5×5", and how much of it is taken."""
    mix = f" {100 * step.mix:.0f}{GAP}%" if step.mix != 1 else ""
    chosen = filters.get(step.filter)
    disk = ", disk" if step.is_disk and filters.has_parameter(chosen, "is_disk") else ""
    return f"{chosen.title} {step.ksize}×{step.ksize}{disk}{mix}"


def filter_in_words(state: State) -> str:
    """Format the filter: "Gaussian blur 5×5 · border clamp · Auto"."""
    steps = " ▸ ".join(map(step_in_words, taken_in(state)))
    parts = [steps, f"border {state.border}"]
    if state.region is not None:
        parts.append("only in {2}×{3} at {0},{1}".format(*state.region))
    if state.pixel_type is not None:
        parts.append(f"as {state.pixel_type}")
    return " · ".join((*parts, implementation_title(state.implementation)))


def work_in_words(job: Job) -> str:
    """Format what is done: "Gaussian blur 5×5", of a list "Gaussian blur 5×5 ▸ Sharpen 3×3"."""
    return " ▸ ".join(_in_words(each) for each in job.steps if not each.is_length)


def _in_words(step: Step) -> str:
    ksize = step.filter.ksize
    added = step.filter.offset if isinstance(step.filter, Correlation) else 0.0
    offset = f" {'−' if added < 0 else '+'} {abs(added):g}" if added else ""
    mix = f" {100 * step.mix:.0f}{GAP}%" if step.mix != 1 else ""
    disk = ", disk" if getattr(step.filter, "is_disk", False) else ""
    return f"{step.title} {ksize}×{ksize}{disk}{offset}{mix}"


def title_with_pick(key: str, picked: Pick | None = None) -> str:
    """Format a title: "OpenCV", or "Auto: OpenCV" where it was picked."""
    title = implementation(key).title
    return f"{title}: {implementation(picked.implementation).title}" if picked else title


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
    if (job := or_none(like_step_job, state)) is None:
        return None
    if isinstance(candidate, HostImplementation):
        return candidate.why_not(job)
    if isinstance(candidate, OwnKernel):
        return candidate.why_not(job, device) if candidate.text and device else None
    return candidate.why_not(job, device) if isinstance(device, Device) else None
