"""Points of sessions and publications, the slice that a chart has room for, and its legend."""

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
from kernels.engine.auto import AUTO
from kernels.sweeps.plan import PICTURE_KINDS, Cell, Plan
from kernels.sweeps.published import Published, published_for
from kernels.sweeps.record import Machine, Measurement, Record, Session
from workbench.base.numbers import plural
from workbench.charts.data.figure import LOOKS, Choices, LegendLine, Option, SeriesStyle, Standing
from workbench.model import cell_words
from workbench.model.names import cpu_name, implementation_title, kind_of, place_of

HOW = ("implementations", "caches", "devices", "blocks")  # something is done, not what
WHAT = tuple(name for name in cell_words.NAMES if name not in HOW)
MAX_FIRST = ("sizes", "counts")  # dimensions whose largest value is the default


class Spread(NamedTuple):
    """A median with its quartiles."""

    middle: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Source:
    """A machine in a session, or a publication."""

    key: str  # the same for the same machine in another sweep
    standing: Standing
    gpu: str
    cpu: str
    machine: Machine | None = field(default=None, compare=False)
    publication: str = ""  # the place of published numbers, with its table and a note
    table: str = ""
    note: str = ""
    origin: str = ""  # as in Session
    which: str = ""  # among other sessions of the same machine, where there are any

    @property
    def is_published(self) -> bool:
        """True for a publication rather than a session."""
        return self.standing == "published"

    @property
    def name(self) -> str:
        """The name of the machine: its GPU or else its CPU, and where it is from."""
        said = ", ".join(filter(None, (self.origin, self.which)))
        return f"{self.gpu or cpu_name(self.cpu)}{f' ({said})' if said else ''}"


@dataclass(frozen=True, slots=True)
class Point:
    """A cell that a source measured, with its time or the reason why it has none."""

    cell: Cell
    source: Source
    ms: Spread | None  # None: there is no valid time
    measurement: Measurement | None = None  # None: refused, or published
    objection: str | None = None  # the reason why there is no `ms`

    @property
    def key(self) -> str:
        """The key of the series that the point belongs to."""
        if self.is_published:
            return f"{self.source.key} {self.cell.implementation}"
        return series_key(self.cell, self.source)

    @property
    def published_name(self) -> str:
        """The implementation that was published; who published it, where it is none of ours."""
        is_ours = self.cell.implementation != AUTO.key  # beside which others stand, as the best
        by = self.source.gpu.partition(", ")[2]
        return implementation_title(self.cell.implementation) if is_ours else by

    @property
    def is_published(self) -> bool:
        return self.source.is_published

    @property
    def median_ms(self) -> float:
        """The time of a point that has one."""
        assert self.ms is not None
        return self.ms.middle

    @property
    def is_wrong(self) -> bool:
        """True if it ran, but its output is not known to be right."""
        return self.ms is None and self.measurement is not None

    @property
    def on_gpu(self) -> bool:
        return kind_of(self.cell.implementation) == "cuda"

    @property
    def target(self) -> Cell | None:
        """The cell that a click leads to; of a publication there is nothing to load."""
        return None if self.is_published else self.cell

    def value(self, name: str) -> Any:
        """Its value of a dimension, or its machine's key."""
        return self.source.key if name == "machines" else cell_words.of(self.cell, name)

    def is_left_out(self, option: Option) -> bool:
        """True if it has another value than the chosen one."""
        return self.value(option.name) not in (None, option.chosen)


def series_key(cell: Cell, source: Source) -> str:
    """The key of the series of a cell that was, or will be, measured by `source`."""
    warm = " warm" if cell.cache == "warm" else ""
    return f"{cell.implementation}{warm} @ {source.key}"


def timed(points: Iterable[Point]) -> list[Point]:
    return [point for point in points if point.ms]


def planned(session: Session) -> tuple[Cell, ...]:
    """All cells of a session's plan, measured or not; none of an implementation that is gone."""
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
    """Median and quartiles in ms, cached, since charts are drawn again and again."""
    low, middle, high = np.percentile(timing.samples_ms, (25, 50, 75))
    return Spread(float(middle), float(low), float(high))


