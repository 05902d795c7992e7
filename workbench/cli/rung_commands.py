"""One rung: `workbench launch` and `workbench source`, which needs no GPU."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from kernels import Job, filters
from kernels.core.errors import BadJobError
from kernels.core.plain_data import to_plain
from kernels.core.version import program_version
from kernels.cuda.nvrtc import Kind, compile_rung, listing_of, numbered
from kernels.filters import custom
from kernels.pictures.generated import white
from kernels.rungs.own_kernels import is_own, read_own_kernel
from kernels.rungs.rung import Rung, ladder
from workbench.cli import made_jobs, output
from workbench.cli.output import CommandError
from workbench.cli.this_machine import engine_maker

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
    if arguments.ptx and arguments.sass:
        raise BadJobError("--ptx and --sass are two listings; choose one.")
    rung = _rung(arguments.kernel)
    kind: Kind | None = "sass" if arguments.sass else "ptx" if arguments.ptx else None
    if kind is None:
        if arguments.json:
            raise BadJobError("--json is about instructions; it needs --ptx or --sass.")
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
    known = {each.key: each for each in ladder()}
    if named not in known:
        raise BadJobError(
            f"There is no rung {named!r}; there are {', '.join(known)}, and files that end in .cu."
        )
    return known[named]
