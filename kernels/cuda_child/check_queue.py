"""Answers that wait for their check: done one after the other in a thread, beside the child."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from itertools import takewhile
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.job import Job
from kernels.core.verdict import Check, Tolerance
from kernels.oracle.checking import Oracle, checking
from kernels.oracle.reference import filtered

SOME_TILES = 8  # of an answer, drawn at random
TILE = 64  # pixels


class CheckQueue:
    """Checks of answers against the reference, in the order in which they were added."""

    def __init__(self, tolerance_of: Callable[[Job], Tolerance]) -> None:
        self._tolerance_of = tolerance_of
        self._thread = ThreadPoolExecutor(1, "checks")
        self._is_closed = Event()
        self._checks: list[Future[Check]] = []

    def add(self, job: Job, answer: NDArray[Any], max_taps: int | None) -> None:
        """Add an answer, (H, W, C), to be checked as far as so many products go; None: wholly."""
        self._begin(checking(job, answer, self._tolerance_of(job), max_taps))

    def add_some(self, job: Job, answer: NDArray[Any]) -> None:
        """Add an answer, (H, W, C), of which some tiles are to be checked."""
        self._begin(self._some(job, answer))

    @property
    def done(self) -> list[Check]:
        """Return the checks that came to their end, the first added first."""
        return [each.result() for each in takewhile(Future.done, self._checks)]

    @property
    def left(self) -> int:
        """Return how many are not done."""
        return sum(not each.done() for each in self._checks)

    def wait(self, seconds: float) -> None:
        """Wait until all are done, but not longer."""
        wait(self._checks, seconds)

    def close(self) -> None:
        """Do no more of them, without waiting for what is under way: a GUI thread may be here."""
        self._is_closed.set()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _begin(self, steps: Iterator[Check]) -> None:
        self._checks.append(self._thread.submit(self._driven, steps))

    def _driven(self, steps: Iterator[Check]) -> Check:
        known = next(steps)
        for known in steps:  # noqa: B007 - the last one counts
            if self._is_closed.is_set():
                raise CancelledError
        return known

    def _some(self, job: Job, answer: NDArray[Any]) -> Iterator[Check]:
        tiles = some_tiles(job, np.random.default_rng())
        yield from checking(job, answer, self._tolerance_of(job), None, tiles)


def some_tiles(job: Job, random: np.random.Generator) -> Oracle:
    """Return the reference for some tiles of the answer."""
    found: Oracle = {}
    for _ in range(SOME_TILES):
        top = int(random.integers(0, max(job.height - TILE, 0) + 1))
        left = int(random.integers(0, max(job.width - TILE, 0) + 1))
        bottom, right = min(top + TILE, job.height), min(left + TILE, job.width)
        found[top, bottom, left, right] = filtered(job, (top, bottom), (left, right))
    return found
