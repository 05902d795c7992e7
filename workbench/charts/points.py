"""From sessions to points: what was measured where, by whom, and along which dimensions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from kernels.errors import KernelError
from kernels.sweeps.cell import Cell
from kernels.sweeps.plan import Plan
from kernels.sweeps.published import Published, published_for
from kernels.sweeps.record import Machine, Measurement, Record, Session
from kernels.timing import Timing
from workbench.charts import dimensions
from workbench.charts.figure import Choices, Option, Standing
from workbench.charts.names import kind_of

LARGEST_FIRST = ("sizes", "counts")  # of these the largest is the one to look at


class Spread(NamedTuple):
    """A median with its quartiles."""

    middle: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Source:
    """Who measured: a session's machine, or a publication.

    key   the same for the same machine in another sweep
    publication, table, note  of published numbers: where they stand, and what has to be known
    """

    key: str
    standing: Standing
    gpu: str
    cpu: str
    machine: Machine | None = field(default=None, compare=False)
    publication: str = ""
    table: str = ""
    note: str = ""

    def machine_of(self, implementation: str) -> str:
        """The part of it that runs an implementation, in short."""
        on_cpu = kind_of(implementation) == "cpu" or not self.gpu
        name = self.cpu.partition(",")[0] if on_cpu else self.gpu
        return f"{name} (recorded)" if self.standing == "recorded" else name

    @property
    def name(self) -> str:
        recorded = " (recorded)" if self.standing == "recorded" else ""
        return f"{self.gpu or self.cpu.partition(',')[0]}{recorded}"


@dataclass(frozen=True, slots=True)
class Point:
    """A cell of a source and what came of it.

    ms           None: it is no speed
    measurement  None: refused, or published
    objection    why there is no `ms`
    """

    cell: Cell
    source: Source
    ms: Spread | None
    measurement: Measurement | None = None
    objection: str | None = None

    @property
    def key(self) -> str:
        """Of its series."""
        if self.source.standing == "published":
            return f"{self.source.key} {self.cell.implementation}"
        warm = " warm" if self.cell.cache == "warm" else ""
        return f"{self.cell.implementation}{warm} @ {self.source.key}"

    @property
    def is_wrong(self) -> bool:
        """It ran, and its answer is not known to be right."""
        return self.ms is None and self.measurement is not None

    @property
    def on_gpu(self) -> bool:
        return kind_of(self.cell.implementation) == "cuda"


class Data:
    """All points of some sessions, and the values that each dimension has."""

    def __init__(self, sessions: Sequence[Session], choices: Choices | None = None) -> None:
        self.choices = choices or Choices()
        self.sessions = sessions
        self.points = [*_measured(sessions)]
        self.has_published = any(_published(session.plan) for session in sessions)
        if self.choices.published:
            self.points += _published_points(sessions)
        self._values: dict[str, tuple[Any, ...]] = {}

    @cached_property
    def sources(self) -> tuple[Source, ...]:
        return tuple(dict.fromkeys(point.source for point in self.points))

    @cached_property
    def own_sources(self) -> tuple[Source, ...]:
        """Those that somebody here measured or opened."""
        return tuple(each for each in self.sources if each.standing != "published")

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """All that were asked for, and what there is besides."""
        found: dict[Cell, None] = {}
        for session in self.sessions:
            found.update(dict.fromkeys(planned(session.plan)))
        found.update(dict.fromkeys(point.cell for point in self.points))
        return tuple(found)

    @property
    def is_so_far(self) -> bool:
        """Whether something is still being measured."""
        return any(len(s.records) < len(planned(s.plan)) for s in self.sessions)

    def values(self, name: str) -> tuple[Any, ...]:
        """Those of a dimension, in its order; what has no choice of it does not count."""
        if name not in self._values:
            met = dict.fromkeys(dimensions.of(cell, name) for cell in self.cells)
            found = dimensions.in_order(name, (value for value in met if value is not None))
            self._values[name] = found
        return self._values[name]

    def slice(self, *own: str) -> Slice:
        """What is left for a chart that shows the dimensions `own`: of each other one a value."""
        shown = Slice(self, tuple(self.points), (), own)
        for name in ("machines", *dimensions.NAMES):
            if name not in own:
                shown = self.narrowed(shown, name)
        return shown

    def narrowed(self, shown: Slice, name: str) -> Slice:
        """Of the dimension `name` only one value, where there are several to choose from."""
        values = self._offered(shown, name)
        own = tuple(each for each in shown.own if each != name)
        if len(values) < 2:
            return replace(shown, own=own)
        chosen = self.choices.slices.get(name)
        if chosen not in values:
            chosen = self._usual(name, values, shown.points)
        texts = tuple((value, self._in_words(name, value)) for value in values)
        option = Option(name, dimensions.label(name), texts, chosen)
        points = tuple(p for p in shown.points if _of(p, name) in (None, chosen))
        return Slice(self, points, (*shown.options, option), own)

    def _offered(self, shown: Slice, name: str) -> tuple[Any, ...]:
        """Those that some point still shown has, in the dimension's order."""
        met = {_of(point, name) for point in shown.points}
        sources = (source.key for source in self.sources)
        return tuple(v for v in (sources if name == "machines" else self.values(name)) if v in met)

    def _in_words(self, name: str, value: Any) -> str:
        if name == "machines":
            return next(source.name for source in self.sources if source.key == value)
        return dimensions.in_words(name, value)

    def _usual(self, name: str, values: tuple[Any, ...], points: Sequence[Point]) -> Any:
        """The first; of sizes the largest measured, of implementations the last on the ladder."""
        if name == "machines":
            return values[0]
        own = [p for p in points if p.source.standing != "published"] or points
        met = {_of(p, name) for p in own if p.ms}
        measured = [value for value in values if value in met] or list(values)
        return measured[-1 if name in (*LARGEST_FIRST, "implementations") else 0]


