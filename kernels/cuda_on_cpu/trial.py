"""Try a rung on the CPU, whatever it may do: its answer, the check of it, and what went wrong."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice
from math import prod
from pathlib import Path

from kernels.core.job import Job, Progress
from kernels.core.poison import unwritten_in_words
from kernels.cuda_on_cpu.building import BuildError
from kernels.cuda_on_cpu.checked import CheckedShim
from kernels.cuda_on_cpu.children import Child, borrowed_child
from kernels.cuda_on_cpu.compile_errors import LACKING, diagnostics_of, first_error
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
from kernels.cuda_on_cpu.kernel_trial import KernelTrial
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
from kernels.cuda_on_cpu.run_words import ended_in_words
from kernels.cuda_on_cpu.shared_run import Kind, Signal
from kernels.cuda_on_cpu.shim import TriedShim
from kernels.cuda_on_cpu.unset_locals import unset_in_words, with_unset
from kernels.rungs.rung import Rung

DEADLINE_S = 5.0  # of the CPU's time
COUNTING_TIMES = 4  # as long
MAX_VARIABLES = 64 << 20  # bytes that a library for several jobs may have: a run's are limited


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
) -> Iterator[Progress | KernelTrial]:
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
        yield KernelTrial(part, region, problem=reason)
        return
    made = library or (yield from built(TriedShim, rung, part))
    if isinstance(made, BuildError):
        yield refused_by_compiler(rung, part, region, made)
        return
    with borrowed_child() as child:
        ended = yield from run_once(child, TriedShim, rung, part, made, deadline_s)
        problem, line = ended_in_words(rung, ended)
        printed, is_unfinished = str(ended.said.get("printed", "")), ended.is_unfinished
        if ended.answer is None:
            fault = ended.reports.fault
            if fault.kind in (Kind.ELEMENT, Kind.BEYOND) or fault.signal == Signal.SIGSEGV:
                problem = yield from with_unset(rung, part, problem, line)
            if ended.beside:  # its output is to be seen
                what = child, TriedShim, rung, part, made, deadline_s
                ended = yield from run_once(*what, is_guarded=False)
            outcome = KernelTrial(
                *(part, region),
                answer=ended.answer,
                problem=problem,
                line=line,
                is_unfinished=is_unfinished,
                printed=printed,
            )
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
            is_unfinished = again.is_unfinished
        corner = region.left, region.top
        if not problem:
            problem = yield from differing_in_words(
                *(child, TriedShim, rung, ended, again, corner, deadline_s)
            )
        problem = problem or unwritten_in_words(never, corner)
        if some_rows and not problem and check.ok:
            problem, line = yield from _some_rows(child, rung, ended, deadline_s)
        outcome = KernelTrial(
            *(part, region),
            answer=ended.answer,
            check=check,
            problem=problem,
            line=line,
            is_unfinished=is_unfinished,
            unwritten=int(never.sum()),
            printed=printed,
        )
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


def refused_by_compiler(rung: Rung, job: Job, region: Region, error: BuildError) -> KernelTrial:
    """Return the outcome of a text that does not compile."""
    problem, line = first_error(str(error), rung)
    diagnostics = diagnostics_of(str(error), rung)
    errors = (each for each in diagnostics if each.is_error)
    return KernelTrial(
        *(job, region),
        problem=problem,
        line=line,
        diagnostics=diagnostics,
        log="\n".join(f"{each.file}({each.line}): {each.text}" for each in errors),
        is_lacking=LACKING in str(error),
    )
