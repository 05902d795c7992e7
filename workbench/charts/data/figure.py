"""A chart as plain data, without Qt, pixels or colours: whatever draws it adds those."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Standing = Literal["live", "recorded", "published"]
Sample = Literal["line", "marker", "bar"]

MAX_NAMED = 12  # series whose names stand at their lines' ends, and need no legend
LOOKS = 9  # as many colours and as many markers: a chart of so many series repeats neither


@dataclass(frozen=True, slots=True)
class Choices:
    """The choices of the user for a chart; the defaults leave them to the data.

    baseline   key of the implementation that speed-ups are against
    slices     dimension -> the one value of it that is shown, where a chart has no room for more
    hidden     keys of series that are left out
    pinned     keys of series that are drawn on top, with the others paler
    published  whether published numbers are shown, too: only where asked for
    is_log     whether the axis of values is logarithmic; None: where they are far apart
    newest     index of the session that was begun or opened last: where a chart has room for one
               value of a dimension, it is one of that session's
    """

    baseline: str | None = None
    slices: Mapping[str, Any] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()
    pinned: frozenset[str] = frozenset()
    published: bool = False
    is_log: bool | None = None
    newest: int | None = None


@dataclass(frozen=True, slots=True)
class SeriesStyle:
    """The look of a series: colour, marker and dash each help to tell it apart.

    color     number of its colour
    marker    number of its marker; None: a plain bar
    standing  recorded ones are hollow, published ones are grey
    dash      CPU "dash", GPU "solid", with a warm L2 "dot"
    session   which of several sessions, or of several publications: so many dots in its line, and
              every other publication is of a darker grey
    is_half   its marker is half filled, unlike that of the previous session of the same standing
    is_faint  recorded, beside live measurements
    is_pale   another series is pinned
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

    label  implementation and threads, or what was published; with several machines, also which
    name   the same without what `group` says
    group  the machine, where there are several
    sample what the chart has of it, which the legend draws
    markers  of a publication whose implementations have several; empty: the one of `style`
    """

    key: str
    name: str
    group: str
    label: str
    style: SeriesStyle
    is_hidden: bool = False
    is_pinned: bool = False
    sample: Sample = "line"
    markers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Axis:
    """The label and the scale of an axis.

    words  writes a value with its unit
    ticks  (value, text) of the only ticks; empty: round numbers
    ends   values that must be in sight, whatever is drawn
    """

    label: str
    words: Callable[[float], str]
    is_log: bool = False
    ticks: tuple[tuple[float, str], ...] = ()
    ends: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Dot:
    """A median with its quartiles.

    text      shown when the pointer is on it
    cell      picked by a click, such as a Cell of a sweep; None: it leads nowhere
    is_wrong  it has a place along x, but no value: y does not count
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
    """Dots of one style, joined by a line in their order, or not.

    name  stands at the line's end
    """

    entry: LegendLine
    dots: tuple[Dot, ...]
    joined: bool = True
    name: str = ""

    @property
    def has_line(self) -> bool:
        """Tell whether there are two points to join."""
        return self.joined and sum(not dot.is_wrong for dot in self.dots) > 1


@dataclass(frozen=True, slots=True)
class Guide:
    """A line that is no measurement: the speed-up of 1, or a ceiling of the roofline.

    is_at_start  its label is beside its first point rather than over its last
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
    cell     picked by a click; None: it leads nowhere
    is_best  it is among those equal to the best
    is_part  drawn paler: the kernel again with its transfers, or an answer not known to be right
    slot     which of the places side by side it takes, the same in every group
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

    def has_box(self, bar: Bar) -> bool:
        """Tell whether a value is drawn as a box from zero.

        Where there is no zero, on a logarithmic axis, and for published values over what was
        measured, there is a marker alone.
        """
        is_over = self.is_upright and bar.entry.style.standing == "published"
        return not (self.axis.is_log or is_over)


@dataclass(frozen=True, slots=True)
class Tile:
    """One cell of a grid.

    value       the number behind its colour; None: no colour
    words       the lines in it, the most important one first
    cell        picked by a click; None: it leads nowhere
    is_best     outlined: it is among those equal to the best
    verdict     "good" and "bad" answers, "missing" ones, and "refused" cells; "" where the value is
                what matters
    is_pale     its value is not known to be right
    is_current  the window filters with it now
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
    """A heat map or a table.

    scale           of the colours; None: verdicts decide them
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
    """Something to choose: the value of a dimension, or the baseline of speed-ups.

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
    whose     which letter is which session; "" where there is only one
    grey      whose the grey numbers are; "" where there are none
    is_recorded  none of it was measured here; published numbers aside
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
    whose: str = ""
    grey: str = ""
    is_recorded: bool = False

    @property
    def summary(self) -> str:
        """Return the whole chart in words, for a screen reader."""
        shown = ", ".join(each.label for each in self.entries if not each.is_hidden)
        parts = (f"{self.title}.", self.sentence, shown and f"Shown: {shown}.", *self.notes)
        return " ".join(part for part in parts if part)

    @property
    def is_named(self) -> bool:
        """Tell whether each line has its name at its end."""
        return isinstance(self.body, Plot) and all(each.name for each in self.body.series)

    @property
    def needs_legend(self) -> bool:
        """Tell whether series need a legend: not where each bar has its name beside it."""
        match self.body:
            case Grid():
                return False
            case Bars(is_upright=False, groups=groups):
                return any(len({bar.entry.key for bar in group.bars}) > 1 for group in groups)
        return True

    @property
    def legend(self) -> tuple[LegendLine, ...]:
        """Return the entries that are to be seen: of named lines only those that were published."""
        shown = tuple(each for each in self.entries if not each.is_hidden)
        if not self.needs_legend:
            return ()
        if self.is_named and not any(each.group for each in shown) and len(shown) <= MAX_NAMED:
            return tuple(each for each in shown if each.style.standing == "published")
        return shown

    @property
    def is_empty(self) -> bool:
        """Tell whether there is nothing to draw."""
        match self.body:
            case Plot(series=series):
                return not any(each.dots for each in series)
            case Bars(groups=groups):
                return not groups
            case Grid(tiles=tiles):
                return not tiles
        return True


class Spot(NamedTuple):
    """A place in the plot's coordinates.

    cell  picked by a click or Enter; None: it leads nowhere
    box   left, low, right, high of a bar or a tile; None: a mark at x, y
    """

    x: float
    y: float
    text: str
    cell: Any = None
    box: tuple[float, float, float, float] | None = None

    def holds(self, x: float, y: float) -> bool:
        """Tell whether a place lies in its box."""
        if self.box is None:
            return False
        left, low, right, high = self.box
        return left <= x <= right and low <= y <= high


class Drawn(NamedTuple):
    """The result of drawing a figure.

    x, y      the ranges that the plot shows
    can_zoom  whether zooming in makes sense
    """

    spots: list[Spot]
    x: tuple[float, float]
    y: tuple[float, float]
    can_zoom: bool = False
