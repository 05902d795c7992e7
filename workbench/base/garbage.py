"""Collect garbage in the GUI thread alone: Qt's objects may not die in another one."""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

EVERY_MS = 200


class GarbageCollector(QObject):
    """A collector that replaces Python's own, in the GUI thread.

    Python's runs in whichever thread allocates next, and there destroys widgets that cycles
    kept alive.

    Generations are collected by Python's own thresholds, looked at every EVERY_MS.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._was_enabled = gc.isenabled()
        gc.disable()
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._collect)
        self._timer.start(EVERY_MS)

    def stop(self) -> None:
        """Start Python's own collector again, if it ran before."""
        self._timer.stop()
        if self._was_enabled:
            gc.enable()

    def _collect(self) -> None:
        oldest = -1
        for generation, (count, limit) in enumerate(
            zip(gc.get_count(), gc.get_threshold(), strict=True)
        ):
            if count <= limit:
                break
            oldest = generation
        if oldest >= 0:
            gc.collect(oldest)
