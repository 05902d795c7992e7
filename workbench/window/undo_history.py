"""Undo and redo of the user's changes to the Store."""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from time import monotonic
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication, QUndoCommand, QUndoStack
from PySide6.QtWidgets import QStatusBar

from workbench.base.background import Background
from workbench.files.image_files import PictureRef
from workbench.files.picture_errors import ImageFileError
from workbench.imaging.pictures import Picture
from workbench.model.intents import step_in_words
from workbench.model.names import filter_title, implementation_title
from workbench.model.state import FACTS, State, Step, changed_fields
from workbench.model.step_files import select
from workbench.session.store import Store
from workbench.widgets.actions import Action, Actions
from workbench.widgets.message_bar import MessageBar

MAX_BYTES = 256 << 20


@dataclass(frozen=True, slots=True, eq=False)
class PastPicture:
    """A picture that a step leads back to, held weakly."""

    ref: PictureRef
    weak: weakref.ref[Picture] = field(repr=False)

    def load(self) -> Picture:
        """The same Picture while somebody holds it, else loaded again.  Raises ImageFileError."""
        picture = self.weak()
        if picture is None and not self.ref.can_load:
            raise ImageFileError(
                f"{self.ref.name} came from no file and is no longer kept, so it stays as it is."
            )
        return self.ref.load() if picture is None else picture


class Album:
    """A maker of PastPictures that holds those that cannot be loaded again, up to MAX_BYTES."""

    def __init__(self) -> None:
        self._held: list[Picture] = []  # the newest last

    def keep(self, picture: Picture) -> PastPicture:
        """Make a PastPicture, and hold its picture if that cannot be loaded again."""
        ref = PictureRef.of(picture)
        if not ref.can_load and picture.nbytes <= MAX_BYTES:
            self._held = [*(each for each in self._held if each is not picture), picture]
            while sum(each.nbytes for each in self._held) > MAX_BYTES:
                self._held.pop(0)
        return PastPicture(ref, weakref.ref(picture))

    def forget(self) -> None:
        """Let go of all pictures."""
        self._held.clear()


TOGETHER_S = 1.0  # changes of one number within this time are one step
GRADUAL = frozenset(name for name, facts in FACTS.items() if facts.is_gradual)
MAX_LETTERS = 24
NAMED = 2  # fields named in the words at most
GRADUAL_ID, NO_ID = 1, -1
SELECTED = frozenset(("before", "after", *(each.name for each in fields(Step))))
OF_LIST = SELECTED | {"compared", "result_levels"}  # fields that an edit of the list changes

Side = Mapping[str, Any]  # fields of the State


class StateStep(QUndoCommand):
    """A change of the State, which the store has made already; it applies nothing itself.

    A change of the same gradual fields soon after the last one, or while a mouse button is held,
    is merged with it.

    at_s      when it was made, by any clock
    selected  number of the selected step before and after it, as selecting another is no change
    """

    def __init__(
        self,
        before: Side,
        after: Side,
        at_s: float,
        *,
        is_held: bool = False,
        selected: tuple[int, int] = (0, 0),
    ) -> None:
        super().__init__(in_words(before, after))
        self.before, self.after, self.selected = before, after, selected
        self.at_s, self.is_held = at_s, is_held
        self.is_closed = False  # nothing is merged with it any more

    def id(self) -> int:
        """Id of mergeable steps; -1 keeps others apart."""
        return GRADUAL_ID if self.before.keys() <= GRADUAL else NO_ID

    def mergeWith(self, other: QUndoCommand) -> bool:  # noqa: N802
        """Take a later change of the same number into this step."""
        assert isinstance(other, StateStep)
        is_soon = other.at_s - self.at_s < TOGETHER_S or other.is_held
        if self.is_closed or not is_soon or other.before.keys() != self.before.keys():
            return False
        self.after, self.at_s = other.after, other.at_s
        self.setText(in_words(self.before, self.after))
        self.setObsolete(self.before == self.after)
        return True


