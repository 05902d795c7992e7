"""`python -m tests.mutation --help`: plants faults, and says which ones no test noticed."""

from __future__ import annotations

import argparse
import os
import random
import time
from pathlib import Path

from tests.mutation import results
from tests.mutation.choosing import as_it_is_now, choose
from tests.mutation.covering import Covering, test_files
from tests.mutation.operators import Mutant
from tests.mutation.results import Result
from tests.mutation.trying import Copy, preload, who_notices

ROOT = Path(__file__).resolve().parents[2]
# Everything that computes, reads, writes or words a figure, and has no planted faults of its own.
AREAS = [
    *("workbench/charts", "workbench/files", "workbench/report", "workbench/window/palette"),
    *("workbench/panels/weights", "workbench/panels/analysis", "workbench/panels/blocks"),
    *("workbench/imaging", "workbench/window/undo", "workbench/panels/sweep", "workbench/cli"),
    *("workbench/model", "workbench/base/numbers.py", "workbench/panels/timing/timing_strip.py"),
    *("kernels/sweeps", "kernels/rungs/work.py", "kernels/rungs/job_facts.py"),
    *("kernels/cuda/probing.py", "kernels/cuda/event_timer.py", "kernels/cuda/device_pictures.py"),
    *("kernels/core/timing.py", "kernels/core/timing.py", "kernels/core/sampling.py"),
    *("kernels/engine/measurements.py", "kernels/core/weights.py"),
]


def main() -> None:
    """Records the tests, chooses faults, tries those not tried yet, says what became of them."""
    asked = _arguments()
    asked.folder.mkdir(parents=True, exist_ok=True)
    file = asked.folder / f"seed-{asked.seed}.jsonl"
    if not asked.report:
        _try_all(asked, file)
    _say(file, asked.areas)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("areas", nargs="*", default=AREAS, help="files or folders to plant in")
    parser.add_argument("--count", type=int, default=200, help="faults in all (200)")
    parser.add_argument("--seed", type=int, default=1, help="which ones (1)")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="at a time")
    parser.add_argument("--seconds", type=float, default=30, help="of tests a fault (30)")
    parser.add_argument("--tests", nargs="*", help="test files to use; all but the slow ones")
    parser.add_argument("--survivors", action="store_true", help="try only those again")
    parser.add_argument("--report", action="store_true", help="only say what was found before")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "mutants")
    return parser.parse_args()


def _try_all(asked: argparse.Namespace, file: Path) -> None:
    covering = Covering(ROOT, asked.folder / "recorded")
    covering.record(asked.tests or test_files(ROOT))
    before = results.read(file)
    if asked.survivors:
        lived = [each for each in before.values() if not each.noticed_by]
        wanted = [(each.area, now) for each in lived if (now := as_it_is_now(ROOT, each.mutant))]
    else:
        chosen = choose(ROOT, asked.areas, asked.count, asked.seed)
        wanted = [
            (area, mutant)
            for area, some in chosen.items()
            for mutant in some
            if mutant.name not in before
        ]
    random.Random(asked.seed).shuffle(wanted)  # so that a run may be ended at any time
    print(f"{len(wanted)} faults to try", flush=True)  # noqa: T201
    preload()
    children = [_fork(asked, covering, wanted, file, at) for at in range(asked.workers)]
    for child in children:
        os.waitpid(child, 0)


def _fork(asked: argparse.Namespace, covering, wanted, file: Path, at: int) -> int:
    """A worker takes every n-th fault: nothing is shared but the file that both append to."""
    if child := os.fork():
        return child
    try:
        copy = Copy(ROOT, asked.folder / f"tree{at}" / "tree")
        for area, mutant in wanted[at :: asked.workers]:
            _try(copy, covering, area, mutant, asked.seconds, file)
    finally:
        os._exit(0)


def _try(copy: Copy, covering, area: str, mutant: Mutant, seconds: float, file: Path) -> None:
    tests = covering.tests_for(mutant, seconds)
    took = {test: covering.seconds[test] for test in tests}
    began = time.monotonic()
    noticed = who_notices(copy, mutant, took)
    spent = time.monotonic() - began
    results.append(file, Result(area, mutant, noticed, len(tests), round(spent, 1)))
    said = f"noticed by {noticed}" if noticed else "SURVIVED"
    print(f"{mutant.path}:{mutant.line} {mutant.kind}: {said} ({spent:.0f} s)", flush=True)  # noqa: T201


def _say(file: Path, areas: list[str]) -> None:
    found = [each for each in results.read(file).values() if each.area in areas]
    lived = [results.survivor(ROOT, each) for each in found if not each.noticed_by]
    (file.with_suffix(".txt")).write_text("\n\n".join(lived) + "\n", encoding="utf-8")
    print(f"\n{results.table(found)}\nsurvivors: {file.with_suffix('.txt')}")  # noqa: T201


if __name__ == "__main__":
    main()
