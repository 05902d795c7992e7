"""Write kernels/engine/shipped_times.json, by which `auto` goes until measured: `make tables`.

It is taken from what `workbench bench kernels --json assets/measured/ladder.json` left.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from kernels.engine.measurements import Candidate, JobClass, job_class_of, size_class
from kernels.rungs.rung import ladder
from workbench.cli import made_jobs

ROOT = Path(__file__).resolve().parents[1]
MEASURED = ROOT / "assets" / "measured" / "ladder.json"
WRITTEN = ROOT / "kernels" / "engine" / "shipped_times.json"
KEPT = 6  # ways of each kind: where the first refuses a job, there are others


def main() -> int:
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))
    WRITTEN.write_text(text(measured), encoding="utf-8")
    return 0


def text(measured: dict[str, Any]) -> str:
    """Format the bench's measurements as the file."""
    kinds = [
        {"kind": asdict(kind_in(cell)), "measured": [asdict(each) for each in ways_in(cell)]}
        for cell in measured["cells"]
    ]
    device = json.dumps(measured["device"]["name"])
    lines = ",\n".join(json.dumps(each) for each in kinds)
    return f'{{"device": {device}, "kinds": [\n{lines}\n]}}\n'


def kind_in(cell: dict[str, Any]) -> JobClass:
    """Classify a cell of the bench, without making its picture."""
    job = made_jobs.job(
        cell["weights"], cell["ksize"], (8, 8), cell["channels"], cell["pixel_type"]
    )
    return replace(job_class_of(job), size=size_class(cell["height"], cell["width"]))


def ways_in(cell: dict[str, Any]) -> list[Candidate]:
    """Select the quickest ways whose outputs were right, with all of float32."""
    exact = {rung.key for rung in ladder() if not rung.reduced_precision}
    right = [
        each
        for each in cell["rungs"]
        if each["ok"] and each["precision"] == "float32" and each["key"] in exact
    ]
    own = {rung.key: rung.own_block for rung in ladder()}
    return [
        Candidate(
            each["key"],
            None if own[each["key"]] else tuple(each["block_xy"]),
            each["ms"],
            *each["quartiles"],
        )
        for each in sorted(right, key=lambda each: each["ms"])[:KEPT]
    ]


if __name__ == "__main__":
    raise SystemExit(main())
