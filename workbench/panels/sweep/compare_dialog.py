"""Dialog that compares two sessions, a row per measurement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QHeaderView,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from kernels.sweeps.record import CellPair, Session, compare_sessions
from kernels.sweeps.session_csv import pairs_csv
from workbench.base import theme
from workbench.base.background import Background
from workbench.base.numbers import why_starred
from workbench.base.plain_text import Label, tip_text
from workbench.model.cell_words import varied_of
from workbench.model.names import cpu_name
from workbench.panels.sweep.shown_sessions import ShownSession
from workbench.report.tables import PAIR_COLUMNS, PairRow, most_different_first, pair_row
from workbench.session.exporter import Exporter
from workbench.widgets.boxes import VBox
from workbench.widgets.buttons import described
from workbench.widgets.drop_down import DropDown
from workbench.widgets.file_dialogs import ask_save_path

MAX_ROWS = 2000

# With the tooltips of the rows.
Compared = tuple[str, Sequence[PairRow], Sequence[str], Sequence[CellPair]]


def compared(a: Session, b: Session) -> Compared:
    """Compare two sessions; summary, rows, tooltips, and the pairs."""
    from workbench.report.document import sentences_of  # jinja2 would delay the dialog

    pairs = compare_sessions(a, b)
    varied = varied_of(pair.cell for pair in pairs)
    shown = most_different_first(pairs)[:MAX_ROWS]
    rows = [pair_row(pair, varied) for pair in shown]
    tips = ["\n".join((row[0], *_stars(pair))) for row, pair in zip(rows, shown, strict=True)]
    return " ".join(sentences_of(pairs, "B")), rows, tips, pairs


def _stars(pair: CellPair) -> Iterator[str]:
    for name, record in (("A", pair.a), ("B", pair.b)):
        if record and record.verified and record.verified.disturbances:
            yield f"{name}: {why_starred(record.verified.disturbances)}"


COMPARISON = "comparison"  # what is computed in the background
NAME, FINDING = 0, 5
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class CompareDialog(QDialog):
    """A dialog that compares two of the shown sessions.

    comparing  runs the comparison: hundreds of bootstraps take a second
    exporter   saves it
    """

    def __init__(
        self,
        shown: Sequence[ShownSession],
        comparing: Background,
        exporter: Exporter,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Compare two sessions")
        self.resize(theme.window_size(1100, 600))
        self._shown, self._comparing, self._exporter = shown, comparing, exporter
        self._pairs: Sequence[CellPair] = ()
        self._makers: list[QPushButton] = []  # the buttons that copy and save
        self._a, self._b = (self._chooser(letter, at) for at, letter in enumerate("AB"))
        self._said = Label(name="compare-said", wraps=True)
        table = QTableWidget(0, len(PAIR_COLUMNS))
        self._table = described(table, "compare-table", "Measurements of both")
        self._table.setHorizontalHeaderLabels(PAIR_COLUMNS)
        self._table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self._table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self._table.setAlternatingRowColors(True)
        self._table.verticalHeader().hide()
        self._table.setTabKeyNavigation(False)  # Tab leads out of it
        header = self._table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(FINDING, QHeaderView.ResizeMode.Stretch)
        header.setMaximumSectionSize(self.width() // 2)
        buttons = self._buttons()
        choosers = QGridLayout()  # one below the other: beside each other their names were cut
        choosers.setColumnStretch(1, 1)
        for row, (letter, chooser) in enumerate((("&A", self._a), ("&B", self._b))):
            label = Label(letter)
            label.setBuddy(chooser)
            choosers.addWidget(label, row, 0)
            choosers.addWidget(chooser, row, 1)
        VBox(self).add(choosers, self._said, (self._table, 1), buttons)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Copy), self._table, self._copy)
        self._compare()

    def _buttons(self) -> QDialogButtonBox:
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        for text, name, tip, act in (
            ("&Copy", "compare-copy", "The rows chosen, or all, for a spreadsheet", self._copy),
            ("&Save as CSV…", "compare-save", "All measurements, with full digits", self._save),
        ):
            button = buttons.addButton(text, QDialogButtonBox.ButtonRole.ActionRole)
            button.setObjectName(name)
            button.setAutoDefault(False)
            button.setToolTip(tip_text(tip))
            button.clicked.connect(act)
            self._makers.append(button)
        return buttons

    def _chooser(self, letter: str, at: int) -> DropDown:
        chooser = DropDown(f"compare-{letter.lower()}", f"Session {letter}")
        for each in self._shown:
            session = each.session
            mark = f" ({session.origin})" if session.origin else ""
            began = f"{datetime.fromtimestamp(session.started):%Y-%m-%d %H:%M:%S}"
            text = f"{began} · {cpu_name(session.machine.name)} · {session.plan.title}{mark}"
            chooser.add(text, tip=str(each.path or "kept in no file"))
        chooser.setCurrentIndex(at)
        chooser.setToolTip(tip_text(f"The session called {letter} in the table"))
        chooser.currentIndexChanged.connect(self._compare)
        return chooser

    def _compare(self) -> None:
        a, b = (self._shown[each.currentIndex()].session for each in (self._a, self._b))
        self._show_pairs("Comparing…", ())
        self._comparing.run(partial(compared, a, b), self._show, self._refuse, of=COMPARISON)

    def done(self, result: int) -> None:
        """Close the dialog; a comparison that still runs is dropped."""
        self._comparing.drop(COMPARISON)
        super().done(result)

    def _show(self, found: Compared) -> None:
        sentence, rows, tips, pairs = found
        self._show_pairs(sentence, pairs)
        self._table.setRowCount(len(rows))
        for row, (texts, tip) in enumerate(zip(rows, tips, strict=True)):
            for column, text in enumerate(texts):
                item = QTableWidgetItem(text)
                item.setToolTip(tip_text(tip if column < FINDING else text))
                if column not in (NAME, FINDING):
                    item.setTextAlignment(RIGHT)
                self._table.setItem(row, column, item)

    def _refuse(self, error: Exception) -> None:
        self._show((str(error), (), (), ()))

    def _show_pairs(self, sentence: str, pairs: Sequence[CellPair]) -> None:
        self._said.setText(sentence)
        self._pairs = pairs
        self._table.setRowCount(0)
        for button in self._makers:
            button.setEnabled(bool(pairs))

    def _copy(self) -> None:
        rows = sorted({index.row() for index in self._table.selectedIndexes()})
        lines = ["\t".join(PAIR_COLUMNS)]
        for row in rows or range(self._table.rowCount()):
            cells = (self._table.item(row, column) for column in range(len(PAIR_COLUMNS)))
            lines.append("\t".join(cell.text() if cell else "" for cell in cells))
        QGuiApplication.clipboard().setText("\n".join(lines))

    def _save(self) -> None:
        if path := ask_save_path(self, "Save", Path("comparison.csv"), "CSV (*.csv)"):
            self._exporter.save_text(path, pairs_csv(self._pairs))
