"""The table of a check of kernels, as text, CSV and a page of its own."""

from __future__ import annotations

import io
from collections.abc import Sequence

from kernels.core.plain_data import without_controls
from kernels.core.version import program_version
from kernels.sweeps.session_csv import write_rows
from workbench.batch.check_jobs import COUNTED, check_jobs
from workbench.batch.checked_kernel import CheckedKernel
from workbench.report.templates import environment

ON_THE_CPU = "On the CPU runtime: no time."
HEADINGS = ("file", "compiles", "verified", "per sample", "what is wrong")
CSV_COLUMNS = (
    *("file", "compiles", "verdict", "jobs", "verified", "refused"),
    *("job", "what_is_wrong", "bug"),
    *("loads_per_sample", "stores_per_sample", "operations_per_sample"),
)


def cells_of(row: CheckedKernel) -> tuple[str, ...]:
    """Return a row of the table in words, under HEADINGS."""
    return tuple(
        without_controls(cell)
        for cell in (
            row.file,
            "yes" if row.compiles else "no",
            row.verdict_in_words if row.compiles else "",
            row.counts.in_words if row.counts else "",
            row.sentence,
        )
    )


def summary_of(rows: Sequence[CheckedKernel]) -> str:
    """Return how many there are, and how many of them are right."""
    right = sum(row.is_right for row in rows)
    return f"{len(rows)} kernel{'s' if len(rows) != 1 else ''}, {right} verified."


def checked_csv(rows: Sequence[CheckedKernel]) -> str:
    """Return a line for each kernel, with CSV_COLUMNS."""
    file = io.StringIO(newline="")
    write_rows(CSV_COLUMNS, map(_csv_row, rows), file)
    return file.getvalue()


def checked_page(rows: Sequence[CheckedKernel]) -> str:
    """Return a whole page, which needs no network."""
    page = environment().get_template("checked_kernels.html.j2")
    text = page.render(
        version=program_version(),
        summary=summary_of(rows),
        runtime=ON_THE_CPU,
        jobs=[each.name for each in check_jobs()],
        counted=COUNTED.name,
        columns=[heading[:1].upper() + heading[1:] for heading in HEADINGS],
        rows=[cells_of(row) for row in rows],
        logs=[(without_controls(row.file), row.log) for row in rows if row.log],
    )
    return without_controls(text)


def _csv_row(row: CheckedKernel) -> dict[str, object]:
    return {
        "file": row.file,
        "compiles": "yes" if row.compiles else "no",
        "verdict": row.verdict,
        "jobs": row.jobs,
        "verified": row.verified,
        "refused": row.refused,
        "job": row.job,
        "what_is_wrong": row.words,
        "bug": row.bug,
        "loads_per_sample": row.counts and row.counts.loads,
        "stores_per_sample": row.counts and row.counts.stores,
        "operations_per_sample": row.counts and row.counts.operations,
    }
