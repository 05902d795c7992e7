"""Bad kernels and cheats on a real GPU: none reaches this process, and none has a time."""

import re
from dataclasses import replace

import numpy as np
import pytest

from kernels import filters
from kernels.core.device import NoDevice
from kernels.core.job import Job, Sampling
from kernels.cuda.probing import probe
from kernels.cuda_child.gpu_trial import gpu_trial
from kernels.cuda_child.worker_pool import WorkerPool
from kernels.cuda_on_cpu.findings import KernelTrial
from kernels.rungs.own_kernels import own_kernel
from kernels.rungs.rung import ladder
from tests.kernels.cases import a_job as one_job
from tests.kernels.cases import fitting_filter
from tests.kernels.cuda_child.gpu_kernels import ANYTHING, CHEATS, ENDED, GOOD, HEIGHT, TOO_LARGE
from tests.kernels.cuda_on_cpu.bad_kernels import RUNNING

IDENTITY = np.array([[0, 0, 0], [0, 1, 0], [0, 0, 0]], np.float32)
ONCE = Sampling(max_samples=0)


@pytest.fixture(scope="module")
def children():
    device = probe()
    if isinstance(device, NoDevice):
        pytest.skip(device.reason)
    made = WorkerPool()
    yield made
    made.end(60)


def a_job(dtype=np.uint8) -> Job:
    picture = np.random.default_rng(4).integers(1, 255, (HEIGHT, 120, 1)).astype(dtype)
    return Job.of(picture, IDENTITY, block_xy=(32, 8))


def tried(children, text: str, job: Job | None = None, **options) -> KernelTrial:
    rung = own_kernel("mine.cu", text)
    *_, outcome = gpu_trial(rung, job or a_job(), children=children, **options)
    assert isinstance(outcome, KernelTrial)
    return outcome


def test_a_good_kernel_has_a_time(children):
    outcome = tried(children, GOOD)
    assert outcome.ok, outcome.problem
    assert 0 < outcome.kernel.median_ms < 10
    assert outcome.built.registers > 0
    assert outcome.built.occupancy.warps > 0
    assert outcome.built.local_bytes == 0
    assert outcome.device_name == probe().name
    held = children.held()
    assert held.children == 2
    assert held.device_bytes > 0


@pytest.mark.parametrize("rung", ladder(), ids=lambda rung: rung.key)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_no_rung_of_the_ladder_raises_an_alarm(children, rung, dtype):
    random = np.random.default_rng(6)
    picture = random.integers(0, 256, (517, 613, 3)).astype(dtype)
    job = one_job(picture, fitting_filter(random, 5, rung.key), "mirror", rung.key)
    *_, outcome = gpu_trial(rung, job, children=children)
    if not outcome.built and outcome.problem == rung.why_not(job, probe()):
        pytest.skip(outcome.problem)
    assert outcome.ok, outcome.problem
    assert outcome.kernel is not None, outcome.problem


@pytest.mark.parametrize("name", ENDED)
def test_what_is_wrong_is_told_and_the_next_run_works(children, name):
    text, said = ENDED[name]
    outcome = tried(children, text)
    assert outcome.problem
    assert said in outcome.problem
    assert outcome.kernel is None
    if name == "assertion":  # whichever thread says it first
        assert re.match(r"Line 8: thread \(\d+, \d\) of block \([123], \d+\) ", outcome.problem)
    after = tried(children, GOOD, sampling=ONCE)
    assert after.ok, after.problem


@pytest.mark.parametrize("name", ANYTHING)
def test_whatever_it_does_the_next_run_works(children, name):
    outcome = tried(children, RUNNING[name].text)
    if outcome.kernel is not None:
        assert outcome.check.ok
    after = tried(children, GOOD, sampling=ONCE)
    assert after.ok, after.problem
    print(f"{name}: {outcome.problem or outcome.check}")  # noqa: T201 - to read with -rP


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("name", CHEATS)
def test_no_cheat_has_a_time(children, name, dtype):
    outcome = tried(children, CHEATS[name], a_job(dtype))
    assert outcome.kernel is None
    assert outcome.check is not None, outcome.problem
    assert outcome.check.ok
    assert "with which it was timed" in outcome.problem


def test_memory_that_the_gpu_does_not_have_is_told(children):
    outcome = tried(children, TOO_LARGE)
    assert "which there is no room for" in outcome.problem
    assert tried(children, GOOD, sampling=ONCE).ok


def test_a_job_of_a_megapixel_is_timed(children):
    picture = np.random.default_rng(4).integers(0, 256, (1000, 1000, 3), np.uint8)
    rung = next(each for each in ladder() if each.key == "shared")
    job = Job.of(picture, filters.get("gaussian").weights(5))
    *_, outcome = gpu_trial(replace(rung, key="mine.cu"), job, children=children)
    assert outcome.ok, outcome.problem
    assert len(outcome.kernel.samples_ms) > 1
