"""Points of sessions and publications, and the slice of them that a chart has room for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property, lru_cache
from string import ascii_uppercase
from typing import Any, NamedTuple

import numpy as np

from kernels.core.errors import KernelError
from kernels.core.timing import Timing
from kernels.sweeps.plan import PICTURE_KINDS, Cell, Plan
from kernels.sweeps.published import Published, published_for
from kernels.sweeps.record import Machine, Measurement, Record, Session
from workbench.charts.data import chart_dimensions
from workbench.charts.data.figure import Choices, Option, Standing
from workbench.model.names import cpu_name, kind_of, place_of


class Spread(NamedTuple):
    """A median with its quartiles."""

    middle: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Source:
    """A machine in a session, or a publication.

    key    the same for the same machine in another sweep
    origin  as in Session
    which  what tells it from other sessions of the same machine, where there are any
    publication, table, note  where published numbers stand, and what has to be known about them
    """

    key: str
    standing: Standing
    gpu: str
    cpu: str
    machine: Machine | None = field(default=None, compare=False)
    publication: str = ""
    table: str = ""
    note: str = ""
    origin: str = ""
    which: str = ""

    def machine_of(self, implementation: str) -> str:
        """Return the CPU or GPU of the machine that runs an implementation, in short."""
        on_cpu = kind_of(implementation) == "cpu" or not self.gpu
        if self.standing == "published":  # the names of CPUs were not
            return f"CPU beside {self.gpu}" if on_cpu and "CPU" not in self.gpu else self.gpu
        name = cpu_name(self.cpu) if on_cpu else self.gpu
        return f"{name}{self._remark}"

    @property
    def name(self) -> str:
        """Return the name of the machine: its GPU or else its CPU, and where it is from."""
        return f"{self.gpu or cpu_name(self.cpu)}{self._remark}"

    @property
    def _remark(self) -> str:
        said = ", ".join(filter(None, (self.origin, self.which)))
        return f" ({said})" if said else ""


@dataclass(frozen=True, slots=True)
class Point:
    """A cell that a source measured, with its time or the reason why it has none.

    ms           None: there is no valid time
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
        """Return the key of the series that the point belongs to."""
        if self.source.standing == "published":
            return f"{self.source.key} {self.cell.implementation}"
        return series_key(self.cell, self.source)

    @property
    def is_wrong(self) -> bool:
        """Tell whether it ran, but its output is not known to be right."""
        return self.ms is None and self.measurement is not None

    @property
    def on_gpu(self) -> bool:
        """Tell whether its implementation is a CUDA kernel."""
        return kind_of(self.cell.implementation) == "cuda"


def series_key(cell: Cell, source: Source) -> str:
    """Return the key of the series of a cell that was, or will be, measured by `source`."""
    warm = " warm" if cell.cache == "warm" else ""
    return f"{cell.implementation}{warm} @ {source.key}"


def planned(session: Session) -> tuple[Cell, ...]:
    """Return all cells of a session's plan, measured or not.

    Empty if the plan names an implementation that this program does not have.  The sizes of
    given pictures are those that were measured so far.
    """
    own = {c.picture: (c.width, c.height) for c in (r.cell for r in session.records)}
    given = {name: size for name, size in own.items() if name not in PICTURE_KINDS}
    return _planned(session.plan, tuple(given.items()))


@lru_cache(maxsize=64)
def _planned(plan: Plan, given: tuple[tuple[str, tuple[int, int]], ...]) -> tuple[Cell, ...]:
    try:
        return plan.cells(dict(given))
    except KernelError:
        return ()


@lru_cache(maxsize=1 << 14)
def spread(timing: Timing) -> Spread:
    """Return median and quartiles in ms, cached, since charts are drawn again and again."""
    low, middle, high = np.percentile(timing.samples_ms, (25, 50, 75))
    return Spread(float(middle), float(low), float(high))


def measured_points(sessions: Sequence[Session]) -> Iterable[Point]:
    """Yield a point for each record of each session."""
    for session, source in zip(sessions, sources_of(sessions), strict=True):
        yield from (_point(record, source) for record in session.records)


def sources_of(sessions: Sequence[Session]) -> list[Source]:
    """Return the source of each session, in order."""
    met: dict[str, int] = {}
    found = []
    for session in sessions:
        standing: Standing = "recorded" if session.is_recorded else "live"
        machine = session.machine
        key = f"{standing} {machine.name}"
        met[key] = met.get(key, 0) + 1
        key += f" {met[key]}" if met[key] > 1 else ""
        which = _told_apart(session, sessions)
        whose = key, standing, machine.gpu, machine.cpu, machine
        found.append(Source(*whose, origin=session.origin, which=which))
    return found


