"""The page of a batch's progress: how far it is, how busy each stage is, and at the end a chart."""

from __future__ import annotations

from PySide6.QtWidgets import QGridLayout, QProgressBar, QStackedWidget, QWidget

from workbench.base.plain_text import Label, tip_text
from workbench.batch.stage_times import BatchProgress
from workbench.batch.stage_words import IN_WORDS, progress_words
from workbench.batch.stages import STAGES, Stage
from workbench.charts.figure_view import FigureView
from workbench.widgets.boxes import VBox
from workbench.widgets.sentence_label import words_label
from workbench.widgets.upright_area import UprightArea
from workbench.window.folder.stage_figure import share_words, stage_figure

NOT_BEGUN = "Not begun."
STARTING = "Starting…"
ON_A_GPU: tuple[Stage, ...] = ("upload", "download")  # nothing else has them


class StagePage(QWidget):
    """A bar of what is finished, and below it one of each stage: how busy its threads are.

    At the end the latter are a chart.
    """

    def __init__(self) -> None:
        super().__init__()
        self._bar = _bar("folder-progress", "Pictures that are finished")
        self._words = words_label("folder-words")
        self._live = _LiveBars()
        self._chart = FigureView("")
        self._chart.setObjectName("folder-chart")
        self._chart.setAccessibleName("Chart of the stages")
        self._below = QStackedWidget()
        self._below.addWidget(self._live)
        self._below.addWidget(self._chart)
        self._progress: BatchProgress | None = None
        column = VBox(self, 12, 10)
        column.add(self._bar, self._words, (UprightArea(self._below), 1))  # on a small screen
        self._show_nothing(NOT_BEGUN)

    def begin(self) -> None:
        """Show that there is nothing to tell of yet."""
        self._show_nothing(STARTING)

    def show_sentence(self, sentence: str) -> None:
        """Say what is under way, until there is news of the whole."""
        self._words.setText(sentence)

    def show_progress(self, progress: BatchProgress) -> None:
        """Show how far it is, and which stage the others wait for."""
        self._progress = progress
        self._bar.setRange(0, max(progress.total, 1))
        self._bar.setValue(progress.finished)
        self._words.setText(progress_words(progress))
        self._live.show_progress(progress)

    def show_chart(self) -> None:
        """Show what was last told of as a chart, if there was anything."""
        if self._progress is not None and self._progress.stages:
            self._chart.show_figure(stage_figure(self._progress))
            self._below.setCurrentWidget(self._chart)

    def _show_nothing(self, sentence: str) -> None:
        self._progress = None
        self._words.setText(sentence)
        self._bar.setRange(0, 100)
        self._bar.setValue(0)
        self._live.show_nothing()
        self._below.setCurrentWidget(self._live)


class _LiveBars(QWidget):
    """A bar for each stage while it runs; those of a GPU only where there are such."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: dict[Stage, tuple[Label, QProgressBar, Label]] = {}
        rows = QGridLayout(self)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setColumnStretch(1, 1)
        rows.setRowStretch(len(STAGES), 1)
        rows.setHorizontalSpacing(12)
        for row, stage in enumerate(STAGES):
            title, words = Label(IN_WORDS[stage].capitalize()), Label()
            bar = _bar(f"folder-{stage}", IN_WORDS[stage])
            bar.setToolTip("Share of its threads' time that this stage takes")
            words.setMinimumWidth(
                words.fontMetrics().horizontalAdvance("at most 9,999 per s · the limit ")
            )
            for column, widget in enumerate((title, bar, words)):
                rows.addWidget(widget, row, column)
            self._rows[stage] = title, bar, words

    def show_nothing(self) -> None:
        """Show that no stage has taken any time."""
        for stage, (title, bar, words) in self._rows.items():
            bar.setRange(0, 100)
            bar.setValue(0)
            words.setText("–")
            for widget in (title, bar, words):
                widget.setVisible(stage not in ON_A_GPU)

    def show_progress(self, progress: BatchProgress) -> None:
        """Show how busy each is, and which one the others wait for."""
        for each in progress.stages:
            title, bar, words = self._rows[each.stage]
            bar.setValue(round(100 * min(each.share, 1.0)))
            words.setText(share_words(each, is_limit=each.stage == progress.limit))
            for widget in (title, bar, words):
                widget.setVisible(True)


def _bar(name: str, title: str) -> QProgressBar:
    bar = QProgressBar()
    bar.setObjectName(name)
    bar.setAccessibleName(title)
    bar.setToolTip(tip_text(title))
    return bar
