"""The tables of verified times: every cell, and for many cells who is the quickest at what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from kernels.check import Check
from kernels.statistics import groups_of_equals
from kernels.sweeps.cell import Cell
from kernels.sweeps.record import Measurement, Record, Session
from workbench import numbers
from workbench.charts.names import title_of
from workbench.charts.words import list_of
from workbench.report.baselines import Baseline, baseline_of, work_of
from workbench.report.tables import Column, Row, Table, without_empty
from workbench.report.words import (
    column_of,
    conditions,
    header_dimensions,
    outer_dimensions,
    plural,
    value_of,
)

FIGURES = (
    Column("Median"),
    Column("Quartiles"),
    Column("Minimum"),
    Column("Samples"),
    Column("Throughput"),
)
CHECKED = "Every pixel was checked, except where a number of pixels is named."
REMARKS = {
    "one sample": "One sample: that run took all the time there was.",
    "time limit": "Time limit: sampling ended there, before the spread had settled.",
}
LAST = (Column("Largest error"), Column("Checked"), Column("Remarks", is_number=False))


def times_table(session: Session, key: str) -> Table | None:
    """Every verified cell, in the order of the plan; None where there is none."""
    verified = [each for each in session.records if each.verified]
    if not verified:
        return None
    headers = header_dimensions(session)
    baseline = baseline_of(session)
    table = Table(
        key,
        f"{session.plan.title} – verified times. {caption(session, baseline)}",
        (
            *map(column_of, headers),
            *FIGURES,
            *((Column("Speed-up"),) if baseline else ()),
            *LAST,
        ),
        tuple(_rows(verified, headers, baseline)),
        headers=len(headers),
        notes=tuple(_notes(session)),
    )
    return without_empty(table)


def _notes(session: Session) -> Iterator[str]:
    """What the remarks mean, how much was checked, and whether the plan's tolerance was kept."""
    measured = [each.verified for each in session.records if each.verified]
    there = {remark for each in measured for remark in remarks(each)}
    yield from (text for remark, text in REMARKS.items() if remark in there)
    yield CHECKED
    tolerance = session.plan.tolerance
    if tolerance is not None:
        checks = [each.check for each in measured if each.check]
        kept = sum(each.max_error <= tolerance for each in checks)
        yield (
            f"The plan asks for errors up to {tolerance:g} as well: {kept:,} of "
            f"{plural(len(checks), 'answer')} kept to that."
        )


def _rows(
    records: Iterable[Record], headers: tuple[str, ...], baseline: Baseline | None
) -> Iterator[Row]:
    for _, group in groupby(records, key=lambda each: work_of(each.cell)):
        for at, record in enumerate(group):
            assert record.verified is not None
            yield Row(
                (
                    *(value_of(name, record.cell) for name in headers),
                    *_figures(record, record.verified),
                    *((baseline.in_words(record),) if baseline else ()),
                    *_check(record.verified.check),
                    "; ".join(remarks(record.verified)),
                ),
                begins=at == 0,
            )


def caption(session: Session, baseline: Baseline | None) -> str:
    """What is held fixed, and what a speed-up is against."""
    against = f"Speed-up against {baseline.title}." if baseline else ""
    return " ".join(filter(None, (conditions(session), against)))


def _figures(record: Record, measurement: Measurement) -> tuple[str, ...]:
    kernel = measurement.kernel
    return (
        numbers.duration(kernel.median_ms),
        numbers.duration_range(*kernel.quartiles_ms) if len(kernel.samples_ms) > 1 else "",
        numbers.duration(kernel.min_ms),
        f"{len(kernel.samples_ms):,}",
        numbers.pixel_rate(record.megapixels_per_s or 0.0),
    )


def _check(check: Check | None) -> tuple[str, str]:
    """Its largest error; how much was checked, where that is not all."""
    assert check is not None
    scope = "" if check.is_full else f"{check.checked:,} pixels"
    return f"{check.max_error:.1e}" if check.max_error else "0", scope


def remarks(measurement: Measurement) -> Iterator[str]:
    """What has to be known of a figure before it is believed, in short; see REMARKS."""
    if len(measurement.kernel.samples_ms) == 1:
        yield "one sample"
    elif measurement.kernel.ended == "time":
        yield "time limit"
    if measurement.health and measurement.health.throttled:
        yield f"throttled: {list_of(measurement.health.throttled)}"


# ------------------------------------------------------------------------ the quickest of each


def quickest_table(session: Session, key: str) -> Table | None:
    """For each work done in several ways, which way was the quickest; None where there is none."""
    verified = [each for each in session.records if each.verified]
    by_work: dict[Cell, list[Record]] = {}
    for record in verified:
        by_work.setdefault(work_of(record.cell), []).append(record)
    if not any(len(group) > 1 for group in by_work.values()):
        return None
    outer = outer_dimensions(session)
    baseline = baseline_of(session)
    table = Table(
        key,
        f"{session.plan.title} – the quickest of each. {caption(session, baseline)}",
        (
            *map(column_of, outer),
            Column("Quickest", is_number=False),
            Column("Equals it", is_number=False),
            Column("Median"),
            Column("Throughput"),
            *((Column("Speed-up"),) if baseline else ()),
            Column("Of"),
        ),
        tuple(_quickest_row(group, outer, baseline) for group in by_work.values()),
        headers=len(outer),
    )
    return without_empty(table)


def _quickest_row(group: list[Record], outer: tuple[str, ...], baseline: Baseline | None) -> Row:
    by_cell = {each.cell: each for each in group}
    timings = {each.cell: each.verified.kernel for each in group if each.verified}
    best, *equals = groups_of_equals(timings)[0]
    record = by_cell[best]
    return Row(
        (
            *(value_of(name, best) for name in outer),
            way_in_words(best),
            ", ".join(map(way_in_words, equals)),
            numbers.duration(timings[best].median_ms),
            numbers.pixel_rate(record.megapixels_per_s or 0.0),
            *((baseline.in_words(record),) if baseline else ()),
            plural(len(group), "way"),
        )
    )


def way_in_words(cell: Cell) -> str:
    """ "Shared-memory tile 32×8"; a warm cache is named, since cold is usual."""
    cache = ", L2 warm" if cell.cache == "warm" else ""
    return f"{title_of(cell.implementation)} {cell.block_in_words}".rstrip() + cache
