"""The only place where the State is kept: it is replaced as a whole, and announced once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from workbench.model.intents import changes_for
from workbench.model.state import State


class Store(QObject):
    """A holder of the current `State`.

    Signals:
        changed(old, new): after every change, and only when something changed.
        gave_way(old, new): the implementation changed as the one before cannot run the filter.
    """

    changed = Signal(object, object)
    gave_way = Signal(object, object)

    def __init__(self, state: State | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state = state or State()

    @property
    def state(self) -> State:
        return self._state

    def choose(self, **wanted: Any) -> None:
        """Set the user's choices and what they bring along: see `intents.changes_for`."""
        changes, before = changes_for(self._state, wanted), self._state
        self.update(**changes)
        if "implementation" in changes and "implementation" not in wanted:
            self.gave_way.emit(before, self._state)

    def update(self, **changes: Any) -> None:
        """Replace the named fields and no others.  Raises TypeError for an unknown name."""
        self.restore(replace(self._state, **changes))

    def restore(self, state: State) -> None:
        """Replace the whole state, as by an earlier one."""
        old = self._state
        if state != old:
            self._state = state
            self.changed.emit(old, state)
