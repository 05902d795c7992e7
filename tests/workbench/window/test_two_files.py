"""Two files held against each other, in the real window, with no filter in between."""

from dataclasses import replace

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from kernels.pictures.generated import noise
from tests.workbench.driving import (
    child,
    click,
    drop,
    pick,
    settle,
    show_picture,
    trigger,
    until,
    view,
)
from workbench.files.image_files import save
from workbench.model import step_files
from workbench.model.choices import to_settings
from workbench.model.state import Step
from workbench.panels.controls.filter_popup import FilterBox
from workbench.widgets.tile import ValueTile


def two_files(tmp_path):
    """Noise, and the same with eight pixels of it one level higher, or lower."""
    one = noise(40, 60, 3)
    other = one.copy()
    other[3, :8] ^= 1
    for name, samples in (("A.png", one), ("B.png", other)):
        save(tmp_path / name, samples)
    return tmp_path / "A.png", tmp_path / "B.png", one, other


def test_two_dropped_files_are_compared_in_every_mode(qtbot, window, tmp_path):
    path_a, path_b, one, other = two_files(tmp_path)
    settle(qtbot, window, lambda: drop(window, path_a, path_b))
    button = next(e for e in window.findChildren(QPushButton) if e.text() == "&Compare the two")
    result = settle(qtbot, window, lambda: click(button))
    np.testing.assert_array_equal(result.picture, other)
    pane = window.compare.main
    until(qtbot, lambda: "A.png · 60×40" in pane.accessibleDescription())  # under the divider
    assert pane.caption == "B: B.png · 60×40"
    line = window.timing_views.line
    assert "Two files" in line.accessibleName()  # and no time of a filter, nor a verdict on one
    assert "verified" not in line.accessibleName()
    assert window.messages.kind is None  # what offered to compare is gone
    window.compare.show_original(True)  # takes turns with the other file
    assert pane.caption == "A: A.png · 60×40"
    window.compare.show_original(False)
    trigger(window, "Difference")
    until(qtbot, lambda: pane.caption.startswith("B: B.png − A: A.png"))
    trigger(window, "Mismatch")
    until(qtbot, lambda: "blue: 8 differ from the other file" in pane.caption)
    window.docks.enter("Analysis")
    until(
        qtbot, lambda: "dashed: A: A.png, solid: B: B.png" in child(window, "profile-line").text()
    )
    assert window.compare.read_out_row.original.text() == "Hold: &A"
    psnr = child(window, "psnr", ValueTile)
    mse = np.mean((one.astype(float) - other) ** 2)
    until(qtbot, lambda: psnr._shown[0] == f"{10 * np.log10(255**2 / mse):.2f} dB")
    trigger(window, "Compare with the original")
    until(qtbot, lambda: view(window, "After").caption.startswith("After · Gaussian"))
    until(qtbot, lambda: "verified" in line.accessibleName())
    window.undo_history.undo()
    until(qtbot, lambda: "blue: 8 differ" in pane.caption)
    # One undo more brings back picture, filter and view.
    settle(qtbot, window, lambda: [window.undo_history.undo() for _ in range(3)])
    assert window.store.state.picture.name == "A.png"
    assert child(window, "filter", FilterBox).currentText() == "Gaussian blur"


def test_the_same_file_with_nan_and_infinity_twice_is_the_same(qtbot, window, tmp_path):
    samples = noise(40, 60, 3, "float32")
    samples[9, 9], samples[20, 30, 1], samples[20, 40, 2] = np.nan, np.inf, -np.inf
    for name in ("A.tif", "B.tif"):
        save(tmp_path / name, samples)
    settle(qtbot, window, lambda: drop(window, tmp_path / "A.tif", tmp_path / "B.tif"))
    button = next(e for e in window.findChildren(QPushButton) if e.text() == "&Compare the two")
    result = settle(qtbot, window, lambda: click(button))
    np.testing.assert_array_equal(result.picture, samples)
    pane = window.compare.main
    trigger(window, "Mismatch")
    until(qtbot, lambda: "no pixel differs" in pane.caption)
    trigger(window, "Difference")
    until(qtbot, lambda: "nothing differs" in pane.caption)
    window.docks.enter("Analysis")
    psnr = child(window, "psnr", ValueTile)
    until(qtbot, lambda: psnr._shown[0] == "∞")
    pick(child(window, "filter", FilterBox), "gaussian")  # not as small as what changes nothing
    assert window.store.state.ksize == 5


def test_files_of_other_sizes_get_one_sentence(qtbot, window, tmp_path):
    path_a, *_ = two_files(tmp_path)
    show_picture(qtbot, window, noise(40, 61, 3))
    before = window.store.state
    window.intake.compare(path_a)
    until(qtbot, lambda: window.messages.kind == "error")
    assert window.messages.sentence.startswith("A.png is 60×40")
    assert window.store.state == before
    assert view(window, "After").caption.startswith("After · Gaussian")


def test_what_was_chosen_comes_back_when_the_comparison_ends(qtbot, window, tmp_path):
    path_a, path_b, *_ = two_files(tmp_path)
    settle(qtbot, window, lambda: drop(window, path_a))
    steps = [Step("gaussian", 7), Step("sharpen", 3), Step("median", 5)]
    window.store.update(**step_files.select(steps, 1), levels=(3.0, 200.0))
    before = settle(qtbot, window) and window.store.state

    def ends(act, **but):
        settle(qtbot, window, lambda: window.intake.compare(path_b))
        assert window.store.state.filter == "identity"
        assert window.undo_history.undo_words == "comparison with B.png"
        assert to_settings(window.store.state)["filter"] == "sharpen"  # of the next start
        settle(qtbot, window, act)
        assert replace(window.store.state, **but) == before

    ends(window.findChild(QAction, "Compare with a file…").trigger)
    window.messages.clear()  # Esc does that first
    ends(lambda: QTest.keyClick(window.compare.main, Qt.Key.Key_Escape))
    assert window.undo_history.undo_words == "picture B.png → A.png"
    ends(lambda: trigger(window, "Compare with the original"))
    # Of another picture only that and its levels are others.
    other = {"picture": before.picture, "levels": before.levels}
    ends(lambda: trigger(window, "Previous in folder"), **other)
