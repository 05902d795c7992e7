"""Everything a report says, as data: what the templates are filled with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from kernels import Engine
from kernels.job import Progress
from kernels.sweeps.record import Session
from workbench import __version__
from workbench.charts.words import list_of
from workbench.report import method
from workbench.report.comparing import Versus, comparisons
from workbench.report.drawings import Drawing, drawings
from workbench.report.end_to_end import end_to_end_table
from workbench.report.examples import Example, examples
from workbench.report.machines import cards
from workbench.report.published_times import published_table
from workbench.report.refusals import missing, refusals_table
from workbench.report.reproducing import Commands, commands_for
from workbench.report.tables import Table
from workbench.report.times import quickest_table, times_table
from workbench.report.words import conditions, moment, plural, sentence, were

LONG = 60  # rows; more of them are folded away behind the quickest of each


@dataclass(frozen=True, slots=True)
class Section:
    """One session.

    facts    what was measured, a sentence each
    tables   the verified times first; those in `folded` are long and stand behind a fold
    """

    key: str
    title: str
    machine: str
    facts: tuple[str, ...]
    drawings: tuple[Drawing, ...]
    tables: tuple[Table, ...]
    folded: tuple[Table, ...]
    examples: tuple[Example, ...]
    commands: Commands


@dataclass(frozen=True, slots=True)
class Document:
    """machines    (name, card) of each there is
    together    charts of several sessions in one
    """

    title: str
    lead: str
    written: str
    machines: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    method: tuple[tuple[str, str], ...]
    versus: tuple[Versus, ...]
    together: tuple[Drawing, ...]
    sections: tuple[Section, ...]
    version: str = field(default=__version__)

    @property
    def tables(self) -> Iterator[Table]:
        """All of them, in order, also the folded ones."""
        for versus in self.versus:
            yield versus.table
        for section in self.sections:
            yield from (*section.tables, *section.folded)


def composing(
    sessions: Sequence[Session], pictures: Mapping[str, NDArray[Any]], written: float
) -> Iterator[Progress | Document]:
    """Work out the whole report, a part at a time; the last thing yielded is the Document."""
    engine = Engine(use_gpu=False)
    sections = []
    for number, session in enumerate(sessions, start=1):
        for step in _composing_section(session, f"session-{number}", pictures, engine):
            if isinstance(step, Section):
                sections.append(step)
            else:
                yield step
    yield Progress("comparing")
    versus = tuple(comparisons(sessions))
    yield Document(
        title=_title(sessions),
        lead=_lead(sessions),
        written=moment(written),
        machines=tuple(cards(session.machine for session in sessions)),
        method=tuple(method.paragraphs(sessions)),
        versus=versus,
        together=tuple(drawings(sessions, "together")) if versus else (),
        sections=tuple(sections),
    )


def _composing_section(
    session: Session, key: str, pictures: Mapping[str, NDArray[Any]], engine: Engine
) -> Iterator[Progress | Section]:
    title = session.plan.title
    yield Progress(f"writing the tables of {title}")
    times, quickest = times_table(session, f"{key}-times"), quickest_table(session, f"{key}-best")
    is_long = times is not None and quickest is not None and len(times.rows) > LONG
    others = (
        end_to_end_table(session, f"{key}-end-to-end"),
        published_table(session, f"{key}-published"),
        refusals_table(session, f"{key}-refused"),
    )
    drawn = []
    yield Progress(f"drawing the charts of {title}")
    for each in drawings([session], key):
        drawn.append(each)
        yield Progress(f"drawing the charts of {title}")
    yield Progress(f"filtering the examples of {title}")
    yield Section(
        key=key,
        title=title,
        machine=session.machine.name,
        facts=tuple(_facts(session)),
        drawings=tuple(drawn),
        tables=tuple(each for each in (quickest if is_long else times, *others) if each),
        folded=(times,) if is_long and times else (),
        examples=tuple(examples(session, pictures, engine)),
        commands=commands_for(session),
    )


def _facts(session: Session) -> Iterator[str]:
    """What, on what, when, and how much of it there is."""
    plan = session.plan
    if fixed := conditions(session):
        yield fixed
    if plan.source:
        where = f", table {plan.table}" if plan.table else ""
        yield f"It repeats what was published by {plan.source}{where}."
    if plan.note:
        yield sentence(plan.note)
    verified = sum(record.verified is not None for record in session.records)
    yield (
        f"Measured on {session.machine.name} from {moment(session.started)} on: "
        f"{plural(len(session.records), 'cell')}, of which {verified:,} have a verified time."
    )
    if left := missing(session):
        yield f"{were(left, 'cell')} planned and not measured, for it was stopped before."
    yield from session.remarks


def _title(sessions: Sequence[Session]) -> str:
    titles = list(dict.fromkeys(session.plan.title for session in sessions))
    machines = list(dict.fromkeys(session.machine.name for session in sessions))
    what = list_of(titles) if len(titles) <= 2 else plural(len(titles), "sweep")
    return f"{what} on {list_of(machines)}"


def _lead(sessions: Sequence[Session]) -> str:
    records = [record for session in sessions for record in session.records]
    verified = sum(record.verified is not None for record in records)
    started = min(session.started for session in sessions)
    return (
        f"{verified:,} verified times of {plural(len(records), 'cell')}, measured from "
        f"{moment(started)} on."
    )
