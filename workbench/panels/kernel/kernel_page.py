"""The inside of the Kernel panel: the source with its file, and what a trial of it found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices, QResizeEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget, QWidget

from kernels.core.device import Device, NoDevice
from kernels.cuda_child.gpu_trial import GpuTrial
from kernels.cuda_on_cpu.confinement import allow_unconfined
from kernels.cuda_on_cpu.trial import CpuTrial
from kernels.rungs.starting_points import starting_points
from workbench.base.plain_text import tip_text
from workbench.files.kernel_files import KernelGoneError, kernels_folder
from workbench.model.rung_times import RungTimes
from workbench.model.state import State
from workbench.panels.kernel.answer_pair import AnswerPair
from workbench.panels.kernel.code_editor import CodeEditor
from workbench.panels.kernel.completion import Completion
from workbench.panels.kernel.find_row import FindRow
from workbench.panels.kernel.kernel_buttons import KernelButtons
from workbench.panels.kernel.machine_code_view import MachineCodeView
from workbench.panels.kernel.reading_code import ReadingCode
from workbench.panels.kernel.step_view import StepView
from workbench.panels.kernel.trial_view import TrialView
from workbench.panels.kernel.trying import Trying
from workbench.session.analysis_thread import StepQueue
from workbench.session.kernel_file import KernelFile
from workbench.session.kernel_journal import KernelJournal, Unsaved
from workbench.session.kernel_steps import Followed
from workbench.session.shared_kernel import shared_text
from workbench.session.store import Store
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.file_dialogs import ask_file, ask_new_file
from workbench.widgets.message_bar import Question
from workbench.widgets.tile import words_label

FILE_TYPES = "CUDA C++ (*.cu);;All files (*)"
RECENT_FILES = 10
KEYS = ("Ctrl+S", "Ctrl+F", "Ctrl+G", "F3", "Shift+F3")
SIDE_BY_SIDE_PX = 880  # from this width on source and trial stand beside each other
SHARES = (270, 310)  # of source and trial: the verdict and what it costs are seen at once
STEPPING_SHARES = (150, 450)  # there is more to see of a step
CODE_SHARES = (250, 350)
FROM_ELSEWHERE = "{name} is not in your folder of kernels: look at it before you run it."
COPY_SAVED = "Saved {name} with this comment: {verdict}"
GONE = "{name}, which was open here the last time, is not there any more."
NO_EDITOR = "No program of this computer opens {name}; it lies in {folder}."


class KernelPage(QWidget):
    """The panel's parts, put together.

    entrance  the source, which the panel is opened for
    code      the instructions that it becomes

    Signals:
        said(kind, sentence): for the message bar.
        refused(sentence): the text does not run, for the message bar where nothing else is said.
        unsaid(sentence): it is no longer so.
        worked_on(name): the kernel in this file is in the panel from now on.
    """

    said = Signal(str, str)
    refused = Signal(str)
    unsaid = Signal(str)
    worked_on = Signal(str)

    def __init__(self, store: Store, times: RungTimes, trials: StepQueue) -> None:
        super().__init__()
        self._file = KernelFile(KernelJournal(), self)
        self._recent: list[Path] = []
        self._shares = list(SHARES)  # to go back to from steps and instructions
        self._is_code_shown = False
        self._refused = ""  # what the message bar was told of a text that does not run
        self._allowed: set[Path] = set()  # outside the user's folder: saved here, or said to run
        self._buttons = KernelButtons()
        self._name = words_label("kernel-name", 0.95)
        self._offer = Question("kernel-unsaved")
        self._foreign = Question("kernel-foreign")
        self.entrance = self._editor = CodeEditor(KEYS)
        Completion(self._editor)
        self._find_row = FindRow(self._editor)
        self._view = TrialView()
        self._steps = StepView()
        self.code = MachineCodeView()
        self._below = QStackedWidget()
        self._trying = Trying(*(store, times, trials, self._file, self._editor, self._view, self))
        self._reading = ReadingCode(self._trying, self._file, self._editor, self.code, self)
        self._connect()
        self._lay_out()

    @property
    def path(self) -> Path | None:
        """Return the file that is worked on."""
        return self._file.path

    @property
    def recent(self) -> list[Path]:
        """Return the files that were open, the newest first."""
        return self._recent

    @property
    def pictures(self) -> AnswerPair:
        """Return the pictures of the part that was tried."""
        return self._view.pictures

    @property
    def is_tried(self) -> bool:
        """Return whether all there is to know of the present text is shown."""
        is_read = not self._file.is_at_disk
        return is_read and self._trying.is_settled and self._reading.is_settled

    @property
    def is_at_disk(self) -> bool:
        """Return whether its file is being read or saved."""
        return self._file.is_at_disk

    @property
    def is_counted_by_line(self) -> bool:
        """Return whether counts stand beside the lines."""
        return self._view.is_by_line

    def count_by_line(self, is_so: bool) -> None:
        """Have counts stand beside the lines, or not."""
        self._view.choose_by_line(is_so)

    @property
    def tried(self) -> CpuTrial | GpuTrial | None:
        """Return what is known of the text that was tried last; None: nothing yet."""
        return self._trying.tried

    @property
    def has_verdict(self) -> bool:
        """Return whether it is known, and shown, what becomes of the present text."""
        return self._trying.found[1] is not None

    def begin(self, path: Path | None, recent: Sequence[Path]) -> None:
        """Open the file of the last time, or an empty kernel, and offer what was not saved."""
        self.show_recent(recent)
        if path is None:
            self.begin_new("")
            return

        def begin_without(error: Exception) -> None:
            is_gone = isinstance(error, KernelGoneError)
            self.said.emit("warning", GONE.format(name=path.name) if is_gone else str(error))
            self.begin_new("")

        self._file.open(path, partial(self._hold_unless_allowed, path), begin_without)

    def show_state(self, state: State) -> None:
        """Try the kernel on what `state` asks for."""
        self._trying.follow(state)

    def take_device(self, device: Device | NoDevice) -> None:
        """Try kernels on this GPU from now on, or on the CPU where there is none."""
        self._trying.take_device(device)

    def look_at(self, pixel: tuple[int, int]) -> None:
        """Try the kernel around this pixel (x, y) from now on, or walk through its block."""
        if self.is_stepping:
            self._trying.step_through(pixel)
        else:
            self._trying.look_at(pixel)

    def show_recent(self, recent: Sequence[Path]) -> None:
        """Offer the files that were open before."""
        self._recent = list(recent)
        self._buttons.offer_recent(self._recent, self.open_file)

    def begin_new(self, key: str) -> None:
        """Begin a kernel with a rung's text, or with the empty one where `key` is empty."""
        point = next(each for each in starting_points() if each.key == key)
        self._hold_unless_allowed(None, True)
        self._file.begin(point.text, f"{point.stem}.cu")

    def open_file(self, path: Path, *, is_named: bool = False) -> None:
        """Open a kernel's file.

        One from elsewhere is shown, and run only once the user says so.

        is_named  the user has said so, by naming it
        """
        if is_named:
            self._allowed.add(path.absolute())

        def say(error: Exception) -> None:
            self.said.emit("error", str(error))
            self.show_recent([each for each in self._recent if each != path])

        self._file.open(path, partial(self._hold_unless_allowed, path), say)

    def ask_file(self) -> None:
        """Ask for a kernel's file, and open it."""
        if path := ask_file(self, "Open a kernel", str(self._folder), FILE_TYPES):
            self.open_file(path)

    def save(self, then: Callable[[], None] = lambda: None) -> None:
        """Write the text into its file, and do what is to follow once it is there."""
        if self._file.path is None:
            self.save_as(then)
        else:
            self._write(None, then)

    def save_as(self, then: Callable[[], None] = lambda: None) -> None:
        """Ask for a file, and write the text into it; the rest as `save`."""
        proposed = self._file.path or self._folder / self._file.name
        name, _ = ask_new_file(self, "Save the kernel", proposed, FILE_TYPES, "")
        if name:
            path = Path(name)
            self._write(path if path.suffix else path.with_suffix(".cu"), then)

    def save_copy(self) -> None:
        """Ask for a file, and write a copy there with what was found of it."""
        proposed = Path.home() / f"{Path(self._file.name).stem}_shared.cu"
        name, _ = ask_new_file(self, "Save a copy to share", proposed, FILE_TYPES, "")
        if not name:
            return
        path = Path(name) if Path(name).suffix else Path(name).with_suffix(".cu")
        verdict, job = self._trying.found
        text = shared_text(self._file.text, verdict, job, date.today())
        saved = COPY_SAVED.format(name=path.name, verdict=verdict)
        self._file.write_copy(path, text, lambda: self.said.emit("info", saved), self._say_error)

    def edit_outside(self) -> None:
        """Open the file in the user's own editor."""
        if not self._file.is_saved:
            self.save(self._open_outside)
        else:
            self._open_outside()

    def _open_outside(self) -> None:
        path = self._file.path
        assert path is not None
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(path))):
            sentence = NO_EDITOR.format(name=path.name, folder=path.parent)
            self.said.emit("info", sentence)

    def find_bug(self) -> None:
        """Look for the bug in the present text."""
        self._trying.find_bug()

    def step_through(self) -> None:
        """Walk through a block of the present text."""
        if not self.is_stepping:
            self._trying.step_through()

    def go_on(self, way: int) -> None:
        """Go a step forwards (1) or back (-1) in the walk, or begin one."""
        if self.is_stepping:
            self._steps.go_on(way)
        else:
            self.step_through()

    def go_to_barrier(self, way: int) -> None:
        """Go behind the next barrier (1) or the one before (-1), or begin a walk."""
        if self.is_stepping:
            self._steps.go_to_barrier(way)
        else:
            self.step_through()

    @property
    def is_stepping(self) -> bool:
        """Return whether a block is walked through."""
        return self._below.currentWidget() is self._steps

    @property
    def is_code_shown(self) -> bool:
        """Return whether instructions stand in the place of the trial."""
        return self._is_code_shown

    def show_code(self, is_shown: bool) -> None:
        """Show the instructions of the text in the place of its trial, or that again."""
        self._is_code_shown = is_shown
        self._reading.switch(is_shown)
        self._editor.show_step(0)
        self._show_below(self._beside_steps)

    def close_threads(self) -> None:
        """Stop what is under way."""
        self._reading.close()
        self._trying.close()
        self._file.close()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        is_wide = event.size().width() >= SIDE_BY_SIDE_PX
        upright, level = Qt.Orientation.Vertical, Qt.Orientation.Horizontal
        self._split.setOrientation(level if is_wide else upright)

    # -- how

    @property
    def _folder(self) -> Path:
        """Return where files are looked for, and put: that of the present one, or the user's."""
        if self._file.path is not None:
            return self._file.path.parent
        folder = kernels_folder()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            return Path.home()
        return folder

    def _write(self, path: Path | None, then: Callable[[], None]) -> None:
        def go_on() -> None:
            self._allow()
            then()

        self._file.save(path, go_on, self._say_error)

    def _say_error(self, error: Exception) -> None:
        self.said.emit("error", str(error))

    def _allow(self) -> None:
        """Run the present file from now on."""
        if (path := self._file.path) is not None:
            self._allowed.add(path)
        self._foreign.hide()
        self._trying.release()

    def _hold_unless_allowed(self, path: Path | None, is_users: bool) -> None:
        """Run what is in `path` (None: a new text) only if it is the user's, or allowed."""
        if path is None or is_users or path.absolute() in self._allowed:
            self._trying.hold(False)
            self._foreign.hide()
            return
        self._trying.hold(True)
        self._foreign.ask(
            FROM_ELSEWHERE.format(name=path.name),
            ("Run it", "Compile it and try it on the picture, now and as it changes", self._allow),
        )

    def _ask_unconfined(self, reason: str) -> None:
        """Ask whether to run kernels on the CPU though this system cannot confine them."""
        tip = "Run kernels unconfined until the program ends: only texts that you trust"
        self._foreign.ask(reason, ("Run it unconfined", tip, self._run_unconfined))

    def _run_unconfined(self) -> None:
        allow_unconfined()
        self._allow()

    def _connect(self) -> None:
        file, buttons = self._file, self._buttons
        file.began.connect(self._begin)
        file.arrived.connect(self._arrive)
        file.named.connect(self._show_name)
        file.said.connect(lambda sentence: self.said.emit("warning", sentence))
        self._editor.textChanged.connect(lambda: file.type(self._editor.toPlainText()))
        self._editor.asked.connect(self._press)
        self._find_row.left.connect(self._editor.setFocus)
        self._view.line_wanted.connect(self._go_to_line)
        self._view.find_wanted.connect(self.find_bug)
        self._view.counts_wanted.connect(self._editor.make_counts_visible)
        self._view.steps_wanted.connect(self.step_through)
        self._view.code_wanted.connect(lambda: self.show_code(True))
        self.code.left.connect(lambda: self.show_code(False))
        self.code.line_picked.connect(self._editor.show_step)
        self._editor.cursorPositionChanged.connect(self._leave_line)
        self._trying.unconfined.connect(self._ask_unconfined)
        self._trying.followed.connect(self._show_steps)
        self._trying.began.connect(self._leave_steps)
        self._editor.textChanged.connect(self._leave_steps)
        self._steps.line_shown.connect(self._editor.show_step)
        self._steps.left.connect(self._leave_steps)
        self._steps.pixel_wanted.connect(self._trying.step_through)
        self._steps.pass_wanted.connect(lambda number: self._trying.step_through(None, number))
        self._trying.refused.connect(self._say_refused)
        self._trying.ran.connect(self._unsay_refused)
        buttons.open_wanted.connect(self.ask_file)
        buttons.save_wanted.connect(lambda: self.save())
        buttons.save_as_wanted.connect(lambda: self.save_as())
        buttons.editor_wanted.connect(self.edit_outside)
        buttons.offer_new(
            [
                (point.title, _tip_of(point.key), partial(self.begin_new, point.key))
                for point in starting_points()
            ]
        )

    @Slot(str)
    def _say_refused(self, sentence: str) -> None:
        """Say why the text does not run; what was dismissed is not said again."""
        if sentence != self._refused:
            self._unsay_refused()
            self._refused = sentence
            self.refused.emit(sentence)

    @Slot()
    def _unsay_refused(self) -> None:
        if self._refused:
            self.unsaid.emit(self._refused)
            self._refused = ""

    @Slot(str)
    def _begin(self, text: str) -> None:
        self._editor.begin_with(text)
        if (path := self._file.path) is not None:
            others = [each for each in self._recent if each != path]
            self.show_recent([path, *others][:RECENT_FILES])
        self._offer_unsaved()

    @Slot(str)
    def _arrive(self, text: str) -> None:
        if text != self._editor.toPlainText():
            self._editor.replace_text(text)

    @Slot()
    def _show_name(self) -> None:
        saved = "" if self._file.is_saved else " · not saved"
        self._name.setText(f"{self._file.name}{saved}")
        self._name.setToolTip(tip_text(str(self._file.path or "")))
        self._buttons.show_saved(self._file.is_saved)
        self.worked_on.emit(self._file.name)

    @Slot(str)
    def _press(self, keys: str) -> None:
        {
            "Ctrl+S": self.save,
            "Ctrl+F": self._find_row.ask_text,
            "Ctrl+G": self._find_row.ask_line,
            "F3": self._find_row.find_next,
            "Shift+F3": self._find_row.find_before,
        }[keys]()

    @Slot(int)
    def _go_to_line(self, line: int) -> None:
        self._editor.go_to_mark(line)
        self._editor.setFocus()

    @Slot(object)
    def _show_steps(self, followed: Followed) -> None:
        self._show_below(self._steps)
        self._steps.show_steps(followed)

    @Slot()
    def _leave_steps(self) -> None:
        if self.is_stepping:
            self._show_below(self._beside_steps)
            self._editor.show_step(0)

    @Slot()
    def _leave_line(self) -> None:
        """Set off no line any more once the user goes on from it in the source."""
        line = self._editor.textCursor().blockNumber() + 1
        if self._editor.hasFocus() and not self.is_stepping and line != self._editor.step_line:
            self._editor.show_step(0)

    @property
    def _beside_steps(self) -> QWidget:
        """Return what stands with the source while nothing is stepped through."""
        return self.code if self._is_code_shown else self._view

    def _show_below(self, part: QWidget) -> None:
        """Show one of the three; that of the trial is as large as the user made it."""
        before = self._below.currentWidget()
        if before is self._view and any(sizes := self._split.sizes()):
            self._shares = sizes
        self._below.setCurrentWidget(part)
        shares = {self._steps: STEPPING_SHARES, self.code: CODE_SHARES}
        if part is not before:
            self._split.setSizes(shares.get(part, self._shares))

    def _offer_unsaved(self) -> None:
        self._file.look_for_unsaved(self._show_offer)

    def _show_offer(self, left: Unsaved | None) -> None:
        if left is None:
            self._offer.hide()
            return
        lines = left.text.count("\n") + 1
        self._offer.ask(
            f"Not saved: {lines:,} lines of {left.name}.",
            (
                "Bring back",
                "Edit this text again; its file changes only on Save",
                partial(self._bring_back, left),
            ),
            ("Discard", "Forget this text", self._discard),
        )

    def _bring_back(self, left: Unsaved) -> None:
        self._file.drop_unsaved()
        self._file.bring_back(left, partial(self._hold_unless_allowed, left.path))

    def _discard(self) -> None:
        self._file.drop_unsaved()
        self._offer_unsaved()

    def _lay_out(self) -> None:
        source = QWidget()
        VBox(source, 0, 4).add((self._editor, 1), self._find_row)
        self._split = QSplitter(Qt.Orientation.Vertical)
        self._split.setObjectName("kernel-split")
        self._split.setChildrenCollapsible(False)
        self._split.addWidget(source)
        self._below.addWidget(self._view)
        self._below.addWidget(self._steps)
        self._below.addWidget(self.code)
        self._split.addWidget(self._below)
        self._split.setSizes(SHARES)
        named = HBox(spacing=8)
        named.add((self._name, 1), self._buttons.outside)
        VBox(self, 0, 6).add(*(self._buttons, named, self._foreign, self._offer), (self._split, 1))


def _tip_of(key: str) -> str:
    return f"Copy the rung {key}, to change one thing" if key else "All but the filter is there"
