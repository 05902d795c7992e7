"""Parts that all kinds of chart use: the figure around a body, visible points, the scale."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from kernels.sweeps.cell import Cell
from kernels.sweeps.estimate import model_s
from kernels.sweeps.plan import Plan
from workbench.charts.data import chart_dimensions, chart_words
from workbench.charts.data.figure import Bars, Figure, Grid, LegendLine, Option, Plot, Sample
from workbench.charts.data.legend_entries import entries_of
from workbench.charts.data.points import Point
from workbench.charts.data.slices import Data, Slice

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
    """Return why there is no chart along the dimension `name`; None if it has two values."""
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
    """Return whether the axis of `values` is logarithmic: as chosen, else if they are far apart."""
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
