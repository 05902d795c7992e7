"""A kind of chart, its words and how it makes a figure; and the parts that all kinds use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from kernels.sweeps.estimate import model_s
from kernels.sweeps.plan import Cell, Plan
from kernels.sweeps.record import Session
from workbench.charts.data import chart_dimensions, chart_words
from workbench.charts.data.figure import (
    Bars,
    Choices,
    Figure,
    Grid,
    LegendLine,
    Option,
    Plot,
    Sample,
)
from workbench.charts.data.legend_entries import entries_of
from workbench.charts.data.points import Data, Point, Slice

NOTHING = "Nothing is measured yet."


@dataclass(frozen=True, slots=True)
class ChartKind:
    """A row of a table of charts.

    key            stored in settings and presets, so it must not change
    title, tip     its name in a list, and a sentence on what it shows
    reading        how to read it, for the help: its marks, what to look for and what not
    order          its position in the list of all kinds
    refuses        why it cannot show some data, in words; None if it can
    make           makes the figure of data that it does not refuse, under a title
    made_for       whether it is the natural first look at a sweep of this plan
    about_answers  whether it shows answers rather than times, as a plan with a tolerance wants
    """

    key: str
    title: str
    tip: str
    reading: str
    order: int
    refuses: Callable[[Data], str | None]
    make: Callable[[Data, str], Figure]
    made_for: Callable[[Plan], bool] = lambda _: False
    about_answers: bool = False

    def fits(self, plan: Plan) -> bool:
        """Tell whether it is the natural first look at a sweep of `plan`."""
        return self.made_for(plan) and (plan.tolerance is None or self.about_answers)

    def why_not(self, sessions: Sequence[Session] | Data) -> str | None:
        """Explain in words if it cannot show these sessions; None if it can."""
        data = data_of(sessions)
        return self.refuses(data) if data.points else NOTHING

    def figure(self, sessions: Sequence[Session] | Data, choices: Choices | None = None) -> Figure:
        """Return the chart of these sessions; ValueError where `why_not` gives a reason."""
        data = data_of(sessions, choices)
        if reason := self.why_not(data):
            raise ValueError(reason)
        return replace(self.make(data, self.title), kind=self.key)


def data_of(sessions: Sequence[Session] | Data, choices: Choices | None = None) -> Data:
    """Return the data of sessions; data itself is returned as it is."""
    return sessions if isinstance(sessions, Data) else Data(sessions, choices)


MAX_MODELLED = 400  # cells; of more only some
LARGE_RANGE = 20.0  # largest over smallest, above which an axis is logarithmic by default
SERIES = ("implementations", "caches", "machines")  # what tells the series of a chart apart


def made(
    shown: Slice,
    title: str,
    body: Plot | Bars | Grid,
    sentence: str,
    *,
    options: tuple[Option, ...] = (),
    notes: tuple[str, ...] = (),
) -> Figure:
    """Return a figure around `body`, with the words that every chart has."""
    return Figure(
        kind="",
        title=title,
        subtitle=chart_words.subtitle(shown),
        sentence=sentence,
        notes=(*notes, *chart_words.notes(shown)),
        body=body,
        entries=_legend(shown, body),
        options=(*options, *shown.options),
        has_published=shown.data.has_published,
        whose=chart_words.whose(shown),
        grey=chart_words.grey(shown),
        is_recorded=chart_words.is_recorded(shown),
    )


def _legend(shown: Slice, body: Plot | Bars | Grid) -> tuple[LegendLine, ...]:
    """Return the entries of what is drawn, and of what would be if it were not hidden."""
    able = drawable(shown)
    points = tuple(point for point in shown.points if point.key in able)
    entries = entries_of(replace(shown, points=points))
    markers: dict[str, dict[int, None]] = {}  # of each publication, one for each implementation
    match body:
        case Plot(series=series):
            for each in series:
                if each.entry.style.standing == "published" and each.entry.style.marker is not None:
                    markers.setdefault(each.entry.key, {})[each.entry.style.marker] = None
            drawn = {each.entry.key for each in series if each.dots}
            lined = {each.entry.key for each in series if each.has_line}
            samples: dict[str, Sample] = {
                key: "line" if key in lined else "marker" for key in drawn
            }
        case Bars(axis=axis, groups=groups):
            bars = [bar for group in groups for bar in group.bars]
            boxed = {bar.entry.key for bar in bars if body.has_box(bar)}
            samples = {bar.entry.key: "bar" if bar.entry.key in boxed else "marker" for bar in bars}
        case Grid():
            return ()
    usual: Sample = "line" if isinstance(body, Plot) else "marker" if axis.is_log else "bar"
    return tuple(
        replace(
            entry, sample=samples.get(entry.key, usual), markers=tuple(markers.get(entry.key, ()))
        )
        for entry in entries
        if entry.is_hidden or entry.key in samples
    )


def varies(name: str) -> Callable[[Plan], bool]:
    """Return a function that tells whether a plan has several values of the dimension `name`."""
    return lambda plan: len(getattr(plan, name)) > 1


def why_not_several(data: Data, name: str) -> str | None:
    """Explain a missing chart along a dimension; None if that has two values."""
    values = data.values(name)
    if len(values) > 1:
        return None
    only = f", {chart_dimensions.in_words(name, values[0])}" if values else ""
    return f"Only one {chart_dimensions.label(name).lower()} is measured{only}."


def visible(shown: Slice) -> list[Point]:
    """Return the points of series that are not hidden and have something to show."""
    able = drawable(shown)
    return [point for point in shown.in_sight if point.key in able]


def drawable(shown: Slice) -> set[str]:
    """Return the keys of series of which something ran; notes explain the others."""
    return {point.key for point in shown.points if point.ms or point.is_wrong}


def is_log(shown: Slice, values: Iterable[float], *, always: bool = False) -> bool:
    """Tell whether the axis of `values` is logarithmic: as chosen, else if they are far apart."""
    if shown.data.choices.is_log is not None:
        return shown.data.choices.is_log
    found = [value for value in values if value > 0]
    return always or (bool(found) and max(found) / min(found) > LARGE_RANGE)


def expected(shown: Slice) -> list[tuple[Cell, float]]:
    """Return the cells of a chart and about how many ms they take, for the scale of its axis.

    Of what is measured here by a rough model alone, so that the scale stays the same while
    measurements come in, and after; of all else as measured.
    """
    planned = shown.planned_here
    step = 1 + len(planned) // MAX_MODELLED
    modelled = [(cell, 1e3 * model_s(cell)) for cell in planned[::step]]
    points = [p for p in shown.points if not (modelled and p.source.standing == "live")]
    return [*modelled, *((p.cell, p.ms.middle) for p in points if p.ms)]


def sentence_like(said: str) -> str:
    """Return a clause with a capital and a full stop; "" for an empty one."""
    return f"{said[:1].upper()}{said[1:]}." if said else ""
