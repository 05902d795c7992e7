"""Do something slow off the GUI thread, and report its outcome on the GUI thread."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QEventLoop, QMetaObject, QObject, Qt, QTimer, Signal, Slot

from kernels.core.errors import OutOfMemoryError

TOO_LITTLE_MEMORY = "This computer has too little memory for that; use a smaller picture."


class Background(QObject):
    """A thread that runs functions one after another; made and closed by its owner.

    Expected failures, of the types named at the start, go to `on_failure`, and so does a lack of
    memory, as an OutOfMemoryError; anything else is a bug.
    """

    _answered = Signal(object, str, int)  # a function to call; what it is of, and its number

    def __init__(
        self, expected: tuple[type[Exception], ...], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._expected, self._closed = expected, False
        self._thread = ThreadPoolExecutor(1, "background")
        self._newest: Counter[str] = Counter()
        self._answered.connect(self._deliver)

    def run(
        self,
        work: Callable[[], Any],
        on_answer: Callable[[Any], None],
        on_failure: Callable[[Exception], None],
        on_bug: Callable[[], None] = lambda: None,
        of: str = "",
    ) -> None:
        """Call `work` on the thread, then `on_answer` or `on_failure` here; nothing once closed.

        on_bug  called in their place after the bug was reported, to end any waiting
        of      what only the newest answer is wanted of: see `drop`; empty: all are
        """
        number = self.drop(of) if of else 0

        def call() -> None:
            try:
                act: Callable[[], None] = partial(on_answer, work())
            except MemoryError:
                act = partial(on_failure, OutOfMemoryError(TOO_LITTLE_MEMORY))
            except self._expected as error:
                act = partial(on_failure, error)
            except Exception as error:  # noqa: BLE001 - carried to the GUI thread, not swallowed
                if not self._closed:
                    report(error)
                act = on_bug
            self._answered.emit(act, of, number)

        if not self._closed:
            self._thread.submit(call)

    def drop(self, of: str) -> int:
        """Drop all answers that were asked for as `of`; the number of the next one."""
        self._newest[of] += 1
        return self._newest[of]

    def close(self) -> None:
        """Finish the running work, forget the rest and all answers; wait for the thread."""
        self._closed = True
        self._thread.shutdown(cancel_futures=True)

    @Slot(object, str, int)
    def _deliver(self, act: Callable[[], None], of: str, number: int) -> None:
        if not self._closed and number == self._newest[of]:
            act()


R = TypeVar("R")


class Latest(Generic[R]):
    """Work for one request at a time; of those that come meanwhile only the newest waits.

    work     called off this thread
    take     called with a request and its outcome
    fail     called with a request and an expected failure; None after a bug, which was reported
    running  the request whose work is under way; None: nothing is
    waiting  the next one
    """

    def __init__(
        self,
        background: Background,
        work: Callable[[R], Any],
        take: Callable[[R, Any], None],
        fail: Callable[[R, Exception | None], None],
    ) -> None:
        self._background, self._work, self._take, self._fail = background, work, take, fail
        self.running: R | None = None
        self.waiting: R | None = None

    def request(self, wanted: R) -> None:
        """Work for `wanted` next, in place of one that still waits."""
        self.waiting = wanted
        if self.running is None:
            self._begin(wanted)

    def _begin(self, request: R) -> None:
        self.running, self.waiting = request, None
        failed = partial(self._end, request, self._fail)
        taken = partial(self._end, request, self._take)
        self._background.run(partial(self._work, request), taken, failed, failed)

    def _end(self, request: R, tell: Callable[[R, Any], None], outcome: Any = None) -> None:
        self.running = None
        tell(request, outcome)
        if self.running is None and self.waiting is not None:
            self._begin(self.waiting)


def waited(work: Callable[[], R]) -> R:
    """Return what `work` does, called off this thread, which handles events meanwhile."""
    loop, queued = QEventLoop(), Qt.ConnectionType.QueuedConnection
    with ThreadPoolExecutor(1, "waited") as thread:
        done = thread.submit(work)
        done.add_done_callback(lambda _: QMetaObject.invokeMethod(loop, "quit", queued))
        loop.exec()
        return done.result()


# While a slider is dragged the picture goes before its explanations, which take longer.
AFTER_PAINTING_MS = 100


class Throttle(QTimer):
    """A timer that `ask` starts with the first request, `start` anew with each; `stop` drops it."""

    def __init__(self, wait_ms: int, act: Callable[[], object], parent: QObject) -> None:
        super().__init__(parent)
        self.setSingleShot(True)
        self.setInterval(wait_ms)
        self.timeout.connect(act)

    @Slot()
    def ask(self) -> None:
        """Ask for it, in a moment."""
        if not self.isActive():
            self.start()


class _Bugs(QObject):
    """Sink of bugs; met(sentence, details) comes with a traceback."""

    met = Signal(str, str)


bugs = _Bugs()


def report(error: BaseException) -> None:
    """Report an exception that nothing expects, from inside its handler."""
    bugs.met.emit(f"{type(error).__name__}: {error}", traceback.format_exc())
