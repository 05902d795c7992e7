"""Rungs: `workbench launch`, `source`, which needs no GPU, and `tune`, which times them all."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby, product
from pathlib import Path
from typing import Any

import numpy as np

from kernels import Engine, Job, filters
from kernels.core.errors import BadJobError
from kernels.core.plain_data import to_plain
from kernels.core.version import program_version
from kernels.cuda.nvrtc import Kind, compile_rung, listing_of, numbered
from kernels.engine.auto import Candidate, JobClass, job_class_of, ranked
from kernels.engine.job_comparison import Trial, Tuning, tuning
from kernels.export.cuda_program import cuda_program
from kernels.filters import custom
from kernels.pictures.generated import white
from kernels.rungs.own_kernels import is_own, read_own_kernel
from kernels.rungs.rung import Rung, ladder, list_ladder
from workbench.base import numbers
from workbench.cli import made_jobs, output
from workbench.cli.output import CommandError, complain, printed_apart, say
from workbench.cli.stopping import ended_by_sigterm
from workbench.cli.this_machine import engine_maker, gpu_of

SIZE = (64, 64)  # of a picture; nothing that is compiled depends on it


def launch(arguments: Namespace) -> int:
    for ran in engine_maker(arguments)().launch_once(_job(arguments)):
        print(ran)
    return 0


def _job(arguments: Namespace) -> Job:
    """Make the job.  Raises BadJobError where the options clash."""
    name, ksize = arguments.filter or "gaussian", arguments.size or 5
    job = made_jobs.named_job(arguments, name, ksize, arguments.picture[::-1])
    job = job.but(implementation=arguments.implementation)
    if arguments.weights is None:
        if arguments.offset is not None:
            raise BadJobError("--offset is added to what own weights give; it needs --weights.")
        return job
    if arguments.filter is not None or arguments.size is not None:
        raise BadJobError("--weights are own weights; leave out --filter and --size.")
    own, matrix = filters.get("custom"), custom.parse(arguments.weights)
    return job.but(
        weights=own.weights(len(matrix), matrix=matrix),
        title=own.title,
        offset=(arguments.offset or 0.0) * white(job.picture.dtype),
    )


def source(arguments: Namespace) -> int:
    if arguments.ptx + arguments.sass + arguments.program > 1:
        raise BadJobError("--ptx, --sass and --program are three texts; choose one.")
    rung = _rung(arguments.kernel)
    kind: Kind | None = "sass" if arguments.sass else "ptx" if arguments.ptx else None
    if kind is None:
        if arguments.json:
            raise BadJobError("--json is about instructions; it needs --ptx or --sass.")
        if arguments.program:
            size = arguments.picture[::-1]
            job = made_jobs.named_job(arguments, arguments.filter, arguments.size, size)
            print(cuda_program(rung, job), end="")
        else:
            print(rung.source, end="")
        return 0
    job = made_jobs.named_job(arguments, arguments.filter, arguments.size, SIZE)
    if reason := rung.why_not_anywhere(job):
        raise CommandError(reason)
    compiled = compile_rung(rung, job, arguments.architecture, with_lines=True)
    rows = listing_of(compiled, kind)
    if not arguments.json:
        print("\n".join(numbered(row, rung.file) for row in rows))
        return 0
    data = {
        "command": "source",
        "program": program_version(),
        "kernel": rung.key,
        "file": rung.file,
        "architecture": arguments.architecture,
        "resources": [to_plain(each) for each in compiled.resources],
        "rows": [{**to_plain(row), "line": row.line_in(rung.file) or None} for row in rows],
    }
    print(output.json_of(data, indent=2))
    return 0


def _rung(named: str) -> Rung:
    if is_own(named):
        return read_own_kernel(Path(named))
    known = {each.key: each for each in (*ladder(), *list_ladder())}
    if named not in known:
        raise BadJobError(
            f"There is no rung {named!r}; there are {', '.join(known)}, and files that end in .cu."
        )
    return known[named]


PIXEL = np.zeros((1, 1, 1), np.uint8)
Make = Callable[[], Job]

FILTERS, QUICK_FILTERS = ("gaussian", made_jobs.RANDOM, "box"), ("gaussian", made_jobs.RANDOM)
KSIZES, QUICK_KSIZES = (3, 5, 7, 9, 15, 31), (3, 5, 7, 15)
PICTURES, QUICK_PICTURES = ((1024, 1024), (4096, 4096)), ((2048, 2048),)
TYPES = (("uint8", 3), ("uint8", 1), ("float32", 1))


def tune(arguments: Namespace) -> int:
    """Measure class by class, printing the quickest way of each, also as JSON."""
    with printed_apart(arguments.json) as print_json, ended_by_sigterm():
        jobs = jobs_for(arguments)
        engine = engine_maker(arguments)()
        device = gpu_of(engine)
        measurements = engine.picker.measurements
        if arguments.missing:
            known = set(measurements.kinds())
            jobs = [make for make in jobs if job_class_of(make()) not in known]
        if measurements.complaint:
            complain(measurements.complaint)
        print(f"{numbers.plural(len(jobs), 'kind')} of jobs on {device.name}", flush=True)
        tried: dict[JobClass, list[Trial]] = {}
        try:
            steps = tuning(engine, jobs, shapes=not arguments.quick)
            for kind, trials in groupby(_trials(steps), lambda trial: trial.kind):
                for each in trials:
                    tried.setdefault(kind, []).append(each)
                _print_best(engine, kind, tried[kind])
        except KeyboardInterrupt:
            print("Stopped; the times measured so far are kept.")
            raise
        finally:
            say("")
            print_json(partial(_data, engine, tried))
        print(f"Kept in {measurements.path}.")
        if measurements.complaint:
            complain(measurements.complaint)
    return 0


def jobs_for(arguments: Namespace) -> list[Make]:
    """List the makers of the jobs, those of one picture together.

    Raises BadJobError for names that do not exist, before anything is measured.
    """
    names = arguments.filter or (QUICK_FILTERS if arguments.quick else FILTERS)
    ksizes = arguments.size or (QUICK_KSIZES if arguments.quick else KSIZES)
    pictures = arguments.picture or (QUICK_PICTURES if arguments.quick else PICTURES)
    borders = arguments.border or ("clamp",)
    for border in borders:
        Job.of(PIXEL, made_jobs.weights("box", 3), border)
    weights = list(_weights(names, ksizes))
    if arguments.pixel_type is None and arguments.channels is None:
        types: Sequence[tuple[str, int]] = TYPES[:2] if arguments.quick else TYPES
    else:
        pixel_types = arguments.pixel_type or ("uint8", "float32")
        types = list(product(pixel_types, arguments.channels or (1,)))
    return [
        partial(made_jobs.job, name, ksize, (height, width), channels, pixel_type, border)
        for (width, height) in pictures
        for pixel_type, channels in types
        for border, (name, ksize) in product(borders, weights)
    ]


def _weights(names: Sequence[str], ksizes: Sequence[int]) -> Iterator[tuple[str, int]]:
    for name in names:
        taken = [k for k in ksizes if name == made_jobs.RANDOM or k in filters.get(name).sizes]
        for ksize in taken or ksizes[:1]:
            made_jobs.job(name, ksize, (1, 1))
            yield name, ksize


def _trials(steps: Iterable[Tuning | Trial]) -> Iterator[Trial]:
    for step in steps:
        if isinstance(step, Trial):
            yield step
        else:
            say(f"{step.number} of {step.count} · {step.done} of {step.ways} · {step.doing}")


def _print_best(engine: Engine, kind: JobClass, trials: Sequence[Trial]) -> None:
    count = sum(isinstance(each.outcome, Candidate) for each in trials)
    words, best = "nothing that can run it gave a right output", _best(engine, kind)
    if best:
        block = " {}×{}".format(*best.block_xy) if best.block_xy else ""
        words = f"{best.implementation}{block}, {numbers.duration(best.median_ms)}"
    say("")
    print(f"{kind}: {words} ({count} ways measured)", flush=True)


def _best(engine: Engine, kind: JobClass) -> Candidate | None:
    return next(ranked(engine.picker.measurements.of(kind)), None)


def _data(engine: Engine, tried: dict[JobClass, list[Trial]]) -> dict[str, Any]:
    """List every way, class by class: its time in milliseconds, or the reason for none."""
    return {
        "command": "tune",
        "program": program_version(),
        "device": getattr(engine.device, "name", None),
        "file": str(engine.picker.measurements.path),
        "kinds": [
            {
                "kind": to_plain(kind),
                "best": to_plain(best) if (best := _best(engine, kind)) else None,
                "tried": [
                    {
                        "implementation": trial.implementation,
                        "block_xy": to_plain(trial.block_xy),
                        "median_ms": getattr(trial.outcome, "median_ms", None),
                        "why_not": trial.outcome if isinstance(trial.outcome, str) else None,
                    }
                    for trial in trials
                ],
            }
            for kind, trials in tried.items()
        ],
    }
