"""The thread for slow things: answers come back to who asked, and none after the end."""

import threading

import pytest
from PySide6.QtCore import QThread

from kernels.core.errors import OutOfMemoryError
from tests.workbench.driving import until
from workbench.base.background import Background


@pytest.fixture
def background(qtbot):
    made = Background((KeyError,))
    yield made
    made.close()


def fail(error):
    def work():
        raise error

    return work


def test_work_is_done_elsewhere_and_answered_here(qtbot, background):
    answers = []
    background.run(
        QThread.currentThread,
        lambda worked_on: answers.append((worked_on, QThread.currentThread())),
        answers.append,
    )
    until(qtbot, lambda: answers)
    ((worked_on, answered_on),) = answers
    assert answered_on is QThread.currentThread()
    assert worked_on is not answered_on


def test_an_expected_failure_goes_to_who_asked(qtbot, background):
    answers, failures = [], []
    background.run(fail(KeyError("key")), answers.append, failures.append)
    until(qtbot, lambda: failures)
    assert isinstance(failures[0], KeyError)
    assert answers == []


def test_a_lack_of_memory_is_always_expected_and_in_words(qtbot, background):
    failures = []
    background.run(fail(MemoryError()), failures.append, failures.append)
    until(qtbot, lambda: failures)
    assert isinstance(failures[0], OutOfMemoryError)
    assert "too little memory" in str(failures[0])


def test_a_bug_is_told_with_its_traceback_and_the_thread_lives_on(qtbot, background, bugs_met):
    answers = []
    background.run(fail(ZeroDivisionError("a bug")), answers.append, answers.append)
    background.run(lambda: "next", answers.append, answers.append)
    until(qtbot, lambda: answers)
    ((sentence, details),) = bugs_met
    assert sentence == "ZeroDivisionError: a bug"
    assert "Traceback" in details
    assert answers == ["next"]


def test_of_one_thing_only_the_newest_answer_comes(qtbot, background):
    answers = []
    for of, work in (("a", "old"), ("b", "other"), ("a", "new"), ("b", "last")):
        background.run(work.title, answers.append, answers.append, of=of)
    background.drop("b")
    background.run("end".title, answers.append, answers.append)
    until(qtbot, lambda: "End" in answers)
    assert answers == ["New", "End"]


def test_closing_waits_for_what_runs_and_forgets_the_rest(qtbot, background):
    entered, go_on, done = threading.Event(), threading.Event(), []

    def work():
        entered.set()
        go_on.wait(10)
        done.append("the first")

    background.run(work, done.append, done.append)
    background.run(lambda: done.append("the second"), done.append, done.append)
    until(qtbot, entered.is_set)
    threading.Timer(0.05, go_on.set).start()
    background.close()
    qtbot.wait(1)  # for answers, which nobody may hear of now
    assert done == ["the first"]
