"""Undo and redo of the user's changes to the Store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtGui import QAction, QGuiApplication, QUndoStack
from PySide6.QtWidgets import QStatusBar

from workbench.base.background import Background
from workbench.base.plain_text import tip_text
from workbench.model.state import Picture, State, changed_fields
from workbench.session.store import Store
from workbench.widgets.actions import Action, MenuTree
from workbench.widgets.message_bar import MessageBar
from workbench.window.undo.past_pictures import Album, PastPicture
from workbench.window.undo.state_step import Side, StateStep, in_words

MENU, UNDO, REDO = "&Edit", "Undo", "Redo"
NOTE_MS = 5000  # of a note in the status line
MAX_STEPS = 200


class UndoHistory(QObject):
    """Undo stack of the changes in the store.

    A step may need its picture loaded in the background, so the store is changed first and the
    stack moved then.

    background  loads pictures that are to be shown again
    status      shows what was undone
    """

    def __init__(
        self,
        store: Store,
        background: Background,
        messages: MessageBar,
        status: QStatusBar,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._store, self._background = store, background
        self._messages, self._status = messages, status
        self._album = Album()
        self._steps = QUndoStack(self)
        self._steps.setUndoLimit(MAX_STEPS)
        self._lines: dict[str, QAction] = {}
        self._is_quiet = False
        self._newest_request = 0
        store.changed.connect(self._write_down)

    @property
    def undo_words(self) -> str:
        """Words of the step that `undo` takes back; empty: none."""
        return self._steps.undoText()

    @property
    def redo_words(self) -> str:
        """Words of the step that `redo` does again; empty: none."""
        return self._steps.redoText()

    @contextmanager
    def quietly(self) -> Iterator[None]:
        """Keep changes made inside out of the history: not the user's, or taken back at once."""
        before, self._is_quiet = self._is_quiet, True
        try:
            yield
        finally:
            self._is_quiet = before

    @Slot()
    def undo(self) -> None:
        """Take back the last step."""
        step = self._step(self._steps.index() - 1)
        if step is not None:
            words = in_words(step.after, step.before)
            self._apply(step.before, self._steps.undo, f"Undone: {words}")

    @Slot()
    def redo(self) -> None:
        """Do again the step that was taken back last."""
        step = self._step(self._steps.index())
        if step is not None:
            self._apply(step.after, self._steps.redo, f"Redone: {step.text()}")

    def forget(self) -> None:
        """Forget all steps, so that there is nothing to undo."""
        self._steps.clear()
        self._album.forget()

    def actions(self) -> list[Action]:
        """Return the lines of the menu."""
        return [
            Action(MENU, f"&{UNDO}", self.undo, ("Ctrl+Z",), "Take back the last setting."),
            Action(
                *(MENU, f"&{REDO}", self.redo, ("Ctrl+Shift+Z", "Ctrl+Y")),
                "Set again what was taken back.",
            ),
        ]

    def fill(self, tree: MenuTree) -> None:
        """Have the lines say what they would do, and grey those that would do nothing."""
        self._lines = {name: tree.action(name) for name in (UNDO, REDO)}
        for changed in (self._steps.undoTextChanged, self._steps.redoTextChanged):
            changed.connect(self._show_words)
        self._show_words()

    @Slot()
    def _show_words(self) -> None:
        for name, words in ((UNDO, self.undo_words), (REDO, self.redo_words)):
            action = self._lines[name]
            action.setText(f"&{name} {words.replace('&', '&&')}".strip())
            action.setToolTip(tip_text(f"{name} {words}".strip()))
            action.setEnabled(bool(words))

    # -- following

    @Slot(object, object)
    def _write_down(self, old: State, new: State) -> None:
        self._newest_request += 1  # a picture that is still being loaded comes too late
        if self._is_quiet or _is_nobodys(old, new):
            return
        names = changed_fields(old, new)
        if names == ["chosen_implementation"]:
            return  # it was in use already: there is nothing to see
        is_held = QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton
        before, after = self._side(old, names), self._side(new, names)
        self._steps.push(StateStep(before, after, monotonic(), is_held=is_held))

    def _step(self, index: int) -> StateStep | None:
        if not 0 <= index < self._steps.count():
            return None
        step = self._steps.command(index)
        assert isinstance(step, StateStep)
        return step

    def _close_step(self) -> None:
        """Keep the next change out of the step that is now the last."""
        if (last := self._step(self._steps.index() - 1)) is not None:
            last.is_closed = True

    def _side(self, state: State, names: list[str]) -> dict[str, Any]:
        return {name: self._kept(getattr(state, name)) for name in names}

    def _kept(self, value: Any) -> Any:
        return self._album.keep(value) if isinstance(value, Picture) else value

    def _apply(self, side: Side, done: Callable[[], None], note: str) -> None:
        """Set the fields in `side`, after its picture, if there is one, was loaded."""
        self._newest_request += 1
        request, changes, picture = self._newest_request, dict(side), side.get("picture")
        if not isinstance(picture, PastPicture):
            self._change(changes, done, note)
            return
        pixel_type = changes.get("pixel_type", self._store.state.pixel_type)

        def show(found: Picture) -> None:
            if request == self._newest_request:
                self._change({**changes, "picture": found}, done, note)

        self._background.run(
            lambda: picture.load().stored_as(pixel_type),
            show,
            lambda error: self._messages.show_message("error", str(error)),
        )

    def _change(self, changes: dict[str, Any], done: Callable[[], None], note: str) -> None:
        self._messages.outdate()  # it spoke of what is no more
        with self.quietly():
            self._store.update(**changes)
        done()
        self._close_step()
        self._status.showMessage(note, NOTE_MS)


def _is_nobodys(old: State, new: State) -> bool:
    """Return whether the picture changed without the user's doing.

    That is so for the first picture, and for the same one stored in another pixel type.
    """
    if old.picture is new.picture:
        return False
    if old.picture is None or new.picture is None:
        return True
    return old.picture.as_in_file is new.picture.as_in_file