def in_words(before: Side, after: Side) -> str:
    """Format a change: "kernel size 5 → 7"."""
    if after.get("reference") is not None and "picture" in after:
        return f"comparison with {_value('picture', after['picture'])}"
    names = [name for name in FACTS if name in before]
    if {"before", "after"} & before.keys():  # whatever else there is, is of the selected step
        names = ["picture" if "picture" in before else "before"]
    first = names[0]
    labels = [FACTS[name].label for name in names if first not in FACTS[name].comes_with]
    if len(labels) > 1:
        return " and ".join(labels) if len(labels) <= NAMED else f"{len(labels)} settings"
    if FACTS[first].is_wordless:
        return labels[0]
    old, new = (_value(first, side[first]) for side in (before, after))
    return f"{labels[0]} {old} → {new}"


def _value(name: str, value: Any) -> str:
    if isinstance(value, PastPicture):
        value, half = value.ref, MAX_LETTERS // 2
        value = f"page {value.page:,}" if value.page > 1 else value.name
        return value if len(value) <= MAX_LETTERS else f"{value[:half]}…{value[-half:]}"
    match name:
        case "filter":
            return filter_title(value)
        case "implementation" | "baseline":
            return "Auto" if value == "auto" else implementation_title(value)
        case "block_xy":
            return f"{value[0]}×{value[1]}"
        case "whole":
            return str(value).removeprefix("list_")
        case "pixel_type" if value is None:
            return "as in the file"
    if isinstance(value, bool):
        return "on" if value else "off"
    if value is None:
        return "auto"
    return f"{value:g}" if isinstance(value, float) else str(value)


NOTE_MS = 5000  # of a note in the status line
MAX_STEPS = 200