def sources_of(sessions: Sequence[Session]) -> list[Source]:
    """The source of each session, in order; those of one machine are told apart by plan or time."""
    met: Counter[str] = Counter()
    named = [(s.machine.name, s.origin, s.plan.title.rpartition(": ")[2]) for s in sessions]
    homes, found = Counter(name[:2] for name in named), []
    for session, name in zip(sessions, named, strict=True):
        standing: Standing = "recorded" if session.is_recorded else "live"
        machine, key = session.machine, f"{standing} {session.machine.name}"
        met[key] += 1
        key += f" {met[key]}" if met[key] > 1 else ""
        which = name[2] if homes[name[:2]] > 1 else ""
        if named.count(name) > 1:
            which = f"{datetime.fromtimestamp(session.started):%Y-%m-%d %H:%M:%S}"
        whose = key, standing, machine.gpu, machine.cpu, machine
        found.append(Source(*whose, origin=session.origin, which=which))
    return found


def _point(record: Record, source: Source) -> Point:
    measurement = None if isinstance(record.outcome, str) else record.outcome
    ms = spread(record.verified.kernel) if record.verified else None
    return Point(record.cell, source, ms, measurement, record.objection)


@lru_cache(maxsize=64)
def published(plan: Plan) -> tuple[Published, ...]:
    try:
        return published_for(plan)
    except KernelError:  # it names an implementation that this program does not have
        return ()


@lru_cache(maxsize=4096)
def _published_point(each: Published) -> Point:
    name, about = f"{each.gpu}, {each.by}", (each.source, each.table, each.note)
    whose = Source(f"published {name}", "published", name, name, None, *about)
    return Point(each.cell, whose, Spread(*[each.milliseconds] * 3))


class Data:
    """All points of some sessions, and the values that each dimension has."""

    def __init__(self, sessions: Sequence[Session], choices: Choices | None = None) -> None:
        self.choices = choices or Choices()
        self.sessions = sessions
        self.of_sessions = sources_of(sessions)
        pairs = zip(sessions, self.of_sessions, strict=True)
        self.points = [_point(each, source) for own, source in pairs for each in own.records]
        found = dict.fromkeys(each for session in sessions for each in published(session.plan))
        self.has_published = bool(found)
        shows = self.choices.published
        if shows is None:
            shows = any(each.cell.implementation == AUTO.key for each in found)
        self.shows_published = shows
        if shows:
            self.points += map(_published_point, found)

    @cached_property
    def sources(self) -> tuple[Source, ...]:
        return tuple(dict.fromkeys(point.source for point in self.points))

    @cached_property
    def own_sources(self) -> tuple[Source, ...]:
        """The sources other than publications: measured or opened here."""
        return tuple(each for each in self.sources if not each.is_published)

    def letter(self, source: Source) -> str:
        """The letter of a session, A to Z in order; "" where there is only one session."""
        letters = dict(zip(self.own_sources, ascii_uppercase, strict=False))
        return letters.get(source, "") if len(self.own_sources) > 1 else ""

    @cached_property
    def threads(self) -> Mapping[tuple[Source, str], int]:
        """The most threads that a source's implementation had, where it had any."""
        found: Counter[tuple[Source, str]] = Counter()
        for point in self.points:
            if point.measurement and (count := point.measurement.threads):
                whose = point.source, point.cell.implementation
                found[whose] = max(found[whose], count)
        return found

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """All planned cells, and those measured besides."""
        found = dict.fromkeys(cell for session in self.sessions for cell in planned(session))
        return tuple(found | dict.fromkeys(point.cell for point in self.points))

    @cached_property
    def series(self) -> Mapping[str, str]:
        """The implementation of each series, measured or planned, by its key, in order."""
        found: dict[str, str] = {}
        for session, source in zip(self.sessions, self.of_sessions, strict=True):
            cells = dict.fromkeys((*planned(session), *(each.cell for each in session.records)))
            keys = {series_key(cell, source): cell.implementation for cell in cells}
            found |= dict(sorted(keys.items(), key=lambda pair: place_of(pair[1])))
        return found

    @cached_property
    def looks(self) -> Mapping[str, int]:
        """A look for each series; of more than LOOKS, those of an implementation share one."""
        if len(self.series) <= LOOKS:
            return {key: number for number, key in enumerate(self.series)}
        names = sorted(set(self.series.values()), key=lambda name: (place_of(name), name))
        return {key: names.index(name) for key, name in self.series.items()}

    def look_of(self, point: Point) -> int:
        """The look of a point's series; a published one has that of its implementation."""
        name = point.cell.implementation
        same = (look for key, look in self.looks.items() if self.series[key] == name)
        return self.looks.get(point.key, next(same, place_of(name)))

    @cached_property
    def _values(self) -> dict[str, tuple[Any, ...]]:
        found = {}
        for name in cell_words.NAMES:
            met = dict.fromkeys(cell_words.of(cell, name) for cell in self.cells)
            found[name] = cell_words.in_order(name, [v for v in met if v is not None])
        return found

    def values(self, name: str) -> tuple[Any, ...]:
        """A dimension's values in its order; cells without a choice of it do not count."""
        return self._values[name]

    def slice(self, *own: str) -> Slice:
        """Narrow the points to one value of each dimension that is not in `own`."""
        shown = Slice(self, tuple(self.points), (), own)
        for name in ("lists", "machines", *cell_words.NAMES):
            if name not in own:
                shown = shown.narrowed(name)
        return shown


