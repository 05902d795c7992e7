"""Run rungs on the shim in a process of their own: sanitizers must be there from its start.

    python -m tests.kernels.rungs.under_sanitizer FLAVOUR FOLDER

Each line of its input names a rung, or a rung, a fault and the number of a case, with tabs between
them; it answers DONE where all is well.  It prints the case and ends where the oracle, or the
sanitizer, objects; with a fault a process of its own does, where it can, and it answers ENDED.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from itertools import product
from math import inf, prod
from pathlib import Path
from typing import Any

from kernels.core.job import Job
from kernels.cuda.launch import plan_steps
from kernels.cuda_on_cpu.regions import DEVICE
from kernels.cuda_on_cpu.shim import Order, Shim
from kernels.rungs.rung import Rung, ladder
from tests.kernels.cases import LEVELS, Case, pairwise_cases
from tests.kernels.rungs.faults import FAULTS, HIDDEN_FAULTS, plant
from tests.kernels.rungs.sanitizers import FLAVOURS
from tests.kernels.runners import verdict
from tests.made_up import H200

# Seconds.  The race detector takes half a millisecond for each thread of the largest launch.
A_THREAD = {"address": 4e-6, "races": 2e-5}
MAX_THREADS = {"address": inf, "races": 2500}  # a launch, unless there are none so small
A_PRODUCT = 2e-8
# For each row of weights: 32 threads take turns, where tensor cores would multiply.
A_THREAD_S_BAND = {"address": 8e-5, "races": 1e-3}
A_SAMPLE = {"address": 2e-6, "races": 2e-5}  # there, too
A_COMPILATION = 0.2
MAX_SECONDS = 6  # a case, unless there are none so quick
MUCH_QUICKER = 0.4  # seconds
OF_A_LAUNCH = ("size_hw", "block_xy", "several blocks")  # not of what is compiled
LAUNCHED_AGAIN = 2  # programs, with other pictures and blocks
DONE = "all is well"
ENDED = "it has ended"


def quick_cases(flavour: str, rung: Rung) -> list[Case]:
    """As few programs, and as quick launches of them, as show every border, pixel type, number of
    channels, picture size, kernel size and block shape that a pairwise case shows within
    MAX_SECONDS: to compile a program takes longer than to launch it again."""
    seconds = {case: _seconds(case, flavour, rung) for case in pairwise_cases()}
    most = max(MAX_SECONDS, min(seconds.values()))
    left = [case for case, each in seconds.items() if each <= most]
    unseen = {level for case in left for level in _levels(case, rung)}
    of_a_launch = {level for level in unseen if level[0] in OF_A_LAUNCH}
    chosen = _covering(left, seconds, unseen - of_a_launch, rung)
    unseen -= {level for case in chosen for level in _levels(case, rung)}
    again = sorted(chosen, key=seconds.__getitem__)[:LAUNCHED_AGAIN]
    launches = [
        replace(case, size_hw=size_hw, block_xy=block_xy)
        for case in again
        for size_hw, block_xy in product(LEVELS["size_hw"], LEVELS["block_xy"])
    ]
    seconds |= {case: _seconds(case, flavour, rung) - A_COMPILATION for case in launches}
    quick = [case for case in launches if seconds[case] <= most]
    here = unseen & {level for case in quick for level in _levels(case, rung)}
    chosen += _covering(quick, seconds, here, rung)
    chosen += _covering(left, seconds, unseen - here, rung)
    for case in sorted(chosen, key=seconds.__getitem__, reverse=True):
        others = [other for other in chosen if other is not case]
        chosen = [*others, _as_quick_as_can_be(case, others, flavour, rung)]
    return sorted(chosen, key=lambda case: _most_threads(case, rung))


def _covering(
    cases: list[Case], seconds: dict[Case, float], unseen: set[tuple[str, Any]], rung: Rung
) -> list[Case]:
    """Those of `cases` that show all that is unseen, what shows most of it in a second first."""
    levels = {case: _levels(case, rung) & unseen for case in cases}
    chosen = []
    while unseen:
        chosen.append(max(cases, key=lambda case: len(levels[case] & unseen) / seconds[case]))
        unseen = unseen - levels[chosen[-1]]
    return chosen


def _as_quick_as_can_be(case: Case, others: list[Case], flavour: str, rung: Rung) -> Case:
    """The case, or one of fewer samples that shows what no other does, if it is much quicker."""
    most = _seconds(case, flavour, rung) - A_COMPILATION
    if most < MUCH_QUICKER:
        return case
    needed = _levels(case, rung).difference(*(_levels(other, rung) for other in others))
    smaller = [
        replace(case, size_hw=size_hw, channels=channels)
        for size_hw, channels in product(LEVELS["size_hw"], LEVELS["channels"])
    ]
    smaller = [each for each in smaller if needed <= _levels(each, rung)]
    quickest = min(smaller, key=lambda each: _seconds(each, flavour, rung))
    is_quicker = _seconds(quickest, flavour, rung) < most - MUCH_QUICKER
    return quickest if is_quicker and quickest not in others else case


def _most_threads(case: Case, rung: Rung) -> int:
    return max(_threads(case.job(rung.key), rung))


def _levels(case: Case, rung: Rung) -> set[tuple[str, Any]]:
    """What the case shows; most of a block or a kernel does not come to light on a tiny picture."""
    (height, width), (x, y) = case.size_hw, case.block_xy
    shown = {(name, getattr(case, name)) for name in LEVELS}
    if case.ksize == 1:  # which never reaches beyond one
        shown.remove(("border", case.border))
    if not any("BLOCK_" in side for each in rung.passes for side in each.block):
        shown.remove(("block_xy", case.block_xy))  # it has one of its own
    elif height > y and width * case.channels > x:
        shown.add(("several blocks", case.block_xy))
    if min(height, width) > case.ksize:
        shown.add(("inside", case.ksize))
    return shown


def _seconds(case: Case, flavour: str, rung: Rung) -> float:
    """What the case takes, roughly; infinitely long if it is refused."""
    job = case.job(rung.key)
    if rung.why_not(job, H200):
        return inf
    threads = _threads(job, rung)
    is_tensor = "tensor" in rung.includes
    a_row = A_THREAD_S_BAND[flavour] if is_tensor else A_PRODUCT * job.ksize
    too_many = max(max(threads) - MAX_THREADS[flavour], 0) * MAX_SECONDS
    a_thread = A_THREAD[flavour] + a_row * job.ksize
    samples = job.picture.size * A_SAMPLE[flavour] * is_tensor
    return sum(threads) * a_thread + samples + A_COMPILATION + too_many


def _threads(job: Job, rung: Rung) -> list[int]:
    """How many there are in each launch."""
    steps = [step for step in plan_steps(rung, job, DEVICE) if step.grid and step.block]
    return [prod(step.grid) * prod(step.block) for step in steps]


def main(flavour: str, folder: str) -> None:
    for line in sys.stdin:
        key, *fault = line.rstrip("\n").split("\t")
        answer = DONE
        if not fault:
            try_out(flavour, Path(folder), key)
        elif flavour != "address":  # the race detector sees nothing in a process that was forked
            try_fault(flavour, Path(folder), key, *fault)
        elif (child := os.fork()) == 0:
            try_fault(flavour, Path(folder), key, *fault)
            os._exit(0)
        elif os.waitpid(child, 0)[1] != 0:
            answer = ENDED
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()


def try_out(flavour: str, folder: Path, key: str) -> None:
    """Ends the process where something is wrong."""
    jobs, shim = compiled(flavour, folder, key)
    for number, (case, job) in enumerate(jobs.items()):
        check = verdict(job, shim.run(job, Order(number % len(Order))))
        if not check.ok:
            sys.exit(f"{case}: {check}")


def try_fault(flavour: str, folder: Path, key: str, fault: str, number: str) -> None:
    """Ends the process where a sanitizer says so."""
    jobs, shim = compiled(flavour, folder, key, fault, number)
    for job in jobs.values():
        verdict(job, shim.run(job, Order(int(number) % len(Order))))


def compiled(
    flavour: str, folder: Path, key: str, fault: str = "", number: str = ""
) -> tuple[dict[Case, Job], Shim]:
    """What is run.  To be called before, without sanitizers: g++ would run under them."""
    rung: Rung = next(each for each in ladder() if each.key == key)
    cases = quick_cases(flavour, rung)
    if fault:
        rung, cases = plant((FAULTS | HIDDEN_FAULTS)[fault], rung), [cases[int(number)]]
    jobs = {case: case.job(key) for case in cases}
    return jobs, Shim(rung, jobs.values(), folder, FLAVOURS[flavour])


if __name__ == "__main__":
    main(*sys.argv[1:])
