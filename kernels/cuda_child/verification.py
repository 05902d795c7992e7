"""Verification of the outputs of a trial, in threads beside the child.

References are computed once for a picture, and for pictures that no run has seen while the source
is compiled.  None is ever in the memory of the process that runs the kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import cache, partial
from threading import Event, Lock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kernels.core.cpu_load import usable_cores
from kernels.core.job import Job, Sampling
from kernels.core.poison import same_bits
from kernels.core.verdict import Check, Tolerance
from kernels.oracle.checking import TILE, Oracle, checking
from kernels.oracle.reference import filtered

MAX_THREADS = 3  # more of them wait for the interpreter, and for one another
ROOMS = 3  # for outputs: two to the user's own picture, and the first that is timed
SOME_TILES = 8  # of an output, drawn at random
MAX_BYTES = 192 << 20  # of references that are worked out before they are needed
# Worked out at once, by one of the threads that share a picture: in many small tiles the
# interpreter goes to and fro between them, and what waits for it is the run of the kernel.
STRIP_SAMPLES = 1 << 17
MAX_PASSED = 4  # outputs that are remembered, of kernels that add up in another order

T = TypeVar("T")
Worked = Iterator[Oracle]  # the tiles so far, until all are there
Reference = tuple["Future[Oracle]", ...]  # each of some tiles


def fresh(job: Job, random: np.random.Generator) -> Job:
    """The job on another picture of the same kind, whose samples are no larger in magnitude."""
    # Every run that is timed filters something that no run before has seen: the user's picture,
    # moved around, each row of it changed in its own way.  It costs a kernel the same, and to make
    # an output of an earlier one takes knowing all of that, and the products of each row anew.
    down, across = (int(random.integers(0, size)) for size in job.picture.shape[:2])
    picture = np.roll(job.picture, (down, across), (0, 1))
    rows = (len(picture), 1, 1)
    if picture.dtype.kind == "u":
        most = int(np.iinfo(picture.dtype).max)
        picture ^= random.integers(1, most, rows, picture.dtype)  # neither none nor all
    else:
        picture *= random.uniform(0.5, 1.0, rows).astype(picture.dtype)
    return replace(job, picture=picture)


# Submits a reference computation to the thread pool; with in_turn=True one at a time, in a thread
# of their own: two threads take longer for small tiles than one, waiting for the interpreter.
Submit = Callable[..., "Future[Oracle]"]


@dataclass(frozen=True, slots=True, eq=False)
class Unseen:
    """A picture of a job's kind that no run has seen, and the reference of what is compared.

    reference  (): that is worked out when the answer is there, tile by tile
    """

    job: Job
    reference: Reference
    is_whole: bool


class ExpectedAnswers:
    """The references for one job; for one trial at a time."""

    def __init__(self, job: Job, sampling: Sampling) -> None:
        self._job, self._sampling = job, sampling
        self._random = np.random.default_rng()
        self._whole: Reference = ()
        self._unseen: list[Unseen] = []
        self._passed: list[tuple[Tolerance, NDArray[np.generic], Check]] = []

    def is_of(self, job: Job, sampling: Sampling) -> bool:
        """True if they are for this job, compared as far."""
        return self._job.same_work(job) and self._sampling == sampling

    @property
    def is_kept(self) -> bool:
        """True if there is room to work them out before they are needed."""
        return self._is_full and self._bytes <= MAX_BYTES

    def begin(self, submit: Submit) -> None:
        """Submit what is going to be needed, as far as that was not done."""
        if not self.is_kept:
            return
        self.reference(submit)
        count = self._sampling.max_samples
        while len(self._unseen) < count:
            is_whole = not any(each.is_whole for each in self._unseen)
            self._unseen.append(self._made(submit, is_whole))

    def reference(self, submit: Submit) -> Reference:
        """The reference of the user's picture; (): it is to be worked out in passing."""
        if not self._whole and self.is_kept:
            self._whole = _worked_out(self._job, submit)
        return self._whole

    def unseen(self, submit: Submit, is_whole: bool) -> Unseen:
        """Take a picture that was not taken before.

        is_whole  all of its output is to be compared, as of the user's picture
        """
        for each in self._unseen:
            if each.is_whole == is_whole:
                self._unseen.remove(each)
                return each
        return self._made(submit, is_whole)

    def drop_unfinished(self) -> None:
        """Keep the references that are known now; others may be given up."""
        if not _is_known(self._whole):
            self._whole = ()
        self._unseen = [each for each in self._unseen if _is_known(each.reference)]

    def passed(self, tolerance: Tolerance, answer: NDArray[np.generic]) -> Check | None:
        """The check of an output for the user's picture that equals this one bit by bit."""
        known = (each for each in self._passed if each[0] == tolerance)
        return next((check for _, other, check in known if same_bits(other, answer)), None)

    def note_passed(self, tolerance: Tolerance, answer: NDArray[np.generic], check: Check) -> None:
        """Remember a right output for the user's picture that was compared as a whole."""
        if self.is_kept and check.ok and check.is_full:
            self._passed = [*self._passed, (tolerance, answer, check)][-MAX_PASSED:]

    def _made(self, submit: Submit, is_whole: bool) -> Unseen:
        job = fresh(self._job, self._random)
        job.picture.flags.writeable = False
        if not is_whole:
            some = _working_out_some(job, self._random)
            return Unseen(job, (submit(some, in_turn=True),), False)
        return Unseen(job, _worked_out(job, submit) if self.is_kept else (), True)

    @property
    def _is_full(self) -> bool:
        most = self._sampling.check_taps
        products = self._job.picture.size * self._job.ksize**2
        return most is None or products <= most

    @property
    def _bytes(self) -> int:
        size, picture = self._job.picture.size, self._job.picture.nbytes
        some = SOME_TILES * TILE**2 * self._job.channels * 8
        unseen = self._sampling.max_samples * (picture + some)
        return 2 * 8 * size + unseen + MAX_PASSED * picture


