"""The only place where the State is kept: it is replaced as a whole, and announced once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from workbench.model.intents import changes_for, giving_way, needs_run
from workbench.model.state import State


class Store(QObject):
    """A holder of the current `State`.

    Signals:
        changed(old, new): after every change, and only when something changed.
        gave_way(sentence): why `auto` took the place of what was to run a step, and cannot.
    """

    changed = Signal(object, object)
    gave_way = Signal(str)

    def __init__(self, state: State | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state = state or State()

    @property
    def state(self) -> State:
        return self._state

    def choose(self, **wanted: Any) -> None:
        """Set the user's choices and what they bring along: see `intents.changes_for`."""
        self.update(**changes_for(self._state, wanted))

    def update(self, **changes: Any) -> None:
        """Replace the named fields, and what cannot run its step any more by `auto`.

        Raises TypeError for an unknown name.
        """
        if why := self.update_quietly(**changes):
            self.gave_way.emit(why)

    def update_quietly(self, **changes: Any) -> str:
        """As `update`, but return why something gave way, for words of one's own; "": nothing."""
        new, why = replace(self._state, **changes), ""
        if needs_run(self._state, new):
            given, why = giving_way(new)
            new = replace(new, **given) if why else new
        self.restore(new)
        return why

    def restore(self, state: State) -> None:
        """Replace the whole state, as by an earlier one."""
        old = self._state
        if state != old:
            self._state = state
            self.changed.emit(old, state)
