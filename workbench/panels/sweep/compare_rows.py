"""The comparison of two sessions in words: a sentence or two, and a row for each pair."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kernels.core.comparison import EQUAL
from kernels.sweeps.record import Record, Session
from kernels.sweeps.session_comparison import CellPair, Summary, compare_sessions, summary_of
from workbench.base import numbers
from workbench.model.plan_words import in_words, varied_of

MAX_ROWS = 2000

Answer = tuple[str, Sequence[tuple[str, ...]], Sequence[CellPair]]


def compared(a: Session, b: Session) -> Answer:
    """Compare two sessions: a summary in words, the table's rows, and the pairs themselves."""
    pairs = compare_sessions(a, b)
    varied = varied_of(pair.cell for pair in pairs)
    rows = [row_of(pair, varied) for pair in pairs[:MAX_ROWS]]
    return said(summary_of(pairs), len(pairs)), rows, pairs


def row_of(pair: CellPair, varied: Collection[str] = ()) -> tuple[str, ...]:
    """Return the table's row for a pair: name, both times, the finding, and its interval.

    varied  what tells it from others, see `plan_words.in_words`
    """
    name = in_words(pair.cell, varied)
    times = _time(pair.a), _time(pair.b)
    if pair.comparison is None:
        return (name, *times, pair.objection or "", "")
    found = pair.comparison
    interval = f"{found.low:.2f} – {found.high:.2f}"
    return (name, *times, f"{found.ratio:.2f}× as fast: {found.in_words}", interval)


def said(summary: Summary, count: int) -> str:
    """Summarise the comparison of `count` pairs in a sentence or two."""
    compared = sum(summary.verdicts.values())
    if not compared or summary.ratio is None:
        return "Nothing can be compared: the two have no verified measurement in common."
    counts = summary.verdicts
    parts = [
        f"{counts['faster']} faster" if counts["faster"] else "",
        f"{counts['slower']} slower" if counts["slower"] else "",
        f"{counts['same']} {EQUAL}" if counts["same"] else "",
    ]
    ratio = f"{summary.ratio:.2f}×"
    sentence = f"B against A: of {compared} compared, {', '.join(p for p in parts if p)}"
    left = count - compared
    rest = f" {left} more cannot be compared." if left else ""
    return f"{sentence}; {ratio} as fast in the geometric mean.{rest}"


def _time(record: Record | None) -> str:
    """Return the time of a verified answer as text; no other answer has a speed."""
    if record is None or record.verified is None:
        return numbers.MISSING
    return numbers.duration(record.verified.kernel.median_ms)
