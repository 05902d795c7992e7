"""The panel of user kernels: the source with its file, and the findings of a trial."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QMenu, QSplitter, QStackedWidget, QToolButton, QWidget

from kernels.core.device import Device, NoDevice
from kernels.core.job import Job, Result
from kernels.cuda_on_cpu.confinement import allow_unconfined
from kernels.rungs.own_kernels import plainest, starting_points
from workbench.base.paths import asset_table
from workbench.base.plain_text import tip_text
from workbench.base.theme import in_letters
from workbench.model import intents
from workbench.model.rung_times import RungTimes
from workbench.model.state import State
from workbench.panels.kernel.code_editor import CodeEditor
from workbench.panels.kernel.editor_aids import Completion, FindRow
from workbench.panels.kernel.machine_code_view import MachineCodeView
from workbench.panels.kernel.step_view import StepView
from workbench.panels.kernel.trial_view import AnswerPair, TrialView
from workbench.panels.kernel.trying import Trying
from workbench.session import kernel_file
from workbench.session.kernel_folder import KernelFolder, KernelGoneError, kernels_folder
from workbench.session.kernel_trial import Followed
from workbench.session.store import Store
from workbench.session.tasks import Scheduler
from workbench.widgets.actions import list_in
from workbench.widgets.boxes import Flow, VBox
from workbench.widgets.buttons import make_button
from workbench.widgets.file_dialogs import ask_file, ask_save_path
from workbench.widgets.lazy_panel import MARGINS
from workbench.widgets.message_bar import MessageBar, Question
from workbench.widgets.tile import words_label

FILE_TYPES = "CUDA C++ (*.cu);;All files (*)"
RECENT_FILES = 10
GONE = "{name}, which was open here the last time, is not there any more."
NO_EDITOR = "No program of this computer opens {name}; it lies in {folder}."
TIPS = asset_table("tips.toml")["kernel-file"]


class FileRow(QWidget):
    """Buttons, the name of the file, and questions on it.

    file    the kernel that is worked on
    recent  the files that were open, the newest first
    buttons  all of the panel: above what comes and goes, none moves under the pointer
    """

    # (is_so): the next text does not run until the user allows it, or it runs at once.
    held = Signal(bool)
    allowed = Signal()  # the present text runs from now on

    def __init__(self, store: Store, folder: KernelFolder, messages: MessageBar) -> None:
        super().__init__()
        self._store = store
        self._messages, self._show_message = messages, messages.show_message
        self.file = kernel_file.KernelFile(kernel_file.KernelJournal(), self)
        self.file.named.connect(self._show_name)
        self.file.saved.connect(folder.look)
        self._folder = folder
        self.file.said.connect(partial(self._show_message, "warning"))
        self.recent: list[Path] = []
        self._allowed: set[Path] = set()  # outside the user's folder: saved here, or said to run
        self._offer, self._foreign = Question("kernel-unsaved"), Question("kernel-foreign")
        self._name = words_label("kernel-name", 0.95)
        new, self._open = _button("New"), _button("Open…", self.ask_file)
        save = _button("Save", self.save)
        to_begin = [(each, partial(self.begin_new, each.key)) for each in starting_points()]
        list_in(new.menu(), [(each.title, each.tip, do) for each, do in to_begin])
        others = {"Save as…": self.save_as, "Open in editor": self.edit_outside}
        list_in(save.menu(), [(each, TIPS[each], do) for each, do in others.items()])
        self.buttons = Flow(4, new, self._open, save)
        VBox(self, 0, 6).add(self.buttons, self._name, self._foreign, self._offer)

    def begin(self, path: Path | None) -> None:
        """Open the file of the last time, or a plain kernel where it is gone."""
        self.file.do(_make_folder, lambda _: None, lambda _: None)
        if path is None:
            self.begin_new("")
        else:
            self.open_file(path, is_last=True)

    def begin_new(self, key: str) -> None:
        """Begin a kernel with a starting point's text, by its key; empty: the plainest one."""
        points = {each.key: each for each in starting_points()}
        job = intents.or_none(intents.like_step_job, self._store.state)
        point = points[key] if key else plainest(job)
        if point.filter:  # first, or the text would be tried on another filter's job
            self._store.choose(filter=point.filter)
        self._hold_unless_allowed(None, True)
        self.file.begin(point.text, f"{point.stem}.cu")

    def open_file(self, path: Path, *, is_named: bool = False, is_last: bool = False) -> None:
        """Open a kernel's file; one from elsewhere runs once the user says so, or named it.

        is_last  it was open the last time; where it is gone, a plain kernel begins
        """
        if is_named:
            self._allowed.add(path.absolute())

        def fail(error: Exception) -> None:
            is_gone = is_last and isinstance(error, KernelGoneError)
            sentence = GONE.format(name=path.name) if is_gone else str(error)
            self._show_message("warning" if is_last else "error", sentence)
            self.show_recent([each for each in self.recent if each != path])
            if is_last:
                self.begin_new("")

        self.file.open(path, partial(self._hold_unless_allowed, path), fail)

    def ask_file(self) -> None:
        if path := ask_file(self, "Open a kernel", str(self._folder_of_file), FILE_TYPES):
            self.open_file(path)

    def show_recent(self, recent: Sequence[Path]) -> None:
        self.recent = list(recent)[:RECENT_FILES]
        lines = [(path.name, str(path), partial(self.open_file, path)) for path in self.recent]
        list_in(self._open.menu(), lines or [("None was open before", "", None)])

    def save(self, then: Callable[[], None] = lambda: None) -> None:
        """Write the text into its file, and call `then` once it is there."""
        if self.file.path is None:
            self.save_as(then)
        else:
            self._write(None, then)

    def save_as(self, then: Callable[[], None] = lambda: None) -> None:
        """Ask for a file, and write the text into it; the rest as `save`."""
        proposed = self.file.path or self._folder_of_file / self.file.name
        if path := ask_save_path(self, "Save the kernel", proposed, FILE_TYPES):
            self._write(path, then)

    def use(self) -> None:
        """Save the text, and have the whole picture filtered with it."""

        def go_on() -> None:
            assert self.file.path is not None
            self._folder.admit(self.file.path)
            self._store.choose(implementation=self.file.path.name)

        self.save(go_on)

    def save_copy(self, verdict: str, job: Job | None) -> None:
        """Ask for a file, and write a copy there with the verdict of the text on a job."""
        proposed = Path.home() / f"{Path(self.file.name).stem}_shared.cu"
        if path := ask_save_path(self, "Save a copy to share", proposed, FILE_TYPES):
            text = kernel_file.shared_text(self.file.text, verdict, job, date.today())
            saved = f"Saved {path.name} with this comment: {verdict}"
            self.file.do(
                partial(kernel_file.write_kernel, path, text),
                lambda _: self._show_message("info", saved),
                self._messages.show_error,
            )

    def edit_outside(self) -> None:
        """Open the file in the user's own editor, once the text is in it."""

        def open_outside() -> None:
            path = self.file.path
            assert path is not None
            if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(path))):
                self._show_message("info", NO_EDITOR.format(name=path.name, folder=path.parent))

        if self.file.is_saved:
            open_outside()
        else:
            self.save(open_outside)

    @property
    def _folder_of_file(self) -> Path:
        return self.file.path.parent if self.file.path is not None else kernels_folder()

    def _write(self, path: Path | None, then: Callable[[], None]) -> None:
        def go_on() -> None:
            self._allow()
            then()

        self.file.save(path, go_on, self._messages.show_error)

    def ask_unconfined(self, reason: str) -> None:
        """Ask whether to run kernels on the CPU though this system cannot confine them."""

        def run() -> None:
            allow_unconfined()
            self._allow()

        tip = "Run kernels unconfined until the program ends: only texts that you trust"
        self._foreign.ask(reason, ("Run it unconfined", tip, run))

    def _allow(self) -> None:
        if (path := self.file.path) is not None:
            self._allowed.add(path)
        self._foreign.hide()
        self.allowed.emit()

    def _hold_unless_allowed(self, path: Path | None, is_users: bool) -> None:
        """Run the text in `path` (None: a new one) only if it is the user's, or allowed."""
        if path is None or is_users or path.absolute() in self._allowed:
            self.held.emit(False)
            self._foreign.hide()
            return
        self.held.emit(True)
        self._foreign.ask(
            f"{path.name} is not in your folder of kernels: look at it before you run it.",
            ("Run it", "Compile it and try it on the picture, now and as it changes", self._allow),
        )

    def note_begun(self) -> None:
        """List the present file among the recent ones, and offer a text that was not saved."""
        if (path := self.file.path) is not None:
            self.show_recent([path, *(each for each in self.recent if each != path)])
        self.file.look_for_unsaved(self._show_offer)

    def _show_name(self) -> None:
        self._name.setText(f"{self.file.name}{'' if self.file.is_saved else ' · not saved'}")
        self._name.setToolTip(tip_text(str(self.file.path or "")))

    def _show_offer(self, left: kernel_file.Unsaved | None) -> None:
        if left is None:
            self._offer.hide()
            return

        def bring_back() -> None:
            self.file.drop_unsaved()
            self.file.bring_back(left, partial(self._hold_unless_allowed, left.path))

        def discard() -> None:
            self.file.drop_unsaved()
            self.file.look_for_unsaved(self._show_offer)

        self._offer.ask(
            f"Not saved: {left.text.count(chr(10)) + 1:,} lines of {left.name}.",
            ("Bring back", "Edit this text again; its file changes only on Save", bring_back),
            ("Discard", "Forget this text", discard),
        )


