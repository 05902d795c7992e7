"""Sessions and comparisons as CSV: a rate stands only beside a passed check."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from typing import TextIO

from kernels.core.cpu_load import Load
from kernels.core.health import Health
from kernels.core.timing import Timing
from kernels.cuda.staging import Transfers
from kernels.engine.engine import all_implementations
from kernels.rungs.own_kernels import is_own
from kernels.sweeps.cell import Cell
from kernels.sweeps.plan import Plan
from kernels.sweeps.plan_files import KEYS, PLAN_KEYS
from kernels.sweeps.record import Measurement, Record, Session
from kernels.sweeps.session_comparison import CellPair

Row = dict[str, object]

FORMULA = ("=", "+", "-", "@", "\t", "\r")
NUMBERS = re.compile(r"[-+\d.,;/eE ]*")  # such as weights, which may begin with a minus

COLUMNS = (
    *("session", "source", "table", "implementation", "kind", "varied", "value"),
    *("height", "width", "channels", "pixel_type", "picture", "count"),
    *("filter", "kernel_size", "sigma", "amount", "weights", "border", "block_x", "block_y"),
    *("median_ms", "lower_quartile_ms", "upper_quartile_ms", "min_ms", "max_ms"),
    *("interval_low_ms", "interval_high_ms", "samples", "rounds", "warmups", "ended", "cache"),
    "devices",
    *("compile_ms", "upload_ms", "download_ms", "pinned_upload_ms", "pinned_download_ms"),
    *("end_to_end_ms", "megapixels_per_s", "effective_gb_s", "occupancy", "ran"),
    *("sm_mhz_low", "sm_mhz_high", "memory_mhz_low", "memory_mhz_high"),
    *("temperature_c_high", "power_w_high", "throttled"),
    *("others_busy_cores", "stolen_share", "quota_cores", "quota_held_back", "disturbed"),
    *("threads", "cpu", "device", "machine"),
    *("check", "checked_pixels", "max_error", "text_sha256", "at", "note"),
)
CELL_COLUMNS = COLUMNS[COLUMNS.index("height") : COLUMNS.index("block_y") + 1]
PAIR_COLUMNS = (
    *("implementation", "kind", *CELL_COLUMNS, "cache", "devices", "text_sha256"),
    *("a_median_ms", "b_median_ms"),
    *("ratio", "ratio_low", "ratio_high", "verdict", "note"),
)


def write_csv(sessions: Iterable[Session], file: TextIO) -> None:
    """Write a row for each record, as `row_of` says.

    file  opened with newline=""
    """
    rows = (row_of(session, record) for session in sessions for record in session.records)
    write_rows(COLUMNS, rows, file)


def row_of(session: Session, record: Record) -> Row:
    """Return what COLUMNS ask for: times in milliseconds; what is not known is left out."""
    return _session_columns(session, record) | _record_columns(record, session.plan)


def write_rows(columns: Sequence[str], rows: Iterable[Row], file: TextIO) -> None:
    """Write a header and `rows`: floats in six significant digits, texts as no formula.

    file  opened with newline=""
    """
    writer = csv.DictWriter(file, columns, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _field(value) for name, value in row.items()})


def write_pairs_csv(pairs: Iterable[CellPair], file: TextIO) -> None:
    """Write a row a pair: `ratio` is the time of A over that of B, and `verdict` what B is."""
    write_rows(PAIR_COLUMNS, map(_pair_row, pairs), file)


def _pair_row(pair: CellPair) -> Row:
    row = _cell_columns(pair.cell) | {"note": pair.objection}
    for name, record in (("a", pair.a), ("b", pair.b)):
        if record and record.verified:
            row[f"{name}_median_ms"] = record.verified.kernel.median_ms
    if found := pair.comparison:
        low, high = found.interval or (None, None)
        row |= {"ratio": found.ratio, "ratio_low": low, "ratio_high": high}
        row["verdict"] = found.verdict
    return row


def _session_columns(session: Session, record: Record) -> Row:
    on_gpu = _kind(record.cell) == "cuda"
    return {
        "session": session.plan.title,
        "source": session.plan.source,
        "table": session.plan.table,
        "cpu": session.machine.cpu,
        "device": session.machine.gpu if on_gpu else "",
        "machine": session.machine.name,
    }


def _record_columns(record: Record, plan: Plan) -> Row:
    row = _cell_columns(record.cell) | {
        "varied": ", ".join(KEYS[field] for field in plan.varied),
        "value": ", ".join(filter(None, (_along(field, record.cell) for field in plan.varied))),
        "at": round(record.at),
        "note": record.objection,
    }
    if isinstance(record.outcome, Measurement):
        measured = record.outcome
        row |= _timing_columns(measured.kernel) | _run_columns(measured) | _rates(record)
        row |= _transfer_columns(measured.transfers) | _health_columns(measured.health)
        row |= _load_columns(measured.load) | {"disturbed": "; ".join(measured.disturbances)}
    return row


def _cell_columns(cell: Cell) -> Row:
    block_x, block_y = cell.block_xy or (None, None)
    return {
        "implementation": cell.implementation,
        "kind": _kind(cell),
        "height": cell.height,
        "width": cell.width,
        "channels": cell.channels,
        "pixel_type": cell.pixel_type,
        "picture": cell.picture,
        "count": cell.count,
        "filter": cell.filter,
        "kernel_size": cell.ksize,
        "sigma": cell.sigma,
        "amount": cell.amount,
        "weights": PLAN_KEYS["matrix"].write(cell.matrix) if cell.matrix else "",
        "border": cell.border,
        "block_x": block_x,
        "block_y": block_y,
        "cache": cell.cache,
        "devices": cell.devices if _kind(cell) == "cuda" else None,
        "text_sha256": cell.text_sha256,
    }


def _timing_columns(timing: Timing) -> Row:
    quartiles, interval = timing.quartiles_ms, timing.interval_ms or (None, None)
    return {
        "median_ms": timing.median_ms,
        "lower_quartile_ms": quartiles[0],
        "upper_quartile_ms": quartiles[1],
        "min_ms": timing.min_ms,
        "max_ms": timing.max_ms,
        "interval_low_ms": interval[0],
        "interval_high_ms": interval[1],
        "samples": len(timing.samples_ms),
        "rounds": len(timing.rounds) or 1,
        "warmups": timing.warmups,
        "ended": timing.ended,
    }


def _run_columns(measured: Measurement) -> Row:
    return {
        "compile_ms": measured.compile_ms,
        "end_to_end_ms": measured.end_to_end_ms,
        "occupancy": measured.occupancy.share if measured.occupancy else None,
        "ran": "; ".join(map(str, measured.ran)),
        "threads": measured.threads,
    }


def _rates(record: Record) -> Row:
    """Return rates, and what they stand on.

    Of a large picture only some pixels are checked, and nothing can be said of sums that may
    overflow.
    """
    assert isinstance(record.outcome, Measurement)
    check = record.outcome.check
    if check is None:
        return {"check": "none"}
    found: Row = {"checked_pixels": check.checked, "max_error": check.max_error}
    if record.verified is None:
        return found | {"check": "wrong" if check.wrong else "none"}
    return found | {
        "check": "passed",
        "megapixels_per_s": record.megapixels_per_s,
        "effective_gb_s": record.verified.effective_gb_s,
    }


def _transfer_columns(transfers: Transfers | None) -> Row:
    if transfers is None:
        return {}
    return {
        "upload_ms": transfers.pageable_up.median_ms,
        "download_ms": transfers.pageable_down.median_ms,
        "pinned_upload_ms": transfers.pinned_up.median_ms,
        "pinned_download_ms": transfers.pinned_down.median_ms,
    }


def _health_columns(health: Health | None) -> Row:
    if health is None:
        return {}
    sm, memory = health.sm_mhz or (None, None), health.memory_mhz or (None, None)
    return {
        "sm_mhz_low": sm[0],
        "sm_mhz_high": sm[1],
        "memory_mhz_low": memory[0],
        "memory_mhz_high": memory[1],
        "temperature_c_high": health.temperature_c[1] if health.temperature_c else None,
        "power_w_high": health.power_w[1] if health.power_w else None,
        "throttled": ", ".join(health.throttled),
    }


def _load_columns(load: Load | None) -> Row:
    if load is None:
        return {}
    return {
        "others_busy_cores": load.others,
        "stolen_share": load.stolen,
        "quota_cores": load.quota,
        "quota_held_back": load.throttled,
    }


def _along(field: str, cell: Cell) -> str:
    """Return where a cell stands along one of Plan's lists, as its TOML has it.

    An empty text where it stands nowhere.
    """
    if field == "sizes":
        return str(PLAN_KEYS["sizes"].write((cell.width, cell.height)))
    if field == "blocks":
        return str(PLAN_KEYS["blocks"].write(cell.block_xy)) if cell.block_xy else ""
    same = {"ksizes": "ksize", "channels": "channels", "devices": "devices"}
    value = getattr(cell, same.get(field, field[:-1]))
    return "" if value is None else str(value)


def _kind(cell: Cell) -> str:
    """Return "cpu" or "cuda", or "" for an implementation that is gone."""
    if is_own(cell.implementation):
        return "cuda"
    return next(
        (each.kind for each in all_implementations() if each.key == cell.implementation), ""
    )


def _field(value: object) -> object:
    """Return a field of a row.

    A float has six digits, since no clock is finer. A text that a spreadsheet would take for a
    formula gets an apostrophe in front, as spreadsheets have it: a title may come from anybody.
    """
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, str) and value.startswith(FORMULA) and not NUMBERS.fullmatch(value):
        return f"'{value}"
    return value
