"""Runs of a rung on a job in a child: built, run under a deadline, and their ends."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.device_turns import run_with_progress, side_by_side
from kernels.core.job import Job, Progress
from kernels.core.poison import BY_ORDER, is_as_before, order_in_words
from kernels.cuda_on_cpu.children import borrowed_child
from kernels.cuda_on_cpu.compile_errors import cuda_errors, why_not_seen, with_lacking
from kernels.cuda_on_cpu.compiler import REFUSED, BuildError, building, default_cache, why_not
from kernels.cuda_on_cpu.confinement import is_allowed
from kernels.cuda_on_cpu.device_code import knobs_of
from kernels.cuda_on_cpu.recording import TRACE_BYTES, Trace
from kernels.cuda_on_cpu.regions import DEVICE, TRIED_SIZE
from kernels.cuda_on_cpu.shared_run import Kind, Reports, SharedRun, Signal, Where
from kernels.cuda_on_cpu.shim import CheckedShim, Order, Shim
from kernels.rungs.cuda_text import unknown_words
from kernels.rungs.own_kernels import is_own
from kernels.rungs.rung import Rung

SPARE, MAX_TIMES = 3, 192  # times its estimate that a slow run gets; times its limit at most

Steps = Generator[Progress, None, "Ended"]


@dataclass(frozen=True, slots=True)
class Request:
    """One run, but for its picture's samples."""

    shim: type[Shim]
    library: str
    seconds: float  # of the CPU's time that it may take
    rung: Rung
    blank: Job  # with a picture of one pixel, in place of one of `shape`
    shape: tuple[int, int, int]
    order: int = Order.FORWARD
    # Two launches come before, of which no variable of the text is reset: on another picture, and
    # on this one.
    is_repeated: bool = False
    # Pass, row and sample: the block of the pass that stores there is stepped through.
    at: tuple[int, int, int] | None = None
    is_sought: bool = True  # by a run of its own; else it is the block that should store there
    rows: tuple[int, int] | None = None  # (first, end) to write; None: all
    cross: int = 0  # chooses a column and a row of blocks, which run alone; 0: all
    at_page_begin: bool = False  # of the arrays; else they end with a page
    is_guarded: bool = True  # to touch what lies beside the arrays is a fault
    is_unconfined: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Ended:
    """The end of a run, and what it left."""

    job: Job
    library: Path
    said: dict[str, Any]  # "done", or why it was "refused"; "arrays", "printed", "ended", "late"
    reports: Reports
    answer: NDArray[Any] | None  # (H, W, C), where it came to its end
    as_before: NDArray[np.bool_] | None  # whether a sample of it is as it was
    broken_rule: str  # the sentence for what was written beside the output
    storers: NDArray[np.uint8] | None  # of each sample: (H, pitch, bytes of a Where)
    beside: tuple[str, int] | None  # the array that it crashed beside, and where from its begin
    trace: Trace | None  # the steps of a block

    def storer(self, y: int, sample: int) -> Where | None:
        """The thread that stored a sample of row y; None: it is not known."""
        if self.storers is None:
            return None
        where = Where.from_buffer_copy(self.storers[y, sample].tobytes())
        return where if where.pcs[0] else None

    @property
    def crashed(self) -> bool:
        """True if its process ended without a word."""
        return "done" not in self.said and "refused" not in self.said

    @property
    def pace(self) -> float:
        """Part of its blocks that a slow run has done at the deadline; 0: it was not slow."""
        fault = self.reports.fault
        is_slow = fault.kind == Kind.DEADLINE and fault.array_bytes
        return max(fault.offset, 1) / fault.array_bytes if is_slow and self.crashed else 0.0

    @property
    def is_starved(self) -> bool:
        """True if its time was over by the clock, which need not be its fault."""
        fault = self.reports.fault
        if fault.kind:
            return self.crashed and fault.kind == Kind.DEADLINE and fault.signal == Signal.SIGALRM
        is_late = self.said.get("late") or self.said.get("ended") == -Signal.SIGALRM
        return self.crashed and bool(is_late)

    @property
    def is_unfinished(self) -> bool:
        """True if it might have ended: the CPU is slow, or had no time for it."""
        return bool(self.pace) or self.is_starved

    def difference(self, again: Ended, corner: tuple[int, int]) -> str:
        """Describe how its output and that of `Runs.again` differ; empty: they do not."""
        if self.answer is None or again.answer is None:
            return ""
        # What differs between runs equals both poisons here and there, and was written.
        differing = order_in_words(self.answer, again.answer, self.unwritten(again), corner)
        return differing or (f"{BY_ORDER}." if again.said.get("changes") else "")

    def unwritten(self, again: Ended) -> NDArray[np.bool_]:
        """The samples that no thread stored: those that the poison of both runs is still in."""
        if self.as_before is None or again.as_before is None:
            return np.zeros(self.job.picture.shape, np.bool_)
        return self.as_before & again.as_before


