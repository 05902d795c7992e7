"""What a window shows, as plain data: enough to bring it back."""

from __future__ import annotations

import weakref
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from kernels.core.job import Result
from workbench.files.picture_refs import PictureRef
from workbench.model import choices
from workbench.model.state import State
from workbench.panels.compare.pins import Pin
from workbench.window.presenter.figures import is_answer

if TYPE_CHECKING:
    from workbench.window.main_window import MainWindow


class PinNotes:
    """Remembers with which choices each pinned result was made, which a pin itself does not say;
    also of one that is set aside with its picture, and may come back."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self._noted: list[tuple[weakref.ref[NDArray[Any]], dict[str, Any]]] = []  # of its samples
        window.inspection.pins_changed.connect(self._note)
        self._note()

    def choices(self) -> list[dict[str, Any]]:
        """Of each pin, in order."""
        found = map(self._choices_of, self._window.inspection.pins)
        return [data for data in found if data is not None]

    def _choices_of(self, pin: Pin) -> dict[str, Any] | None:
        return next((data for samples, data in self._noted if samples() is pin.samples), None)

    def _note(self) -> None:
        self._noted = [each for each in self._noted if each[0]() is not None]
        result, state = self._window.live.result, self._window.store.state
        if result is None:
            return
        for pin in self._window.inspection.pins:
            is_new = pin.samples is result.picture and self._choices_of(pin) is None
            if is_new and (data := choices_of(result, state)) is not None:
                self._noted.append((weakref.ref(pin.samples), data))


def choices_of(result: Result, state: State) -> dict[str, Any] | None:
    """With what `result` was made: by now `state` may ask for something else.  None: of a gradient
    that it no longer asks for nothing is known but its weights."""
    job, data = result.job, choices.to_data(state)
    data |= {"border": job.border, "implementation": job.implementation, "block_xy": job.block_xy}
    if is_answer(result, replace(state, **data)):
        return data
    if job.gradient:
        return None
    matrix = tuple(map(tuple, job.weights.tolist()))
    offset = job.offset / state.picture.white if state.picture else 0.0
    return {**data, "filter": "custom", "ksize": job.ksize, "matrix": matrix, "offset": offset}


def taken(window: MainWindow, pins: PinNotes) -> dict[str, Any]:
    """Fit for JSON, and quick: nothing of the picture but where it came from."""
    state = window.store.state
    ref = PictureRef.of(state.picture) if state.picture else None
    editor = window.weights.editor
    drawing = editor.drawing if editor is not None and editor.isVisible() else None
    return {
        "settings": window.settings_to_keep(),
        "picture": ref.to_data() if ref else None,
        "levels": state.levels,
        "pins": pins.choices(),
        "against": window.inspection.against,
        "view": window.compare.choices(),
        "pixel": window.pixel.pixel,
        "sessions": [str(each.path) for each in window.sessions.shown if each.path],
        "chart": window.sweep.chart.kind_key,
        "weights": asdict(drawing) if drawing is not None else None,
    }
