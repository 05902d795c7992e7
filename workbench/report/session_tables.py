"""The tables of a session: times, the quickest, transfers, publications, refusals, launches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from kernels.core.errors import BadJobError
from kernels.core.timing import CONFIDENCE, ENOUGH_SAMPLES, groups_of_equals
from kernels.core.verdict import Check
from kernels.sweeps.plan import Cell
from kernels.sweeps.published import Published, published_for
from kernels.sweeps.record import Measurement, Record, Session
from workbench.base import numbers
from workbench.charts.data.chart_dimensions import label
from workbench.charts.data.chart_words import list_of
from workbench.model.names import implementation_title
from workbench.report.tables import (
    Baseline,
    Column,
    Table,
    TableRow,
    Unit,
    baseline_of,
    between,
    column_of,
    conditions,
    header_dimensions,
    is_on_gpu,
    outer_dimensions,
    plural,
    unit_of_rates,
    unit_of_times,
    value_of,
    work_of,
)

INTERVAL = (
    f"Interval: of the speed-up, at {100 * CONFIDENCE:g} % confidence, from both medians; there is "
    f"none of fewer than {ENOUGH_SAMPLES} samples, or rounds. A single run has no speed-up."
)
CHECKED = "Every pixel was checked, except where a number of pixels is named."
REMARKS = {
    "one sample": "One sample: that run took all the time there was, so that the spread is "
    "unknown.",
    "time limit": "Time limit: sampling ended there, before the spread had settled.",
}
PARTS = (
    *("Upload", "Filter time", "Download", "Total"),
    *("Upload, pinned", "Download, pinned", "Total, pinned"),
)
TOTAL = PARTS.index("Total")
MAX_VALUES = 8  # of a dimension, before the list is cut to its ends


def _table(
    session: Session,
    key: str,
    caption: str,
    columns: Sequence[Column],
    rows: Iterable[tuple[Cell, Sequence[str]]],
    *,
    dimensions: Sequence[str] | None = None,
    is_grouped: bool = False,
    notes: Iterable[str] = (),
) -> Table:
    """Make a table with a row per cell, headed by the cell's values of some dimensions.

    dimensions  by default those that tell the session's cells apart
    is_grouped  rows of the same work belong together
    """
    headers = header_dimensions(session) if dimensions is None else dimensions
    made, before = list[TableRow](), None
    for cell, values in rows:
        cells = (*(value_of(name, cell) for name in headers), *values)
        made.append(TableRow(cells, begins=is_grouped and work_of(cell) != before))
        before = work_of(cell)
    return Table(
        key,
        f"{session.plan.title} – {caption}",
        (*map(column_of, headers), *columns),
        tuple(made),
        headers=len(headers),
        notes=tuple(notes),
    ).without_empty()


def _verified(session: Session) -> list[tuple[Record, Measurement]]:
    return [(each, each.verified) for each in session.records if each.verified]


def _units(records: Iterable[tuple[Record, Measurement]]) -> tuple[Unit, Unit]:
    """The units that suit all medians, and all throughputs."""
    found = list(records)
    return (
        unit_of_times(measured.kernel.median_ms for _, measured in found),
        unit_of_rates(record.megapixels_per_s or 0.0 for record, _ in found),
    )


def _speed_up_columns(baseline: Baseline | None) -> tuple[Column, ...]:
    return (Column("Speed-up"), Column("Interval")) if baseline else ()


def _caption(what: str, session: Session, baseline: Baseline | None) -> str:
    """Add to `what` everything held fixed, and the baseline of speed-ups."""
    against = f"Speed-up against {baseline.title}." if baseline else ""
    return " ".join(filter(None, (what, conditions(session), against)))


# ------------------------------------------------------------------------ every verified time


def times_table(session: Session, key: str) -> Table | None:
    """List every verified cell, in the order of the plan; None where there is none."""
    verified, baseline = _verified(session), baseline_of(session)
    if not verified:
        return None
    time, rate = _units(verified)

    def row(record: Record, measured: Measurement) -> tuple[Cell, tuple[str, ...]]:
        kernel = measured.kernel
        has_spread = len(kernel.samples_ms) > 1
        return record.cell, (
            time.write(kernel.median_ms),
            between(map(time.write, kernel.quartiles_ms)) if has_spread else "",
            f"{len(kernel.samples_ms):,}",
            rate.write(record.megapixels_per_s),
            *(baseline.in_words(record) if baseline else ()),
            *_check(measured.check),
            "; ".join(_remarks(measured)),
        )

    titles = (time.title("Median"), time.title("Quartiles"), "Samples", rate.title("Throughput"))
    columns = (
        *map(Column, titles),
        *_speed_up_columns(baseline),
        *(Column("Largest error"), Column("Checked"), Column("Remarks", is_number=False)),
    )
    return _table(
        session,
        key,
        _caption("verified times.", session, baseline),
        columns,
        [row(*each) for each in verified],
        is_grouped=True,
        notes=_notes(session),
    )


def _notes(session: Session) -> Iterator[str]:
    """Explain the remarks, the checks, and whether the tolerance was kept."""
    measured = [each for _, each in _verified(session)]
    if baseline_of(session):
        yield INTERVAL
    there = {remark for each in measured for remark in _remarks(each)}
    yield from (text for remark, text in REMARKS.items() if remark in there)
    yield CHECKED
    tolerance = session.plan.tolerance
    if tolerance is not None:
        checks = [each.check for each in measured if each.check]
        kept = sum(each.max_error <= tolerance for each in checks)
        yield (
            f"The plan asks for errors up to {tolerance:g} as well: {kept:,} of "
            f"{plural(len(checks), 'output')} kept to that."
        )


def _check(check: Check | None) -> tuple[str, str]:
    """The largest error; and the number of checked pixels, where that is not all."""
    assert check is not None
    scope = "" if check.is_full else f"{check.checked:,} pixels"
    return f"{check.max_error:.1e}" if check.max_error else "0", scope


def _remarks(measurement: Measurement) -> Iterator[str]:
    """Yield in short why a figure may not be believed; see REMARKS."""
    if len(measurement.kernel.samples_ms) == 1:
        yield "one sample"
    elif measurement.kernel.ended == "time":
        yield "time limit"
    health, load = measurement.health, measurement.load
    for what, reasons in (
        ("throttled", health.throttled if health else ()),
        ("disturbed", health.others if health else ()),
        ("disturbed", load.disturbances if load else ()),
    ):
        if reasons:
            yield f"{what}: {list_of(reasons)}"


# ------------------------------------------------------------------------ the quickest of each


def quickest_table(session: Session, key: str) -> Table | None:
    """List the quickest way of each work done in several ways; None without any."""
    by_work: dict[Cell, list[Record]] = {}
    for record, _ in _verified(session):
        by_work.setdefault(work_of(record.cell), []).append(record)
    if not any(len(group) > 1 for group in by_work.values()):
        return None
    baseline, (time, rate) = baseline_of(session), _units(_verified(session))

    def row(group: list[Record]) -> tuple[Cell, tuple[str, ...]]:
        timings = {each.cell: each.verified.kernel for each in group if each.verified}
        best, *equals = groups_of_equals(timings)[0]
        record = next(each for each in group if each.cell == best)
        return best, (
            _way(best),
            ", ".join(map(_way, equals)),
            time.write(timings[best].median_ms),
            rate.write(record.megapixels_per_s),
            *(baseline.in_words(record) if baseline else ()),
            plural(len(group), "way"),
            "; ".join(_remarks(record.verified)) if record.verified else "",
        )

    columns = (
        *(Column("Quickest", is_number=False), Column("Equals it", is_number=False)),
        *(Column(time.title("Median")), Column(rate.title("Throughput"))),
        *_speed_up_columns(baseline),
        *(Column("Of"), Column("Remarks", is_number=False)),
    )
    return _table(
        session,
        key,
        _caption("the quickest of each.", session, baseline),
        columns,
        map(row, by_work.values()),
        dimensions=outer_dimensions(session),
        notes=(INTERVAL,) if baseline else (),
    )


def _way(cell: Cell) -> str:
    """Write "Shared-memory tile 32×8", with a warm cache or several GPUs named."""
    way = f"{implementation_title(cell.implementation)} {cell.block_in_words}".rstrip()
    cache = "L2 warm" if cell.cache == "warm" else ""
    return ", ".join(filter(None, (way, cache, cell.devices_in_words)))


# ------------------------------------------------------------------------ with transfers


def end_to_end_table(session: Session, key: str) -> Table | None:
    """List upload, filter time and download; None where transfers were not measured."""
    records = [each for each in _verified(session) if each[1].transfers]
    if not records:
        return None
    baseline = baseline_of(session)
    if baseline and is_on_gpu(baseline.key):
        baseline = None
    times_ms = [_parts_ms(measured) for _, measured in records]
    unit = unit_of_times(ms for parts in times_ms for ms in parts)

    def speed_up(record: Record, total_ms: float) -> str:
        theirs = baseline.against(record) if baseline else None
        return numbers.speed_up(theirs.kernel.median_ms / total_ms) if theirs else ""

    return _table(
        session,
        key,
        _caption("with the way to the device and back.", session, baseline),
        [*(Column(unit.title(each)) for each in PARTS), Column("Speed-up of the total")],
        [
            (record.cell, (*map(unit.write, parts), speed_up(record, parts[TOTAL])))
            for (record, _), parts in zip(records, times_ms, strict=True)
        ],
    )


def _parts_ms(measured: Measurement) -> tuple[float, ...]:
    """The times of PARTS, of a measurement with transfers."""
    moved, kernel_ms = measured.transfers, measured.kernel.median_ms
    assert moved is not None
    up_ms, down_ms = moved.pinned_up.median_ms, moved.pinned_down.median_ms
    ordinary = moved.pageable_up.median_ms, kernel_ms, moved.pageable_down.median_ms
    return *ordinary, measured.end_to_end_ms or 0.0, up_ms, down_ms, up_ms + kernel_ms + down_ms


# ------------------------------------------------------------------------ publications


def published_table(session: Session, key: str) -> Table | None:
    """List published times beside this session's; None where nothing was published."""
    try:
        published = published_for(session.plan)
    except BadJobError:  # it names implementations of another version of this program
        return None
    if not published:
        return None

    def alike(cell: Cell) -> Cell:  # without what publications do not tell
        return replace(cell, cache=None, picture="")

    # Warm before cold, so that of a cell measured in both ways the cold one is kept.
    ordered = sorted(_verified(session), key=lambda each: each[0].cell.cache != "warm")
    here = {alike(record.cell): measured.kernel.median_ms for record, measured in ordered}
    unit = unit_of_times([*(each.milliseconds for each in published), *here.values()])

    def row(each: Published) -> tuple[Cell, tuple[str, ...]]:
        ours = here.get(alike(each.cell))
        beside = (numbers.MISSING, "")
        if ours:
            beside = unit.write(ours), numbers.ratio(each.milliseconds / ours)
        return each.cell, (each.gpu, unit.write(each.milliseconds), *beside)

    sources = dict.fromkeys(
        ", ".join(filter(None, (each.source, f"table {each.table}" if each.table else "")))
        for each in published
    )
    columns = (
        Column("Published on", is_number=False, is_published=True),
        Column(unit.title("Published"), is_published=True),
        *(Column(unit.title("This session")), Column("Published ÷ this session")),
    )
    return _table(
        session,
        key,
        f"published elsewhere. {'; '.join(sources)}.",
        columns,
        map(row, published),
        dimensions=[name for name in header_dimensions(session) if name != "caches"],
        notes=dict.fromkeys(each.note for each in published if each.note),
    )


