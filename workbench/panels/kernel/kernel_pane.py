"""The panel of user kernels: the source with its file, and the findings of a trial."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget, QWidget

from kernels.core.device import Device, NoDevice
from kernels.core.job import Result
from workbench.model.rung_times import RungTimes
from workbench.model.state import State
from workbench.panels.kernel.code_editor import CodeEditor
from workbench.panels.kernel.editor_aids import Completion, FindRow
from workbench.panels.kernel.file_row import FileRow
from workbench.panels.kernel.machine_code_view import MachineCodeView
from workbench.panels.kernel.step_view import StepView
from workbench.panels.kernel.trial_view import AnswerPair, TrialView
from workbench.panels.kernel.trying import Trying
from workbench.session.kernel_folder import KernelFolder
from workbench.session.kernel_trial import Followed
from workbench.session.store import Store
from workbench.session.tasks import Scheduler
from workbench.widgets.boxes import VBox
from workbench.widgets.lazy_panel import MARGINS
from workbench.widgets.message_bar import MessageBar

SIDE_BY_SIDE_PX = 880  # from this width on source and trial stand beside each other
SHARES = (270, 310)  # of source and trial: verdict and costs are seen at once


class KernelPane(QWidget):
    """The panel, which begins with the kernel of the last time when it is first seen.

    files     the row of the kernel's file
    trying    its trials
    code      its instructions
    steps     those of a block
    pictures  the part of the picture that it was tried on, and its output
    """

    def __init__(
        self,
        store: Store,
        times: RungTimes,
        trials: Scheduler,
        folder: KernelFolder,
        messages: MessageBar,
    ) -> None:
        """Make the panel; `trials` runs on the GPU, in turn with everything else."""
        super().__init__()
        self.setObjectName("kernel-pane")
        self._has_begun = False
        self._last: Path | None = None  # the file of the last time
        self._is_code_shown = False
        self.files: FileRow = FileRow(folder, messages)
        self._editor = CodeEditor()
        Completion(self._editor)
        self._find_row = FindRow(self._editor)
        self._view = TrialView()
        self.steps: StepView = StepView()
        self.pictures: AnswerPair = self._view.pictures
        self._below = QStackedWidget()
        self.trying = Trying(
            *(store, times, trials, self.files.file, self._editor, self._view), self
        )
        self.code = MachineCodeView(self.trying, self._editor)
        self._connect()
        self._lay_out()

    @property
    def path(self) -> Path | None:
        """The file that is worked on."""
        return self.files.file.path

    @property
    def is_tried(self) -> bool:
        """True once all findings on the present text are shown."""
        is_read = not self.files.file.is_at_disk
        return is_read and self.trying.is_settled and self.code.is_settled

    @property
    def is_stepping(self) -> bool:
        """True while a block is walked through."""
        return self._below.currentWidget() is self.steps

    @property
    def entrance(self) -> CodeEditor:
        """The part that gets the keyboard when the panel is opened."""
        self.begin()
        return self._editor

    def choices(self) -> dict[str, Any]:
        """The choices to keep until the next start, fit for JSON."""
        path = self.path if self._has_begun else self._last
        return {
            "path": str(path) if path else "",
            "recent": [str(each) for each in self.files.recent],
            "counts_by_line": self._view.by_line.isChecked(),
            "shows_code": self._is_code_shown,
            "code_kind": self.code.kind,
        }

    def restore(self, choices: Mapping[str, Any]) -> None:
        """Restore `choices()`; the defaults replace invalid values."""
        path, recent = choices.get("path"), choices.get("recent")
        self._last = Path(path) if isinstance(path, str) and path else None
        names = recent if isinstance(recent, list) else []
        self.files.show_recent([Path(each) for each in names if isinstance(each, str) and each])
        self._view.by_line.setChecked(choices.get("counts_by_line") is True)
        self.code.choose(choices.get("code_kind"))
        self.show_code(choices.get("shows_code") is True)

    def begin(self) -> None:
        """Open the kernel of the last time, unless one is worked on already."""
        if not self._has_begun:
            self._has_begun = True
            self.files.begin(self._last)

    def show_state(self, _state: State) -> None:
        """Try the kernel on another picture or job of the store, while the panel is seen."""
        if self.isVisible():
            self.trying.follow()

    def show_result(self, result: Result) -> None:
        """Try the kernel on what the steps before it gave, where there are some."""
        self.trying.newest = result
        if result.steps and self.isVisible():
            self.trying.follow()

    def show_device(self, device: Device | NoDevice) -> None:
        """Try kernels on this GPU from the next state on, or on the CPU where there is none."""
        self.trying.use_device(device)

    def look_at(self, pixel: tuple[int, int]) -> None:
        """Try the kernel around this pixel (x, y) from now on, or walk through its block."""
        if self.isVisible():
            self.begin()
            (self.trying.step_through if self.is_stepping else self.trying.look_at)(pixel)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self.begin()
        self.trying.follow()

    def close_threads(self) -> None:
        """Cancel all work; a text that was not saved is offered the next time."""
        self.code.close_thread()
        self.trying.close()
        self.files.file.close()

    def save_copy(self) -> None:
        """Ask for a file, and write a copy there with its verdict."""
        self.files.save_copy(*self.trying.verdict)

    def find_bug(self) -> None:
        """Search the present text for its bug, and show what is found instead of instructions."""
        self.show_code(False)
        self.trying.find_bug()

    def step_through(self) -> None:
        """Walk through a block of the present text."""
        if not self.is_stepping:
            self.trying.step_through()

    def walk(self, go: Callable[[int], None], way: int) -> None:
        """Go forwards (1) or back (-1) in the walk through a block, or begin one."""
        if self.is_stepping:
            go(way)
        else:
            self.trying.step_through()

    def turn_code(self) -> None:
        """Show the instructions, or no longer; instead of a walk, always."""
        self.show_code(self.is_stepping or not self._is_code_shown)

    def show_code(self, is_shown: bool) -> None:
        """Show the instructions of the text in the place of its trial, or that again."""
        self._is_code_shown = is_shown
        self.code.switch(is_shown)
        self._editor.show_step(0)
        self._below.setCurrentWidget(self._beside_steps)

    def _connect(self) -> None:
        files, editor, view, trying = self.files, self._editor, self._view, self.trying
        files.held.connect(trying.hold)
        files.allowed.connect(trying.release)
        files.file.began.connect(editor.begin_with)
        files.file.began.connect(lambda _: files.note_begun())
        files.file.arrived.connect(editor.replace_text)
        editor.textChanged.connect(lambda: files.file.type(editor.toPlainText()))
        editor.textChanged.connect(self._leave_steps)
        editor.cursorPositionChanged.connect(self._leave_line)
        editor.actions_by_key = {
            "Ctrl+S": files.save,
            "Ctrl+F": self._find_row.ask_text,
            "Ctrl+G": self._find_row.ask_line,
            "F3": lambda: self._find_row.find_again(1),
            "Shift+F3": lambda: self._find_row.find_again(-1),
        }
        view.line_wanted.connect(editor.go_to_mark)
        view.line_wanted.connect(lambda _: editor.setFocus())
        view.search.clicked.connect(self.find_bug)
        view.by_line.toggled.connect(editor.make_counts_visible)
        view.step.clicked.connect(self.step_through)
        view.code.clicked.connect(lambda: self.show_code(True))
        self.code.left.connect(lambda: self.show_code(False))
        trying.unconfined.connect(files.ask_unconfined)
        trying.followed.connect(self._show_steps)
        trying.began.connect(self._leave_steps)
        self.steps.line_shown.connect(editor.show_step)
        self.steps.left.connect(self._leave_steps)
        self.steps.walk_wanted.connect(trying.step_through)

    def _lay_out(self) -> None:
        source = QWidget()
        VBox(source, 0, 4).add((self._editor, 1), self._find_row)
        for part in (self._view, self.steps, self.code):
            self._below.addWidget(part)
        self._split = QSplitter(Qt.Orientation.Vertical)
        self._split.setObjectName("kernel-split")
        self._split.setChildrenCollapsible(False)
        self._split.addWidget(source)
        self._split.addWidget(self._below)
        self._split.setSizes(SHARES)
        VBox(self, MARGINS, 6).add(self.files, (self._split, 1))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        inside = self.contentsRect().marginsRemoved(MARGINS)
        is_wide = inside.width() >= SIDE_BY_SIDE_PX
        upright, level = Qt.Orientation.Vertical, Qt.Orientation.Horizontal
        self._split.setOrientation(level if is_wide else upright)

    def _show_steps(self, followed: Followed) -> None:
        self._below.setCurrentWidget(self.steps)
        self.steps.show_steps(followed)

    def _leave_steps(self) -> None:
        if self.is_stepping:
            self._below.setCurrentWidget(self._beside_steps)
            self._editor.show_step(0)

    def _leave_line(self) -> None:
        """Highlight no line any more once the user moves on from it in the source."""
        line = self._editor.textCursor().blockNumber() + 1
        if self._editor.hasFocus() and not self.is_stepping and line != self._editor.step_line:
            self._editor.show_step(0)

    @property
    def _beside_steps(self) -> QWidget:
        return self.code if self._is_code_shown else self._view