@dataclass(frozen=True, slots=True)
class Slice:
    """The points that one chart shows.

    options  one for each dimension that it has no room for
    own      the dimensions it shows
    """

    data: Data
    points: tuple[Point, ...]
    options: tuple[Option, ...]
    own: tuple[str, ...]

    @property
    def measured(self) -> list[Point]:
        """Those that are speeds, without what was published."""
        return [p for p in self.points if p.ms and p.source.standing != "published"]


@lru_cache(maxsize=64)
def planned(plan: Plan) -> tuple[Cell, ...]:
    """Its cells; none where it names an implementation that this program does not have."""
    try:
        return plan.cells()
    except KernelError:
        return ()


@lru_cache(maxsize=1 << 14)
def spread(timing: Timing) -> Spread:
    """Median and quartiles, once a timing: charts are drawn again and again."""
    low, middle, high = np.percentile(timing.samples_ms, (25, 50, 75))
    return Spread(float(middle), float(low), float(high))


def _measured(sessions: Iterable[Session]) -> Iterable[Point]:
    met: dict[str, int] = {}
    for session in sessions:
        standing: Standing = "recorded" if session.is_recorded else "live"
        key = f"{standing} {session.machine.name}"
        met[key] = met.get(key, 0) + 1
        again = f" {met[key]}" if met[key] > 1 else ""
        machine = session.machine
        source = Source(key + again, standing, machine.gpu, machine.cpu, machine)
        yield from (_point(record, source) for record in session.records)


def _point(record: Record, source: Source) -> Point:
    measurement = None if isinstance(record.outcome, str) else record.outcome
    ms = spread(record.verified.kernel) if record.verified else None
    return Point(record.cell, source, ms, measurement, record.objection)


@lru_cache(maxsize=64)
def _published(plan: Plan) -> tuple[Published, ...]:
    try:
        return published_for(plan)
    except KernelError:  # it names an implementation that this program does not have
        return ()


def _published_points(sessions: Sequence[Session]) -> list[Point]:
    found = dict.fromkeys(each for session in sessions for each in _published(session.plan))
    return [
        Point(each.cell, _publication(each), Spread(*[each.milliseconds] * 3)) for each in found
    ]


@lru_cache(maxsize=4096)
def _publication(each: Published) -> Source:
    name = f"{each.gpu}, {each.by}"
    key = f"published {name}"
    return Source(key, "published", name, name, None, each.source, each.table, each.note)


def _of(point: Point, name: str) -> Any:
    return point.source.key if name == "machines" else dimensions.of(point.cell, name)
