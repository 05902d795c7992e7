"""Computations as generators, driven step by step: short ones in turn, long ones that may pause."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from threading import Condition, Thread
from traceback import format_exc
from typing import Any

from PySide6.QtCore import QObject, Signal, Slot

from kernels.core.device_turns import Waiting
from kernels.core.errors import OutOfMemoryError
from kernels.engine.engine import Engine
from workbench.base.background import TOO_LITTLE_MEMORY, bugs, report

Make = Callable[[], Iterator[Any]]
# Last steps: of what nothing drives any more, and of what is complete.
_FORGOTTEN, _OVER = object(), object()


@dataclass(slots=True, eq=False)
class _Task:
    name: str
    number: int
    urgency: int
    make: Make
    on_step: Callable[[Any], None]
    on_failure: Callable[[str], None]
    on_drop: Callable[[], None]
    steps: Iterator[Any] | None = None


class StepQueue(QObject):
    """Computations that a thread drives step by step, of those with the same name only the newest.

    An older one of that name is dropped at its next step.  The values of a generator go to
    the function given with it, on the thread that asked; None is only a place where it may be put
    aside, and one should come every 20 ms or so.

    wake  guards the tasks, and is notified of new ones

    Signals:
        hurries(is_so): something urgent is under way from now on, or no longer; others may wait
            meanwhile.
        dropped(name): the computation of that name ended with a bug, or nothing can drive it.
    """

    hurries = Signal(bool)
    dropped = Signal(str)
    _stepped = Signal(object, object, str)

    def __init__(self, wake: Condition, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._wake = wake
        self._tasks: dict[str, _Task] = {}
        self._left: list[Iterator[Any]] = []  # dropped, and yet to be closed, by the thread
        self._asked = 0
        self._awaited: dict[str, int] = {}  # number of the newest of each name, while it is awaited
        self._is_closing = False
        self._hurried: set[str] = set()  # names that others may wait for
        self._stepped.connect(self._deliver)

    def ask(
        self,
        name: str,
        make: Make,
        on_step: Callable[[Any], None],
        on_failure: Callable[[str], None] = lambda _: None,
        urgency: int = 0,
        hurries: bool = False,
        on_drop: Callable[[], None] = lambda: None,
    ) -> None:
        """Drive the generator that `make` returns, in place of another of this `name`.

        on_failure  called with a sentence where memory runs out
        urgency     a larger one goes before smaller ones; equals take turns
        hurries     others may wait for it, as `hurries` tells them
        on_drop     called when it is dropped, perhaps in the midst of a step, which it may shorten
        """
        with self._wake:
            if self._is_closing:
                return
            self._asked += 1
            self._awaited[name] = self._asked
            self._leave(self._tasks.pop(name, None))
            task = _Task(name, self._asked, urgency, make, on_step, on_failure, on_drop)
            self._tasks[name] = task
            self._wake.notify()
        self._note_hurry(name, hurries)
        self._begin()

    def _begin(self) -> None:
        """Start a thread, if none drives it yet."""

    def cancel(self, name: str) -> None:
        """Drop the computation of this name, and ignore its answers."""
        with self._wake:
            self._awaited.pop(name, None)
            self._leave(self._tasks.pop(name, None))
            self._wake.notify()
        self._note_hurry(name, False)

    def is_under_way(self, name: str) -> bool:
        """Return True while a computation of this name has steps to do."""
        with self._wake:
            return name in self._tasks

    @property
    def is_idle(self) -> bool:
        """True if no computation has steps left to do."""
        with self._wake:
            return not self._tasks

    def stop(self) -> None:
        """Take nothing more, and drop what there is."""
        self._is_closing = True
        self._leave_all()

    def forget(self) -> None:
        """Drop all, and tell those that wait; on any thread."""
        for task in self._leave_all():
            self._stepped.emit(task, _FORGOTTEN, "")

    def _leave_all(self) -> list[_Task]:
        with self._wake:
            left = list(self._tasks.values())
            self._tasks.clear()
            for task in left:
                self._leave(task)
            self._wake.notify()
        return left

    @property
    def has_work(self) -> bool:
        """True if there is a step to do, or a dropped computation to close."""
        return bool(self._tasks or self._left)

    @property
    def is_over(self) -> bool:
        """True if it was stopped, and nothing is left to close."""
        return self._is_closing and not self._left

    def step(self) -> None:
        """Close the dropped ones, then do the most urgent step, if any; on the thread."""
        with self._wake:
            left, self._left = self._left, []
        close_all(left)
        with self._wake:
            task = max(self._tasks.values(), key=lambda task: task.urgency, default=None)
            if task is None:
                return
            self._tasks[task.name] = self._tasks.pop(task.name)  # equals take turns
        self._step(task)

    def _leave(self, task: _Task | None) -> None:
        """Leave it to the thread to close: finalizers may take their time."""
        if task is None:
            return
        task.on_drop()
        if task.steps is not None:
            self._left.append(task.steps)
            task.steps = None

    def _step(self, task: _Task) -> None:
        with self._wake:
            steps, task.steps = task.steps, None  # no other thread closes them meanwhile
        try:
            steps = task.make() if steps is None else steps
            step, details = next(steps, _OVER), ""
        except MemoryError:
            step, details = OutOfMemoryError(TOO_LITTLE_MEMORY), ""
        except Exception as error:  # noqa: BLE001 - carried to the GUI thread, not swallowed
            step, details = f"{type(error).__name__}: {error}", format_exc()
        is_over = step is _OVER or isinstance(step, OutOfMemoryError) or bool(details)
        with self._wake:
            is_newest = self._tasks.get(task.name) is task
            task.steps = None if is_over else steps
            if not is_newest:
                self._leave(task)
            elif is_over:
                del self._tasks[task.name]
        if step is not None:
            self._stepped.emit(task, step, details)

    @Slot(object, object, str)
    def _deliver(self, task: _Task, step: Any, details: str) -> None:
        """Give a step to the function that came with the task."""
        if self._is_closing:
            return
        if details:
            bugs.met.emit(step, details)
        if self._awaited.get(task.name) != task.number:
            return  # no longer awaited
        if details or step is _FORGOTTEN:
            self.dropped.emit(task.name)
        elif isinstance(step, OutOfMemoryError):
            task.on_failure(str(step))
        elif step is not _OVER:
            task.on_step(step)
            return
        if self._awaited.get(task.name) == task.number:
            self._note_hurry(task.name, False)

    def _note_hurry(self, name: str, hurries: bool) -> None:
        before = bool(self._hurried)
        (self._hurried.add if hurries else self._hurried.discard)(name)
        if before != bool(self._hurried):
            self.hurries.emit(not before)


class AnalysisThread(StepQueue):
    """A StepQueue with a thread of its own, which begins at the first request."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(Condition(), parent)
        self._thread: Thread | None = None

    def close(self) -> None:
        """Stop at the next step, and wait for the thread."""
        self.stop()
        if self._thread is not None:
            self._thread.join()

    def _begin(self) -> None:
        if self._thread is None:
            self._thread = Thread(target=self._drive, name="analyses")
            self._thread.start()

    def _drive(self) -> None:
        while not self.is_over:
            with self._wake:
                self._wake.wait_for(lambda: self.has_work or self.is_over)
            self.step()


