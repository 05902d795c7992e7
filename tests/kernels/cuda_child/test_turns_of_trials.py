"""A sweep and a trial of a user kernel on one device: no sample meets one of the other."""

import subprocess
import sys
import threading
from contextlib import nullcontext
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from kernels.core.device_turns import Turns, Waiting, purpose
from kernels.core.job import Job, Sampling
from kernels.cuda import device_pictures
from kernels.cuda.several_gpus import SeveralGpus
from kernels.cuda_child import worker_pool
from kernels.cuda_child.gpu_trial import gpu_trial
from kernels.cuda_on_cpu.findings import KernelTrial
from kernels.rungs.own_kernels import own_kernel
from kernels.rungs.rung import ladder
from tests.conftest import ROOT
from tests.kernels.cuda_child.bad_texts import BLUR, a_job, text, tried
from tests.kernels.cuda_child.conftest import children_of
from tests.kernels.cuda_child.fake_devices import WrittenDown, noting
from tests.kernels.made_up_cuda import MadeUpCuda, MadeUpGpu, by_reference

SWEEPING = (
    "from threading import Event; from tests.kernels.cuda_child.test_turns_of_trials import sweep; "
    "sweep(Event(), lambda: print('swept', flush=True))"
)
SAMPLING = Sampling(max_samples=5, max_seconds=9.0, check=False)


@pytest.fixture(autouse=True)
def written(tmp_path, monkeypatch, long_deadlines):
    """The file that all uses of the device are written to, by all processes."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("WRITTEN_DOWN", str(tmp_path / "written"))
    return tmp_path / "written"


@pytest.fixture
def children(written):
    made = children_of("written_down")
    yield made
    made.end(60)


def sweep(is_over, say):
    """Time jobs on the made-up GPU until it is over; `say` is called after the first."""
    (rung,) = (each for each in ladder() if each.key == "shared")
    job = Job.of(np.zeros((20, 30, 1), np.uint8), BLUR, implementation="shared")
    with pytest.MonkeyPatch.context() as patch, purpose("a sweep"):
        patch.setattr(
            device_pictures, "cuda_errors_in_words", lambda _: nullcontext()
        )  # no CuPy here
        gpu = MadeUpGpu(MadeUpCuda(1), 0, noted, uuid=WrittenDown.facts.uuid)
        gpus = SeveralGpus([gpu])
        while not is_over.is_set():
            list(gpus.filtering(rung, job, SAMPLING))
            say()


def noted(*launch):
    with noting("sweep"):
        by_reference(*launch)


@pytest.fixture(params=["in this process", "in another process"])
def sweeping(request):
    """A sweep that is under way."""
    if request.param == "in this process":
        is_over, has_begun = threading.Event(), threading.Event()
        thread = threading.Thread(target=sweep, args=(is_over, has_begun.set))
        thread.start()
        assert has_begun.wait(60)
        yield
        is_over.set()
        thread.join()
    else:
        command = [sys.executable, "-c", SWEEPING]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
            assert process.stdout.readline() == b"swept\n"
            yield
            process.kill()


def test_no_sample_of_a_sweep_meets_one_of_a_trial(sweeping, children, written):
    *_, outcome = gpu_trial(own_kernel("mine.cu", text()), a_job(), children=children)
    assert isinstance(outcome, KernelTrial)
    assert outcome.ok, outcome.problem
    uses = sorted(line.split() for line in written.read_text().splitlines())
    who = [name for _, _, name in uses]
    trials = who.count("trial")
    assert trials > 5  # a part, a strip, the whole twice, and those that were timed
    alternations = sum(one != other for one, other in pairwise(who))
    assert alternations > trials // 2  # neither waits for all of the other
    for (_, ended, one), (begun, _, other) in pairwise(uses):
        assert int(ended) <= int(begun), (one, other)


def test_a_child_that_waits_says_for_whom_and_has_no_deadline(children):
    steps = gpu_trial(own_kernel("mine.cu", text()), a_job(), children=children)
    with purpose("a batch"), Turns([WrittenDown.facts]).held():
        waits = next(each for each in steps if isinstance(each, Waiting))
        assert waits.doing.startswith("waiting for a batch")
        with pytest.MonkeyPatch.context() as patch:  # days pass
            patch.setattr(worker_pool, "time", SimpleNamespace(monotonic=lambda: 1e9))
            assert all(next(steps) == waits for _ in range(3))
    *_, outcome = steps
    assert outcome.ok, outcome.problem


def test_a_child_that_waits_ends_with_its_trial_and_the_spare_takes_over(children):
    steps = gpu_trial(own_kernel("mine.cu", text(run="hang")), a_job(), children=children)
    with Turns([WrittenDown.facts]).held():
        next(each for each in steps if isinstance(each, Waiting))
        steps.close()
        assert children.held().children == 1  # or it would hang as soon as it is its turn
    assert tried(children, text()).ok
