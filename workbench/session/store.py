"""The one source of truth: a state that is replaced as a whole, and announced once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal

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

    def update(self, **changes: Any) -> None:
        """Replace the named fields.  An unknown name is a TypeError."""
        old, new = self._state, replace(self._state, **changes)
        if new != old:
            self._state = new
            self.changed.emit(old, new)
