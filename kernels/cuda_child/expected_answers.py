"""Expected outputs of a job, computed before a run ends and kept from text to text.

Only a kernel's text changes from save to save.  So the reference of the user's picture is worked
out once, and pictures that no run has seen, with their references, while the compiler is at work.
None of it is ever in the memory of the process that runs the kernel, but for a picture as it runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kernels.core.job import Job, Sampling
from kernels.core.poison import same_bits
from kernels.core.verdict import Check, Tolerance
from kernels.oracle.checking import TILE, Oracle
from kernels.oracle.reference import filtered


def fresh(job: Job, random: np.random.Generator) -> Job:
    """Return the job on a picture of the same kind, no sample of which is larger in magnitude
    than the type's, or than the largest of the picture's where it is of floats."""
    # Every run that is timed filters something that no run before has seen: the user's picture,
    # moved around, each row of it changed in its own way.  It costs a kernel the same, and to make
    # an output of an earlier one takes knowing all of that, and the products of each row anew.
    down, across = (int(random.integers(0, size)) for size in job.picture.shape[:2])
    picture = np.roll(job.picture, (down, across), (0, 1))
    return replace(job, picture=_changed(picture, random))


def _changed(picture: NDArray[Any], random: np.random.Generator) -> NDArray[Any]:
    """Change it row by row: bits of integers are flipped, floats scaled."""
    rows = (len(picture), 1, 1)
    if picture.dtype.kind == "u":
        most = int(np.iinfo(picture.dtype).max)
        picture ^= random.integers(1, most, rows, picture.dtype)  # neither none nor all
    else:
        picture *= random.uniform(0.5, 1.0, rows).astype(picture.dtype)
    return picture


SOME_TILES = 8  # of an answer, drawn at random
MAX_BYTES = 192 << 20  # of what is worked out before it is needed
# Worked out at once, by one of the threads that share a picture: in many small tiles the
# interpreter goes to and fro between them, and what waits for it is the run of the kernel.
STRIP_SAMPLES = 1 << 17
MAX_PASSED = 4  # answers that are remembered, of kernels that add up in another order

Worked = Iterator[Oracle]  # the tiles so far, until all are there
Reference = tuple["Future[Oracle]", ...]  # each of some tiles


class Submit(Protocol):
    """Has something worked out by threads that share such work."""

    def __call__(self, steps: Worked, *, in_turn: bool = False) -> Future[Oracle]:
        """Return what will be its last step.

        in_turn  one at a time, in a thread of their own: two threads take longer for small tiles
                 than one, since they wait for the interpreter, as does the run of the kernel
        """


@dataclass(frozen=True, slots=True, eq=False)
class Unseen:
    """A picture of a job's kind that no run has seen, and the reference for what is compared.

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
        """Return whether they are for this job, compared as far."""
        return self._job.same_work(job) and self._sampling == sampling

    @property
    def is_kept(self) -> bool:
        """Return whether there is room to work them out before they are needed."""
        return self._is_full and self._bytes <= MAX_BYTES

    def begin(self, submit: Submit) -> None:
        """Have what is going to be needed worked out, as far as that was not done."""
        if not self.is_kept:
            return
        self.reference(submit)
        count = self._sampling.max_samples
        while len(self._unseen) < count:
            is_whole = not any(each.is_whole for each in self._unseen)
            self._unseen.append(self._made(submit, is_whole))

    def reference(self, submit: Submit) -> Reference:
        """Return the reference of the user's picture; (): it is to be worked out in passing."""
        if not self._whole and self.is_kept:
            self._whole = _worked_out(self._job, submit)
        return self._whole

    def unseen(self, submit: Submit, is_whole: bool) -> Unseen:
        """Return a picture that was not asked for before.

        is_whole  whether all of its answer is to be compared, as of the user's picture
        """
        for each in self._unseen:
            if each.is_whole == is_whole:
                self._unseen.remove(each)
                return each
        return self._made(submit, is_whole)

    def drop_unfinished(self) -> None:
        """Keep what is known now; what is still worked out may be given up."""
        if not _is_known(self._whole):
            self._whole = ()
        self._unseen = [each for each in self._unseen if _is_known(each.reference)]

    def passed(self, tolerance: Tolerance, answer: NDArray[np.generic]) -> Check | None:
        """Return the check of an answer to the user's picture that equals this one bit by bit."""
        known = (each for each in self._passed if each[0] == tolerance)
        return next((check for _, other, check in known if same_bits(other, answer)), None)

    def note_passed(self, tolerance: Tolerance, answer: NDArray[np.generic], check: Check) -> None:
        """Remember an answer to the user's picture that was compared as a whole, and is right."""
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
        """Return whether all of an answer is compared."""
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
    """Return what is kept for this job, else nothing yet, and keep no other; see `put_back`."""
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
    """Have all of it worked out, in strips that threads share."""
    rows = max(STRIP_SAMPLES // (job.width * job.channels), 1)
    return tuple(
        submit(_working_out(job, top, min(top + rows, job.height)))
        for top in range(0, job.height, rows)
    )


def _working_out(job: Job, top: int, bottom: int) -> Worked:
    yield {(top, bottom, 0, job.width): filtered(job, (top, bottom))}


def _working_out_some(job: Job, random: np.random.Generator) -> Worked:
    found: Oracle = {}
    corners = [
        tuple(int(random.integers(0, max(size - TILE, 0) + 1)) for size in job.picture.shape[:2])
        for _ in range(SOME_TILES)
    ]
    for top, left in corners:
        bottom, right = min(top + TILE, job.height), min(left + TILE, job.width)
        found[top, bottom, left, right] = filtered(job, (top, bottom), (left, right))
        yield found


def _is_known(reference: Reference) -> bool:
    return bool(reference) and all(
        each.done() and not each.cancelled() and each.exception() is None for each in reference
    )
