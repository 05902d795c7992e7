"""`workbench check FILE|FOLDER...`: compile kernels, verify each on the same jobs, and time it."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path
from secrets import randbelow
from tempfile import TemporaryDirectory
from typing import Any

from kernels import filters
from kernels.core.device import Device
from kernels.core.errors import BadJobError
from kernels.core.plain_data import to_plain
from kernels.core.version import program_version
from kernels.cuda_on_cpu.compiler import why_not
from kernels.filters.parameters import option_of
from kernels.rungs.headers import SMALLEST
from kernels.rungs.own_kernels import MAX_BYTES
from workbench.base.columns import columns
from workbench.batch.check_jobs import MAX_SEED, Asked, counted
from workbench.batch.kernel_checks import CheckedKernel, Exam, check_all, kernel_files
from workbench.cli import output
from workbench.cli.output import CommandError
from workbench.cli.recipe_options import OPTIONS
from workbench.cli.stopping import ended_by_sigterm
from workbench.cli.this_machine import engine_maker
from workbench.report import checked_kernels as table

OWN = "custom"  # weights that are drawn, or what a header says


def run(arguments: Namespace) -> int:
    """Print a row for each kernel; FAILED where one has a fault, or is not verified (--strict)."""
    with (
        output.printed_apart(arguments.json) as print_json,
        ended_by_sigterm(),
        TemporaryDirectory(prefix="workbench-") as folder,
    ):
        found = engine_maker(arguments)().device
        device = found if isinstance(found, Device) else None
        if device is None and (missing := why_not()):
            raise CommandError(missing)
        if arguments.find_bug and (missing := why_not()):
            output.complain(f"No bug is looked for: {missing}")
        seed = randbelow(MAX_SEED) if arguments.seed is None else arguments.seed
        how = Exam(seed, arguments.strict, _asked(arguments), arguments.find_bug, device)
        files = _files(arguments.kernels, Path(folder, "stdin.cu"))
        output.refuse_unwritable(arguments.csv, arguments.html)
        progress = output.ProgressLine(arguments.progress)
        rows: dict[int, CheckedKernel] = {}
        try:
            jobs = 1 if device else arguments.jobs  # else one disturbs another's times
            check_all(files, progress.say, rows.__setitem__, how, at_a_time=jobs)
        finally:  # also where it was stopped
            progress.say("")
            known = [rows[at] for at in sorted(rows)]
            _print(known, len(files), how)
            print_json(lambda: _data(known, len(files), how))
            if arguments.csv:
                output.write_whole(arguments.csv, table.checked_csv(known))
            if arguments.html:
                output.write_whole(arguments.html, table.checked_page(known, how))
        is_fine = all(row.is_right if how.is_strict else row.is_sound for row in known)
        return 0 if is_fine else output.FAILED


def _asked(arguments: Namespace) -> Asked | None:
    """The filter that --filter names.  Raises BadJobError for options that make none."""
    named = {name: getattr(arguments, option, None) for name, option in OPTIONS.items()}
    given = {name: value for name, value in named.items() if value is not None}
    chosen = filters.get(given.pop("filter", OWN))
    ksize = None if chosen.key == OWN else given.pop("ksize", None)
    is_of_step = {each.name: each.is_of_step for each in chosen.parameters}
    for name in given:
        option = option_of(OPTIONS[name])
        if is_of_step.get(name):
            raise BadJobError(f"A kernel is checked without {option}, which is of the step.")
        if name not in is_of_step:
            title = chosen.title if arguments.filter else "A check without --filter"
            raise BadJobError(f"{title} takes no {option}.")
    if chosen.key == OWN:
        return None
    asked = Asked(chosen, ksize, given)
    asked.of(SMALLEST)
    return asked


def _files(named: Iterable[Path], stdin: Path) -> dict[Path, str]:
    """Files with the names to show; what - stands for is written to `stdin`."""
    found: dict[Path, str] = {}
    for each in named:
        if is_stdin := str(each) == output.STREAM and stdin not in found:
            output.refuse_terminal(sys.stdin, "reads a kernel from standard input")
            stdin.write_bytes(sys.stdin.buffer.read(MAX_BYTES + 1))
        if not (inside := {stdin: output.STREAM} if is_stdin else kernel_files(each)):
            raise CommandError(f"There is no .cu file in {each}.")
        found |= {path: shown for path, shown in inside.items() if path not in found}
    return found


def _print(rows: list[CheckedKernel], count: int, how: Exam) -> None:
    print(columns([table.headings(how), *map(table.cells_of, rows)]))
    for row in rows:
        if "\n" in row.log:  # more than its row says
            output.complain(f"{row.file}:\n{row.log}")
    said = [table.summary_of(rows), table.how_in_words(how)]
    if any(row.counts for row in rows):
        said.append(f"Counted per sample of {counted(how.jobs).name}.")
    if left := count - len(rows):
        said.append(f"Stopped; not checked: {left}.")
    print(*said, flush=True)
    if meanings := table.verdicts_of(rows):
        print(meanings, flush=True)


def _data(rows: list[CheckedKernel], count: int, how: Exam) -> dict[str, Any]:
    return {
        "command": "check",
        "program": program_version(),
        "ran_on": how.device.name if how.device else "cpu",
        "is_strict": how.is_strict,
        "filter": how.asked.filter.key if how.asked else None,
        "seed": how.seed,
        "jobs": [each.name for each in how.jobs],
        "counted": counted(how.jobs).name,
        "is_complete": len(rows) == count,
        "kernels": [to_plain(row) for row in rows],
    }
