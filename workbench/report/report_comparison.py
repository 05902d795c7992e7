"""Two sessions side by side, cell by cell: which machine is quicker, and by how much."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from kernels.core.job import Progress
from kernels.core.statistics import CONFIDENCE, ENOUGH_SAMPLES
from kernels.sweeps.record import Session
from kernels.sweeps.session_comparison import EQUAL, CellPair, compare_sessions, summary_of
from workbench.base import numbers
from workbench.report.baselines import interval
from workbench.report.drawings import ReportChart, ToDraw, drawings
from workbench.report.figure_numbers import Counts
from workbench.report.report_words import (
    column_of,
    header_dimensions,
    machine_name,
    plural,
    value_of,
    were,
)
from workbench.report.tables import Column, Table, TableRow, without_empty
from workbench.report.units import Unit, unit_of_times

NO_VERDICT = "disturbed"


@dataclass(frozen=True, slots=True)
class Versus:
    """Two sessions compared.

    title and sentences about all cells, the table of each, and the charts of both sessions.
    """

    title: str
    sentences: tuple[str, ...]
    table: Table
    drawings: tuple[ReportChart, ...]


def comparisons(sessions: Sequence[Session], counts: Counts) -> Iterator[Progress | Versus]:
    """Compare every two sessions of one plan, or just two with cells in common.

    Two plans that share some cells by chance say nothing about each other.  A part at a time.
    """
    for number, (a, b) in enumerate(combinations(sessions, 2), start=1):
        if len(sessions) == 2 or a.plan.title == b.plan.title:
            pairs = compare_sessions(a, b)
            if any(map(_has_times, pairs)):
                yield from _versus(a, b, pairs, f"comparison-{number}", counts)


def _versus(
    a: Session, b: Session, pairs: Sequence[CellPair], key: str, counts: Counts
) -> Iterator[Progress | Versus]:
    name_a, name_b = _names(a, b)
    headers = header_dimensions(a)
    unit = unit_of_times(each for pair in pairs if _has_times(pair) for each in _medians_ms(pair))
    table = Table(
        key,
        f"{a.plan.title} – {name_b} beside {name_a}. A ratio above 1 means that {name_b} is "
        f"faster; its interval is that of {100 * CONFIDENCE:g} % confidence, of {ENOUGH_SAMPLES} "
        "samples or rounds at least.",
        (
            *map(column_of, headers),
            *(Column(unit.title(name_a)), Column(unit.title(name_b))),
            *(Column("Ratio"), Column("Interval")),
            Column(f"{name_b} is", is_number=False),
        ),
        tuple(_row(pair, headers, unit) for pair in pairs if _has_times(pair)),
        headers=len(headers),
        what="both, cell by cell",
        number=next(counts.tables),
        is_recorded=a.is_recorded or b.is_recorded,
    )
    drawn = []
    yield ToDraw("drawing both")
    for each in drawings((a, b), key, counts):
        drawn.append(each)
        yield ToDraw("drawing both")
    yield Versus(
        f"{a.plan.title}: {name_b} beside {name_a}",
        tuple(_sentences(pairs, name_b)),
        without_empty(table),
        tuple(drawn),
    )


def _row(pair: CellPair, headers: Sequence[str], unit: Unit) -> TableRow:
    found = pair.comparison
    finding = (
        (numbers.three_digits(found.ratio), interval(found), found.in_words)
        if found
        else (numbers.MISSING, numbers.MISSING, NO_VERDICT)
    )
    return TableRow(
        (
            *(value_of(name, pair.cell) for name in headers),
            *map(unit.write, _medians_ms(pair)),
            *finding,
        )
    )


def _has_times(pair: CellPair) -> bool:
    """Return whether both have a time: compared, or without a verdict since one was disturbed."""
    return pair.comparison is not None or pair.is_disturbed


def _medians_ms(pair: CellPair) -> list[float]:
    """Return the medians of A and of B, verified as they are wherever they are compared."""
    both = (each.verified for each in (pair.a, pair.b) if each)
    return [each.kernel.median_ms for each in both if each]


def _sentences(pairs: Sequence[CellPair], name_b: str) -> Iterator[str]:
    found = summary_of(pairs)
    yield (
        f"Of {plural(found.verdicts.total(), 'cell')} that both measured and verified"
        f"{', and that nothing disturbed' if found.disturbed else ''}, {name_b} is "
        f"faster in {found.verdicts['faster']:,}, slower in {found.verdicts['slower']:,}, and "
        f"{EQUAL} in {found.verdicts['same']:,}."
    )
    if found.ratio is not None:
        yield f"The geometric mean of their ratios is {numbers.three_digits(found.ratio)}."
    if found.disturbed:
        yield (
            f"{plural(found.disturbed, 'cell')} {'has' if found.disturbed == 1 else 'have'} no "
            "verdict, for a time was disturbed."
        )
    if found.incomparable:
        yield f"{were(found.incomparable, 'cell')} refused or not verified by one or both."


def _names(a: Session, b: Session) -> tuple[str, str]:
    """Return the machines' names, with the mark of what is recorded.

    Two of one name get a letter.
    """
    names = _name(a), _name(b)
    return names if names[0] != names[1] else (f"{names[0]} (A)", f"{names[1]} (B)")


def _name(session: Session) -> str:
    mark = ", recorded" if session.is_recorded else ""
    return f"{machine_name(session.machine)}{mark}"
