"""Launches that really ran on the GPU for each time: resources, and what limits the occupancy."""

from __future__ import annotations

from kernels.sweeps.record import Measurement, Record, Session
from workbench.base import numbers
from workbench.report.report_words import column_of, header_dimensions, value_of
from workbench.report.tables import Column, Table, TableRow, without_empty


def launches_table(session: Session, key: str) -> Table | None:
    """Return every verified cell that a rung ran; None where there is none."""
    ran = [(each, each.verified) for each in session.records if each.verified and each.cell.cache]
    if not ran:
        return None
    headers = header_dimensions(session)
    table = Table(
        key,
        f"{session.plan.title} – what ran on the GPU. Occupancy is from the driver, of the first "
        "launch.",
        (
            *map(column_of, headers),
            Column("Launches", is_number=False),
            Column("Occupancy"),
            Column("Limited by", is_number=False),
        ),
        tuple(_row(record, measured, headers) for record, measured in ran),
        headers=len(headers),
        what="what ran on the GPU",
    )
    return without_empty(table)


def _row(record: Record, measured: Measurement, headers: tuple[str, ...]) -> TableRow:
    occupancy = measured.occupancy
    return TableRow(
        (
            *(value_of(name, record.cell) for name in headers),
            "; ".join(map(str, measured.ran)),
            numbers.percent(occupancy.share) if occupancy else "",
            occupancy.limit if occupancy else "",
        )
    )
