"""Times on the GPU with both transfers, and the size from which it pays off even so."""

from __future__ import annotations

from collections.abc import Iterator

from kernels.sweeps.record import Record, Session
from workbench.base import numbers
from workbench.report.baselines import Baseline, baseline_of, work_of
from workbench.report.report_words import (
    column_of,
    header_dimensions,
    is_on_gpu,
    outer_dimensions,
    value_of,
)
from workbench.report.tables import Column, Table, TableRow, without_empty
from workbench.report.times import times_caption, way_in_words
from workbench.report.units import unit_of_times

PARTS = (
    *("Upload", "Filter time", "Download", "Total"),
    *("Upload, pinned", "Download, pinned", "Total, pinned"),
)


def end_to_end_table(session: Session, key: str) -> Table | None:
    """Return upload, filter time and download; None where transfers were not measured."""
    records = [each for each in session.records if each.verified and each.verified.transfers]
    if not records:
        return None
    headers = header_dimensions(session)
    baseline = _on_cpu(session)
    times_ms = [_times_ms(each) for each in records]
    unit = unit_of_times(ms for row in times_ms for ms in row)
    table = Table(
        key,
        f"{session.plan.title} – with the way to the device and back. "
        f"{times_caption(session, baseline)}",
        (
            *map(column_of, headers),
            *(Column(unit.title(each)) for each in PARTS),
            *((Column("Speed-up of the total"),) if baseline else ()),
        ),
        tuple(
            TableRow(
                (
                    *(value_of(name, record.cell) for name in headers),
                    *map(unit.write, row),
                    *((_speed_up(record, baseline),) if baseline else ()),
                )
            )
            for record, row in zip(records, times_ms, strict=True)
        ),
        headers=len(headers),
        notes=tuple(pays_off(session)),
        what="the times with transfers",
    )
    return without_empty(table)


def _times_ms(record: Record) -> tuple[float, ...]:
    """Return the times of PARTS, of a record with transfers."""
    measured = record.verified
    assert measured is not None
    assert measured.transfers is not None
    moved, kernel_ms = measured.transfers, measured.kernel.median_ms
    pinned_ms = moved.pinned_up.median_ms + kernel_ms + moved.pinned_down.median_ms
    return (
        *(moved.pageable_up.median_ms, kernel_ms, moved.pageable_down.median_ms),
        measured.end_to_end_ms or 0.0,
        *(moved.pinned_up.median_ms, moved.pinned_down.median_ms, pinned_ms),
    )


def _speed_up(record: Record, baseline: Baseline) -> str:
    measured, theirs = record.verified, baseline.against(record)
    if measured is None or theirs is None or measured.end_to_end_ms is None:
        return ""
    return numbers.speed_up(theirs.kernel.median_ms / measured.end_to_end_ms)


def _on_cpu(session: Session) -> Baseline | None:
    baseline = baseline_of(session)
    return baseline if baseline and not is_on_gpu(baseline.key) else None


def pays_off(session: Session) -> Iterator[str]:
    """Yield for each way on the GPU the size from which on it pays off.

    From there its total beats the baseline at every larger size as well; only where size is all
    that varies beside the way.
    """
    baseline = _on_cpu(session)
    if baseline is None or outer_dimensions(session) != ("sizes",):
        return
    ways: dict[str, list[Record]] = {}
    for record in session.records:
        if record.verified and record.verified.transfers:
            ways.setdefault(way_in_words(record.cell), []).append(record)
    for way, records in ways.items():
        yield _pays_off(way, records, baseline)


def _pays_off(way: str, records: list[Record], baseline: Baseline) -> str:
    ordered = sorted(records, key=lambda each: each.cell.pixels)
    ahead: Record | None = None
    for record in ordered:
        theirs = baseline.times.get(work_of(record.cell))
        total_ms = record.verified.end_to_end_ms if record.verified else None
        if theirs is None or total_ms is None:
            continue
        wins = total_ms < theirs.kernel.median_ms
        ahead = (ahead or record) if wins else None
    if ahead is None:
        return f"{way}, transfers included, does not pay off at any size measured."
    size = f"{ahead.cell.size_in_words} ({numbers.megapixels(ahead.cell.megapixels)})"
    return f"{way}, transfers included, pays off from {size} against {baseline.title}."
