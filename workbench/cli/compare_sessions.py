"""`workbench compare A B`: what was measured on two machines, or at two times, side by side."""

from __future__ import annotations

import io
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from textwrap import fill
from typing import Any

from kernels.core.cpu_load import disturbed_in_words
from kernels.core.plain_data import to_plain
from kernels.core.timing import CONFIDENCE, NO_INTERVAL, Comparison, Verdict
from kernels.core.version import program_version
from kernels.sweeps.plan import Cell
from kernels.sweeps.plan_run import in_words
from kernels.sweeps.record import Measurement, Record, Session
from kernels.sweeps.session_comparison import EQUAL, CellPair, Summary, compare_sessions, summary_of
from kernels.sweeps.session_csv import write_pairs_csv
from kernels.sweeps.session_files import read_session
from workbench.base import numbers
from workbench.base.columns import aligned, columns
from workbench.base.numbers import why_starred
from workbench.cli.output import FAILED, CommandError, json_of, write_whole
from workbench.model.names import ran_on
from workbench.report.tables import Baseline, baseline_of

Data = dict[str, Any]


def sweep_data(session: Session, cells: int, folder: Path) -> Data:
    """Return a sweep as it stands.

    `cells` it has in all, `records` those with an outcome, of which `measured` have a time
    beside a passed check.
    """
    baseline = baseline_of(session)
    return {
        "command": "sweep",
        "program": program_version(),
        "folder": str(folder),
        "title": session.plan.title,
        "machine": to_plain(session.machine),
        "confidence": CONFIDENCE,
        "cells": cells,
        "measured": sum(record.verified is not None for record in session.records),
        "is_complete": len(session.records) == cells
        and all(record.is_complete for record in session.records),
        "baseline": baseline.key if baseline else None,
        "records": [record_data(record, baseline) for record in session.records],
    }


def record_data(record: Record, baseline: Baseline | None = None) -> Data:
    """Return a cell and what came of it.

    `why_not` says why it has no time that counts.
    """
    data: Data = {"cell": to_plain(record.cell), "why_not": record.objection}
    if not isinstance(record.outcome, Measurement):
        return data | {"is_complete": True}
    measured = record.outcome
    kernel = measured.kernel
    speed_up = baseline.speed_up(record) if baseline else None
    return data | {
        "is_complete": record.is_complete,
        "median_ms": kernel.median_ms,
        "interval_ms": list(kernel.interval_ms) if kernel.interval_ms else None,
        "quartiles_ms": list(kernel.quartiles_ms),
        "samples": len(kernel.samples_ms),
        "rounds": len(kernel.rounds) or 1,
        "ended": kernel.ended,
        "end_to_end_ms": measured.end_to_end_ms,
        "megapixels_per_s": record.megapixels_per_s,
        "speed_up": ratio_data(speed_up) if speed_up else None,
        "verified": record.verified is not None,
        "check": str(measured.check) if measured.check else None,
        "ran": [str(each) for each in measured.ran],
        "disturbances": list(measured.disturbances),
    }


def compare_data(
    a: Session, b: Session, pairs: Iterable[CellPair], failures: Iterable[str]
) -> Data:
    """Return two sessions side by side.

    A ratio is the time of A over that of B, and a verdict what B is; `failures` are the
    sentences for which the command fails.
    """
    pairs = tuple(pairs)
    summary = summary_of(pairs)
    return {
        "command": "compare",
        "program": program_version(),
        "confidence": CONFIDENCE,
        "a": _side(a),
        "b": _side(b),
        "ratio": summary.ratio,
        "verdicts": {name: summary.verdicts[name] for name in ("faster", "slower", "same")},
        "disturbed": summary.disturbed,
        "incomparable": summary.incomparable,
        "only_a": summary.only_a,
        "only_b": summary.only_b,
        "failures": list(failures),
        "pairs": [_pair_data(pair) for pair in pairs],
    }


def ratio_data(found: Comparison) -> Data:
    """Return a ratio with its interval, None of too few samples, and its verdict."""
    low, high = found.interval or (None, None)
    return {"ratio": found.ratio, "low": low, "high": high, "verdict": found.verdict}


def _side(session: Session) -> Data:
    return {
        "title": session.plan.title,
        "machine": to_plain(session.machine),
        "started": session.started,
        "came_with_the_program": session.is_shipped,
    }


