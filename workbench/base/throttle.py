"""Do something in a moment, once, however often it is asked for until then."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Slot

# While a slider is dragged the picture goes before what is told of it, which takes longer.
AFTER_PAINTING_MS = 100


class Throttle(QTimer):
    """A timer that starts when it is first asked; `stop` drops what was asked for."""

    def __init__(self, wait_ms: int, act: Callable[[], None], parent: QObject) -> None:
        super().__init__(parent)
        self.setSingleShot(True)
        self.setInterval(wait_ms)
        self.timeout.connect(act)

    @Slot()
    def ask(self) -> None:
        """Ask for it, in a moment."""
        if not self.isActive():
            self.start()
