"""Two sessions side by side, a row a measurement that both have."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from kernels.sweeps.compare import Pair, Summary, compare_sessions, summary_of
from kernels.sweeps.record import Record
from workbench import numbers
from workbench.controls.drop_down import DropDown
from workbench.sweeps.picking import in_words
from workbench.sweeps.sessions import Shown

COLUMNS = ("Measurement", "A", "B", "B against A", "95 % interval")
MOST_ROWS = 2000
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class CompareDialog(QDialog):
    """Compares two of the sessions that are shown."""

    def __init__(self, shown: Sequence[Shown], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Compare two sessions")
        self.resize(900, 560)
        self._shown = shown
        self._a, self._b = (self._chooser(letter, at) for at, letter in enumerate("AB"))
        self._said = QLabel()
        self._said.setObjectName("compare-said")
        self._said.setWordWrap(True)
        self._table = QTableWidget(0, len(COLUMNS))
        self._table.setObjectName("compare-table")
        self._table.setAccessibleName("Measurements of both")
        self._table.setHorizontalHeaderLabels(COLUMNS)
        self._table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self._table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self._table.setAlternatingRowColors(True)
        self._table.verticalHeader().hide()
        header = self._table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        choosers = QHBoxLayout()
        for letter, chooser in (("&A", self._a), ("&B", self._b)):
            label = QLabel(letter)
            label.setBuddy(chooser)
            choosers.addWidget(label)
            choosers.addWidget(chooser, 1)
        column = QVBoxLayout(self)
        column.addLayout(choosers)
        column.addWidget(self._said)
        column.addWidget(self._table, 1)
        column.addWidget(buttons)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Copy), self._table, self._copy)
        self._compare()

    def _chooser(self, letter: str, at: int) -> DropDown:
        chooser = DropDown(f"compare-{letter.lower()}", f"Session {letter}")
        for each in self._shown:
            session = each.session
            mark = "recorded" if session.is_recorded else "measured here"
            chooser.addItem(f"{session.machine.name} · {session.plan.title} ({mark})")
        chooser.setCurrentIndex(at)
        chooser.setToolTip(f"The session called {letter} in the table")
        chooser.currentIndexChanged.connect(self._compare)
        return chooser

    def _compare(self) -> None:
        a, b = (self._shown[each.currentIndex()].session for each in (self._a, self._b))
        pairs = compare_sessions(a, b)
        self._said.setText(said(summary_of(pairs), len(pairs)))
        self._table.setRowCount(min(len(pairs), MOST_ROWS))
        for row, pair in enumerate(pairs[:MOST_ROWS]):
            for column, text in enumerate(row_of(pair)):
                item = QTableWidgetItem(text)
                item.setToolTip(text)
                if column > 0:
                    item.setTextAlignment(RIGHT)
                self._table.setItem(row, column, item)

    def _copy(self) -> None:
        """The rows chosen, or all, for a spreadsheet."""
        rows = sorted({index.row() for index in self._table.selectedIndexes()})
        lines = ["\t".join(COLUMNS)]
        for row in rows or range(self._table.rowCount()):
            cells = (self._table.item(row, column) for column in range(len(COLUMNS)))
            lines.append("\t".join(cell.text() if cell else "" for cell in cells))
        QGuiApplication.clipboard().setText("\n".join(lines))


def row_of(pair: Pair) -> tuple[str, ...]:
    """What the table says of a pair."""
    name = in_words(pair.cell)
    times = _time(pair.a), _time(pair.b)
    if pair.comparison is None:
        return (name, *times, pair.objection or "", "")
    found = pair.comparison
    words = "same within noise" if found.verdict == "same" else found.verdict
    interval = f"{found.low:.2f} – {found.high:.2f}"
    return (name, *times, f"{found.ratio:.2f}× as fast: {words}", interval)


def said(summary: Summary, count: int) -> str:
    """All of it in a sentence or two."""
    compared = sum(summary.verdicts.values())
    if not compared or summary.ratio is None:
        return "Nothing can be compared: the two have no verified measurement in common."
    counts = summary.verdicts
    parts = [
        f"{counts['faster']} faster" if counts["faster"] else "",
        f"{counts['slower']} slower" if counts["slower"] else "",
        f"{counts['same']} the same within noise" if counts["same"] else "",
    ]
    ratio = f"{summary.ratio:.2f}×"
    sentence = f"B against A: of {compared} compared, {', '.join(p for p in parts if p)}"
    left = count - compared
    rest = f" {left} more cannot be compared." if left else ""
    return f"{sentence}; {ratio} as fast in the geometric mean.{rest}"


def _time(record: Record | None) -> str:
    if record is None or isinstance(record.outcome, str):
        return numbers.MISSING
    return numbers.duration(record.outcome.kernel.median_ms)
