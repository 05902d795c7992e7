"""Verification of the outputs of a trial, in threads beside the child.

References are computed once for a picture, and for pictures that no run has seen while the source
is compiled.  None is ever in the memory of the process that runs the kernel.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cache
from threading import Event, Lock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kernels.core.cpu_load import usable_cores
from kernels.core.job import Job, Sampling
from kernels.core.verdict import Check, Tolerance
from kernels.oracle.checking import TILE, Oracle, checking
from kernels.oracle.reference import filtered

MAX_THREADS = 3  # more of them wait for the interpreter, and for one another
SOME_TILES = 8  # of an output, drawn at random
MAX_BYTES = 192 << 20  # of references that are computed before they are needed
# Computed at once, by one of the threads that share a picture: in many small tiles the interpreter
# goes to and fro between them, and what waits for it is the run of the kernel.
STRIP_SAMPLES = 1 << 17

T = TypeVar("T")
Tiles = Iterator[Oracle]  # the tiles so far, until all are there
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
    picture.flags.writeable = False
    return job.but(picture=picture)


@cache
def _threads(*, in_turn: bool) -> ThreadPoolExecutor:
    if in_turn:
        return ThreadPoolExecutor(1, "checks-in-turn")
    return ThreadPoolExecutor(min(max(usable_cores() - 1, 1), MAX_THREADS), "checks")


def _driven(steps: Iterator[T], is_closed: Event) -> T:
    known: list[T] = []
    while not is_closed.is_set():
        try:
            known = [next(steps)]
        except StopIteration:
            return known[0]
    raise CancelledError


@dataclass(frozen=True, slots=True, eq=False)
class Unseen:
    """A picture of a job's kind that no run has seen, and the reference of what is compared."""

    job: Job
    reference: Reference
    is_whole: bool  # that is all of its output, as of the user's picture


class Verification:
    """The references for one job, and checks against them; for one trial at a time."""

    def __init__(self, job: Job, sampling: Sampling) -> None:
        self.job, self.sampling = job, sampling
        self._random = np.random.default_rng()
        self._whole: Reference = ()
        self._unseen: list[Unseen] = []
        self._checks: list[list[Future[Check]]] = []
        self._done: list[Check] = []
        self._is_closed = Event()

    def begin(self) -> None:
        """Compute what is going to be needed, as far as there is room, and it was not done."""
        if self.whole():
            missing = range(len(self._unseen), self.sampling.max_samples)
            has_whole = any(each.is_whole for each in self._unseen)
            self._unseen += [self._made(not has_whole and each == missing[0]) for each in missing]
            self._random.shuffle(self._unseen)

    def whole(self) -> Reference:
        """The reference of the user's picture; (): it is to be computed in passing."""
        self._whole = self._whole or self._all_of(self.job)
        return self._whole

    def unseen(self) -> Unseen:
        """Take a picture that was not taken before."""
        return self._unseen.pop() if self._unseen else self._made(False)

    def add(
        self, job: Job, answer: NDArray[Any], tolerance: Tolerance, reference: Reference = ()
    ) -> None:
        """Add an output, (H, W, C); without a reference, that is computed in passing."""

        def part(known: Future[Oracle] | None) -> Iterator[Check]:
            # References were begun before, so that no thread waits for another one in vain.
            oracle = known.result() if known else None
            yield from checking(job, answer, tolerance, self.sampling.check_taps, oracle)

        self._checks.append([self._submit(part(each)) for each in reference or (None,)])

    @property
    def done(self) -> list[Check]:
        """The checks that came to their end, the first added first."""
        self._collect()
        return self._done

    @property
    def left(self) -> int:
        """Count those that are not done, and those behind them."""
        self._collect()
        return len(self._checks)

    def wait(self, seconds: float) -> None:
        """Wait until all are done, but not longer."""
        wait([part for each in self._checks for part in each], seconds)

    def _collect(self) -> None:
        while self._checks and all(each.done() for each in self._checks[0]):
            known, *others = (each.result() for each in self._checks.pop(0))
            for each in others:
                known = known.with_strip(each, 0)
            self._done.append(known)

    @property
    def is_known(self) -> bool:
        """True if the reference of the user's picture is known."""
        return _is_known(self._whole)

    def close(self) -> None:
        """Cancel what is under way, without waiting for it: a GUI thread may be here."""
        self._is_closed.set()
        self._is_closed = Event()
        self._checks, self._done = [], []
        self._whole = self._whole if self.is_known else ()
        self._unseen = [each for each in self._unseen if _is_known(each.reference)]

    def _submit(self, steps: Iterator[T], *, in_turn: bool = False) -> Future[T]:
        """Submit one; in_turn: one at a time, as two threads take longer for small tiles."""
        return _threads(in_turn=in_turn).submit(_driven, steps, self._is_closed)

    def _made(self, is_whole: bool) -> Unseen:
        job = fresh(self.job, self._random)
        if is_whole:
            return Unseen(job, self._all_of(job), is_whole)
        return Unseen(job, (self._submit(_some_tiles(job, self._random), in_turn=True),), is_whole)

    def _all_of(self, job: Job) -> Reference:
        """Submit all of it, where there is room, in strips that threads share."""

        def strip(top: int, bottom: int) -> Tiles:
            yield {(top, bottom, 0, job.width): filtered(job, (top, bottom))}

        if not self._has_room:
            return ()
        rows = max(STRIP_SAMPLES // (job.width * job.channels), 1)
        tops = range(0, job.height, rows)
        return tuple(self._submit(strip(top, min(top + rows, job.height))) for top in tops)

    @property
    def _has_room(self) -> bool:
        picture, taps = self.job.picture, self.sampling.check_taps
        if taps is not None and picture.size * self.job.ksize**2 > taps:
            return False
        some = SOME_TILES * TILE**2 * self.job.channels * 8
        unseen = self.sampling.max_samples * (picture.nbytes + some)
        return 2 * 8 * picture.size + unseen <= MAX_BYTES


def _some_tiles(job: Job, random: np.random.Generator) -> Tiles:
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


_shelf: list[Verification] = []
_lock = Lock()


def take(job: Job, sampling: Sampling) -> Verification:
    """That which is kept for this job, else a new one; see `put_back`."""
    with _lock:
        kept = _shelf.pop() if _shelf else None
    if kept and kept.job.same_work(job) and kept.sampling == sampling:
        return kept
    return Verification(job, sampling)


def put_back(verification: Verification) -> None:
    """Keep its references for the next source, if they are known by now."""
    verification.close()
    with _lock:
        _shelf[:] = [verification] if verification.is_known else []


def forget() -> None:
    with _lock:
        _shelf.clear()
