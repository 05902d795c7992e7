"""Print a kernel's text, or what NVIDIA's compiler makes of it: `workbench source`."""

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
from kernels.rungs.headers import HeaderError
from kernels.rungs.own_kernels import is_own, read_own_kernel
from kernels.rungs.rung import Rung, ladder
from workbench.cli import made_jobs, output
from workbench.cli.output import CommandError

SIZE = (64, 64)  # of a picture; nothing that is compiled depends on it


def run(arguments: Namespace) -> int:
    """Print the text, PTX or SASS, and what it differs in from another's."""
    rung = _rung(arguments.kernel)
    kind: Kind | None = "sass" if arguments.sass else "ptx" if arguments.ptx else None
    if kind is None:
        _refuse_without_code(arguments)
        print(rung.source, end="")
        return 0
    job = _job(arguments)
    compiled, listing = _compiled(rung, job, kind, arguments.architecture)
    other = arguments.against and _rung(arguments.against)
    changes = None
    if other:
        before = _compiled(other, job, kind, arguments.architecture)[1]
        changes = changes_of(before, listing)
    if arguments.json:
        print(output.json_of(_data(arguments, rung, compiled, listing, changes), indent=2))
    else:
        print("\n".join(_lines(rung, listing, changes)))
    return 0


def _refuse_without_code(arguments: Namespace) -> None:
    for option in ("against", "json"):
        if getattr(arguments, option):
            raise BadJobError(f"--{option} is about instructions; it needs --ptx or --sass.")


def _rung(named: str) -> Rung:
    if is_own(named):
        try:
            return read_own_kernel(Path(named))
        except HeaderError as error:
            raise CommandError(str(error)) from error
    known = {each.key: each for each in ladder()}
    if named not in known:
        raise BadJobError(
            f"There is no rung {named!r}; there are {', '.join(known)}, and files that end in .cu."
        )
    return known[named]


def _job(arguments: Namespace) -> Job:
    return made_jobs.job(
        arguments.filter,
        arguments.size,
        SIZE,
        arguments.channels,
        arguments.pixel_type,
        arguments.border,
        block_xy=arguments.block,
    )


def _compiled(rung: Rung, job: Job, kind: Kind, architecture: int) -> tuple[Compiled, Listing]:
    if reason := rung.why_not_anywhere(job):
        raise CommandError(reason)
    compiled = compile_rung(rung, job, architecture, with_lines=True)
    return compiled, listing_of(compiled, kind)


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
    """Return it all for programs."""
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
