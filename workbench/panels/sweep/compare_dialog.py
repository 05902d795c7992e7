"""A dialog that compares two sessions side by side, a row for each common measurement."""

from __future__ import annotations

import io
import math
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Slot
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

from kernels.core.timing import NO_INTERVAL
from kernels.sweeps.record import (
    EQUAL,
    CellPair,
    Record,
    Session,
    Summary,
    compare_sessions,
    summary_of,
)
from kernels.sweeps.session_csv import write_pairs_csv
from workbench.base import numbers, theme
from workbench.base.background import Background
from workbench.base.numbers import star, why_starred
from workbench.base.plain_text import Label, tip_text
from workbench.model.names import cpu_name
from workbench.model.plan_dimensions import in_words, varied_of
from workbench.panels.sweep.shown_sessions import ShownSession
from workbench.session.exporter import Exporter
from workbench.widgets.boxes import VBox
from workbench.widgets.drop_down import DropDown
from workbench.widgets.file_dialogs import ask_save_path

MAX_ROWS = 2000

Row = tuple[str, ...]
Compared = tuple[str, Sequence[Row], Sequence[Row], Sequence[CellPair]]  # with the rows' tooltips
TIMES = 1, 2  # the columns of a row with the times of A and of B


def compared(a: Session, b: Session) -> Compared:
    """Compare two sessions: a summary in words, the table's rows, their tips, and the pairs."""
    pairs = compare_sessions(a, b)
    varied = varied_of(pair.cell for pair in pairs)
    shown = most_different_first(pairs)[:MAX_ROWS]
    rows = [row_of(pair, varied) for pair in shown]
    tips = [tips_of(row, pair) for row, pair in zip(rows, shown, strict=True)]
    return said(summary_of(pairs), len(pairs)), rows, tips, pairs


def most_different_first(pairs: Iterable[CellPair]) -> list[CellPair]:
    """Sort pairs: the most different first, then equal ones, then those of one session alone."""

    def place(pair: CellPair) -> tuple[int, float]:
        if pair.comparison is None:
            return (2 if pair.a and pair.b else 3 if pair.a is None else 4), 0.0
        return int(pair.comparison.verdict == "same"), -abs(math.log(pair.comparison.ratio))

    return sorted(pairs, key=place)


def row_of(pair: CellPair, varied: Collection[str] = ()) -> Row:
    """The table's row for a pair: name, both times, the finding, and its interval.

    varied  the fields in which cells differ, see `plan_words.in_words`
    """
    name = in_words(pair.cell, varied)
    times = _time(pair.a), _time(pair.b)
    if pair.comparison is None:
        return (name, *times, pair.objection or "", "")
    found = pair.comparison
    if is_slower := found.verdict == "slower":
        found = found.turned
    ends = found.interval
    interval = " – ".join(map(numbers.three_digits, ends)) if ends else NO_INTERVAL
    ratio = numbers.fine_ratio(found.ratio)
    how = "slower" if is_slower else f"as fast: {found.in_words}"
    return (name, *times, f"{ratio} {how}", interval)


def said(summary: Summary, count: int) -> str:
    """Summarise the comparison of `count` pairs in a sentence or two."""
    compared, disturbed = sum(summary.verdicts.values()), summary.disturbed
    if not compared or summary.ratio is None:
        if disturbed:
            return (
                f"Nothing can be compared: of all {disturbed} in common a time was disturbed (*)."
            )
        return "Nothing can be compared: the two have no verified measurement in common."
    counts = summary.verdicts
    found = (counts["faster"], "faster"), (counts["slower"], "slower"), (counts["same"], EQUAL)
    parts = (f"{n} {word}" for n, word in found if n)
    ratio = numbers.speed_up(summary.ratio, numbers.fine_ratio)
    how = "" if numbers.is_slower(summary.ratio, numbers.fine_ratio) else " as fast"
    sentence = f"B against A: of {compared} compared, {', '.join(parts)}"
    have = "has" if disturbed == 1 else "have"
    without = f" {disturbed} more {have} no verdict: a time was disturbed (*)." if disturbed else ""
    left = count - compared - disturbed
    rest = f"{without} {left} more cannot be compared." if left else without
    return f"{sentence}; {ratio}{how} in the geometric mean.{rest}"


def _time(record: Record | None) -> str:
    """Text of a verified output's time; no other output has a speed."""
    if record is None or record.verified is None:
        return numbers.MISSING
    mark = star(record.verified.disturbances)
    return f"{numbers.duration(record.verified.kernel.median_ms)}{mark}"


def tips_of(row: Row, pair: CellPair) -> Row:
    """Tooltips of a row: each text, and the disturbances of its time."""
    tips = list(row)
    for column, record in zip(TIMES, (pair.a, pair.b), strict=True):
        if record is not None and record.verified is not None:
            why = why_starred(record.verified.disturbances)
            tips[column] = "\n".join(filter(None, (row[column], why)))
    return tuple(tips)


