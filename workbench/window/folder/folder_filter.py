"""The link between what the window has set, the dialog about a folder, and a batch's process."""

from __future__ import annotations

import sys
from typing import get_args

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from workbench.base import numbers
from workbench.base.background import Background
from workbench.base.settings import Settings
from workbench.batch.filtering import Status
from workbench.batch.journal import JournalError
from workbench.batch.naming import PairingError
from workbench.model.names import implementation_title
from workbench.model.state import State
from workbench.session.batch_process import BatchEnd, BatchProcess
from workbench.session.opener import Opener
from workbench.session.store import Store
from workbench.widgets.message_bar import Kind, MessageBar
from workbench.window.copying.command_line import device_options, in_shell
from workbench.window.folder.folder_choice import (
    FolderChoice,
    FolderPlan,
    note_on,
    plan_of,
    words_of,
)
from workbench.window.folder.folder_dialog import FolderDialog

SETTING = "filter-folder"  # under which the choices are remembered
PAUSE_MS = 150  # in typing, after which names are looked for anew
NOT_CHOSEN = "Choose a folder of pictures, and one for the results."
LOOKING = "Looking for pictures…"
NOT_LOOKED = "Something went wrong while looking for pictures; change something to look again."
STOPPING = "Stopping after the pictures that are under way…"


