"""The charts of a session, as SVG that may stand inside a page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape

from kernels.job import Progress
from kernels.sweeps.record import Session
from workbench.charts.export import svg_of
from workbench.charts.figure import Choices, Figure, Grid
from workbench.charts.kinds import kinds_for
from workbench.charts.slices import Data
from workbench.report.baselines import baseline_of


class ToDraw(Progress):
    """The step that comes next draws, which only the GUI thread may."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """key     unique in a report: its id
    svg     one element, ready to stand in HTML as it is
    is_map  its colours are values, called light and dark: they stay on a dark screen too
    """

    key: str
    title: str
    subtitle: str
    sentence: str
    notes: tuple[str, ...]
    svg: str
    is_map: bool


def drawings(sessions: Sequence[Session], prefix: str) -> Iterator[Drawing]:
    """Every kind of chart that has something to show of `sessions`, against the tables' baseline.

    prefix  of all ids inside, so that they are unique in the page
    """
    baseline = next(filter(None, map(baseline_of, sessions)), None)
    choices = Choices(baseline=baseline.key if baseline else None)
    # In a report everything was measured before: to call it recorded would say nothing.
    sessions = [replace(session, is_recorded=False) for session in sessions]
    data, told = Data(sessions, choices), dict[str, str]()
    for kind in kinds_for(data):
        figure = kind.figure(data)
        if not figure.is_empty:
            key = f"{prefix}-{figure.kind}"
            yield Drawing(
                key,
                figure.title,
                figure.subtitle,
                figure.sentence,
                _not_yet(told, figure),
                embedded(svg_of(_without_words(figure)), figure, f"{key}-"),
                isinstance(figure.body, Grid),
            )


def _not_yet(told: dict[str, str], figure: Figure) -> tuple[str, ...]:
    """Its notes; for those that stand under an earlier chart, where they do.

    told  note -> the chart that has it; gets those of `figure`
    """
    new = tuple(note for note in figure.notes if note not in told)
    where = dict.fromkeys(told[note] for note in figure.notes if note in told)
    told.update(dict.fromkeys(new, figure.title))
    return (*new, *(f"What is noted under “{title}” is true here as well." for title in where))


def _without_words(figure: Figure) -> Figure:
    """The page says them around it, as text that can be marked and read aloud."""
    return replace(figure, title="", subtitle="", sentence="", notes=())


def embedded(svg: str, figure: Figure, prefix: str) -> str:
    """The svg element alone: scaled by the page, named for who cannot see it, its ids prefixed."""
    element = svg[svg.index("<svg") :].rstrip()
    opening, rest = element.split(">", 1)
    for attribute in ("width", "height", "role", "aria-label"):
        opening = re.sub(rf'\s{attribute}="[^"]*"', "", opening, count=1)
    opening += f' role="img" aria-label="{escape(figure.summary)}"'
    return _with_prefix(f"{opening}>{rest}", prefix)


def _with_prefix(svg: str, prefix: str) -> str:
    ids = re.compile(r'(\sid="|url\(#|href="#)')
    return ids.sub(lambda found: found[1] + prefix, svg)
