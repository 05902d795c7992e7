"""Pictures come in from everywhere; what is no picture is one sentence, and the last one stays."""

import os
import threading

import numpy as np
import pytest
from PySide6.QtGui import QColor, QGuiApplication, QImage
from PySide6.QtWidgets import QComboBox

from kernels.core.cache import once_a_picture
from kernels.pictures.generated import gradient, noise, stored_as
from kernels.sweeps.session_files import SessionFile
from tests.made_sessions import a_session
from tests.workbench.driving import (
    PATIENCE_MS,
    child,
    drop,
    open_recent,
    pick,
    settle,
    show_picture,
    trigger,
    until,
    view,
)
from workbench.base import memory
from workbench.files import image_files
from workbench.imaging import pictures
from workbench.session import opener
from workbench.session.exporter import save_png


@pytest.fixture
def photo(tmp_path):
    path = tmp_path / "photo.png"
    image_files.save(path, noise(20, 30, 3))
    return path


@pytest.fixture
def folder(tmp_path):
    """Three pictures: img1, img2 and img10."""
    for number in (1, 2, 10):
        image_files.save(tmp_path / f"img{number}.png", noise(4, number))
    return tmp_path


def opened(window):
    return window.store.state.picture


def test_a_file_dropped_is_opened(qtbot, window, photo):
    result = settle(qtbot, window, lambda: drop(window, photo))
    assert opened(window).path == photo
    np.testing.assert_array_equal(result.job.picture, noise(20, 30, 3))
    assert window.windowTitle() == "photo.png — Filter Workbench"
    assert window.settings.recent_files() == [photo]


def test_a_picture_is_stored_as_the_pixel_type_picked_and_back(qtbot, window, photo):
    settle(qtbot, window, lambda: drop(window, photo))
    combo = child(window, "pixel-type", QComboBox)
    result = settle(qtbot, window, lambda: pick(combo, "float16"))
    np.testing.assert_array_equal(result.job.picture, stored_as(noise(20, 30, 3), "float16"))
    assert result.picture.dtype == "float16"
    assert result.check.ok
    assert opened(window).path == photo
    result = settle(qtbot, window, lambda: pick(combo, None))
    np.testing.assert_array_equal(result.job.picture, noise(20, 30, 3))
    assert opened(window).original is None


@pytest.mark.parametrize("is_foreseen", [True, False])
def test_too_little_memory_for_another_pixel_type_is_one_sentence(
    qtbot, window, photo, monkeypatch, is_foreseen
):
    def fails(_samples, _pixel_type):
        raise MemoryError

    settle(qtbot, window, lambda: drop(window, photo))
    if is_foreseen:
        monkeypatch.setattr(memory, "LARGE_BYTES", 0)
        monkeypatch.setattr(memory, "memory_available_bytes", lambda: 7_000)
    else:
        monkeypatch.setattr(pictures, "stored_as", fails)
    pick(child(window, "pixel-type", QComboBox), "float32")
    until(qtbot, lambda: "too little memory" in window.messages.sentence)
    assert "photo.png as float32" in window.messages.sentence
    assert opened(window).samples.dtype == np.uint8
    assert window.store.state.pixel_type is None  # so that the list says what is shown
    assert child(window, "pixel-type").currentText() == "As in the file"


def text_named_png(folder):
    path = folder / "notes.png"
    path.write_text("Buy milk.\n" * 30)
    return path


def truncated(folder):
    whole = folder / "whole.png"
    image_files.save(whole, noise(200, 200, 3))
    path = folder / "half.png"
    path.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    return path


def pipe(folder):
    path = folder / "pipe.png"
    os.mkfifo(path)
    return path


@pytest.mark.parametrize(
    "make",
    [
        text_named_png,
        truncated,
        pytest.param(
            pipe, marks=pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="has no pipes")
        ),
    ],
)
def test_garbage_is_one_sentence_and_the_last_picture_stays(make, qtbot, window, tmp_path):
    path = make(tmp_path)
    show_picture(qtbot, window, noise(20, 30))
    before, shown = window.store.state, view(window, "After").display
    assert drop(window, path)
    until(qtbot, lambda: window.messages.kind == "error")
    sentence = window.messages.sentence
    assert path.name in sentence
    assert sentence.count("\n") == 0
    assert window.store.state == before
    assert view(window, "After").display is shown
    assert window.settings.recent_files() == []


def test_a_picture_on_the_clipboard_is_pasted(qtbot, window, monkeypatch):
    looking = []

    @once_a_picture
    def has_clear(samples):
        looking.append(threading.current_thread() is threading.main_thread())
        return bool((samples[..., -1] < 255).any())

    monkeypatch.setattr(pictures, "_has_clear", has_clear)
    image = QImage(6, 4, QImage.Format.Format_ARGB32)
    image.fill(QColor(77, 78, 79, 80))
    QGuiApplication.clipboard().setImage(image)
    result = settle(qtbot, window, lambda: trigger(window, "Paste picture"))
    np.testing.assert_array_equal(result.job.picture, np.full((4, 6, 4), (77, 78, 79, 80)))
    assert result.job.opaque == 255
    assert looking == [False]  # once, and not while the window waits