def _make_folder() -> None:
    with suppress(OSError):
        kernels_folder().mkdir(parents=True, exist_ok=True)


def _button(text: str, do: Callable[[], object] | None = None) -> QToolButton:
    button = make_button(f"kernel-{text.removesuffix('…').lower()}", text, TIPS[text])
    button.setMenu(QMenu(button, toolTipsVisible=True))
    modes = QToolButton.ToolButtonPopupMode
    button.setPopupMode(modes.MenuButtonPopup if do else modes.InstantPopup)
    if do is not None:
        button.clicked.connect(lambda: do())
    return button


SIDE_BY_SIDE_PX = 880  # from this width on source and trial stand beside each other
# A source's share above its verdict, of which it is 20 lines in a window 720 pixels high, and above
# pictures as well, of which it is 20 lines from ROOMY_PX of the panel on.
MOST, ABOVE_PICTURES, ROOMY_PX = 0.8, 0.6, 680
# Of a verdict in four lines; with pictures; of instructions, and all around them.
LEAST_PX, PICTURES_PX, CODE_PX = 76, 235, 205
# While steps are walked through: letters of a source line that are seen, the share of the width
# that these may take beside the steps, and that of the window which the panel may take for them.
LETTERS, BESIDE_STEPS, OF_WINDOW = 80, 0.62, 2 / 3


