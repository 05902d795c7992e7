"""What is used again and again is not kept again and again: found by tests/soak."""

import gc

import numpy as np
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QAction

from tests.made_up import a_job, result
from tests.workbench.driving import open_recent
from workbench.model.rung_times import MAX_WORKS, RungTimes


def test_the_menu_of_recent_files_has_no_more_lines_than_it_shows(window, tmp_path):
    window.settings.add_recent_file(tmp_path / "a.png")
    menu = open_recent(window)

    def lines_alive_after(times):
        for _ in range(times):
            open_recent(window)
            QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
            menu.actions()
        gc.collect()
        return sum(isinstance(each, QAction) for each in gc.get_objects())

    assert lines_alive_after(10) == lines_alive_after(1)
    own = [each for each in menu.children() if isinstance(each, QAction)]
    assert [each for each in own if each not in (*menu.actions(), menu.menuAction())] == []


def test_the_times_of_the_work_that_was_measured_longest_ago_are_forgotten():
    times = RungTimes()
    first = a_job(picture=np.zeros((1, 1, 1), np.uint8))
    times.add_result(result("shared", (1.0,), job=first))
    for width in range(2, MAX_WORKS + 1):
        job = a_job(picture=np.zeros((1, width, 1), np.uint8))
        times.add_result(result("shared", (2.0,), job=job))
    times.add_result(result("shared", (3.0,), job=first))  # now it is the newest
    another = a_job(picture=np.zeros((2, 1, 1), np.uint8))
    times.add_result(result("shared", (4.0,), job=another))
    assert times.of_work(first, "cold")["shared"].median_ms == 3.0
    assert times.of_work(a_job(picture=np.zeros((1, 2, 1), np.uint8)), "cold") == {}
    assert times.of_work(another, "cold")["shared"].median_ms == 4.0
