"""The one source of truth: a state that is replaced as a whole, and announced once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from workbench.model.intents import changes_for
from workbench.model.state import State


class Store(QObject):
    """Holds the current `State`.

    Signals:
        changed(old, new): after every change, and only when something changed.
    """

    changed = Signal(object, object)

    def __init__(self, state: State | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state = state or State()

    @property
    def state(self) -> State:
        return self._state

    def choose(self, **wanted: Any) -> None:
        """Set what the user chose, and what that brings along: see `intents.changes_for`."""
        self.update(**changes_for(self._state, wanted))

    def update(self, **changes: Any) -> None:
        """Replace the named fields and no others.  An unknown name is a TypeError."""
        self.restore(replace(self._state, **changes))

    def restore(self, state: State) -> None:
        """Replace the whole state, as by one that was current before."""
        old = self._state
        if state != old:
            self._state = state
            self.changed.emit(old, state)
