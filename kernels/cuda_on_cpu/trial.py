"""Try a rung on the CPU, whatever it may do: its answer, the check of it, and what went wrong."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from math import prod
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from kernels.core.job import Job, Progress
from kernels.core.poison import unwritten_in_words
from kernels.core.verdict import Check
from kernels.cuda_on_cpu.building import BuildError
from kernels.cuda_on_cpu.checked import CheckedShim
from kernels.cuda_on_cpu.children import Child, borrowed_child
from kernels.cuda_on_cpu.compile_errors import LACKING, Diagnostic, diagnostics_of, first_error
from kernels.cuda_on_cpu.compiler import why_not
from kernels.cuda_on_cpu.counting import AccessesShim, CountingShim
from kernels.cuda_on_cpu.cpu_runs import (
    Ended,
    built,
    differing_in_words,
    run_again,
    run_once,
    run_rows,
    unwritten_in,
)
from kernels.cuda_on_cpu.elf import variables_of
from kernels.cuda_on_cpu.regions import (
    COUNTED_SIZE,
    DEVICE,
    TRIED_SIZE,
    Region,
    checked,
    cropped,
    launched_for,
    region_of,
    rows_fault,
    rows_to_try,
    small_size,
)
from kernels.cuda_on_cpu.run_counts import RunCounts, in_lines
from kernels.cuda_on_cpu.run_words import NOT_FINISHED, SLOW, ended_in_words
from kernels.cuda_on_cpu.shared_run import Kind, Signal
from kernels.cuda_on_cpu.shim import TriedShim
from kernels.cuda_on_cpu.unset_locals import unset_in_words, with_unset
from kernels.rungs.rung import Rung

DEADLINE_S = 5.0  # of the CPU's time
COUNTING_TIMES = 4  # as long
MAX_VARIABLES = 64 << 20  # bytes that a library for several jobs may have: a run's are limited


@dataclass(frozen=True, slots=True, eq=False)
class CpuTrial:
    """The outcome of trying a rung on the CPU.  Never a time: it would say nothing of a GPU.

    job          what ran: the job asked for, on the part of its picture that `region` says
    answer       like its picture; None where it did not come to its end
    check        of all of the answer, against the reference
    diagnostics  of the compiler
    problem      the sentence that says what went wrong; empty: nothing
    line         of the rung's file, that it names
    unwritten    samples of the answer that no thread stored
    printed      by the kernel
    counts       where that was asked for and nothing went wrong: of a smaller part
    """

    job: Job
    region: Region
    answer: NDArray[Any] | None = field(default=None, repr=False)
    check: Check | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    problem: str = ""
    line: int | None = None
    unwritten: int = 0
    printed: str = ""
    counts: RunCounts | None = None

    @property
    def ok(self) -> bool:
        """Return whether nothing went wrong, and the whole answer is right."""
        return not self.problem and self.check is not None and self.check.ok

    @property
    def is_at_fault(self) -> bool:
        """Return whether it ran, and did what no kernel may, whatever its answer was elsewhere."""
        return (
            bool(self.problem)
            and (self.answer is not None or bool(self.line))
            and (not self.compiler_errors)
        )

    @property
    def is_lacking(self) -> bool:
        """Whether a GPU takes it, and the CPU runtime lacks a word for it."""
        return LACKING in self.problem

    @property
    def is_unfinished(self) -> bool:
        """Whether it might have ended: the CPU is slow, or had no time for it."""
        return self.problem.startswith(SLOW) or self.problem.endswith(NOT_FINISHED)

    @property
    def compiler_errors(self) -> str:
        """Return the compiler's errors, a line each; empty: it took the text."""
        errors = (each for each in self.diagnostics if each.is_error)
        return "\n".join(f"{each.file}({each.line}): {each.text}" for each in errors)


def trial(
    rung: Rung,
    job: Job,
    *,
    at: tuple[int, int] | None = None,
    whole: bool = False,
    counting: bool = False,
    some_rows: bool = True,
    deadline_s: float = DEADLINE_S,
    library: Path | None = None,
) -> Iterator[Progress | CpuTrial]:
    """Run a rung on a job, in a child that it may crash; the last that is yielded is the outcome.

    Whoever stops driving this ends the compiler and the run.  What is counted comes with a second
    outcome, as it takes longer.

    at          (x, y) of the pixel that is looked at: what runs is around it
    whole       the whole picture, however large
    counting    whether to count, where the answer is right, what a smaller part takes
    some_rows   whether to launch what is right for some rows alone as well, as `finding_bug` does
    deadline_s  of the CPU's time
    library     compiled ahead, for this job among others, which is whole
    """
    size = (job.width, job.height) if whole else TRIED_SIZE
    region = region_of(job, size, at)
    part = cropped(job, region)
    if reason := why_not() or rung.why_not(part, DEVICE):
        yield CpuTrial(part, region, problem=reason)
        return
    made = library or (yield from built(TriedShim, rung, part))
    if isinstance(made, BuildError):
        yield refused_by_compiler(rung, part, region, made)
        return
    with borrowed_child() as child:
        ended = yield from run_once(child, TriedShim, rung, part, made, deadline_s)
        problem, line = ended_in_words(rung, ended)
        printed = str(ended.said.get("printed", ""))
        if ended.answer is None:
            fault = ended.reports.fault
            if fault.kind in (Kind.ELEMENT, Kind.BEYOND) or fault.signal == Signal.SIGSEGV:
                problem = yield from with_unset(rung, part, problem, line)
            if ended.beside:  # its output is to be seen
                what = child, TriedShim, rung, part, made, deadline_s
                ended = yield from run_once(*what, is_guarded=False)
            outcome = CpuTrial(part, region, ended.answer, None, (), problem, line, 0, printed)
            if ended.answer is not None:
                check = yield from checked(rung, part, ended.answer)
                outcome = replace(outcome, check=check)
            yield outcome
            return
        check = yield from checked(rung, part, ended.answer)
        again = yield from run_again(child, TriedShim, rung, ended, deadline_s)
        never = unwritten_in(ended, again)
        if not problem:
            problem, line = ended_in_words(rung, again)
        corner = region.left, region.top
        if not problem:
            problem = yield from differing_in_words(
                *(child, TriedShim, rung, ended, again, corner, deadline_s)
            )
        problem = problem or unwritten_in_words(never, corner)
        if some_rows and not problem and check.ok:
            problem, line = yield from _some_rows(child, rung, ended, deadline_s)
        unwritten = int(never.sum())
        outcome = CpuTrial(part, region, ended.answer, check, (), problem, line, unwritten, printed)
        if not outcome.ok:
            yield outcome
        if not problem and not check.ok:
            problem, line = yield from unset_in_words(child, rung, ended, deadline_s)
            yield replace(outcome, problem=problem, line=line)
    if not outcome.ok:
        return
    yield outcome  # no child is held meanwhile: whoever drives this may use it
    if counting:
        yield replace(outcome, counts=(yield from _counts(rung, part, deadline_s)))


