"""Published times of the same cells, beside what was measured here and marked as theirs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from kernels.core.errors import BadJobError
from kernels.sweeps.cell import Cell
from kernels.sweeps.published import Published, published_for
from kernels.sweeps.record import Measurement, Session
from workbench.base import numbers
from workbench.report.report_words import column_of, header_dimensions, value_of
from workbench.report.tables import Column, Table, TableRow, without_empty
from workbench.report.units import Unit, unit_of_times


def published_table(session: Session, key: str) -> Table | None:
    """Return theirs and ours, cell by cell; None where nothing was published."""
    try:
        published = published_for(session.plan)
    except BadJobError:  # it names implementations of another version of this program
        return None
    if not published:
        return None
    headers = tuple(name for name in header_dimensions(session) if name != "caches")
    here = _measured(session)
    times_ms = [each.milliseconds for each in published]
    unit = unit_of_times([*times_ms, *(each.kernel.median_ms for each in here.values())])
    table = Table(
        key,
        f"{session.plan.title} – published elsewhere. {'; '.join(_sources(published))}.",
        (
            *map(column_of, headers),
            *(
                Column("Published on", is_number=False, is_published=True),
                Column(unit.title("Published"), is_published=True),
            ),
            *(Column(unit.title("This session")), Column("Published ÷ this session")),
        ),
        tuple(_rows(published, headers, here, unit)),
        headers=len(headers),
        what="what others published",
        notes=tuple(dict.fromkeys(each.note for each in published if each.note)),
    )
    return without_empty(table)


def _rows(
    published: Iterable[Published],
    headers: Sequence[str],
    here: dict[Cell, Measurement],
    unit: Unit,
) -> Iterator[TableRow]:
    for each in published:
        ours = here.get(_as_published(each.cell))
        yield TableRow(
            (
                *(value_of(name, each.cell) for name in headers),
                each.gpu,
                unit.write(each.milliseconds),
                unit.write(ours.kernel.median_ms) if ours else numbers.MISSING,
                numbers.ratio(each.milliseconds / ours.kernel.median_ms) if ours else "",
            )
        )


def _sources(published: Iterable[Published]) -> dict[str, None]:
    """Return each source once: "Università di Camerino, …, table 5.5, GeForce GTX 1050 Ti"."""
    return dict.fromkeys(
        ", ".join(filter(None, (each.source, f"table {each.table}" if each.table else "")))
        for each in published
    )


def _measured(session: Session) -> dict[Cell, Measurement]:
    """Return verified records, from a cold cache where there are both."""
    ordered = sorted(session.records, key=lambda each: each.cell.cache != "warm")
    return {_as_published(each.cell): each.verified for each in ordered if each.verified}


def _as_published(cell: Cell) -> Cell:
    """Return the cell without what publications do not tell: the picture, and the cache."""
    return replace(cell, cache=None, picture="")
