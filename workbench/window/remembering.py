"""Settings that outlive the window, and the picture and pins of a screenshot."""

from __future__ import annotations

import json
import os
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from numpy.typing import NDArray
from PySide6.QtCore import QObject, Qt, Slot

from kernels.core.job import Result
from kernels.rungs.own_kernels import is_own, text_hash
from workbench.base.background import Background
from workbench.files.picture_refs import PictureRef
from workbench.model import choices, intents
from workbench.model.state import State
from workbench.panels.compare.inspection import Inspection
from workbench.panels.compare.pins import MAX_PINS, Pin
from workbench.session.live import Live
from workbench.session.store import Store
from workbench.window.window_parts import Parts

FOLDERS = {
    "folder": "where the last picture was",
    "save-folder": "where the last one was saved",
    "kodak-folder": "which had the Kodak pictures",
}
TOLD_GONE = "told-gone-folders"  # the setting with those that it was said of


class Memory:
    """A keeper of the settings: it collects them, saves them, and resets them."""

    def __init__(self, parts: Parts, inspection: Inspection) -> None:
        self._store, self._worker, self._inspection = parts.store, parts.worker, inspection
        self._docks, self._layout, self._settings = parts.docks, parts.layout, parts.settings
        self.pin_notes = PinNotes(parts.live, parts.store, inspection)

    def for_screenshot(self) -> dict[str, Any]:
        """Return what a screenshot keeps: the choices, and the key of a built-in picture.

        Of a kernel of the user's own also what tells its text from the one that its file has then.
        """
        picture = self._store.state.picture
        built_in = picture.built_in if picture else None
        kept = {**choices.to_data(self._store.state), "built_in": built_in}
        own = intents.own_text(self._store.state)
        return {**kept, choices.TEXT: text_hash(own)} if own else kept

    def for_window_screenshot(self) -> dict[str, Any]:
        """Return what a screenshot of the window keeps besides: where its picture is, its pins."""
        picture = self._store.state.picture
        ref = PictureRef.of(picture) if picture is not None else None
        return {
            **self.for_screenshot(),
            "picture": ref.to_data() if ref is not None else None,
            "pins": self.pin_notes.choices(),
            "against": self._inspection.against,
        }

    def for_settings(self) -> dict[str, Any]:
        """Return all that the next start takes up, by names in the settings."""
        return {
            **self._settings.values(),
            "choices": choices.to_settings(self._store.state),
            **self._docks.choices(),
            **self._layout.choices(),
        }

    def take_up_layout(self) -> None:
        """Arrange the panels and the window as in the settings."""
        self._docks.restore(self._settings.get)
        self._layout.restore(self._settings.get)

    def save(self) -> str:
        """Write down all settings; return why that failed, or ""."""
        for name, value in self.for_settings().items():
            self._settings.set(name, value)
        return self._settings.save()

    def look_for_folders(self, background: Background, say: Callable[[str], None]) -> None:
        """Say once which folders are gone; looking may take a while.

        They stay remembered: a disk that is not mounted now may be another time.
        """
        kept = {name: folder for name in FOLDERS if (folder := self._settings.get(name, ""))}
        told = self._settings.get(TOLD_GONE, [])

        def tell(gone: list[str]) -> None:
            for name in gone:
                if kept[name] not in told:
                    say(f"The folder {kept[name]}, {FOLDERS[name]}, is not there any more.")
            self._settings.set(TOLD_GONE, [kept[name] for name in gone])

        if kept:
            background.run(partial(_gone, kept), tell, lambda _: None)

    def forget(self) -> None:
        """Reset settings, choices and layout to those of a first start; the picture stays."""
        self._settings.forget()
        state, device = self._store.state, self._worker.device
        fresh = State(picture=state.picture, levels=state.levels)
        if device is not None:
            best = intents.implementation_for(fresh, device)
            fresh = replace(fresh, implementation=best)
        self._store.restore(fresh)
        self._inspection.forget()
        self._docks.forget()
        self._layout.forget()


def _gone(folders: Mapping[str, str]) -> list[str]:
    """Return the names of those that are there no longer, or never were."""
    return [name for name, folder in folders.items() if not os.path.isdir(folder)]  # noqa: PTH112 - Path's raises


class PinNotes:
    """A memory of the choices with which each pinned result was made, which a pin does not hold.

    It also knows those of pins that are set aside with their picture, and may come back.
    """

    def __init__(self, live: Live, store: Store, inspection: Inspection) -> None:
        self._live, self._store, self._inspection = live, store, inspection
        self._noted: list[tuple[weakref.ref[NDArray[Any]], dict[str, Any]]] = []  # by its samples
        inspection.pins_changed.connect(self._note)
        self._note()

    def choices(self) -> list[dict[str, Any]]:
        """Return the choices of each pin, in order."""
        found = map(self._choices_of, self._inspection.pins)
        return [data for data in found if data is not None]

    def _choices_of(self, pin: Pin) -> dict[str, Any] | None:
        return next((data for samples, data in self._noted if samples() is pin.samples), None)

    def _note(self) -> None:
        self._noted = [each for each in self._noted if each[0]() is not None]
        result, state = self._live.result, self._store.state
        if result is None:
            return
        for pin in self._inspection.pins:
            is_new = pin.samples is result.picture and self._choices_of(pin) is None
            if is_new and (data := choices_of(result, state)) is not None:
                self._noted.append((weakref.ref(pin.samples), data))


def choices_of(result: Result, state: State) -> dict[str, Any] | None:
    """Return the choices with which `result` was made; `state` may ask for something else by now.

    None: of a gradient that is no longer asked for only the weights are known.
    """
    job, data = result.job, choices.to_data(state)
    data |= {"border": job.border, "implementation": job.implementation, "block_xy": job.block_xy}
    text = {choices.TEXT: text_hash(job.own)} if job.own else {}
    if intents.is_answer(result, replace(state, **data)):
        return data | text
    if job.gradient:
        return None
    matrix = tuple(map(tuple, job.weights.tolist()))
    offset = job.offset / state.picture.white if state.picture else 0.0
    custom = {"filter": "custom", "ksize": job.ksize, "matrix": matrix, "offset": offset}
    return data | custom | text


NO_PIN = "A pinned result is not restored: {reason}"


class ScreenshotRestore(QObject):
    """Opens the picture of a screenshot, then makes its pinned results anew, one by one.

    The present choices, which came with the screenshot, are there again at the end.
    """

    def __init__(self, parts: Parts, inspection: Inspection, pin_notes: PinNotes) -> None:
        super().__init__(parts.window)
        self._store, self._worker, self._live = parts.store, parts.worker, parts.live
        self._opener, self._kernels, self._inspection = parts.opener, parts.kernels, inspection
        self._pin_notes, self._undo_history = pin_notes, parts.undo
        self._messages = parts.messages
        self._steps: Iterator[None] = iter(())
        self._lost: list[str] = []  # a sentence for each pin that cannot be what it was
        self._is_hopeless = False  # what a step waits for will not come
        queued = Qt.ConnectionType.QueuedConnection  # never during a step
        parts.live.settled.connect(self._continue, queued)
        parts.live.refused.connect(self._give_up, queued)
        parts.opener.failed.connect(self._give_up, queued)

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
