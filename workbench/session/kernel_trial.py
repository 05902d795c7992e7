"""Work on a user kernel: a trial, a search for its bug, steps of a block, instructions."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace

import numpy as np

from kernels.core.device import Device
from kernels.core.driving import last_of
from kernels.core.errors import CompileFailedError
from kernels.core.job import Job, Progress
from kernels.core.verdict import NOT_YET_SEARCHED, Check
from kernels.cuda.listings import Kind, Row, listing_of
from kernels.cuda.nvrtc import LINES, Compiled
from kernels.cuda_child import verification
from kernels.cuda_child.child_requests import RunEndedError
from kernels.cuda_child.gpu_trial import gpu_trial
from kernels.cuda_child.worker_pool import Held, cuda_children
from kernels.cuda_on_cpu.compiler import why_not
from kernels.cuda_on_cpu.findings import Finding, KernelTrial
from kernels.cuda_on_cpu.regions import cropped
from kernels.cuda_on_cpu.stepping import Stepped, stepping
from kernels.cuda_on_cpu.trial import CHECKING, finding_bug, trial, verdict_search
from kernels.rungs.headers import HeaderError
from kernels.rungs.own_kernels import own_kernel
from kernels.rungs.rung import Rung
from workbench.imaging.display import Display, show, to_display
from workbench.imaging.display_mapping import DisplayMapping
from workbench.session import kernel_code
from workbench.session.kernel_code import PtxRequest, request_for

Pixel = tuple[int, int]
Levels = tuple[float, float] | None
COUNTING = Progress("verified; counting what it loads, stores and computes")
REMEMBERED = 8  # sources whose instructions were shown
LINE_OF_HEADER = re.compile(r", line (\d+): (.*)\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class KernelText:
    """A source to try, the job that it is tried on, and how that is shown.

    name    of the file that the source is, or will be, in
    at      the pixel (x, y) that is looked at; None: none in particular
    levels  of the picture, and `look` of the answer
    device  the GPU that it runs on; None: on the CPU
    good    the last source that ran, where its output is of another job: it is tried, too, if this
            one does not run; empty: it need not be
    """

    name: str
    text: str
    job: Job
    at: Pixel | None
    levels: Levels
    look: DisplayMapping
    device: Device | None = None
    good: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """A reason why there is nothing to run.

    line     of the text that is wrong; 0: no line of it is
    is_ours  nothing is wrong with the text: what it takes to run it on the CPU is not there
    """

    sentence: str
    line: int = 0
    is_ours: bool = False


@dataclass(frozen=True, slots=True)
class Tried:
    """The findings of a trial, ready to show; displays are None where there is no output.

    On the GPU there is more of them from step to step: the answer, the check, the time.

    finding  the bug that the search, which comes last, found in a kernel whose output is right
    is_good  it is of the last source that ran, in place of one that does not
    """

    rung: Rung
    trial: KernelTrial
    before: Display | None = None
    after: Display | None = None
    finding: Finding | None = None
    is_good: bool = False


@dataclass(frozen=True, slots=True)
class Counted:
    """The counts, by the CPU, of a kernel that is right on the GPU."""

    trial: KernelTrial


@dataclass(frozen=True, slots=True)
class Searched:
    """The bug that a search found, or None, with the part of the picture it ran on."""

    rung: Rung
    job: Job
    finding: Finding | None
    before: Display | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """The last step: there is no more to come.

    held  the memory that the processes hold which run kernels on the GPU; None: there are none
    """

    held: Held | None = None


Step = Progress | Refused | Tried | Counted | Searched | Ended


def trying(asked: KernelText) -> Iterator[Step | None]:
    """Try a source; count its loads and operations once its output is right.

    Where it does not run, the last one that did is tried on the job that is requested now.
    """
    has_answer = False
    for step in _steps_of(asked):
        has_answer = has_answer or (isinstance(step, Tried) and step.after is not None)
        yield step
    if asked.good and not has_answer:
        for step in _steps_of(replace(asked, text=asked.good)):
            if isinstance(step, Tried) and step.trial.answer is not None:
                yield replace(step, is_good=True)
            elif step is None or isinstance(step, Progress):
                yield step
    yield Ended(None if asked.device is None else cuda_children(asked.device.index).held())


def end_children(device: Device) -> None:
    """End the processes that ran kernels on a GPU, without waiting for that; drop references."""
    cuda_children(device.index).end(0)
    verification.forget()


def searching(asked: KernelText) -> Iterator[Step]:
    """Look for the bug in a source."""
    rung = rung_of(asked)
    if isinstance(rung, Refused):
        yield rung
    else:
        for step in finding_bug(rung, asked.job, at=asked.at):
            if isinstance(step, Progress):
                yield step
            else:
                part = cropped(asked.job, step.region).picture if step else None
                before = None if part is None else to_display(part, asked.levels)
                yield Searched(rung, asked.job, step, before)
    yield Ended()


def _steps_of(asked: KernelText) -> Iterator[Step | None]:
    rung = rung_of(asked, asked.device is None)
    if isinstance(rung, Refused):
        yield rung
    elif asked.device is None:
        yield from _on_cpu(rung, asked)
    else:
        yield from _on_gpu(rung, asked)


def _on_cpu(rung: Rung, asked: KernelText) -> Iterator[Step]:
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
    """Complete the verdict on a right output; yield the steps to it, and return the last."""
    check = tried.trial.check
    assert check is not None
    yield _with_check(tried, replace(check, unsearched=NOT_YET_SEARCHED))
    search = yield from last_of(verdict_search(tried.rung, asked.job, at=asked.at))
    judged = _with_check(tried, search.verdict(check, asked.device))
    judged = replace(judged, finding=search.finding)
    yield judged
    return judged


def _with_check(tried: Tried, check: Check) -> Tried:
    return replace(tried, trial=replace(tried.trial, check=check))


def _on_gpu(rung: Rung, asked: KernelText) -> Iterator[Step | None]:
    """Try it there; then search and count it, where that can be done here."""
    assert asked.device is not None
    tried: Tried | None = None
    said = ""
    for step in gpu_trial(rung, asked.job, children=cuda_children(asked.device.index)):
        if isinstance(step, Progress):  # one every few milliseconds, and as a rule the same
            yield step if step.doing != said else None
            said = step.doing
        elif tried is not None and step.answer is tried.trial.answer and tried.after is not None:
            yield (tried := replace(tried, trial=step))
        else:
            yield (tried := _shown(rung, step, asked))
    if tried is not None and tried.trial.ok:
        yield from _after_gpu(tried, asked)


def _after_gpu(tried: Tried, asked: KernelText) -> Iterator[Step]:
    """Run what is right on the GPU on the CPU as well: there it is searched, then counted."""
    assert tried.trial.check is not None
    yield _with_check(tried, replace(tried.trial.check, unsearched=NOT_YET_SEARCHED))
    is_right = False
    steps = () if why_not() else trial(tried.rung, asked.job, at=asked.at, counting=True)
    for step in steps:
        if isinstance(step, Progress):
            yield COUNTING if is_right else CHECKING
        elif is_right or step.is_at_fault:
            yield Counted(step)
            if step.is_at_fault:
                return
        elif step.ok:
            is_right = True
            judged = yield from _searched(tried, asked)
            if not judged.trial.ok:
                return
    if not is_right:
        yield from _searched(tried, asked)


def rung_of(asked: KernelText, needs_compiler: bool = True) -> Rung | Refused:
    """Make a rung of a source, or say why there is none."""
    if needs_compiler and (reason := why_not()) is not None:
        return Refused(reason, is_ours=True)
    try:
        return own_kernel(asked.name, asked.text)
    except HeaderError as error:
        found = LINE_OF_HEADER.search(str(error))
        return Refused(str(error), int(found[1]) if found else 0)


def _shown(rung: Rung, tried: KernelTrial, asked: KernelText) -> Tried:
    if tried.answer is None:
        return Tried(rung, tried)
    answer = np.ascontiguousarray(tried.answer)
    before = np.ascontiguousarray(tried.job.picture)
    return Tried(rung, tried, to_display(before, asked.levels), show(answer, asked.look))


@dataclass(frozen=True, slots=True)
class Followed:
    """The steps of a block, or why there are none, with the pictures that it ran on and made."""

    rung: Rung
    stepped: Stepped
    before: Display | None = None
    after: Display | None = None


def following(asked: KernelText, number: int | None) -> Iterator[Step | Followed]:
    """Yield the steps of the block that stores the pixel looked at.

    number  of the pass; None: the last
    """
    rung = rung_of(asked)
    if isinstance(rung, Refused):
        yield rung
    else:
        for step in stepping(rung, asked.job, at=asked.at, number=number):
            if isinstance(step, Progress):
                yield step
                continue
            before = to_display(np.ascontiguousarray(step.job.picture), asked.levels)
            after = None if step.answer is None else show(step.answer, asked.look)
            yield Followed(rung, step, before, after)
    yield Ended()


@dataclass(frozen=True, slots=True)
class KernelCode:
    """Instructions, ready to show."""

    rung: Rung
    compiled: Compiled
    architecture: int
    rows: tuple[Row, ...]


class CodeReader:
    """A compiler of user kernels, which remembers the last few; for one thread."""

    def __init__(self) -> None:
        self._made: dict[PtxRequest, Compiled] = {}

    def reading(self, asked: KernelText, kind: Kind) -> Iterator[KernelCode | Refused | None]:
        """Yield the instructions of a user kernel, or why there are none."""
        rung = rung_of(asked, needs_compiler=False)
        if isinstance(rung, Refused):
            yield rung
        elif reason := rung.why_not_anywhere(asked.job):
            yield Refused(reason)
        else:
            try:
                yield (yield from self._compiling(rung, asked, kind))
            except RunEndedError as error:
                yield Refused(str(error), error.line or 0)
            except CompileFailedError as error:
                yield Refused(str(error), is_ours=True)

    def _compiling(
        self, rung: Rung, asked: KernelText, kind: Kind
    ) -> Generator[None, None, KernelCode]:
        wanted = request_for(rung, asked.job, asked.device)
        wanted = replace(wanted, options=(*wanted.options, LINES))
        found = self._made.pop(wanted, None)
        if found is None:
            found = yield from kernel_code.compiling_apart(wanted)
        self._made[wanted] = found  # the last one now
        while len(self._made) > REMEMBERED:
            del self._made[next(iter(self._made))]
        rows = tuple(listing_of(found, kind))
        return KernelCode(rung, found, wanted.architecture, rows)
