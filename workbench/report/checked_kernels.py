"""The table of a check of kernels, as text, CSV and a page of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kernels.core.plain_data import without_controls
from kernels.core.version import program_version
from kernels.sweeps.session_csv import rows_csv
from workbench.base import numbers
from workbench.batch.check_jobs import counted
from workbench.batch.kernel_checks import CheckedKernel, Exam, Verdict

BEFORE, AFTER = ("file", "compiles", "verified"), ("per sample", "what is wrong")
TEXT = "SHA-256 of its text"  # on the page
STRICT = "Strict: the header chose neither jobs nor tolerance."
DRAWN = "Pictures, weights, sizes and a pixel type were drawn with --seed {seed}."
MEANINGS: dict[Verdict, str] = {
    "unsearched": "Right, not verified: it was not run under checks of races, barriers and bounds.",
    "incomplete": "NOT VERIFIED: it does not take all jobs.",
    "unfinished": "Not finished: the CPU runtime had too little time for it, here and now.",
    "wrong": "WRONG: an output differs from the reference.",
    "failed": (
        "Failed: a kernel did not end, or did what none may, whether its output is right or not."
    ),
}
# Columns of the CSV, and their values in a row.
CSV: dict[str, Callable[[CheckedKernel], object]] = {
    "file": lambda row: row.file,
    "compiles": lambda row: "yes" if row.compiles else "no",
    "verdict": lambda row: row.verdict,
    "jobs": lambda row: row.jobs,
    "verified": lambda row: row.verified,
    "refused": lambda row: row.refused,
    "job": lambda row: row.job,
    "what_is_wrong": lambda row: row.words,
    "why": lambda row: row.why,
    "bug": lambda row: row.bug,
    "bug_search": lambda row: row.search,
    "loads_per_sample": lambda row: row.counts and row.counts.loads,
    "stores_per_sample": lambda row: row.counts and row.counts.stores,
    "operations_per_sample": lambda row: row.counts and row.counts.operations,
    "device": lambda row: row.device,
    "median_ms": lambda row: row.kernel and row.kernel.median_ms,
    "n": lambda row: row.kernel and len(row.kernel.samples_ms),
    "text_sha256": lambda row: row.text_sha256,
}


def headings(how: Exam) -> tuple[str, ...]:
    return (*BEFORE, *(("time",) if how.device else ()), *AFTER)


def cells_of(row: CheckedKernel) -> tuple[str, ...]:
    """A row of the table in words, under the headings of where it was checked."""
    time = "" if row.kernel is None else numbers.duration(row.kernel.median_ms)
    return tuple(
        without_controls(cell.replace("\n", " "))
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
    right = sum(row.is_right for row in rows)
    return f"{numbers.plural(len(rows), 'kernel')}, {right} verified."


def verdicts_of(rows: Sequence[CheckedKernel]) -> str:
    """A sentence on each verdict in the table that its word does not explain; empty: none."""
    there = {row.verdict for row in rows}
    unseen = {f"{row.unseen[:1].upper()}{row.unseen[1:]}." for row in rows if row.unseen}
    return " ".join((*(MEANINGS[each] for each in MEANINGS if each in there), *unseen))


def how_in_words(how: Exam) -> str:
    """Say where it was, what the times are of, and how the jobs came about."""
    where = "On the CPU runtime: no time."
    if how.device:
        where = f"On {how.device.name}; times, of what is right, are of {how.jobs[-1].name}."
    against = f"Held against {how.asked.filter.title}." if how.asked else ""
    words = (where, against, DRAWN.format(seed=how.seed), STRICT if how.is_strict else "")
    return " ".join(filter(None, words))


def checked_csv(rows: Sequence[CheckedKernel]) -> str:
    """Write a line for each kernel, with the columns of CSV."""
    return rows_csv(tuple(CSV), ({k: value(row) for k, value in CSV.items()} for row in rows))


def checked_page(rows: Sequence[CheckedKernel], how: Exam) -> str:
    """A whole page, which needs no network."""
    from workbench.report.writing import environment  # a fifth of a second, for pages alone

    page = environment().get_template("checked_kernels.html.j2")
    text = page.render(
        title="Kernels checked",
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