def _told_apart(session: Session, sessions: Sequence[Session]) -> str:
    """Name a session among those of its machine: by its plan, or by when it began."""
    same = [s for s in sessions if _home(s) == _home(session)]
    if len(same) == 1:
        return ""
    if len({_short_title(each) for each in same}) == len(same):
        return _short_title(session)
    return f"{datetime.fromtimestamp(session.started):%Y-%m-%d %H:%M:%S}"


def _short_title(session: Session) -> str:
    return session.plan.title.rpartition(": ")[2]


def _home(session: Session) -> tuple[str, str]:
    return session.machine.name, session.origin


def _point(record: Record, source: Source) -> Point:
    measurement = None if isinstance(record.outcome, str) else record.outcome
    ms = spread(record.verified.kernel) if record.verified else None
    return Point(record.cell, source, ms, measurement, record.objection)


@lru_cache(maxsize=64)
def published(plan: Plan) -> tuple[Published, ...]:
    """Return the published times that belong to a plan."""
    try:
        return published_for(plan)
    except KernelError:  # it names an implementation that this program does not have
        return ()


def published_points(sessions: Sequence[Session]) -> list[Point]:
    """Return the points of all publications that belong to the sessions' plans."""
    found = dict.fromkeys(each for session in sessions for each in published(session.plan))
    return [
        Point(each.cell, _publication(each), Spread(*[each.milliseconds] * 3)) for each in found
    ]


@lru_cache(maxsize=4096)
def _publication(each: Published) -> Source:
    name = f"{each.gpu}, {each.by}"
    key = f"published {name}"
    return Source(key, "published", name, name, None, each.source, each.table, each.note)


HOW = ("implementations", "caches", "devices", "blocks")  # something is done, not what
MAX_FIRST = ("sizes", "counts")  # dimensions whose largest value is the default


class Data:
    """All points of some sessions, and the values that each dimension has."""

    def __init__(self, sessions: Sequence[Session], choices: Choices | None = None) -> None:
        self.choices = choices or Choices()
        self.sessions = sessions
        self.points = [*measured_points(sessions)]
        self.has_published = any(published(session.plan) for session in sessions)
        if self.choices.published:
            self.points += published_points(sessions)
        self._values: dict[str, tuple[Any, ...]] = {}

    @cached_property
    def sources(self) -> tuple[Source, ...]:
        """Return the sources of all points, each once, in order."""
        return tuple(dict.fromkeys(point.source for point in self.points))

    @cached_property
    def own_sources(self) -> tuple[Source, ...]:
        """Return the sources other than publications: measured or opened here."""
        return tuple(each for each in self.sources if each.standing != "published")

    def letter(self, source: Source) -> str:
        """Return the letter of a session, A to Z in order; "" where there is only one session."""
        own = self.own_sources
        if len(own) < 2 or source not in own or own.index(source) >= len(ascii_uppercase):
            return ""
        return ascii_uppercase[own.index(source)]

    @cached_property
    def threads(self) -> Mapping[tuple[Source, str], int]:
        """Return the most threads that a source's implementation had, where it had any."""
        found: dict[tuple[Source, str], int] = {}
        for point in self.points:
            if point.measurement and (count := point.measurement.threads):
                whose = point.source, point.cell.implementation
                found[whose] = max(found.get(whose, 0), count)
        return found

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """Return all planned cells, and those measured besides."""
        found: dict[Cell, None] = {}
        for session in self.sessions:
            found.update(dict.fromkeys(planned(session)))
        found.update(dict.fromkeys(point.cell for point in self.points))
        return tuple(found)

    @cached_property
    def series(self) -> Mapping[str, str]:
        """Return the implementation of each series, measured or planned, by its key, in order."""
        found: dict[str, str] = {}
        for session, source in zip(self.sessions, sources_of(self.sessions), strict=True):
            cells = dict.fromkeys((*planned(session), *(each.cell for each in session.records)))
            keys = {series_key(cell, source): cell.implementation for cell in cells}
            found |= dict(sorted(keys.items(), key=lambda pair: place_of(pair[1])))
        return found

    @cached_property
    def newest(self) -> Source | None:
        """Return the source of the session that was begun or opened last; None if unknown."""
        if (at := self.choices.newest) is None or at >= len(self.sessions):
            return None
        return sources_of(self.sessions)[at]

    @cached_property
    def own(self) -> Data:
        """Return the same data without published numbers."""
        return Data(self.sessions, replace(self.choices, published=False))

    @property
    def is_so_far(self) -> bool:
        """Tell whether measurements are still missing."""
        return any(len(s.records) < len(planned(s)) for s in self.sessions)

    def values(self, name: str) -> tuple[Any, ...]:
        """Return a dimension's values in its order; cells without a choice of it do not count."""
        if name not in self._values:
            met = dict.fromkeys(chart_dimensions.of(cell, name) for cell in self.cells)
            found = chart_dimensions.in_order(name, (value for value in met if value is not None))
            self._values[name] = found
        return self._values[name]

    def slice(self, *own: str) -> Slice:
        """Narrow the points to one value of each dimension that is not in `own`."""
        shown = Slice(self, tuple(self.points), (), own)
        for name in ("machines", *chart_dimensions.NAMES):
            if name not in own:
                shown = self.narrowed(shown, name)
        return shown

    def narrowed(self, shown: Slice, name: str) -> Slice:
        """Return a slice with one value of the dimension `name`, where there are several."""
        values = self._offered(shown, name)
        own = tuple(each for each in shown.own if each != name)
        if len(values) < 2:
            return replace(shown, own=own)
        chosen = self.choices.slices.get(name)
        if chosen not in values:
            chosen = self._usual(name, values, shown.points)
        texts = tuple((value, self._in_words(name, value)) for value in values)
        option = Option(name, chart_dimensions.label(name), texts, chosen)
        points = tuple(p for p in shown.points if not is_left_out(p, option))
        return Slice(self, points, (*shown.options, option), own)

    def _offered(self, shown: Slice, name: str) -> tuple[Any, ...]:
        """Return the values that some point still shown has, in the dimension's order."""
        met = {_value_of(point, name) for point in shown.points}
        sources = tuple(dict.fromkeys(source.key for source in self.sources))
        return tuple(v for v in (sources if name == "machines" else self.values(name)) if v in met)

    def _in_words(self, name: str, value: Any) -> str:
        if name == "machines":
            return next(source.name for source in self.sources if source.key == value)
        return chart_dimensions.in_words(name, value)

    def _usual(self, name: str, values: tuple[Any, ...], points: Sequence[Point]) -> Any:
        """Choose the largest size, the implementation that is quickest most often, else the first.

        If the newest session has points here, the choice is among its values.
        """
        newest = [p for p in points if p.source == self.newest]
        if name == "machines":
            return newest[0].source.key if newest else values[0]
        own = newest or [p for p in points if p.source.standing != "published"] or points
        met = {_value_of(p, name) for p in own if p.ms} or {_value_of(p, name) for p in own}
        measured = [value for value in values if value in met] or list(values)
        if name == "implementations":
            return _quickest(own) or measured[-1]
        return measured[-1 if name in MAX_FIRST else 0]


