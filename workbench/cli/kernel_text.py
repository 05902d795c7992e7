"""Print a kernel's source, or its PTX or SASS: `workbench source`."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from kernels.core.errors import BadJobError
from kernels.core.plain_data import to_plain
from kernels.core.version import program_version
from kernels.cuda.listings import Kind, listing_of, numbered
from kernels.cuda.nvrtc import compile_rung
from kernels.rungs.own_kernels import is_own
from kernels.rungs.rung import Rung, ladder
from workbench.cli import made_jobs, output
from workbench.cli.output import CommandError
from workbench.cli.recipe_options import read_named

SIZE = (64, 64)  # of a picture; nothing that is compiled depends on it


def run(arguments: Namespace) -> int:
    """Print the source, PTX or SASS."""
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
        return read_named(Path(named))
    known = {each.key: each for each in ladder()}
    if named not in known:
        raise BadJobError(
            f"There is no rung {named!r}; there are {', '.join(known)}, and files that end in .cu."
        )
    return known[named]
