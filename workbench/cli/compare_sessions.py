"""`workbench compare A B`: two machines, or two times, side by side."""

from __future__ import annotations

import io
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby
from textwrap import fill
from typing import Any

from kernels.core.cpu_load import disturbed_in_words
from kernels.core.plain_data import to_plain
from kernels.core.timing import CONFIDENCE, NO_INTERVAL, Comparison, Verdict
from kernels.core.version import program_version
from kernels.sweeps.plan import Cell
from kernels.sweeps.plan_run import in_words
from kernels.sweeps.record import (
    EQUAL,
    CellPair,
    Measurement,
    Record,
    Session,
    Summary,
    compare_sessions,
    summary_of,
)
from kernels.sweeps.session_csv import write_pairs_csv
from kernels.sweeps.session_files import read_session
from workbench.base import numbers
from workbench.base.columns import aligned, columns
from workbench.base.numbers import why_starred
from workbench.cli.output import FAILED, CommandError, json_of, write_whole
from workbench.cli.sweep_words import ratio_data
from workbench.model.names import ran_on

WIDTH = 100
NOTHING_SHARED = "They have no cell in common: nothing can be compared."
HEADER = ("", "A", "B", "A / B", "B is")
VERDICTS: dict[Verdict, str] = {"faster": "faster", "slower": "slower", "same": EQUAL}
Pairs = Sequence[CellPair]


def run(arguments: Namespace) -> int:
    """Print the two sessions, a row for each cell that both have, and a summary.

    With --json a document of that.  FAILED where --fail-slower says so.
    """
    sessions = {"A": read_session(arguments.a), "B": read_session(arguments.b)}
    for name, session in sessions.items():
        for remark in session.remarks:
            print(f"workbench: {name}: {remark}", file=sys.stderr)
    pairs = tuple(compare_sessions(sessions["A"], sessions["B"]))
    if arguments.csv:
        table = io.StringIO(newline="")
        write_pairs_csv(pairs, table)
        write_whole(arguments.csv, table.getvalue())
    shared = [pair for pair in pairs if pair.a and pair.b]
    limit = arguments.fail_slower
    failures = [] if limit is None else list(_failing(pairs, limit))
    if arguments.json:
        print(json_of(_data(sessions["A"], sessions["B"], pairs, failures)))
    else:
        ran = {pair.cell.implementation for pair in shared if pair.comparison or pair.is_disturbed}
        print(aligned([(name, _title(each, ran)) for name, each in sessions.items()]), end="\n\n")
    if not shared:
        raise CommandError(NOTHING_SHARED)
    if not arguments.json:
        print("\n".join(_table(shared)), end="\n\n")
        print("\n".join(fill(line, WIDTH, subsequent_indent="  ") for line in _closing(pairs)))
    remarks = list(failures)
    if limit is not None and (disturbed := sum(pair.is_disturbed for pair in pairs)):
        remarks.append(f"Not judged, {_cells(disturbed)}: a time was disturbed.")
    for remark in remarks:
        print(f"workbench: {remark}", file=sys.stderr)
    return FAILED if failures else 0


def _failing(pairs: Pairs, limit: float) -> Iterator[str]:
    """Name each cell that is slower in B by more than `limit` (0.05: 5 %).

    The whole interval has to be, and by more than two sessions of the same work differ; and each
    that has a verified time in A and none in B.  A disturbed time fails nothing.
    """
    for pair in pairs:
        found, name = pair.comparison, in_words(pair.cell)
        if found is not None and found.high < 1 / (1 + max(limit, found.within)):
            low, high = (numbers.percent(1 / each - 1, 1) for each in (found.high, found.low))
            allowed = 100 * max(limit, found.within)
            yield f"{name} takes {low} to {high} longer in B; {allowed:g} % is the limit."
        elif pair.a and pair.a.verified and not (pair.b and pair.b.verified):
            why = pair.b.objection if pair.b else "it is only in A."
            yield f"{name} has no time in B any more: {why}"


def _title(session: Session, implementations: Iterable[str]) -> str:
    """Plan, machine and day: "Image size, NVIDIA H200, 2026-11-21"."""
    day = datetime.fromtimestamp(session.started, UTC).date().isoformat()
    return f"{session.plan.title}, {ran_on(session.machine, implementations)}, {day}"


# -- the table


def _table(pairs: Pairs) -> Iterator[str]:
    """Name what all have in common, then under each heading its implementations."""
    all_facts = [_facts(pair.cell) for pair in pairs]
    varied = {name for facts in all_facts for name in facts if facts[name] != all_facts[0][name]}
    caches = {pair.cell.cache for pair in pairs if pair.cell.cache}
    common = [words for name, words in all_facts[0].items() if name not in varied and words]
    if len(caches) == 1:
        common.append(f"{min(caches)} L2 on the GPU")
    rows = [_row(pair, with_cache=len(caches) > 1) for pair in pairs]
    header, *lines = columns([HEADER, *rows]).splitlines()
    yield fill(f"All: {', '.join(common)}", WIDTH)
    yield header
    headings = (
        ", ".join(facts[name] for name in facts if name in varied and facts[name])
        for facts in all_facts
    )
    for heading, group in groupby(zip(headings, lines, strict=True), lambda each: each[0]):
        if heading:
            yield heading
        yield from (line for _, line in group)


