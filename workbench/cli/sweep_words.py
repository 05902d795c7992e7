"""A sweep in words, as tables of times and speed-ups, and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from kernels.core.cpu_load import disturbed_in_words
from kernels.core.plain_data import to_plain
from kernels.core.timing import CONFIDENCE, ENOUGH_SAMPLES, Comparison
from kernels.core.version import program_version
from kernels.sweeps.plan import Cell, Plan
from kernels.sweeps.record import Measurement, Record, Session
from workbench.base import numbers
from workbench.base.columns import columns
from workbench.base.numbers import star, why_starred
from workbench.report.tables import Baseline, baseline_of

Data = dict[str, Any]
MAX_REASONS = 8
# By the words of a row, then by implementation.
Rows = dict[tuple[str, ...], dict[str, list[Record]]]
# Of Plan's lists: the names of one value and of several, and a cell's value in words.
DOWN: dict[str, tuple[str, str, Callable[[Cell], str]]] = {
    "pictures": ("picture", "kinds of picture", lambda cell: cell.picture),
    "sizes": ("size", "sizes", lambda cell: cell.size_in_words),
    "pixel_types": ("type", "pixel types", lambda cell: cell.pixel_type),
    "channels": ("channels", "numbers of channels", lambda cell: str(cell.channels)),
    "counts": ("pictures", "numbers of pictures", lambda cell: str(cell.count)),
    "filters": ("filter", "filters", lambda cell: cell.filter),
    "borders": ("border", "borders", lambda cell: cell.border),
    "ksizes": ("K", "kernel sizes", lambda cell: f"{cell.ksize}×{cell.ksize}"),
    "caches": ("L2", "states of the cache", lambda cell: cell.cache or ""),
    "devices": ("GPUs", "numbers of GPUs", lambda cell: str(cell.devices) if cell.cache else ""),
    "blocks": ("block", "block shapes", lambda cell: cell.block_in_words),
}


def opening_lines(plan: Plan, cells: Sequence[Cell]) -> Iterator[str]:
    """Describe the plan before it is measured."""
    yield plan.title
    if plan.note:
        yield plan.note
    parts = [f"{len(getattr(plan, name))} {DOWN[name][1]}" for name in plan.varied if name in DOWN]
    if len(plan.implementations) > 1:
        parts.append(f"{len(plan.implementations)} implementations")
    made = f": {' × '.join(parts)}" if parts else ""
    yield f"{len(cells)} cell{'s' if len(cells) != 1 else ''}{made}."


def closing_lines(session: Session) -> Iterator[str]:
    """Tabulate times and speed-ups, then explain disturbances and missing times."""
    plan, records = session.plan, session.records
    # Block shapes have rows where nothing else varies; else the quickest stands beside its time.
    varied = [name for name in plan.varied if name in DOWN]
    down = varied if varied == ["blocks"] else [name for name in varied if name != "blocks"]
    if rows := _rows(records, down):
        keys = list(dict.fromkeys(record.cell.implementation for record in records))
        shows_block = "blocks" in varied and "blocks" not in down
        yield ""
        yield _table(rows, down, keys, lambda record: _time(record, shows_block))
        yield from _speed_ups(session, rows, down, keys)
        yield from _disturbances(records)
    if plan.tolerance is not None:
        yield from _errors(records, plan.tolerance)
    yield from _reasons(records)


def _rows(records: Sequence[Record], down: Sequence[str]) -> Rows:
    """Group records by row and implementation; only rows with a verified time."""
    rows: Rows = {}
    for record in records:
        key = tuple(DOWN[name][2](record.cell) for name in down)
        rows.setdefault(key, {}).setdefault(record.cell.implementation, []).append(record)
    return {
        key: found
        for key, found in rows.items()
        if any(record.verified for each in found.values() for record in each)
    }


def _table(
    rows: Rows, down: Sequence[str], keys: Sequence[str], words_of: Callable[[Record], str]
) -> str:
    """Lay out a column for each implementation, with the words of its quickest record."""
    body = []
    for key, found in rows.items():
        quickest = (_quickest(found.get(each, ())) for each in keys)
        body.append((*key, *(words_of(each) if each else numbers.MISSING for each in quickest)))
    return columns([(*(DOWN[name][0] for name in down), *keys), *body])


def _quickest(records: Sequence[Record]) -> Record | None:
    """Find the quickest of the verified records."""
    times = {at: each.verified.kernel.median_ms for at, each in enumerate(records) if each.verified}
    return records[min(times, key=times.__getitem__)] if times else None


def _time(record: Record, shows_block: bool) -> str:
    assert record.verified is not None
    kernel = record.verified.kernel
    duration = f"{numbers.duration(kernel.median_ms)}{star(record.verified.disturbances)}"
    block = record.cell.block_in_words if shows_block else ""
    once = "once" if len(kernel.samples_ms) == 1 else ""
    return " ".join(filter(None, (duration, block, once)))


def _speed_ups(
    session: Session, rows: Rows, down: Sequence[str], keys: Sequence[str]
) -> Iterator[str]:
    baseline = baseline_of(session)
    timed = {record.cell.implementation for record in session.records if record.verified}
    others = [key for key in keys if baseline and key != baseline.key and key in timed]
    if baseline is None or not others:
        return

    def speed_up(record: Record) -> str:
        found = baseline.speed_up(record)
        if found is None:
            return numbers.MISSING
        return numbers.speed_up_between(found.ratio, *(found.interval or 2 * (found.ratio,)))

    yield ""
    yield (
        f"Speed-up against {baseline.title}, and its {100 * CONFIDENCE:g} % interval where there "
        f"are {ENOUGH_SAMPLES} samples or rounds:"
    )
    yield _table(rows, down, others, speed_up)


def _disturbances(records: Sequence[Record]) -> Iterator[str]:
    """Explain the stars."""
    measured = [found for each in records if (found := each.verified)]
    if words := disturbed_in_words(each.load for each in measured):
        yield from ("", f"* {words}")
    seen = (why for each in measured if each.health for why in each.health.disturbances)
    if words := why_starred(tuple(dict.fromkeys(seen))):
        yield from ("", words)


def _errors(records: Sequence[Record], tolerance: float) -> Iterator[str]:
    """Compare the largest error with the plan's tolerance."""
    checks = [found.check for each in records if (found := each.verified) and found.check]
    if not checks:
        return
    off = sum(check.max_error > tolerance for check in checks)
    within = f"{off} of them are off by more" if off else "none is off by more"
    largest = max(check.max_error for check in checks)
    yield ""
    yield (
        f"{len(checks)} outputs compared with the reference: the largest error is {largest:.3g}; "
        f"the plan accepts {tolerance:g}, and {within}."
    )


