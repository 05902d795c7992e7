"""Run a rung on the shim in a process of its own: sanitizers must be there from its start.

    python -m tests.kernels.under_sanitizer FLAVOUR RUNG FOLDER [FAULT]

Exits 0 if all is well; prints the case and fails where the oracle, or the sanitizer, objects.
"""

from __future__ import annotations

import sys
from pathlib import Path

from kernels.rung import Rung, ladder
from tests.cuda_on_cpu.compiler import FLAVOURS
from tests.cuda_on_cpu.shim import Order, Shim
from tests.kernels.cases import Case, pairwise_cases
from tests.kernels.faults import FAULTS, HIDDEN_FAULTS, plant
from tests.kernels.runners import verdict

# CUDA threads a case.  To the race detector each is a thread: 0.4 ms to begin and to end.
MOST_THREADS = {"address": 40_000, "races": 5_000}
MOST_PRODUCTS = 20_000_000  # sanitizers multiply ten times more slowly


def quick_cases(flavour: str) -> list[Case]:
    """Every other pairwise case, without those that take seconds."""
    return [
        case
        for case in pairwise_cases()[::2]
        if _samples(case) < MOST_THREADS[flavour] and _samples(case) * case.ksize**2 < MOST_PRODUCTS
    ]


def _samples(case: Case) -> int:
    height, width = case.size_hw
    return height * width * case.channels


def main(flavour: str, key: str, folder: str, fault: str | None = None) -> int:
    rung: Rung = next(each for each in ladder() if each.key == key)
    if fault:
        rung = plant((FAULTS | HIDDEN_FAULTS)[fault], rung)
    cases = quick_cases(flavour)
    jobs = [case.job(key) for case in cases]
    shim = Shim(rung, jobs, Path(folder), FLAVOURS[flavour])
    for number, (case, job) in enumerate(zip(cases, jobs, strict=True)):
        check = verdict(job, shim.run(job, Order(number % len(Order))))
        if not check.ok:
            sys.exit(f"{case}: {check}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
