"""Trials of several jobs are compiled side by side before the first of them runs."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest

from kernels.core.borders import BORDERS
from kernels.core.cache_folder import FOLDER_VARIABLE
from kernels.core.job import Job
from kernels.cuda import nvrtc_calls
from kernels.cuda_on_cpu import building, compiler
from kernels.cuda_on_cpu.cpu_runs import default_cache
from kernels.cuda_on_cpu.trial import building_ahead, trial
from kernels.rungs.own_kernels import own_kernel
from tests.kernels.cuda_on_cpu.bad_kernels import START

pytestmark = pytest.mark.skipif(compiler.why_not() is not None, reason=str(compiler.why_not()))
FILTERS = """
if (y < end_row) dst[y * pitch + x] = read_sample(src, x, y - 1, height, width, pitch);
"""
SHIFT = np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]], np.float32)
PICTURE = np.ones((8, 32, 1), np.float32)
JOBS = [Job(PICTURE, SHIFT, border) for border in sorted(BORDERS)[:3]]


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The folder that is compiled into, with nothing in it."""
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    return default_cache()


@pytest.fixture
def compilers(monkeypatch):
    """Every C++ compiler that was started, and how many ran then."""
    started, counts = [], []
    popen = subprocess.Popen

    def start(*arguments, **options):
        process = popen(*arguments, **options)
        if nvrtc_calls.__file__ not in arguments[0]:  # CUDA's goes with each, and ends sooner
            started.append(process)
            counts.append(sum(each.returncode is None for each in started))
        return process

    monkeypatch.setattr(building.subprocess, "Popen", start)
    return started, counts


def kernel(body):
    return own_kernel("mine.cu", START.format(before="", body=body))


def test_as_many_run_at_a_time_as_asked_for_and_a_trial_finds_its_own(cache, compilers):
    _, counts = compilers
    list(building_ahead(kernel(FILTERS), JOBS, 2))
    assert max(counts) == 2
    libraries = set(cache.glob("*.so"))
    for job in JOBS:
        *_, outcome = trial(kernel(FILTERS), job, whole=True)
        assert outcome.ok, outcome.problem
    assert set(cache.glob("*.so")) == libraries


def test_what_does_not_compile_ends_it(compilers):
    started, _ = compilers
    list(building_ahead(kernel("nonsense;"), JOBS, 1))
    assert started[-1].returncode != 0
    assert sum(each.returncode != 0 for each in started) == 1


def test_whoever_stops_driving_it_ends_the_compilers(cache, compilers):
    started, _ = compilers
    steps = building_ahead(kernel(FILTERS), JOBS, 2)
    while not started:
        next(steps)
    steps.close()
    assert all(each.returncode is not None for each in started)
