"""Trials of several jobs are compiled before the first of them runs: together, or side by side."""

from secrets import token_hex
from types import SimpleNamespace

import numpy as np
import pytest

from kernels.core.borders import BORDERS
from kernels.core.device_turns import outcome_of
from kernels.core.job import Job
from kernels.cuda_on_cpu import compiler
from kernels.cuda_on_cpu.children import Child, Compilation
from kernels.cuda_on_cpu.trial import building_ahead, finding_bug, trial
from kernels.rungs.own_kernels import own_kernel
from tests.kernels.cuda_on_cpu.bad_kernels import START

pytestmark = pytest.mark.skipif(compiler.why_not() is not None, reason=str(compiler.why_not()))
FILTERS = """
if (x < width && y < end_row) dst[y * pitch + x] = read_sample(src, x, y - 1, height, width, pitch);
"""
SHIFT = np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]], np.float32)
PICTURE = np.ones((8, 32, 1), np.float32)
JOBS = [Job.of(PICTURE, SHIFT, border) for border in sorted(BORDERS)[:3]]


@pytest.fixture
def compilers(monkeypatch):
    """Every compilation that was begun, and how many were under way then."""
    started, counts = [], []
    serving = Child.serving

    def watched(child, request):
        compiling = SimpleNamespace(returncode=None)
        if isinstance(request, Compilation):
            started.append(compiling)
            counts.append(sum(each.returncode is None for each in started))
        try:
            reply = yield from serving(child, request)
            compiling.returncode = reply["ended"]
        finally:
            if compiling.returncode is None:
                compiling.returncode = "closed"
        return reply

    monkeypatch.setattr(Child, "serving", watched)
    return started, counts


def kernel(body, before=""):
    return own_kernel("mine.cu", START.format(before=before, body=body))


def outcome_of_ahead(rung, jobs=JOBS):
    """What `building_ahead` returns."""
    return outcome_of(building_ahead(rung, jobs, jobs[:1]))


def test_one_library_serves_the_trials_of_all_jobs(compilers):
    started, _ = compilers
    rung = kernel(FILTERS)
    library = outcome_of_ahead(rung)
    assert library.is_file()
    started.clear()
    for job in JOBS:
        *_, outcome = trial(rung, job, whole=True, library=library)
        assert outcome.ok, outcome.problem
    *_, finding = finding_bug(rung, JOBS[0])
    assert finding is None
    assert not started


CHOOSES_BY_TILE = """
#ifdef SECOND
#error the macros of one set reach the next
#endif
#define SECOND
#pragma pack(1)
#undef min
#undef warpSize
#define warpSize 16
__shared__ float tile[KSIZE * 1024];
"""


@pytest.mark.parametrize("is_strict", [False, True])
def test_what_a_text_does_to_macros_and_packing_ends_with_each_job(is_strict):
    text = START.format(before=CHOOSES_BY_TILE, body=FILTERS)
    rung = own_kernel("mine.cu", text, is_strict=is_strict)
    wide = Job.of(PICTURE, np.pad(SHIFT, 1), "zero")
    library = outcome_of_ahead(rung, [*JOBS, wide])
    assert library is not None
    for job in (*JOBS, wide):
        *_, outcome = trial(rung, job, whole=True, library=library)
        assert outcome.ok, outcome.problem


def test_shared_memory_is_counted_for_each_job_alone():
    before = "__shared__ float tile[KSIZE * 2400];"  # 28 KiB at size 3, and 46 at 5
    rung = kernel("tile[0] = 1;" + FILTERS, before)
    wide = Job.of(PICTURE, np.pad(SHIFT, 1), "zero")
    library = outcome_of_ahead(rung, [JOBS[0], wide])
    *_, outcome = trial(rung, wide, whole=True, library=library)
    assert outcome.ok, outcome.problem


def test_what_compiles_for_one_job_at_a_time_alone_is_compiled_with_each(compilers):
    _, counts = compilers
    new = f" // {token_hex(8)}"  # compiled nowhere yet
    rung = kernel(FILTERS, 'extern "C" __device__ int above(int y) { return y - 1; }' + new)
    assert outcome_of_ahead(rung) is None
    assert max(counts) == 2  # at a time: together, and the one that is searched
    for job in JOBS:
        *_, outcome = trial(rung, job, whole=True)
        assert outcome.ok, outcome.problem


def test_arrays_that_would_take_a_run_too_much_memory_together_are_compiled_apart():
    rung = kernel("large[x] = 1;" + FILTERS, f"__device__ float large[{8 << 20}];")
    assert outcome_of_ahead(rung) is None


def test_whoever_stops_driving_it_ends_the_compilers(compilers):
    started, _ = compilers
    steps = building_ahead(kernel(FILTERS + f" // {token_hex(8)}"), JOBS)
    while not started:
        next(steps)
    steps.close()
    assert [each.returncode for each in started] == ["closed"] * len(started)
