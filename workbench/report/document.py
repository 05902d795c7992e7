"""The whole content of a report, as data: a section for each session, and two side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

from numpy.typing import NDArray

from kernels import Engine
from kernels.core.cpu_load import disturbed_in_words
from kernels.core.job import Progress
from kernels.core.timing import CONFIDENCE, ENOUGH_SAMPLES
from kernels.core.version import program_version
from kernels.engine.engine import all_implementations
from kernels.sweeps.estimate import place_in, share_done
from kernels.sweeps.record import EQUAL, CellPair, Session, compare_sessions, summary_of
from workbench.base import numbers
from workbench.base.numbers import plural
from workbench.charts.data.chart_words import list_of, sentence_like
from workbench.charts.data.points import planned
from workbench.report import method, session_tables
from workbench.report.report_figures import Example, ReportChart, charts_of, examples
from workbench.report.tables import (
    Table,
    conditions,
    interval,
    machine_name,
    moment,
    unit_of_times,
)

LONG = 60  # rows; more of them are folded, and the quickest of each stand above them
FOLDED = "launches"  # however few they are
RECORDED = (
    "Recorded: these measurements came with Filter Workbench, and were not taken for this report."
)


@dataclass(frozen=True, slots=True)
class Section:
    """The content of one session's section."""

    key: str
    title: str  # with the machine, where there are several
    facts: tuple[str, ...]  # sentences about the measurement
    charts: tuple[ReportChart, ...]
    tables: tuple[Table, ...]  # the verified times first
    commands: method.Commands
    examples: tuple[Example, ...] = ()
    is_recorded: bool = False


@dataclass(frozen=True, slots=True)
class Versus:
    """Two sessions compared: sentences on all cells, the table of each, charts of both."""

    title: str
    sentences: tuple[str, ...]
    table: Table
    charts: tuple[ReportChart, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """The content of a report."""

    title: str
    lead: str
    written: str
    machines: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]  # (name, card) of each
    method: tuple[tuple[str, str], ...]
    implementations: tuple[tuple[str, str], ...]  # (title, idea) of each that was verified
    versus: tuple[Versus, ...]
    sections: tuple[Section, ...]
    recorded: str  # "Recorded" where all was, "Partly recorded" where some was, else ""
    version: str = field(default_factory=program_version)

    @property
    def charts(self) -> Iterator[ReportChart]:
        parts: tuple[Versus | Section, ...] = (*self.versus, *self.sections)
        yield from (chart for part in parts for chart in part.charts)

    @property
    def tables(self) -> Iterator[Table]:
        yield from (versus.table for versus in self.versus)
        for section in self.sections:
            yield from section.tables

    @property
    def labels(self) -> dict[str, str]:
        """Names of figures and tables by key: "Table 3", "Figure 2 (recorded)", in page order."""
        figures = [(each.key, each.is_recorded) for part in self.versus for each in part.charts]
        for section in self.sections:
            figures += [(each.key, each.is_recorded) for each in section.charts]
            figures += [(each.key, False) for each in section.examples]
        tables = [(each.key, each.is_recorded) for each in self.tables]
        return {
            key: f"{kind} {number}{' (recorded)' if is_recorded else ''}"
            for kind, found in (("Figure", figures), ("Table", tables))
            for number, (key, is_recorded) in enumerate(found, start=1)
        }


def composing(
    sessions: Sequence[Session], pictures: Mapping[str, NDArray[Any]], written: float
) -> Iterator[Progress | Document]:
    """Compose the whole report, a part at a time; the last thing yielded is the Document."""
    # All was measured before: of interest is whether it came with the program.
    sessions = [replace(session, is_recorded=session.is_shipped) for session in sessions]
    engine = Engine(use_gpu=False)
    yield Progress("comparing")
    versus = tuple(_comparisons(sessions))
    machines, sections = tuple(method.cards(session.machine for session in sessions)), []
    for number, session in enumerate(sessions, start=1):
        yield Progress(f"writing the tables of {session.plan.title}")
        where = f", {machine_name(session.machine)}" if len(machines) > 1 else ""
        section = _section(session, f"session-{number}", f"{session.plan.title}{where}")
        yield Progress(f"filtering the examples of {session.plan.title}")
        shown = list[Example]()
        for step in examples(session, pictures, engine, section.key):
            if isinstance(step, Example):
                shown.append(step)
            else:
                yield step
        given = {each.cell.picture for each in session.records if not each.cell.is_made}
        lost = (f"No before and after of {each}: it is not at hand." for each in given)
        facts = (*section.facts, *(() if shown else sorted(lost)))
        sections.append(replace(section, facts=facts, examples=tuple(shown)))
    records = (record for session in sessions for record in session.records)
    ran = {record.cell.implementation for record in records if record.verified}
    ideas = [(each.title, each.idea) for each in all_implementations() if each.key in ran]
    marks = {session.is_recorded for session in sessions}
    yield Document(
        title=_title(sessions),
        lead=" ".join(_lead(sessions)),
        written=moment(written),
        machines=machines,
        method=tuple(method.paragraphs(sessions)),
        implementations=tuple(ideas),
        versus=versus,
        sections=tuple(sections),
        recorded="" if True not in marks else "Partly recorded" if False in marks else "Recorded",
    )


def _title(sessions: Sequence[Session]) -> str:
    titles = dict.fromkeys(session.plan.title for session in sessions)
    machines = dict.fromkeys(machine_name(session.machine) for session in sessions)
    what = list_of(titles) if len(titles) <= 2 else plural(len(titles), "sweep")
    return f"{what} on {list_of(machines)}"


