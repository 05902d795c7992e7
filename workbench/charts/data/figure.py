"""A chart as plain data, without Qt, pixels or colours: whatever draws it adds those."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Standing = Literal["live", "recorded", "published"]
Sample = Literal["line", "marker", "bar"]
Verdict = Literal["", "good", "bad", "missing", "refused"]  # "" where the value matters

MAX_NAMED = 12  # series whose names stand at their lines' ends, and need no legend
LOOKS = 9  # as many colours and as many markers: a chart of so many series repeats neither


@dataclass(frozen=True, slots=True)
class Choices:
    """The choices of the user for a chart; the defaults leave them to the data."""

    baseline: str | None = None  # key of the implementation that speed-ups are against
    slices: Mapping[str, Any] = field(default_factory=dict)  # the one value of a dimension shown
    hidden: frozenset[str] = frozenset()  # keys of series that are left out
    pinned: frozenset[str] = frozenset()  # keys of series drawn on top, with the others paler
    published: bool | None = None  # None: where programs of others stand beside auto
    is_log: bool | None = None  # the axis of values; None: where they are far apart
    newest: int | None = None  # index of the session begun or opened last, whose values go first


@dataclass(frozen=True, slots=True)
class SeriesStyle:
    """The look of a series: colour, marker and dash each help to tell it apart."""

    color: int
    marker: int | None  # None: a plain bar
    standing: Standing = "live"  # recorded ones are hollow, published ones are grey
    dash: Literal["solid", "dash", "dot"] = "solid"  # CPU "dash", GPU "solid", a warm L2 "dot"
    session: int = 0  # the number of dots in its line; every other publication is of a darker grey
    is_half: bool = False  # its marker is half filled, unlike the previous session's
    is_faint: bool = False  # recorded, beside live measurements
    is_pale: bool = False  # another series is pinned


@dataclass(frozen=True, slots=True)
class LegendLine:
    key: str
    name: str  # the label without what `group` says
    group: str  # the machine, where there are several
    label: str  # implementation and threads, or publication; with several machines, also which
    style: SeriesStyle
    is_hidden: bool = False
    is_pinned: bool = False
    sample: Sample = "line"


@dataclass(frozen=True, slots=True)
class Axis:
    """The label and the scale of an axis."""

    label: str
    words: Callable[[float], str]  # writes a value with its unit
    is_log: bool = False
    ticks: tuple[tuple[float, str], ...] = ()  # (value, text) of the only ones; or round numbers
    ends: tuple[float, float] | None = None  # values that must be in sight
    turns: bool = False  # ticks are written upwards where they do not fit side by side

    def place(self, value: float) -> float:
        """The place of a value: its log₁₀ on a logarithmic axis."""
        return math.log10(value) if self.is_log else value


@dataclass(frozen=True, slots=True)
class Dot:
    """A median with its quartiles."""

    x: float
    y: float
    low: float
    high: float
    text: str  # shown when the pointer is on it
    cell: Any = None  # picked by a click, such as a Cell of a sweep; None: it leads nowhere
    is_wrong: bool = False  # it has a place along x, but no value: y does not count
    is_best: bool = False  # among those equal to the best


@dataclass(frozen=True, slots=True)
class Series:
    """Dots of one style, joined by a line in their order, or not."""

    entry: LegendLine
    dots: tuple[Dot, ...]
    joined: bool = True
    name: str = ""  # at the line's end


@dataclass(frozen=True, slots=True)
class Guide:
    """A line that is no measurement: the speed-up of 1, or a ceiling of the roofline."""

    points: tuple[tuple[float, float], ...]
    label: str = ""
    is_at_start: bool = False  # the label is beside its first point rather than over its last


@dataclass(frozen=True, slots=True)
class Plot:
    """Dots over two axes."""

    x: Axis
    y: Axis
    series: tuple[Series, ...]
    guides: tuple[Guide, ...] = ()


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar, with its quartiles as a whisker."""

    entry: LegendLine
    value: float | None  # None: there is no value, and `words` says why
    low: float
    high: float
    words: str
    text: str  # shown when the pointer is on it
    cell: Any = None  # picked by a click; None: it leads nowhere
    is_best: bool = False  # among those equal to the best
    is_part: bool = False  # paler: with transfers, or an output not known to be right
    pieces: tuple[tuple[str, float], ...] = ()  # (name, value), end to end; `value` is an outline

    @property
    def end(self) -> float:
        """The right end of all that is drawn of it."""
        return max(self.high, sum(value for _, value in self.pieces))


