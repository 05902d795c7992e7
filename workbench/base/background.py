"""Do something slow off the GUI thread, and report its outcome on the GUI thread."""

from __future__ import annotations

import traceback
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from PySide6.QtCore import QObject, QThread, QTimer, Signal, Slot
from shiboken6 import isValid

from kernels.core.errors import OutOfMemoryError
from workbench.base.bugs import bugs

TOO_LITTLE_MEMORY = "This computer has too little memory for that; use a smaller picture."


class Background(QObject):
    """A thread that runs functions one after another; made and closed by its owner.

    An answer goes to the function given with the question, on the thread that asked.  Expected
    failures, of the types named at the start, go to `on_failure`, and so does a lack of memory, as
    an OutOfMemoryError; anything else is a bug.
    """

    _asked = Signal(object)
    _answered = Signal(object, object)

    def __init__(
        self, expected: tuple[type[Exception], ...], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._closed = False
        self._thread = QThread(self)
        self._runner = _Runner(expected)
        self._runner.moveToThread(self._thread)
        self._asked.connect(self._runner.run)
        self._runner.answered.connect(self._deliver)

    def run(
        self,
        work: Callable[[], Any],
        on_answer: Callable[[Any], None],
        on_failure: Callable[[Exception], None],
        on_bug: Callable[[], None] = lambda: None,
    ) -> None:
        """Call `work` on the thread, then `on_answer` or `on_failure` here; nothing once closed.

        on_bug  called in their place after the bug was reported, to end any waiting
        """
        if self._closed:
            return
        if not self._thread.isRunning():
            self._thread.start()
        self._asked.emit((work, on_answer, on_failure, on_bug))

    def close(self) -> None:
        """Let what runs finish, forget the rest and all answers, and wait for the thread to end."""
        self._closed = True
        self._thread.requestInterruption()
        self._thread.quit()
        self._thread.wait()

    def _deliver(self, deliver: Callable[..., None], outcome: Any) -> None:
        if self._closed:
            return
        if isinstance(outcome, _Bug):
            bugs.met.emit(*outcome)
            deliver()
        else:
            deliver(outcome)


class _Bug(NamedTuple):
    sentence: str
    details: str


class _Runner(QObject):
    """The object that lives on the thread and calls the functions there.

    Signals:
        answered(deliver, outcome): what to call with what; after a _Bug, with nothing.
    """

    answered = Signal(object, object)

    def __init__(self, expected: tuple[type[Exception], ...]) -> None:
        super().__init__()
        self._expected = expected

    def run(self, asked: Any) -> None:
        if QThread.currentThread().isInterruptionRequested():
            return  # Qt delivers what is queued even to a thread that was told to quit
        work, on_answer, on_failure, on_bug = asked
        try:
            self.answered.emit(on_answer, work())
        except MemoryError:
            self.answered.emit(on_failure, OutOfMemoryError(TOO_LITTLE_MEMORY))
        except self._expected as error:
            self.answered.emit(on_failure, error)
        except Exception as error:  # noqa: BLE001 - carried to the GUI thread, not swallowed
            sentence = f"{type(error).__name__}: {error}"
            self.answered.emit(on_bug, _Bug(sentence, traceback.format_exc()))


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