def _reasons(records: Sequence[Record]) -> Iterator[str]:
    """Explain cells without a time, the commonest reason first."""
    objections = [(each.cell.implementation, each.objection) for each in records if each.objection]
    if not objections:
        return
    counts = Counter(reason for _, reason in objections).most_common()
    yield ""
    for reason, count in counts[:MAX_REASONS]:
        keys = list(dict.fromkeys(key for key, each in objections if each == reason))
        names = ", ".join(keys) if len(keys) <= 3 else f"{len(keys)} implementations"
        yield f"{count} × no time of {names}: {reason}"
    if rest := sum(count for _, count in counts[MAX_REASONS:]):
        yield f"{rest} × no time for other reasons: session.csv has them."


# -- as JSON


def sweep_data(session: Session, cells: int, folder: Path) -> Data:
    """Describe a sweep as it stands.

    `cells` is their number in all, `records` those with an outcome, of which `measured` have a
    time beside a passed check.
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
        "records": [_record_data(record, baseline) for record in session.records],
    }


def _record_data(record: Record, baseline: Baseline | None) -> Data:
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


def ratio_data(found: Comparison | None) -> Data:
    """Describe a ratio with its interval, None of too few samples, and its verdict."""
    if found is None:
        return dict.fromkeys(("ratio", "low", "high", "verdict"))
    low, high = found.interval or (None, None)
    return {"ratio": found.ratio, "low": low, "high": high, "verdict": found.verdict}
