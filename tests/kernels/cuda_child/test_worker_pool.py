"""Children: started when first used, kept warm, replaced when they end, gone in the end."""

import errno
import os
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path

import pytest

from kernels.core.job import Progress, Sampling
from kernels.cuda_child.gpu_trial import gpu_trial
from kernels.cuda_child.worker_pool import MAIN, Held
from kernels.cuda_on_cpu.findings import KernelTrial
from kernels.rungs.own_kernels import own_kernel
from tests.conftest import ROOT
from tests.kernels.cuda_child.bad_texts import a_job, text, tried
from tests.kernels.cuda_child.conftest import children_of

ONCE = Sampling(max_samples=0)


@pytest.fixture(autouse=True)
def deadlines(long_deadlines):
    pass


@pytest.fixture
def children():
    made = children_of("fake")
    yield made
    made.end(60)
    assert _children_of(os.getpid()) == []


def _children_of(process: int) -> list[int]:
    """The processes that it started to run kernels, the oldest first."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            facts = (path / "stat").read_text().rpartition(")")[2].split()
            is_child = MAIN.encode() in (path / "cmdline").read_bytes()
            if is_child and int(facts[1]) == process and facts[0] != "Z":
                found.append((int(facts[19]), int(path.name)))
        except OSError:  # it has ended meanwhile
            continue
    return [number for _, number in sorted(found)]


def test_none_is_started_before_the_first_run_and_one_stands_by_after_it(children):
    assert children.held() == Held(0, 0, 0)
    assert tried(children, text(), sampling=ONCE).ok
    first, spare = _children_of(os.getpid())
    held = children.held()
    assert held.children == 2
    assert held.host_bytes > 1 << 20
    assert held.device_bytes == 1 << 20  # the spare has not said anything yet
    assert tried(children, text(), sampling=ONCE).ok
    assert _children_of(os.getpid()) == [first, spare]


def test_the_spare_takes_over_and_another_one_stands_by(children):
    assert tried(children, text(), sampling=ONCE).ok
    first, spare = _children_of(os.getpid())
    assert tried(children, text(run="crash")).problem
    assert tried(children, text(), sampling=ONCE).ok
    now = _children_of(os.getpid())
    assert first not in now
    assert now[0] == spare
    assert len(now) == 2


def test_a_child_that_was_killed_while_it_waited_is_replaced(children):
    assert tried(children, text(), sampling=ONCE).ok
    for each in _children_of(os.getpid()):
        os.kill(each, 9)
        os.waitid(os.P_PID, each, os.WEXITED | os.WNOWAIT)
    assert tried(children, text(), sampling=ONCE).ok


def _left_at(children, doing: str, **named: str) -> None:
    """Begin a trial, and stop driving it while `doing` is under way."""
    steps = gpu_trial(own_kernel("mine.cu", text(**named)), a_job(), children=children)
    # The first of them comes before the child is asked.
    assert len(list(islice(_saying(steps, doing), 2))) == 2
    steps.close()


def _saying(steps, doing: str):
    return (each for each in steps if isinstance(each, Progress) and each.doing.startswith(doing))


def test_a_run_that_nobody_waits_for_is_brought_to_its_end_and_its_child_kept(children):
    assert tried(children, text(), sampling=ONCE).ok
    before = _children_of(os.getpid())
    _left_at(children, "compiling", compile="slow")
    _left_at(children, "running")
    assert tried(children, text(), sampling=ONCE).ok
    assert _children_of(os.getpid()) == before


def test_a_hang_that_nobody_waits_for_is_ended_though_nobody_asks_for_more(children, monkeypatch):
    assert tried(children, text(), sampling=ONCE).ok
    first, spare = _children_of(os.getpid())
    monkeypatch.setattr("kernels.cuda_child.gpu_trial.MIN_DEADLINE_S", 0.3)
    monkeypatch.setattr("kernels.cuda_child.worker_pool.FAULT_S", 0.3)
    _left_at(children, "running", run="hang")
    os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
    assert _children_of(os.getpid()) == [spare]


def test_what_is_no_reply_is_told_at_once_and_the_next_run_works(children):
    assert tried(children, text(), sampling=ONCE).ok
    with pytest.raises(RuntimeError, match="no reply"):
        tried(children, text(run="garble"), sampling=ONCE)
    assert tried(children, text(), sampling=ONCE).ok


def test_a_spare_that_is_ready_takes_over_from_a_hang_that_nobody_waits_for(children):
    assert tried(children, text(), sampling=ONCE).ok  # and the hang would have a minute
    first, spare = _children_of(os.getpid())
    _left_at(children, "running", run="hang")
    assert tried(children, text(), sampling=ONCE).ok
    now = _children_of(os.getpid())
    assert (first in now, now[0]) == (False, spare)


def test_children_that_somebody_else_ends_are_told_and_replaced(children):
    steps = gpu_trial(own_kernel("mine.cu", text()), a_job(), children=children)
    for step in steps:
        if isinstance(step, KernelTrial):  # it is built, and nothing is under way
            break
    children.end(60)
    *_, outcome = steps
    assert "was ended" in outcome.problem
    assert tried(children, text(), sampling=ONCE).ok


def test_a_computer_that_starts_no_process_is_told(children, monkeypatch):
    def no_room(*_, **__):
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

    assert tried(children, text(), sampling=ONCE).ok
    children.end(60)
    with monkeypatch.context() as patched:
        patched.setattr("kernels.core.child_process.subprocess.Popen", no_room)
        outcome = tried(children, text())
        children.keep_spare()
    assert "Resource temporarily unavailable" in outcome.problem
    assert tried(children, text(), sampling=ONCE).ok


def test_a_bug_of_ours_as_a_child_starts_is_not_swallowed(children_on):
    with pytest.raises(RuntimeError, match="ZeroDivisionError: ours"):
        tried(children_on("with_a_bug"), text())


def test_what_is_left_while_it_starts_is_kept(children):
    _left_at(children, "starting")
    (first,) = _children_of(os.getpid())
    assert tried(children, text(), sampling=ONCE).ok
    assert first in _children_of(os.getpid())


def test_a_child_ends_with_its_parent_even_in_a_kernel_that_hangs(tmp_path):
    program = """
import os
from tests.kernels.cuda_child.bad_texts import a_job, text
from tests.kernels.cuda_child.conftest import children_of
from tests.kernels.cuda_child.test_worker_pool import _children_of
from kernels.cuda_child.gpu_trial import gpu_trial
from kernels.rungs.own_kernels import own_kernel
children = children_of("fake")
for step in gpu_trial(own_kernel("mine.cu", text(run="hang")), a_job(), children=children):
    if getattr(step, "doing", "").startswith("running"):
        break
print(*_children_of(os.getpid()), flush=True)
os._exit(0)  # flushes nothing
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True, text=True
    )
    started = [Path(f"/proc/{number}") for number in done.stdout.split()]
    assert started
    until = time.monotonic() + 60
    while any(_is_running(each) for each in started):
        assert time.monotonic() < until, "a child outlives its parent"
        time.sleep(0.01)


def _is_running(process: Path) -> bool:
    try:
        return (process / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
