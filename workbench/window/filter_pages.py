"""Pages of the dialog: names of the results, progress, and the pictures that failed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import (
    QGridLayout,
    QListWidget,
    QListWidgetItem,
    QProgressBar,
    QStackedWidget,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTabWidget,
    QWidget,
)

from workbench.base import numbers
from workbench.base.plain_text import Label, tip_text
from workbench.batch.journal import STAGES, Stage
from workbench.batch.stage_times import (
    IN_WORDS,
    BatchProgress,
    StageTime,
    busy_words,
    progress_words,
    rate,
    rows_in_words,
)
from workbench.charts.canvas import FigureView
from workbench.charts.data.figure import (
    Axis,
    Bar,
    Bars,
    Figure,
    Group,
    LegendLine,
    SeriesStyle,
)
from workbench.panels.gallery.thumbnails import LazyThumbnails
from workbench.widgets.boxes import UprightArea, VBox
from workbench.widgets.tile import words_label
from workbench.window.filter_choice import FilterPlan

TITLE = "Stages of the batch"
AXIS = "Share of its threads' time that a stage took; outlined: the limit"
BLUE, ORANGE = 0, 1  # indices into a theme's series colours
NOT_BEGUN = "Not begun."
STARTING = "Starting…"
ON_A_GPU: tuple[Stage, ...] = ("upload", "download")  # nothing else has them


class StagePage(QWidget):
    """A bar of what is finished, and below it one of each stage: how busy its threads are.

    At the end the latter are a chart.
    """

    def __init__(self) -> None:
        super().__init__()
        self._bar = _bar("folder-progress", "Progress")
        self._words = words_label("folder-words")
        self._live = _LiveBars()
        self._chart = FigureView("")
        self._chart.setObjectName("folder-chart")
        self._chart.setAccessibleName("Chart of the stages")
        self._below = QStackedWidget()
        self._below.addWidget(self._live)
        self._below.addWidget(self._chart)
        self._progress: BatchProgress | None = None
        self._is_file = False
        column = VBox(self, 12, 10)
        column.add(self._bar, self._words, (UprightArea(self._below), 1))  # on a small screen
        self._show_nothing(NOT_BEGUN)

    def begin(self, *, is_file: bool = False) -> None:
        """Show an empty progress; one large picture has rows and no stages."""
        self._show_nothing(STARTING)
        self._is_file = is_file
        self._below.setVisible(not is_file)

    def show_strips(self, path: str, rows: int, height: int, left_s: float) -> None:
        """Show how many rows of a large picture are finished."""
        self._words.setText(f"{Path(path).name}: {rows_in_words(rows, height, left_s)}.")
        if self._is_file:
            self._bar.setRange(0, height)
            self._bar.setValue(rows)

    def show_complete(self) -> None:
        """Show that all rows of a large picture are finished."""
        self._bar.setValue(self._bar.maximum())
        self._words.setText("")

    def show_progress(self, progress: BatchProgress) -> None:
        """Show the pictures finished, and the stage that limits the others."""
        self._progress = progress
        self._bar.setRange(0, max(progress.total, 1))
        self._bar.setValue(progress.finished)
        self._words.setText(progress_words(progress))
        self._live.show_progress(progress)

    def show_chart(self) -> None:
        """Show the last progress as a chart, if there was any."""
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


def stage_figure(progress: BatchProgress) -> Figure:
    """Chart with a bar for each stage, the limit outlined and named."""
    groups = tuple(_group(each, progress) for each in progress.stages)
    axis = Axis(AXIS, numbers.percent, ends=(0.0, 1.0))
    limit = f"The limit was {IN_WORDS[progress.limit]}." if progress.limit else ""
    told = tuple(f"{each.bars[0].text}, {each.bars[0].words}." for each in groups)
    return Figure("", TITLE, "", limit, told, Bars(axis, groups, names_beside=True))


def share_words(each: StageTime, *, is_limit: bool) -> str:
    """Format the rate of a stage on its own: "at most 125 per s · the limit"."""
    return f"at most {rate(each.at_most_per_s)}{' · the limit' if is_limit else ''}"


def _group(each: StageTime, progress: BatchProgress) -> Group:
    is_limit = each.stage == progress.limit
    name = IN_WORDS[each.stage].capitalize()
    style = SeriesStyle(ORANGE if is_limit else BLUE, None)
    words = f"{busy_words(each)} · {share_words(each, is_limit=is_limit)}"
    bar = Bar(
        LegendLine(each.stage, name, "", name, style),
        each.share,
        each.share,
        each.share,
        words,
        _told(each),
        is_best=is_limit,
    )
    return Group(name, (bar,))


def _told(each: StageTime) -> str:
    """Format the tooltip of a bar."""
    took = numbers.duration(each.seconds / each.pictures * 1e3)
    threads = f"{each.threads} thread{'' if each.threads == 1 else 's'}"
    pictures = f"{each.pictures:,} picture{'' if each.pictures == 1 else 's'}"
    return f"{IN_WORDS[each.stage].capitalize()}: {pictures}, {took} each on {threads}"


MAX_FAILURES = 1000  # listed; the journal has all of them
NAMES, PROGRESS, FAILURES = range(3)
PREVIEW = QSize(72, 48)  # in device-independent pixels
PADDING_PX, MAX_ROW_PX = 12, 1000  # around the text of a failure, and its maximum height
_PATH = Qt.ItemDataRole.UserRole


class FilterPages(QTabWidget):
    """Three pages; a run brings its progress to the front.

    stages  the page of its progress

    Signals:
        picture_wanted(path): the user wants to see a picture that failed.
    """

    picture_wanted = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("folder-pages")
        self.setAccessibleName("Names, progress and failures")
        self._names = _list("folder-preview", "Names of the results", "Pictures and their results")
        self.stages = StagePage()
        self._failed = FailureList()
        self._failed.picture_wanted.connect(self.picture_wanted)
        self._failures = 0
        self.addTab(self._names, "Na&mes")
        self.addTab(self.stages, "Pro&gress")
        self.addTab(self._failed, "")
        self._count_failures()

    def close_threads(self) -> None:
        """Wait for the thread that makes small pictures to end."""
        self._failed.thumbnails.close_threads()

    def show_plan(self, plan: FilterPlan | None) -> None:
        """Show the names to come; None: there are none."""
        self._names.clear()
        if plan is None:
            return
        for source, target, is_there in plan.names:
            there = "   (is there already)" if is_there else ""
            _add(self._names, f"{source}  →  {target}{there}")
        if (more := plan.count - len(plan.names)) > 0:
            _add(self._names, f"… and {more:,} more")

    def begin(self, *, is_file: bool = False) -> None:
        """Clear the run before and show the progress of this one."""
        self.show_failures(())
        self.stages.begin(is_file=is_file)
        self.setCurrentIndex(PROGRESS)

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


class FailureList(QListWidget):
    """A list of pictures, each with its sentence.

    Signals:
        picture_wanted(path): the user wants to see one.
    """

    picture_wanted = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("folder-failures")
        self.setAccessibleName("Pictures that failed")
        self.setToolTip(
            tip_text(
                "Pictures without a result, and why; Enter or a double click opens one in the "
                "window"
            )
        )
        self.setAlternatingRowColors(True)
        self.setWordWrap(True)
        self.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.thumbnails = LazyThumbnails(self.devicePixelRatioF, self)
        self.thumbnails.made.connect(lambda _path, _row: self.viewport().update())
        self.setItemDelegate(_Rows(self))
        self.itemActivated.connect(lambda item: self.picture_wanted.emit(_path_of(item)))

    def add(self, path: str, sentence: str) -> None:
        """Show that a picture has no result, and why."""
        name = Path(path).name
        item = QListWidgetItem(sentence if name in sentence else f"{name}: {sentence}")
        item.setData(_PATH, path)
        item.setToolTip(tip_text(path))
        self.addItem(item)

    def show_nothing(self) -> None:
        """Forget all of them."""
        self.clear()
        self.thumbnails.forget_waiting()


class _Rows(QStyledItemDelegate):
    """Painter of rows with a thumbnail, as high as their wrapped text needs."""

    def __init__(self, view: FailureList) -> None:
        super().__init__(view)
        self._view = view

    def initStyleOption(  # noqa: N802
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().initStyleOption(option, index)
        small = self._view.thumbnails.pixmap(Path(index.data(_PATH)), index.row())
        option.features |= QStyleOptionViewItem.ViewItemFeature.HasDecoration
        option.decorationSize = PREVIEW
        option.icon = QIcon(small) if small is not None else QIcon()

    def sizeHint(  # noqa: N802
        self, _option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        width = self._view.viewport().width()
        for_words = max(width - PREVIEW.width() - 3 * PADDING_PX, 1)
        room = QRect(0, 0, for_words, MAX_ROW_PX)
        words = self._view.fontMetrics().boundingRect(room, Qt.TextFlag.TextWordWrap, index.data())
        return QSize(width, max(words.height(), PREVIEW.height()) + PADDING_PX)


def _path_of(item: QListWidgetItem) -> Path:
    return Path(item.data(_PATH))
