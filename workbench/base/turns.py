"""A queue of steps that take long: one is done per turn of the event loop, with input between."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Slot
from shiboken6 import isValid


class Turns(QObject):
    """Steps that wait, in the order in which they were asked for, whoever asked."""

    def __init__(self) -> None:
        super().__init__()
        self._steps: deque[tuple[QObject, Callable[[], object]]] = deque()
        # One that repeats: single shots that are due together are all done in one turn.
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._take)

    def add(self, owner: QObject, step: Callable[[], object]) -> None:
        """Have `step` done in a turn of its own, unless `owner` is gone by then."""
        self._steps.append((owner, step))
        if not self._timer.isActive():
            self._timer.start(0)

    @Slot()
    def _take(self) -> None:
        owner, step = self._steps.popleft()
        if not self._steps:
            self._timer.stop()
        if isValid(owner):
            step()