class UndoHistory(QObject):
    """Undo stack of the changes in the store.

    A step may need its picture loaded in the background, so the store is changed first and the
    stack moved then.

    background  loads pictures that are to be shown again
    status      shows what was undone
    """

    moved = Signal()  # there is something else to undo or to redo

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
        self._steps = QUndoStack(self, undoLimit=MAX_STEPS)
        self._is_quiet, self._note = False, ""
        self._newest_request = 0
        self._is_loading = False  # a picture that an undone step leads back to
        self._waiting: list[Callable[[], None]] = []  # what was asked for meanwhile
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
        """Keep changes made inside out of the history."""
        before, self._is_quiet = self._is_quiet, True
        try:
            yield
        finally:
            self._is_quiet = before

    def undo(self) -> None:
        if self._is_loading:
            self._waiting.append(self.undo)
            return
        step = self._step(self._steps.index() - 1)
        if step is not None:
            words = in_words(step.after, step.before) if "→" in step.text() else step.text()
            self._apply(step.before, step.selected[1], self._steps.undo, f"Undone: {words}")

    def redo(self) -> None:
        if self._is_loading:
            self._waiting.append(self.redo)
            return
        step = self._step(self._steps.index())
        if step is not None:
            self._apply(step.after, step.selected[0], self._steps.redo, f"Redone: {step.text()}")

    def forget(self) -> None:
        """Forget all steps, so that there is nothing to undo."""
        self._steps.clear()
        self._album.forget()
        self.moved.emit()

    def actions(self) -> Actions:
        """Lines of the menu Edit, which say what they would do."""

        def action(verb: str, do: Callable[[], None], words: Callable[[], str]) -> Action:
            return Action(
                do,
                lambda: "" if words() else f"There is nothing to {verb.lower()}.",
                lambda: f"&{verb} {words().replace('&', '&&')}".strip(),
            )

        return {
            "Undo": action("Undo", self.undo, lambda: self.undo_words),
            "Redo": action("Redo", self.redo, lambda: self.redo_words),
        }

    @Slot(object, object)
    def _write_down(self, old: State, new: State) -> None:
        self._newest_request += 1  # a picture that is still being loaded comes too late
        self._waiting *= self._is_quiet
        if self._is_quiet or _is_not_chosen(old, new):
            return
        if self._status.currentMessage() == self._note:
            self._status.clearMessage()  # something else is done since
        names = changed_fields(old, new)
        if old.steps == new.steps and "before" in names and SELECTED.issuperset(names):
            self._close()
            return
        ref = PictureRef.of(new.picture) if new.picture is not None else None
        if "picture" in names and ref and ref.can_load and ref.is_of(old.picture):
            names.remove("picture")  # it was opened again
        if names in ([], ["chosen_implementation"]):
            return  # it was in use already: there is nothing to see
        is_held = QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton
        before, after = self._side(old, names), self._side(new, names)
        selected = len(old.before), len(new.before)
        step = StateStep(before, after, monotonic(), is_held=is_held, selected=selected)
        if OF_LIST.issuperset(names) and (words := _edit_in_words(old, new)):
            step.setText(words)
        self._steps.push(step)
        self.moved.emit()

    def _step(self, index: int) -> StateStep | None:
        step = self._steps.command(index) if 0 <= index < self._steps.count() else None
        return step if isinstance(step, StateStep) else None

    def _side(self, state: State, names: list[str]) -> dict[str, Any]:
        values = {name: getattr(state, name) for name in names}
        keep = self._album.keep
        return {n: keep(v) if isinstance(v, Picture) else v for n, v in values.items()}

    def _close(self) -> None:
        if (last := self._step(self._steps.index() - 1)) is not None:
            last.is_closed = True  # the next change is a step of its own

    def _apply(self, side: Side, number: int, done: Callable[[], None], note: str) -> None:
        """Set the fields in `side`, after its pictures, if there are any, were loaded.

        number  of the step that those of one step are of
        """
        self._newest_request += 1
        request, changes = self._newest_request, dict(side)
        past = {name: each for name, each in side.items() if isinstance(each, PastPicture)}
        if not past:
            self._change(changes, number, done, note)
            return
        pixel_type = changes.get("pixel_type", self._store.state.pixel_type)

        def load() -> dict[str, Picture]:
            return {name: each.load().stored_as(pixel_type) for name, each in past.items()}

        def show(found: dict[str, Picture]) -> None:
            self._is_loading = False
            if request == self._newest_request:
                self._change(changes | found, number, done, note)
            while self._waiting and not self._is_loading:  # only those of pictures take time
                self._waiting.pop(0)()

        def end() -> None:
            self._is_loading = False
            self._waiting.clear()

        def refuse(error: Exception) -> None:
            end()
            self._messages.show_error(error)

        self._is_loading = True
        self._background.run(load, show, refuse, end)

    def _change(
        self, changes: dict[str, Any], number: int, done: Callable[[], None], note: str
    ) -> None:
        self._messages.outdate()  # its subject is gone
        state = self._store.state
        if number != len(state.before) and not OF_LIST.isdisjoint(changes):
            changes = select(state.steps, number) | changes
        with self.quietly():
            self._store.update(**changes)
        done()
        self._close()
        self.moved.emit()
        self._note = note
        self._status.showMessage(note, NOTE_MS)


def _edit_in_words(old: State, new: State) -> str:
    """Format an edit of the list of steps: "move Edges 3×3"; empty: it is none, or several."""
    was, now = ([step_in_words(step) for step in each.steps] for each in (old, new))
    edits = [f"remove {each}" for each in Counter(was) - Counter(now)]
    edits += [f"add {each}" for each in Counter(now) - Counter(was)]
    selected = now[len(new.before)]
    if was == now:
        turned = zip(now, old.steps, new.steps, strict=True)
        edits = [f"turn {e} {('off', 'on')[b.is_on]}" for e, a, b in turned if a.is_on != b.is_on]
        if not edits and len(old.before) != len(new.before):
            edits = [f"select {selected}"]
    elif not edits:  # of two that changed places the selected one was moved
        moved = (
            e for e in (selected, *now) if [*filter(e.__ne__, was)] == [*filter(e.__ne__, now)]
        )
        edits = [f"move {each}" for each in moved][:1]
    return edits[0] if len(edits) == 1 else ""


def _is_not_chosen(old: State, new: State) -> bool:
    """True for the first picture, and for the same one in another pixel type."""
    if old.picture is new.picture:
        return False
    if old.picture is None or new.picture is None:
        return True
    return old.picture.as_in_file is new.picture.as_in_file