@dataclass(frozen=True, slots=True)
class Slice:
    """The points that one chart shows."""

    data: Data
    points: tuple[Point, ...]
    options: tuple[Option, ...]  # one for each dimension that the chart has no room for
    own: tuple[str, ...]  # the dimensions that it shows

    def of(self, points: Iterable[Point]) -> Slice:
        """The same slice with some points alone."""
        return replace(self, points=tuple(points))

    @property
    def measured(self) -> list[Point]:
        """The points with a valid time, except published ones."""
        return [p for p in self.points if p.ms and not p.is_published]

    @property
    def in_sight(self) -> tuple[Point, ...]:
        hidden = self.data.choices.hidden
        return tuple(p for p in self.points if not {p.key, p.source.key} & hidden)

    def narrowed(self, name: str) -> Slice:
        """Leave one value of the dimension `name`, where there are several."""
        data, met = self.data, {point.value(name) for point in self.points}
        texts = {source.key: source.name for source in data.sources}
        if name != "machines":
            texts = {v: cell_words.in_words(name, v) for v in data.values(name)}
        texts = {value: text for value, text in texts.items() if value in met}
        own = tuple(each for each in self.own if each != name)
        if len(texts) < 2:
            return replace(self, own=own)
        chosen = data.choices.slices.get(name)
        if chosen not in texts:
            chosen = self._usual(name, list(texts))
        option = Option(name, cell_words.label(name), tuple(texts.items()), chosen)
        points = tuple(p for p in self.points if not p.is_left_out(option))
        return Slice(data, points, (*self.options, option), own)

    def _usual(self, name: str, values: list[Any]) -> Any:
        """The largest size, the implementation that is quickest most often, else the first."""
        at, sources = self.data.choices.newest, self.data.of_sessions
        newest = sources[at] if at is not None and at < len(sources) else None
        own = [p for p in self.points if p.source == newest]
        if name == "machines":
            return own[0].source.key if own else values[0]
        own = own or [p for p in self.points if not p.is_published] or [*self.points]
        met = {p.value(name) for p in timed(own) or own}
        if name == "lists" and "" in values and {"filters", "ksizes"} & {*self.own}:
            return ""  # which a list has none of
        if name == "implementations" and (quickest := _quickest(own)):
            return quickest
        measured = [value for value in values if value in met] or values
        return measured[-1 if name in (*MAX_FIRST, "implementations") else 0]


def _quickest(points: Iterable[Point]) -> str | None:
    best: dict[tuple[Any, ...], str] = {}
    for point in sorted(timed(points), key=lambda point: -point.median_ms):
        best[tuple(map(point.value, WHAT))] = point.cell.implementation  # the quickest is the last
    wins = Counter(best.values())
    return max(wins, key=lambda name: wins[name]) if wins else None


# -- the legend

