"""Two sessions side by side, cell by cell: which machine is quicker, and by how much."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from kernels.job import Progress
from kernels.statistics import CONFIDENCE, EQUAL
from kernels.sweeps.compare import Pair, compare_sessions, summary_of
from kernels.sweeps.record import Record, Session
from workbench import numbers
from workbench.report.drawings import Drawing, ToDraw, drawings
from workbench.report.tables import Column, Row, Table, without_empty
from workbench.report.words import column_of, header_dimensions, name_of, plural, value_of, were


@dataclass(frozen=True, slots=True)
class Versus:
    """title and sentences about all cells, the table of each, and the charts of both sessions."""

    title: str
    sentences: tuple[str, ...]
    table: Table
    drawings: tuple[Drawing, ...]


def comparisons(sessions: Sequence[Session]) -> Iterator[Progress | Versus]:
    """Of every two sessions of one plan, or of just two with cells in common: two plans that share
    some cells by chance say nothing about each other.  A part at a time."""
    for number, (a, b) in enumerate(combinations(sessions, 2), start=1):
        if len(sessions) == 2 or a.plan.title == b.plan.title:
            pairs = compare_sessions(a, b)
            if any(each.comparison for each in pairs):
                yield from _versus(a, b, pairs, f"comparison-{number}")


def _versus(a: Session, b: Session, pairs: Sequence[Pair], key: str) -> Iterator[Progress | Versus]:
    name_a, name_b = _names(a, b)
    headers = header_dimensions(a)
    table = Table(
        key,
        f"{a.plan.title} – {name_b} beside {name_a}. A ratio above 1 means that {name_b} is "
        f"faster; its interval is that of {100 * CONFIDENCE:g} % confidence.",
        (
            *map(column_of, headers),
            *(Column(name_a), Column(name_b), Column("Ratio"), Column("Interval")),
            Column(f"{name_b} is", is_number=False),
        ),
        tuple(_row(pair, headers) for pair in pairs if pair.comparison),
        headers=len(headers),
    )
    drawn = []
    yield ToDraw("drawing both")
    for each in drawings((a, b), key):
        drawn.append(each)
        yield ToDraw("drawing both")
    yield Versus(
        f"{a.plan.title}: {name_b} beside {name_a}",
        tuple(_sentences(pairs, name_b)),
        without_empty(table),
        tuple(drawn),
    )


def _row(pair: Pair, headers: Sequence[str]) -> Row:
    found = pair.comparison
    assert found is not None
    return Row(
        (
            *(value_of(name, pair.cell) for name in headers),
            *(_median(pair.a), _median(pair.b)),
            numbers.three_digits(found.ratio),
            f"{numbers.three_digits(found.low)} – {numbers.three_digits(found.high)}",
            found.in_words,
        )
    )


def _median(record: Record | None) -> str:
    return numbers.duration(record.verified.kernel.median_ms) if record and record.verified else ""


def _sentences(pairs: Sequence[Pair], name_b: str) -> Iterator[str]:
    found = summary_of(pairs)
    yield (
        f"Of {plural(found.verdicts.total(), 'cell')} that both measured and verified, {name_b} is "
        f"faster in {found.verdicts['faster']:,}, slower in {found.verdicts['slower']:,}, and "
        f"{EQUAL} in {found.verdicts['same']:,}."
    )
    if found.ratio is not None:
        yield f"The geometric mean of their ratios is {numbers.three_digits(found.ratio)}."
    if found.incomparable:
        yield f"{were(found.incomparable, 'cell')} refused or not verified by one or both."


def _names(a: Session, b: Session) -> tuple[str, str]:
    """Of the machines; two of one name get a letter."""
    names = name_of(a.machine), name_of(b.machine)
    return names if names[0] != names[1] else (f"{names[0]} (A)", f"{names[1]} (B)")