def built(
    shim: type[Shim], rung: Rung, *jobs: Job, for_cuda: Sequence[Job] | None = None
) -> Generator[Progress, None, Path | BuildError]:
    """Compile a rung for jobs; return the error where it does not compile, here or for a GPU.

    for_cuda  the jobs that CUDA's compiler compiles it for meanwhile; None: the same
    """
    if unknown := unknown_words(rung.source):
        words = (f"{rung.file}:{line}: error: {said}" for line, said in unknown)
        return BuildError("\n".join(words))
    try:
        sets = dict.fromkeys(knobs_of(rung, job) for job in jobs)
        text, cache = shim.text(rung, sets), default_cache()
        for_cuda = jobs if for_cuda is None else for_cuda
        # The ladder's own rungs are known to have no errors.
        by_cuda = cuda_errors(rung, for_cuda if is_own(rung.key) else (), cache)
        steps = side_by_side(by_cuda, _attempt(text, shim, cache))
        doing = Progress(f"compiling {rung.title} for the CPU")
        errors, library = yield from run_with_progress(steps, doing)
    except OSError as error:  # a full disk, as a rule
        return BuildError(f"{REFUSED}What is compiled for the CPU cannot be kept: {error}.")
    if errors:
        return BuildError(errors)
    if isinstance(library, BuildError):
        return BuildError(with_lacking(str(library), is_taken=why_not_seen() is None))
    assert isinstance(library, Path)
    return library


def _attempt(text: str, shim: type[Shim], cache: Path) -> Generator[None, None, Path | BuildError]:
    try:
        return (yield from building(text, shim.flavour, cache))
    except BuildError as error:
        return error


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Runs of a compiled rung on one job, in a child, each with a limit of CPU seconds."""

    shim: type[Shim]
    rung: Rung
    job: Job
    library: Path
    seconds: float

    def patiently(self, turn: int = 0, **how: Any) -> Steps:
        """Run it; where it is slow, without the launches before, or for longer.

        turn  which of the two poisons the output is filled with
        how   fields of `Request`
        """
        ended = yield from self.once(turn, **how)
        if ended.pace and how.pop("is_repeated", False):
            ended = yield from self.once(turn, **how)
        if ended.pace * MAX_TIMES < SPARE:
            return ended
        longer = replace(self, seconds=self.seconds * SPARE / ended.pace)
        return (yield from longer.once(turn, **how))

    def again(self, **how: Any) -> Steps:
        """Run it once more, with other poison, and with the threads in the opposite order.

        On a small picture that is the last of several launches: see `Request.is_repeated`.
        """
        is_small = self.job.width * self.job.height <= prod(TRIED_SIZE)
        how = {"order": Order.REVERSE, "is_repeated": is_small, **how}
        return (yield from self.patiently(1, **how))

    def once(self, turn: int = 0, **how: Any) -> Steps:
        height, width, channels = self.job.picture.shape
        request = Request(
            *(self.shim, str(self.library), self.seconds, self.rung),
            blank=self.job.but(picture=np.zeros((1, 1, 1), self.job.picture.dtype)),
            shape=(height, width, channels),
            at_page_begin=turn == 1,
            is_unconfined=is_allowed(),
            **how,
        )
        how = {"at_page_begin": turn == 1, "trace_bytes": TRACE_BYTES if request.at else 0}
        with borrowed_child() as child:
            shared = SharedRun(child.memory, self.job, is_new=True, **how)
            shared.layout.fill(shared.block, self.job, turn)
            running = Progress(f"running {self.rung.title} on the CPU")
            said = yield from run_with_progress(child.serving(request), running)
            job, layout, reports = self.job, shared.layout, shared.reports
            unwritten = layout.unwritten(job, turn)
            samples = layout.samples(shared.block, "target", job).reshape(job.picture.shape)
            answer = samples.copy() if "done" in said else None
            is_checked = answer is not None and self.shim is CheckedShim
            has_fault = reports.fault.signal == Signal.SIGSEGV
            return Ended(
                *(job, self.library, said, reports, answer),
                as_before=None if answer is None else is_as_before(answer, unwritten),
                broken_rule=layout.broken_rule(shared.block, job, turn),
                storers=shared.storers() if is_checked else None,
                beside=shared.beside(reports.fault.offset) if has_fault else None,
                trace=Trace.of(shared.trace) if request.at else None,
            )


def prepared(
    shim: type[Shim], rung: Rung, job: Job, seconds: float, library: Path | None = None
) -> Generator[Progress, None, Runs | BuildError]:
    """Compile a rung, unless it is, for runs of at most so many CPU seconds."""
    if reason := why_not() or rung.why_not(job, DEVICE):
        return BuildError(f"{REFUSED}{reason}")
    made = library or (yield from built(shim, rung, job))
    return made if isinstance(made, BuildError) else Runs(shim, rung, job, made, seconds)
