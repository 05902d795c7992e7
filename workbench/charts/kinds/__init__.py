"""The kinds of chart: their words in `kinds.toml`, their figures in the modules of this folder.

Each module with KINDS, which names the `ChartKind` of a key, is read: with an entry there and its
words in the file, a kind is in every list of charts.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from kernels.core.plain_data import parse_toml
from kernels.core.timing import EQUAL
from kernels.sweeps.plan import Plan
from workbench.charts.data import chart_words, figure
from workbench.charts.data.points import Data, Point, Slice, entries_of
from workbench.model import cell_words

NOTHING = "Nothing is measured yet."
STARRED = "* Disturbed, so perhaps too long, or compared with a time that was."
LARGE_RANGE = 20.0  # largest over smallest, above which an axis is logarithmic by default
SERIES = ("implementations", "caches", "machines")  # what tells the series of a chart apart


@dataclass(frozen=True, slots=True)
class ChartKind:
    """A kind of chart; its key, title, tip and reading come from `kinds.toml`."""

    refuses: Callable[[Data], str | None]  # the reason why it cannot show some data; None: it can
    make: Callable[[Data, str], figure.Figure]  # of data that it does not refuse, under a title
    made_for: Callable[[Plan], bool] = lambda _: False
    about_outputs: bool = False  # outputs rather than times, as a plan with a tolerance wants
    key: str = ""
    title: str = ""
    tip: str = ""
    reading: str = ""

    def fits(self, plan: Plan) -> bool:
        """Return True if it is the natural first look at a sweep of `plan`."""
        return self.made_for(plan) and (plan.tolerance is None or self.about_outputs)

    def why_not(self, data: Data) -> str | None:
        """Explain in words if it cannot show these sessions; None if it can."""
        return self.refuses(data) if data.points else NOTHING

    def figure(self, data: Data) -> figure.Figure:
        """Make the chart of data that `why_not` has nothing against."""
        return replace(self.make(data, self.title), kind=self.key)


def made(
    shown: Slice,
    title: str,
    body: figure.Body,
    sentence: str,
    *,
    options: tuple[figure.Option, ...] = (),
    notes: tuple[str, ...] = (),
) -> figure.Figure:
    """Make a figure around `body`, with the words that every chart has."""
    has_stars = "*" in sentence or not isinstance(body, figure.Plot)
    starred = [STARRED] if has_stars and chart_words.star_of(*shown.measured) else []
    return figure.Figure(
        kind="",
        title=title,
        subtitle=chart_words.subtitle(shown),
        sentence=sentence,
        notes=(*notes, *starred, *chart_words.notes(shown)),
        body=body,
        entries=_legend(shown, body),
        options=(*options, *shown.options),
        has_published=shown.data.has_published,
        shows_published=shown.data.shows_published,
    )


def _legend(shown: Slice, body: figure.Body) -> tuple[figure.LegendLine, ...]:
    """The entries of all that is drawn, and of hidden series."""
    drawn: dict[str, figure.Sample] = {}
    match body:
        case figure.Plot(series=series):
            drawn = {s.entry.key: "line" if s.joined else "marker" for s in series if s.dots}
        case figure.Bars(axis=axis, bars=bars):
            drawn = {bar.entry.key: "marker" if axis.is_log else "bar" for bar in bars}
    usual: figure.Sample = next(iter(drawn.values()), "line")
    able = drawable(shown)
    entries = entries_of(shown.of(point for point in shown.points if point.key in able))
    return tuple(
        replace(entry, sample=drawn.get(key, usual))
        for key, entry in entries.items()
        if not isinstance(body, figure.Grid) and (entry.is_hidden or key in drawn)
    )


def varies(name: str) -> Callable[[Plan], bool]:
    """A function that is True for plans with several values of the dimension `name`."""
    return lambda plan: len(getattr(plan, name)) > 1


def several(*names: str) -> Callable[[Data], str | None]:
    """A function that explains a missing chart along dimensions; None if each has two values."""

    def why_not(data: Data) -> str | None:
        for name in names:
            values = data.values(name)
            if len(values) < 2:
                only = f", {cell_words.in_words(name, values[0])}" if values else ""
                return f"Only one {cell_words.label(name).lower()} is measured{only}."
        return None

    return why_not


def visible(shown: Slice) -> list[Point]:
    """The points of series that are not hidden and of which something ran; notes explain others."""
    able = drawable(shown)
    return [point for point in shown.in_sight if point.key in able]


def drawable(shown: Slice) -> set[str]:
    """The keys of series of which something ran."""
    return {point.key for point in shown.points if point.ms or point.is_wrong}


def is_log(shown: Slice, values: Iterable[float], *, always: bool = False) -> bool:
    """Return True if the axis of `values` is logarithmic: as chosen, else if they are far apart."""
    if shown.data.choices.is_log is not None:
        return shown.data.choices.is_log
    found = [value for value in values if value > 0]
    return always or (bool(found) and max(found) / min(found) > LARGE_RANGE)


@cache
def chart_kinds() -> tuple[ChartKind, ...]:
    """Every kind in this folder, in the order in which they are shown."""
    found: dict[str, ChartKind] = {}
    for each in pkgutil.iter_modules(__path__):
        found |= getattr(importlib.import_module(f"{__name__}.{each.name}"), "KINDS", {})
    file = Path(__file__).with_name("kinds.toml")
    words = parse_toml(file.read_text("utf-8").replace("{EQUAL}", EQUAL), file.name)
    return tuple(replace(found[key], key=key, **words[key]) for key in words)


def kinds_for(data: Data) -> list[ChartKind]:
    """The kinds that can show something of these sessions, those of the newest one first."""
    plans = [session.plan for session in data.sessions]
    newest = plans[data.choices.newest or 0 :][:1]
    able = [kind for kind in chart_kinds() if kind.why_not(data) is None]
    return sorted(able, key=lambda k: (not any(map(k.fits, newest)), not any(map(k.fits, plans))))
