"""The tables of a session: times, the quickest, transfers, publications, refusals, launches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from kernels.core.cpu_load import disturbed_in_words
from kernels.core.timing import CONFIDENCE, ENOUGH_SAMPLES, groups_of_equals
from kernels.core.verdict import Check
from kernels.sweeps.plan import Cell
from kernels.sweeps.record import FIRST, Measurement, Record, Session
from workbench.base import numbers
from workbench.charts.data import points
from workbench.charts.data.chart_words import sentence_like
from workbench.model.cell_words import label
from workbench.model.names import implementation_title
from workbench.report import tables

INTERVAL = (
    f"Interval: of the speed-up, at {100 * CONFIDENCE:g} % confidence, from both medians; there is "
    f"none of fewer than {ENOUGH_SAMPLES} samples, or rounds."
)
ONE_SAMPLE = "One sample: that run took all the time there was; it has no spread and no speed-up."
FIRST_RUN = f"{FIRST}: whatever only a first run does is in its time; it has no speed-up."
TIME_LIMIT = "Sampling ended at the time limit, before the spread had settled."
EQUAL = "Counts as equal to {}."
EVERY, ONLY = "Every pixel was checked.", "Of each output {:,} pixels were checked."
OTHER = "{} was disturbed there, and so is the speed-up."
# Columns of words; all others are of numbers.
OF_WORDS = {"Notes", "Quickest", "Equals it", "Published on", "Which", "Why", "Launches"}
OF_WORDS |= {"Limited by"}  # and what a machine is in a comparison
BEHIND = "is behind at the largest size"
MAX_VALUES = 8  # of a dimension, before the list is cut to its ends
Row = tuple[Cell, Mapping[str, str]]  # the values by the titles of their columns


def table_of(
    session: Session,
    caption: str,
    rows: Sequence[Row],
    *,
    dimensions: Sequence[str] | None = None,
    is_grouped: bool = False,
    notes: Iterable[str] = (),
) -> tables.Table | None:
    """Make a table, without a key, with a row per cell, headed by its values; None without any.

    dimensions  by default those that tell the session's cells apart
    is_grouped  rows of the same work belong together
    """
    if not rows:
        return None
    headers = tables.header_dimensions(session) if dimensions is None else dimensions
    made, before = list[tables.TableRow](), None
    for cell, values in rows:
        cells = (*(tables.value_of(name, cell) for name in headers), *values.values())
        made.append(tables.TableRow(cells, begins=is_grouped and tables.work_of(cell) != before))
        before = tables.work_of(cell)
    columns = list[tables.Column]()
    for title in rows[0][1]:
        is_published = title.startswith(("Published on", "Published ("))
        is_number = title not in OF_WORDS and not title.endswith(" is")
        columns.append(tables.Column(title, is_number, is_published))
    return tables.Table(
        "",
        f"{session.plan.title} – {caption}",
        (*(tables.Column(label(each), each in tables.COUNTS) for each in headers), *columns),
        tuple(made),
        headers=len(headers),
        notes=tuple(notes),
    ).without_empty()


class SessionTables:
    def __init__(self, session: Session) -> None:
        self._session = session
        self._verified = [(each, each.verified) for each in session.records if each.verified]
        self._baseline = tables.baseline_of(session)
        self._disturbed = disturbed_in_words(each.load for _, each in self._verified)
        checks = [each.check for _, each in self._verified if each.check]
        counts = {0 if each.is_full else each.checked for each in checks}
        # Of all outputs alike; empty: as many as their rows name.
        self._checked = EVERY if counts <= {0} else ONLY.format(*counts) * (len(counts) == 1)
        # The units that suit all medians, and all throughputs.
        medians_ms = [each.kernel.median_ms for _, each in self._verified]
        rates = [each.megapixels_per_s or 0.0 for each, _ in self._verified]
        self._time, self._rate = tables.unit_of_times(medians_ms), tables.unit_of_rates(rates)

    def made(self, prefix: str) -> dict[str, tables.Table]:
        """All tables that have rows, in the page's order; their keys begin with `prefix`."""
        made = {
            "best": self.quickest(),
            "times": self.times(),
            "end-to-end": self.end_to_end(),
            "published": self.published(),
            "refused": self.refusals(),
            "launches": self.launches(),
        }
        is_recorded = self._session.is_recorded
        return {
            name: replace(table, key=f"{prefix}-{name}", is_recorded=is_recorded)
            for name, table in made.items()
            if table
        }

    def _caption(self, what: str, baseline: tables.Baseline | None) -> str:
        against = f"Speed-up against {baseline.title}." if baseline else ""
        return " ".join(filter(None, (what, tables.conditions(self._session), against)))

    def times(self) -> tables.Table | None:
        """List every verified cell, in the order of the plan."""
        time, rows, remarks = self._time, list[Row](), dict[str, int]()
        for record, measured in self._verified:
            kernel, check = measured.kernel, measured.check
            assert check is not None
            has_spread = len(kernel.samples_ms) > 1
            quartiles = tables.between(map(time.write, kernel.quartiles_ms)) if has_spread else ""
            values = {
                time.title("Median"): time.write(kernel.median_ms),
                time.title("Quartiles"): quartiles,
                time.title("Steps"): " + ".join(time.write(e.median_ms) for e in measured.steps),
                "Samples": f"{len(kernel.samples_ms):,}",
                self._rate.title("Throughput"): self._rate.write(record.megapixels_per_s),
                **self._speed_up(record),
                "Largest error": _error(check, record.cell),
                "Checked": "" if self._checked else f"{check.checked:,} pixels",
                "Notes": _numbered(self._remarks(record, measured), remarks),
            }
            rows.append((record.cell, values))
        # Above the table: below it the sentence might begin a page alone.
        caption = " ".join((self._caption("verified times.", self._baseline), *self._on_checks()))
        return table_of(self._session, caption, rows, is_grouped=True, notes=_below(rows, remarks))

    def _on_checks(self) -> Iterator[str]:
        checks = [each.check for _, each in self._verified if each.check]
        yield self._checked or "Of each output as many pixels were checked as its row names."
        if (tolerance := self._session.plan.tolerance) is not None:
            kept = sum(each.max_error <= tolerance for each in checks)
            yield f"Within the plan's tolerance {tolerance:g}: {kept:,} of {len(checks):,} outputs."

    def quickest(self) -> tables.Table | None:
        """List the quickest way of each work done in several ways."""
        by_work: dict[Cell, dict[Cell, tuple[Record, Measurement]]] = {}
        for record, measured in self._verified:
            work = tables.work_of(record.cell)
            by_work.setdefault(work, {})[record.cell] = record, measured
        if not any(len(group) > 1 for group in by_work.values()):
            return None
        rows, remarks = list[Row](), dict[str, int]()
        for group in by_work.values():
            timings = {cell: measured.kernel for cell, (_, measured) in group.items()}
            best, *equals = groups_of_equals(timings)[0]
            record, measured = group[best]
            values = {
                "Quickest": _way(best),
                "Equals it": ", ".join(map(_way, equals)),
                self._time.title("Median"): self._time.write(measured.kernel.median_ms),
                self._rate.title("Throughput"): self._rate.write(record.megapixels_per_s),
                **self._speed_up(record),
                "Of": numbers.plural(len(group), "way"),
                "Notes": _numbered(self._remarks(record, measured), remarks),
            }
            rows.append((best, values))
        caption = self._caption("the quickest of each.", self._baseline)
        outer = tables.outer_dimensions(self._session)
        return table_of(self._session, caption, rows, dimensions=outer, notes=_below(rows, remarks))

    def _remarks(self, record: Record, measured: Measurement) -> Iterator[str]:
        if measured.kernel.is_single:
            yield FIRST_RUN if FIRST in measured.disturbances else ONE_SAMPLE
        elif measured.kernel.ended == "time":
            yield TIME_LIMIT
        if self._baseline and self._baseline.is_equal(record):
            yield EQUAL.format(self._baseline.title)
        if self._baseline and self._baseline.star(record) and not measured.disturbances:
            yield OTHER.format(self._baseline.title)
        if measured.health:
            yield from map(sentence_like, measured.health.disturbances)
        if measured.load and measured.load.disturbances:
            yield self._disturbed  # of all of them, as each has other figures

    def _speed_up(self, record: Record) -> dict[str, str]:
        found = self._baseline.in_words(record) if self._baseline else ("", "")
        return dict(zip(("Speed-up", "Interval"), found, strict=True))

    def end_to_end(self) -> tables.Table | None:
        """List upload, filter time and download; None where transfers were not measured."""
        found: list[tuple[Record, dict[str, float]]] = []
        for record, measured in self._verified:
            if moved := measured.transfers:
                kernel_ms = measured.kernel.median_ms
                up_ms, down_ms = moved.pinned_up.median_ms, moved.pinned_down.median_ms
                parts = {
                    **{"Upload": moved.pageable_up.median_ms, "Filter time": kernel_ms},
                    "Download": moved.pageable_down.median_ms,
                    "Total": measured.end_to_end_ms or 0.0,
                    **{"Upload, pinned": up_ms, "Download, pinned": down_ms},
                    "Total, pinned": up_ms + kernel_ms + down_ms,
                }
                found.append((record, parts))
        is_cpu = self._baseline and not tables.is_on_gpu(self._baseline.key)
        baseline = self._baseline if is_cpu else None
        unit, rows = tables.unit_of_times(ms for _, p in found for ms in p.values()), list[Row]()
        for record, parts in found:
            theirs = baseline.against(record) if baseline else None
            ratio = numbers.ratio(theirs.kernel.median_ms / parts["Total"]) if theirs else ""
            ratio += baseline.star(record) if baseline and theirs else ""
            values = {unit.title(each): unit.write(ms) for each, ms in parts.items()}
            rows.append((record.cell, values | {"Speed-up of the total": ratio}))
        caption = self._caption("with the way to the device and back.", baseline)
        notes, since = list[str](), dict[str, Cell | None]()  # where size is all that varies
        if tables.outer_dimensions(self._session) == ("sizes",):
            for record, parts in sorted(found, key=lambda each: each[0].cell.pixels):
                if theirs := baseline.against(record) if baseline else None:
                    is_ahead, way = parts["Total"] < theirs.kernel.median_ms, _way(record.cell)
                    since[way] = (since.get(way) or record.cell) if is_ahead else None
        for way, cell in since.items():
            pays = f"pays off from {cell.size_in_words} on" if cell else BEHIND
            notes.append(f"{way}, transfers included, {pays}.")
        return table_of(self._session, caption, rows, notes=notes)

    def published(self) -> tables.Table | None:
        """List published times beside this session's; None where nothing was published."""
        published = points.published(self._session.plan)

        def alike(cell: Cell) -> Cell:  # without what publications do not tell
            return replace(cell, cache=None, picture="")

        # Warm before cold, so that of a cell measured in both ways the cold one is kept.
        ordered = sorted(self._verified, key=lambda each: each[0].cell.cache != "warm")
        ordered = [each for each in ordered if FIRST not in each[1].disturbances]
        here = {alike(record.cell): measured.kernel.median_ms for record, measured in ordered}
        unit = tables.unit_of_times([*(each.milliseconds for each in published), *here.values()])
        rows, is_one = list[Row](), len({each.source for each in published}) == 1
        for each in published:
            ours = here.get(alike(each.cell))
            is_beside = not tables.is_on_gpu(each.cell.implementation) and "CPU" not in each.gpu
            device = f"CPU beside {each.gpu}" if is_beside else each.gpu
            values = {
                "Published on": device if is_one else f"{device}, {each.by}",
                unit.title("Published"): unit.write(each.milliseconds),
                unit.title("This session"): unit.write(ours) or numbers.MISSING,
                "Published ÷ this session": numbers.ratio(each.milliseconds / ours) if ours else "",
            }
            rows.append((each.cell, values))
        sources = dict.fromkeys(
            ", ".join(filter(None, (each.source, f"table {each.table}" if each.table else "")))
            for each in published
        )
        caption = f"published elsewhere. {'; '.join(sources)}."
        headers = [name for name in tables.header_dimensions(self._session) if name != "caches"]
        notes = dict.fromkeys(each.note for each in published if each.note)
        return table_of(self._session, caption, rows, dimensions=headers, notes=notes)

    def refusals(self) -> tables.Table | None:
        """List the reasons why cells have no time; None where every cell has one."""
        groups: dict[tuple[str, str], list[Record]] = {}
        for record in self._session.records:
            if record.objection:
                kind = "refused" if isinstance(record.outcome, str) else "not counted"
                groups.setdefault((kind, record.objection), []).append(record)
        if not groups:
            return None
        headers, count = tables.header_dimensions(self._session), sum(map(len, groups.values()))
        title = self._session.plan.title
        return tables.Table(
            "",
            f"{title} – {numbers.plural(count, 'cell')} without a time that counts.",
            tuple(tables.Column(each, each not in OF_WORDS) for each in ("Cells", "Which", "Why")),
            tuple(
                tables.TableRow((f"{len(those):,}", _which(those, headers), f"{kind}: {reason}"))
                for (kind, reason), those in groups.items()
            ),
        )

    def launches(self) -> tables.Table | None:
        """List the launches and the occupancy of every verified cell that a rung ran, if any."""
        rows = list[Row]()
        for record, measured in self._verified:
            if record.cell.cache:
                found = measured.occupancy
                values = {
                    "Launches": "; ".join(map(str, measured.ran)),
                    "Occupancy": numbers.percent(found.share) if found else "",
                    "Limited by": found.limit if found else "",
                }
                rows.append((record.cell, values))
        caption = "what ran on the GPU. Occupancy is from the driver, of the first launch."
        return table_of(self._session, caption, rows)


