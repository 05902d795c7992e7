"""The stages of a batch as a chart: how busy the threads of each were, and which was the limit."""

from __future__ import annotations

from workbench.base import numbers
from workbench.batch.stage_times import BatchProgress, StageTime
from workbench.batch.stage_words import IN_WORDS, busy_words, rate
from workbench.charts.data.figure import (
    Axis,
    Bar,
    Bars,
    Figure,
    Group,
    LegendLine,
    SeriesStyle,
)

TITLE = "Stages of the batch"
AXIS = "Share of its threads' time that a stage took; outlined: the limit"
BLUE, ORANGE = 0, 1  # indices into a theme's series colours


def stage_figure(progress: BatchProgress) -> Figure:
    """Return a bar for each stage, the limit outlined and named."""
    groups = tuple(_group(each, progress) for each in progress.stages)
    axis = Axis(AXIS, numbers.percent, ends=(0.0, 1.0))
    limit = f"The limit was {IN_WORDS[progress.limit]}." if progress.limit else ""
    told = tuple(f"{each.bars[0].text}, {each.bars[0].words}." for each in groups)
    return Figure("", TITLE, "", limit, told, Bars(axis, groups, names_beside=True))


def share_words(each: StageTime, *, is_limit: bool) -> str:
    """Return what a stage would do if it were alone: "at most 125 per s · the limit"."""
    return f"at most {rate(each.at_most_per_s)}{' · the limit' if is_limit else ''}"


def _group(each: StageTime, progress: BatchProgress) -> Group:
    is_limit = each.stage == progress.limit
    name = IN_WORDS[each.stage].capitalize()
    style = SeriesStyle(ORANGE if is_limit else BLUE, None)
    words = f"{busy_words(each)} · {share_words(each, is_limit=is_limit)}"
    bar = Bar(
        LegendLine(each.stage, name, "", name, style),
        each.share,
        each.share,
        each.share,
        words,
        _told(each),
        is_best=is_limit,
    )
    return Group(name, (bar,))


def _told(each: StageTime) -> str:
    """Return what is said when the pointer is on it."""
    took = numbers.duration(each.seconds / each.pictures * 1e3)
    threads = f"{each.threads} thread{'' if each.threads == 1 else 's'}"
    pictures = f"{each.pictures:,} picture{'' if each.pictures == 1 else 's'}"
    return f"{IN_WORDS[each.stage].capitalize()}: {pictures}, {took} each on {threads}"
