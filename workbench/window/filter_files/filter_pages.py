"""Pages of the dialog: names of the results, progress, and the pictures that failed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import (
    QListWidget,
    QListWidgetItem,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTabWidget,
)

from workbench.base.plain_text import tip_text
from workbench.batch.stage_times import BatchProgress
from workbench.panels.gallery.lazy_thumbnails import LazyThumbnails
from workbench.window.filter_files.filter_choice import FilterPlan
from workbench.window.filter_files.stage_page import StagePage

MAX_FAILURES = 1000  # listed; the journal has all of them
NAMES, PROGRESS, FAILURES = range(3)
PREVIEW = QSize(72, 48)  # in device-independent pixels
PADDING_PX, MAX_ROW_PX = 12, 1000  # around the text of a failure, and its maximum height
_PATH = Qt.ItemDataRole.UserRole


class FilterPages(QTabWidget):
    """Three pages; a run brings its progress to the front.

    Signals:
        picture_wanted(path): the user wants to see a picture that failed.
    """

    picture_wanted = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("folder-pages")
        self.setAccessibleName("Names, progress and failures")
        self._names = _list("folder-preview", "Names of the results", "Pictures and their results")
        self._stages = StagePage()
        self._failed = FailureList()
        self._failed.picture_wanted.connect(self.picture_wanted)
        self._failures = 0
        self.addTab(self._names, "Na&mes")
        self.addTab(self._stages, "Pro&gress")
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
        self._stages.begin(is_file=is_file)
        self.setCurrentIndex(PROGRESS)

    def show_progress(self, progress: BatchProgress) -> None:
        """Show the progress of a batch."""
        self._stages.show_progress(progress)

    def show_end(self) -> None:
        """Show the stages of the whole run as a chart."""
        self._stages.show_chart()

    def show_complete(self) -> None:
        """Show that all rows of one large picture are finished."""
        self._stages.show_complete()

    def show_strips(self, path: str, rows: int, height: int, left_s: float) -> None:
        """Show the progress of a picture that is filtered in strips."""
        self._stages.show_strips(Path(path).name, rows, height, left_s)

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
