"""A snapshot of what a window shows: plain data, enough to bring it back."""

from __future__ import annotations

import weakref
from dataclasses import asdict, dataclass, replace
from typing import Any

from numpy.typing import NDArray

from kernels.core.job import Result
from workbench.base.background import Background
from workbench.files.picture_refs import PictureRef
from workbench.model import choices, intents
from workbench.model.state import State
from workbench.panels.compare.compare_view import CompareView
from workbench.panels.compare.inspection import Inspection
from workbench.panels.compare.pins import Pin
from workbench.panels.pixel.pixel_panel import PixelPane
from workbench.panels.sweep.shown_sessions import Sessions
from workbench.panels.sweep.sweep_panel import SweepPanel
from workbench.panels.weights.weights_action import WeightsEditing
from workbench.session.live import Live
from workbench.session.opener import Opener
from workbench.session.store import Store
from workbench.session.worker import Worker
from workbench.widgets.message_bar import MessageBar
from workbench.window.presenter.presenter import Presenter
from workbench.window.restoring.remembering import Memory
from workbench.window.undo.undoing import Undoing


@dataclass(frozen=True, slots=True)
class SnapshotContents:
    """The parts of a window whose contents outlive a crash, and those that bring them back.

    background  reads files
    messages    say what became of it
    """

    store: Store
    worker: Worker
    live: Live
    opener: Opener
    background: Background
    messages: MessageBar
    undoing: Undoing
    inspection: Inspection
    compare: CompareView
    pixel: PixelPane
    sessions: Sessions
    sweep: SweepPanel
    weights: WeightsEditing
    presenter: Presenter
    memory: Memory


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
    if intents.is_answer(result, replace(state, **data)):
        return data
    if job.gradient:
        return None
    matrix = tuple(map(tuple, job.weights.tolist()))
    offset = job.offset / state.picture.white if state.picture else 0.0
    return {**data, "filter": "custom", "ksize": job.ksize, "matrix": matrix, "offset": offset}


def taken(shown: SnapshotContents, pins: PinNotes) -> dict[str, Any]:
    """Return a snapshot, fit for JSON, quickly: of the picture only where it came from."""
    state = shown.store.state
    ref = PictureRef.of(state.picture) if state.picture else None
    editor = shown.weights.editor
    drawing = editor.drawing if editor is not None and editor.isVisible() else None
    return {
        "settings": shown.memory.for_settings(),
        "picture": ref.to_data() if ref else None,
        "levels": state.levels,
        "pins": pins.choices(),
        "against": shown.inspection.against,
        "view": shown.compare.choices(),
        "pixel": shown.pixel.pixel,
        "sessions": [str(each.path) for each in shown.sessions.shown if each.path],
        "chart": shown.sweep.chart.kind_key,
        "weights": asdict(drawing) if drawing is not None else None,
    }
