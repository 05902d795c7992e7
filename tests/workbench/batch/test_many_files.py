"""What a batch does for each file does not grow with how many there are: it is counted."""

import sys
import threading
from itertools import count

import pytest

from kernels.core import safe_files
from tests.many_files import make
from workbench.batch.journal import Journal
from workbench.cli import main

FILES, PART = 240, 60
AHEAD = 10  # more than are read before their turn: none is left to be at the end
SLACK = 1.1  # what threads do for other files meanwhile


class Calls:
    """Counts the functions of Python's that are called, on all threads.

    at_lines  the count at each line of a journal
    """

    def __init__(self):
        self._counter, self.at_lines = count(), []

    def look(self, _frame, event, _argument):
        if event == "call":
            next(self._counter)

    @property
    def so_far(self):
        return next(self._counter)


@pytest.fixture
def calls(monkeypatch):
    counted, append = Calls(), Journal.append

    def counting(self, line):
        counted.at_lines.append(counted.so_far)
        append(self, line)

    monkeypatch.setattr(Journal, "append", counting)
    threading.setprofile(counted.look)
    sys.setprofile(counted.look)
    yield counted
    sys.setprofile(None)
    threading.setprofile(None)


def batch(source, target, *words):
    fixed = ("--no-gpu", "--implementation", "opencv", "--verify", "none")
    assert main.main(["batch", str(source), str(target), *fixed, *words]) == 0


def test_the_last_files_take_no_more_work_than_the_first(tmp_path, monkeypatch, calls):
    # A folder of so few is looked through with each file, one of more once in a while.
    monkeypatch.setattr(safe_files, "MANY_FILES", 10)
    make(tmp_path / "in", FILES)
    batch(tmp_path / "in", tmp_path / "out", "--jobs", "1")  # which reads few files ahead
    _, *lines, _ = calls.at_lines  # the first and the last tell of the run
    assert len(lines) == FILES
    early, late = lines[2 * PART] - lines[PART], lines[-AHEAD] - lines[-AHEAD - PART]
    assert late < SLACK * early
