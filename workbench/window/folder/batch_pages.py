"""The pages below the choices: names to come, how far it is, and what has failed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QGridLayout,
    QListWidget,
    QListWidgetItem,
    QProgressBar,
    QTabWidget,
    QWidget,
)

from workbench.base.plain_text import Label, tip_text
from workbench.batch.stage_times import STAGES, BatchProgress, StageTime
from workbench.batch.stage_words import IN_WORDS, progress_words, rate, rows_in_words
from workbench.batch.stages import Stage
from workbench.widgets.boxes import VBox
from workbench.widgets.sentence_label import words_label
from workbench.window.folder.failure_list import FailureList
from workbench.window.folder.folder_choice import FolderPlan

MAX_FAILURES = 1000  # listed; the journal has all of them
NAMES, PROGRESS, FAILURES = range(3)
NOT_BEGUN = "Not begun."


class BatchPages(QTabWidget):
    """Three pages; what comes about brings its own to the front.

    Signals:
        picture_wanted(path): the user wants to see a picture that failed.
        broke(sentence, details): a bug, with its traceback.
    """

    picture_wanted = Signal(object)
    broke = Signal(str, str)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("folder-pages")
        self.setAccessibleName("Names, progress and failures")
        self._names = _list("folder-preview", "Names of the results", "Pictures and their results")
        self._stages = StageBars()
        self._failed = FailureList()
        self._failed.picture_wanted.connect(self.picture_wanted)
        self._failed.broke.connect(self.broke)
        self._failures = 0
        self.addTab(self._names, "Na&mes")
        self.addTab(self._stages, "Pro&gress")
        self.addTab(self._failed, "")
        self._count_failures()

    def close_threads(self) -> None:
        """Wait for the thread that makes small pictures to end."""
        self._failed.thumbnails.close_threads()

    def show_plan(self, plan: FolderPlan | None) -> None:
        """Show the names to come; None: there are none."""
        self._names.clear()
        if plan is None:
            return
        for source, target, is_there in plan.names:
            there = "   (is there already)" if is_there else ""
            _add(self._names, f"{source}  →  {target}{there}")
        if (more := plan.count - len(plan.names)) > 0:
            _add(self._names, f"… and {more:,} more")

    def begin(self) -> None:
        """Forget the run before, and show how far this one is."""
        self.show_failures(())
        self._stages.show_nothing("Starting…")
        self.setCurrentIndex(PROGRESS)

    def show_progress(self, progress: BatchProgress) -> None:
        """Show how far it is."""
        self._stages.show_progress(progress)

    def show_strips(self, path: str, rows: int, height: int, left_s: float) -> None:
        """Show how far a picture is that is filtered in strips."""
        self._stages.show_sentence(f"{Path(path).name}: {rows_in_words(rows, height, left_s)}.")

    def show_failures(self, failures: Sequence[tuple[str, str]]) -> None:
        """Show these pictures and sentences in place of all others."""
        self._failed.show_nothing()
        self._failures = 0
        for path, sentence in failures:
            self.add_failure(path, sentence)
        self._count_failures()

    def add_failure(self, path: str, sentence: str) -> None:
        """Show that a picture has no result, and why."""
        self._failures += 1
        if self._failures <= MAX_FAILURES:
            self._failed.add(path, sentence)
        self._count_failures()

    def _count_failures(self) -> None:
        self.setTabText(FAILURES, f"Fai&lures ({self._failures:,})")
        self.setTabEnabled(FAILURES, self._failures > 0)


class StageBars(QWidget):
    """A bar of what is finished, and below it one of each stage: how busy its threads are."""

    def __init__(self) -> None:
        super().__init__()
        self._bar = _bar("folder-progress", "Pictures that are finished")
        self._words = words_label("folder-words")
        self._rows = {
            stage: (_bar(f"folder-{stage}", IN_WORDS[stage]), Label()) for stage in STAGES
        }
        rows = QGridLayout()
        rows.setColumnStretch(1, 1)
        rows.setHorizontalSpacing(12)
        for row, (stage, (bar, words)) in enumerate(self._rows.items()):
            rows.addWidget(Label(IN_WORDS[stage].capitalize()), row, 0)
            rows.addWidget(bar, row, 1)
            rows.addWidget(words, row, 2)
            bar.setToolTip("Share of its threads' time that this stage takes")
            words.setMinimumWidth(words.fontMetrics().horizontalAdvance("999 ms each · the limit "))
        column = VBox(self, 12, 10)
        column.add(self._bar, self._words, rows, 1)
        self.show_nothing(NOT_BEGUN)

    def show_nothing(self, sentence: str) -> None:
        """Show that there is nothing to tell of yet."""
        self._words.setText(sentence)
        for bar in (self._bar, *(bar for bar, _ in self._rows.values())):
            bar.setRange(0, 100)
            bar.setValue(0)
        for _, words in self._rows.values():
            words.setText("–")

    def show_sentence(self, sentence: str) -> None:
        """Say what is under way, until there is news of the whole."""
        self._words.setText(sentence)

    def show_progress(self, progress: BatchProgress) -> None:
        """Show how far it is, and which stage the others wait for."""
        self._bar.setRange(0, max(progress.total, 1))
        self._bar.setValue(progress.finished)
        self._words.setText(progress_words(progress))
        for each in progress.stages:
            bar, words = self._rows[each.stage]
            bar.setValue(round(100 * min(each.share, 1.0)))
            words.setText(_stage_words(each, progress.limit))


def _stage_words(each: StageTime, limit: Stage | None) -> str:
    is_limit = " · the limit" if each.stage == limit else ""
    return f"at most {rate(each.at_most_per_s)}{is_limit}"


def _bar(name: str, title: str) -> QProgressBar:
    bar = QProgressBar()
    bar.setObjectName(name)
    bar.setAccessibleName(title)
    bar.setToolTip(tip_text(title))
    return bar


def _list(name: str, title: str, tip: str) -> QListWidget:
    made = QListWidget()
    made.setObjectName(name)
    made.setAccessibleName(title)
    made.setToolTip(tip_text(tip))
    made.setAlternatingRowColors(True)
    return made


def _add(to: QListWidget, text: str) -> QListWidgetItem:
    item = QListWidgetItem(text)
    to.addItem(item)
    return item
