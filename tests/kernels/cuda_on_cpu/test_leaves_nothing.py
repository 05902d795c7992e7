"""Whoever stops a trial on the CPU, or still looks at what it ran on, leaves nothing behind."""

import os
import subprocess
import tracemalloc

import numpy as np
import pytest

from kernels.core.child_process import ChildProcess
from kernels.core.device_turns import outcome_of
from kernels.core.job import Job
from kernels.core.safe_files import FOLDER_VARIABLE
from kernels.cuda_on_cpu.children import Child, borrowed_child
from kernels.cuda_on_cpu.compiler import why_not
from kernels.cuda_on_cpu.shared_run import SharedRun
from kernels.cuda_on_cpu.trial import trial
from kernels.rungs.own_kernels import own_kernel
from kernels.rungs.rung import ladder
from tests.kernels.cuda_on_cpu.bad_kernels import COPY, START

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
RUNG = ladder()[0]
IDENTITY = np.array([[0, 0, 0], [0, 1, 0], [0, 0, 0]], np.float32)


def a_job():
    return Job.of(np.zeros((8, 9, 1), np.uint8), np.ones((3, 3), np.float32))


def test_a_compiler_that_is_stopped_leaves_no_files(tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))  # nothing is compiled there yet
    steps = trial(RUNG, a_job())
    seen = set()
    for _ in range(20):
        next(steps)
        seen |= set(tmp_path.rglob("*.work/*"))
    steps.close()
    assert seen  # it was under way
    assert list(tmp_path.rglob("*.work")) == []


def test_a_child_whose_reply_is_garbled_is_ended_and_replaced(monkeypatch):
    def garbled(_self, _look_s):
        yield
        return {"garbled": "no JSON"}

    with borrowed_child() as child, monkeypatch.context() as patched:
        patched.setattr(ChildProcess, "replies", garbled)
        said = outcome_of(child.serving(None))
        assert "done" not in said
        assert not child.process.is_alive
    steps = trial(RUNG, a_job())
    *_, outcome = steps
    assert outcome.answer is not None


def test_a_process_that_cannot_be_started_leaves_no_memory_open(monkeypatch):
    def refused(*_, **__):
        raise BlockingIOError("no more processes")

    memory = os.memfd_create("test")
    monkeypatch.setattr(os, "memfd_create", lambda _: memory)
    monkeypatch.setattr(subprocess, "Popen", refused)
    with pytest.raises(BlockingIOError):
        Child()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(memory)


def test_a_large_picture_takes_no_more_memory_than_it_has():
    picture = np.zeros((1000, 1000, 1), np.uint8)
    job, memory = Job.of(picture, np.ones((3, 3), np.float32)), os.memfd_create("test")
    tracemalloc.start()
    shared = SharedRun(memory, job, is_new=True)
    shared.layout.fill(shared.block, job, 0)
    assert shared.layout.broken_rule(shared.block, job, 0) == ""
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    os.close(memory)
    assert most < 3 * picture.nbytes


def test_blocks_have_the_memory_of_those_before_them():
    """10,000 blocks with 220 KB of shared memory each: 2.2 GB, had each its own."""
    picture = np.random.default_rng(6).integers(0, 255, (100, 100, 1), np.uint8)
    text = START.format(before="", body=f"extern __shared__ char many[];\nmany[0] = 1; {COPY}")
    text = '/*---\n[[passes]]\nshared_bytes = "220000"\n---*/\n' + text
    job = Job.of(picture, IDENTITY, block_xy=(1, 1))
    *_, outcome = trial(own_kernel("mine.cu", text), job)
    assert outcome.ok, outcome.problem
