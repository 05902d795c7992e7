"""Answers that wait for their check: done in threads beside the child, as are their references."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cache, partial
from threading import Event
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kernels.core.cpu_load import usable_cores
from kernels.core.job import Job, Sampling
from kernels.core.verdict import Check, Tolerance
from kernels.cuda_child.expected_answers import ExpectedAnswers, Reference, Unseen
from kernels.oracle.checking import Oracle, checking

MAX_THREADS = 3  # more of them wait for the interpreter, and for one another
ROOMS = 3  # for answers: two to the user's own picture, and the first that is timed

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class _Checking:
    """The check of one answer, in parts that threads share.

    then  told what came of it, once that is known
    room  the answer's memory, where it may be written to then; None: it may not
    """

    parts: list[Future[Check]]
    then: Callable[[Check], None] = lambda _: None
    room: NDArray[Any] | None = None
    known: Check | None = None

    @property
    def check(self) -> Check | None:
        """Return what came of it; None: it is not done."""
        if self.known is None and all(each.done() for each in self.parts):
            known, *others = (each.result() for each in self.parts)
            for each in others:
                known = known.with_strip(each, 0)
            self.known = known
            self.then(known)
        return self.known


class CheckQueue:
    """Checks of answers against the reference, in the order in which they were added.

    expected  what answers are held against; theirs alone until `close`
    """

    def __init__(
        self,
        tolerance_of: Callable[[Job], Tolerance],
        expected: ExpectedAnswers,
        sampling: Sampling,
    ) -> None:
        self._tolerance_of, self._expected = tolerance_of, expected
        self._max_taps = sampling.check_taps
        self._is_closed = Event()
        self._begun: set[Future[Any]] = set()  # and not done: a result may be large
        self._checks: list[_Checking] = []
        self._rooms: list[NDArray[Any]] = []

    def begin(self, picture: NDArray[Any]) -> None:
        """Work out what is going to be expected, while nothing has been added yet.

        picture  like the answers, for which there is to be memory
        """
        self._expected.begin(self._submit)
        if self._expected.is_kept:
            self._rooms = [np.full_like(picture, 0) for _ in range(ROOMS)]

    def add(self, job: Job, answer: NDArray[Any]) -> None:
        """Add the answer to the user's own picture, (H, W, C)."""
        tolerance = self._tolerance_of(job)
        if (passed := self._expected.passed(tolerance, answer)) is not None:
            self._checks.append(_Checking([], known=passed))
            return
        parts = self._parts(job, answer, self._expected.reference(self._submit))
        then = partial(self._expected.note_passed, tolerance, answer)
        self._checks.append(_Checking(parts, then))

    def unseen(self, is_whole: bool) -> Unseen:
        """Return a picture that no run has seen, of whose answer some is to be compared, or all."""
        return self._expected.unseen(self._submit, is_whole)

    def add_unseen(self, unseen: Unseen, answer: NDArray[Any], is_whole: bool) -> None:
        """Add the answer to such a picture; all of it is compared if that is asked for only now."""
        reference = unseen.reference if unseen.is_whole == is_whole else ()
        for each in self._checks:
            if each.room is answer:  # it is compared once more
                each.room = None
        parts = self._parts(unseen.job, answer, reference)
        self._checks.append(_Checking(parts, room=answer))

    def room(self) -> NDArray[Any] | None:
        """Return memory for an answer, perhaps of one that was checked; None: there is none.

        New memory would cost a fault a page.
        """
        for each in self._checks:
            if each.room is not None and each.check is not None:
                self._rooms.append(each.room)
                each.room = None
        return self._rooms.pop() if self._rooms else None

    @property
    def done(self) -> list[Check]:
        """Return the checks that came to their end, the first added first."""
        found = []
        for each in self._checks:
            if (check := each.check) is None:
                break
            found.append(check)
        return found

    @property
    def left(self) -> int:
        """Return how many are not done."""
        return sum(each.check is None for each in self._checks)

    def wait(self, seconds: float) -> None:
        """Wait until all are done, but not longer."""
        wait([part for each in self._checks for part in each.parts], seconds)

    def close(self) -> None:
        """Do no more of them, without waiting for what is under way: a GUI thread may be here."""
        self._is_closed.set()
        for each in tuple(self._begun):
            each.cancel()

    def _submit(self, steps: Iterator[T], *, in_turn: bool = False) -> Future[T]:
        future = _threads(in_turn=in_turn).submit(self._driven, steps)
        self._begun.add(future)
        future.add_done_callback(self._begun.discard)
        return future

    def _driven(self, steps: Iterator[T]) -> T:
        known = next(steps)
        for known in steps:  # noqa: B007 - the last one counts
            if self._is_closed.is_set():
                raise CancelledError
        return known

    def _parts(self, job: Job, answer: NDArray[Any], reference: Reference) -> list[Future[Check]]:
        tolerance = self._tolerance_of(job)
        return [
            self._submit(self._checking(job, answer, tolerance, each))
            for each in reference or (None,)
        ]

    def _checking(
        self,
        job: Job,
        answer: NDArray[Any],
        tolerance: Tolerance,
        reference: Future[Oracle] | None,
    ) -> Iterator[Check]:
        # What is worked out was begun before, so that no thread waits for another one in vain.
        known = None if reference is None else reference.result()
        yield from checking(job, answer, tolerance, self._max_taps, known)


@cache
def _threads(*, in_turn: bool) -> ThreadPoolExecutor:
    """Thread pool of all checks in this process."""
    if in_turn:
        return ThreadPoolExecutor(1, "checks-in-turn")
    return ThreadPoolExecutor(min(max(usable_cores() - 1, 1), MAX_THREADS), "checks")
