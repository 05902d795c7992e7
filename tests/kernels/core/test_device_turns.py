"""Turns on a device: never two at once, of one process or of several; nobody waits in vain."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from kernels.core import device_turns
from kernels.core.device_turns import Turns, Waiting, note_process, outcome_of, purpose, takes_turns
from tests.conftest import ROOT
from tests.made_up import H200

GPU, OTHER = replace(H200, uuid="GPU-made-up-1"), replace(H200, uuid="GPU-made-up-2")
# Has its turn, says so, and keeps it until it is told something.
KEEPER = """
from dataclasses import replace
from kernels.core.device_turns import Turns, note_process, purpose
from tests.made_up import H200
note_process()
with purpose("a sweep"), Turns([replace(H200, uuid="GPU-made-up-1")]).held():
    print("mine", flush=True)
    input()
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path / "filter-workbench"


@pytest.fixture
def keeper():
    """Another process, which has its turn on GPU."""
    process = subprocess.Popen(
        [sys.executable, "-c", KEEPER], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with process:
        assert process.stdout.readline() == b"mine\n"
        yield process
        process.kill()


def first_step(turns, **how):
    """The first step of something done on them; None: it was done at once."""
    return next(turns.doing(lambda: None, **how), None)


def test_who_waits_says_for_whom_and_has_its_turn_once_the_other_one_dies(keeper):
    turns = Turns([GPU])
    steps = turns.doing(lambda: "done")
    step = next(steps)
    assert isinstance(step, Waiting)
    assert step.doing == f"waiting for a sweep of process {keeper.pid} on NVIDIA H200"
    keeper.kill()
    keeper.wait()
    assert outcome_of(steps) == "done"
    assert turns.why_not_alone == ""


def test_two_of_one_process_keep_off_one_another_and_are_told_of_without_its_number():
    with purpose("a trial"), Turns([GPU]).held():
        assert first_step(Turns([GPU])).doing == "waiting for a trial on NVIDIA H200"
        assert first_step(Turns([OTHER])) is None
    assert first_step(Turns([GPU])) is None


def test_it_is_known_whether_others_had_a_turn_since():
    turns = Turns([GPU])
    first_step(turns)
    first_step(turns)
    assert not turns.are_anew
    first_step(Turns([GPU]))
    first_step(turns)
    assert turns.are_anew


def test_who_keeps_the_device_is_waited_for_no_longer_than_patience_lasts(keeper, monkeypatch):
    monkeypatch.setattr(device_turns, "STUCK_S", 0.0)
    turns = Turns([GPU])
    assert outcome_of(turns.doing(lambda: "done")) == "done"
    assert str(keeper.pid) in turns.why_not_alone


def test_a_stuck_holder_is_waited_for_once_alone(keeper, monkeypatch):
    turns = Turns([GPU])
    with monkeypatch.context() as patched:
        patched.setattr(device_turns, "STUCK_S", 0.0)
        outcome_of(turns.doing(lambda: None))
    assert first_step(turns) is None  # though it still has the device
    assert str(keeper.pid) in turns.why_not_alone
    assert isinstance(first_step(Turns([GPU])), Waiting)


def test_processes_of_ours_are_known_while_they_live(keeper, folder):
    assert takes_turns(os.getpid())
    assert takes_turns(keeper.pid)
    assert not takes_turns(1)
    keeper.kill()
    keeper.wait()
    note_process()
    assert not takes_turns(keeper.pid)
    assert takes_turns(os.getpid())
