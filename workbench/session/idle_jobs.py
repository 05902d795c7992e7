"""Jobs that are timed while no picture is waited for: a baseline, or what was run only once."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kernels.core.errors import DeviceLostError, KernelError
from kernels.core.job import Job, Progress, Result, Sampling
from kernels.engine.engine import Engine


class IdleJobs:
    """Jobs to be timed one after another, and the one that is.

    One thread takes and steps.  Others may only `ask` and `forget`.  Both hold a lock of the
    owner's meanwhile, but not the thread while it steps.

    emit  called with each job's last Result, which is checked
    """

    def __init__(self, emit: Callable[[Result], None]) -> None:
        self._emit = emit
        self._wanted: list[tuple[Job, Sampling]] = []
        self._is_to_stop = False
        self._steps: Iterator[Progress | Result] | None = None

    @property
    def has_work(self) -> bool:
        return self.can_step or bool(self._wanted)

    @property
    def can_step(self) -> bool:
        return self._steps is not None

    def ask(self, job: Job, sampling: Sampling) -> None:
        """Time `job` after those that wait already."""
        self._wanted.append((job, sampling))

    def forget(self) -> None:
        """Drop all of them, the one that runs as well."""
        self._wanted, self._is_to_stop = [], True

    def take(self, engine: Engine) -> None:
        """Begin the next where none runs."""
        if self._is_to_stop:
            self._steps, self._is_to_stop = None, False
        if self._steps is None and self._wanted:
            self._steps = engine.filtering(*self._wanted.pop(0))

    def step(self) -> None:
        """Do one step, and emit what came of it in the end.  Raises DeviceLostError: what else
        fails says so where its picture is waited for, and there is just no such time."""
        steps, self._steps = self._steps, None
        assert steps is not None
        try:
            step = next(steps, None)
        except DeviceLostError:
            raise
        except (KernelError, MemoryError):
            return
        if step is not None:
            self._steps = steps
        if isinstance(step, Result) and step.check is not None:
            self._emit(step)

    def drop(self) -> None:
        """Forget what runs."""
        self._steps = None
