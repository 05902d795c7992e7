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

Make = Callable[[], Iterator[Any]]


@dataclass(slots=True, eq=False)
class _Task:
    name: str
    number: int
    urgency: int
    make: Make
    on_step: Callable[[Any], None]
    on_failure: Callable[[str], None]
    steps: Iterator[Any] | None = None


class AnalysisThread(QThread):
    """A thread that drives generators, of those with the same name only the newest.

    An older one of that name is dropped at its next step, so nothing is computed that nobody waits
    for any more.

    What a generator yields goes to the function given with it, on the thread that asked.  None is
    only a place where it may be put aside; one should come every 20 ms or so.

    Signals:
        hurries(is_so): something that hurries is under way from now on, or no longer; whoever
            would slow it down may wait meanwhile.
        broke(sentence, details): a bug, with its traceback.
        dropped(name): what was awaited of that name ended with a bug.
    """

    hurries = Signal(bool)
    broke = Signal(str, str)
    dropped = Signal(str)
    _stepped = Signal(object, object, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._wake = Condition()  # guards the tasks
        self._tasks: dict[str, _Task] = {}
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
            self._tasks[name] = _Task(name, self._asked, urgency, make, on_step, on_failure)
            self._wake.notify()
        self._note_hurry(name, hurries)
        if not self.isRunning():
            self.start()

    def cancel(self, name: str) -> None:
        """Drop the computation of this name; an answer that is already on the way is ignored."""
        with self._wake:
            self._awaited.pop(name, None)
            self._tasks.pop(name, None)  # it may be in the middle of a step
        self._note_hurry(name, False)

    def is_under_way(self, name: str) -> bool:
        """Return whether a computation of this name still has steps to do."""
        with self._wake:
            return name in self._tasks

    def close(self) -> None:
        """Stop at the next step, and wait for the thread to end."""
        with self._wake:
            self._is_closing = True
            self._tasks.clear()
            self._wake.notify()
        self.wait()

    def run(self) -> None:
        """Do steps until `close` is called; Qt calls it, on the thread."""
        while self._step_next():
            pass

    def _step_next(self) -> bool:
        """Do the most urgent step; return False at the end.

        No task is kept alive while it waits for one.
        """
        if (task := self._next()) is None:
            return False
        self._step(task)
        return True

    def _next(self) -> _Task | None:
        with self._wake:
            while not self._tasks and not self._is_closing:
                self._wake.wait()
            if self._is_closing:
                return None
            task = max(self._tasks.values(), key=lambda task: task.urgency)
            self._tasks[task.name] = self._tasks.pop(task.name)  # equals take turns
            return task

    def _step(self, task: _Task) -> None:
        try:
            if task.steps is None:
                task.steps = task.make()
            step = next(task.steps)
        except StopIteration:
            self._end(task)
            self._stepped.emit(task, None, "")
            return
        except MemoryError:
            self._end(task)
            self._stepped.emit(task, OutOfMemoryError(TOO_LITTLE_MEMORY), "")
            return
        except Exception as error:  # noqa: BLE001 - carried to the GUI thread, not swallowed
            self._end(task)
            self._stepped.emit(task, f"{type(error).__name__}: {error}", traceback.format_exc())
            return
        if step is not None:
            self._stepped.emit(task, step, "")

    def _end(self, task: _Task) -> None:
        with self._wake:
            if self._tasks.get(task.name) is task:
                task.steps = None
                del self._tasks[task.name]

    def _deliver(self, task: _Task, step: Any, details: str) -> None:
        """Give a step to whoever asked for it, on their thread; None: there is no more."""
        if self._is_closing:
            return
        if details:
            self.broke.emit(step, details)
        if self._awaited.get(task.name) != task.number:
            return  # nobody waits for it any more
        if details:
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
