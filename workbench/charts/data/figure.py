"""What a chart shows, as plain data: no Qt, no pixels, no colours; whoever draws it adds those."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Standing = Literal["live", "recorded", "published"]


@dataclass(frozen=True, slots=True)
class Choices:
    """What may be chosen for a chart; by default what suits the data.

    baseline   key of the implementation that speed-ups are against
    slices     dimension -> the one value of it that is shown, where a chart has no room for more
    hidden     keys of series that are left out
    pinned     keys of series that are drawn on top and the others paler
    published  show what was published, too
    is_log     whether the axis of values is logarithmic
    newest     which of the sessions was begun or opened last: where a chart has room for one value
               of a dimension, it is one of that session's
    """

    baseline: str | None = None
    slices: Mapping[str, Any] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()
    pinned: frozenset[str] = frozenset()
    published: bool = True
    is_log: bool | None = None
    newest: int | None = None


@dataclass(frozen=True, slots=True)
class SeriesStyle:
    """How a series is told from others: by colour, marker and dash, never by one alone.

    color     number of its colour: an implementation has the same everywhere
    marker    number of its marker: the same everywhere, and another than that of all who share its
              colour; None: a publication, whose implementations have their own
    standing  recorded ones are hollow, published ones are grey
    dash      CPU "dash", GPU "solid", from a warm L2 "dot"
    session   which of several sessions, or of several publications: so many dots in its line
    is_half   its marker is half filled, to tell it from the session before of the same standing
    is_faint  recorded, beside what is measured here and now
    is_pale   something else is pinned
    """

    color: int
    marker: int | None
    standing: Standing = "live"
    dash: Literal["solid", "dash", "dot"] = "solid"
    session: int = 0
    is_half: bool = False
    is_faint: bool = False
    is_pale: bool = False


@dataclass(frozen=True, slots=True)
class LegendLine:
    """A line of the legend.

    label  implementation and threads, or what was published; of several machines, which
    name   the same without what `group` says
    group  the machine, where there are several
    """

    key: str
    name: str
    group: str
    label: str
    style: SeriesStyle
    is_hidden: bool = False
    is_pinned: bool = False


@dataclass(frozen=True, slots=True)
class Axis:
    """How an axis is labelled and scaled.

    words  writes a value with its unit
    ticks  (value, text) where only these say something; empty: round numbers
    ends   what has to be in sight, whatever is drawn
    """

    label: str
    words: Callable[[float], str]
    is_log: bool = False
    ticks: tuple[tuple[float, str], ...] = ()
    ends: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Dot:
    """A median with its quartiles.

    text      what it says to whoever points at it
    cell      what a click asks for, such as a Cell of a sweep; None: it leads nowhere
    is_wrong  it has a place along x, but is no value: y does not count
    """

    x: float
    y: float
    low: float
    high: float
    text: str
    cell: Any = None
    is_wrong: bool = False


@dataclass(frozen=True, slots=True)
class Series:
    """Dots of one style, joined by a line in their order, or not."""

    entry: LegendLine
    dots: tuple[Dot, ...]
    joined: bool = True


@dataclass(frozen=True, slots=True)
class Guide:
    """A line that nobody measured at a point: where a speed-up is 1, a ceiling of the roofline.

    is_at_start  its label is beside its first point, rather than over its last
    """

    points: tuple[tuple[float, float], ...]
    label: str = ""
    is_at_start: bool = False


@dataclass(frozen=True, slots=True)
class Plot:
    """Dots over two axes."""

    x: Axis
    y: Axis
    series: tuple[Series, ...]
    guides: tuple[Guide, ...] = ()


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar, with its quartiles as a whisker.

    value    None: there is no value, and `words` says why
    cell     what a click asks for; None: it leads nowhere
    is_best  it belongs to those equal to the best
    is_part  drawn paler: it says the same as the bar before, and what comes with it, or is not
             known to be right
    slot     which of the places side by side it takes, in every group the same
    """

    entry: LegendLine
    value: float | None
    low: float
    high: float
    words: str
    text: str
    cell: Any = None
    is_best: bool = False
    is_part: bool = False
    slot: int = 0


@dataclass(frozen=True, slots=True)
class Group:
    """Bars that stand together over one label."""

    label: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Bars:
    """Bars in groups along one axis.

    is_upright    from a base line upwards, for short labels; else from left to right
    names_beside  level bars have their names beside them even in a narrow plot
    """

    axis: Axis
    groups: tuple[Group, ...]
    is_upright: bool = False
    names_beside: bool = False


@dataclass(frozen=True, slots=True)
class Tile:
    """One cell of a grid.

    value       what colours it; None: no colour
    words       what stands in it, the most important line first
    cell        what a click asks for; None: it leads nowhere
    is_best     outlined: it belongs to those equal to the best
    verdict     "good" and "bad" answers, "missing" ones, what was "refused"; "" where the value is
                what matters
    is_pale     its value is not known to be right
    is_current  it is what the window filters with now
    """

    column: int
    row: int
    value: float | None
    words: tuple[str, ...]
    text: str
    cell: Any = None
    is_best: bool = False
    verdict: Literal["", "good", "bad", "missing", "refused"] = ""
    is_pale: bool = False
    is_current: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """A heat map, or a table.

    scale  of the colours; None: verdicts are what colours it
    more_is_better  whether large values are the light ones
    """

    columns: tuple[str, ...]
    rows: tuple[str, ...]
    column_label: str
    row_label: str
    tiles: tuple[Tile, ...]
    scale: Axis | None = None
    more_is_better: bool = False


@dataclass(frozen=True, slots=True)
class Option:
    """Something to choose among: a slice's dimension, or what speed-ups are against.

    name     "baseline", or the dimension
    values   (value, text)
    """

    name: str
    label: str
    values: tuple[tuple[Any, str], ...]
    chosen: Any


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart with all its words.

    kind      key of the chart's kind
    subtitle  what is held fixed, and on which machines
    sentence  what it shows, computed from the data
    notes     what is not in it and why, and whose numbers the grey ones are
    body      None: there is nothing to draw yet
    entries   the legend, with those that are hidden
    summary   all of it in words, for a screen reader
    """

    kind: str
    title: str
    subtitle: str
    sentence: str
    notes: tuple[str, ...]
    body: Plot | Bars | Grid | None
    entries: tuple[LegendLine, ...] = ()
    options: tuple[Option, ...] = ()
    has_published: bool = False

    @property
    def summary(self) -> str:
        shown = ", ".join(each.label for each in self.entries if not each.is_hidden)
        parts = (f"{self.title}.", self.sentence, shown and f"Shown: {shown}.", *self.notes)
        return " ".join(part for part in parts if part)

    @property
    def is_empty(self) -> bool:
        match self.body:
            case Plot(series=series):
                return not any(each.dots for each in series)
            case Bars(groups=groups):
                return not groups
            case Grid(tiles=tiles):
                return not tiles
        return True
