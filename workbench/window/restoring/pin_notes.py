"""The choices with which pinned results were made, so that they can be made once more."""

from __future__ import annotations

import weakref
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from kernels.core.job import Result
from kernels.rungs.own_kernels import text_hash
from workbench.model import choices, intents
from workbench.model.state import State
from workbench.panels.compare.inspection import Inspection
from workbench.panels.compare.pins import Pin
from workbench.session.live import Live
from workbench.session.store import Store


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
