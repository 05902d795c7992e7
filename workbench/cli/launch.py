"""`workbench launch`: launch a rung once, in an NVTX range named after it, for a profiler."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace

from kernels import Job, filters
from kernels.core.errors import BadJobError
from kernels.filters import custom
from kernels.pictures.generated import white
from workbench.cli import made_jobs
from workbench.cli.this_machine import engine_maker


def run(arguments: Namespace) -> int:
    """Launch, and print what ran."""
    for ran in engine_maker(arguments)().launch_once(_job(arguments)):
        print(ran)
    return 0


def _job(arguments: Namespace) -> Job:
    """Make the job.  Raises BadJobError where the options clash."""
    name, ksize = arguments.filter or "gaussian", arguments.size or 5
    job = made_jobs.named_job(arguments, name, ksize, arguments.picture[::-1])
    job = replace(job, implementation=arguments.implementation)
    if arguments.weights is None:
        if arguments.offset is not None:
            raise BadJobError("--offset is added to what own weights give; it needs --weights.")
        return job
    if arguments.filter is not None or arguments.size is not None:
        raise BadJobError("--weights are own weights; leave out --filter and --size.")
    own, matrix = filters.get("custom"), custom.parse(arguments.weights)
    return replace(
        job,
        weights=own.weights(len(matrix), matrix=matrix),
        filter_title=own.title,
        offset=(arguments.offset or 0.0) * white(job.picture.dtype),
    )