def _lead(sessions: Sequence[Session]) -> Iterator[str]:
    records = [record for session in sessions for record in session.records]
    verified = [each.verified for each in records if each.verified]
    started = moment(min(session.started for session in sessions))
    cells = plural(len(records), "cell")
    for session in sessions:
        known = planned(session), session.records, session.plan.sampling
        if not session.is_shipped and share_done(*known) < 1.0:
            yield f"Not finished: written at {place_in(*known)}, {session.plan.title}."
    yield f"{len(verified):,} verified times of {cells}, measured from {started} on."
    if 2 * sum(bool(each.disturbances) for each in verified) <= len(verified):
        return
    yield "Most of them were disturbed and may be too long."
    if words := disturbed_in_words(each.load for each in verified):
        yield words
    if count := sum(bool(each.health and each.health.throttled) for each in verified):
        yield f"Something held the GPU's clocks down in {plural(count, 'cell')}."


def _section(session: Session, key: str, title: str) -> Section:
    made = session_tables.SessionTables(session).made(key)
    for name, table in made.items():
        is_folded = name == FOLDED or (name != "best" and len(table.rows) > LONG)
        made[name] = replace(table, is_folded=is_folded)
    if "times" in made and not made["times"].is_folded:
        made.pop("best", None)  # of few times all are seen at once
    return Section(
        key=key,
        title=title,
        facts=tuple(_facts(session)),
        charts=tuple(charts_of([session], key)),
        tables=tuple(made.values()),
        commands=method.commands_for(session),
        is_recorded=session.is_recorded,
    )


def _facts(session: Session) -> Iterator[str]:
    plan = session.plan
    if fixed := conditions(session):
        yield fixed
    if plan.source:
        tables = "tables" if " and " in plan.table else "table"
        where = f", {tables} {plan.table}" if plan.table else ""
        yield f"It repeats what was published by {plan.source}{where}."
    if plan.note:
        yield sentence_like(plan.note)
    verified = sum(record.verified is not None for record in session.records)
    if session.is_recorded:
        yield RECORDED
    yield (
        f"Measured on {machine_name(session.machine)} from {moment(session.started)} on: "
        f"{plural(len(session.records), 'cell')}, of which {verified:,} have a verified time."
    )
    for own in plan.own_texts:
        yield f"{own.key} is a user kernel; the SHA-256 of its source is {own.sha256}."
    if left := len(set(planned(session)) - {each.cell for each in session.records}):
        yield f"Planned and not measured: {plural(left, 'cell')}."
    yield from session.remarks


def _comparisons(sessions: Sequence[Session]) -> Iterator[Versus]:
    """Compare every two sessions of one plan, or just two with cells in common.

    Two plans that share some cells by chance say nothing about each other.
    """
    for number, (a, b) in enumerate(combinations(sessions, 2), start=1):
        if len(sessions) == 2 or a.plan.title == b.plan.title:
            pairs = compare_sessions(a, b)
            if any(map(_has_times, pairs)):
                yield _versus(a, b, pairs, f"comparison-{number}")


def _versus(a: Session, b: Session, pairs: Sequence[CellPair], key: str) -> Versus:
    one, other = (
        f"{machine_name(each.machine)}{', recorded' if each.is_recorded else ''}" for each in (a, b)
    )
    name_a, name_b = (one, other) if one != other else (f"{one} (A)", f"{other} (B)")
    timed = [pair for pair in pairs if _has_times(pair)]
    unit = unit_of_times(each for pair in timed for each in _medians_ms(pair))

    def row(pair: CellPair) -> session_tables.Row:
        (a_ms, b_ms), found = map(unit.write, _medians_ms(pair)), pair.comparison
        values = {
            unit.title(name_a): a_ms,
            unit.title(name_b): b_ms,
            "Ratio": numbers.fine_ratio(found.ratio) if found else numbers.MISSING,
            "Interval": interval(found) if found else numbers.MISSING,
            f"{name_b} is": found.in_words if found else "disturbed",
        }
        return pair.cell, values

    caption = (
        f"{name_b} beside {name_a}. A ratio above 1 means that {name_b} is faster; its interval "
        f"is that of {100 * CONFIDENCE:g} % confidence, of {ENOUGH_SAMPLES} samples or rounds at "
        "least."
    )
    table = session_tables.table_of(a, caption, [*map(row, timed)])
    assert table is not None  # some have times
    return Versus(
        f"{a.plan.title}: {name_b} beside {name_a}",
        tuple(sentences_of(pairs, name_b)),
        replace(table, key=key, is_recorded=a.is_recorded or b.is_recorded),
        tuple(charts_of((a, b), key)),
    )


def _has_times(pair: CellPair) -> bool:
    return pair.finding not in ("incomparable", "only_a", "only_b")


def _medians_ms(pair: CellPair) -> list[float]:
    both = (each.verified for each in (pair.a, pair.b) if each)
    return [each.kernel.median_ms for each in both if each]


def sentences_of(pairs: Sequence[CellPair], name_b: str) -> Iterator[str]:
    """Summarise a comparison, in which the second session is called `name_b`."""
    found, ratio = summary_of(pairs)
    yield (
        f"{name_b} is faster in {found['faster']:,}, slower in {found['slower']:,} and "
        f"{EQUAL} in {found['same']:,} cells that both measured and verified."
    )
    if ratio is not None:
        yield f"The geometric mean of their ratios is {numbers.fine_ratio(ratio)}."
    if count := found["disturbed"]:
        yield f"Disturbed, so without a verdict: {plural(count, 'cell')}."
    if count := found["incomparable"]:
        yield f"Refused or not verified by one or both: {plural(count, 'cell')}."
