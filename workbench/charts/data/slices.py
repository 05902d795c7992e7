"""All points of some sessions, and the slice of them that one chart has room for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from string import ascii_uppercase
from typing import Any

from kernels.sweeps.cell import Cell
from kernels.sweeps.record import Session
from workbench.charts.data import chart_dimensions
from workbench.charts.data.figure import Choices, Option
from workbench.charts.data.points import (
    Point,
    Source,
    measured_points,
    planned,
    published,
    published_points,
    series_key,
    sources_of,
)
from workbench.model.names import place_of

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
        """Return whether measurements are still missing."""
        return any(len(s.records) < len(planned(s)) for s in self.sessions)

    def values(self, name: str) -> tuple[Any, ...]:
        """Return a dimension's values in its order; cells without a choice of it do not count."""
        if name not in self._values:
            met = dict.fromkeys(chart_dimensions.of(cell, name) for cell in self.cells)
            found = chart_dimensions.in_order(name, (value for value in met if value is not None))
            self._values[name] = found
        return self._values[name]

    def slice(self, *own: str) -> Slice:
        """Return what a chart of the dimensions `own` shows: one value of each other dimension."""
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
        met = {_of(point, name) for point in shown.points}
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
        met = {_of(p, name) for p in own if p.ms} or {_of(p, name) for p in own}
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
        place = tuple(_of(point, name) for name in names)
        if point.ms and (place not in best or point.ms < best[place].ms):  # type: ignore[operator]
            best[place] = point
    wins = Counter(point.cell.implementation for point in best.values())
    return wins.most_common(1)[0][0] if wins else None


def is_left_out(point: Point, option: Option) -> bool:
    """Return whether a point has another value than the chosen one."""
    return _of(point, option.name) not in (None, option.chosen)


def _of(point: Point, name: str) -> Any:
    return point.source.key if name == "machines" else chart_dimensions.of(point.cell, name)