def building_ahead(
    rung: Rung, jobs: Iterable[Job], at_a_time: int, searched: Iterable[Job] = ()
) -> Generator[Progress, None, Path | None]:
    """Compile what trials of these whole jobs run, and what `finding_bug` runs of `searched`.

    Return one library for all of `jobs`: the prelude is then compiled once.  None:
    they do not compile together; then each is compiled, up to the first that does not.

    Whoever stops driving this ends the compilers.
    """
    whole = [job for job in jobs if not rung.why_not(job, DEVICE)]
    parts = [cropped(job, region_of(job, small_size(job), None)) for job in searched]
    parts = [job for job in parts if not rung.why_not(job, DEVICE)]
    if not whole:
        return None
    # By the first, in one process: to begin CUDA's compiler takes long.
    together = built(TriedShim, rung, *whole, for_cuda=[*parts, *whole])
    checks = [(CheckedShim, job) for job in parts]
    apart = (built(shim, rung, job, for_cuda=()) for shim, job in checks)
    made = yield from _several(chain([together], apart), at_a_time)
    if made and sum(each.end - each.begin for each in variables_of(made[0])) <= MAX_VARIABLES:
        return made[0]
    wanted = [*checks, *((TriedShim, job) for job in whole)]
    yield from _several((built(shim, rung, job) for shim, job in wanted), at_a_time)
    return None


def _several(
    left: Iterator[Generator[Progress, None, Path | BuildError]], at_a_time: int
) -> Generator[Progress, None, list[Path]]:
    """Build several libraries at a time; none are returned where one does not compile."""
    under_way = dict(enumerate(islice(left, at_a_time)))
    made: dict[int, Path] = {}
    try:
        while under_way:
            for number, each in tuple(under_way.items()):
                try:
                    yield next(each)
                except StopIteration as end:
                    if isinstance(end.value, BuildError):
                        return []
                    made[number] = end.value
                    del under_way[number]
                    under_way |= enumerate(islice(left, 1), len(made) + len(under_way))
    finally:
        for each in under_way.values():
            each.close()
    return [made[number] for number in sorted(made)]


def _some_rows(
    child: Child, rung: Rung, ended: Ended, seconds: float
) -> Generator[Progress, None, tuple[str, int | None]]:
    """Launch it for some rows alone; return what is wrong with that, and the line."""
    job = ended.job
    rows = rows_to_try(job.height)
    if rows is None or job.width * job.height > prod(TRIED_SIZE):  # a part of it came before
        return "", None
    some = yield from run_rows(child, TriedShim, rung, ended, rows, seconds)
    if (ending := ended_in_words(rung, some))[0]:
        return launched_for(rows, ending[0]), ending[1]
    assert ended.answer is not None
    assert some.answer is not None
    assert some.as_before is not None
    answers = ended.answer, some.answer, some.as_before
    fault = yield from rows_fault(rung, job, rows, *answers)
    return (fault.in_words(rung), None) if fault else ("", None)


def _counts(rung: Rung, job: Job, seconds: float) -> Generator[Progress, None, RunCounts | None]:
    """Count what the rung does to a part of the picture: it takes a hundred times as long."""
    part = cropped(job, region_of(job, COUNTED_SIZE, None))
    for shim in (CountingShim, AccessesShim):
        library = yield from built(shim, rung, part)
        if isinstance(library, BuildError):
            continue
        with borrowed_child() as child:
            ended = yield from run_once(child, shim, rung, part, library, COUNTING_TIMES * seconds)
        said = ended.said.get("counts")
        return in_lines(said, ended.lines, rung) if isinstance(said, dict) else None
    return None


def refused_by_compiler(rung: Rung, job: Job, region: Region, error: BuildError) -> CpuTrial:
    """Return the outcome of a text that does not compile."""
    problem, line = first_error(str(error), rung)
    return CpuTrial(job, region, None, None, diagnostics_of(str(error), rung), problem, line)
