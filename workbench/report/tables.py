"""Tables as data, for HTML and LaTeX alike: cells in words, units, and baselines of speed-ups."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from kernels.core.timing import NO_INTERVAL, Comparison, compare, gives_speed_up
from kernels.sweeps.plan import Cell
from kernels.sweeps.record import CellPair, Machine, Measurement, Record, Session
from workbench.base import numbers
from workbench.base.numbers import GAP, star
from workbench.charts.data.chart_words import list_of, sentence_like
from workbench.charts.data.points import HOW
from workbench.model import cell_words
from workbench.model.names import cpu_name, implementation_title, kind_of, place_of

COUNTS = ("channels", "counts", "devices")  # whose header says what is counted


@dataclass(frozen=True, slots=True)
class Column:
    title: str
    is_number: bool = True  # set to the right, in digits of one width
    is_published: bool = False  # somebody else's figures: grey, and its title says so


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of cells; begins: the first of several that belong together."""

    cells: tuple[str, ...]
    begins: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table, its title and its notes."""

    key: str  # unique in a report: the end of its id and of its LaTeX label
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[TableRow, ...]
    headers: int = 1  # cells at the start of a row that say what it is of
    notes: tuple[str, ...] = ()  # below it, a sentence each
    is_recorded: bool = False  # its figures came with the program
    is_folded: bool = False  # seen on request

    def without_empty(self) -> Table:
        """Drop columns with nothing in any row; headers always stay."""
        cells = zip(*(row.cells for row in self.rows), strict=True)
        kept = [at for at, column in enumerate(cells) if at < self.headers or any(column)]
        rows = (TableRow(tuple(row.cells[at] for at in kept), row.begins) for row in self.rows)
        return replace(self, columns=tuple(self.columns[at] for at in kept), rows=tuple(rows))


def value_of(dimension: str, cell: Cell) -> str:
    """Format a cell's value of a dimension: "1024²", "5×5", "Shared-memory tile"; or ""."""
    value = cell_words.of(cell, dimension)
    if value is None:
        return ""
    return str(value) if dimension in COUNTS else cell_words.in_words(dimension, value)


def _varied(session: Session) -> list[str]:
    cells = [record.cell for record in session.records]
    return [name for name in cell_words.NAMES if len(cell_words.values_of(cells, name)) > 1]


def outer_dimensions(session: Session) -> tuple[str, ...]:
    """The dimensions that tell apart the works that a session's cells do."""
    return tuple(name for name in _varied(session) if name not in HOW)


def header_dimensions(session: Session) -> tuple[str, ...]:
    """The dimensions that tell a session's cells apart, and always the implementation."""
    several = {*_varied(session), "implementations"}
    return (*outer_dimensions(session), *(name for name in HOW if name in several))


def conditions(session: Session) -> str:
    """All that its cells have in common, as a sentence."""
    cells = [record.cell for record in session.records]
    return sentence_like(cell_words.held_fixed(cells, ("implementations",)))


def is_on_gpu(implementation: str) -> bool:
    """Return True for a rung of the ladder, or a user kernel."""
    return kind_of(implementation) == "cuda"


def machine_name(machine: Machine) -> str:
    """Its GPU; or its CPU, without the number of cores."""
    return machine.gpu or cpu_name(machine.cpu)


def moment(seconds: float) -> str:
    """Format a time in words: "21 November 2025, 04:40 UTC"."""
    at = datetime.fromtimestamp(seconds, UTC)
    return f"{at.day} {at:%B %Y, %H:%M} UTC"


@dataclass(frozen=True, slots=True)
class Unit:
    """The unit of a whole column, named in its header so that figures compare."""

    name: str
    scale: float  # in base units: milliseconds, or megapixels per second

    def title(self, what: str) -> str:
        """Write a header such as "Median (ms)"."""
        return f"{what} ({self.name})"

    def write(self, value: float | None) -> str:
        """Format a value in the base unit to three digits; None as nothing."""
        return "" if value is None else numbers.three_digits(value / self.scale)


def unit_of_times(ms: Iterable[float]) -> Unit:
    """µs where all times are below a millisecond, s where none is below a second, or ms."""
    found = list(ms)
    if found and max(found) < 1:
        return Unit("µs", 1e-3)
    return Unit("s", 1e3) if found and min(found) >= 1e3 else Unit("ms", 1.0)


def unit_of_rates(megapixels_per_s: Iterable[float]) -> Unit:
    """Gigapixels per second where no rate is below one, else megapixels."""
    return Unit("GP/s", 1e3) if min(megapixels_per_s, default=0.0) >= 1e3 else Unit("MP/s", 1.0)


def between(ends: Iterable[str]) -> str:
    """Join the ends of an interval: "1.20 – 1.31"."""
    return f"{GAP}–{GAP}".join(ends)


def work_of(cell: Cell) -> Cell:
    """The cell without the way it is done: equal for all that do the same work."""
    return replace(cell, implementation="", block_xy=None, cache=None, devices=1)


