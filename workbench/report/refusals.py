"""Cells without a time: refused, given up, not checked or wrong; each reason, and whose it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kernels.sweeps.record import Record, Session
from workbench.charts.data.chart_dimensions import label
from workbench.charts.data.points import planned
from workbench.report.report_words import header_dimensions, plural, value_of
from workbench.report.tables import Column, Table, TableRow

MAX_VALUES = 8  # of a dimension, before the list is cut to its ends


def refusals_table(session: Session, key: str) -> Table | None:
    """Return a row per reason; None where every cell has a time."""
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in session.records:
        if record.objection:
            kind = "refused" if isinstance(record.outcome, str) else "not counted"
            groups.setdefault((kind, record.objection), []).append(record)
    if not groups:
        return None
    headers, count = header_dimensions(session), sum(map(len, groups.values()))
    return Table(
        key,
        f"{session.plan.title} – {plural(count, 'cell')} without a time that counts.",
        (Column("Cells"), Column("Which", is_number=False), Column("Why", is_number=False)),
        tuple(
            TableRow((f"{len(records):,}", which(records, headers), f"{kind}: {reason}"))
            for (kind, reason), records in groups.items()
        ),
        what="what has no time",
    )


def missing(session: Session) -> int:
    """Return how many cells of the plan have no record: the sweep was stopped before them."""
    done = {each.cell for each in session.records}
    return len(set(planned(session)) - done)


def which(records: Iterable[Record], dimensions: Sequence[str]) -> str:
    """Return the values they have of what varies: "Untiled; size 512², 1024²"."""
    cells = [each.cell for each in records]
    parts = []
    for name in reversed(dimensions):
        values = [*dict.fromkeys(value_of(name, cell) for cell in cells)]
        values = [value for value in values if value]
        if len(values) > MAX_VALUES:
            values = [*values[:2], "…", values[-1]]
        title = "" if name == "implementations" else f"{label(name).lower()} "
        if values:
            parts.append(f"{title}{', '.join(values)}")
    return "; ".join(parts)
