"""Work on a user kernel: a trial, a search for its bug, steps of a block, instructions."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernels.core.device import Device
from kernels.core.device_turns import last_of
from kernels.core.errors import CompileFailedError
from kernels.core.job import Job, Progress
from kernels.core.verdict import NOT_YET_SEARCHED
from kernels.cuda.nvrtc import LINES, Compiled, Row, listing_of
from kernels.cuda_child import verification
from kernels.cuda_child.gpu_trial import gpu_trial
from kernels.cuda_child.worker_pool import Held, RunEndedError, cuda_children
from kernels.cuda_on_cpu.compiler import why_not
from kernels.cuda_on_cpu.findings import Finding, KernelTrial
from kernels.cuda_on_cpu.regions import DEVICE as ON_THE_CPU
from kernels.cuda_on_cpu.regions import cropped
from kernels.cuda_on_cpu.stepping import Stepped, stepping
from kernels.cuda_on_cpu.trial import CHECKING, NO_BUGS, finding_bug, trial, verdict_search
from kernels.rungs.headers import HeaderError
from kernels.rungs.own_kernels import own_kernel, plainest
from kernels.rungs.rung import Rung
from workbench.batch.check_jobs import check_jobs
from workbench.imaging.display import Display, show
from workbench.imaging.display_mapping import DisplayMapping
from workbench.session import kernel_code
from workbench.session.kernel_code import request_for

Pixel = tuple[int, int]
COUNTING = Progress("verified; counting what it loads, stores and computes")
LINE_OF_HEADER = re.compile(r", line (\d+): (.*)\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class KernelText:
    """A source to try, the job that it is tried on, and how that is shown.

    name    of the file that the source is, or will be, in
    at      the pixel (x, y) that is looked at; None: none in particular
    seen    how the picture is shown, and `look` how the answer is
    device  the GPU that it runs on; None: on the CPU
    good    the last source that ran, where its output is of another job: it is tried, too, if this
            one does not run; empty: it need not be
    """

    name: str
    text: str
    job: Job
    at: Pixel | None
    seen: DisplayMapping
    look: DisplayMapping
    device: Device | None = None
    good: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """A reason why there is nothing to run."""

    sentence: str
    line: int = 0  # of the text that is wrong; 0: no line of it is
    is_ours: bool = False  # the text is not wrong: what it takes to run on the CPU is missing
    is_of_job: bool = False  # nor is it here: it is for another filter


@dataclass(frozen=True, slots=True)
class Tried:
    """The findings of a trial, ready to show; displays are None where there is no output.

    On the GPU there is more of them from step to step: output, check, time, and the CPU's counts.
    """

    rung: Rung
    trial: KernelTrial
    before: Display | None = None
    after: Display | None = None
    finding: Finding | None = None  # the bug in a kernel whose output is right
    is_good: bool = False  # it is of the last source that ran, in place of one that does not


@dataclass(frozen=True, slots=True)
class Searched:
    """The bug that a search found, or None, with the part of the picture it ran on."""

    rung: Rung
    job: Job
    finding: Finding | None
    before: Display | None = None
    clean: tuple[tuple[int, int], ...] = ()  # the block shapes that none was found with


@dataclass(frozen=True, slots=True)
class Followed:
    """The steps of a block, or why there are none, with the pictures that it ran on and made."""

    rung: Rung
    stepped: Stepped
    before: Display | None = None
    after: Display | None = None


@dataclass(frozen=True, slots=True)
class KernelCode:
    """Instructions by their names, PTX and SASS; a sentence where there are none."""

    rung: Rung
    compiled: Compiled
    architecture: int
    listings: Mapping[str, Sequence[Row] | str]


# Held is the memory of the processes that run kernels on the GPU.
Step = Progress | Refused | Tried | Searched | Followed | KernelCode | Held
Steps = Iterator[Step | None]


def trying(asked: KernelText) -> Steps:
    """Try a source; count its loads and operations once its output is right.

    Where it does not run, the last one that did is tried on the job that is requested now.
    """
    work = _on_cpu if asked.device is None else _on_gpu
    has_answer = False
    for step in _with_rung(asked, work, needs_compiler=asked.device is None):
        has_answer = has_answer or (isinstance(step, Tried) and step.after is not None)
        yield step
    if asked.good and not has_answer:
        good = replace(asked, text=asked.good)
        for step in _with_rung(good, work, needs_compiler=asked.device is None):
            if isinstance(step, Tried) and step.trial.answer is not None:
                yield replace(step, is_good=True)
            elif step is None or isinstance(step, Progress):
                yield step
    if asked.device is not None:
        yield cuda_children(asked.device.index).held()


def end_children(device: Device) -> None:
    """End the processes that ran kernels on a GPU, without waiting for that; drop references."""
    cuda_children(device.index).end(0)
    verification.forget()


def searching(asked: KernelText) -> Steps:
    """Look for the bug in a source, with the chosen block shape, then with those of `check`."""

    def search(rung: Rung, asked: KernelText) -> Steps:
        bug, clean, job = None, list[tuple[int, int]](), asked.job
        others = () if rung.own_block else (each.job.block_xy for each in check_jobs(0))
        for block_xy in dict.fromkeys((job.block_xy, *others)):
            job = asked.job.but(block_xy=block_xy)
            if clean and rung.why_not(job, ON_THE_CPU):
                continue
            found = yield from last_of(finding_bug(rung, job, at=asked.at))
            if found is None:
                clean.append(block_xy)
            elif not clean or found.kind not in NO_BUGS:
                bug = found
                break
        before = show(cropped(job, bug.region).picture, asked.seen) if bug else None
        if bug and clean:
            shape = "{}×{}".format(*job.block_xy)
            bug = replace(bug, sentence=f"With blocks of {shape}: {bug.sentence}")
        yield Searched(rung, job, bug, before, tuple(clean))

    return _with_rung(asked, search)


def following(asked: KernelText, number: int | None) -> Steps:
    """Yield the steps of the block that stores the pixel looked at.

    number  of the pass; None: the last
    """

    def follow(rung: Rung, asked: KernelText) -> Steps:
        for step in stepping(rung, asked.job, at=asked.at, number=number):
            if isinstance(step, Progress):
                yield step
            else:
                before = show(np.ascontiguousarray(step.job.picture), asked.seen)
                after = None if step.answer is None else show(step.answer, asked.look)
                yield Followed(rung, step, before, after)

    return _with_rung(asked, follow)


def _with_rung(
    asked: KernelText, work: Callable[[Rung, KernelText], Steps], *, needs_compiler: bool = True
) -> Steps:
    if needs_compiler and (reason := why_not()) is not None:
        yield Refused(reason, is_ours=True)
        return
    try:
        rung = own_kernel(asked.name, asked.text)
    except HeaderError as error:
        found = LINE_OF_HEADER.search(str(error))
        yield Refused(str(error), int(found[1]) if found else 0)
    else:
        if words := rung.other_work(asked.job):
            other = "a filter with weights" if rung.filter == "weights" else "such a filter"
            begin = plainest(asked.job).title
            yield Refused(f"{words}; choose {other}, or New ▸ {begin}.", is_of_job=True)
            return
        yield from work(rung, asked)


def _on_cpu(rung: Rung, asked: KernelText) -> Steps:
    """Try it, search it where its output is right, and count what it does where it is verified."""
    right: Tried | None = None
    for step in trial(rung, asked.job, at=asked.at, counting=True):
        if isinstance(step, Progress):
            yield COUNTING if right else step
        elif right is not None:  # the same, counted
            yield replace(right, trial=replace(step, check=right.trial.check))
        elif step.ok:
            right = yield from _searched(_shown(rung, step, asked), asked)
            if not right.trial.ok:
                return
        else:
            yield _shown(rung, step, asked)


def _searched(tried: Tried, asked: KernelText) -> Generator[Step, None, Tried]:
    check = tried.trial.check
    assert check is not None
    yield _with(tried, check=replace(check, unsearched=NOT_YET_SEARCHED))
    search = yield from last_of(verdict_search(tried.rung, asked.job, at=asked.at))
    judged = _with(tried, check=search.verdict(check, asked.device))
    judged = replace(judged, finding=search.finding)
    yield judged
    return judged


def _with(tried: Tried, **changes: Any) -> Tried:
    return replace(tried, trial=replace(tried.trial, **changes))


def _on_gpu(rung: Rung, asked: KernelText) -> Steps:
    assert asked.device is not None
    tried: Tried | None = None
    for step in gpu_trial(rung, asked.job, children=cuda_children(asked.device.index)):
        if isinstance(step, Progress):
            yield step
        elif tried is not None and step.answer is tried.trial.answer and tried.after is not None:
            yield (tried := replace(tried, trial=step))
        else:
            yield (tried := _shown(rung, step, asked))
    if tried is not None and tried.trial.ok:
        yield from _after_gpu(tried, asked)


def _after_gpu(tried: Tried, asked: KernelText) -> Steps:
    """Run what is right on the GPU on the CPU as well: there it is searched, then counted."""
    assert tried.trial.check is not None
    yield _with(tried, check=replace(tried.trial.check, unsearched=NOT_YET_SEARCHED))
    judged: Tried | None = None
    steps = () if why_not() else trial(tried.rung, asked.job, at=asked.at, counting=True)
    for step in steps:
        if isinstance(step, Progress):
            yield COUNTING if judged else CHECKING
        elif step.is_at_fault:  # it is right on the GPU by chance
            yield _with(judged or tried, problem=step.problem, line=step.line, counts=step.counts)
            return
        elif judged is not None:
            yield _with(judged, counts=step.counts)
        elif step.ok:
            judged = yield from _searched(tried, asked)
            if not judged.trial.ok:
                return
    if judged is None:
        yield from _searched(tried, asked)


def _shown(rung: Rung, tried: KernelTrial, asked: KernelText) -> Tried:
    if tried.answer is None:
        return Tried(rung, tried)
    answer = np.ascontiguousarray(tried.answer)
    before = np.ascontiguousarray(tried.job.picture)
    return Tried(rung, tried, show(before, asked.seen), show(answer, asked.look))


def reading_code(asked: KernelText) -> Steps:
    """Compile a user kernel, and yield its instructions, or why there are none."""
    return _with_rung(asked, _read_code, needs_compiler=False)


def _read_code(rung: Rung, asked: KernelText) -> Steps:
    if reason := rung.why_not_anywhere(asked.job):
        yield Refused(reason)
        return
    wanted = request_for(rung, asked.job, asked.device)
    wanted = replace(wanted, options=(*wanted.options, LINES))
    try:
        made = yield from kernel_code.compiling_apart(wanted)
    except RunEndedError as error:
        yield Refused(str(error), error.line or 0)
        return
    listings: dict[str, Sequence[Row] | str] = {"PTX": listing_of(made, "ptx")}
    try:
        listings["SASS"] = listing_of(made, "sass")
    except CompileFailedError as error:
        listings["SASS"] = str(error)
    yield KernelCode(rung, made, wanted.architecture, listings)
