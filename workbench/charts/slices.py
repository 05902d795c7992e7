"""All points of some sessions, and the slice of them that one chart has room for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from kernels.sweeps.cell import Cell
from kernels.sweeps.record import Session
from workbench.charts import dimensions
from workbench.charts.figure import Choices, Option
from workbench.charts.points import (
    Point,
    Source,
    measured_points,
    planned,
    published,
    published_points,
)

LARGEST_FIRST = ("sizes", "counts")  # of these the largest is the one to look at


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


def _of(point: Point, name: str) -> Any:
    return point.source.key if name == "machines" else dimensions.of(point.cell, name)
