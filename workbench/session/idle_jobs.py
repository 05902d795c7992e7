"""Jobs that are timed while no picture is waited for: a baseline, or what was run only once."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kernels.core.device_turns import Waiting
from kernels.core.errors import DeviceLostError, KernelError
from kernels.core.job import Job, Progress, Result, Sampling
from kernels.engine.engine import Engine


class IdleJobs:
    """A queue of jobs to be timed one after another, and the one that runs.

    One thread takes and steps.  Others may only `ask` and `forget`.  Both hold a lock of the
    owner's meanwhile, but the thread does not while it steps.

    emit  called with each job's last Result, which is checked
    """

    def __init__(self, emit: Callable[[Result], None]) -> None:
        self._emit = emit
        self._wanted: list[tuple[Job, Sampling]] = []
        self._is_to_stop = False
        self._steps: Iterator[Progress | Result] | None = None

    @property
    def has_work(self) -> bool:
        """Return whether a job runs or waits."""
        return self.can_step or bool(self._wanted)

    @property
    def can_step(self) -> bool:
        """Return whether a job runs."""
        return self._steps is not None

    def ask(self, job: Job, sampling: Sampling) -> None:
        """Time `job` after those that wait already."""
        self._wanted.append((job, sampling))

    def forget(self) -> None:
        """Drop all of them, the one that runs as well."""
        self._wanted, self._is_to_stop = [], True

    def take(self, engine: Engine) -> Iterator[Progress | Result] | None:
        """Begin the next job where none runs; return the one that was forgotten, to be closed."""
        left = self.drop() if self._is_to_stop else None
        self._is_to_stop = False
        if self._steps is None and self._wanted:
            self._steps = engine.filtering(*self._wanted.pop(0))
        return left

    def step(self) -> bool:
        """Do one step of the job that runs, and emit its Result at the end.

        Returns whether it waits for its turn on a device, and others may go on.

        Raises DeviceLostError. Any other failure only means that there is no such time: it is
        reported where the job's picture is waited for.
        """
        steps, self._steps = self._steps, None
        assert steps is not None
        try:
            step = next(steps, None)
        except DeviceLostError:
            raise
        except (KernelError, MemoryError):
            return False
        if step is not None:
            self._steps = steps
        if isinstance(step, Result) and step.check is not None:
            self._emit(step)
        return isinstance(step, Waiting)

    def drop(self) -> Iterator[Progress | Result] | None:
        """Forget the job that runs; return its steps."""
        steps, self._steps = self._steps, None
        return steps
