"""The whole content of a report, as data: what the templates are filled with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from numpy.typing import NDArray

from kernels import Engine
from kernels.core.cpu_load import disturbed_in_words
from kernels.core.job import Progress
from kernels.core.version import program_version
from kernels.engine.engine import all_implementations
from kernels.sweeps.record import Measurement, Session
from workbench.charts.data.chart_words import list_of
from workbench.report import method
from workbench.report.drawings import ReportChart
from workbench.report.figure_numbers import Counts
from workbench.report.machines import cards
from workbench.report.report_comparison import Versus, comparisons
from workbench.report.report_words import machine_name, moment, plural
from workbench.report.section import Section, composing_section
from workbench.report.tables import Table


@dataclass(frozen=True, slots=True)
class Document:
    """The content of a report.

    machines         (name, card) of each there is
    implementations  (title, idea) of each that gave a verified time
    long             tables that are read last, or never
    recorded         "Recorded" where all was, "Partly recorded" where some was, else ""
    """

    title: str
    lead: str
    written: str
    machines: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    method: tuple[tuple[str, str], ...]
    implementations: tuple[tuple[str, str], ...]
    versus: tuple[Versus, ...]
    sections: tuple[Section, ...]
    long: tuple[Table, ...]
    recorded: str
    version: str = field(default_factory=program_version)

    @property
    def drawings(self) -> Iterator[ReportChart]:
        """Return all charts, in order."""
        for versus in self.versus:
            yield from versus.drawings
        for section in self.sections:
            yield from section.drawings

    @property
    def tables(self) -> Iterator[Table]:
        """Return all tables, in order."""
        for versus in self.versus:
            yield versus.table
        for section in self.sections:
            yield from section.tables
        yield from self.long


def composing(
    sessions: Sequence[Session], pictures: Mapping[str, NDArray[Any]], written: float
) -> Iterator[Progress | Document]:
    """Compose the whole report, a part at a time; the last thing yielded is the Document."""
    # All was measured before: what has to be said is whether it came with the program.
    sessions = [replace(session, is_recorded=session.is_shipped) for session in sessions]
    engine, counts = Engine(use_gpu=False), Counts()
    versus: list[Versus] = []
    yield Progress("comparing")
    for each in comparisons(sessions, counts):
        if isinstance(each, Versus):
            versus.append(each)
            yield Progress("comparing")
        else:
            yield each
    sections = []
    for number, session in enumerate(sessions, start=1):
        for step in composing_section(session, f"session-{number}", pictures, engine, counts):
            if isinstance(step, Section):
                sections.append(step)
            else:
                yield step
    sections = [_with_numbers_at_end(each, counts) for each in sections]
    yield Document(
        title=_title(sessions),
        lead=_lead(sessions),
        written=moment(written),
        machines=tuple(cards(session.machine for session in sessions)),
        method=tuple(method.paragraphs(sessions)),
        implementations=tuple(_implementations(sessions)),
        versus=tuple(versus),
        sections=tuple(sections),
        long=tuple(table for each in sections for table in each.long),
        recorded=_recorded(sessions),
    )


def _with_numbers_at_end(section: Section, counts: Counts) -> Section:
    """Number its long tables after those of all sections."""
    long = tuple(replace(each, number=next(counts.tables)) for each in section.long)
    return replace(section, long=long)


def _recorded(sessions: Sequence[Session]) -> str:
    marks = {session.is_recorded for session in sessions}
    return "" if True not in marks else "Partly recorded" if False in marks else "Recorded"


def _title(sessions: Sequence[Session]) -> str:
    titles = list(dict.fromkeys(session.plan.title for session in sessions))
    machines = list(dict.fromkeys(machine_name(session.machine) for session in sessions))
    what = list_of(titles) if len(titles) <= 2 else plural(len(titles), "sweep")
    return f"{what} on {list_of(machines)}"


def _lead(sessions: Sequence[Session]) -> str:
    records = [record for session in sessions for record in session.records]
    verified = sum(record.verified is not None for record in records)
    started = min(session.started for session in sessions)
    lead = (
        f"{verified:,} verified times of {plural(len(records), 'cell')}, measured from "
        f"{moment(started)} on."
    )
    return " ".join((lead, *_disturbed([each.verified for each in records if each.verified])))


def _disturbed(verified: Sequence[Measurement]) -> Iterator[str]:
    """Say what disturbed the times, where it disturbed most of them."""
    if 2 * sum(bool(each.disturbances) for each in verified) <= len(verified):
        return
    yield "Most of them were disturbed and may be too long."
    if words := disturbed_in_words(each.load for each in verified):
        yield words
    if count := sum(bool(each.health and each.health.throttled) for each in verified):
        yield f"Something held the GPU's clocks down in {plural(count, 'cell')}."


def _implementations(sessions: Sequence[Session]) -> Iterator[tuple[str, str]]:
    """Return the implementations, from the plainest up."""
    records = (record for session in sessions for record in session.records)
    there = {record.cell.implementation for record in records if record.verified}
    return ((each.title, each.idea) for each in all_implementations() if each.key in there)
