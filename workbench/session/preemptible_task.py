"""A long computation that everything else goes before: a sweep, a tuning, a comparison."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any

from kernels.core.errors import KernelError
from kernels.engine.engine import Engine

Sweeping = Callable[[Engine], Iterator[Any]]  # or tuning


@dataclass(frozen=True, slots=True)
class Ended:
    """What ran, if it had begun, and was stopped."""

    steps: Iterator[Any] | None


class PreemptibleTask:
    """A long computation that everything else goes before: the one wished for, the one that runs.
    Of one thread, which alone takes, steps and tells; others may wish, under a lock of the owner's,
    which that thread holds, too, but for stepping and telling.

    stepped, ended, paused  what to tell each step, the end, and that it stands still or goes on
    """

    def __init__(
        self,
        stepped: Callable[[Any], None],
        ended: Callable[[KernelError | None, bool], None],
        paused: Callable[[bool], None] = lambda _: None,
    ) -> None:
        self._stepped, self.ended, self._paused = stepped, ended, paused
        self._wanted: Sweeping | None = None
        self._is_to_stop = self._is_to_pause = self._is_paused = False
        self._steps: Iterator[Any] | None = None
        self._latest: Any = None

    @property
    def is_running(self) -> bool:
        return self._steps is not None

    @property
    def can_step(self) -> bool:
        return self.is_running and not self._is_to_pause

    @property
    def has_wish(self) -> bool:
        """Whether it is to begin, to end, or to pause."""
        is_to_tell = self._is_to_pause != self._is_paused
        return self._is_to_stop or self._wanted is not None or is_to_tell

    @property
    def has_work(self) -> bool:
        return self.has_wish or self.can_step

    def start(self, make: Sweeping) -> None:
        self._is_to_stop, self._wanted, self._is_to_pause = self.is_running, make, False

    def cancel(self) -> None:
        self._is_to_stop = self.is_running or self._wanted is not None
        self._wanted, self._is_to_pause = None, False

    def pause(self, is_paused: bool) -> None:
        self._is_to_pause = is_paused and (self.is_running or self._wanted is not None)

    def tell_pause(self) -> None:
        """Say whether it stands still, if that is news."""
        if self._is_to_pause != self._is_paused:
            self._is_paused = self._is_to_pause
            self._paused(self._is_paused)

    def take(self, engine: Engine) -> Ended | None:
        """Turn wishes into what runs; returns what was stopped for that."""
        ended = None
        if self._is_to_stop:
            ended = Ended(self.drop())
        if self._wanted is not None:
            self._steps, self._wanted, self._latest = self._wanted(engine), None, None
        return ended

    def step(self) -> bool:
        """Do one step and tell it; False: there was none left."""
        assert self._steps is not None
        step = next(self._steps, None)
        if step is None:
            return False
        if step != self._latest:  # the same Progress may come thousands of times a second
            self._latest = step
            self._stepped(step)
        return True

    def drop(self) -> Iterator[Any] | None:
        """Nothing runs, nothing is to be stopped; returns what ran."""
        steps, self._steps, self._is_to_stop = self._steps, None, False
        self._is_to_pause = self._is_to_pause and self._wanted is not None
        return steps


def close(steps: Iterator[Any] | None) -> None:
    """End a generator here and now: it may have something to save, or threads to wait for."""
    if isinstance(steps, Generator):
        steps.close()
