"""What the GPU takes with the way there and back, and from which size on it pays off even so."""

from __future__ import annotations

from collections.abc import Iterator

from kernels.sweeps.record import Measurement, Record, Session
from workbench import numbers
from workbench.report.baselines import Baseline, baseline_of, work_of
from workbench.report.tables import Column, Row, Table, without_empty
from workbench.report.times import caption, way_in_words
from workbench.report.words import (
    column_of,
    header_dimensions,
    is_on_gpu,
    outer_dimensions,
    value_of,
)


def end_to_end_table(session: Session, key: str) -> Table | None:
    """Upload, kernel and download; None where transfers were not measured."""
    records = [each for each in session.records if each.verified and each.verified.transfers]
    if not records:
        return None
    headers = header_dimensions(session)
    baseline = _on_cpu(session)
    table = Table(
        key,
        f"{session.plan.title} – with the way to the device and back. {caption(session, baseline)}",
        (
            *map(column_of, headers),
            *map(Column, ("Upload", "Kernel", "Download", "Total")),
            *map(Column, ("Upload, pinned", "Download, pinned", "Total, pinned")),
            *((Column("Speed-up of the total"),) if baseline else ()),
        ),
        tuple(_row(each, headers, baseline) for each in records),
        headers=len(headers),
        notes=tuple(pays_off(session)),
    )
    return without_empty(table)


def _row(record: Record, headers: tuple[str, ...], baseline: Baseline | None) -> Row:
    measured = record.verified
    assert measured is not None
    assert measured.transfers is not None
    moved, kernel_ms = measured.transfers, measured.kernel.median_ms
    pinned_ms = moved.pinned_up.median_ms + kernel_ms + moved.pinned_down.median_ms
    times_ms = (
        *(moved.pageable_up.median_ms, kernel_ms, moved.pageable_down.median_ms),
        measured.end_to_end_ms or 0.0,
        *(moved.pinned_up.median_ms, moved.pinned_down.median_ms, pinned_ms),
    )
    return Row(
        (
            *(value_of(name, record.cell) for name in headers),
            *map(numbers.duration, times_ms),
            *((_speed_up(record, measured, baseline),) if baseline else ()),
        )
    )


def _speed_up(record: Record, measured: Measurement, baseline: Baseline) -> str:
    theirs = baseline.times.get(work_of(record.cell))
    if theirs is None or measured.end_to_end_ms is None:
        return ""
    return numbers.ratio(theirs.kernel.median_ms / measured.end_to_end_ms)


def _on_cpu(session: Session) -> Baseline | None:
    baseline = baseline_of(session)
    return baseline if baseline and not is_on_gpu(baseline.key) else None


def pays_off(session: Session) -> Iterator[str]:
    """For each way on the GPU, from which size on its total beats the baseline at every larger one
    as well; only where size is all that varies beside the way."""
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