PUBLISHED = "Published"
PUBLISHED_MARKERS = (3, 2, 1, 0)  # of publications over bars, whose places tell implementations
STANDINGS = ("live", "recorded", "published")  # in the legend's order
Entries = Mapping[str, LegendLine]


def entries_of(shown: Slice) -> Entries:
    """The legend by key: the series of each session, then a line for each publication."""
    data = shown.data
    first: dict[str, Point] = {}
    for point in shown.points:
        first.setdefault(legend_key(point), point)

    def rank(point: Point) -> tuple[int, int, int]:
        source, key = point.source, point.cell.implementation
        return STANDINGS.index(source.standing), data.sources.index(source), place_of(key)

    found = {}
    for point in sorted(first.values(), key=rank):
        key, style, label = legend_key(point), style_of(point, data), series_label(point, data)
        if point.is_published:  # its lines have their implementations' markers
            style = replace(style, marker=PUBLISHED_MARKERS[style.session % 4], dash="solid")
        name, group = label, ""
        if len(data.own_sources) > 1:
            name, letter = series_name(point, data), data.letter(point.source)
            group = f"{letter}: {point.source.name}" if letter else PUBLISHED
        marks = key in data.choices.hidden, key in data.choices.pinned
        found[key] = LegendLine(key, name, group, label, style, *marks)
    return found


def legend_key(point: Point) -> str:
    """The key of a point's line in the legend: its series', or its publication's."""
    return point.source.key if point.is_published else point.key


def style_of(point: Point, data: Data) -> SeriesStyle:
    """The style of a series, unlike those of other sessions and publications."""
    source, pinned = point.source, data.choices.pinned
    if point.is_published:
        number = alike = [each for each in data.sources if each.is_published].index(source)
    else:
        number = data.own_sources.index(source)
        alike = sum(each.standing == source.standing for each in data.own_sources[:number])
    style = replace(
        _style(data.look_of(point), point.cell.implementation),
        standing=source.standing,
        session=number,
        is_half=alike % 2 == 1,
        is_faint=source.standing == "recorded"
        and any(each.standing == "live" for each in data.own_sources),
        is_pale=bool(pinned) and legend_key(point) not in pinned,
    )
    return replace(style, dash="dot") if point.cell.cache == "warm" else style


def style_of_implementation(key: str) -> SeriesStyle:
    """The style of an implementation that stands beside any others."""
    return _style(place_of(key), key)


def _style(look: int, implementation: str) -> SeriesStyle:
    # Of up to LOOKS² of them no two have both colour and marker in common.
    color, marker = look % LOOKS, (look + look // LOOKS) % LOOKS
    return SeriesStyle(color, marker, dash="dash" if kind_of(implementation) == "cpu" else "solid")


# -- names


def series_label(point: Point, data: Data) -> str:
    """The full name: "Shared-memory tile, warm L2 · NVIDIA H200 (recorded)"."""
    name = series_name(point, data)
    if point.is_published:
        return f"{PUBLISHED}: {name}"
    return f"{name} · {point.source.name}" if len(data.own_sources) > 1 else name


def series_name(point: Point, data: Data) -> str:
    """The name without the machine: "OpenCV (8 threads)"."""
    if point.is_published:
        return point.source.name
    name = with_threads(point, data)
    if point.cell.cache is not None and len(data.values("caches")) > 1:
        name += f", {point.cell.cache} L2"
    return name


def with_threads(point: Point, data: Data) -> str:
    """An implementation's title, and on the CPU its number of threads."""
    title = implementation_title(point.cell.implementation)
    threads = data.threads.get((point.source, point.cell.implementation), 0)
    if point.on_gpu or not threads:
        return title
    return f"{title} ({plural(threads, 'thread')})"


def end_name(point: Point, data: Data) -> str:
    """The name at the end of a line, as short as it may be: "B · OpenCV (8 threads)"."""
    if point.is_published:
        device = point.source.gpu.replace("GeForce ", "").partition(",")[0].partition(" (")[0]
        return f"{point.published_name}, {device}"
    name, letter = series_name(point, data), data.letter(point.source)
    return f"{letter} · {name}" if letter else name
