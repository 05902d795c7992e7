"""The picture and the pinned results of a screenshot that was dropped onto the window."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from PySide6.QtCore import QObject, Qt, Slot

from kernels.rungs.own_kernels import is_own
from workbench.files.picture_refs import PictureRef
from workbench.model import choices, intents
from workbench.panels.compare.inspection import Inspection
from workbench.panels.compare.pins import MAX_PINS
from workbench.session.kernel_folder import KernelFolder
from workbench.session.live import Live
from workbench.session.opener import Opener
from workbench.session.store import Store
from workbench.session.worker import Worker
from workbench.widgets.message_bar import MessageBar
from workbench.window.restoring.remembering import PinNotes
from workbench.window.undo.undo_history import UndoHistory

NO_PIN = "A pinned result is not restored: {reason}"


class ScreenshotRestore(QObject):
    """Opens the picture of a screenshot, then makes its pinned results anew, one by one.

    The present choices, which came with the screenshot, are there again at the end.
    """

    def __init__(
        self,
        store: Store,
        worker: Worker,
        live: Live,
        opener: Opener,
        kernels: KernelFolder,
        inspection: Inspection,
        pin_notes: PinNotes,
        undo_history: UndoHistory,
        messages: MessageBar,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._store, self._worker, self._live, self._opener = store, worker, live, opener
        self._kernels, self._inspection, self._pin_notes = kernels, inspection, pin_notes
        self._undo_history, self._messages = undo_history, messages
        self._steps: Iterator[None] = iter(())
        self._lost: list[str] = []  # a sentence for each pin that cannot be what it was
        self._is_hopeless = False  # what a step waits for will not come
        queued = Qt.ConnectionType.QueuedConnection  # never during a step
        live.settled.connect(self._continue, queued)
        live.refused.connect(self._give_up, queued)
        opener.failed.connect(self._give_up, queued)

    def start(self, kept: dict[str, Any]) -> None:
        """Begin with what a screenshot holds, in place of another one under way."""
        self._lost = []
        self._steps = self._all_steps(kept)
        self._continue()

    def _all_steps(self, kept: dict[str, Any]) -> Iterator[None]:
        """Do one step after another; at a `yield` wait for a result."""
        store, inspection = self._store, self._inspection
        wanted = choices.from_data(choices.to_data(store.state), store.state)
        yield from self._open_picture(PictureRef.from_data(kept.get("picture")))
        pins = kept.get("pins")
        for data in pins[:MAX_PINS] if isinstance(pins, list) else ():
            if isinstance(data, dict) and not self._is_pinned(data):
                yield from self._pin(data)
        self._restore_choices(wanted)
        against = kept.get("against")
        if isinstance(against, int) and 0 < against <= len(inspection.pins):
            inspection.set_against(against)
        if self._lost:
            self._messages.show_message("warning", " ".join(self._lost))

    def _open_picture(self, ref: PictureRef | None) -> Iterator[None]:
        opener, before = self._opener, self._store.state.picture
        if ref is not None and ref.path is not None:
            opener.open_file(ref.path)
        elif ref is not None and ref.built_in is not None:
            opener.open_built_in(ref.built_in)
        else:
            opener.open_start_picture()
        yield from self._until(lambda: self._store.state.picture is not before)
        yield from self._until(self._is_answered)

    def _pin(self, data: dict[str, Any]) -> Iterator[None]:
        changes = choices.from_data(data, self._store.state)
        changes.pop("view_mode", None)
        if reason := self._why_no_kernel(changes.get("implementation", ""), data):
            self._lost.append(NO_PIN.format(reason=reason))
            return
        with self._undo_history.quietly():
            self._store.update(**changes)
        yield from self._until(self._is_answered)
        # The window's own pins of this picture may have come back meanwhile.
        if self._is_answered() and not self._is_pinned(data):
            self._inspection.pin()

    def _is_pinned(self, data: dict[str, Any]) -> bool:
        """Check for the same pin in the window, or for no room left."""
        there = json.loads(json.dumps(self._pin_notes.choices()))
        return data in there or len(self._inspection.pins) == MAX_PINS

    def _why_no_kernel(self, name: str, data: dict[str, Any]) -> str | None:
        """Reason why a user kernel is not the one that was pinned; None where it is."""
        if not is_own(name):
            return None
        text_sha256 = data.get(choices.TEXT)
        if isinstance(text_sha256, str) and text_sha256:
            return self._kernels.why_another(name, text_sha256)
        return self._kernels.why_gone(name)

    def _restore_choices(self, wanted: intents.Changes) -> None:
        changes, state = dict(wanted), self._store.state
        if (device := self._worker.device) is not None:
            changes["implementation"] = intents.implementation_for(state, device)
        with self._undo_history.quietly():
            self._store.update(**changes)

    # -- waiting

    def _until(self, is_so: Callable[[], bool]) -> Iterator[None]:
        self._is_hopeless = False
        while not is_so() and not self._is_hopeless:
            yield

    def _is_answered(self) -> bool:
        """Check that the newest result is one of the present choices."""
        result = self._live.result
        return result is not None and intents.is_answer(result, self._store.state)

    @Slot()
    def _continue(self) -> None:
        next(self._steps, None)

    @Slot()
    def _give_up(self) -> None:
        """Stop waiting for a result; the window says why there is none."""
        self._is_hopeless = True
        self._continue()