class KernelPane(QWidget):
    """The panel, which begins with the kernel of the last time when it is first seen.

    files     the row of the kernel's file
    trying    its trials
    code      its instructions
    steps     those of a block
    pictures  the part of the picture that it was tried on, and its output
    """

    width_changed = Signal()  # it needs more of the window than before, or less

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
        self._is_code_shown = self._is_roomy = False
        self._view = view = TrialView()
        self.files: FileRow = FileRow(store, folder, messages)
        for button in (view.cancel, view.search, view.use, view.step, view.code):
            self.files.buttons.addWidget(button)
        self._editor = CodeEditor()
        Completion(self._editor)
        self._find_row = FindRow(self._editor)
        self.steps: StepView = StepView()
        self.pictures: AnswerPair = self._view.pictures
        self._below = QStackedWidget()
        self.trying: Trying = Trying(
            *(store, times, trials, self.files.file, self._editor, self._view), self
        )
        self.code = MachineCodeView(self.trying, self._editor)
        self._connect()
        source = QWidget()
        VBox(source, 0, 4).add((self._editor, 1), self._find_row)
        for part in (self._view, self.steps, self.code):
            self._below.addWidget(part)
        self._below.setMinimumHeight(LEAST_PX)  # and not that of the largest of them
        self._split = QSplitter(Qt.Orientation.Vertical, childrenCollapsible=False)
        self._split.setObjectName("kernel-split")
        self._split.addWidget(source)
        self._split.addWidget(self._below)
        self._share_out()
        self._below.currentChanged.connect(lambda _: self._share_out())
        self._below.currentChanged.connect(self.width_changed)
        self._view.fold.chosen.connect(self._share_out)
        VBox(self, MARGINS, 6).add(self.files, (self._split, 1))

    @property
    def path(self) -> Path | None:
        return self.files.file.path

    @property
    def is_tried(self) -> bool:
        """True once all findings on the present text are shown."""
        return not self.files.file.is_at_disk and self.trying.is_settled and self.code.is_settled

    @property
    def is_stepping(self) -> bool:
        return self._below.currentWidget() is self.steps

    @property
    def entrance(self) -> CodeEditor:
        self.begin()
        return self._editor

    def choices(self) -> dict[str, Any]:
        path = self.path if self._has_begun else self._last
        return {
            "path": str(path) if path else "",
            "recent": [str(each) for each in self.files.recent],
            "counts_by_line": self._view.by_line.isChecked(),
            "shows_code": self._is_code_shown,
            "code_kind": self.code.kind,
        }

    def restore(self, choices: Mapping[str, Any]) -> None:
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
        self.trying.device = device if isinstance(device, Device) else None

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
        self.code.analysis.close()
        self.trying.close()
        self.files.file.close()

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
        view.use.clicked.connect(files.use)
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

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        inside = self.contentsRect().marginsRemoved(MARGINS)
        is_wide = inside.width() >= SIDE_BY_SIDE_PX
        upright, level = Qt.Orientation.Vertical, Qt.Orientation.Horizontal
        wanted, is_roomy = level if is_wide else upright, inside.height() >= in_letters(ROOMY_PX)
        if (wanted, is_roomy) != (self._split.orientation(), self._is_roomy):
            self._split.setOrientation(wanted)
            self._is_roomy = is_roomy
            self._share_out()
        elif self._below.currentWidget() is self.code:  # which needs more than half of little
            self._share_out()

    def _share_out(self) -> None:
        """Give a source above its verdict most of the height, else half; of steps, wrap it."""
        is_upright = self._split.orientation() == Qt.Orientation.Vertical
        self._view.fold.show_room(self._is_roomy or not is_upright)
        room = self._split.height() if is_upright else self._split.width()
        source = room // 2
        if is_upright and self._below.currentWidget() is self._view:
            source = round(MOST * room)
            if not self._view.fold.is_folded:
                source = min(round(ABOVE_PICTURES * room), room - in_letters(PICTURES_PX))
        if is_upright and self._below.currentWidget() is self.code:
            source = min(source, room - in_letters(CODE_PX))
        if self.is_stepping:
            most = self._split.width() * (1.0 if is_upright else BESIDE_STEPS)
            needed = self._editor.fit_letters(LETTERS, most)
            needed = min(needed, round(OF_WINDOW * self.window().width()))
            self._editor.setMinimumWidth(0 if is_upright else needed)
            self.setMinimumWidth(needed + MARGINS.left() + MARGINS.right())
        elif self.minimumWidth():
            self._editor.fit_letters(0, self.width())
            for part in (self._editor, self):
                part.setMinimumWidth(0)
        self._split.setSizes((source, room - source))
        wrap = CodeEditor.LineWrapMode
        self._editor.setLineWrapMode(wrap.WidgetWidth if self.is_stepping else wrap.NoWrap)

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
