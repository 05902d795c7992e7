"""Sweeps, and how two of them compare, as data for `--json`.

Times are in milliseconds.  What is not known is null; a cell stands as session files have it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kernels.core.comparison import Comparison
from kernels.core.plain_data import to_plain
from kernels.core.statistics import CONFIDENCE
from kernels.core.version import program_version
from kernels.sweeps.record import Measurement, Record, Session
from kernels.sweeps.session_comparison import CellPair, summary_of
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
        "a": _who(a),
        "b": _who(b),
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


def _who(session: Session) -> Data:
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