def _pair_data(pair: CellPair) -> Data:
    times = {
        f"{name}_median_ms": record.verified.kernel.median_ms
        if record and record.verified
        else None
        for name, record in (("a", pair.a), ("b", pair.b))
    }
    found = ratio_data(pair.comparison) if pair.comparison else dict.fromkeys(RATIO)
    disturbances = [
        words
        for record in (pair.a, pair.b)
        if record and record.verified
        for words in record.verified.disturbances
    ]
    return {
        "cell": to_plain(pair.cell),
        **times,
        **found,
        "why_not": pair.objection,
        "disturbances": disturbances,
    }


RATIO = ("ratio", "low", "high", "verdict")


WIDTH = 100
NOTHING_SHARED = "They have no cell in common: nothing can be compared."
HEADER = ("", "A", "B", "A / B", "B is")
VERDICTS: dict[Verdict, str] = {"faster": "faster", "slower": "slower", "same": EQUAL}


def run(arguments: Namespace) -> int:
    """Print who is compared, a row for each cell that both have, and a summary.

    With --json a document of that.  FAILED where --fail-slower says so.
    """
    sessions = {"A": read_session(arguments.a), "B": read_session(arguments.b)}
    for name, session in sessions.items():
        for remark in session.remarks:
            print(f"workbench: {name}: {remark}", file=sys.stderr)
    pairs = compare_sessions(sessions["A"], sessions["B"])
    if arguments.csv:
        _write(pairs, arguments.csv)
    shared = [pair for pair in pairs if pair.a and pair.b]
    ran = {pair.cell.implementation for pair in shared if pair.comparison or pair.is_disturbed}
    failures = [] if arguments.fail_slower is None else failing(pairs, arguments.fail_slower)
    if arguments.json:
        print(json_of(compare_data(sessions["A"], sessions["B"], pairs, failures)))
        if not shared:
            raise CommandError(NOTHING_SHARED)
    else:
        print(aligned([(name, _who(each, ran)) for name, each in sessions.items()]), end="\n\n")
        if not shared:
            raise CommandError(NOTHING_SHARED)
        print("\n".join(table(shared)), end="\n\n")
        print("\n".join(fill(line, WIDTH, subsequent_indent="  ") for line in closing(pairs)))
    for failure in failures:
        print(f"workbench: {failure}", file=sys.stderr)
    disturbed = sum(pair.is_disturbed for pair in pairs)
    if disturbed and arguments.fail_slower is not None:
        print(f"workbench: {_not_judged(disturbed)}", file=sys.stderr)
    return FAILED if failures else 0


def failing(pairs: Iterable[CellPair], limit: float) -> list[str]:
    """Return a sentence for each cell that is slower in B by more than `limit` (0.05: 5 %).

    So that the whole interval says so, and by more than two sessions of the same work differ; and
    for each that has a verified time in A and none in B, be it refused or wrong there, or missing
    altogether.  What was disturbed fails nothing.
    """
    sentences = []
    for pair in pairs:
        found = pair.comparison
        name = in_words(pair.cell)
        if found is not None and found.high < 1 / (1 + max(limit, found.within)):
            low, high = 1 / found.high - 1, 1 / found.low - 1
            allowed = 100 * max(limit, found.within)
            sentences.append(
                f"{name} takes {numbers.percent(low, 1)} to {numbers.percent(high, 1)} longer in "
                f"B; {allowed:g} % is the limit."
            )
        elif pair.a and pair.a.verified and not (pair.b and pair.b.verified):
            why = pair.b.objection if pair.b else "it is only in A."
            sentences.append(f"{name} has no time in B any more: {why}")
    return sentences


def table(pairs: Sequence[CellPair]) -> Iterator[str]:
    """Return what all have in common, then under each heading its implementations."""
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
    headed = zip(all_facts, lines, strict=True)
    for heading, group in groupby(headed, lambda each: _heading(each[0], varied)):
        if heading:
            yield heading
        yield from (line for _, line in group)


def closing(pairs: Iterable[CellPair]) -> Iterator[str]:
    """Yield what all pairs say together, and what could not be compared, and why."""
    pairs = tuple(pairs)
    summary = summary_of(pairs)
    yield _together(summary)
    if summary.disturbed:
        yield f"No verdict, {_cells(summary.disturbed)}: a time was disturbed (*)."
    refused = [pair for pair in pairs if pair.a and pair.b and not pair.is_disturbed]
    reasons = Counter(pair.objection for pair in refused if pair.objection)
    for reason, count in reasons.items():
        yield f"Not compared, {_cells(count)}: {reason}"
    yield from _lonely(pairs)
    measured = [r.verified for pair in pairs for r in (pair.a, pair.b) if r and r.verified]
    if words := disturbed_in_words(each.load for each in measured):
        yield f"* {words}"
    if words := why_starred(sorted({why for pair in pairs for why in _of_gpu(pair)})):
        yield words


