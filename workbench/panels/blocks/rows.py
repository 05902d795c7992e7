"""Plain data on how the candidates stand, for charts and for screen readers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from kernels.core.comparison import EQUAL, how_equal
from kernels.measuring.job_comparison import CandidateState, Snapshot
from workbench.base import numbers
from workbench.base.disturbed_words import star, why_starred
from workbench.charts.data.chart_words import how_long, list_of
from workbench.panels.blocks.candidates import Field, Key

MAX_NAMES = 4  # listed of those that share the first place

State = Literal["waiting", "refused", "wrong", "unsure", "fine", "recorded"]


@dataclass(frozen=True, slots=True)
class BlockRow:
    """The standing of one candidate.

    state    "unsure": timed, but not yet checked, so that its time is no speed yet; "recorded": on
             another computer, so that there is nothing to choose
    ms       lower quartile, median, upper quartile; None where "waiting", "refused" or "wrong"
    place    1 for the fastest; those that tie have the same; 0: none yet, as where it is the only
             one that has a time
    is_tied  another has this place
    words    what stands beside its bar
    text     all that is known, for a tooltip
    """

    key: Key
    name: str
    state: State
    ms: tuple[float, float, float] | None = None
    place: int = 0
    is_tied: bool = False
    is_current: bool = False
    occupancy: float | None = None
    words: str = ""
    text: str = ""

    @property
    def is_best(self) -> bool:
        """Return whether it has the first place, perhaps with others."""
        return self.place == 1

    @property
    def rank(self) -> str:
        """Return its place as text: "1", or "1 =" where others share it; empty if it has none."""
        return f"{self.place}{numbers.GAP}=" if self.is_tied else str(self.place or "")


def rows_of(field: Field, found: Snapshot | None, current: Key | None) -> tuple[BlockRow, ...]:
    """Return a row for each candidate, in their order.

    found  of the candidates that are able; None: nothing is known yet
    """
    keys = (each.key for each in field.able)
    standings = dict(zip(keys, found.standings, strict=True)) if found else {}
    places = _places(field, found)
    rows = []
    for each in field.candidates:
        place, is_tied = places.get(each.key, (0, False))
        standing = standings.get(
            each.key, CandidateState(reason=each.reason, is_over=bool(each.reason))
        )
        row = row_of(each.key, each.name, standing, place, is_tied)
        rows.append(replace(row, is_current=each.key == current))
    return tuple(rows)


def sentence_of(rows: Sequence[BlockRow], *, is_over: bool) -> str:
    """Say which is the fastest, what equals it, and how far behind the last one is."""
    timed = [row for row in rows if row.place and row.ms]
    if not timed:
        return _of_one_or_none(rows, is_over=is_over)
    best = sorted((row for row in timed if row.is_best), key=_median)
    names, time = _listed([row.name for row in best]), best[0].words
    if len(best) == 1:
        first = f"{names} is the fastest: {time}"
    else:
        how = how_equal(max(map(_median, best)) / _median(best[0]))
        first = f"{names} are {how}: {time}"
    last = max(timed, key=_median)
    longer = how_long(_median(last) / _median(best[0]))
    behind = "" if last in best else f"; {last.name} {longer}"
    return f"{'' if is_over else 'So far '}{first}{behind}."


def _of_one_or_none(rows: Sequence[BlockRow], *, is_over: bool) -> str:
    """Say which alone has a time, which makes it no winner; or why none has."""
    for row in rows:
        if row.state == "fine":
            return f"Only {row.name} has a time{'' if is_over else ' so far'}: {row.words}."
    return _why_none(rows) if is_over and rows else ""


def _why_none(rows: Sequence[BlockRow]) -> str:
    states = {row.state for row in rows}
    if states == {"refused"}:
        return "None of them can run this job."
    if states <= {"refused", "wrong"}:
        return "None of them gave an answer that is right, so there is no speed."
    return "Nothing was measured."


def _median(row: BlockRow) -> float:
    assert row.ms is not None
    return row.ms[1]


def _listed(names: list[str]) -> str:
    if len(names) > MAX_NAMES:
        named = MAX_NAMES - 1
        names = [*names[:named], f"{len(names) - named} others"]
    return list_of(names)


def _places(field: Field, found: Snapshot | None) -> dict[Key, tuple[int, bool]]:
    """Return place and whether it is shared, by key; shared places count as in sports: 1, 1, 3.

    What is the only one so far has none.
    """
    places: dict[Key, tuple[int, bool]] = {}
    next_place, able = 1, field.able
    groups = found.groups if found else ()
    for group in groups if sum(map(len, groups)) > 1 else ():
        for number in group:
            places[able[number].key] = next_place, len(group) > 1
        next_place += len(group)
    return places


def row_of(key: Key, name: str, standing: CandidateState, place: int, is_tied: bool) -> BlockRow:
    """Return the row of one candidate; `place` and `is_tied` as in BlockRow."""
    state, words = _state(standing)
    ms = standing.ms if state in ("unsure", "fine") else None
    if ms is not None:
        words = f"{numbers.duration(ms[1])}{star(standing.disturbances)}"
    share = standing.occupancy.share if standing.occupancy else None
    text = "\n".join(_lines(key, name, standing, state, is_tied=is_tied, place=place))
    return BlockRow(key, name, state, ms, place, is_tied, False, share, words, text)


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
        lines.append(f"its answer is {standing.check}")
    elif timing is not None:
        lines.append("not verified yet, so this is no speed yet")
    return lines
