"""The charts of a session, as SVG that may stand inside a page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape

from kernels.core.job import Progress
from kernels.sweeps.record import Session
from workbench.charts.data.figure import Bars, Choices, Figure, Grid, Plot
from workbench.charts.data.slices import Data
from workbench.charts.drawing.chart_export import svg_of
from workbench.charts.kinds import kinds_for
from workbench.report.baselines import baseline_of
from workbench.report.figure_numbers import Counts
from workbench.report.tables import labelled

# As wide as A4 between the page's margins, so that it is printed in the letters that it is drawn
# in, none of them smaller than 8 pt.
SIZE_PX = (680, 360)


class ToDraw(Progress):
    """A note that the next step draws, which only the GUI thread may."""


@dataclass(frozen=True, slots=True)
class ReportChart:
    """A chart of a report.

    key     unique in a report: its id
    number  "Figure 3" on the page
    svg     one element, ready to stand in HTML as it is
    figure  what is drawn, without its words
    is_map  its colours are values, called light and dark: they stay on a dark screen too
    """

    key: str
    number: int
    title: str
    subtitle: str
    sentence: str
    notes: tuple[str, ...]
    svg: str
    figure: Figure
    is_map: bool
    is_recorded: bool

    @property
    def label(self) -> str:
        """Return "Figure 3", and "Figure 3 (recorded)" where it is."""
        return labelled("Figure", self.number, self.is_recorded)


def drawings(sessions: Sequence[Session], prefix: str, counts: Counts) -> Iterator[ReportChart]:
    """Draw every kind of chart that has something to show of `sessions`.

    Against the tables' baseline.

    prefix  of all ids inside, so that they are unique in the page
    counts  gives each its number
    """
    baseline = next(filter(None, map(baseline_of, sessions)), None)
    choices = Choices(baseline=baseline.key if baseline else None)
    is_recorded = any(session.is_recorded for session in sessions)
    data, told = Data(sessions, choices), dict[str, int]()
    for kind in kinds_for(data):
        figure = kind.figure(data)
        if not figure.is_empty and _has_own(figure):
            key, number = f"{prefix}-{figure.kind}", next(counts.figures)
            drawn = _without_words(figure, is_recorded=is_recorded)
            yield ReportChart(
                key,
                number,
                figure.title,
                figure.subtitle,
                figure.sentence,
                _not_yet(told, figure, number),
                embedded(svg_of(drawn, "light", SIZE_PX), figure, f"{key}-"),
                drawn,
                isinstance(figure.body, Grid),
                is_recorded,
            )


def _has_own(figure: Figure) -> bool:
    """Return whether anything that these sessions ran is in it: refusals alone are no chart."""
    match figure.body:
        case Grid(tiles=tiles):
            return any(tile.verdict not in ("missing", "refused") for tile in tiles)
        case Plot(series=series):
            return any(each.dots for each in series)
        case Bars(groups=groups):
            return any(bar.words != "refused" for group in groups for bar in group.bars)
    return False


def _not_yet(told: dict[str, int], figure: Figure, number: int) -> tuple[str, ...]:
    """Return the chart's notes; those that stand under an earlier chart are left out.

    told  note -> the number of the chart that has it; gets those of `figure`
    """
    new = tuple(note for note in figure.notes if note not in told)
    where = dict.fromkeys(told[note] for note in figure.notes if note in told)
    told.update(dict.fromkeys(new, number))
    return (*new, *(f"What is noted under Figure {each} is true here as well." for each in where))


def _without_words(figure: Figure, *, is_recorded: bool) -> Figure:
    """Return the figure without its words, which the page says around it, to be marked and read.

    That it is recorded stays in it, wherever it is taken to.
    """
    said = "Recorded" if is_recorded else ""
    return replace(figure, title="", subtitle=said, sentence="", notes=())


def embedded(svg: str, figure: Figure, prefix: str) -> str:
    """Return the svg element alone.

    It is scaled by the page, named for screen readers, and its ids have a prefix.
    """
    element = svg[svg.index("<svg") :].rstrip()
    opening, rest = element.split(">", 1)
    for attribute in ("width", "height", "role", "aria-label"):
        opening = re.sub(rf'\s{attribute}="[^"]*"', "", opening, count=1)
    opening += f' role="img" aria-label="{escape(figure.summary)}"'
    return _with_prefix(f"{opening}>{rest}", prefix)


def _with_prefix(svg: str, prefix: str) -> str:
    ids = re.compile(r'(\sid="|url\(#|href="#)')
    return ids.sub(lambda found: found[1] + prefix, svg)
