"""The scheduler: a thread that drives computations, the most urgent first.

A computation is a generator that yields wherever it may be put aside, every 20 ms or so.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from threading import Condition
from typing import Any

from PySide6.QtCore import QObject, QThread, Signal, Slot

from kernels.core import device_turns
from kernels.core.device_turns import Waiting
from kernels.core.errors import KernelError, OutOfMemoryError
from kernels.core.job import Progress
from workbench.base.background import TOO_LITTLE_MEMORY, report

Make = Callable[[], Iterator[Any]]
_OVER = object()


@dataclass(slots=True, eq=False)
class Task:
    """A computation that waits or is under way; its functions are called on the GUI thread.

    on_step   called with every step but None, and Progress only where it changes
    on_end    called with the KernelError that ended it, if any, and True if it is complete
    on_pause  called with True once it stands still, with False when it continues
    on_drop   called when it is dropped, perhaps in the midst of a step, which it may shorten
    urgency   a larger one goes before smaller ones; equals take turns
    purpose   for processes that wait for the device
    """

    name: str
    make: Make
    on_step: Callable[[Any], None]
    on_end: Callable[[KernelError | None, bool], None]
    on_pause: Callable[[bool], None] = lambda _: None
    urgency: int = 0
    purpose: str = ""
    on_drop: Callable[[], None] = lambda: None
    has_begun: bool = False
    steps: Iterator[Any] | None = None
    progress: Progress | None = None  # the last step
    is_paused: bool = False
    is_still: bool = False  # as `on_pause` was called last


class Scheduler(QThread):
    """A thread that drives tasks step by step, of those with the same name only the newest.

    Signals:
        hurries(is_so): something urgent is under way from now on, or no longer; others may wait
            meanwhile.
        dropped(name): the computation of that name ended with a bug.
    """

    hurries = Signal(bool)
    dropped = Signal(str)
    _told = Signal(object, object)  # a function to call on the GUI thread, and its arguments

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._wake = Condition()  # guards the tasks, and is notified of new ones
        self._tasks: dict[str, Task] = {}
        self._left: list[Task] = []  # to be closed by the thread: finalizers may take their time
        self._is_closing = False
        self._awaited: dict[str, Task] = {}  # by `ask`; only the GUI thread touches it
        self._hurried: set[str] = set()  # names that others may wait for
        self._told.connect(self._deliver)

    # -- for the GUI thread

    def ask(
        self,
        name: str,
        make: Make,
        on_step: Callable[[Any], None],
        on_failure: Callable[[str], None] = lambda _: None,
        urgency: int = 0,
        hurries: bool = False,
        purpose: str = "an analysis",
        on_drop: Callable[[], None] = lambda: None,
        on_end: Callable[[bool], None] = lambda _: None,
    ) -> None:
        """Drive the generator that `make` returns, in place of another of this `name`.

        Steps of a computation that was replaced or cancelled are dropped.

        on_failure  called with a sentence where memory runs out, or another KernelError ends it
        on_end      called at the end, with True if it is complete
        hurries     others may wait for it, as `hurries` tells them
        on_drop     called when it is dropped, perhaps in the midst of a step, which it may shorten
        """

        def take(step: Any) -> None:
            if self._awaited.get(name) is task:
                on_step(step)

        def end(error: KernelError | None, is_complete: bool) -> None:
            if self._awaited.get(name) is not task:
                return
            del self._awaited[name]
            if error is not None:
                on_failure(str(error))
            elif not is_complete:
                self.dropped.emit(name)
            on_end(is_complete)
            if name not in self._awaited:
                self._note_hurry(name, False)

        task = Task(name, make, take, end, urgency=urgency, purpose=purpose, on_drop=on_drop)
        self._awaited[name] = task
        self.put(task)
        self._note_hurry(name, hurries)

    def put(self, task: Task) -> None:
        """Drive this task, in place of another of its name; on any thread."""
        with self._wake:
            if self._is_closing:
                return
            before = self._tasks.get(task.name)
            if before is not None and before.has_begun:
                self._leave(before)
            self._tasks[task.name] = task
            self._wake.notify()

    def cancel(self, name: str) -> None:
        """Drop the computation of this name, and ignore its steps."""
        self._awaited.pop(name, None)
        self.drop(name)
        self._note_hurry(name, False)

    def drop(self, name: str) -> None:
        """End the tasks of this name or purpose at their next step; on any thread."""
        with self._wake:
            for task in [*self._tasks.values()]:
                if name in (task.name, task.purpose):
                    self._leave(self._tasks.pop(task.name))
            self._wake.notify()

    def _leave(self, task: Task) -> None:
        self._left.append(task)
        task.on_drop()

    def pause(self, purpose: str, is_paused: bool) -> None:
        """Let the tasks of this purpose stand still, or continue."""
        with self._wake:
            for task in self._tasks.values():
                task.is_paused = is_paused if task.purpose == purpose else task.is_paused
            self._wake.notify()

    def is_under_way(self, name: str) -> bool:
        """Return True while a computation of this name has steps to do."""
        with self._wake:
            return name in self._tasks

    @property
    def is_idle(self) -> bool:
        """True if no computation has steps left to do."""
        with self._wake:
            return not self._tasks

    def close(self) -> None:
        """Stop at the next step, and wait for the thread; nothing is delivered any more."""
        with self._wake:
            self._is_closing = True
            for task in self._tasks.values():
                task.on_drop()
            self._wake.notify()
        self.wait()

    @Slot(object, object)
    def _deliver(self, tell: Callable[..., None], outcome: tuple[Any, ...]) -> None:
        if not self._is_closing:
            tell(*outcome)

    def _note_hurry(self, name: str, hurries: bool) -> None:
        before = bool(self._hurried)
        (self._hurried.add if hurries else self._hurried.discard)(name)
        if before != bool(self._hurried):
            self.hurries.emit(not before)

    # -- the thread itself

    def run(self) -> None:
        """Do the most urgent step until `close` is called; Qt calls it, on the thread."""
        while not self._is_closing:
            with self._wake:
                self._wake.wait_for(lambda: self._is_closing or self._has_work())
            self._prepare()
            self._close_left()
            for task in self._by_urgency():
                if self._is_closing or not self._step(task):
                    break
        with self._wake:
            self._left += self._tasks.values()
            self._tasks.clear()
        self._close_left()

    def _has_work(self) -> bool:
        is_due = (each.is_paused != each.is_still for each in self._tasks.values())
        return bool(self._left) or any(is_due) or any(map(self._may_step, self._tasks.values()))

    def _may_step(self, task: Task) -> bool:
        return not task.is_paused

    def _prepare(self) -> None:
        """Say which tasks stand still from now on, or continue."""
        with self._wake:
            turned = [each for each in self._tasks.values() if each.is_paused != each.is_still]
        for each in turned:
            each.is_still = not each.is_still
            self._told.emit(each.on_pause, (each.is_still,))

    def _by_urgency(self) -> Iterator[Task]:
        """Yield the tasks that may step, the most urgent first; each then waits for its turn."""
        with self._wake:
            tasks = sorted(self._tasks.values(), key=lambda each: -each.urgency)
        for task in tasks:
            with self._wake:
                is_due = self._tasks.get(task.name) is task and self._may_step(task)
                if is_due:
                    task.has_begun = True
                    self._tasks[task.name] = self._tasks.pop(task.name)
            if is_due:
                yield task

    def _step(self, task: Task) -> bool:
        """Do one step; return True if the task waits for a device, and others may step."""
        try:
            with device_turns.purpose(task.purpose):
                task.steps = task.make() if task.steps is None else task.steps
                step = next(task.steps, _OVER)
        except MemoryError:
            self._end(task, OutOfMemoryError(TOO_LITTLE_MEMORY))
        except KernelError as error:
            self._end(task, error)
        except Exception as error:  # noqa: BLE001 - carried to the GUI thread, not swallowed
            report(error)
            self._end(task)
        else:
            if step is _OVER:
                self._end(task, is_complete=True)
            elif step is not None:
                progress = step if isinstance(step, Progress) else None
                if progress is None or progress != task.progress:
                    self._told.emit(task.on_step, (step,))
                task.progress = progress
            return isinstance(step, Waiting)
        return False

    def _end(
        self, task: Task, error: KernelError | None = None, *, is_complete: bool = False
    ) -> None:
        with self._wake:
            if self._tasks.get(task.name) is task:
                del self._tasks[task.name]
            elif task in self._left:  # the cancel came too late
                self._left.remove(task)
        self._told.emit(task.on_end, (error, is_complete))

    def _close_left(self) -> None:
        """Close the dropped tasks, without the lock: they may have something to save."""
        with self._wake:
            left, self._left = self._left, []
        for task in left:
            steps, task.steps = task.steps, None
            try:
                if isinstance(steps, Generator):
                    steps.close()
            except Exception as error:  # noqa: BLE001 - carried to the GUI thread, not swallowed
                report(error)
            del steps  # some Pythons 3.12 end what it iterates with its last reference alone
            self._told.emit(task.on_end, (None, False))


class AnalysisThread(Scheduler):
    """A Scheduler that starts at the first request."""

    def put(self, task: Task) -> None:
        super().put(task)
        if not self._is_closing and not self.isRunning():
            self.start()