# ------------------------------------------------------------------------ refusals, launches


def refusals_table(session: Session, key: str) -> Table | None:
    """List the reasons why cells have no time; None where every cell has one."""
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
            TableRow((f"{len(records):,}", _which(records, headers), f"{kind}: {reason}"))
            for (kind, reason), records in groups.items()
        ),
    )


def _which(records: Iterable[Record], dimensions: Sequence[str]) -> str:
    """List the values of the varied dimensions: "Untiled; size 512², 1024²"."""
    cells = [each.cell for each in records]
    parts = []
    for name in reversed(dimensions):
        values = [*filter(None, dict.fromkeys(value_of(name, cell) for cell in cells))]
        if len(values) > MAX_VALUES:
            values = [*values[:2], "…", values[-1]]
        title = "" if name == "implementations" else f"{label(name).lower()} "
        if values:
            parts.append(f"{title}{', '.join(values)}")
    return "; ".join(parts)


def launches_table(session: Session, key: str) -> Table | None:
    """List the launches and the occupancy of every verified cell that a rung ran, if any."""
    ran = [each for each in _verified(session) if each[0].cell.cache]
    if not ran:
        return None
    rows = []
    for record, measured in ran:
        found = measured.occupancy
        occupancy = (numbers.percent(found.share), found.limit) if found else ("", "")
        rows.append((record.cell, ("; ".join(map(str, measured.ran)), *occupancy)))
    return _table(
        session,
        key,
        "what ran on the GPU. Occupancy is from the driver, of the first launch.",
        (
            Column("Launches", is_number=False),
            *(Column("Occupancy"), Column("Limited by", is_number=False)),
        ),
        rows,
    )
