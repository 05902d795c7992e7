"""Print a kernel's source, or its PTX or SASS: `workbench source`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kernels import Job
from kernels.core.errors import BadJobError
from kernels.core.plain_data import to_plain
from kernels.core.version import program_version
from kernels.cuda.listings import (
    Changes,
    Kind,
    KindChange,
    Listing,
    changes_of,
    listing_of,
    numbered,
)
from kernels.cuda.nvrtc import Compiled, compile_rung
from kernels.rungs.own_kernels import is_own
from kernels.rungs.rung import Rung, ladder
from workbench.cli import made_jobs, output
from workbench.cli.output import CommandError
from workbench.cli.recipe_options import read_named

SIZE = (64, 64)  # of a picture; nothing that is compiled depends on it


def run(arguments: Namespace) -> int:
    """Print the source, PTX or SASS, and the changes to another kernel's."""
    if arguments.ptx and arguments.sass:
        raise BadJobError("--ptx and --sass are two listings; choose one.")
    rung = _rung(arguments.kernel)
    kind: Kind | None = "sass" if arguments.sass else "ptx" if arguments.ptx else None
    if kind is None:
        for option in ("against", "json"):
            if getattr(arguments, option):
                raise BadJobError(f"--{option} is about instructions; it needs --ptx or --sass.")
        print(rung.source, end="")
        return 0
    job = made_jobs.named_job(arguments, arguments.filter, arguments.size, SIZE)
    compiled = _compiled(rung, job, arguments.architecture)
    listing = listing_of(compiled, kind)
    changes = None
    if arguments.against:
        other = _compiled(_rung(arguments.against), job, arguments.architecture)
        changes = changes_of(listing_of(other, kind), listing)
    if arguments.json:
        print(output.json_of(_data(arguments, rung, compiled, listing, changes), indent=2))
    else:
        print("\n".join(_lines(rung, listing, changes)))
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


def _compiled(rung: Rung, job: Job, architecture: int) -> Compiled:
    if reason := rung.why_not_anywhere(job):
        raise CommandError(reason)
    return compile_rung(rung, job, architecture, with_lines=True)


def _lines(rung: Rung, listing: Listing, changes: Changes | None) -> Iterator[str]:
    if changes is None:
        yield from (numbered(row, rung.file) for row in listing)
        return
    yield from (f"{mark} {numbered(row, rung.file)}" for mark, row in changes.rows)
    yield ""
    new, gone = changes.marked("+"), changes.marked("−")
    rows = f"{new} new, {gone} gone" if changes.is_by_row else "too many to compare row by row"
    yield f"instructions {_counts(changes.count)}, {rows}"
    yield from (f"  {each.kind:<12} {_counts(each)}" for each in changes.kinds)


def _counts(each: KindChange) -> str:
    return f"{each.before:>5} → {each.now}"


def _data(
    arguments: Namespace, rung: Rung, compiled: Compiled, listing: Listing, changes: Changes | None
) -> dict[str, Any]:
    return {
        "command": "source",
        "program": program_version(),
        "kernel": rung.key,
        "file": rung.file,
        "architecture": arguments.architecture,
        "resources": [to_plain(each) for each in compiled.resources],
        "rows": [{**to_plain(row), "line": row.line_in(rung.file) or None} for row in listing],
        "against": arguments.against,
        "kinds": None if changes is None else [to_plain(each) for each in changes.kinds],
    }
