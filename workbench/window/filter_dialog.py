"""Dialog "Filter files": form, names, progress, failures and the buttons of a run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QProgressBar,
    QTabWidget,
    QWidget,
)

from workbench.base import theme
from workbench.base.plain_text import Label, tip_text
from workbench.batch.stage_times import (
    BatchProgress,
    progress_words,
    rows_in_words,
    stage_table,
)
from workbench.files.formats import EXTENSION_OF, PICTURES_FILTER
from workbench.widgets.boxes import Form, HBox, UprightArea, VBox
from workbench.widgets.buttons import described, push_button
from workbench.widgets.drop_down import ElidingBox
from workbench.widgets.file_dialogs import ask_folder
from workbench.widgets.tile import words_label
from workbench.window.filter_choice import FilterChoice, FilterPlan

# Each is a field of FilterChoice, what the box says, and its tooltip.
TICKS = (
    ("recursive", "&Subfolders", "The pictures in folders below as well; each gets its like there"),
    ("replace", "Re&place files", "Write anew what is there already; else it is left alone"),
    (
        "reduce",
        "Re&duce where needed",
        "Round to 8 bits, and put what is transparent on white, where the format cannot hold it; "
        "else such a picture fails",
    ),
)
GPU_TIP = "Which of this computer's GPUs filters; several share the pictures, a process for each"
LINES = (
    ("source", "Folder of the pictures", "Folder with the pictures"),
    ("target", "Folder of the results", "Folder for the results"),
    (
        *("names", "Names of the results"),
        "{stem} and {ext} are of the picture's name, {filter} and {size} the filter's; empty: as "
        "the picture",
    ),
)


class FilterForm(QWidget):
    """Widgets to edit a FilterChoice; of one large picture source and target only.

    Signals:
        chosen(choice): the FilterChoice after an edit.
    """

    chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._source, self._target, self._pattern = (
            described(QLineEdit(), f"folder-{name}", title, tip) for name, title, tip in LINES
        )
        self._pattern.setPlaceholderText("{stem}_{filter}")
        self._format = ElidingBox("folder-format", "Format", "Format of the results")
        self._format.addItem("As the picture", "")
        for name in EXTENSION_OF:
            self._format.addItem(name.upper(), name)
        self._devices = ElidingBox("folder-gpus", "GPU", GPU_TIP)
        self._devices_wanted, self._is_file = "", False
        self._ticks: dict[str, QCheckBox] = {}
        self._of_folders: list[QWidget] = []  # hidden for one large picture
        self._arrange()
        self.show_devices(0)
        for line in (self._source, self._target, self._pattern):
            line.textChanged.connect(self._tell)
        for box in (self._format, self._devices):
            box.currentIndexChanged.connect(self._tell)

    def _arrange(self) -> None:
        form = self._form = Form(self)
        form.setContentsMargins(0, 0, 0, 0)
        form.add("&From", self._with_button(self._source, "source"), self._source)
        form.add("&Into", self._with_button(self._target, "target"), self._target)
        names, row = QWidget(), HBox(margins=0, spacing=8)
        row.add((self._pattern, 1), self._format)
        VBox(names, 0).add(row)
        form.add("&Names", names, self._pattern)
        form.add("&GPU", self._devices)
        ticks = QWidget()
        for name, text, tip in TICKS:
            tick = self._ticks[name] = described(QCheckBox(text), f"folder-{name}", "", tip)
            tick.toggled.connect(self._tell)
        HBox(ticks, 0, 18).add(*self._ticks.values(), 1)
        form.addRow("", ticks)
        self._of_folders += [names, ticks]

    @property
    def choice(self) -> FilterChoice:
        """The choices as they are now."""
        return FilterChoice(
            # Where ~ was typed.
            source=os.path.expanduser(self._source.text().strip()),  # noqa: PTH111 - "" stays so
            target=os.path.expanduser(self._target.text().strip()),  # noqa: PTH111 - the same
            pattern=self._pattern.text(),
            format_name=self._format.currentData(),
            devices=self._devices.currentData(),
            is_file=self._is_file,
            **{name: tick.isChecked() for name, tick in self._ticks.items()},
        )

    def show_choice(self, choice: FilterChoice) -> None:
        """Show `choice` without a signal."""
        with QSignalBlocker(self):
            self._source.setText(choice.source)
            self._target.setText(choice.target)
            self._pattern.setText(choice.pattern)
            self._format.setCurrentIndex(self._format.findData(choice.format_name))
            for name, tick in self._ticks.items():
                tick.setChecked(getattr(choice, name))
            self._devices_wanted = choice.devices
            self._devices.setCurrentIndex(max(self._devices.findData(choice.devices), 0))
        self._is_file = choice.is_file
        for line in (self._source, self._target):
            line.setReadOnly(choice.is_file)
        for part in self._of_folders:
            if self._form.indexOf(part) >= 0:
                self._form.setRowVisible(part, not choice.is_file)
            else:
                part.setVisible(not choice.is_file)

    def show_devices(self, count: int) -> None:
        """Offer the GPUs of this computer where there are several, without a signal."""
        offered = [("As the window", "")]
        if count > 1:
            offered.append((f"All {count}, which share the pictures", "all"))
            offered += [(f"Number {number}", str(number)) for number in range(count)]
        with QSignalBlocker(self):
            self._devices.clear()
            for text, devices in offered:
                self._devices.addItem(text, devices)
            # As the settings remember, if this computer has them.
            self._devices.setCurrentIndex(max(self._devices.findData(self._devices_wanted), 0))
        self._form.setRowVisible(self._devices, count > 1)

    @Slot()
    def _tell(self) -> None:
        self.chosen.emit(self.choice)

    def _with_button(self, line: QLineEdit, name: str) -> QWidget:
        tip = "Choose the folder in a dialog"
        title = f"Choose {line.accessibleName()}"
        button = push_button(f"folder-choose-{name}", "Choose…", tip, title)
        button.setAutoDefault(False)  # Enter starts, wherever it is pressed
        button.clicked.connect(lambda: self._ask(line))
        self._of_folders.append(button)
        both = QWidget()
        HBox(both, 0, 8).add((line, 1), button)
        return both

    def _ask(self, line: QLineEdit) -> None:
        begin = line.text() or self._source.text()
        types = PICTURES_FILTER if line is self._source else ""
        if path := ask_folder(self, line.accessibleName(), begin, types):
            line.setText(str(path))


NOT_BEGUN, STARTING = "Not begun.", "Starting…"
MAX_FAILURES = 1000  # listed; the journal has all of them
PATH = Qt.ItemDataRole.UserRole


class StagePage(QWidget):
    """A bar for all pictures, and below it the table of stages that the command prints."""

    def __init__(self) -> None:
        super().__init__()
        self._bar = described(QProgressBar(), "folder-progress", "Progress", "Progress")
        self._words = words_label("folder-words")
        tip = "How busy the threads of each stage are, and how many pictures it could take"
        self._stages = described(Label(font=theme.fixed_font()), "folder-stages", "", tip)
        self._stages.setAlignment(Qt.AlignmentFlag.AlignTop)
        page = VBox(self, 12, 10)
        page.add(self._bar, self._words, (UprightArea(self._stages), 1))  # on a small screen
        self.begin(NOT_BEGUN)

    def begin(self, sentence: str, *, is_file: bool = False) -> None:
        """Show an empty progress; one large picture has rows and no stages."""
        self._words.setText(sentence)
        self._bar.setRange(0, 100)
        self._bar.setValue(0)
        self._stages.setText("")
        self._is_file = is_file

    def show_strips(self, path: str, rows: int, height: int, left_s: float) -> None:
        """Show the finished rows of a large picture, which may be one of many."""
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
        self._bar.setRange(0, max(progress.total, 1))
        self._bar.setValue(progress.finished)
        self._words.setText(progress_words(progress))
        self._stages.setText(stage_table(progress, "█░") if progress.stages else "")


class FilterPages(QTabWidget):
    """Pages for names, progress and failures; a run brings its progress to the front.

    stages  the page of its progress

    Signals:
        picture_wanted(path): the user wants to see a picture that failed.
    """

    picture_wanted = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        described(self, "folder-pages", "Names, progress and failures")
        self._names = _list("folder-preview", "Names of the results", "Pictures and their results")
        self.stages = StagePage()
        tip = "Pictures without a result; Enter or a double click opens one in the window"
        self._failed = _list("folder-failures", "Pictures that failed", tip)
        self._failed.itemActivated.connect(
            lambda item: self.picture_wanted.emit(Path(item.data(PATH)))
        )
        self._failures = 0
        self.addTab(self._names, "Na&mes")
        self.addTab(self.stages, "Pro&gress")
        self.addTab(self._failed, "")
        self.show_failures(())

    def show_plan(self, plan: FilterPlan | None) -> None:
        """Show the files of a plan, with a sentence in place of its words."""
        self._names.clear()
        for source, target, is_there in plan.names if plan is not None else ():
            there = "   (is there already)" if is_there else ""
            self._names.addItem(f"{source}  →  {target}{there}")
        if plan is not None and (more := plan.count - len(plan.names)) > 0:
            self._names.addItem(f"… and {more:,} more")

    def begin(self, *, is_file: bool = False) -> None:
        """Clear the run before and show the progress of this one."""
        self.show_failures(())
        self.stages.begin(STARTING, is_file=is_file)
        self.setCurrentWidget(self.stages)

    def show_failures(self, failures: Sequence[tuple[str, str]]) -> None:
        """Show these pictures and sentences in place of all others."""
        self._failed.clear()
        self._failures = 0
        self._count_failures()
        for path, sentence in failures:
            self.add_failure(path, sentence)

    def add_failure(self, path: str, sentence: str) -> None:
        """Show that a picture has no result, and why."""
        self._failures += 1
        if self._failures <= MAX_FAILURES:
            name = Path(path).name
            item = QListWidgetItem(sentence if name in sentence else f"{name}: {sentence}")
            item.setData(PATH, path)
            item.setToolTip(tip_text(path))
            self._failed.addItem(item)
        self._count_failures()

    def _count_failures(self) -> None:
        page = self.indexOf(self._failed)
        self.setTabText(page, f"Fai&lures ({self._failures:,})")
        self.setTabEnabled(page, self._failures > 0)


def _list(name: str, title: str, tip: str) -> QListWidget:
    made = described(QListWidget(), name, title, tip)
    made.setAlternatingRowColors(True)
    made.setWordWrap(True)
    return made


SIZE = (760, 640)
Phase = Literal["choosing", "running", "paused", "stopping"]
VERBS = {"start": "&Start", "resume": "Res&ume", "pause": "Pa&use"}
TIPS = {
    "start": "Filter all of it",
    "resume": "Do the rest; what failed is tried again",
    "pause": "Begin nothing else until it is resumed",
}


class FilterDialog(QDialog):
    """A dialog that leaves the window usable beside it; closing it stops nothing.

    form, pages  the choices, and what comes of them
    phase        state of the run

    Signals:
        wanted(verb): start, pause, resume or stop the run, or copy the command.
    """

    wanted = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("folder-dialog")
        self.setWindowTitle("Filter files")
        self._plan: FilterPlan | None = None
        self.phase: Phase = "choosing"
        self._verb = "start"  # of the first button
        self._filter = words_label("folder-filter", 1.1)
        self._filter.setToolTip("As it is set in the window; change it there")
        self._note = words_label("folder-note", is_muted=True)
        self.form, self.pages = FilterForm(), FilterPages()
        self._sentence = words_label("folder-sentence")
        self._sentence.setMinimumHeight(2 * self._sentence.fontMetrics().lineSpacing())
        self._sentence.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._command = described(QLineEdit(), "folder-command", "The same as a command")
        self._command.setReadOnly(True)
        self._command.setFont(theme.fixed_font())
        copy = push_button("folder-copy", "C&opy", "Copy the command that does the same")
        self._start = push_button("folder-start", VERBS["start"], TIPS["start"])
        self._stop = push_button("folder-stop", "Canc&el", "Stop; it can be resumed")
        close = push_button("folder-close", "&Close", "Close this; what runs continues")
        self._start.setDefault(True)
        for each in (copy, self._stop, close):
            each.setAutoDefault(False)
        copy.clicked.connect(lambda: self.wanted.emit("copy"))
        self._start.clicked.connect(lambda: self.wanted.emit(self._verb))
        self._stop.clicked.connect(lambda: self.wanted.emit("stop"))
        close.clicked.connect(self.reject)
        command, buttons = HBox(spacing=8), HBox(spacing=8)
        command.add((self._command, 1), copy)
        buttons.add(1, self._start, self._stop, close)
        column = VBox(self, (20, 16, 20, 14), 10)
        column.add(self._filter, self._note, self.form, (self.pages, 1), command)
        column.add(self._sentence, buttons)
        self.resize(theme.window_size(*SIZE))
        self.show_phase("choosing")

    def show_filter(self, words: str, note: str) -> None:
        """Show the filter of all pictures, and a note on negative results."""
        self._filter.setText(words)
        self._note.setText(note)
        self._note.setVisible(bool(note))

    def show_command(self, text: str) -> None:
        """Show the equivalent command."""
        self._command.setText(text)
        self._command.setCursorPosition(0)
        self._command.setToolTip(tip_text(text))

    def show_plan(self, plan: FilterPlan | None, sentence: str = "") -> None:
        """Show the files of a plan, with a sentence in place of its words."""
        self._plan = plan
        self.pages.show_plan(plan)
        if plan is not None and plan.known is not None:
            self.pages.show_failures(plan.failed)
        self.say(sentence if sentence or plan is None else plan_words(plan))
        self.show_phase(self.phase)

    def show_phase(self, phase: Phase) -> None:
        """Enable the form and the buttons that make sense now."""
        self.phase = phase
        is_choosing = phase == "choosing"
        resumes = self._plan is not None and self._plan.known is not None
        first = "resume" if resumes else "start"
        shown = {"choosing": first, "paused": "resume"}.get(phase, "pause")
        self._verb = "start" if is_choosing else shown
        self.form.setEnabled(is_choosing)
        self._start.setText(VERBS[shown])
        self._start.setToolTip(tip_text(TIPS[shown]))
        self._start.setEnabled(self._plan is not None if is_choosing else phase != "stopping")
        self._stop.setEnabled(phase in ("running", "paused"))

    def say(self, sentence: str) -> None:
        """Show a sentence on the whole run."""
        self._sentence.setText(sentence)

    def bring_forward(self) -> None:
        """Show the dialog in front of the window."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()


def plan_words(plan: FilterPlan) -> str:
    """Format the number of pictures, and how many a stopped run has finished."""
    words = f"{plan.count:,} picture{'' if plan.count == 1 else 's'}."
    if plan.is_file and plan.known is not None:
        words = "A run that was stopped has finished some rows."
    elif plan.known is not None:
        words = f"{words} A run that was stopped is done with {plan.known:,} of them."
    return " ".join((words, *plan.warnings))
