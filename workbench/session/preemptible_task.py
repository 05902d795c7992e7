"""A long computation that everything else goes before: a sweep, a comparison."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any

from kernels.core.device_turns import Waiting
from kernels.core.errors import DeviceLostError, KernelError
from kernels.core.job import Job, Progress, Result, Sampling
from kernels.engine.engine import Engine

MakeSteps = Callable[[Engine], Iterator[Any]]


@dataclass(frozen=True, slots=True)
class Ended:
    """A computation that was stopped: its steps; None if it had not begun."""

    steps: Iterator[Any] | None


class PreemptibleTask:
    """A long computation that everything else goes before: the one that runs, and the next.

    One thread takes, steps and emits.  Others may only `start`, `cancel` and `pause`.  Both hold a
    lock of the owner's meanwhile, but the thread does not while it steps or emits.

    purpose  of it, in words, for others that wait for the device
    stepped  called with each step
    ended    called at the end, with the error if there is one, and whether it is complete
    paused   called when it stands still from now on, or goes on
    """

    def __init__(
        self,
        purpose: str,
        stepped: Callable[[Any], None],
        ended: Callable[[KernelError | None, bool], None],
        paused: Callable[[bool], None] = lambda _: None,
    ) -> None:
        self.purpose, self.waits = purpose, False
        self._stepped, self.ended, self._paused = stepped, ended, paused
        self._wanted: MakeSteps | None = None
        self._is_to_stop = self._is_to_pause = self._is_paused = False
        self._steps: Iterator[Any] | None = None
        self._latest: Any = None

    @property
    def is_running(self) -> bool:
        """Return whether a computation has begun and not ended, be it paused."""
        return self._steps is not None

    @property
    def can_step(self) -> bool:
        """Return whether a computation runs and is not to pause."""
        return self.is_running and not self._is_to_pause

    @property
    def has_request(self) -> bool:
        """Return whether it is to begin, to end, to pause or to go on."""
        is_news = self._is_to_pause != self._is_paused
        return self._is_to_stop or self._wanted is not None or is_news

    @property
    def has_work(self) -> bool:
        """Return whether there is a request to take or a step to do."""
        return self.has_request or self.can_step

    def start(self, make: MakeSteps) -> None:
        """Ask for a computation in place of the one that runs."""
        self._is_to_stop, self._wanted, self._is_to_pause = self.is_running, make, False

    def cancel(self) -> None:
        """Ask for the end of the computation that runs or waits."""
        self._is_to_stop = self.is_running or self._wanted is not None
        self._wanted, self._is_to_pause = None, False

    def forget(self) -> bool:
        """Drop the request for a computation; return whether there was one."""
        wanted, self._wanted = self._wanted, None
        return wanted is not None

    def pause(self, is_paused: bool) -> None:
        """Ask that the computation stands still, or goes on; without one nothing happens."""
        self._is_to_pause = is_paused and (self.is_running or self._wanted is not None)

    def emit_pause(self) -> None:
        """Call `paused` if it stands still from now on, or goes on again."""
        if self._is_to_pause != self._is_paused:
            self._is_paused = self._is_to_pause
            self._paused(self._is_paused)

    def take(self, engine: Engine) -> Ended | None:
        """Begin the computation that was requested; return the one that was stopped, if any.

        What begins it is called with its first step.
        """
        ended = None
        if self._is_to_stop:
            ended = Ended(self.drop())
        if self._wanted is not None:
            self._steps, self._wanted, self._latest = _begun(self._wanted, engine), None, None
        return ended

    def step(self) -> bool:
        """Do one step and hand it to `stepped`; return False where there was none left.

        `waits` then says whether it waits for its turn on a device, and others may go on.
        """
        assert self._steps is not None
        step = next(self._steps, None)
        self.waits = isinstance(step, Waiting)
        if step is None:
            return False
        if step != self._latest:  # the same Progress may come thousands of times a second
            self._latest = step
            self._stepped(step)
        return True

    def drop(self) -> Iterator[Any] | None:
        """Forget the computation that runs and the request to stop it; return its steps."""
        steps, self._steps, self._is_to_stop = self._steps, None, False
        self._is_to_pause = self._is_to_pause and self._wanted is not None
        return steps


def _begun(make: MakeSteps, engine: Engine) -> Iterator[Any]:
    yield from make(engine)


def close(steps: Iterator[Any] | None) -> None:
    """End a generator at once: it may have something to save, or threads to wait for."""
    if isinstance(steps, Generator):
        steps.close()


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