COLUMNS = ("Measurement", "A", "B", "B against A", "95 % interval")
NAME, FINDING = 0, 3
NAME_SHARE = 0.4  # of the table's width: what a name takes at most
CELL_GAP_PX = 14  # left and right of a text, together

COMPARING = "Comparing…"
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
        self._newest = 0  # number of the newest comparison; -1: the dialog is closed
        self._a, self._b = (self._chooser(letter, at) for at, letter in enumerate("AB"))
        self._said = Label(name="compare-said", wraps=True)
        self._wrapping = QTimer(self, singleShot=True, interval=0)
        self._wrapping.timeout.connect(self._wrap)
        self._table = QTableWidget(0, len(COLUMNS))
        self._table.setObjectName("compare-table")
        self._table.setAccessibleName("Measurements of both")
        self._table.setHorizontalHeaderLabels(COLUMNS)
        self._table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self._table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self._table.setAlternatingRowColors(True)
        self._table.verticalHeader().hide()
        self._table.setTabKeyNavigation(False)  # Tab leads out of it
        header = self._table.horizontalHeader()
        header.setSectionResizeMode(FINDING, QHeaderView.ResizeMode.Stretch)
        header.sectionResized.connect(self._wrapping.start)
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
            chooser.addItem(text)
            where = str(each.path or "kept in no file")
            chooser.setItemData(chooser.count() - 1, tip_text(where), Qt.ItemDataRole.ToolTipRole)
        chooser.setCurrentIndex(at)
        chooser.setToolTip(tip_text(f"The session called {letter} in the table"))
        chooser.currentIndexChanged.connect(self._compare)
        return chooser

    def _compare(self) -> None:
        a, b = (self._shown[each.currentIndex()].session for each in (self._a, self._b))
        self._newest += 1
        self._show_pairs(COMPARING, ())
        show = partial(self._show, self._newest)
        self._comparing.run(
            partial(compared, a, b), show, lambda error: show((str(error), (), (), ()))
        )

    def done(self, result: int) -> None:
        """Close the dialog; a comparison that still runs is dropped."""
        self._newest = -1
        super().done(result)

    def _show(self, number: int, found: Compared) -> None:
        """Show the newest comparison; drop older ones."""
        if number != self._newest:
            return
        sentence, rows, tips, pairs = found
        self._show_pairs(sentence, pairs)
        self._table.setRowCount(len(rows))
        for row, texts in enumerate(rows):
            for column, (text, tip) in enumerate(zip(texts, tips[row], strict=True)):
                item = QTableWidgetItem(text)
                item.setToolTip(tip_text(tip))
                if column not in (NAME, FINDING):
                    item.setTextAlignment(RIGHT)
                self._table.setItem(row, column, item)
        self._make_room(rows)

    def _make_room(self, rows: Sequence[tuple[str, ...]]) -> None:
        """Make each column as wide as its widest text; the finding gets the rest."""
        metrics = self._table.fontMetrics()
        for column, title in enumerate(COLUMNS):
            texts = {title, *(row[column] for row in rows)}
            widest = max(map(metrics.horizontalAdvance, texts)) + CELL_GAP_PX
            widest = max(widest, self._table.horizontalHeader().sectionSizeHint(column))
            most = NAME_SHARE * self.width() if column == NAME else widest
            if column != FINDING:
                self._table.setColumnWidth(column, round(min(widest, most)))
        self._wrapping.start()

    @Slot()
    def _wrap(self) -> None:
        """Make rows as high as their wrapped names and findings."""
        metrics = self._table.fontMetrics()
        usual = self._table.verticalHeader().defaultSectionSize()
        for row in range(self._table.rowCount()):
            is_long = any(
                metrics.horizontalAdvance(item.text()) + CELL_GAP_PX
                > self._table.columnWidth(column)
                for column in (NAME, FINDING)
                if (item := self._table.item(row, column))
            )
            if is_long:
                self._table.resizeRowToContents(row)
            else:
                self._table.setRowHeight(row, usual)

    def _show_pairs(self, sentence: str, pairs: Sequence[CellPair]) -> None:
        self._said.setText(sentence)
        self._pairs = pairs
        self._table.setRowCount(0)
        for button in self._makers:
            button.setEnabled(bool(pairs))

    def _copy(self) -> None:
        """Copy the selected rows, or all, for a spreadsheet."""
        rows = sorted({index.row() for index in self._table.selectedIndexes()})
        lines = ["\t".join(COLUMNS)]
        for row in rows or range(self._table.rowCount()):
            cells = (self._table.item(row, column) for column in range(len(COLUMNS)))
            lines.append("\t".join(cell.text() if cell else "" for cell in cells))
        QGuiApplication.clipboard().setText("\n".join(lines))

    def _save(self) -> None:
        """Save all pairs as `workbench compare --csv` writes them."""
        if path := ask_save_path(self, "Save", Path("comparison.csv"), "CSV (*.csv)"):
            text = io.StringIO(newline="")
            write_pairs_csv(self._pairs, text)
            self._exporter.save_text(path, text.getvalue())
