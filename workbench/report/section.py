"""The report's section about one session: facts, charts, tables, examples and commands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from kernels import Engine
from kernels.core.job import Progress
from kernels.sweeps.record import Session
from workbench.charts.data.chart_words import list_of
from workbench.report.drawings import ReportChart, ToDraw, drawings
from workbench.report.end_to_end import end_to_end_table
from workbench.report.examples import Example, examples
from workbench.report.figure_numbers import Counts
from workbench.report.launches import launches_table
from workbench.report.published_times import published_table
from workbench.report.refusals import missing, refusals_table
from workbench.report.report_words import (
    conditions,
    machine_name,
    moment,
    numbered,
    plural,
    sentence,
    were,
)
from workbench.report.reproducing import Commands, commands_for
from workbench.report.tables import Table
from workbench.report.times import quickest_table, times_table

LONG = 60  # rows; more of them go to the end of the report, and the quickest of each stay

# In the page's order, with the end of each one's key.
MAKERS = (
    ("best", quickest_table),
    ("times", times_table),
    ("end-to-end", end_to_end_table),
    ("published", published_table),
    ("refused", refusals_table),
    ("launches", launches_table),
)
AT_END = "launches"

RECORDED = (
    "Recorded: these measurements came with Filter Workbench, and were not taken for this report."
)


@dataclass(frozen=True, slots=True)
class Section:
    """The content of one session's section.

    facts   what was measured, a sentence each
    tables  the verified times first
    long    the tables for the end of the report
    """

    key: str
    title: str
    machine: str
    facts: tuple[str, ...]
    drawings: tuple[ReportChart, ...]
    tables: tuple[Table, ...]
    long: tuple[Table, ...]
    examples: tuple[Example, ...]
    commands: Commands
    is_recorded: bool = False

    @property
    def guide(self) -> str:
        """Return which figure and table shows what, in two sentences."""
        charts = numbered("Figure", [each.number for each in self.drawings])
        pairs = numbered("Figure", [each.number for each in self.examples])
        verb = {True: "draws", False: "draw"}
        parts = [f"{charts} {verb[len(self.drawings) == 1]} what was measured."] if charts else []
        if pairs:
            parts.append(
                f"{pairs} {'shows' if len(self.examples) == 1 else 'show'} before and after."
            )
        tables = (*self.tables, *self.long)
        if tables:
            listed = list_of([f"{each.what} in Table {each.number}" for each in tables])
            parts.append(f"There is {listed}.")
        return " ".join(parts)


def composing_section(
    session: Session, key: str, pictures: Mapping[str, NDArray[Any]], engine: Engine, counts: Counts
) -> Iterator[Progress | Section]:
    """Compose a section, a part at a time; the last thing yielded is the Section."""
    title = session.plan.title
    made: dict[str, Table] = {}
    for name, make in MAKERS:
        yield Progress(f"writing the tables of {title}")
        if table := make(session, f"{key}-{name}"):
            made[name] = replace(table, is_recorded=session.is_recorded)
    drawn, shown = [], []
    yield ToDraw(f"drawing the charts of {title}")
    for each in drawings([session], key, counts):
        drawn.append(each)
        yield ToDraw(f"drawing the charts of {title}")
    yield Progress(f"filtering the examples of {title}")
    for step in examples(session, pictures, engine, counts):
        if isinstance(step, Example):
            shown.append(step)
        yield Progress(f"filtering the examples of {title}")
    in_sight, long = _told_apart(made)
    yield Section(
        key=key,
        title=title,
        machine=machine_name(session.machine),
        facts=tuple(_facts(session)),
        drawings=tuple(drawn),
        tables=tuple(replace(each, number=next(counts.tables)) for each in in_sight),
        long=long,
        examples=tuple(shown),
        commands=commands_for(session),
        is_recorded=session.is_recorded,
    )


def _told_apart(made: Mapping[str, Table]) -> tuple[tuple[Table, ...], tuple[Table, ...]]:
    """Return the tables in the section, and those at the end of the report.

    Of many times only the quickest of each are in the section, of few all.
    """
    is_long = {"best", "times"} <= made.keys() and len(made["times"].rows) > LONG
    at_end = ("times", AT_END) if is_long else (AT_END,)
    left_out = () if is_long else ("best",)
    in_sight = [name for name in made if name not in (*at_end, *left_out)]
    return (
        tuple(made[name] for name in in_sight),
        tuple(made[name] for name in at_end if name in made),
    )


def _facts(session: Session) -> Iterator[str]:
    """Return what was measured, on what, when, and how much of it there is."""
    plan = session.plan
    if fixed := conditions(session):
        yield fixed
    if plan.source:
        tables = "tables" if " and " in plan.table else "table"
        where = f", {tables} {plan.table}" if plan.table else ""
        yield f"It repeats what was published by {plan.source}{where}."
    if plan.note:
        yield sentence(plan.note)
    verified = sum(record.verified is not None for record in session.records)
    if session.is_recorded:
        yield RECORDED
    yield (
        f"Measured on {machine_name(session.machine)} from {moment(session.started)} on: "
        f"{plural(len(session.records), 'cell')}, of which {verified:,} have a verified time."
    )
    for own in plan.own_texts:
        yield f"{own.key} is a kernel of one's own; the SHA-256 of its text is {own.sha256}."
    if left := missing(session):
        yield f"{were(left, 'cell')} planned and not measured."
    yield from session.remarks
