"""Ask Nsight Compute why an aim is missed: `packaging/counters.py`, where `ncu` and a GPU are.

Launches the rung that came nearest to each missed aim in assets/measured/ladder.json, and writes
assets/measured/counters.json, of which `make tables` makes a table.
"""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
MEASURED = ROOT / "assets" / "measured" / "ladder.json"
WRITTEN = ROOT / "assets" / "measured" / "counters.json"

Data = dict[str, Any]

METRICS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
SHARES, COUNTS = METRICS["shares"], METRICS["counts"]
DURATION = "gpu__time_duration.sum"  # only to tell which of several passes takes longest
STALL, PER_ISSUE = "smsp__average_warps_issue_stalled_", "_per_issue_active.ratio"
NO_STALL = ("selected", "not_selected")  # the warp issued, or could have


def main(words: Sequence[str] = sys.argv[1:]) -> int:
    cells = missed(json.loads(MEASURED.read_text(encoding="utf-8")))
    if list(words) == ["--launch"]:
        launch(cells)
        return 0
    if not shutil.which("ncu"):
        print("Nsight Compute's `ncu` is not on the path.", file=sys.stderr)
        return 1
    rows = list(csv.DictReader(StringIO(profiled(sorted({each["rung"] for each in cells})))))
    counted = counters(cells, rows[1:])  # the first row has the units
    WRITTEN.write_text(json.dumps({"cells": counted}, indent=1) + "\n", encoding="utf-8")
    print(f"Wrote {WRITTEN.relative_to(ROOT)}, {len(counted)} cells.")
    return 0


def missed(measured: Data) -> list[Data]:
    """The cells in which an aim is missed, each with the rung that came nearest to it."""
    named = ("weights", "pixel_type", "channels", "width", "height", "ksize")
    found = {}
    for cell in measured["cells"]:
        for aim in cell["aims"]:
            if aim["met"] is False and aim["best"] is not None:
                best = next(each for each in cell["rungs"] if each["key"] == aim["best"])
                chosen = {name: cell[name] for name in named}
                found[tuple(chosen.values()), aim["best"]] = {
                    **chosen,
                    "size": cell["size"],
                    "rung": aim["best"],
                    "block_xy": best["block_xy"],
                    "passes": best["passes"],
                    "share": aim["share"],
                    "aim": aim["aim"],
                }
    return list(found.values())


def launch(cells: Sequence[Data]) -> None:
    """Launch each cell's rung once, in an NVTX range that has its name."""

    from kernels import Engine
    from workbench.cli import made_jobs

    engine = Engine()
    for cell in cells:
        size = cell["height"], cell["width"]
        what = cell["weights"], cell["ksize"], size, cell["channels"], cell["pixel_type"]
        job = made_jobs.job(*what)
        block_xy = tuple(cell["block_xy"])
        engine.launch_once(job.but(implementation=cell["rung"], block_xy=block_xy))


def profiled(rungs: Sequence[str]) -> str:
    """What Nsight Compute counted of the launches, as CSV, with a row for each kernel."""
    metrics = (*SHARES.values(), *COUNTS.values(), DURATION, f"regex:{STALL}.*{PER_ISSUE}")
    ranges = (word for rung in rungs for word in ("--nvtx-include", f"{rung}/"))
    words = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none"]
    words += ["--nvtx", *ranges, "--metrics", ",".join(metrics)]
    done = subprocess.run(
        [*words, sys.executable, __file__, "--launch"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    lines = done.stdout.splitlines(keepends=True)
    table = [line for line in lines if line.startswith('"')]  # others are ncu's own
    if done.returncode or not table:
        raise SystemExit(f"ncu ended with {done.returncode}: {''.join(lines[-5:])}")
    return "".join(table)


def counters(cells: Sequence[Data], rows: Sequence[dict[str, str]]) -> list[Data]:
    """The cells with their counters: of several passes, those of the longest."""
    wanted = sum(each["passes"] for each in cells)
    if len(rows) != wanted:
        raise SystemExit(f"ncu saw {len(rows)} kernels where {wanted} were launched.")
    left, found = iter(rows), []
    for cell in cells:
        passes = [next(left) for _ in range(cell["passes"])]
        longest = max(passes, key=lambda row: _number(row, DURATION))
        found.append({**cell, **_counted(longest)})
    return found


def _counted(row: dict[str, str]) -> Data:
    stalls = {
        name.removeprefix(STALL).removesuffix(PER_ISSUE): _number(row, name)
        for name in row
        if name.startswith(STALL) and name.endswith(PER_ISSUE)
    }
    kept = {name: value for name, value in stalls.items() if name not in NO_STALL}
    return {
        "function": row["Kernel Name"].partition("(")[0],
        **{name: _number(row, metric) for name, metric in {**SHARES, **COUNTS}.items()},
        "stalls": dict(sorted(kept.items(), key=lambda each: -each[1])),
    }


def _number(row: dict[str, str], name: str) -> float:
    return float(row[name].replace(",", ""))


if __name__ == "__main__":
    sys.exit(main())