def _numbered(sentences: Iterable[str], known: dict[str, int]) -> str:
    """Give the numbers of sentences, "1, 3"; new ones get the next."""
    return ", ".join(map(str, sorted(known.setdefault(each, len(known) + 1) for each in sentences)))


def _below(rows: Sequence[Row], remarks: Mapping[str, int]) -> tuple[str, ...]:
    """List the notes below a table: the numbered ones, and that on a column that is there."""
    numbered = (f"{number}. {sentence}" for sentence, number in remarks.items())
    has_intervals = any(values["Interval"] for _, values in rows)
    return (*numbered, *((INTERVAL,) if has_intervals else ()))


def _error(check: Check, cell: Cell) -> str:
    """Format the largest error: "0", "1 level" of an integer, "1.2e-7"."""
    if cell.pixel_type.startswith("uint") and (levels := round(check.max_error)):
        return numbers.plural(levels, "level")
    return numbers.error(check.max_error)


def _way(cell: Cell) -> str:
    """Write "Shared-memory tile 32×8", with a warm cache or several GPUs named."""
    way = f"{implementation_title(cell.implementation)} {cell.block_in_words}".rstrip()
    cache = "L2 warm" if cell.cache == "warm" else ""
    return ", ".join(filter(None, (way, cache, cell.devices_in_words)))


def _which(records: Iterable[Record], dimensions: Sequence[str]) -> str:
    """List the values of the varied dimensions: "Untiled; size 512², 1024²"."""
    cells = [each.cell for each in records]
    parts = []
    for name in reversed(dimensions):
        values = [*filter(None, dict.fromkeys(tables.value_of(name, cell) for cell in cells))]
        if len(values) > MAX_VALUES:
            values = [*values[:2], "…", values[-1]]
        title = "" if name == "implementations" else f"{label(name).lower()} "
        if values:
            parts.append(f"{title}{', '.join(values)}")
    return "; ".join(parts)