_shelf: list[ExpectedAnswers] = []
_lock = Lock()


def taken(job: Job, sampling: Sampling) -> ExpectedAnswers:
    """Take what is kept for this job, else nothing yet, and keep no other; see `put_back`."""
    with _lock:
        kept = [_shelf.pop()] if _shelf else []
    fitting = (each for each in kept if each.is_of(job, sampling))
    return next(fitting, None) or ExpectedAnswers(job, sampling)


def put_back(expected: ExpectedAnswers) -> None:
    """Keep it for the next text, in place of what was kept."""
    with _lock:
        _shelf[:] = [expected] if expected.is_kept else []


def forget() -> None:
    """Keep nothing."""
    with _lock:
        _shelf.clear()


def _worked_out(job: Job, submit: Submit) -> Reference:
    """Submit all of it, in strips that threads share."""

    def strip(top: int, bottom: int) -> Worked:
        yield {(top, bottom, 0, job.width): filtered(job, (top, bottom))}

    rows = max(STRIP_SAMPLES // (job.width * job.channels), 1)
    tops = range(0, job.height, rows)
    return tuple(submit(strip(top, min(top + rows, job.height))) for top in tops)


def _working_out_some(job: Job, random: np.random.Generator) -> Worked:
    found: Oracle = {}
    last = [max(size - TILE, 0) + 1 for size in job.picture.shape[:2]]
    for top, left in random.integers(0, last, (SOME_TILES, 2)).tolist():
        bottom, right = min(top + TILE, job.height), min(left + TILE, job.width)
        found[top, bottom, left, right] = filtered(job, (top, bottom), (left, right))
        yield found


def _is_known(reference: Reference) -> bool:
    return bool(reference) and all(
        each.done() and not each.cancelled() and each.exception() is None for each in reference
    )


@dataclass(slots=True, eq=False)
class _Checking:
    """The check of one output, in parts that threads share.

    then  called with the check, once it is known
    room  the output's memory, where it may be written to then; None: it may not
    """

    parts: list[Future[Check]]
    then: Callable[[Check], None] = lambda _: None
    room: NDArray[Any] | None = None
    known: Check | None = None

    @property
    def check(self) -> Check | None:
        """The check; None: it is not done."""
        if self.known is None and all(each.done() for each in self.parts):
            known, *others = (each.result() for each in self.parts)
            for each in others:
                known = known.with_strip(each, 0)
            self.known = known
            self.then(known)
        return self.known


class VerificationQueue:
    """Checks of outputs against the reference, in the order in which they were added.

    expected  the references; theirs alone until `close`
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
        """Compute references while nothing has been added yet.

        picture  like the outputs, for which memory is reserved
        """
        self._expected.begin(self._submit)
        if self._expected.is_kept:
            self._rooms = [np.full_like(picture, 0) for _ in range(ROOMS)]

    def add(self, job: Job, answer: NDArray[Any]) -> None:
        """Add the output for the user's own picture, (H, W, C)."""
        tolerance = self._tolerance_of(job)
        if (passed := self._expected.passed(tolerance, answer)) is not None:
            self._checks.append(_Checking([], known=passed))
            return
        parts = self._parts(job, answer, self._expected.reference(self._submit))
        then = partial(self._expected.note_passed, tolerance, answer)
        self._checks.append(_Checking(parts, then))

    def unseen(self, is_whole: bool) -> Unseen:
        """Take a picture that no run has seen, of whose output some is to be compared, or all."""
        return self._expected.unseen(self._submit, is_whole)

    def add_unseen(self, unseen: Unseen, answer: NDArray[Any], is_whole: bool) -> None:
        """Add the output for such a picture; all of it is compared where `is_whole` changed."""
        reference = unseen.reference if unseen.is_whole == is_whole else ()
        for each in self._checks:
            if each.room is answer:  # it is compared once more
                each.room = None
        parts = self._parts(unseen.job, answer, reference)
        self._checks.append(_Checking(parts, room=answer))

    def room(self) -> NDArray[Any] | None:
        """Memory for an output, perhaps of one that was checked; None: there is none.

        New memory would cost a fault a page.
        """
        for each in self._checks:
            if each.room is not None and each.check is not None:
                self._rooms.append(each.room)
                each.room = None
        return self._rooms.pop() if self._rooms else None

    @property
    def done(self) -> list[Check]:
        """The checks that came to their end, the first added first."""
        found = []
        for each in self._checks:
            if (check := each.check) is None:
                break
            found.append(check)
        return found

    @property
    def left(self) -> int:
        """Count those that are not done."""
        return sum(each.check is None for each in self._checks)

    def wait(self, seconds: float) -> None:
        """Wait until all are done, but not longer."""
        wait([part for each in self._checks for part in each.parts], seconds)

    def close(self) -> None:
        """Cancel the rest, without waiting for what is under way: a GUI thread may be here."""
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
        # References were begun before, so that no thread waits for another one in vain.
        known = None if reference is None else reference.result()
        yield from checking(job, answer, tolerance, self._max_taps, known)


@cache
def _threads(*, in_turn: bool) -> ThreadPoolExecutor:
    """Thread pool of all checks in this process."""
    if in_turn:
        return ThreadPoolExecutor(1, "checks-in-turn")
    return ThreadPoolExecutor(min(max(usable_cores() - 1, 1), MAX_THREADS), "checks")
