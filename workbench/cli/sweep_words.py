"""A sweep in words, as the tables of its report, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kernels.core.plain_data import to_plain
from kernels.core.timing import CONFIDENCE, Comparison
from kernels.core.version import program_version
from kernels.sweeps.plan import Cell, Plan
from kernels.sweeps.plan_files import KEYS
from kernels.sweeps.record import Measurement, Record, Session
from workbench.base.columns import columns
from workbench.report.session_tables import refusals_table, times_table
from workbench.report.tables import Baseline, baseline_of, plural

Data = dict[str, Any]


def opening_lines(plan: Plan, cells: Sequence[Cell]) -> Iterator[str]:
    """Describe the plan before it is measured."""
    yield plan.title
    if plan.note:
        yield plan.note
    made = " × ".join(f"{len(getattr(plan, name))} {KEYS[name]}" for name in plan.varied)
    yield f"{plural(len(cells), 'cell')}{made and f': {made}'}."


def closing_lines(session: Session) -> Iterator[str]:
    """Tabulate times and speed-ups, then the reasons for missing times."""
    for make in (times_table, refusals_table):
        if table := make(session, ""):
            titles = tuple(column.title for column in table.columns)
            yield f"\n{table.caption}"
            yield columns([titles, *(row.cells for row in table.rows)])
            yield from table.notes


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
