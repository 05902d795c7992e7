"""The comparison of two sessions in words: a sentence or two, and a row for each pair."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence

from kernels.core.comparison import NO_INTERVAL
from kernels.sweeps.record import Record, Session
from kernels.sweeps.session_comparison import EQUAL, CellPair, Summary, compare_sessions, summary_of
from workbench.base import numbers
from workbench.base.disturbed_words import star, why_starred
from workbench.model.plan_words import in_words, varied_of

MAX_ROWS = 2000

Row = tuple[str, ...]
Answer = tuple[str, Sequence[Row], Sequence[Row], Sequence[CellPair]]  # with the rows' tooltips
TIMES = 1, 2  # the columns of a row with the times of A and of B


def compared(a: Session, b: Session) -> Answer:
    """Compare two sessions: a summary in words, the table's rows, their tips, and the pairs."""
    pairs = compare_sessions(a, b)
    varied = varied_of(pair.cell for pair in pairs)
    shown = most_different_first(pairs)[:MAX_ROWS]
    rows = [row_of(pair, varied) for pair in shown]
    tips = [tips_of(row, pair) for row, pair in zip(rows, shown, strict=True)]
    return said(summary_of(pairs), len(pairs)), rows, tips, pairs


def most_different_first(pairs: Iterable[CellPair]) -> list[CellPair]:
    """Return the pairs that differ, by how much they do, then equal ones, then all others.

    Those that only one of the two has come last.
    """
    return sorted(pairs, key=_place)


def _place(pair: CellPair) -> tuple[int, float]:
    if pair.comparison is None:
        return (2 if pair.a and pair.b else 3 if pair.a is None else 4), 0.0
    return int(pair.comparison.verdict == "same"), -abs(math.log(pair.comparison.ratio))


def row_of(pair: CellPair, varied: Collection[str] = ()) -> Row:
    """Return the table's row for a pair: name, both times, the finding, and its interval.

    varied  what tells it from others, see `plan_words.in_words`
    """
    name = in_words(pair.cell, varied)
    times = _time(pair.a), _time(pair.b)
    if pair.comparison is None:
        return (name, *times, pair.objection or "", "")
    found = pair.comparison
    if is_slower := found.verdict == "slower":
        found = found.turned
    ends = found.interval
    interval = " – ".join(map(numbers.three_digits, ends)) if ends else NO_INTERVAL
    ratio = numbers.fine_ratio(found.ratio)
    how = "slower" if is_slower else f"as fast: {found.in_words}"
    return (name, *times, f"{ratio} {how}", interval)


def said(summary: Summary, count: int) -> str:
    """Summarise the comparison of `count` pairs in a sentence or two."""
    compared, disturbed = sum(summary.verdicts.values()), summary.disturbed
    if not compared or summary.ratio is None:
        if disturbed:
            return (
                f"Nothing can be compared: of all {disturbed} in common a time was disturbed (*)."
            )
        return "Nothing can be compared: the two have no verified measurement in common."
    counts = summary.verdicts
    parts = [
        f"{counts['faster']} faster" if counts["faster"] else "",
        f"{counts['slower']} slower" if counts["slower"] else "",
        f"{counts['same']} {EQUAL}" if counts["same"] else "",
    ]
    ratio = numbers.speed_up(summary.ratio, numbers.fine_ratio)
    how = "" if numbers.is_slower(summary.ratio, numbers.fine_ratio) else " as fast"
    sentence = f"B against A: of {compared} compared, {', '.join(p for p in parts if p)}"
    have = "has" if disturbed == 1 else "have"
    without = f" {disturbed} more {have} no verdict: a time was disturbed (*)." if disturbed else ""
    left = count - compared - disturbed
    rest = f"{without} {left} more cannot be compared." if left else without
    return f"{sentence}; {ratio}{how} in the geometric mean.{rest}"


def _time(record: Record | None) -> str:
    """Return the time of a verified answer as text; no other answer has a speed."""
    if record is None or record.verified is None:
        return numbers.MISSING
    mark = star(record.verified.disturbances)
    return f"{numbers.duration(record.verified.kernel.median_ms)}{mark}"


def tips_of(row: Row, pair: CellPair) -> Row:
    """Return a tooltip for each text of a row: the text, and what disturbed a time."""
    tips = list(row)
    for column, record in zip(TIMES, (pair.a, pair.b), strict=True):
        if record is not None and record.verified is not None:
            why = why_starred(record.verified.disturbances)
            tips[column] = "\n".join(filter(None, (row[column], why)))
    return tuple(tips)