@dataclass(frozen=True, slots=True)
class Group:
    """Bars that stand together over one label."""

    label: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Bars:
    """Bars in groups, from left to right; on a logarithmic axis markers, as it has no zero."""

    axis: Axis
    groups: tuple[Group, ...]
    names_beside: bool = False  # names stand beside their bars even in a narrow plot

    @property
    def bars(self) -> list[Bar]:
        return [bar for group in self.groups for bar in group.bars]


@dataclass(frozen=True, slots=True)
class Tile:
    """One cell of a grid."""

    column: int
    row: int
    value: float | None  # behind its colour; None: no colour
    words: tuple[str, ...]  # its lines, the most important one first
    text: str  # shown when the pointer is on it
    cell: Any = None  # picked by a click; None: it leads nowhere
    is_best: bool = False  # outlined: among those equal to the best
    verdict: Verdict = ""
    is_pale: bool = False  # its value is not known to be right
    is_current: bool = False  # the window filters with it now


@dataclass(frozen=True, slots=True)
class Grid:
    """A heat map or a table."""

    columns: tuple[str, ...]
    rows: tuple[str, ...]
    column_label: str
    row_label: str
    tiles: tuple[Tile, ...]
    scale: Axis | None = None  # of the colours; None: verdicts decide them
    more_is_better: bool = False  # large values are the light ones


Body = Plot | Bars | Grid


@dataclass(frozen=True, slots=True)
class Option:
    """Something to choose: the value of a dimension, or the baseline of speed-ups."""

    name: str  # "baseline", or the dimension
    label: str
    values: tuple[tuple[Any, str], ...]  # with their texts
    chosen: Any


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart with all its words."""

    kind: str  # key of the chart's kind
    title: str
    subtitle: str  # all that is held fixed, and the machines
    sentence: str  # what it shows, computed from the data
    notes: tuple[str, ...]  # all that is not in it and why, and the source of grey numbers
    body: Body | None  # None: there is nothing to draw yet
    entries: tuple[LegendLine, ...] = ()  # the legend, with those that are hidden
    options: tuple[Option, ...] = ()
    has_published: bool = False
    shows_published: bool = False

    @property
    def summary(self) -> str:
        """The whole chart in words, for a screen reader."""
        shown = ", ".join(each.label for each in self.entries if not each.is_hidden)
        parts = (f"{self.title}.", self.sentence, shown and f"Shown: {shown}.", *self.notes)
        return " ".join(part for part in parts if part)

    @property
    def is_named(self) -> bool:
        """True if each line has its name at its end."""
        return isinstance(self.body, Plot) and all(each.name for each in self.body.series)

    @property
    def needs_legend(self) -> bool:
        """True if series need a legend: not where each bar has its name beside it."""
        match self.body:
            case Grid():
                return False
            case Bars(groups=groups):
                return any(len({bar.entry.key for bar in group.bars}) > 1 for group in groups)
        return True

    @property
    def legend(self) -> tuple[LegendLine, ...]:
        """The entries that are to be seen: of named lines only those that were published."""
        shown = tuple(each for each in self.entries if not each.is_hidden)
        if not self.needs_legend:
            return ()
        if self.is_named and not any(each.group for each in shown) and len(shown) <= MAX_NAMED:
            return tuple(each for each in shown if each.style.standing == "published")
        return shown

    @property
    def is_empty(self) -> bool:
        match self.body:
            case Plot(series=series):
                return not any(each.dots for each in series)
            case Bars(groups=found) | Grid(tiles=found):
                return not found
        return True


class Spot(NamedTuple):
    """A place in the plot's coordinates that can be pointed at."""

    x: float
    y: float
    words: str | Callable[[], str]
    cell: Any = None  # picked by a click or Enter; None: it leads nowhere
    box: tuple[float, float, float, float] | None = None  # left, low, right, high; None: a mark

    @property
    def text(self) -> str:
        return self.words if isinstance(self.words, str) else self.words()


class Drawn(NamedTuple):
    """The result of drawing a figure."""

    spots: list[Spot]
    x: tuple[float, float]  # the ranges that the plot shows
    y: tuple[float, float]
    can_zoom: bool = False  # zooming in makes sense
