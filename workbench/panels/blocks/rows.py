"""Plain data on how the candidates stand, for charts and for screen readers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

import numpy as np

from kernels import filters
from kernels.core.job import Job
from kernels.core.timing import EQUAL, Cache, Timing, groups_of_equals, how_equal
from kernels.engine.job_comparison import CandidateState, Snapshot
from kernels.sweeps.record import Measurement
from kernels.sweeps.session_files import read_session
from workbench.base import numbers
from workbench.base.numbers import star, why_starred
from workbench.base.paths import asset
from workbench.charts.data import figure
from workbench.charts.data.chart_words import how_long, list_of
from workbench.model import intents
from workbench.model.plan_draft import pair
from workbench.model.rung_times import WorkKey, why_not_beside
from workbench.panels.blocks.candidates import Field, Key, work_in_words

MAX_NAMES = 4  # listed of those that share the first place
NONE_CAN = "None of them can run this job; each says why."

State = Literal["waiting", "refused", "wrong", "unsure", "fine", "recorded"]


@dataclass(frozen=True, slots=True)
class BlockRow:
    """The standing of one candidate.

    state    "unsure": timed, but not yet checked, so that its time is no speed yet; "recorded": on
             another computer, so that there is nothing to choose
    ms       lower quartile, median, upper quartile; None where "waiting", "refused" or "wrong"
    place    1 for the fastest; those that tie have the same; 0: none yet, as where it is the only
             one that has a time
    """

    key: Key
    name: str
    state: State
    ms: tuple[float, float, float] | None = None
    place: int = 0
    is_tied: bool = False  # another has this place
    is_current: bool = False
    occupancy: float | None = None
    words: str = ""  # what stands beside its bar
    text: str = ""  # the tooltip
    disturbances: Sequence[str] = ()  # of its time

    @property
    def is_best(self) -> bool:
        """It has the first place, perhaps with others."""
        return self.place == 1

    @property
    def rank(self) -> str:
        """Its place as text: "1", or "1 =" if shared; empty without one."""
        return f"{self.place}{numbers.GAP}=" if self.is_tied else str(self.place or "")


def rows_of(field: Field, found: Snapshot | None, current: Key | None) -> tuple[BlockRow, ...]:
    """A row for each candidate, in their order.

    found  of the candidates that are able; None: nothing is known yet
    """
    keys = [each.key for each in field.able]
    standings = {
        each.key: (each.name, CandidateState(reason=each.reason, is_over=bool(each.reason)))
        for each in field.candidates
    }
    if found is not None:
        pairs = zip(field.able, found.standings, strict=True)
        standings |= {each.key: (each.name, standing) for each, standing in pairs}
    groups = [[keys[at] for at in group] for group in found.groups] if found else []
    rows = _rows(standings, groups)
    return tuple(replace(row, is_current=row.key == current) for row in rows)


def _rows(
    standings: Mapping[Key, tuple[str, CandidateState]], groups: Sequence[Collection[Key]]
) -> list[BlockRow]:
    """A row for each of `standings`, with its name; groups: equals, the fastest first."""
    places: dict[Key, tuple[int, bool]] = {}
    if sum(map(len, groups)) > 1:  # the only one that has a time has no place
        for group in groups:
            place = len(places) + 1
            places |= {each: (place, len(group) > 1) for each in group}
    return [
        _row(key, name, standing, *places.get(key, (0, False)))
        for key, (name, standing) in standings.items()
    ]


def sentence_of(rows: Sequence[BlockRow], *, is_over: bool) -> str:
    """Name the fastest, those equal to it, and the lag of the last."""
    timed = [row for row in rows if row.place and row.ms]
    if not timed:
        for row in rows:
            if row.state == "fine":
                return f"Only {row.name} has a time{'' if is_over else ' so far'}: {row.words}."
        if not (is_over and rows):
            return ""
        states = {row.state for row in rows}
        return NONE_CAN if states == {"refused"} else "Nothing was measured that is right."
    best = sorted((row for row in timed if row.is_best), key=_median)
    names, time = [row.name for row in best], best[0].words
    if len(names) > MAX_NAMES:
        names = [*names[: MAX_NAMES - 1], f"{len(names) - MAX_NAMES + 1} others"]
    if len(best) == 1:
        first = f"{names[0]} is the fastest: {time}"
    else:
        how = how_equal(max(map(_median, best)) / _median(best[0]))
        first = f"{list_of(names)} are {how}: {time}"
    last = max(timed, key=_median)
    mark = star((*best[0].disturbances, *last.disturbances))
    longer = f"{how_long(_median(last) / _median(best[0]))}{mark}"
    behind = "" if last in best else f"; {last.name} {longer}"
    return f"{'' if is_over else 'So far '}{first}{behind}."


def _median(row: BlockRow) -> float:
    assert row.ms is not None
    return row.ms[1]


def _row(key: Key, name: str, standing: CandidateState, place: int, is_tied: bool) -> BlockRow:
    state, words = _state(standing)
    ms = standing.ms if state in ("unsure", "fine") else None
    if ms is not None:
        words = f"{numbers.duration(ms[1])}{star(standing.disturbances)}"
    share = standing.occupancy.share if standing.occupancy else None
    text = "\n".join(_lines(key, name, standing, state, is_tied=is_tied, place=place))
    facts = ms, place, is_tied, False, share, words, text, standing.disturbances
    return BlockRow(key, name, state, *facts)


def _state(standing: CandidateState) -> tuple[State, str]:
    if standing.reason:
        return "refused", standing.reason
    if standing.check is not None and not standing.check.ok:
        return "wrong", "✗ wrong" if standing.check.wrong else "✗ not verified"
    if standing.ms is None:
        return "waiting", "…"
    return ("fine", "") if standing.counts else ("unsure", "")


def _lines(
    key: Key, name: str, standing: CandidateState, state: State, *, is_tied: bool, place: int
) -> list[str]:
    timing, occupancy = standing.timing, standing.occupancy
    lines = [name]
    if state in ("unsure", "fine") and timing is not None and standing.ms is not None:
        count = len(timing.samples_ms)
        low, middle, high = standing.ms
        lines[0] += f": {numbers.duration(middle)}{star(standing.disturbances)}"
        lines.append(f"quartiles {numbers.duration_range(low, high, middle)}, n = {count}")
        lines += filter(None, [why_starred(standing.disturbances)])
    if place:
        equals = f", {EQUAL} to others there" if is_tied else ""
        lines.append(f"place {place}{equals}")
    if isinstance(key, tuple):
        lines.append(f"{key[0] * key[1]} threads per block")
    if occupancy is not None:
        lines.append(f"occupancy {numbers.percent(occupancy.share)}: {occupancy.limit}")
    lines += [str(ran) for ran in standing.ran[:1]]
    if standing.reason:
        lines.append(standing.reason)
    elif standing.check is not None:
        lines.append(f"its output is {standing.check}")
    elif timing is not None:
        lines.append("not verified yet, so this is no speed yet")
    return lines


SESSION = "recorded/camerino_block_shape.jsonl.gz"  # in assets
RUNG = "shared"  # the one whose shapes differ most
SAME = "Recorded for this job, on another picture."


@dataclass(frozen=True, slots=True)
class RecordedShapes:
    """The recorded standing of one rung's block shapes on the GPU `device`."""

    device: str
    subject: str  # as in `Field`
    work: str  # likewise
    key: WorkKey  # of the job that was timed
    name: str  # of that job, in short
    rows: tuple[BlockRow, ...]
    sentence: str  # on the standing

    def beside(self, job: Job | None, cache: Cache) -> str:
        """The sentence, after one on how that job compares with `job` and `cache`."""
        is_same = job is not None and WorkKey.of(job) == self.key
        whose = SAME if is_same else f"Recorded, another job: {self.name}."
        return " ".join(filter(None, (whose, why_not_beside(cache), self.sentence)))