@dataclass(frozen=True, slots=True)
class Baseline:
    """The implementation that speed-ups of a session are against."""

    key: str
    times: Mapping[Cell, Measurement]  # by work: its quickest verified measurement

    @property
    def title(self) -> str:
        """Its title with its threads: "OpenCV, 8 threads"; a rung has none to name."""
        threads = sorted({each.threads for each in self.times.values() if each.threads})
        named = list_of([numbers.plural(each, "thread") for each in threads])
        return ", ".join(filter(None, (implementation_title(self.key), named)))

    def speed_up(self, record: Record) -> Comparison | None:
        """Compare a verified record with the baseline; None where it has no speed-up."""
        ours, theirs = record.verified, self.against(record)
        return compare(ours.kernel, theirs.kernel) if ours and theirs else None

    def against(self, record: Record) -> Measurement | None:
        """The measurement to divide by; None where work differs or one is a single run."""
        ours, theirs = record.verified, self.times.get(work_of(record.cell))
        is_able = ours and theirs and gives_speed_up(ours.kernel, theirs.kernel)
        return theirs if is_able else None

    def in_words(self, record: Record) -> tuple[str, str]:
        """A speed-up and its interval: "12.3×", "11.9 – 12.6"; below 1 where it is slower."""
        if (found := self.speed_up(record)) is None:
            return "", ""
        ends = "" if self.is_of(record) else interval(found)
        return f"{numbers.ratio(found.ratio)}{self.star(record)}", ends

    def star(self, record: Record) -> str:
        """A star where its time, or the one to divide by, was disturbed."""
        found = (record.verified, self.against(record))
        return star([why for each in found if each for why in each.disturbances])

    def is_of(self, record: Record) -> bool:
        """Return True for the very measurement that those of the same work are against."""
        return self.times.get(work_of(record.cell)) is record.verified

    def is_equal(self, record: Record) -> bool:
        """Return True for another measurement that counts as equal."""
        found = self.speed_up(record)
        return found is not None and found.verdict == "same" and not self.is_of(record)


def interval(found: Comparison) -> str:
    """Format the interval of a ratio: "11.9 – 12.6"; "—" where it has none."""
    ends = found.interval
    return between(map(numbers.three_digits, ends)) if ends else numbers.MISSING


def baseline_of(session: Session) -> Baseline | None:
    """The plainest implementation on the CPU, or else rung, among those that time the most works.

    None where fewer than two implementations gave right outputs.
    """
    verified = [each for each in session.records if each.verified]
    keys = dict.fromkeys(each.cell.implementation for each in verified)
    if len(keys) < 2:
        return None
    on_cpu = [key for key in keys if not is_on_gpu(key)]
    works = {
        (each.cell.implementation, work_of(each.cell))
        for each in verified
        if each.verified and not each.verified.kernel.is_single
    }
    count = Counter(key for key, _ in works)
    chosen = max(sorted(on_cpu or keys, key=place_of), key=lambda key: count[key])
    mine = [each for each in verified if each.cell.implementation == chosen]
    return Baseline(chosen, {work_of(cell): each for cell, each in _quickest(mine).items()})


def _quickest(records: Sequence[Record]) -> dict[Cell, Measurement]:
    best: dict[Cell, tuple[Cell, Measurement]] = {}
    for record in records:
        measured, work = record.verified, work_of(record.cell)
        assert measured is not None
        if work not in best or measured.kernel.median_ms < best[work][1].kernel.median_ms:
            best[work] = (record.cell, measured)
    return dict(best.values())


PAIR_COLUMNS = ("Measurement", "A", "B", "A / B", "95 % interval", "B is")
PairRow = tuple[str, ...]


def most_different_first(pairs: Iterable[CellPair]) -> list[CellPair]:
    """Sort pairs: the most different first, then equal ones, then those of one session alone."""

    def place(pair: CellPair) -> tuple[int, float]:
        if pair.comparison is None:
            return (2 if pair.a and pair.b else 3 if pair.a is None else 4), 0.0
        return int(pair.comparison.verdict == "same"), -abs(math.log(pair.comparison.ratio))

    return sorted(pairs, key=place)


def pair_row(pair: CellPair, varied: Collection[str] = ()) -> PairRow:
    """The table's row for a pair; `varied` names the fields in which cells differ."""
    found, name = pair.comparison, cell_words.cell_in_words(pair.cell, varied)
    times = _time(pair.a), _time(pair.b)
    if found is None:
        return (name, *times, "", "", pair.objection or "")
    ends = " – ".join(map(numbers.three_digits, found.interval or ())) or NO_INTERVAL
    return (name, *times, numbers.fine_ratio(found.ratio), ends, found.in_words)


def _time(record: Record | None) -> str:
    if record is None or record.verified is None:
        return numbers.MISSING
    mark = star(record.verified.disturbances)
    return f"{numbers.duration(record.verified.kernel.median_ms)}{mark}"
