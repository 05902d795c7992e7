"""The tests, tested: a rung with a fault in it must not get through them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kernels.core.errors import CannotRunError
from kernels.core.job import Job
from kernels.cuda_on_cpu import compiler
from kernels.cuda_on_cpu.shim import Order
from kernels.rungs.rung import Rung, ladder
from tests.kernels import runners as r
from tests.kernels.cases import Case, has_no_weights, pairwise_cases
from tests.kernels.on_cpu import Shim
from tests.kernels.rungs.faults import FAULTS, Fault, plant
from tests.kernels.test_against_oracle import (
    INEXACT,
    a_case_for,
    gradient_of_size,
    halves_differ,
    light_in_the_dark,
)
from tests.made_up import H200

RUNGS = {rung.key: rung for rung in ladder()}
pytestmark = pytest.mark.skipif(compiler.why_not() is not None, reason=str(compiler.why_not()))


# What pictures of a few blocks do not show, and what does: it is looked at first.
BY_HALVES = (
    "halves are rounded up",
    "all samples of a small blur count as they are",
    "half of an odd byte is left out",
)
BY_CASE = {
    "a lane's odd column is not its neighbour's": "reflect-uint8-3ch-64x64-k15-b8x8",
    "candidates beside the window count": "wrap-uint8-2ch-31x33-k5-b7x5",
    "padding of a patch is multiplied": "wrap-uint8-2ch-31x33-k5-b7x5",
    "a whole part has one of the next": "wrap-uint8-2ch-31x33-k5-b7x5",
    "alpha is told of the word to the right": "zero-uint16-4ch-64x64-k5-b32x8",
    "differences of a patch's last row are left out": "crop-float32-3ch-31x33-k5-b8x8",
    "the first extreme goes on beyond the picture": "clamp-float16-1ch-64x64-k3-b32x8",
    "rows beyond the picture are what they were": "zero-uint8-3ch-1x17-k15-b32x32",
    "the upper half of a number is not sorted by": "reflect-float32-3ch-17x1-k3-b7x5",
    "the right halo of the ring is not loaded": "wrap-float32-3ch-131x127-k3-b32x32",
    "alpha has a length": "zero-uint16-4ch-64x64-k5-b32x8",
    "only the last term counts": "mirror-float32-3ch-64x64-k5-b16x16",
    "a term is summed over what is still read": "mirror-float32-3ch-64x64-k5-b16x16",
}
# Of rungs that take bytes alone, few of the pairwise cases are, and none is so large that a step of
# colours has 48 rows; these are run as well, below.
WIDE = Case("clamp", "uint8", 3, (257, 127), 3, (32, 8))
FAR_BESIDE = Case("clamp", "uint8", 3, (257, 127), 9, (32, 8))  # more than 8 bytes
TWO_STRIPS = Case("clamp", "uint8", 3, (21, 193), 3, (32, 8))
CLEAR = Case("clamp", "uint8", 4, (31, 33), 5, (32, 8))
TALL = Case("clamp", "uint8", 3, (257, 127), 35, (32, 8))
POSITIVE = Case("mirror", "uint8", 3, (31, 33), 3, (32, 8))  # all weights are
OF_BYTES = {
    "behind a ring's last rows nothing is found once more": WIDE,
    "nor behind one that the copy engine fills": FAR_BESIDE,
    "what threads bring ends with the strip": TWO_STRIPS,
    "the next step's rows end as they came": TWO_STRIPS,
    "rows take others' places while these are read": WIDE,
    "bytes beyond the row are there for one warp alone": CLEAR,
    "a warp brings one row a lane": TALL,
    "of a step's two groups of rows the second is the first": POSITIVE,
}


def is_caught(name: str, build_cache: Path) -> bool:
    """Whether the pairwise cases, a light in the dark, large slopes or halves show it."""
    rung = plant(FAULTS[name], RUNGS[FAULTS[name].rung])
    if name in BY_HALVES and _has_wrong_halves(rung, build_cache):
        return True
    if name in OF_BYTES and _is_wrong(rung, [OF_BYTES[name].job(rung.key)], build_cache):
        return True
    cases = sorted(pairwise_cases(), key=_slowness)
    cases.sort(key=lambda case: str(case) != BY_CASE.get(name))
    small = [case.job(rung.key) for case in cases if not _slowness(case)[0]]
    loud = [gradient_of_size(rung.key, 1e30)] if rung.gradient else []
    dark = light_in_the_dark(rung.key)
    first = [cases[0].job(rung.key)] if name in BY_CASE else small[:1]
    if _is_wrong(rung, [*first, dark, *loud, *small], build_cache):
        return True
    if _has_wrong_halves(rung, build_cache):
        return True
    return _is_wrong(rung, [case.job(rung.key) for case in cases], build_cache)


def _has_wrong_halves(rung: Rung, build_cache: Path) -> bool:
    def run(job: Job) -> NDArray[Any]:
        if reason := rung.why_not(job, H200):
            raise CannotRunError(reason)
        return Shim(rung, [job], build_cache).run(job)

    if has_no_weights(rung.key):
        return False  # it makes no halves but for crop
    return rung.key not in INEXACT and bool(halves_differ(rung.key, run))


def _is_wrong(rung: Rung, jobs: list[Job], build_cache: Path) -> bool:
    """Whether any answer is.  Twice as many jobs are compiled each time none was: one shows most
    faults, and compiling takes longer than running."""
    jobs = [job for job in jobs if not rung.why_not(job, H200)]
    start, end = 0, 1
    while start < len(jobs):
        some = jobs[start:end]
        shim = Shim(rung, some, build_cache)
        if any(not r.verdict(job, shim.run(job, r.order_of(job))).ok for job in some):
            return True
        start, end = end, 2 * end + 1
    return False


def _slowness(case: Case) -> tuple[bool, int]:
    """Pictures of a few blocks show most faults at once, and quickly; one weight alone few."""
    return case.size_hw not in ((31, 33), (64, 64)) or case.ksize == 1, case.ksize


def test_each_fault_has_its_place_in_its_rung():
    for fault in FAULTS.values():
        plant(fault, RUNGS[fault.rung])


# Each takes a compiler: every third one each day, all others by night.
BY_TURNS = [
    pytest.param(name, marks=() if number % 3 == 1 else pytest.mark.nightly)
    for number, name in enumerate(FAULTS)
]


@pytest.mark.parametrize("name", BY_TURNS)
def test_a_planted_fault_is_caught(name, build_cache):
    assert is_caught(name, build_cache)


@pytest.mark.parametrize("name", OF_BYTES)
def test_without_that_fault_the_same_case_is_right(name, build_cache):
    key = FAULTS[name].rung
    assert not _is_wrong(RUNGS[key], [OF_BYTES[name].job(key)], build_cache)


@pytest.mark.parametrize("order", Order)
def test_a_missing_barrier_is_caught_in_whatever_order_threads_run(order, build_cache):
    rung = plant(FAULTS["no barrier"], RUNGS["shared"])
    job = next(case for case in pairwise_cases() if case.size_hw == (64, 64)).job("shared")
    assert not r.verdict(job, Shim(rung, [job], build_cache).run(job, order)).ok


@pytest.mark.parametrize(
    "key", [key for key, rung in RUNGS.items() if "__constant__" in rung.source]
)
def test_weights_of_the_job_before_are_caught(key, build_cache, monkeypatch):
    job = a_case_for(key, lambda case: 1 < case.ksize <= 5 and case.size_hw[0] > 30)
    operands = RUNGS[key].operands(job)
    constants = operands.constants.items()
    stale = {name: np.roll(values, 1) + values.dtype.type(1) for name, values in constants}
    shim = Shim(RUNGS[key], [job], build_cache)
    assert r.verdict(job, shim.run(job)).ok
    monkeypatch.setattr(Rung, "operands", lambda *_: replace(operands, constants=stale))
    assert not r.verdict(job, shim.run(job)).ok


def test_a_row_beyond_the_last_of_a_launch_is_caught(build_cache):
    """A whole picture in one launch would not show it: below it there is nothing to write."""
    rung = plant(Fault("global", "y >= end_row", "y >= height"), RUNGS["global"])
    job = next(case for case in pairwise_cases() if case.size_hw == (31, 33)).job("global")
    good = Shim(RUNGS["global"], [job], build_cache).run(job, rows=(5, 11))
    bad = Shim(rung, [job], build_cache).run(job, rows=(5, 11))
    assert not np.array_equal(good[11:], bad[11:])
