"""Dialog "Filter a folder": the window's filter, choices about files, and the process for it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from PySide6.QtCore import Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices, QGuiApplication, QPalette
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QProgressBar,
    QSpinBox,
    QTabWidget,
    QWidget,
)

from kernels.core.device import Device, NoDevice
from workbench.base import theme
from workbench.base.background import Background, Throttle
from workbench.base.paths import asset_table
from workbench.base.plain_text import Label, ask_before, tip_text
from workbench.batch.journal import JournalError
from workbench.batch.pairs import PairingError
from workbench.batch.stage_times import BatchProgress, progress_words, rows_in_words, stage_table
from workbench.files.formats import PICTURES_FILTER, WRITTEN, option_of
from workbench.files.picture_errors import StoppedError
from workbench.model.intents import filter_in_words
from workbench.model.state import State
from workbench.model.step_files import part_in_words
from workbench.session.batch_process import BatchEnd, BatchProcess
from workbench.widgets.actions import AddHelp
from workbench.widgets.boxes import Form, HBox, UprightArea, VBox
from workbench.widgets.buttons import described, make_button, push_button
from workbench.widgets.drop_down import ElidingBox
from workbench.widgets.file_dialogs import ask_file, ask_folder
from workbench.widgets.keyboard import enable
from workbench.widgets.message_bar import Kind
from workbench.widgets.tile import ElidedLabel, words_label
from workbench.window import filter_choice
from workbench.window.copy_as import device_options, in_shell
from workbench.window.save_menu import QUALITY_TIP
from workbench.window.window_layout import Parts

AskPath = Callable[[str, str], Path | None]  # proposed name and file types
SETTING = "filter-folder"  # under which the choices are remembered
PAUSE_MS = 150  # in typing, after which names are looked for anew
SIZE = (760, 660)
MAX_FAILURES = 1000  # listed; the journal has all of them
PATH = Qt.ItemDataRole.UserRole
NOT_CHOSEN = "Choose a folder of pictures or a file, and one for the results."
NOT_LOOKED = "Something went wrong while looking for pictures; change something to look again."
REDUCE = "“Reduce to what the format holds”"  # the tick box of the option
LOOKING = "Looking for what is left…"
NOT_BEGUN, STARTING = "Not begun.", "Starting…"
STOPPING = {
    False: "Stopping after the pictures that are under way…",
    True: "Stopping after the strip that is under way…",
}
Phase = Literal["choosing", "running", "paused", "stopping"]
PHASES = {"running": "Filtering files", "paused": "Files paused", "stopping": "Stopping"}
STOPPED_AT = "Stopped: {:,} of {:,} done."
AGAIN = "Filter all of them again? Results that are there are replaced."
VERBS = {"start": "&Start", "resume": "Res&ume", "pause": "Pa&use"}
TIPS = asset_table("tips.toml")["files"]
UNDER_WAY = "Files are being filtered; what is finished is kept, and can be resumed."


class FileFilter(QDialog):
    """A dialog with one run at a time, beside the usable window; closing it stops nothing."""

    def __init__(self, parts: Parts, ask_path: AskPath, add_help: AddHelp) -> None:
        """Make the dialog; `ask_path` asks for the target of a large picture."""
        super().__init__(parts.window)
        self.setObjectName("folder-dialog")
        self._ask_path = ask_path
        self._store, self._opener, self._settings = parts.store, parts.opener, parts.settings
        self._messages = parts.messages
        self._phase: Phase = "choosing"
        self._plan: filter_choice.FilterPlan | None = None
        self._filled = filter_choice.FilterChoice()  # what the form began with
        self._offered = ""  # the folder in view when this was opened last
        self._results: Path | None = None  # of the last run
        self._known = 0  # pictures that the run before has finished, which this one resumes
        self._newest_request = 0  # for a plan
        self._is_looking = self._is_filling = False
        self._starts = False  # as soon as there is a plan
        self._failure = ""  # of one large picture
        self._said = ""  # of the last run, until something else is chosen
        self._looking = Background((PairingError, JournalError, StoppedError), self)
        self._process = BatchProcess(self)
        self._process.ended.connect(self._end)
        self._process.progressed.connect(self._show_progress)
        self._process.strips_done.connect(self._show_strips)
        self._process.picture_failed.connect(self._take_failure)
        self._pause = Throttle(PAUSE_MS, self._look, self)
        self._make_form()
        self._make_pages()
        self._lay_out()
        self._chip = make_button("files-under-way", "", TIPS["chip"], "Files being filtered")
        self._chip.clicked.connect(self.bring_forward)
        parts.window.statusBar().insertPermanentWidget(1, self._chip)  # leftmost: pushes none
        self._fill(self._remembered())
        self._store.changed.connect(self._follow)
        add_help(self, "folder")
        self.show_device(parts.worker.device)

    @property
    def is_settled(self) -> bool:
        """True while no plan is being made and nothing runs."""
        return not self._is_looking and not self._process.is_running

    @property
    def under_way(self) -> str:
        """What becomes of the files that are being filtered when the window closes; empty: none."""
        return UNDER_WAY if self._process.is_running else ""

    def open_folder(self) -> None:
        """Show the dialog with the folder in view, or that of the last time.

        A run under way stays.
        """
        picture = self._store.state.picture
        path = picture.path if picture is not None else None
        folder = str(path.absolute().parent) if path is not None else ""
        if self.is_settled:
            choice = self._remembered()
            if folder not in ("", self._offered, choice.source):
                choice = replace(choice, source=folder, target=filter_choice.beside(folder))
                self._settings.set(SETTING, asdict(choice))
            self._offered = folder
            self._fill(choice)
        self.bring_forward()

    def open_files(self, files: Sequence[Path]) -> None:
        """Show the dialog with these pictures, unless a run is under way."""
        if self.is_settled:
            folder, names = str(files[0].absolute().parent), tuple(str(e.absolute()) for e in files)
            target = filter_choice.beside(folder)
            self._fill(replace(self._remembered(), source=folder, target=target, files=names))
        self.bring_forward()

    def open_file(self) -> None:
        """Ask for a file and filter the large picture into it, unless a run is under way."""
        picture = self._store.state.picture
        if self.is_settled and picture is not None and picture.path is not None:
            target = self._ask_path(f"{picture.path.stem}-filtered.tif", "TIFF (*.tif *.tiff)")
            if target is None:
                return
            page, files = picture.page.number, (str(picture.path), str(target))
            self._fill(filter_choice.FilterChoice(*files, is_file=True, page=page))
            self._starts, self._said = True, ""
        self.bring_forward()

    def show_device(self, device: Device | NoDevice | None) -> None:
        """Offer the GPUs of this computer where there are several."""
        count = device.count if isinstance(device, Device) else 0
        offered = {"As the window": ""}
        if count > 1:
            offered[f"All {count}, which share the pictures"] = "all"
            offered |= {f"Number {number}": str(number) for number in range(count)}
        self._is_filling = True
        self._devices.clear()
        for text, devices in offered.items():
            self._devices.addItem(text, devices)
        # As the settings remember, if this computer has them.
        _select(self._devices, self._remembered().devices)
        self._is_filling = False
        self._form.setRowVisible(self._devices, count > 1)
        if not self._process.is_running:
            self._show_choice()

    def bring_forward(self) -> None:
        """Show the dialog, and what it does by now: filter and files may be others than before."""
        if not self._process.is_running and not (self._filled.is_file and self._said):
            if not self._said:
                self._clear_progress(NOT_BEGUN)
            self._show_choice(self._said)
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    def close_threads(self) -> None:
        """Stop what runs, which can be resumed, and wait for all threads."""
        self._pause.stop()
        self._newest_request += 1  # so that nothing is looked for any more
        self._process.close()
        self._looking.close()

    def _make_form(self) -> None:
        self._source = self._line(
            "source", "Folder of the pictures", "Folder with the pictures, or one file"
        )
        self._source.textChanged.connect(self._follow_source)
        self._target = self._line("target", "Folder of the results", "Folder for the results")
        self._pattern = self._line("names", "Names of the results", TIPS["names"])
        self._pattern.setPlaceholderText("Named as the picture")
        self._format = ElidingBox("folder-format", "Format", "Format of the results")
        self._format.addItem("As the picture", "")
        for family in WRITTEN:
            self._format.addItem(family, option_of(family))
        quality = QSpinBox(maximum=100, prefix="Quality ")
        quality.setSpecialValueText("Usual quality")
        self._quality = described(quality, "folder-quality", "Quality", QUALITY_TIP)
        self._quality.valueChanged.connect(self._edit)
        self._devices = ElidingBox("folder-gpus", "GPU", TIPS["gpu"])
        for box in (self._format, self._devices):
            box.currentIndexChanged.connect(self._edit)
        lines = {"source": self._source, "target": self._target, "pattern": self._pattern}
        boxes = {"format_name": self._format, "devices": self._devices}
        # How each field of FilterChoice is read and shown.
        self._fields: dict[str, tuple[Callable[[], Any], Callable[[Any], object]]] = {
            **{name: (line.text, line.setText) for name, line in lines.items()},
            **{name: (box.currentData, partial(_select, box)) for name, box in boxes.items()},
            "quality": (self._quality.value, self._quality.setValue),
        }
        self._objections: dict[str, ElidedLabel] = {}  # below the fields, by their names
        self._of_form, names, ticks = QWidget(), QWidget(), QWidget()
        form = self._form = Form(self._of_form)
        form.setContentsMargins(0, 0, 0, 0)
        self._of_folders: list[QWidget] = []  # hidden for one large picture
        form.add("&From", self._with_button(self._source, "source"), self._source)
        self._add_objection("source")
        form.add("&Into", self._with_button(self._target, "target"), self._target)
        self._add_objection("target")
        HBox(names, 0, 8).add((self._pattern, 1), self._format, self._quality)
        form.add("&Names", names, self._pattern)
        self._add_objection("pattern")
        form.add("&GPU", self._devices)
        row = HBox(ticks, 0, 18)
        for name, text, tip in TIPS["ticks"]:
            tick = described(QCheckBox(text), f"folder-{name}", "", tip)
            self._fields[name] = tick.isChecked, tick.setChecked
            tick.toggled.connect(self._edit)
            row.add(tick)
        row.add(1)
        form.addRow("", ticks)
        self._rows_of_folders = names, ticks

    def _add_objection(self, field: str) -> None:
        label = self._objections[field] = ElidedLabel(0.95, f"folder-wrong-{field}")
        label.setForegroundRole(QPalette.ColorRole.BrightText)
        self._form.addRow("", label)  # with its room: else what is below moves from under a click

    def _object(self, sentence: str, about: str) -> None:
        """Say below a field what is wrong with it, in a line; the whole is in its tooltip."""
        for field, label in self._objections.items():
            label.show_text(sentence if field == about else "")
            label.setAccessibleName(label.whole_text)

    def _line(self, name: str, title: str, tip: str) -> QLineEdit:
        line = described(QLineEdit(), f"folder-{name}", title, tip)
        line.textChanged.connect(self._edit)
        return line

    def _follow_source(self, source: str) -> None:
        """Forget files of another folder; results go beside the new one, unless told otherwise."""
        if not self._is_filling:
            before, self._filled = self._filled, replace(self._filled, source=source, files=())
            if self._target.text() in ("", filter_choice.beside(before.source)):
                self._target.setText(filter_choice.beside(source))

    def _with_button(self, line: QLineEdit, name: str) -> QWidget:
        tip, both = "Choose the folder in a dialog", QWidget()
        title = f"Choose {line.accessibleName()}"
        button = push_button(f"folder-choose-{name}", "Choose…", tip, title)
        button.setAutoDefault(False)  # Enter starts, wherever it is pressed
        button.clicked.connect(lambda: self._ask(line))
        buttons = [button]
        if line is self._source:
            tip = "Choose one picture file, such as one with pages"
            file = push_button("folder-choose-file", "File…", tip, "Choose one picture file")
            file.setAutoDefault(False)
            file.clicked.connect(self._ask_file)
            buttons.append(file)
        self._of_folders += buttons
        HBox(both, 0, 8).add((line, 1), *buttons)
        return both

    def _ask_file(self) -> None:
        begin = self._source.text()
        if path := ask_file(self, "Picture file", begin, PICTURES_FILTER):
            self._source.setText(str(path))

    def _ask(self, line: QLineEdit) -> None:
        begin = line.text() or self._source.text()
        types = PICTURES_FILTER if line is self._source else ""
        if path := ask_folder(self, line.accessibleName(), begin, types):
            line.setText(str(path))

    def _make_pages(self) -> None:
        self._pages = described(QTabWidget(), "folder-pages", "Preview, progress and failures")
        self._names = _list("folder-preview", "Names of the results", "Pictures and their results")
        self._bar = described(QProgressBar(), "folder-progress", "Progress", "Progress")
        self._words = words_label("folder-words")
        self._words.setText(NOT_BEGUN)
        stages = self._stages = Label(font=theme.fixed_font())
        described(stages, "folder-stages", "", TIPS["stages"])
        stages.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._failed = _list("folder-failures", "Pictures that failed", TIPS["failed"])
        self._failed.itemActivated.connect(
            lambda item: self._opener.open_file(Path(item.data(PATH)))
        )
        self._progress = QWidget()
        VBox(self._progress, 6, 6).add(self._bar, self._words, (UprightArea(stages), 1))
        for page, title in ((self._names, "Pre&view"), (self._progress, "Pro&gress")):
            self._pages.addTab(page, title)
        self._pages.addTab(self._failed, "")
        self._show_failures(())

    def _lay_out(self) -> None:
        self._filter = words_label("folder-filter", 1.1)
        self._filter.setToolTip("As it is set in the window; change it there")
        self._note = words_label("folder-note", is_muted=True)
        self._sentence = words_label("folder-sentence", lines=3)
        line = QLineEdit(readOnly=True)
        self._command = described(line, "folder-command", "The same as a command")
        self._command.setFont(theme.fixed_font())
        copy = push_button("folder-copy", "C&opy", "Copy the command that does the same")
        self._start = push_button("folder-start", "")
        self._again = push_button("folder-again", "Start &again", TIPS["again"])
        self._stop = push_button("folder-stop", "Canc&el", "Stop; it can be resumed")
        tip = "Open the folder of the results, once there are any"
        self._show_folder = push_button("folder-show", "S&how folder", tip)
        close = push_button("folder-close", "&Close", "Close this; what runs continues")
        self._start.setDefault(True)
        for each, act in (
            *((copy, self._copy), (self._start, self._go_on), (self._again, self._ask_again)),
            *((self._show_folder, self._show_results), (close, self.reject)),
            (self._stop, lambda: self._tell("stop", "stopping", STOPPING[self._filled.is_file])),
        ):
            each.setAutoDefault(each is self._start)
            each.clicked.connect(act)
        command = HBox(spacing=8).add((self._command, 1), copy)
        buttons = HBox(spacing=8).add(1, self._again, self._start, self._stop)
        buttons.add(self._show_folder, close)
        column = VBox(self, (20, 16, 20, 14), 10)
        column.add(self._filter, self._note, self._of_form, (self._pages, 1))
        column.add(self._sentence, command, buttons)  # a longer one takes its room from the pages
        self.resize(theme.window_size(*SIZE))

    @property
    def _choice(self) -> filter_choice.FilterChoice:
        values: dict[str, Any] = {name: read() for name, (read, _) in self._fields.items()}
        for name in ("source", "target"):  # "" stays so; a space at the end may be the folder's own
            values[name] = os.path.expanduser(values[name].lstrip().rstrip("\r\n\t"))  # noqa: PTH111
        return replace(self._filled, **values)

    def _remembered(self) -> filter_choice.FilterChoice:
        return filter_choice.FilterChoice.from_data(self._settings.get(SETTING, {}))

    def _fill(self, choice: filter_choice.FilterChoice) -> None:
        """Show `choice` in the form; of one large picture source and target only."""
        self._said = self._said if choice == self._choice else ""
        self._is_filling, self._filled = True, choice
        self.setWindowTitle("Filter to file" if choice.is_file else "Filter a folder")
        for name, (_, show) in self._fields.items():
            value = getattr(choice, name)
            show(filter_choice.shown(value) if isinstance(value, str) else value)
        self._is_filling = False
        for line in (self._source, self._target):
            line.setReadOnly(choice.is_file)
        for row in self._rows_of_folders:
            self._form.setRowVisible(row, not choice.is_file)
        for part in self._of_folders:
            part.setVisible(not choice.is_file)

    def _edit(self) -> None:
        if not self._is_filling:
            if not self._filled.is_file:
                self._settings.set(SETTING, asdict(self._choice))
            self._clear_progress(NOT_BEGUN)
            self._show_choice()

    def _follow(self, old: State, new: State) -> None:
        """Show the plan of another filter; while the dialog is hidden, as soon as it is not."""
        before, now = (
            (filter_choice.words_of(self._choice, each), filter_in_words(each))
            for each in map(self._taken, (old, new))
        )
        if before != now and not self._process.is_running:
            self._said = ""  # of another filter
            if self.isVisible():
                self._show_choice()

    def _show_choice(self, said: str = "") -> None:
        """Look for the pictures; what was `said` of the last run stands until another choice."""
        state, choice = self._state, self._choice
        part = part_in_words(state) if choice.is_file else ""
        self._filter.setText(f"{filter_in_words(state)}{part}")
        self._quality.setVisible(choice.has_quality)
        self._note.show_or_hide(filter_choice.note_on(choice, state))
        self._newest_request += 1
        self._said = said
        is_whole = self._is_looking = bool(choice.source and choice.target)
        if is_whole:
            self._pause.start()
        else:
            self._pause.stop()
            self._object("", "")
        self._show_plan(None, said or ("Looking for pictures…" if is_whole else NOT_CHOSEN))

    def _look(self) -> None:
        request, choice, state = self._newest_request, self._choice, self._state

        def show(
            plan: filter_choice.FilterPlan | None, sentence: str = "", about: str = ""
        ) -> None:
            if request == self._newest_request and not self._process.is_running:
                self._is_looking = False
                if plan is not None and plan.objection:
                    sentence, about = plan.objection, "target"
                self._object(sentence, about)
                self._show_plan(plan, self._said or ("" if about else sentence))
                starts, self._starts = self._starts, False
                if starts:
                    self._start_run()

        self._looking.run(
            lambda: filter_choice.plan_of(choice, state, lambda: request != self._newest_request),
            show,
            lambda error: show(None, str(error), getattr(error, "about", "")),
            lambda: show(None, NOT_LOOKED),
        )

    def _show_plan(self, plan: filter_choice.FilterPlan | None, sentence: str = "") -> None:
        self._plan = plan
        self._names.clear()
        for source, target, what in plan.names if plan is not None else ():
            self._names.addItem(f"{source}  →  {target}{what and f'   ({what})'}")
        if plan is not None and (more := plan.count - len(plan.names)) > 0:
            self._names.addItem(f"… and {more:,} more")
        if plan is not None and plan.known is not None:
            self._show_failures(plan.failed)
            if not self._filled.is_file:
                self._show_share(plan.known, plan.count)
                self._words.setText(STOPPED_AT.format(plan.known, plan.count))
        # An objection is said below its field.
        self._sentence.setText(sentence or (plan.in_words if plan and not plan.objection else ""))
        journal = plan.journal if plan and "Journal: " in self._sentence.text() else ""
        self._sentence.setToolTip(tip_text(journal))  # in whole
        command = in_shell(self._words_of(self._resumes))
        self._command.setText(command)
        self._command.setCursorPosition(0)
        self._command.setToolTip(tip_text(command))
        self._show_phase(self._phase)

    @property
    def _state(self) -> State:
        return self._taken(self._store.state)

    def _taken(self, state: State) -> State:
        """The list as far as it is shown for the picture in view, and all of it for a folder."""
        return state if self._filled.is_file else filter_choice.whole_list(state)

    @property
    def _resumes(self) -> bool:
        return self._plan is not None and self._plan.known is not None

    def _words_of(self, resume: bool, **others: Any) -> list[str]:
        choice = replace(self._choice, **others)
        words = filter_choice.words_of(choice, self._state, resume=resume)
        return words if self._choice.devices else words + device_options(sys.argv[1:])

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._command.text())
        self._sentence.setText("Copied the command.")

    def _show_phase(self, phase: Phase) -> None:
        self._phase = phase
        first = "resume" if self._resumes else "start"
        shown = {"choosing": first, "paused": "resume"}.get(phase, "pause")
        self._of_form.setEnabled(phase == "choosing")
        self._start.setText(VERBS[shown])
        is_ready = phase != "stopping"
        if phase == "choosing":
            is_ready = self._plan is not None and not self._plan.objection
        self._again.setVisible(phase == "choosing" and self._resumes and not self._filled.is_file)
        self._chip.setVisible(phase != "choosing")
        self._chip.setText(f"{PHASES.get(phase, 'Files')}: {self._bar.text()}")
        enable(self._start, is_ready)
        said = [each.whole_text for each in self._objections.values()]
        why = next(filter(None, said), self._sentence.text())
        self._start.setToolTip(tip_text(TIPS[shown] if is_ready else why))
        enable(self._stop, phase in ("running", "paused"))
        self._show_folder.setEnabled(self._results == Path(self._choice.target))

    def _go_on(self) -> None:
        if self._phase == "choosing":
            self._start_run()
        elif self._phase == "paused":
            self._tell("resume", "running", "")
        else:
            self._tell("pause", "paused", "Paused.")

    def _tell(self, word: str, phase: Phase, sentence: str) -> None:
        self._process.tell(word)
        self._sentence.setText(sentence)
        self._show_phase(phase)

    def _ask_again(self) -> None:
        words = self._words_of(False, replace=True)
        ask_before(self, AGAIN, "Start again", lambda: self._start_run(words))

    def _start_run(self, words: Sequence[str] = ()) -> None:
        """Run what the plan says, or these words instead."""
        if self._plan is None or self._process.is_running:
            return
        memory, self._known = self._plan.memory, 0 if words else self._plan.known or 0
        words = words or self._words_of(self._resumes)
        words = [*words, *(["--memory", f"{memory >> 20}M"] if memory else [])]
        self._failure = ""
        self._clear_progress(STARTING)
        self._pages.setCurrentWidget(self._progress)
        self._sentence.setText("")
        self._show_phase("running")
        self._process.start(words)

    def _clear_progress(self, words: str) -> None:
        """Show nothing of the run before."""
        self._show_failures(())
        self._words.setText(words)
        self._stages.setText("")
        self._show_share(0, 100)

    def _show_share(self, done: int, count: int) -> None:
        """Show how much is done here, and in the window's status bar."""
        self._bar.setRange(0, max(count, 1))
        self._bar.setValue(done)
        self._show_phase(self._phase)

    def _show_results(self) -> None:
        assert self._results is not None
        folder = self._results.parent if self._filled.is_file else self._results
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))

    @Slot(object)
    def _show_progress(self, progress: BatchProgress) -> None:
        done, count = (self._known + each for each in (progress.finished, progress.total))
        progress = replace(progress, finished=done, total=count)  # of all, as before it was stopped
        self._show_share(done, count)
        self._words.setText(progress_words(progress))
        self._stages.setText(stage_table(progress, "█░") if progress.stages else "")

    @Slot(str, int, int, float)
    def _show_strips(self, path: str, rows: int, height: int, left_s: float) -> None:
        """Show the finished rows of a large picture, which may be one of many."""
        self._words.setText(f"{Path(path).name}: {rows_in_words(rows, height, left_s)}.")
        if self._filled.is_file:
            self._show_share(rows, height)

    def _show_failures(self, failures: Sequence[tuple[str, str]]) -> None:
        self._failed.clear()
        for path, sentence in failures:
            self._add_failure(path, sentence)
        self._count_failures()

    def _add_failure(self, path: str, sentence: str) -> None:
        if self._failed.count() < MAX_FAILURES:
            name, sentence = Path(path).name, sentence.replace("--reduce", REDUCE)
            item = QListWidgetItem(sentence if name in sentence else f"{name}: {sentence}")
            item.setData(PATH, path)
            item.setToolTip(tip_text(path))
            self._failed.addItem(item)

    def _count_failures(self) -> None:
        page, count = self._pages.indexOf(self._failed), self._failed.count()
        more = "+" if count == MAX_FAILURES else ""
        self._pages.setTabText(page, f"Fai&lures ({count:,}{more})")
        self._pages.setTabEnabled(page, count > 0)

    @Slot(str, str)
    def _take_failure(self, path: str, sentence: str) -> None:
        self._failure = sentence
        self._add_failure(path, sentence)
        self._count_failures()

    @Slot(object)
    def _end(self, end: BatchEnd) -> None:
        """Show the end and the next plan; in the window, too, if the dialog is hidden."""
        is_stopped, is_refused = end.how == "stopped", end.how == "refused"
        is_bad = is_refused or bool(self._failure or end.counts.get("wrong"))
        sentence = filter_choice.end_in_words(end, self._choice, self._failure, self._known)
        self._results = self._results if is_refused else Path(self._choice.target)
        self._show_phase("choosing")
        if self._words.text() == STARTING:
            self._words.setText(NOT_BEGUN)
        said = "" if is_stopped and not self._filled.is_file else sentence  # the plan says the rest
        if self._filled.is_file and end.how == "ended" and not self._failure:
            self._show_plan(None)  # it would write the same file again
            self._bar.setValue(self._bar.maximum())
            self._words.setText("")
            self._said = said
        else:
            self._show_choice(said)  # there is a journal now, and other files are there already
        self._sentence.setText(
            f"{sentence} {LOOKING}" if is_stopped and self._is_looking else sentence
        )
        if not self.isVisible():
            kind: Kind = "error" if is_bad and not (is_stopped and self._filled.is_file) else "info"
            actions = [("&Show", self.bring_forward)]
            actions += [("Show &folder", self._show_results)] * (not is_refused)
            self._messages.show_message(kind, sentence, actions=actions)


def _list(name: str, title: str, tip: str) -> QListWidget:
    made = described(QListWidget(), name, title, tip)
    made.setAlternatingRowColors(True)
    made.setWordWrap(True)
    made.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    return made


def _select(box: QComboBox, data: str) -> None:
    box.setCurrentIndex(max(box.findData(data), 0))