@cache
def recorded_shapes() -> RecordedShapes | None:
    """Read the recorded shapes, once; None where there are none."""
    session = read_session(asset(SESSION))
    found = {
        each.cell: each.outcome
        for each in session.records
        if each.cell.implementation == RUNG and isinstance(each.outcome, Measurement)
    }
    if not found:
        return None
    standings: dict[Key, tuple[str, CandidateState]] = {}
    kernels: dict[Key, Timing] = {}
    for cell, each in found.items():
        if (xy := cell.block_xy) is not None:
            standings[xy], kernels[xy] = (pair(xy), _standing(each)), each.kernel
    rows = tuple(
        replace(row, state="recorded") for row in _rows(standings, groups_of_equals(kernels))
    )
    cell = next(iter(found))
    title = filters.get(cell.filter).title
    return RecordedShapes(
        session.machine.gpu,
        intents.implementation(RUNG).title,
        work_in_words(title, cell),
        WorkKey.of_cell(cell),
        f"{title} {cell.ksize}×{cell.ksize}, {cell.size_in_words}, {cell.pixel_type}",
        rows,
        sentence_of(rows, is_over=True),
    )


def _standing(measured: Measurement) -> CandidateState:
    low, middle, high = np.percentile(measured.kernel.samples_ms, (25, 50, 75))
    return CandidateState(
        measured.kernel,
        (float(low), float(middle), float(high)),
        measured.check,
        ran=measured.ran,
        occupancy=measured.occupancy,
        disturbances=measured.disturbances,
        is_over=True,
    )


