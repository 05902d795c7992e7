"""A sweep in the real window: it runs, is cancelled, and live filtering goes on meanwhile."""

import csv
import io

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QCheckBox, QLabel, QLineEdit, QProgressBar, QPushButton

from kernels import sweep
from kernels.errors import DeviceLostError
from kernels.job import Progress
from kernels.pictures import noise
from tests.workbench.driving import child, click, settle, show_picture, trigger, until
from tests.workbench.engines import MadeUpGpu, Scripted


def ask_for(window, values, *implementations):
    """Type the values, tick the implementations and no others."""
    box = child(window, "sweep-values", QLineEdit)
    box.setText(values)
    box.textEdited.emit(values)
    for tick in window.sweep.findChildren(QCheckBox):
        key = tick.objectName().removeprefix("sweep-")
        if tick.isEnabled() and tick.isChecked() != (key in implementations):
            tick.click()


def doing(window):
    return child(window, "sweep-doing", QLabel).text()


def rows(window):
    """The points, as a spreadsheet would have them."""
    click(child(window, "sweep-copy-csv", QPushButton))
    return list(csv.DictReader(io.StringIO(QGuiApplication.clipboard().text())))


@pytest.mark.parametrize(
    ("vary", "values", "expected"),
    [
        ("image-size", "4, 8", ["4", "8"]),
        ("kernel-size", "1, 3", ["1", "3"]),
        ("block-shape", "8×8, 16×16", [""]),  # once, for the CPU
    ],
)
def test_a_sweep_measures_every_point(vary, values, expected, qtbot, window):
    show_picture(qtbot, window, noise(8, 8))
    click(child(window, f"vary-{vary}"))
    ask_for(window, values, "opencv")
    click(child(window, "sweep-start"))
    assert not child(window, "sweep-start").isEnabled()
    assert child(window, "sweep-cancel").isEnabled()
    until(qtbot, lambda: doing(window).startswith("Done"))
    points = rows(window)
    assert [point["value"] for point in points] == expected
    assert all(point["check"] == "passed" for point in points)
    bar = child(window, "sweep-progress", QProgressBar)
    assert bar.value() == bar.maximum() == len(expected)
    assert child(window, "sweep-start").isEnabled()
    assert window.messages.kind != "error"


@pytest.fixture
def endless(make_window, monkeypatch):
    """A window whose sweeps measure one point and then never end."""

    def sweeping(plan, engine, sampling):
        steps = sweep.sweeping(plan, engine, sampling)
        for step in steps:
            yield step
            while isinstance(step, sweep.SweepPoint):
                yield Progress("waiting")

    monkeypatch.setattr("workbench.intents.sweeping", sweeping)
    return make_window()


def test_a_sweep_is_cancelled_and_keeps_its_points(qtbot, endless):
    show_picture(qtbot, endless, noise(8, 8))
    ask_for(endless, "4, 8", "opencv")
    click(child(endless, "sweep-start"))
    until(qtbot, lambda: child(endless, "sweep-progress", QProgressBar).value() == 1)
    click(child(endless, "sweep-cancel"))
    until(qtbot, lambda: doing(endless).startswith("Stopped: 1 of 2 points"))
    assert [point["value"] for point in rows(endless)] == ["4"]
    assert child(endless, "sweep-start").isEnabled()
    assert not child(endless, "sweep-cancel").isEnabled()
    assert endless.messages.kind != "error"


def test_filtering_goes_on_while_a_sweep_runs(qtbot, endless):
    show_picture(qtbot, endless, noise(8, 8))
    ask_for(endless, "4, 8", "opencv")
    click(child(endless, "sweep-start"))
    until(qtbot, lambda: child(endless, "sweep-progress", QProgressBar).value() == 1)
    for ksize in (7, 9, 11):
        result = settle(qtbot, endless, lambda k=ksize: endless.store.update(ksize=k))
        assert result.job.ksize == ksize
    assert child(endless, "sweep-cancel").isEnabled()


def test_one_key_starts_and_cancels(qtbot, endless):
    show_picture(qtbot, endless, noise(8, 8))
    ask_for(endless, "4, 8", "opencv")
    endless.docks["Gallery"].raise_()
    trigger(endless, "Start or cancel sweep")
    assert child(endless, "sweep-cancel").isEnabled()
    trigger(endless, "Start or cancel sweep")
    until(qtbot, lambda: child(endless, "sweep-start").isEnabled())
    until(qtbot, endless.sweep.isVisible)


def test_a_sweep_goes_by_the_choices_at_its_start(qtbot, window):
    show_picture(qtbot, window, noise(8, 8))
    window.store.update(border="wrap", filter="box", ksize=7)
    ask_for(window, "4", "sequential")
    click(child(window, "sweep-start"))
    window.store.update(border="zero", ksize=3)
    until(qtbot, lambda: doing(window).startswith("Done"))
    (point,) = rows(window)
    assert (point["border"], point["kernel_size"], point["filter"]) == ("wrap", "7", "Box blur")


def test_nothing_can_start_without_a_picture(window):
    assert not child(window, "sweep-start").isEnabled()
    assert child(window, "sweep-hint", QLabel).text() == "Open a picture first."
    trigger(window, "Start or cancel sweep")
    assert not child(window, "sweep-cancel").isEnabled()


def test_a_gpu_lost_in_a_sweep_is_a_sentence(qtbot, make_window):
    class Lost(MadeUpGpu):
        def filtering(self, job, sampling=None):
            for step in super().filtering(job, sampling):
                if job.picture.shape[0] == 4 and job.implementation == "shared":
                    raise DeviceLostError("The GPU failed while filtering; restart the program.")
                yield step

    window = make_window(Lost)
    until(qtbot, lambda: window.device)
    show_picture(qtbot, window, noise(8, 8))
    ask_for(window, "3, 4, 5", "shared", "opencv")
    click(child(window, "sweep-start"))
    until(qtbot, lambda: window.messages.kind == "error")
    assert window.messages.sentence == "The GPU failed while filtering; restart the program."
    assert doing(window).startswith("Stopped: 3 of 6")
    assert child(window, "sweep-start").isEnabled()


def test_a_bug_in_a_sweep_is_shown_and_the_panel_is_free_again(qtbot, make_window):
    def script(job, steps):
        if job.picture.shape[0] == 4:
            raise ZeroDivisionError("a bug")
        yield from steps

    window = make_window(lambda: Scripted(script))
    show_picture(qtbot, window, noise(8, 8))
    ask_for(window, "4", "opencv")
    click(child(window, "sweep-start"))
    until(qtbot, lambda: window.messages.kind == "error")
    assert "ZeroDivisionError" in window.messages.sentence
    assert child(window, "sweep-start").isEnabled()
    settle(qtbot, window, lambda: window.store.update(border="wrap"))
