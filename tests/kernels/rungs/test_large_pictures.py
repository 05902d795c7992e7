"""Medians as of large pictures, of pictures that the CPU has soon done."""

from dataclasses import replace

import numpy as np
import pytest

from kernels.cuda_on_cpu import compiler
from kernels.cuda_on_cpu.regions import DEVICE
from kernels.rungs import headers, operands
from kernels.rungs.headers import Facts
from kernels.rungs.rung import ladder, pass_work
from tests.kernels.cases import Case, pairwise_cases
from tests.kernels.on_cpu import AccessesShim, Shim
from tests.kernels.rungs.faults import LARGE_FAULTS, plant
from tests.kernels.rungs.test_work import CASES, job_of
from tests.kernels.runners import order_of, poisoned_like, verdict
from tests.made_up import H200

RUNGS = {rung.key: rung for rung in ladder() if rung.weights == "median"}
pytestmark = pytest.mark.skipif(compiler.why_not() is not None, reason=str(compiler.why_not()))


@pytest.fixture(autouse=True)
def _every_picture_is_large(monkeypatch):
    monkeypatch.setattr(operands, "LARGE", {})
    monkeypatch.setitem(headers.DERIVED, "PAIRS_DOWN", "3")  # as few as here make a walk long


def jobs_of(key):
    """Of the cases of all pairs every fourth or eighth; of what median_columns stages, all."""
    jobs = [case.job(key) for case in pairwise_cases() if case.size_hw != (1, 1)]
    able = [job for job in jobs if RUNGS[key].why_not(job, H200) is None]
    if key == "median_columns":
        return [job for job in able if job.pixel_type == "float32"]
    return able[:: 4 if key == "median_pairs" else 8]


@pytest.mark.parametrize("key", RUNGS)
def test_a_large_picture_is_filtered_as_the_oracle_does(key, build_cache):
    jobs = jobs_of(key)
    assert len({job.border for job in jobs}) > 1
    shim = Shim(RUNGS[key], jobs, build_cache)
    for job in jobs:
        check = verdict(job, shim.run(job, order_of(job)))
        assert check.ok, (job, check)
    job = max(jobs, key=lambda job: job.height)
    strip, nothing = shim.run(job, rows=(13, 37)), poisoned_like(job.picture)
    np.testing.assert_array_equal(strip[13:37], shim.run(job)[13:37])
    np.testing.assert_array_equal(strip[:13], nothing[:13])
    np.testing.assert_array_equal(strip[37:], nothing[37:])


@pytest.mark.parametrize("case", CASES[::2], ids=str)
@pytest.mark.parametrize("key", RUNGS)
def test_its_header_says_how_much_is_loaded(key, case, build_cache):
    job = job_of(RUNGS[key], case)
    if reason := RUNGS[key].why_not(job, H200):
        pytest.skip(reason)
    facts, (done,) = Facts(job, DEVICE), AccessesShim(RUNGS[key], [job], build_cache).count(job)
    said = pass_work(RUNGS[key].passes[0], facts)
    for counted, numbers in ((done.loaded, said.loads), (done.stored, said.stores)):
        assert facts.bytes_of(numbers) == counted["picture"].sum() > 0


# Of a tile's rows most lie in the picture, and beside it as well.
WIDE = Case("clamp", "uint8", 3, (257, 127), 5, (32, 8))


@pytest.mark.parametrize("name", LARGE_FAULTS)
def test_a_fault_in_what_is_done_of_large_pictures_is_caught(name, build_cache):
    fault = LARGE_FAULTS[name]
    of = "float32" if fault.rung == "median_columns" else "uint8"
    job = replace(WIDE, pixel_type=of).job(fault.rung)
    for rung, is_right in ((RUNGS[fault.rung], True), (plant(fault, RUNGS[fault.rung]), False)):
        assert verdict(job, Shim(rung, [job], build_cache).run(job)).ok is is_right
