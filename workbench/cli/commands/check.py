"""`workbench check FILE|FOLDER...`: compile kernels, verify each on the same jobs, and time it.

On the GPU, where there is one; else on the CPU runtime, without a time.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kernels.core.device import Device
from kernels.core.plain_data import to_plain, without_controls
from kernels.core.version import program_version
from kernels.cuda_child.bug_search import why_no_search
from kernels.cuda_on_cpu.compiler import why_not
from workbench.base.columns import columns
from workbench.batch.check_jobs import COUNTED
from workbench.batch.checked_kernel import CheckedKernel
from workbench.batch.kernel_checks import KernelFile, check_all, kernel_files
from workbench.cli.command_error import FAILED, CommandError, complain
from workbench.cli.output_files import refuse_unwritable, write_whole
from workbench.cli.progress_line import ProgressLine
from workbench.cli.stopping import ended_by_sigterm
from workbench.cli.sweep_json import printed_apart
from workbench.cli.this_machine import engine_maker
from workbench.report.checked_kernels import (
    cells_of,
    checked_csv,
    checked_page,
    headings,
    job_names,
    summary_of,
    verdicts_of,
    where_in_words,
)


def run(arguments: Namespace) -> int:
    """Print a row for each kernel; FAILED unless all are verified.

    With --json a document of that on stdout, and all else on stderr.
    """
    with printed_apart(arguments.json) as print_json, ended_by_sigterm():
        found = engine_maker(arguments)().device
        device = found if isinstance(found, Device) else None
        if device is None and (missing := why_not()):
            raise CommandError(missing)
        if arguments.find_bug and (missing := why_no_search(device)):
            complain(f"No bug is looked for: {missing}")
        name = device.name if device else ""
        files = _files(arguments.kernels)
        refuse_unwritable(arguments.csv, arguments.html)
        progress = ProgressLine(arguments.progress)
        rows: dict[int, CheckedKernel] = {}
        try:
            check_all(
                files,
                progress.say,
                rows.__setitem__,
                find_bug=arguments.find_bug,
                at_a_time=1 if device else arguments.jobs,  # else one disturbs another's times
                device=device,
            )
        finally:  # what is known until then, where it was stopped
            progress.say("")
            known = [rows[at] for at in sorted(rows)]
            _print(known, len(files), name)
            print_json(lambda: _data(known, len(files), name))
            if arguments.csv:
                write_whole(arguments.csv, checked_csv(known))
            if arguments.html:
                write_whole(arguments.html, checked_page(known, name))
        return 0 if all(row.is_right for row in known) else FAILED


def _files(named: Iterable[Path]) -> list[KernelFile]:
    """Return all kernels that are named, each once.  Raises CommandError where there is none."""
    found: list[KernelFile] = []
    for each in named:
        inside = kernel_files(each)
        if not inside:
            raise CommandError(f"There is no .cu file in {each}.")
        found += (file for file in inside if file.path not in {other.path for other in found})
    return found


def _print(rows: list[CheckedKernel], count: int, device: str) -> None:
    print(columns([headings(device), *map(cells_of, rows)]))
    for row in rows:
        if "\n" in row.log:  # more than its row says
            print(without_controls(f"workbench: {row.file}:\n{row.log}"), file=sys.stderr)
    left = count - len(rows)
    stopped = f" Stopped; {left} {'was' if left == 1 else 'were'} not checked." if left else ""
    counted = f" Counted per sample of {COUNTED.name}." if any(row.counts for row in rows) else ""
    print(f"{summary_of(rows)} {where_in_words(device)}{counted}{stopped}", flush=True)
    if meanings := verdicts_of(rows):
        print(meanings, flush=True)


def _data(rows: list[CheckedKernel], count: int, device: str) -> dict[str, Any]:
    """Return all rows for programs."""
    return {
        "command": "check",
        "program": program_version(),
        "ran_on": device or "cpu",
        "jobs": job_names(device),
        "counted": COUNTED.name,
        "is_complete": len(rows) == count,
        "kernels": [to_plain(row) for row in rows],
    }
