"""The link between what is set, the dialog about a file, and the process that filters into it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from workbench.base import numbers
from workbench.base.background import Background
from workbench.base.memory import memory_available_bytes
from workbench.batch.unfinished import is_begun
from workbench.model.intents import is_unclipped
from workbench.model.state import Picture
from workbench.session.batch_process import BatchEnd, BatchProcess
from workbench.session.store import Store
from workbench.widgets.message_bar import Kind, MessageBar
from workbench.window.copying.command_line import device_options, in_shell, words_of
from workbench.window.folder.folder_choice import KEPT
from workbench.window.folder.folder_filter import filter_in_words
from workbench.window.to_file.file_dialog import FileDialog

TIFF_TYPES = "TIFF (*.tif *.tiff)"
MIN_BYTES, MAX_BYTES = 64 << 20, 2 << 30  # that it may take, half of what is free between these
BEGINNING, RESUMING = "Reading the first strip…", "Resuming where it was stopped…"
STOPPING = "Stopping after the strip that is under way…"
STOPPED = "Stopped. What is finished is kept in {}.part, and Resume does the rest."


class FileFilter(QObject):
    """A service that has a dialog, and filters one picture at a time into a file.

    ask_path  asks for the file, as `SaveMenu.ask_path`
    parent    of the dialog
    """

    def __init__(
        self,
        store: Store,
        ask_path: Callable[[str, str], Path | None],
        messages: MessageBar,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._store, self._ask_path, self._messages = store, ask_path, messages
        self._words: list[str] = []
        self._target = Path()
        self._failure = ""
        self._is_looking = False
        self._looking = Background((OSError,), self)
        self._looking.broke.connect(messages.show_bug)
        self.dialog = FileDialog(parent)
        self._process = BatchProcess(self)
        self._process.broke.connect(messages.show_bug)
        self._process.ended.connect(self._end)
        self._process.strips_done.connect(lambda _path, *rows: self.dialog.show_rows(*rows))
        self._process.picture_failed.connect(self._take_failure)
        buttons = self.dialog.buttons
        buttons.start_wanted.connect(self._look)
        buttons.pause_wanted.connect(self._rest)
        buttons.resume_wanted.connect(self._continue)
        buttons.stop_wanted.connect(self._stop)
        self.dialog.copy_wanted.connect(self._copy)

    @property
    def is_running(self) -> bool:
        """Return whether a picture is being filtered, or is about to be."""
        return self._is_looking or self._process.is_running

    def open(self) -> None:
        """Ask for a file, and filter into it what is set now; show what runs already."""
        picture = self._store.state.picture
        if self.is_running or picture is None or picture.path is None:
            self.dialog.bring_forward()
            return
        if (target := self._asked(picture)) is not None:
            self._target = target
            self._show_task(picture)
            self._look()

    def close(self) -> None:
        """Stop what runs, which can be resumed, and wait for all threads."""
        self._process.close()
        self._looking.close()

    def _asked(self, picture: Picture) -> Path | None:
        assert picture.path is not None
        return self._ask_path(f"{picture.path.stem}-filtered.tif", TIFF_TYPES)

    def _show_task(self, picture: Picture) -> None:
        state = self._store.state
        self._words = words_of(state, str(self._target)) + device_options(sys.argv[1:])
        size = "" if picture.large is None else f", {picture.large.size_in_words}"
        self.dialog.show_task(
            filter_in_words(state),
            f"{picture.name}{size} → {self._target.name}",
            KEPT if is_unclipped(state) else "",
            in_shell(self._words),
        )

    # -- what runs

    def _look(self) -> None:
        """Find out, off this thread, what is there already and how much memory; then begin."""
        target = self._target
        self._is_looking = True
        self.dialog.show_phase("running")
        self.dialog.say(BEGINNING)
        self.dialog.bring_forward()
        self._looking.run(
            lambda: (is_begun(target), memory_available_bytes()),
            lambda found: self._start(*found),
            lambda error: self._refuse(str(error)),
            lambda: self._refuse(""),
        )

    def _start(self, is_begun_already: bool, free_bytes: int) -> None:
        self._is_looking, self._failure = False, ""
        allowed = min(max(free_bytes // 2, MIN_BYTES), MAX_BYTES)
        if is_begun_already:
            self.dialog.say(RESUMING)
        self._process.start([*self._words, "--memory", f"{allowed >> 20}M"])

    def _refuse(self, sentence: str) -> None:
        self._is_looking = False
        self.dialog.show_phase("choosing")
        self.dialog.say(sentence)

    def _rest(self) -> None:
        self._process.pause()
        self.dialog.say("Paused.")
        self.dialog.show_phase("paused")

    def _continue(self) -> None:
        self._process.resume()
        self.dialog.say("")
        self.dialog.show_phase("running")

    def _stop(self) -> None:
        self._process.stop()
        self.dialog.say(STOPPING)
        self.dialog.show_phase("stopping")

    def _take_failure(self, _path: str, sentence: str) -> None:
        self._failure = sentence

    def _end(self, end: BatchEnd) -> None:
        """Show the end, and what can be done next; say it in the window if nobody looks here."""
        dialog, is_done = self.dialog, end.how == "ended" and not self._failure
        if is_done:
            took = numbers.duration(end.seconds * 1e3)
            dialog.show_rows(1, 1, 0.0)
            sentence = f"Finished after {took}: {self._target.name}."
        elif end.how == "stopped":
            sentence = STOPPED.format(self._target.name)
        else:
            sentence = self._failure or end.complaint
        dialog.show_phase("choosing", can_resume=not is_done)
        dialog.say(sentence)
        if not dialog.isVisible():
            kind: Kind = "info" if is_done or end.how == "stopped" else "error"
            show = ("&Show", dialog.bring_forward)
            self._messages.show_message(kind, sentence, actions=[show])

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(in_shell(self._words))
        self.dialog.say("Copied the command.")
