"""Act on what happens to a widget without a class of its own."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Signal


class Watch(QObject):
    """A watch for events of some kinds, part of the object that gets them.

    Signals:
        seen(): one comes; the object itself acts on it afterwards.
    """

    seen = Signal()

    def __init__(self, watched: QObject, *kinds: QEvent.Type) -> None:
        super().__init__(watched)
        self._kinds = kinds
        watched.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() in self._kinds:
            self.seen.emit()
        return super().eventFilter(watched, event)
