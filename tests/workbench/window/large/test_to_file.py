"""File ▸ Filter to file…: all of a picture too large for memory, by the command line itself."""

import shlex
from dataclasses import replace

import numpy as np
import pytest
import tifffile
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QProgressBar, QPushButton

from kernels import Engine, Sampling
from kernels.pictures.generated import noise
from tests.workbench.driving import (
    answer_file_dialogs,
    child,
    click,
    drop,
    settle,
    trigger,
    until,
)
from workbench.batch.large_filtering import is_begun
from workbench.cli import main
from workbench.files import needs
from workbench.model.intents import job_for
from workbench.session.batch_process import BatchProcess
from workbench.window import filter_choice

HEIGHT, WIDTH = 3000, 2600  # 64 MiB, which the process is allowed, are too few for all at once


@pytest.fixture
def large(qtbot, window, tmp_path, monkeypatch):
    """A picture open in the window, as a copy, that is sharpened; gives the file."""
    monkeypatch.setattr(needs, "memory_available_bytes", lambda: 30_000_000)
    monkeypatch.setattr(filter_choice, "memory_there_bytes", lambda: 30_000_000)
    path = tmp_path / "large.tif"
    tifffile.imwrite(path, noise(HEIGHT, WIDTH, 3), photometric="rgb", rowsperstrip=50)
    settle(qtbot, window, lambda: drop(window, path))
    chosen = {"filter": "sharpen", "implementation": "parallel"}
    settle(qtbot, window, lambda: window.store.choose(**chosen))
    return path


def said(window):
    return child(window, "folder-sentence", QLabel).text()


def button(window, name):
    return child(window, f"folder-{name}", QPushButton)


def assert_is_all_of_it(window, target):
    """The file has what the whole picture gives where it is filtered in one go."""
    job = replace(job_for(window.store.state), picture=noise(HEIGHT, WIDTH, 3))
    result = Engine(use_gpu=False).run(job, Sampling(max_samples=0, cache="warm", check=False))
    np.testing.assert_array_equal(tifffile.imread(target), result.picture)


def finish(qtbot, window):
    until(qtbot, lambda: window.filter_menu.made.is_settled)


def test_all_of_it_is_filtered_as_the_command_does(qtbot, window, large, tmp_path, monkeypatch):
    target = tmp_path / "out.tif"
    asked = answer_file_dialogs(monkeypatch, target)
    rows = []
    trigger(window, "Filter to file…")
    assert asked[0].name == "large-filtered.tif"
    process = window.findChild(BatchProcess)
    process.strips_done.connect(lambda _path, done, of, _left_s: rows.append((done, of)))
    finish(qtbot, window)
    assert said(window).startswith("Finished after")
    assert rows[0][0] < HEIGHT
    assert rows == sorted(rows)
    assert {of for _, of in rows} == {HEIGHT}
    bar = child(window, "folder-progress", QProgressBar)
    assert bar.value() == bar.maximum()
    assert not button(window, "start").isEnabled()  # it would write the same file again
    click(button(window, "copy"))
    assert_is_all_of_it(window, target)
    words = shlex.split(QGuiApplication.clipboard().text())
    words[words.index(str(target))] = str(tmp_path / "again.tif")
    assert main.main(words[1:]) == 0
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "again.tif"), tifffile.imread(target))


def test_save_result_does_the_same_and_what_was_stopped_is_gone_on_with(
    qtbot, window, large, tmp_path, monkeypatch
):
    target = tmp_path / "out.tif"
    answer_file_dialogs(monkeypatch, target)
    trigger(window, "Save result as…")
    process = window.findChild(BatchProcess)
    process.strips_done.connect(lambda *_: button(window, "stop").click())
    finish(qtbot, window)
    assert said(window).startswith("Stopped. What is finished is kept in out.tif.part")
    assert is_begun(target)
    assert not target.exists()
    process.strips_done.disconnect()
    assert button(window, "start").text() == "Res&ume"
    click(button(window, "start"))
    finish(qtbot, window)
    assert said(window).startswith("Finished after")
    assert_is_all_of_it(window, target)


def test_what_fails_is_one_sentence_in_the_window_where_the_dialog_is_closed(
    qtbot, window, large, tmp_path, monkeypatch
):
    answer_file_dialogs(monkeypatch, tmp_path / "no such folder" / "out.tif")
    trigger(window, "Filter to file…")
    click(button(window, "close"))
    finish(qtbot, window)
    assert window.messages.kind == "error"
    assert window.messages.sentence == said(window)
    assert "folder" in said(window)