@dataclass(frozen=True, slots=True)
class Slice:
    """The points that one chart shows.

    options  one for each dimension that the chart has no room for
    own      the dimensions that it shows
    """

    data: Data
    points: tuple[Point, ...]
    options: tuple[Option, ...]
    own: tuple[str, ...]

    @property
    def measured(self) -> list[Point]:
        """Return the points with a valid time, except published ones."""
        return [p for p in self.points if p.ms and p.source.standing != "published"]

    @property
    def planned_here(self) -> tuple[Cell, ...]:
        """Return the cells that are planned to be measured here and belong into this chart."""
        data, found = self.data, list[Cell]()
        for session, source in zip(data.sessions, sources_of(data.sessions), strict=True):
            if source.standing == "live":
                found += (
                    cell
                    for cell in planned(session)
                    if all(
                        source.key == each.chosen
                        if each.name == "machines"
                        else chart_dimensions.of(cell, each.name) in (None, each.chosen)
                        for each in self.options
                    )
                )
        return tuple(found)

    @property
    def in_sight(self) -> tuple[Point, ...]:
        """Return the points of series that are not hidden."""
        hidden = self.data.choices.hidden
        return tuple(p for p in self.points if not {p.key, p.source.key} & hidden)


def _quickest(points: Sequence[Point]) -> str | None:
    """Return the implementation that is quickest at more cells than any other."""
    best: dict[tuple[Any, ...], Point] = {}
    for point in points:
        names = (name for name in chart_dimensions.NAMES if name not in HOW)
        place = tuple(_value_of(point, name) for name in names)
        if point.ms and (place not in best or point.ms < best[place].ms):  # type: ignore[operator]
            best[place] = point
    wins = Counter(point.cell.implementation for point in best.values())
    return wins.most_common(1)[0][0] if wins else None


def is_left_out(point: Point, option: Option) -> bool:
    """Tell whether a point has another value than the chosen one."""
    return _value_of(point, option.name) not in (None, option.chosen)


def _value_of(point: Point, name: str) -> Any:
    return point.source.key if name == "machines" else chart_dimensions.of(point.cell, name)
