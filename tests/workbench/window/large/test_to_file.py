"""File ▸ Filter to file…: all of a picture too large for memory, by the command line itself."""

from dataclasses import replace

import numpy as np
import pytest
import tifffile
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton

from kernels import Engine, Sampling
from kernels.pictures.generated import noise
from tests.workbench.driving import answer_file_dialogs, child, click, drop, settle, trigger, until
from tests.workbench.made_up_batch import MadeUpBatch
from workbench.batch.large_filtering import is_begun
from workbench.files import needs
from workbench.model.intents import job_for
from workbench.model.state import Step
from workbench.model.step_files import select
from workbench.session.batch_process import BatchProcess
from workbench.window import file_filter, filter_choice

HEIGHT, WIDTH = 3000, 2600  # 64 MiB, which the process is allowed, are too few for all at once


@pytest.fixture
def large(qtbot, window, tmp_path, monkeypatch):
    """A picture open in the window, as a copy, that is sharpened; gives the file."""
    monkeypatch.setattr(needs, "memory_available_bytes", lambda: 30_000_000)
    monkeypatch.setattr(filter_choice, "memory_there_bytes", lambda: 30_000_000)
    path = tmp_path / "large.tif"
    tifffile.imwrite(path, noise(HEIGHT, WIDTH, 3), photometric="rgb", rowsperstrip=50)
    settle(qtbot, window, lambda: drop(window, path))
    chosen = {"filter": "sharpen", "implementation": "opencv"}
    settle(qtbot, window, lambda: window.store.choose(**chosen))
    return path


def said(window):
    return child(window, "folder-sentence", QLabel).text()


def button(window, name):
    return child(window, f"folder-{name}", QPushButton)


def finish(qtbot, window):
    until(qtbot, lambda: window.filter_menu.made.is_settled)


def begun(qtbot, window, monkeypatch, target):
    """The made-up process that File ▸ Filter to file begins."""
    monkeypatch.setattr(file_filter, "BatchProcess", MadeUpBatch)
    answer_file_dialogs(monkeypatch, target)
    trigger(window, "Filter to file…")
    batch = window.findChild(MadeUpBatch)
    until(qtbot, lambda: batch.is_running)
    return batch


def test_all_of_it_is_filtered_also_where_it_was_stopped_and_resumed(
    qtbot, window, large, tmp_path, monkeypatch
):
    target, rows = tmp_path / "out.tif", []
    asked = answer_file_dialogs(monkeypatch, target)
    trigger(window, "Save result as…")
    assert asked[0].name == "large-filtered.tif"
    process = window.findChild(BatchProcess)
    process.strips_done.connect(lambda *_: button(window, "stop").click())
    finish(qtbot, window)
    assert said(window).startswith("Stopped. What is finished is kept in out.tif.part")
    assert is_begun(target)
    assert not target.exists()
    process.strips_done.disconnect()
    process.strips_done.connect(lambda _path, done, of, _left_s: rows.append((done, of)))
    assert button(window, "start").text() == "Res&ume"
    click(button(window, "start"))
    finish(qtbot, window)
    assert said(window).startswith("Finished after")
    assert rows == sorted(rows)
    assert {of for _, of in rows} == {HEIGHT}
    assert not button(window, "start").isEnabled()  # it would write the same file again
    job = replace(job_for(window.store.state), picture=noise(HEIGHT, WIDTH, 3))
    result = Engine(use_gpu=False).run(job, Sampling(max_samples=0, cache="warm", check=False))
    np.testing.assert_array_equal(tifffile.imread(target), result.picture)
    trigger(window, "Filter a folder…")
    assert not said(window).startswith("Finished after")


def test_the_page_in_view_is_what_is_filtered(qtbot, window, large, tmp_path, monkeypatch):
    for _ in range(2):
        tifffile.imwrite(large, noise(HEIGHT, WIDTH, 3), rowsperstrip=50, append=True)
    settle(qtbot, window, lambda: drop(window, large))
    settle(qtbot, window, lambda: trigger(window, "Next page"))
    batch = begun(qtbot, window, monkeypatch, tmp_path / "out.tif")
    assert batch.words[batch.words.index("--page") + 1] == "2"


def test_a_list_is_done_as_far_as_it_is_shown(qtbot, window, large, tmp_path, monkeypatch):
    steps = (Step(filter="box"), *window.store.state.steps)
    settle(qtbot, window, lambda: window.store.choose(**select(steps, 0)))
    batch = begun(qtbot, window, monkeypatch, tmp_path / "out.tif")
    assert "sharpen" not in " ".join(batch.words)
    assert child(window, "folder-filter", QLabel).text().endswith(", step 1 of 2 only")
    batch.end("stopped")
    settle(qtbot, window, lambda: window.store.choose(**select(steps, 1)))
    until(qtbot, lambda: "sharpen" in child(window, "folder-command", QLineEdit).text())


def test_what_fails_is_one_sentence_in_the_window_where_the_dialog_is_closed(
    qtbot, window, large, tmp_path, monkeypatch
):
    batch = begun(qtbot, window, monkeypatch, tmp_path / "no such folder" / "out.tif")
    assert batch.words[:2] == ["apply", str(large)]
    assert "--replace" in batch.words  # the dialog has asked
    click(button(window, "close"))
    batch.end("refused", "There is no such folder.")
    assert (window.messages.kind, window.messages.sentence) == ("error", said(window))
    assert said(window) == "There is no such folder."
