"""The weights editor beside the real window: what is typed, pasted and drawn is filtered."""

import numpy as np
import pytest
from PySide6.QtCore import QItemSelectionModel, QPointF, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QListWidget,
    QPushButton,
    QSpinBox,
)

from kernels import filters
from kernels.oracle.reference import filtered, to_pixel_type
from kernels.pictures.generated import noise
from tests.workbench.driving import child, click, pick, ready, settle, trigger, until
from workbench.base.paths import DATA_VARIABLE
from workbench.model import intents
from workbench.panels.weights.named_weights import LibraryBox
from workbench.panels.weights.weights_grid import INVALID, WeightsGrid
from workbench.panels.weights.weights_summary import ResponseView
from workbench.widgets.folding import FoldButton

SAMPLES = noise(24, 31, 3)
Key = Qt.Key


@pytest.fixture
def window(qtbot, make_window, tmp_path, monkeypatch):
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "mine"))
    return ready(qtbot, make_window(), SAMPLES)


@pytest.fixture
def editor(qtbot, window):
    settle(qtbot, window, lambda: window.store.update(filter="gaussian", ksize=3))
    trigger(window, "Weights")
    editor = window.weights.get()
    assert editor.isVisible()
    qtbot.waitUntil(editor.isVisible)
    return editor


@pytest.fixture
def grid(editor):
    grid = child(editor, "weights-grid", WeightsGrid)
    grid.setFocus()
    return grid


def at(grid, row, column):
    """Choose the one cell, whatever keys a test has left held down."""
    just_this = QItemSelectionModel.SelectionFlag.ClearAndSelect
    grid.selectionModel().setCurrentIndex(grid.model().index(row, column), just_this)


def type_cell(grid, row, column, text):
    at(grid, row, column)
    model = grid.model()
    model.setData(model.index(row, column), text)


def sentence(editor):
    return child(editor, "weights-sentence", QLabel).text()


def weights_of(window):
    return intents.weights_for(window.store.state)


def is_right(result):
    expected = to_pixel_type(filtered(result.job), result.job.picture.dtype)
    return np.abs(expected.astype(float) - result.picture.astype(float)).max() < 2


def test_a_cell_that_is_typed_is_filtered_at_once(qtbot, window, editor, grid):
    result = settle(qtbot, window, lambda: type_cell(grid, 1, 1, "-4"))
    assert window.store.state.filter == "custom"
    assert result.job.correlation.weights[1, 1] == np.float32(-4 / 16)
    assert is_right(result)


def test_keys_move_and_edit_as_in_a_spreadsheet(qtbot, window, editor, grid):
    editor.activateWindow()
    at(grid, 0, 0)
    for key in Key.Key_Right, Key.Key_Down:
        QTest.keyClick(grid, key)
    assert (grid.currentIndex().row(), grid.currentIndex().column()) == (1, 1)
    QTest.keyClicks(grid.viewport(), "9")
    until(qtbot, lambda: grid.findChild(QLineEdit))
    edit = grid.findChild(QLineEdit)
    settle(qtbot, window, lambda: QTest.keyClick(edit, Key.Key_Return))
    assert editor.drawing.cells[1][1] == "9"
    assert (grid.currentIndex().row(), grid.currentIndex().column()) == (2, 1)
    settle(qtbot, window, lambda: QTest.keyClick(grid, Key.Key_Delete))
    assert editor.drawing.cells[2][1] == "0"
    QTest.keyClick(grid, Key.Key_Tab)
    assert (grid.currentIndex().row(), grid.currentIndex().column()) == (2, 2)


def test_an_invalid_cell_is_marked_and_never_applied(qtbot, window, editor, grid):
    before = window.store.state
    type_cell(grid, 0, 2, "abc")
    assert window.store.state == before
    index = grid.model().index(0, 2)
    assert index.data(INVALID)
    assert "not a number" in index.data(Qt.ItemDataRole.ToolTipRole)
    assert "not a number" in index.data(Qt.ItemDataRole.AccessibleTextRole)
    assert "“abc” in row 1, column 3 is not a number" in sentence(editor)
    type_cell(grid, 2, 0, "")
    assert "is not a number (of 2 that are wrong)" in sentence(editor)
    assert "An empty cell is not" in grid.model().index(2, 0).data(Qt.ItemDataRole.ToolTipRole)
    type_cell(grid, 2, 0, "1")
    type_cell(grid, 1, 1, "8")  # nor is what is valid beside it
    assert window.store.state == before
    result = settle(qtbot, window, lambda: type_cell(grid, 0, 2, "1/2"))
    assert result.job.correlation.weights[0, 2] == np.float32(0.5 / 16)
    assert result.job.correlation.weights[1, 1] == np.float32(0.5)
    assert "not a number" not in sentence(editor)