MakeSteps = Callable[[Engine], Iterator[Any]]


class PreemptibleTask(QObject):
    """A long computation: the one that runs, and those that wait.

    The thread that drives it takes, steps and emits; any thread may start, cancel and pause it.

    purpose  of it, in words, for others that wait for the device
    wake     guards the requests, and is notified of new ones

    Signals:
        stepped(step): whatever the computation yields but None: Progress, Record and the like.
        paused(is_paused): it stands still from now on, or continues.
        ended(error, is_complete): it is over; the KernelError that ended it, or None.
    """

    stepped = Signal(object)
    paused = Signal(bool)
    ended = Signal(object, bool)

    def __init__(self, purpose: str, wake: Condition, parent: QObject) -> None:
        super().__init__(parent)
        self.purpose, self.waits = purpose, False
        self._wake = wake
        self._wanted: deque[MakeSteps] = deque()
        self._is_to_stop = self._is_to_pause = self._is_paused = False
        self._steps: Iterator[Any] | None = None
        self._latest: Any = None

    # -- for any thread

    def start(self, make: MakeSteps) -> None:
        """Request a computation in place of the one that runs and those that wait."""
        with self._wake:
            self._is_to_stop, self._is_to_pause = self.is_running, False
            self._wanted = deque((make,))
            self._wake.notify()

    def add(self, make: MakeSteps) -> None:
        """Request a computation after those that wait already."""
        with self._wake:
            self._wanted.append(make)
            self._wake.notify()

    @Slot()
    def cancel(self) -> None:
        """End the computation that runs at its next step, and drop those that wait."""
        with self._wake:
            self._is_to_stop = self.is_running or bool(self._wanted)
            self._is_to_pause = False
            self._wanted.clear()
            self._wake.notify()

    @Slot(bool)
    def pause(self, is_paused: bool) -> None:
        """Let the computation stand still, or continue; ignored where there is none."""
        with self._wake:
            self._is_to_pause = is_paused and (self.is_running or bool(self._wanted))
            self._wake.notify()

    # -- for the thread that drives it, which holds the lock but while it steps and emits

    @property
    def is_running(self) -> bool:
        """True while a computation has begun and not ended, be it paused."""
        return self._steps is not None

    @property
    def can_step(self) -> bool:
        """True while a computation runs and is not to pause."""
        return self.is_running and not self._is_to_pause

    @property
    def has_request(self) -> bool:
        """True if it is to begin, to end, to pause or to continue."""
        may_begin = bool(self._wanted) and not self.is_running
        return self._is_to_stop or may_begin or self._is_to_pause != self._is_paused

    @property
    def has_work(self) -> bool:
        """True if there is a request to take or a step to do."""
        return self.has_request or self.can_step

    def forget(self) -> bool:
        """Drop the computations that wait; return True if there were any."""
        had = bool(self._wanted)
        self._wanted.clear()
        return had

    def emit_pause(self) -> None:
        """Emit `paused` if that has changed."""
        if self._is_to_pause != self._is_paused:
            self._is_paused = self._is_to_pause
            self.paused.emit(self._is_paused)

    def take(self, engine: Engine) -> list[Iterator[Any] | None]:
        """Begin the next computation where none runs; returns the steps of a stopped one, if any.

        None stands for one that had not begun.
        """
        ended = [self.drop()] if self._is_to_stop else []
        if self._steps is None and self._wanted:
            self._steps, self._latest = _begun(self._wanted.popleft(), engine), None
        return ended

    def step(self) -> bool:
        """Do one step and emit it; return False where there was none left.

        `waits` then says whether it waits for its turn on a device, and others may step.
        """
        assert self._steps is not None
        step = next(self._steps, _OVER)
        self.waits = isinstance(step, Waiting)
        if step is _OVER:
            return False
        if step is not None and step != self._latest:  # one may come thousands of times a second
            self._latest = step
            self.stepped.emit(step)
        return True

    def drop(self) -> Iterator[Any] | None:
        """Forget the computation that runs and the request to stop it; return its steps."""
        steps, self._steps, self._is_to_stop = self._steps, None, False
        self._is_to_pause = self._is_to_pause and bool(self._wanted)
        return steps


def _begun(make: MakeSteps, engine: Engine) -> Iterator[Any]:
    """Call `make` with the first step, on the thread that drives it."""
    yield from make(engine)


def close_all(left: Iterable[Iterator[Any] | None]) -> None:
    """End generators at once, without a lock: they may have something to save."""
    for steps in left:
        try:
            if isinstance(steps, Generator):
                steps.close()
        except Exception as error:  # noqa: BLE001 - carried to the GUI thread, not swallowed
            report(error)
