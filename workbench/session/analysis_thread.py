"""A thread for analyses: several computations in turn, step by step, the most urgent first."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from threading import Condition
from typing import Any

from PySide6.QtCore import QObject, QThread, Signal

from kernels.core.errors import OutOfMemoryError
from workbench.base.background import TOO_LITTLE_MEMORY
from workbench.base.bugs import bugs, report
from workbench.session.preemptible_task import close

Make = Callable[[], Iterator[Any]]
_FORGOTTEN = object()  # the last step of what nothing drives any more


@dataclass(slots=True, eq=False)
class _Task:
    name: str
    number: int
    urgency: int
    make: Make
    on_step: Callable[[Any], None]
    on_failure: Callable[[str], None]
    steps: Iterator[Any] | None = None


class StepQueue(QObject):
    """Computations that a thread drives step by step, of those with the same name only the newest.

    An older one of that name is dropped at its next step, so nothing is computed that nobody waits
    for any more.

    What a generator yields goes to the function given with it, on the thread that asked.  None is
    only a place where it may be put aside; one should come every 20 ms or so.

    wake  guards the tasks, and is notified of new ones

    Signals:
        hurries(is_so): something that hurries is under way from now on, or no longer; whoever
            would slow it down may wait meanwhile.
        dropped(name): what was awaited of that name ended with a bug, or nothing can drive it.
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
        self._hurried: set[str] = set()  # the names of what others may wait for
        self._stepped.connect(self._deliver)

    def ask(
        self,
        name: str,
        make: Make,
        on_step: Callable[[Any], None],
        on_failure: Callable[[str], None] = lambda _: None,
        urgency: int = 0,
        hurries: bool = False,
    ) -> None:
        """Drive the generator that `make` returns, in place of another of this `name`.

        on_failure  called with a sentence where memory runs out
        urgency     a larger one goes before smaller ones; equals take turns
        hurries     whether others may wait for it, as `hurries` tells them
        """
        with self._wake:
            if self._is_closing:
                return
            self._asked += 1
            self._awaited[name] = self._asked
            self._leave(self._tasks.pop(name, None))
            self._tasks[name] = _Task(name, self._asked, urgency, make, on_step, on_failure)
            self._wake.notify()
        self._note_hurry(name, hurries)
        self._begin()

    def _begin(self) -> None:
        """Have a thread drive it, if none does yet."""

    def cancel(self, name: str) -> None:
        """Drop the computation of this name; an answer that is already on the way is ignored."""
        with self._wake:
            self._awaited.pop(name, None)
            self._leave(self._tasks.pop(name, None))
            self._wake.notify()
        self._note_hurry(name, False)

    def is_under_way(self, name: str) -> bool:
        """Return whether a computation of this name still has steps to do."""
        with self._wake:
            return name in self._tasks

    @property
    def is_idle(self) -> bool:
        """True if no computation has steps left to do."""
        with self._wake:
            return not self._tasks

    def stop(self) -> None:
        """Take nothing more, and drop what there is."""
        with self._wake:
            self._is_closing = True
            self._leave_all()
            self._wake.notify()

    def forget(self) -> None:
        """Drop what there is, and say so to those that wait for it; on any thread."""
        with self._wake:
            left = list(self._tasks.values())
            self._leave_all()
            self._wake.notify()
        for task in left:
            self._stepped.emit(task, _FORGOTTEN, "")

    def _leave_all(self) -> None:
        for task in self._tasks.values():
            self._leave(task)
        self._tasks.clear()

    @property
    def has_work(self) -> bool:
        """Whether there is a step to do, or a dropped computation to close."""
        return bool(self._tasks or self._left)

    @property
    def is_over(self) -> bool:
        """Whether it was stopped, and nothing is left to close."""
        return self._is_closing and not self._left

    def step(self) -> None:
        """Close what was dropped, then do the most urgent step, if there is one; on the thread.

        No task is kept alive while it waits for one.
        """
        with self._wake:
            left, self._left = self._left, []
        for steps in left:
            self._close(steps)
        if (task := self._next()) is not None:
            self._step(task)

    def _leave(self, task: _Task | None) -> None:
        """Have the thread close what is dropped: its finalizers may take their time."""
        if task is not None and task.steps is not None:
            self._left.append(task.steps)
            task.steps = None

    def _close(self, steps: Iterator[Any]) -> None:
        try:
            close(steps)
        except Exception as error:  # noqa: BLE001 - carried to the GUI thread, not swallowed
            report(error)

    def _next(self) -> _Task | None:
        with self._wake:
            if not self._tasks:
                return None
            task = max(self._tasks.values(), key=lambda task: task.urgency)
            self._tasks[task.name] = self._tasks.pop(task.name)  # equals take turns
            return task

    def _step(self, task: _Task) -> None:
        with self._wake:
            steps, task.steps = task.steps, None  # nobody else closes them meanwhile
        try:
            if steps is None:
                steps = task.make()
            step = next(steps)
        except StopIteration:
            self._end(task)
            self._stepped.emit(task, None, "")
        except MemoryError:
            self._end(task)
            self._stepped.emit(task, OutOfMemoryError(TOO_LITTLE_MEMORY), "")
        except Exception as error:  # noqa: BLE001 - carried to the GUI thread, not swallowed
            self._end(task)
            self._stepped.emit(task, f"{type(error).__name__}: {error}", traceback.format_exc())
        else:
            with self._wake:
                task.steps = steps
                if self._tasks.get(task.name) is not task:
                    self._leave(task)
            if step is not None:
                self._stepped.emit(task, step, "")

    def _end(self, task: _Task) -> None:
        with self._wake:
            if self._tasks.get(task.name) is task:
                del self._tasks[task.name]

    def _deliver(self, task: _Task, step: Any, details: str) -> None:
        """Give a step to whoever asked for it, on their thread; None: there is no more."""
        if self._is_closing:
            return
        if details:
            bugs.met.emit(step, details)
        if self._awaited.get(task.name) != task.number:
            return  # nobody waits for it any more
        if details or step is _FORGOTTEN:
            self.dropped.emit(task.name)
        elif isinstance(step, OutOfMemoryError):
            task.on_failure(str(step))
        elif step is not None:
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
    """A StepQueue with a thread of its own, which begins when it is first asked for something."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(Condition(), parent)
        self.thread_of_steps = _Thread(self._drive, self)

    def close(self) -> None:
        """Stop at the next step, and wait for the thread to end."""
        self.stop()
        self.thread_of_steps.wait()

    def _begin(self) -> None:
        if not self.thread_of_steps.isRunning():
            self.thread_of_steps.start()

    def _drive(self) -> None:
        while not self.is_over:
            with self._wake:
                self._wake.wait_for(lambda: self.has_work or self.is_over)
            self.step()


class _Thread(QThread):
    def __init__(self, drive: Callable[[], None], parent: QObject) -> None:
        super().__init__(parent)
        self._drive = drive

    def run(self) -> None:
        """Drive until it is closed; Qt calls it, on the thread."""
        self._drive()
