"""Sessions and comparisons as CSV: a rate stands only beside a passed check."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Any

from kernels.core.plain_data import table_beside
from kernels.sweeps.plan import Cell, kind_of
from kernels.sweeps.plan_keys import KEYS, PLAN_KEYS
from kernels.sweeps.record import CellPair, Measurement, Record, Session

Row = dict[str, object]

FORMULA = ("=", "+", "-", "@", "\t", "\r")
NUMBERS = re.compile(r"[-+\d.,;/eE ]*")  # such as weights, which may begin with a minus


# Column -> where its value stands in `_facts`; None anywhere on the way leaves it empty.
_TABLES = table_beside(__file__)
_PATHS: dict[str, str] = {**_TABLES["first"], **_TABLES["cell"], **_TABLES["last"]}
COLUMNS = tuple(_PATHS)
_PAIR_CELL = ("implementation", "kind", *_TABLES["cell"], "cache", "devices", "text_sha256")
PAIR_COLUMNS = (
    *_PAIR_CELL,
    *("a_median_ms", "b_median_ms"),
    *("ratio", "ratio_low", "ratio_high", "verdict", "note"),
)


def _facts_of(cell: Cell) -> dict[str, Any]:
    kind = kind_of(cell).replace("own", "cuda")
    return {
        "cell": cell,
        "one": None if cell.list else cell,
        "kind": kind,
        "weights": PLAN_KEYS["matrix"].write(cell.matrix) if cell.matrix else "",
        "devices": cell.devices if kind == "cuda" else None,
    }


def _facts(session: Session, record: Record) -> dict[str, Any]:
    cell, varied, measured = record.cell, session.plan.varied, record.outcome
    facts = {
        **_facts_of(cell),
        "session": session,
        "record": record,
        "at": round(record.at),
        "varied": ", ".join(KEYS[field] for field in varied),
        "value": ", ".join(filter(None, (_along(field, cell) for field in varied))),
    }
    facts["device"] = session.machine.gpu if facts["kind"] == "cuda" else ""
    if isinstance(measured, Measurement):
        kernel, check, health = measured.kernel, measured.check, measured.health
        is_wrong = check is not None and check.wrong
        facts |= {
            "measured": measured,
            "kernel": kernel,
            "quartiles_ms": kernel.quartiles_ms,
            "interval_ms": kernel.interval_ms,
            "min_ms": min(kernel.samples_ms),
            "max_ms": max(kernel.samples_ms),
            "samples": len(kernel.samples_ms),
            "rounds": len(kernel.rounds) or 1,
            "ran": "; ".join(map(str, measured.ran)),
            "steps_ms": "; ".join(f"{each.median_ms:.6g}" for each in measured.steps),
            "throttled": ", ".join(health.throttled) if health else None,
            "disturbed": "; ".join(measured.disturbances),
            "check": "passed" if record.verified else "wrong" if is_wrong else "none",
        }
    return facts


def _value(facts: dict[str, Any], path: str) -> Any:
    root, *names = path.split(".")
    found = facts.get(root)
    for name in names:
        if found is None:
            return None
        found = found[int(name)] if name.isdigit() else getattr(found, name)
    return found


def sessions_csv(sessions: Iterable[Session]) -> str:
    """Write a row for each record, as `row_of` says."""
    rows = (row_of(session, record) for session in sessions for record in session.records)
    return rows_csv(COLUMNS, rows)


def row_of(session: Session, record: Record) -> Row:
    """Values of COLUMNS: times in milliseconds; None where one is not known."""
    facts = _facts(session, record)
    return {name: _value(facts, path) for name, path in _PATHS.items()}


def rows_csv(columns: Sequence[str], rows: Iterable[Row]) -> str:
    """Write a header and `rows`: floats in six significant digits, texts as no formula."""
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, columns, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _field(value) for name, value in row.items()})
    return file.getvalue()


def pairs_csv(pairs: Iterable[CellPair]) -> str:
    """Write a row per pair: `ratio` is A's time over B's, and `verdict` that of B."""
    return rows_csv(PAIR_COLUMNS, map(_pair_row, pairs))


def _pair_row(pair: CellPair) -> Row:
    facts = _facts_of(pair.cell)
    row = {name: _value(facts, _PATHS[name]) for name in _PAIR_CELL} | {"note": pair.objection}
    for name, record in (("a", pair.a), ("b", pair.b)):
        if record and record.verified:
            row[f"{name}_median_ms"] = record.verified.kernel.median_ms
    if found := pair.comparison:
        low, high = found.interval or (None, None)
        row |= {"ratio": found.ratio, "ratio_low": low, "ratio_high": high}
        row["verdict"] = found.verdict
    return row


def _along(field: str, cell: Cell) -> str:
    """A cell's value along one of Plan's lists, as TOML has it; "" where it has none."""
    if field == "sizes":
        return str(PLAN_KEYS["sizes"].write((cell.width, cell.height)))
    if field == "blocks":
        return str(PLAN_KEYS["blocks"].write(cell.block_xy)) if cell.block_xy else ""
    same = {"ksizes": "ksize", "channels": "channels", "devices": "devices"}
    value = getattr(cell, same.get(field, field[:-1]))
    return "" if value is None else str(value)


def _field(value: object) -> object:
    """Round floats, and put an apostrophe before texts that spreadsheets read as formulas."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, str) and value.startswith(FORMULA) and not NUMBERS.fullmatch(value):
        return f"'{value}"
    return value