LARGE_RANGE = 20.0  # largest over smallest time, from which the scale is logarithmic
DIGIT_SPACE = "\u2007"  # as wide as a digit
IN_USE = "● "  # marks what the window filters with
VERDICTS: dict[str, Literal["bad", "missing", "refused"]] = {
    "wrong": "bad",
    "waiting": "missing",
    "refused": "refused",
}
MARKS = {"wrong": "✗", "waiting": "…"}
BLUE, GREEN = 0, 2  # indices into a theme's series colours


def bars_of(rows: Sequence[BlockRow], sentence: str) -> figure.Figure:
    """A bar for each row: its median with the quartiles, beside its rank and name."""
    times = [row.ms[1] for row in rows if row.ms]
    is_log = bool(times) and max(times) > LARGE_RANGE * min(times)
    axis = figure.Axis(f"Time{', logarithmic' if is_log else ''}", numbers.duration, is_log)
    shapes = [len(row.name) for row in rows if isinstance(row.key, tuple)]
    groups = tuple(figure.Group(_name(row, max(shapes, default=0)), (_bar(row),)) for row in rows)
    return _figure(sentence, figure.Bars(axis, groups, names_beside=True))


def map_of(rows: Sequence[BlockRow], sentence: str) -> figure.Figure:
    """A tile for each row whose key is a block shape, light where it is fast."""
    shapes = {row.key: row for row in rows if isinstance(row.key, tuple)}
    wide, high = (sorted({key[side] for key in shapes}) for side in (0, 1))
    places = {
        (x, y): (column, line) for line, y in enumerate(high) for column, x in enumerate(wide)
    }
    tiles = tuple(_tile(*at, shapes[key]) for key, at in places.items() if key in shapes)
    columns, lines = tuple(map(str, wide)), tuple(map(str, high))
    scale = figure.Axis("Time (below: occupancy)", numbers.duration, True)
    labels = "Block width", "Block height"
    return _figure(sentence, figure.Grid(columns, lines, *labels, tiles, scale))


def _figure(sentence: str, body: figure.Bars | figure.Grid) -> figure.Figure:
    return figure.Figure("", "Times of the candidates", "", sentence, (), body)


def _name(row: BlockRow, widest: int) -> str:
    rank = f"{row.rank}\u2003" if row.rank else ""
    spare = widest - len(row.name) if rank and isinstance(row.key, tuple) else 0
    return f"{IN_USE if row.is_current else ''}{rank}{spare * DIGIT_SPACE}{row.name}"


def _bar(row: BlockRow) -> figure.Bar:
    middle, low, high = (row.ms[1], row.ms[0], row.ms[2]) if row.ms else (None, 0.0, 0.0)
    style = figure.SeriesStyle(GREEN if row.is_best else BLUE, None)
    words = f"{row.words} ?" if row.state == "unsure" else row.words
    entry = figure.LegendLine(row.name, row.name, "", row.name, style)
    is_unsure = row.state == "unsure"
    return figure.Bar(entry, middle, low, high, words, row.text, _pick(row), row.is_best, is_unsure)


def _tile(column: int, line: int, row: BlockRow) -> figure.Tile:
    words: tuple[str, ...] = ("",)
    if row.ms:
        share = () if row.occupancy is None else (numbers.percent(row.occupancy),)
        words = row.words, *share
    elif row.state in MARKS:
        words = (MARKS[row.state],)
    return figure.Tile(
        column,
        line,
        row.ms[1] if row.ms else None,
        words,
        row.text,
        _pick(row),
        row.is_best,
        "" if row.ms else VERDICTS[row.state],
        is_pale=row.state == "unsure",
        is_current=row.is_current,
    )


def _pick(row: BlockRow) -> object:
    return None if row.state in ("refused", "recorded") else row.key
