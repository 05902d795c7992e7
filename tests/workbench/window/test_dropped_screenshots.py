"""A dropped screenshot brings back what it shows: a picture, or a window with picture and pins."""

import numpy as np
import pytest
from PySide6.QtWidgets import QPushButton

from kernels.pictures.generated import noise
from tests.workbench.driving import (
    answer_file_dialogs,
    child,
    click,
    drop,
    settle,
    show_picture,
    trigger,
    until,
)
from workbench.files.image_files import save


@pytest.fixture
def said(window):
    """Everything that the message bar said, as some of it goes by itself."""
    sentences = []
    show = window.messages.show_message

    def show_and_keep(kind, sentence, *more, **how):
        sentences.append(sentence)
        show(kind, sentence, *more, **how)

    window.messages.show_message = show_and_keep
    return sentences


@pytest.fixture
def photo(tmp_path):
    save(tmp_path / "photo.png", noise(30, 40, 3))
    return tmp_path / "photo.png"


def shot_of(qtbot, window, path, monkeypatch, what):
    answer_file_dialogs(monkeypatch, path)
    with qtbot.waitSignal(window.exporter.saved):
        trigger(window, what)
    return path


def test_a_filtered_picture_opens_as_the_picture_it_is_and_offers_its_settings(
    qtbot, window, photo, tmp_path, monkeypatch
):
    settle(qtbot, window, lambda: drop(window, photo))
    result = settle(qtbot, window, lambda: window.store.choose(border="wrap", ksize=9))
    path = shot_of(qtbot, window, tmp_path / "filtered.png", monkeypatch, "Filtered picture…")
    settle(qtbot, window, lambda: window.store.choose(border="zero", ksize=3))
    settle(qtbot, window, lambda: drop(window, path))
    state = window.store.state
    assert (state.picture.name, state.border, state.ksize) == ("filtered.png", "zero", 3)
    np.testing.assert_array_equal(state.picture.samples, result.picture)
    assert "holds its settings" in window.messages.sentence
    settle(qtbot, window, lambda: click(child(window.messages, "act", QPushButton)))
    state = window.store.state
    assert (state.picture.name, state.border, state.ksize) == ("filtered.png", "wrap", 9)


def test_a_window_comes_back_with_its_picture_and_pins(
    qtbot, window, make_window, photo, tmp_path, monkeypatch
):
    settle(qtbot, window, lambda: drop(window, photo))
    trigger(window, "Pin this result")
    settle(qtbot, window, lambda: window.store.choose(border="wrap", ksize=9))
    path = shot_of(qtbot, window, tmp_path / "window.png", monkeypatch, "Window…")
    other = make_window()
    show_picture(qtbot, other, noise(8, 8))
    drop(other, path)
    until(qtbot, lambda: len(other.inspection.pins) == 1)
    until(qtbot, lambda: (other.store.state.ksize, other.store.state.border) == (9, "wrap"))
    assert other.store.state.picture.path == photo
    np.testing.assert_array_equal(
        other.inspection.pins[0].samples, window.inspection.pins[0].samples
    )
    with qtbot.waitSignal(other.opener.opened):
        drop(other, path)  # once more brings no pin twice
    until(qtbot, lambda: len(other.inspection.pins) == 1 and other.store.state.ksize == 9)


def test_where_its_picture_is_gone_the_settings_come_back_and_that_is_said(
    qtbot, window, said, photo, tmp_path, monkeypatch
):
    settle(qtbot, window, lambda: drop(window, photo))
    settle(qtbot, window, lambda: window.store.choose(border="wrap"))
    trigger(window, "Pin this result")
    path = shot_of(qtbot, window, tmp_path / "window.png", monkeypatch, "Window…")
    photo.unlink()
    window.inspection.unpin()
    show_picture(qtbot, window, noise(8, 8))
    window.store.choose(border="zero")
    drop(window, path)
    until(qtbot, lambda: window.store.state.border == "wrap")
    assert window.store.state.picture.name == "made up.png"
    assert window.inspection.pins == ()
    gone = "Settings restored from window.png. photo.png, which it shows, is not there any more."
    until(qtbot, lambda: gone in said)
