"""The table of a check of kernels, as text, CSV and a page of its own."""

from __future__ import annotations

import io
from collections.abc import Sequence

from kernels.core.plain_data import without_controls
from kernels.core.version import program_version
from kernels.sweeps.session_csv import write_rows
from workbench.base import numbers
from workbench.batch.check_jobs import counted, timed_job
from workbench.batch.checked_kernel import CheckedKernel, Verdict
from workbench.batch.kernel_checks import Exam

ON_THE_CPU = "On the CPU runtime: no time."
HEADINGS = ("file", "compiles", "verified", "per sample", "what is wrong")
TIME = "time"  # behind the verdict, where there is a GPU
TIME_AT = 3
TEXT = "SHA-256 of its text"  # on the page
STRICT = "Strict: the header chose neither jobs nor tolerance."
DRAWN = "Pictures, weights and three sizes were drawn with --seed {seed}."
MEANINGS: dict[Verdict, str] = {
    "unsearched": "Right, not verified: it was not run under checks of races, barriers and bounds.",
    "incomplete": "NOT VERIFIED: it does not take all jobs.",
    "unfinished": "Not finished: the CPU runtime had too little time for it, here and now.",
    "wrong": "WRONG: an answer differs from the reference.",
    "failed": (
        "Failed: a kernel came to no end, or did what none may, whether its answer is right or not."
    ),
}
CSV_COLUMNS = (
    *("file", "compiles", "verdict", "jobs", "verified", "refused"),
    *("job", "what_is_wrong", "bug", "bug_search"),
    *("loads_per_sample", "stores_per_sample", "operations_per_sample"),
    *("device", "median_ms", "n", "text_sha256"),
)


def headings(how: Exam) -> tuple[str, ...]:
    """Return the names of the columns."""
    return (*HEADINGS[:TIME_AT], TIME, *HEADINGS[TIME_AT:]) if how.device else HEADINGS


def cells_of(row: CheckedKernel) -> tuple[str, ...]:
    """Return a row of the table in words, under the headings of where it was checked."""
    time = "" if row.kernel is None else numbers.duration(row.kernel.median_ms)
    return tuple(
        without_controls(cell)
        for cell in (
            row.file,
            "yes" if row.compiles else "no",
            row.verdict_in_words if row.compiles else "",
            *((time,) if row.device else ()),
            row.counts.in_words if row.counts else "",
            row.sentence,
        )
    )


def summary_of(rows: Sequence[CheckedKernel]) -> str:
    """Count the kernels, and those verified."""
    right = sum(row.is_right for row in rows)
    return f"{len(rows)} kernel{'s' if len(rows) != 1 else ''}, {right} verified."


def verdicts_of(rows: Sequence[CheckedKernel]) -> str:
    """Return a sentence on each verdict in the table that is not plain by its word; empty: none."""
    there = {row.verdict for row in rows}
    unseen = {f"{row.unseen[:1].upper()}{row.unseen[1:]}." for row in rows if row.unseen}
    return " ".join((*(MEANINGS[each] for each in MEANINGS if each in there), *unseen))


def how_in_words(how: Exam) -> str:
    """Say where it was, what the times are of, and how the jobs came about."""
    where = ON_THE_CPU
    if how.device:
        where = f"On {how.device.name}; times, of what is right, are of {timed_job().name}."
    words = (where, DRAWN.format(seed=how.seed), STRICT if how.is_strict else "")
    return " ".join(filter(None, words))


def checked_csv(rows: Sequence[CheckedKernel]) -> str:
    """Return a line for each kernel, with CSV_COLUMNS."""
    file = io.StringIO(newline="")
    write_rows(CSV_COLUMNS, map(_csv_row, rows), file)
    return file.getvalue()


def checked_page(rows: Sequence[CheckedKernel], how: Exam) -> str:
    """Return a whole page, which needs no network."""
    from workbench.report.templates import environment  # a fifth of a second, for pages alone

    page = environment().get_template("checked_kernels.html.j2")
    text = page.render(
        version=program_version(),
        summary=summary_of(rows),
        runtime=" ".join(filter(None, (how_in_words(how), verdicts_of(rows)))),
        jobs=[each.name for each in how.jobs],
        counted=counted(how.jobs).name,
        columns=[heading[:1].upper() + heading[1:] for heading in (*headings(how), TEXT)],
        rows=[(*cells_of(row), row.text_sha256) for row in rows],
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
        "bug_search": row.search,
        "loads_per_sample": row.counts and row.counts.loads,
        "stores_per_sample": row.counts and row.counts.stores,
        "operations_per_sample": row.counts and row.counts.operations,
        "device": row.device,
        "median_ms": row.kernel and row.kernel.median_ms,
        "n": row.kernel and len(row.kernel.samples_ms),
        "text_sha256": row.text_sha256,
    }
