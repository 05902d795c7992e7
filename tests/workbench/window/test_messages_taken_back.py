"""A message is gone with what caused it."""

from kernels.pictures.generated import noise
from tests.workbench.driving import settle, show_picture, trigger, until
from workbench.window import result_views


def test_a_confirmation_goes_with_undo_and_with_another_picture(qtbot, window, monkeypatch):
    monkeypatch.setattr(result_views, "FRESH_MS", 0)
    until(qtbot, lambda: window.device)
    show_picture(qtbot, window, noise(20, 30))
    settle(qtbot, window, lambda: window.store.update(ksize=7))
    trigger(window, "Copy result")
    until(qtbot, lambda: window.messages.sentence == "Copied the result.")
    window.undo_history.undo()
    assert window.messages.sentence == ""
    trigger(window, "Copy result")
    until(qtbot, lambda: window.messages.sentence == "Copied the result.")
    show_picture(qtbot, window, noise(30, 20))
    assert "Copied" not in window.messages.sentence


def test_what_is_said_because_of_another_picture_stays(qtbot, window):
    until(qtbot, lambda: window.device)
    show_picture(qtbot, window, noise(20, 30))
    trigger(window, "Pin this result")
    show_picture(qtbot, window, noise(30, 20))
    assert window.messages.sentence.startswith("What was pinned is of made up.png")