def _lonely(pairs: Sequence[CellPair]) -> Iterator[str]:
    """Yield what only one of them has, and which kernels of the user's own have two texts."""
    found = {
        "A": [pair.cell for pair in pairs if pair.b is None],
        "B": [pair.cell for pair in pairs if pair.a is None],
    }
    for name, lonely in found.items():
        if lonely:
            keys = dict.fromkeys(cell.implementation for cell in lonely)
            yield f"Only in {name}, {_cells(len(lonely))}: {', '.join(keys)}."
    own = [{cell.implementation for cell in each if cell.text_sha256} for each in found.values()]
    for key in sorted(own[0] & own[1]):
        yield f"{key} has another text in B than in A, so these are two kernels."


def _together(summary: Summary) -> str:
    if summary.ratio is None and summary.disturbed:
        return "Nothing can be compared: none has two times that nothing disturbed."
    if summary.ratio is None:
        return "Nothing can be compared: a speed is only what gave a right answer."
    counts = ", ".join(
        f"{words} in {summary.verdicts[verdict]}"
        for verdict, words in VERDICTS.items()
        if summary.verdicts[verdict]
    )
    compared = _cells(summary.verdicts.total())
    how = numbers.times_as_fast(summary.ratio, numbers.fine_ratio)
    return f"B is {how} A, in the geometric mean of {compared}: {counts}."


def _row(pair: CellPair, *, with_cache: bool) -> tuple[str, ...]:
    cell = pair.cell
    name = f"  {cell.implementation} {cell.block_in_words}".rstrip()
    if with_cache and cell.cache:
        name += f", {cell.cache}"
    mark = " *" if _is_disturbed(pair) else ""
    without = "no verdict" if pair.is_disturbed else "not compared"
    verdict = pair.comparison.in_words if pair.comparison else without
    return (
        name,
        _time(pair.a),
        _time(pair.b),
        _interval(pair.comparison) if pair.comparison else numbers.MISSING,
        verdict + mark,
    )


def _time(record: Record | None) -> str:
    if record is None or record.verified is None:
        return numbers.MISSING
    return numbers.duration(record.verified.kernel.median_ms)


def _interval(found: Comparison) -> str:
    """Return a ratio with its interval, if it has one: 1.25× (1.21 – 1.29)."""
    ends = found.interval
    between = " – ".join(map(numbers.three_digits, ends)) if ends else NO_INTERVAL
    return f"{numbers.fine_ratio(found.ratio)} ({between})"


def _is_disturbed(pair: CellPair) -> bool:
    return any(r.verified.disturbances for r in (pair.a, pair.b) if r and r.verified)


def _of_gpu(pair: CellPair) -> Iterator[str]:
    for record in (pair.a, pair.b):
        if record and record.verified and record.verified.health:
            yield from record.verified.health.disturbances


def _facts(cell: Cell) -> dict[str, str]:
    """Return all that tells cells apart, but for implementation, block and cache, in words."""
    parameters = [f"σ {cell.sigma:g}"] if cell.sigma is not None else []
    return {
        "picture": cell.picture,
        "size": cell.size_in_words,
        "samples": f"{cell.channels} × {cell.pixel_type}",
        "count": f"{cell.count} pictures" if cell.count > 1 else "",
        "filter": " ".join((cell.filter, f"{cell.ksize}×{cell.ksize}", *parameters)),
        "amount": f"amount {cell.amount:g}" if cell.filter == "unsharp" else "",
        "border": cell.border,
    }


def _heading(facts: dict[str, str], varied: set[str]) -> str:
    return ", ".join(facts[name] for name in facts if name in varied and facts[name])


def _who(session: Session, implementations: Iterable[str]) -> str:
    """Return who measured: "Image size, NVIDIA H200, 2026-11-21".

    A plan, what of a machine ran these, a day.
    """
    day = datetime.fromtimestamp(session.started, UTC).date().isoformat()
    return f"{session.plan.title}, {ran_on(session.machine, implementations)}, {day}"


def _not_judged(disturbed: int) -> str:
    """Return how many cells have no verdict: "3 cells were not judged, …"."""
    was = "was" if disturbed == 1 else "were"
    return f"{_cells(disturbed)} {was} not judged, for a time was disturbed."


def _cells(count: int) -> str:
    return f"{count} cell{'s' if count != 1 else ''}"


def _write(pairs: Sequence[CellPair], path: Path) -> None:
    table = io.StringIO(newline="")
    write_pairs_csv(pairs, table)
    write_whole(path, table.getvalue())