# -- folders and lists


def test_a_key_held_down_walks_as_fast_as_pictures_come(qtbot, window, folder, monkeypatch):
    """However often it is asked for, a step is taken once; and then the next one can be."""
    settle(qtbot, window, lambda: drop(window, folder / "img1.png"))
    loaded, load = [], image_files.load
    gate = threading.Event()

    def slowly(path, **how):
        loaded.append(path.name)
        gate.wait(PATIENCE_MS / 1000)
        return load(path, **how)

    monkeypatch.setattr(image_files, "load", slowly)
    for _ in range(30):
        trigger(window, "Next in folder")
    settle(qtbot, window, gate.set)
    assert loaded == ["img2.png"]
    settle(qtbot, window, lambda: trigger(window, "Next in folder"))
    assert loaded == ["img2.png", "img10.png"]
    trigger(window, "Next in folder")
    until(qtbot, lambda: "last picture" in window.messages.sentence)
    settle(qtbot, window, lambda: trigger(window, "Previous in folder"))
    assert opened(window).name == "img2.png"


def test_recent_files_are_in_the_menu_and_open(qtbot, window, folder):
    for number in (1, 2):
        settle(qtbot, window, lambda n=number: window.intake.open_paths([folder / f"img{n}.png"]))
    menu = open_recent(window)
    entries = [each for each in menu.actions() if each.text().startswith("img")]
    assert [each.text() for each in entries] == ["img2.png", "img1.png"]
    assert entries[1].toolTip() == str(folder / "img1.png")
    settle(qtbot, window, entries[1].trigger)
    assert opened(window).name == "img1.png"
    trigger(window, "Clear list")
    open_recent(window)
    assert not [each for each in menu.actions() if each.text().startswith("img")]


# -- screenshots that remember


def test_a_screenshot_brings_back_every_choice_and_a_built_in_picture(qtbot, window, tmp_path):
    chosen = {"filter": "unsharp", "ksize": 9, "sigma": 2.5, "amount": 3.0, "border": "wrap"}
    chosen |= {"implementation": "sequential", "block_xy": (16, 8)}  # soon compiled
    save_png(tmp_path / "shot.png", noise(5, 5), {**chosen, "built_in": "gradient"})
    show_picture(qtbot, window, noise(8, 8))
    settle(qtbot, window, lambda: drop(window, tmp_path / "shot.png"))
    until(qtbot, lambda: opened(window).built_in == "gradient")
    np.testing.assert_array_equal(opened(window).samples, gradient())
    assert {name: getattr(window.store.state, name) for name in chosen} == chosen
    assert child(window, "filter", QComboBox).currentData() == "unsharp"
    settle(qtbot, window, window.live.run_again)


@pytest.mark.parametrize(
    "settings",
    [
        {"built_in": ["scene"]},
        {"filter": "sharpest", "ksize": "large", "matrix": [["a"]], "sigma": -1},
    ],
)
def test_of_a_screenshot_only_what_makes_sense_is_taken(settings, qtbot, window, tmp_path):
    until(qtbot, lambda: window.device)
    path = tmp_path / "shot.png"
    save_png(path, noise(5, 5), settings)
    before = show_picture(qtbot, window, noise(8, 8)).job
    drop(window, path)
    until(qtbot, lambda: "Settings restored" in window.messages.sentence)
    assert window.store.state.ksize == before.ksize
    assert window.store.state.filter == "gaussian"


@pytest.mark.parametrize("give", [drop, lambda window, path: window.intake.open_paths([path])])
def test_a_drive_that_takes_long_to_answer_does_not_hold_up_the_window(
    qtbot, window, photo, folder, monkeypatch, give
):
    asked, answers = [], threading.Event()

    def answer_slowly(path):
        asked.append(threading.current_thread())
        return not answers.wait(PATIENCE_MS / 1e3)

    monkeypatch.setattr(opener, "is_session", answer_slowly)
    give(window, photo)
    until(qtbot, lambda: asked)
    assert threading.main_thread() not in asked
    give(window, folder / "img2.png")  # the first is wanted no more
    answers.set()
    until(qtbot, lambda: opened(window))
    assert opened(window).name == "img2.png"


@pytest.mark.parametrize("give", [drop, lambda window, *paths: window.intake.open_paths(paths)])
def test_a_folder_with_a_session_is_opened_beside_a_picture(qtbot, window, photo, tmp_path, give):
    session = a_session("sizes")
    with SessionFile.create(tmp_path / "sweep", session.plan, session.machine):
        pass
    give(window, tmp_path / "sweep", photo)
    until(qtbot, lambda: opened(window) and window.sessions.shown)
    assert opened(window).name == photo.name
    assert window.sessions.sessions()[0].plan == session.plan
