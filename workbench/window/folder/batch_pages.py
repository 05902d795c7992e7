"""The pages below the choices: names to come, how far it is, and what has failed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QTabWidget

from workbench.base.plain_text import tip_text
from workbench.batch.stage_times import BatchProgress
from workbench.batch.stage_words import rows_in_words
from workbench.window.folder.failure_list import FailureList
from workbench.window.folder.folder_choice import FolderPlan
from workbench.window.folder.stage_page import StagePage

MAX_FAILURES = 1000  # listed; the journal has all of them
NAMES, PROGRESS, FAILURES = range(3)


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
        self._stages = StagePage()
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
        self._stages.begin()
        self.setCurrentIndex(PROGRESS)

    def show_progress(self, progress: BatchProgress) -> None:
        """Show how far it is."""
        self._stages.show_progress(progress)

    def show_end(self) -> None:
        """Show the stages of all of it as a chart: there is no more to come."""
        self._stages.show_chart()

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
