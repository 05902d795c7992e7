"""The tables of verified times: every cell, and for many cells who is the quickest at what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from kernels.core.comparison import groups_of_equals
from kernels.core.statistics import CONFIDENCE, ENOUGH_SAMPLES
from kernels.core.verdict import Check
from kernels.sweeps.cell import Cell
from kernels.sweeps.record import Measurement, Record, Session
from workbench.charts.data.chart_words import list_of
from workbench.model.names import implementation_title
from workbench.report.baselines import Baseline, baseline_of, work_of
from workbench.report.report_words import (
    column_of,
    conditions,
    header_dimensions,
    outer_dimensions,
    plural,
    value_of,
)
from workbench.report.tables import Column, Table, TableRow, without_empty
from workbench.report.units import Unit, unit_of_rates, unit_of_times

INTERVAL = (
    f"Interval: of the speed-up, at {100 * CONFIDENCE:g} % confidence, from both medians; there is "
    f"none of fewer than {ENOUGH_SAMPLES} samples, or rounds. A single run has no speed-up."
)
CHECKED = "Every pixel was checked, except where a number of pixels is named."
REMARKS = {
    "one sample": "One sample: that run took all the time there was; how far another would lie "
    "from it, nobody knows.",
    "time limit": "Time limit: sampling ended there, before the spread had settled.",
}
LAST = (Column("Largest error"), Column("Checked"), Column("Remarks", is_number=False))


def times_table(session: Session, key: str) -> Table | None:
    """Return every verified cell, in the order of the plan; None where there is none."""
    verified = [each for each in session.records if each.verified]
    if not verified:
        return None
    headers, baseline, units = header_dimensions(session), baseline_of(session), Units.of(verified)
    table = Table(
        key,
        f"{session.plan.title} – verified times. {times_caption(session, baseline)}",
        (
            *map(column_of, headers),
            *(Column(units.time.title(each)) for each in ("Median", "Quartiles")),
            Column("Samples"),
            Column(units.rate.title("Throughput")),
            *speed_up_columns(baseline),
            *LAST,
        ),
        tuple(_rows(verified, headers, baseline, units)),
        headers=len(headers),
        notes=tuple(_notes(session)),
        what="every verified time",
    )
    return without_empty(table)


@dataclass(frozen=True, slots=True)
class Units:
    """The units of all medians, and of all throughputs, of some records."""

    time: Unit
    rate: Unit

    @classmethod
    def of(cls, records: Iterable[Record]) -> Units:
        """Return those that suit verified records."""
        found = [each for each in records if each.verified]
        medians = [each.verified.kernel.median_ms for each in found if each.verified]
        return cls(
            unit_of_times(medians), unit_of_rates(each.megapixels_per_s or 0.0 for each in found)
        )


def speed_up_columns(baseline: Baseline | None) -> tuple[Column, ...]:
    """Return the columns of a speed-up and its interval; none without a baseline."""
    return (Column("Speed-up"), Column("Interval")) if baseline else ()


def _notes(session: Session) -> Iterator[str]:
    """Yield what the remarks mean, how much was checked, and whether the tolerance was kept."""
    measured = [each.verified for each in session.records if each.verified]
    if baseline_of(session):
        yield INTERVAL
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
    records: Iterable[Record], headers: tuple[str, ...], baseline: Baseline | None, units: Units
) -> Iterator[TableRow]:
    for _, group in groupby(records, key=lambda each: work_of(each.cell)):
        for at, record in enumerate(group):
            assert record.verified is not None
            yield TableRow(
                (
                    *(value_of(name, record.cell) for name in headers),
                    *_figures(record, record.verified, units),
                    *(baseline.in_words(record) if baseline else ()),
                    *_check(record.verified.check),
                    "; ".join(remarks(record.verified)),
                ),
                begins=at == 0,
            )


def times_caption(session: Session, baseline: Baseline | None) -> str:
    """Return what is held fixed, and what a speed-up is against."""
    against = f"Speed-up against {baseline.title}." if baseline else ""
    return " ".join(filter(None, (conditions(session), against)))


def _figures(record: Record, measurement: Measurement, units: Units) -> tuple[str, ...]:
    kernel = measurement.kernel
    return (
        units.time.write(kernel.median_ms),
        units.time.write_range(*kernel.quartiles_ms) if len(kernel.samples_ms) > 1 else "",
        f"{len(kernel.samples_ms):,}",
        units.rate.write(record.megapixels_per_s),
    )


def _check(check: Check | None) -> tuple[str, str]:
    """Return its largest error; how much was checked, where that is not all."""
    assert check is not None
    scope = "" if check.is_full else f"{check.checked:,} pixels"
    return f"{check.max_error:.1e}" if check.max_error else "0", scope


def remarks(measurement: Measurement) -> Iterator[str]:
    """Return what has to be known of a figure before it is believed, in short; see REMARKS."""
    if len(measurement.kernel.samples_ms) == 1:
        yield "one sample"
    elif measurement.kernel.ended == "time":
        yield "time limit"
    if measurement.health and measurement.health.throttled:
        yield f"throttled: {list_of(measurement.health.throttled)}"
    if measurement.health and measurement.health.others:
        yield f"disturbed: {list_of(measurement.health.others)}"
    if measurement.load and (disturbances := measurement.load.disturbances):
        yield f"disturbed: {list_of(disturbances)}"


# ------------------------------------------------------------------------ the quickest of each


def quickest_table(session: Session, key: str) -> Table | None:
    """Return which way was the quickest at each work done in several; None without any."""
    verified = [each for each in session.records if each.verified]
    by_work: dict[Cell, list[Record]] = {}
    for record in verified:
        by_work.setdefault(work_of(record.cell), []).append(record)
    if not any(len(group) > 1 for group in by_work.values()):
        return None
    outer, baseline, units = outer_dimensions(session), baseline_of(session), Units.of(verified)
    table = Table(
        key,
        f"{session.plan.title} – the quickest of each. {times_caption(session, baseline)}",
        (
            *map(column_of, outer),
            Column("Quickest", is_number=False),
            Column("Equals it", is_number=False),
            Column(units.time.title("Median")),
            Column(units.rate.title("Throughput")),
            *speed_up_columns(baseline),
            Column("Of"),
            Column("Remarks", is_number=False),
        ),
        tuple(_quickest_row(group, outer, baseline, units) for group in by_work.values()),
        headers=len(outer),
        notes=(INTERVAL,) if baseline else (),
        what="the quickest of each",
    )
    return without_empty(table)


def _quickest_row(
    group: list[Record], outer: tuple[str, ...], baseline: Baseline | None, units: Units
) -> TableRow:
    by_cell = {each.cell: each for each in group}
    timings = {each.cell: each.verified.kernel for each in group if each.verified}
    best, *equals = groups_of_equals(timings)[0]
    record = by_cell[best]
    return TableRow(
        (
            *(value_of(name, best) for name in outer),
            way_in_words(best),
            ", ".join(map(way_in_words, equals)),
            units.time.write(timings[best].median_ms),
            units.rate.write(record.megapixels_per_s),
            *(baseline.in_words(record) if baseline else ()),
            plural(len(group), "way"),
            "; ".join(remarks(record.verified)) if record.verified else "",
        )
    )


def way_in_words(cell: Cell) -> str:
    """Return "Shared-memory tile 32×8"; what is not usual is named: a warm cache, several GPUs."""
    cache = ", L2 warm" if cell.cache == "warm" else ""
    gpus = f", {cell.devices_in_words}" if cell.devices_in_words else ""
    return (
        f"{implementation_title(cell.implementation)} {cell.block_in_words}".rstrip() + cache + gpus
    )
