"""The thread that looks: what goes first, what is dropped, and what is said when it fails."""

import threading

import pytest
from PySide6.QtCore import QThread

from tests.workbench.driving import until
from workbench.session.tasks import AnalysisThread, Task


@pytest.fixture
def steps(qtbot):
    steps = AnalysisThread()
    yield steps
    steps.close()


class Gate:
    """A generator that waits, before each of its steps, until it is let on."""

    def __init__(self, answers):
        self.on = threading.Semaphore(0)
        self.begun = threading.Event()
        self._answers = answers

    def __call__(self):
        for answer in self._answers:
            self.begun.set()
            self.on.acquire()
            yield answer


def test_answers_come_on_the_thread_that_asked_and_none_is_no_answer(qtbot, steps):
    told = []
    here = QThread.currentThread()
    steps.ask("a", lambda: iter((1, None, 2)), lambda n: told.append((n, QThread.currentThread())))
    until(qtbot, lambda: len(told) == 2)
    assert told == [(1, here), (2, here)]
    assert not steps.is_under_way("a")


def test_what_was_cancelled_says_nothing_more(qtbot, steps):
    gate, told, dropped = Gate([None, "too late"]), [], []
    steps.ask("a", gate, told.append, on_drop=lambda: dropped.append("a"))
    assert gate.begun.wait(10)
    assert steps.is_under_way("a")
    steps.cancel("a")
    assert dropped == ["a"]  # in the midst of its step
    gate.on.release()
    gate.on.release()
    steps.ask("b", lambda: iter(("b",)), told.append)
    until(qtbot, lambda: told)
    assert told == ["b"]


def test_of_a_dropped_task_nothing_keeps_the_generator(qtbot, steps):
    """Some Pythons 3.12 end the inner ones of a closed generator with its last reference."""
    ended = []
    task = Task("a", lambda: iter(int, 1), lambda _: None, lambda *how: ended.append(how))
    steps.put(task)
    until(qtbot, lambda: task.steps is not None)
    steps.drop("a")
    until(qtbot, lambda: ended)
    assert ended == [(None, False)]
    assert task.steps is None


def test_a_bug_is_carried_to_whoever_listens_and_the_thread_lives_on(qtbot, steps, bugs_met):
    def buggy():
        yield None
        raise ZeroDivisionError("made up")

    dropped, told = [], []
    steps.dropped.connect(dropped.append)
    steps.ask("a", buggy, told.append)
    until(qtbot, lambda: dropped)
    assert dropped == ["a"]
    assert bugs_met[0][0] == "ZeroDivisionError: made up"
    assert "Traceback" in bugs_met[0][1]
    steps.ask("b", lambda: iter((5,)), told.append)
    until(qtbot, lambda: told)


def test_others_hear_of_a_hurry_and_of_its_end(qtbot, steps):
    heard, gate = [], Gate([None])
    steps.hurries.connect(heard.append)
    steps.ask("a", gate, lambda _: None, hurries=True)
    assert heard == [True]
    steps.ask("b", lambda: iter((1,)), lambda _: None, urgency=9)
    gate.on.release()
    until(qtbot, lambda: heard == [True, False])
    gate = Gate([None])
    steps.ask("a", gate, lambda _: None, hurries=True)
    steps.cancel("a")
    gate.on.release()
    assert heard == [True, False, True, False]
