"""What a batch does for each file does not grow with how many there are: it is counted."""

import sys
import threading
from itertools import count

import pytest

from kernels.core import atomic_files
from tests.many_files import filtered, make
from workbench.batch.journal import Journal
from workbench.cli import main

FILES, PART = 240, 60
AHEAD = 10  # more than are read before their turn: none is left to be at the end
SLACK = 1.05  # what threads do for other files meanwhile
MAX_BEFORE = 30  # calls for each file before the first is begun: it is named and sorted


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
    monkeypatch.setattr(atomic_files, "MANY_FILES", 10)
    make(tmp_path / "in", FILES)
    batch(tmp_path / "in", tmp_path / "out", "--jobs", "1")  # which reads few files ahead
    _, *lines, _ = calls.at_lines  # the first and the last tell of the run
    assert len(lines) == FILES
    early, late = lines[2 * PART] - lines[PART], lines[-AHEAD] - lines[-AHEAD - PART]
    assert late < SLACK * early


def test_next_to_nothing_is_done_for_each_file_before_the_first_is_begun(tmp_path, calls):
    before = []
    for files in (2, 52):
        make(tmp_path / f"in{files}", files)
        calls.at_lines.clear()
        start = calls.so_far
        batch(tmp_path / f"in{files}", tmp_path / f"out{files}")
        before.append(calls.at_lines[0] - start)
    assert before[1] - before[0] < 50 * MAX_BEFORE


def test_the_command_tells_rates_and_memory_by_tenths(tmp_path):
    found = filtered(tmp_path, 20)
    assert len(found.per_s) == len(found.peak_bytes) == 10
    assert all(rate > 0 for rate in found.per_s)
    assert 0 < found.first_s <= found.seconds
    assert found.peak_bytes[0] > 0
