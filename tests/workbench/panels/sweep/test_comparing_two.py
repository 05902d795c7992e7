"""Two sessions compared: the sentence, the rows, and what is copied and saved of them."""

import csv
from dataclasses import replace

import pytest
from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QLabel, QPushButton, QTableWidget, QWidget

from kernels.core.timing import Timing
from tests.made_sessions import a_session, wrong
from tests.workbench.driving import child, click, until
from workbench.base.background import Background
from workbench.panels.sweep.compare_dialog import COLUMNS, CompareDialog
from workbench.panels.sweep.compare_rows import compared
from workbench.panels.sweep.shown_sessions import ShownSession


def twice_as_fast(cell, found):
    samples = tuple(each / 2 for each in found.kernel.samples_ms)
    return replace(found, kernel=Timing(samples, found.kernel.cache))


A, B = a_session("ksizes"), a_session("ksizes", outcome=twice_as_fast)


def test_what_is_twice_as_fast_is_said_to_be():
    sentence, rows, pairs = compared(A, B)
    assert sentence.startswith(f"B against A: of {len(pairs)} compared, {len(pairs)} faster;")
    assert sentence.endswith("2.00× as fast in the geometric mean.")
    assert {row[3] for row in rows} == {"2.00× as fast: faster"}
    low, high = rows[0][4].split(" – ")
    assert float(low) <= 2 <= float(high)
    back = compared(B, A)[0]
    assert f"{len(pairs)} slower;" in back
    assert "0.50× as fast" in back


def test_a_wrong_answer_is_not_compared_and_says_why():
    bad = a_session("ksizes", outcome=lambda cell, found: wrong(cell))
    sentence, rows, _ = compared(A, bad)
    assert sentence == "Nothing can be compared: the two have no verified measurement in common."
    assert all(row[3] and row[4] == "" for row in rows)
    assert all(row[1] != row[2] == "—" for row in rows), rows[0]


class Exporter(QObject):
    """Writes what it is told to, at once."""

    def save_text(self, path, text):
        path.write_text(text, newline="")


@pytest.fixture
def dialog(qtbot):
    parent, owner = QWidget(), QObject()
    qtbot.addWidget(parent)
    reading = Background((), owner)
    shown = [ShownSession(number, session, None) for number, session in enumerate((A, B))]
    dialog = CompareDialog(shown, reading, Exporter(owner), parent)
    dialog.show()
    until(qtbot, lambda: "compared" in child(dialog, "compare-said", QLabel).text())
    yield dialog
    reading.close()


def test_chosen_rows_are_copied_from_top_to_bottom(dialog):
    table = child(dialog, "compare-table", QTableWidget)
    table.setSelectionMode(QTableWidget.SelectionMode.MultiSelection)
    for row in (9, 1, 17):
        table.selectRow(row)
    click(child(dialog, "compare-copy", QPushButton))
    lines = QGuiApplication.clipboard().text().split("\n")
    assert lines[0].split("\t") == list(COLUMNS)
    texts = [
        [table.item(row, column).text() for column in range(len(COLUMNS))] for row in (1, 9, 17)
    ]
    assert [line.split("\t") for line in lines[1:]] == texts


def test_all_pairs_are_saved_with_full_digits(dialog, tmp_path, monkeypatch):
    path, proposed = tmp_path / "mine.csv", []

    def answer(_parent, title, name, types, *_):
        proposed.append((title, name.rpartition("/")[2], types))
        return str(path), types

    monkeypatch.setattr(QFileDialog, "getSaveFileName", answer)
    click(child(dialog, "compare-save", QPushButton))
    assert proposed == [("Save", "comparison.csv", "CSV (*.csv)")]
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(A.records)
