"""Run a rung on the shim in a process of its own, for a sanitizer that must be there from the start.

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
from tests.kernels.faults import FAULTS, plant
from tests.kernels.runners import verdict

LARGEST_WORK = 20_000_000  # products; sanitizers take ten times as long


def quick_cases() -> list[Case]:
    """Every other pairwise case, without those that take seconds."""
    return [case for case in pairwise_cases()[::2] if _products(case) < LARGEST_WORK]


def _products(case: Case) -> int:
    return case.size_hw[0] * case.size_hw[1] * case.channels * case.ksize**2


def main(flavour: str, key: str, folder: str, fault: str | None = None) -> int:
    rung: Rung = next(each for each in ladder() if each.key == key)
    if fault:
        rung = plant(FAULTS[fault], rung)
    jobs = [case.job(key) for case in quick_cases()]
    shim = Shim(rung, jobs, Path(folder), FLAVOURS[flavour])
    for number, (case, job) in enumerate(zip(quick_cases(), jobs, strict=True)):
        check = verdict(job, shim.run(job, Order(number % len(Order))))
        if not check.ok:
            sys.exit(f"{case}: {check}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
