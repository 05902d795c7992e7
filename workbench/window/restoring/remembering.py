"""The settings that outlive the window, and the choices of each pinned result."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from numpy.typing import NDArray

from kernels.core.job import Result
from kernels.rungs.own_kernels import text_hash
from workbench.base.background import Background
from workbench.base.settings import Settings
from workbench.files.picture_refs import PictureRef
from workbench.model import choices, intents
from workbench.model.state import State
from workbench.panels.compare.inspection import Inspection
from workbench.panels.compare.pins import Pin
from workbench.session.live import Live
from workbench.session.store import Store
from workbench.session.worker import Worker
from workbench.widgets.docks import Docks
from workbench.window.layout.window_layout import WindowLayout

FOLDERS = {
    "folder": "where the last picture was",
    "save-folder": "where the last one was saved",
    "kodak-folder": "which had the Kodak pictures",
}
TOLD_GONE = "told-gone-folders"  # the setting with those that it was said of


class Memory:
    """A keeper of the settings: it collects them, saves them, and resets them."""

    def __init__(
        self,
        store: Store,
        worker: Worker,
        live: Live,
        inspection: Inspection,
        docks: Docks,
        layout: WindowLayout,
        settings: Settings,
    ) -> None:
        self._store, self._worker, self._inspection = store, worker, inspection
        self._docks, self._layout, self._settings = docks, layout, settings
        self.pin_notes = PinNotes(live, store, inspection)

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