def test_the_windows_undo_takes_back_a_cell_and_brings_it_again(qtbot, window, editor, grid):
    settle(qtbot, window, lambda: type_cell(grid, 0, 0, "8"))
    settle(qtbot, window, lambda: click(child(editor, "weights-rotate 90°", QPushButton)))
    assert editor.drawing.cells[0] == ("1", "2", "8")
    settle(qtbot, window, window.undo_history.undo)
    assert editor.drawing.weights[0].tolist() == [0.5, 0.125, 0.0625]
    settle(qtbot, window, window.undo_history.undo)
    assert window.store.state.filter == "gaussian"
    np.testing.assert_array_equal(editor.drawing.weights, weights_of(window))
    settle(qtbot, window, window.undo_history.redo)
    assert window.store.state.filter == "custom"
    assert editor.drawing.weights[0, 0] == 0.5


def test_a_square_from_a_spreadsheet_is_pasted(qtbot, window, editor, grid):
    QGuiApplication.clipboard().setText("\n".join(["0,5\t0\t0\t0\t1"] * 5) + "\n")
    at(grid, 0, 0)
    result = settle(
        qtbot, window, lambda: QTest.keyClick(grid, Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    )
    np.testing.assert_array_equal(
        result.job.correlation.weights, np.array([[0.5, 0, 0, 0, 1]] * 5, np.float32)
    )
    assert window.store.state.ksize == 5
    assert is_right(result)
    QTest.keyClick(grid, Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(grid, Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "\n".join(["0,5\t0\t0\t0\t1"] * 5)


def test_garbage_on_the_clipboard_changes_nothing(window, editor, grid):
    before, drawn = window.store.state, editor.drawing
    for text in ("", "1\t2\n3\t4\n5\t6\n7\t8", "hello\tthere", "1 2 3 4", "\0" * 9):
        QGuiApplication.clipboard().setText(text)
        click(child(editor, "weights-paste", QPushButton))
        assert (window.store.state, editor.drawing) == (before, drawn)
        assert child(editor, "weights-sentence", QLabel).property("objection")


def test_a_size_up_to_31_and_back(qtbot, window, editor, grid):
    box = child(editor, "weights-size", QSpinBox)
    assert (box.minimum(), box.maximum()) == (1, 31)
    result = settle(qtbot, window, lambda: box.setValue(31))
    assert result.job.ksize == 31
    np.testing.assert_array_equal(
        result.job.correlation.weights, np.pad(filters.get("gaussian").weights(3), 14)
    )
    middle = grid.visualRect(grid.currentIndex()).center() - grid.viewport().rect().center()
    assert (grid.currentIndex().row(), grid.currentIndex().column()) == (15, 15)
    assert middle.manhattanLength() < grid.columnWidth(15)
    assert "Zeros were added" in sentence(editor)
    settle(qtbot, window, lambda: box.setValue(1))
    assert editor.drawing.cells == (("4",),)
    assert "Cropped to the centre. Ctrl+Z" in sentence(editor)
    box.setValue(3)
    type_cell(grid, 0, 0, "abc")
    box.setValue(1)
    assert sentence(editor) == "Cropped to the centre."  # undo knows no invalid cell


def test_an_offset_is_typed_and_filtered_at_once(qtbot, window, editor):
    line = child(editor, "weights-offset", QLineEdit)

    def add(text):
        line.setText(text)
        line.editingFinished.emit()

    result = settle(qtbot, window, lambda: add("128/255"))
    assert result.job.correlation.offset == pytest.approx(128)
    assert (window.store.state.filter, window.store.state.ksize) == ("custom", 3)
    assert is_right(result)
    assert intents.job_caption(result.job).startswith("Custom weights 3×3 + 128 · ")
    before = window.store.state
    add("128")
    assert "write 128/255" in sentence(editor)
    assert window.store.state == before
    settle(qtbot, window, lambda: window.store.update(filter="sobel_x", ksize=3))
    assert line.text() == "0"
    assert intents.job_for(window.store.state).correlation.offset == 0


def test_the_facts_and_the_response_follow(qtbot, window, editor, grid):
    click(child(editor, "weights-fold-effect", FoldButton))
    view = child(editor, "weights-response", ResponseView)
    view.make_plot()
    told = child(editor, "weights-facts", QLabel)
    assert "separable: 6 products per sample, not 9" in told.text()
    middle = view.spot_at(view.plot.getViewBox().mapViewToScene(QPointF(0, 0)))
    assert middle.text == "+0.000, +0.000 cycles/pixel (x, y): ×1, 0.0 dB"
    before = view.grab().toImage()
    settle(qtbot, window, lambda: pick(child(editor, "weights-preset", QComboBox), "laplacian"))
    assert "Rank" in told.text()
    linear = view.grab().toImage()
    assert linear != before
    child(editor, "weights-log", QCheckBox).click()
    assert view.grab().toImage() != linear
    type_cell(grid, 0, 0, "x")
    assert not view.spots
    settle(qtbot, window, lambda: window.store.update(filter="gaussian", ksize=127))
    assert "separable: 254 products per sample" in told.text(), "also of what cannot be drawn"
    weights = intents.weights_for(window.store.state)
    assert np.array_equal(editor.drawing.weights, weights[48:79, 48:79]), "its own, as far as drawn"
    assert "127×127" in child(editor, "weights-sentence", QLabel).text()


# -- named weights


def names(editor):
    found = child(editor, "weights-list", QListWidget)
    return [found.item(row).text() for row in range(found.count())]


def test_weights_are_named_drawn_renamed_deleted_and_brought_back(qtbot, window, editor, grid):
    child(editor, "weights-name", QLineEdit).setText("Mine")
    click(child(editor, "weights-save", QPushButton))
    until(qtbot, lambda: "Mine" in names(editor))
    listed = child(editor, "weights-list", QListWidget)
    settle(qtbot, window, lambda: type_cell(grid, 1, 1, "8"))
    listed.setCurrentRow(0)
    settle(qtbot, window, lambda: click(child(editor, "weights-use", QPushButton)))
    np.testing.assert_array_equal(weights_of(window), filters.get("gaussian").weights(3))
    listed.item(0).setText("Yours")
    until(qtbot, lambda: names(editor) == ["Yours"] and "is called" in sentence(editor))
    until(qtbot, lambda: listed.currentItem() is not None)
    click(child(editor, "weights-delete", QPushButton))
    until(qtbot, lambda: names(editor) == [])
    restore = child(editor, "weights-restore", QPushButton)
    until(qtbot, restore.isEnabled)
    click(restore)
    until(qtbot, lambda: names(editor) == ["Yours"])
    until(qtbot, lambda: not restore.isEnabled())


def test_files_are_imported_and_exported(qtbot, window, editor, tmp_path):
    box = editor.findChild(LibraryBox)
    path = tmp_path / "five.csv"
    path.write_text("\n".join(["0,0,1,0,0"] * 5))
    result = settle(qtbot, window, lambda: box.open_file(path))
    assert result.job.correlation.weights.sum() == 5
    box.write_to(tmp_path / "out.toml")
    until(qtbot, (tmp_path / "out.toml").is_file)
    path.write_text("1;2\n3;4")
    box.open_file(path)
    until(qtbot, lambda: "odd size" in sentence(editor))
    assert editor.drawing.size == 5


def test_keys_typed_into_the_cells_are_not_the_windows(qtbot, window, editor, grid):
    """Digits, Ctrl+C and Ctrl+Z belong to menus as well."""
    window.activateWindow()
    at(grid, 1, 1)
    settle(qtbot, window, lambda: type_cell(grid, 1, 1, "5"))
    settle(
        qtbot, window, lambda: QTest.keyClick(grid, Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    )
    assert editor.drawing.cells[1][1] == "4"
    QTest.keyClick(grid, Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert sentence(editor) == "Copied 9 cells."
    QTest.keyClick(grid, Key.Key_W)
    assert window.store.state.view_mode != "wipe"


def test_a_threshold_is_said_to_follow_and_no_longer(qtbot, window):
    trigger(window, "Weights")
    said = child(window, "weights-sentence", QLabel)
    settle(qtbot, window, lambda: window.store.choose(filter="unsharp", threshold=0.05))
    until(qtbot, lambda: "threshold comes after" in said.text())
    window.store.choose(threshold=0.0)
    assert "threshold" not in said.text()
    window.store.choose(threshold=0.1)
    assert "threshold comes after" in said.text()