class FolderFilter(QObject):
    """A service that has a dialog, and one batch at a time.

    settings  remember the folders and names
    parent    of the dialog
    """

    def __init__(
        self,
        store: Store,
        opener: Opener,
        settings: Settings,
        messages: MessageBar,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._store, self._opener, self._settings = store, opener, settings
        self._messages, self._parent = messages, parent
        self._plan: FolderPlan | None = None
        self._asked = 0  # how often a plan was asked for: the answer to the newest counts
        self._is_looking = False
        self._said = ""  # of the last batch, until something else is chosen
        self._is_behind = False  # what is set has changed while nobody looked here
        self._looking = Background((PairingError, JournalError), self)
        self._looking.broke.connect(messages.show_bug)
        self._process = BatchProcess(self)
        self._process.broke.connect(messages.show_bug)
        self._process.ended.connect(self._end)
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(self._look)
        self.dialog = self._made()
        self._show_choice()
        store.changed.connect(self._follow)

    @property
    def is_settled(self) -> bool:
        """Return whether no names are being looked for and no batch runs."""
        return not self._is_looking and not self._process.is_running

    def open(self) -> None:
        """Show the dialog, as it was left or with the folders of the last time."""
        if self._is_behind and not self._process.is_running:
            self._show_choice()
        self.dialog.bring_forward()

    def show_devices(self, count: int) -> None:
        """Offer a choice among so many GPUs."""
        self.dialog.form.show_devices(count)
        if not self._process.is_running:
            self._show_choice()

    def close(self) -> None:
        """Stop what runs, which can be resumed, and wait for all threads."""
        self._pause.stop()
        self._process.close()
        self._looking.close()
        self.dialog.pages.close_threads()

    def _made(self) -> FolderDialog:
        dialog = FolderDialog(self._parent)
        dialog.form.show_choice(FolderChoice.from_data(self._settings.get(SETTING, {})))
        dialog.form.chosen.connect(self._remember)
        dialog.start_wanted.connect(self._start)
        dialog.pause_wanted.connect(self._rest)
        dialog.resume_wanted.connect(self._resume)
        dialog.stop_wanted.connect(self._stop)
        dialog.copy_wanted.connect(self._copy)
        dialog.pages.picture_wanted.connect(self._opener.open_file)
        dialog.pages.broke.connect(self._messages.show_bug)
        self._process.progressed.connect(dialog.pages.show_progress)
        self._process.strips_done.connect(dialog.pages.show_strips)
        self._process.picture_failed.connect(dialog.pages.add_failure)
        return dialog

    # -- what is chosen

    def _remember(self, choice: FolderChoice) -> None:
        self._settings.set(SETTING, choice.as_data)
        self._show_choice()

    def _follow(self, old: State, new: State) -> None:
        """Show what is asked for now, if that is something else; look at no disk for nobody."""
        choice = self.dialog.form.choice
        if asked_in_words(choice, old) == asked_in_words(choice, new):
            return
        if self.dialog.isVisible() and not self._process.is_running:
            self._show_choice()
        else:
            self._is_behind = True

    def _show_choice(self) -> None:
        """Show what would be done with it, and soon what names that makes."""
        dialog, state = self.dialog, self._store.state
        choice = dialog.form.choice
        dialog.show_filter(filter_in_words(state), note_on(choice, state))
        dialog.show_command(in_shell(self._words(resume=False)))
        self._asked += 1
        self._is_behind = False
        self._plan, self._said = None, ""
        self._is_looking = choice.is_whole
        dialog.show_plan(None, LOOKING if choice.is_whole else NOT_CHOSEN)
        if choice.is_whole:
            self._pause.start()
        else:
            self._pause.stop()

    def _look(self) -> None:
        """Find out what would be done, off this thread."""
        asked, choice, state = self._asked, self.dialog.form.choice, self._store.state

        def show(plan: FolderPlan | None, sentence: str = "") -> None:
            if asked == self._asked and not self._process.is_running:
                self._plan, self._is_looking = plan, False
                self.dialog.show_plan(plan, self._said or sentence)
                self.dialog.show_command(in_shell(self._words(resume=self._resumes)))

        self._looking.run(
            lambda: plan_of(choice, state),
            show,
            lambda error: show(None, str(error)),
            lambda: show(None, NOT_LOOKED),
        )

    def _words(self, *, resume: bool) -> list[str]:
        choice = self.dialog.form.choice
        words = words_of(choice, self._store.state, resume=resume)
        return words if choice.devices else words + device_options(sys.argv[1:])

    @property
    def _resumes(self) -> bool:
        return self._plan is not None and self._plan.known is not None

    # -- what runs

    def _start(self) -> None:
        if self._plan is None or self._process.is_running:
            return
        words = self._words(resume=self._resumes)
        self.dialog.pages.begin()
        self.dialog.say("")
        self.dialog.show_phase("running")
        self._process.start(words)

    def _rest(self) -> None:
        self._process.pause()
        self.dialog.say("Paused.")
        self.dialog.show_phase("paused")

    def _resume(self) -> None:
        self._process.resume()
        self.dialog.say("")
        self.dialog.show_phase("running")

    def _stop(self) -> None:
        self._process.stop()
        self.dialog.say(STOPPING)
        self.dialog.show_phase("stopping")

    def _end(self, end: BatchEnd) -> None:
        """Show the end, and what can be done next; say it in the window if nobody looks here."""
        sentence = end_in_words(end)
        dialog = self.dialog
        dialog.pages.show_end()
        dialog.show_phase("choosing")
        self._show_choice()  # there is a journal now, and other files are there already
        self._said = "" if end.how == "stopped" else sentence  # else the plan says what is left
        dialog.say(sentence)
        if not dialog.isVisible():
            kind: Kind = "error" if end.how == "refused" or failed_of(end) else "info"
            self._messages.show_message(kind, sentence, actions=[("&Show", self.open)])

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(in_shell(self._words(resume=self._resumes)))
        self.dialog.say("Copied the command.")


def asked_in_words(choice: FolderChoice, state: State) -> tuple[list[str], str, str]:
    """Return the command's words, and the two sentences above the choice: all that is shown."""
    return words_of(choice, state), filter_in_words(state), note_on(choice, state)


def filter_in_words(state: State) -> str:
    """Return what every picture is filtered with: "Gaussian blur 5×5 · border clamp · Auto"."""
    from kernels import filters

    title = filters.get(state.filter).title
    parts = [f"{title} {state.ksize}×{state.ksize}", f"border {state.border}"]
    if state.pixel_type is not None:
        parts.append(f"as {state.pixel_type}")
    return " · ".join((*parts, implementation_title(state.implementation)))


def failed_of(end: BatchEnd) -> int:
    """Return how many pictures have no result."""
    return end.counts.get("failed", 0) + end.counts.get("wrong", 0)


def end_in_words(end: BatchEnd) -> str:
    """Return what became of a batch, in a sentence."""
    if end.how == "refused":
        return end.complaint
    parts = [f"{end.counts[each]:,} {each}" for each in get_args(Status) if end.counts.get(each)]
    counts = ", ".join(parts) or "none"
    verb = "Finished" if end.how == "ended" else "Stopped"
    return f"{verb} after {numbers.duration(end.seconds * 1e3)}: {counts}."