def _row(pair: CellPair, *, with_cache: bool) -> tuple[str, ...]:
    cell, found = pair.cell, pair.comparison
    name = f"  {cell.implementation} {cell.block_in_words}".rstrip()
    if with_cache and cell.cache:
        name += f", {cell.cache}"
    without = "no verdict" if pair.is_disturbed else "not compared"
    mark = " *" if any(each.disturbances for each in _verified(pair)) else ""
    return (
        name,
        _time(pair.a),
        _time(pair.b),
        _interval(found) if found else numbers.MISSING,
        (found.in_words if found else without) + mark,
    )


def _verified(pair: CellPair) -> list[Measurement]:
    return [each.verified for each in (pair.a, pair.b) if each and each.verified]


def _time(record: Record | None) -> str:
    if record is None or record.verified is None:
        return numbers.MISSING
    return numbers.duration(record.verified.kernel.median_ms)


def _interval(found: Comparison) -> str:
    """A ratio with its interval, if it has one: 1.25× (1.21 – 1.29)."""
    ends = found.interval
    between = " – ".join(map(numbers.three_digits, ends)) if ends else NO_INTERVAL
    return f"{numbers.fine_ratio(found.ratio)} ({between})"


def _facts(cell: Cell) -> dict[str, str]:
    """Describe everything that tells cells apart, but implementation, block and cache."""
    sigma = f" σ {cell.sigma:g}" if cell.sigma is not None else ""
    return {
        "picture": cell.picture,
        "size": cell.size_in_words,
        "samples": f"{cell.channels} × {cell.pixel_type}",
        "count": f"{cell.count} pictures" if cell.count > 1 else "",
        "filter": f"{cell.filter} {cell.ksize}×{cell.ksize}{sigma}",
        "amount": f"amount {cell.amount:g}" if cell.filter == "unsharp" else "",
        "border": cell.border,
    }


# -- the summary


def _closing(pairs: Pairs) -> Iterator[str]:
    """Summarise all pairs, and explain those without a comparison."""
    summary = summary_of(pairs)
    yield _together(summary)
    if summary.disturbed:
        yield f"No verdict, {_cells(summary.disturbed)}: a time was disturbed (*)."
    incomparable = [pair for pair in pairs if pair.a and pair.b and not pair.is_disturbed]
    reasons = Counter(pair.objection for pair in incomparable if pair.objection)
    for reason, count in reasons.items():
        yield f"Not compared, {_cells(count)}: {reason}"
    yield from _only_in_one(pairs)
    measured = [each for pair in pairs for each in _verified(pair)]
    if words := disturbed_in_words(each.load for each in measured):
        yield f"* {words}"
    of_gpu = {why for each in measured if each.health for why in each.health.disturbances}
    if words := why_starred(sorted(of_gpu)):
        yield words


def _only_in_one(pairs: Pairs) -> Iterator[str]:
    """Name the cells of one session only, and user kernels with another source in each."""
    found = {
        "A": [pair.cell for pair in pairs if pair.b is None],
        "B": [pair.cell for pair in pairs if pair.a is None],
    }
    for name, cells in found.items():
        if cells:
            keys = dict.fromkeys(cell.implementation for cell in cells)
            yield f"Only in {name}, {_cells(len(cells))}: {', '.join(keys)}."
    own = [{cell.implementation for cell in each if cell.text_sha256} for each in found.values()]
    for key in sorted(own[0] & own[1]):
        yield f"{key} has another source in B than in A, so these are two kernels."


def _together(summary: Summary) -> str:
    if summary.ratio is None and summary.disturbed:
        return "Nothing can be compared: none has two times that nothing disturbed."
    if summary.ratio is None:
        return "Nothing can be compared: only right outputs have a speed."
    counts = ", ".join(
        f"{words} in {summary.verdicts[verdict]}"
        for verdict, words in VERDICTS.items()
        if summary.verdicts[verdict]
    )
    compared = _cells(summary.verdicts.total())
    how = numbers.times_as_fast(summary.ratio, numbers.fine_ratio)
    return f"B is {how} A, in the geometric mean of {compared}: {counts}."


def _cells(count: int) -> str:
    return f"{count} cell{'s' if count != 1 else ''}"


# -- as JSON


def _data(a: Session, b: Session, pairs: Pairs, failures: Sequence[str]) -> dict[str, Any]:
    """Describe two sessions side by side.

    A ratio is the time of A over that of B, and a verdict is about B; `failures` are the sentences
    for which the command fails.
    """
    summary = summary_of(pairs)
    return {
        "command": "compare",
        "program": program_version(),
        "confidence": CONFIDENCE,
        "a": _session_data(a),
        "b": _session_data(b),
        "ratio": summary.ratio,
        "verdicts": {name: summary.verdicts[name] for name in VERDICTS},
        "disturbed": summary.disturbed,
        "incomparable": summary.incomparable,
        "only_a": summary.only_a,
        "only_b": summary.only_b,
        "failures": list(failures),
        "pairs": [_pair_data(pair) for pair in pairs],
    }


def _session_data(session: Session) -> dict[str, Any]:
    return {
        "title": session.plan.title,
        "machine": to_plain(session.machine),
        "started": session.started,
        "came_with_the_program": session.is_shipped,
    }


def _pair_data(pair: CellPair) -> dict[str, Any]:
    a, b = (each.verified if each else None for each in (pair.a, pair.b))
    return {
        "cell": to_plain(pair.cell),
        "a_median_ms": a and a.kernel.median_ms,
        "b_median_ms": b and b.kernel.median_ms,
        **ratio_data(pair.comparison),
        "why_not": pair.objection,
        "disturbances": [words for each in _verified(pair) for words in each.disturbances],
    }
