"""Controller of "Filter files": the window's filter, the dialog, and the process that runs it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import get_args

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QGuiApplication

from kernels import filters
from kernels.core.device import Device, NoDevice
from workbench.base import numbers
from workbench.base.background import Background
from workbench.batch.journal import JournalError, Status
from workbench.batch.pairs import PairingError
from workbench.model.names import implementation_title
from workbench.model.state import State
from workbench.session.batch_process import BatchEnd, BatchProcess
from workbench.widgets.actions import AddHelp
from workbench.widgets.message_bar import Kind
from workbench.window.copy_as import device_options, in_shell
from workbench.window.filter_choice import FilterChoice, FilterPlan, note_on, plan_of, words_of
from workbench.window.filter_dialog import FilterDialog, Phase
from workbench.window.window_layout import Parts

AskPath = Callable[[str, str], Path | None]  # proposed name and file types
TYPES = "TIFF (*.tif *.tiff)"
SETTING = "filter-folder"  # under which the choices are remembered
PAUSE_MS = 150  # in typing, after which names are looked for anew
NOT_CHOSEN = "Choose a folder of pictures, and one for the results."
LOOKING = "Looking for pictures…"
NOT_LOOKED = "Something went wrong while looking for pictures; change something to look again."
STOPPING = {
    False: "Stopping after the pictures that are under way…",
    True: "Stopping after the strip that is under way…",
}
KEPT = "Stopped. What is finished is kept in {}.part, and Resume does the rest."


class FileFilter(QObject):
    """A service that has a dialog, and one run at a time."""

    def __init__(self, parts: Parts, ask_path: AskPath, add_help: AddHelp) -> None:
        """Make the dialog.

        ask_path  asks for the target of a large picture, as `SaveMenu.ask_path`
        """
        super().__init__(parts.window)
        self._ask_path = ask_path
        self._store, self._opener, self._settings = parts.store, parts.opener, parts.settings
        self._messages, self._parent = parts.messages, parts.window
        self._plan: FilterPlan | None = None
        self._newest_request = 0  # for a plan
        self._is_looking = False
        self._starts = False  # as soon as there is a plan
        self._failure = ""  # of one large picture
        self._said = ""  # of the last run, until something else is chosen
        self._is_behind = False  # the filter has changed while the dialog was hidden
        self._looking = Background((PairingError, JournalError), self)
        self._process = BatchProcess(self)
        self._process.ended.connect(self._end)
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(self._look)
        self.dialog = dialog = FilterDialog(self._parent)
        dialog.form.show_choice(self._remembered())
        dialog.form.chosen.connect(self._remember)
        dialog.wanted.connect(self._act)
        dialog.pages.picture_wanted.connect(self._opener.open_file)
        self._process.progressed.connect(dialog.pages.stages.show_progress)
        self._process.strips_done.connect(dialog.pages.stages.show_strips)
        self._process.picture_failed.connect(self._take_failure)
        self._show_choice()
        self._store.changed.connect(self._follow)
        add_help(dialog, "folder")
        if parts.worker.device is not None:
            self.show_device(parts.worker.device)

    @property
    def is_settled(self) -> bool:
        """True while no plan is being made and nothing runs."""
        return not self._is_looking and not self._process.is_running

    def open_folder(self) -> None:
        """Show the dialog with the folders of the last time; a run under way stays."""
        if self.is_settled and self._choice.is_file:
            self.dialog.form.show_choice(self._remembered())
            self._is_behind = True
        if self._is_behind and not self._process.is_running:
            self._show_choice()
        self.dialog.bring_forward()

    def open_file(self) -> None:
        """Ask for a file and filter the large picture into it, unless a run is under way."""
        picture = self._store.state.picture
        if self.is_settled and picture is not None and picture.path is not None:
            target = self._ask_path(f"{picture.path.stem}-filtered.tif", TYPES)
            if target is None:
                return
            choice = FilterChoice(str(picture.path), str(target), is_file=True)
            self.dialog.form.show_choice(choice)
            self._starts = True
            self._show_choice()
        self.dialog.bring_forward()

    def show_device(self, device: Device | NoDevice) -> None:
        """Offer a choice among the GPUs of this computer."""
        self.dialog.form.show_devices(device.count if isinstance(device, Device) else 0)
        if not self._process.is_running:
            self._show_choice()

    def close(self) -> None:
        """Stop what runs, which can be resumed, and wait for all threads."""
        self._pause.stop()
        self._process.close()
        self._looking.close()

    # -- choices

    @property
    def _choice(self) -> FilterChoice:
        return self.dialog.form.choice

    def _remembered(self) -> FilterChoice:
        return FilterChoice.from_data(self._settings.get(SETTING, {}))

    def _remember(self, choice: FilterChoice) -> None:
        if not choice.is_file:
            self._settings.set(SETTING, asdict(choice))
        self._show_choice()

    def _follow(self, old: State, new: State) -> None:
        """Show the plan of another filter; look at no disk while the dialog is hidden."""
        if _everything_shown(self._choice, old) == _everything_shown(self._choice, new):
            return
        if self.dialog.isVisible() and not self._process.is_running:
            self._show_choice()
        else:
            self._is_behind = True

    def _show_choice(self) -> None:
        """Show the filter and its command, and soon the plan."""
        dialog, state, choice = self.dialog, self._store.state, self._choice
        dialog.show_filter(filter_in_words(state), note_on(choice, state))
        dialog.show_command(in_shell(self._words(resume=False)))
        self._newest_request += 1
        self._is_behind = False
        self._plan, self._said = None, ""
        is_whole = self._is_looking = bool(choice.source and choice.target)
        dialog.show_plan(None, LOOKING if is_whole else NOT_CHOSEN)
        if is_whole:
            self._pause.start()
        else:
            self._pause.stop()

    def _look(self) -> None:
        """Make the plan, off this thread."""
        request, choice, state = self._newest_request, self._choice, self._store.state

        def show(plan: FilterPlan | None, sentence: str = "") -> None:
            if request == self._newest_request and not self._process.is_running:
                self._plan, self._is_looking = plan, False
                self.dialog.show_plan(plan, self._said or sentence)
                self.dialog.show_command(in_shell(self._words(resume=self._resumes)))
                starts, self._starts = self._starts, False
                if starts:
                    self._start()

        self._looking.run(
            lambda: plan_of(choice, state),
            show,
            lambda error: show(None, str(error)),
            lambda: show(None, NOT_LOOKED),
        )

    def _words(self, *, resume: bool) -> list[str]:
        words = words_of(self._choice, self._store.state, resume=resume)
        return words if self._choice.devices else words + device_options(sys.argv[1:])

    @property
    def _resumes(self) -> bool:
        return self._plan is not None and self._plan.known is not None

    # -- a run

    def _act(self, verb: str) -> None:
        """Do what a button of the dialog says."""
        dialog, stopping = self.dialog, STOPPING[self._choice.is_file]
        words: dict[str, tuple[Phase, str]] = {
            "pause": ("paused", "Paused."),
            "resume": ("running", ""),
            "stop": ("stopping", stopping),
        }
        if verb == "start":
            self._start()
        elif verb == "copy":
            command = in_shell(self._words(resume=self._resumes))
            QGuiApplication.clipboard().setText(command)
            dialog.say("Copied the command.")
        else:
            phase, sentence = words[verb]
            self._process.tell(verb)
            dialog.say(sentence)
            dialog.show_phase(phase)

    def _start(self) -> None:
        if self._plan is None or self._process.is_running:
            return
        words = self._words(resume=self._resumes)
        if self._plan.memory:
            words += ["--memory", f"{self._plan.memory >> 20}M"]
        self._failure = ""
        self.dialog.pages.begin(is_file=self._choice.is_file)
        self.dialog.say("")
        self.dialog.show_phase("running")
        self._process.start(words)

    def _take_failure(self, path: str, sentence: str) -> None:
        self._failure = sentence
        self.dialog.pages.add_failure(path, sentence)

    def _end(self, end: BatchEnd) -> None:
        """Show the end and the next plan; in the window, too, if the dialog is hidden."""
        dialog, choice = self.dialog, self._choice
        is_done = end.how == "ended" and not self._failure
        sentence = _end_of_file(end, choice, self._failure) if choice.is_file else ""
        sentence = sentence or _end_of_batch(end)
        dialog.show_phase("choosing")
        if choice.is_file and is_done:
            self._plan = None
            dialog.show_plan(None)
            dialog.pages.stages.show_complete()
        else:
            self._show_choice()  # there is a journal now, and other files are there already
        # The plan says what a stopped batch has left.
        self._said = "" if end.how == "stopped" and not choice.is_file else sentence
        dialog.say(sentence)
        if not dialog.isVisible():
            failed = end.counts.get("failed", 0) + end.counts.get("wrong", 0)
            if choice.is_file:
                failed = not is_done and end.how != "stopped"
            kind: Kind = "error" if end.how == "refused" or failed else "info"
            show = ("&Show", dialog.bring_forward)
            self._messages.show_message(kind, sentence, actions=[show])


def _everything_shown(choice: FilterChoice, state: State) -> tuple[list[str], str, str]:
    return words_of(choice, state), filter_in_words(state), note_on(choice, state)


def filter_in_words(state: State) -> str:
    """Format the filter: "Gaussian blur 5×5 · border clamp · Auto"."""
    title = filters.get(state.filter).title
    parts = [f"{title} {state.ksize}×{state.ksize}", f"border {state.border}"]
    if state.pixel_type is not None:
        parts.append(f"as {state.pixel_type}")
    return " · ".join((*parts, implementation_title(state.implementation)))


def _end_of_file(end: BatchEnd, choice: FilterChoice, failure: str) -> str:
    target = Path(choice.target).name
    if end.how == "stopped":
        return KEPT.format(target)
    took = numbers.duration(end.seconds * 1e3)
    return failure or end.complaint or f"Finished after {took}: {target}."


def _end_of_batch(end: BatchEnd) -> str:
    if end.how == "refused":
        return end.complaint
    parts = [f"{end.counts[each]:,} {each}" for each in get_args(Status) if end.counts.get(each)]
    counts = ", ".join(parts) or "none"
    verb = "Finished" if end.how == "ended" else "Stopped"
    return f"{verb} after {numbers.duration(end.seconds * 1e3)}: {counts}."
