"""Many picture files through one engine: decoding, filtering and encoding overlap.

Files are decoded and encoded by a few threads; filtering happens on the caller's thread, which
owns the engine.  Only so many pictures are under way at a time, so memory is bounded.  Where
filtering is timed, nothing is read or written meanwhile.  Several devices are several processes,
each of which does this with what it is given (`device_run`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from threading import Event
from time import sleep
from typing import Any

from kernels import Engine
from workbench.base.memory import memory_available_bytes
from workbench.batch.filtering import Outcome, Recipe, encode, filter_, read, sync
from workbench.batch.pairs import FilePair

MEMORY_SHARE = 0.5  # of what is free at the beginning; others want some, too
COPIES = 3  # of each picture: itself, its result, and what decoding takes beside them
REST_S = 0.2  # between two calls of `Pausing.rest` where there is nothing else to do

Say = Callable[[Outcome, str], None]


@dataclass(frozen=True, slots=True)
class Pausing:
    """What holds a batch up: while it is paused nothing is begun, and what was begun is finished.

    rest       called again and again while nothing is half done; may raise KeyboardInterrupt
    """

    is_paused: Callable[[], bool] = lambda: False
    rest: Callable[[], None] = lambda: None

    def wait(self) -> None:
        self.rest()
        while self.is_paused():
            sleep(REST_S)
            self.rest()


NEVER_PAUSED = Pausing()


def running(
    engine: Engine,
    pairs: Iterable[FilePair],
    recipe: Recipe,
    jobs: int = 1,
    say: Say = lambda _outcome, _doing: None,
    pausing: Pausing = NEVER_PAUSED,
) -> Generator[Outcome, None, None]:
    """Do every pair; yields each when there is nothing left to do to it, the first done first.

    A picture that fails does not keep the others from being done.  After a KeyboardInterrupt those
    still come whose files are written, before it is raised again.

    engine  used on the caller's thread alone
    jobs    how many are read, and written, at a time
    say     gets what is under way
    """
    begun = (Outcome(pair, index) for index, pair in enumerate(pairs))
    return finishing(engine, begun, recipe, jobs, say, pausing=pausing)


def finishing(
    engine: Engine,
    begun: Iterator[Outcome],
    recipe: Recipe,
    jobs: int,
    say: Say,
    processes: int = 1,
    pausing: Pausing = NEVER_PAUSED,
) -> Generator[Outcome, None, None]:
    """Do the same to outcomes that have their index, and nothing else yet.

    begun      may give more after it has ended
    processes  that do so and share this computer's memory
    """
    budget = memory_available_bytes() * MEMORY_SHARE / processes
    run = _Run(engine, begun, recipe, jobs, budget, say)
    try:
        while run.goes_on(pausing):
            yield from run.step()
    except KeyboardInterrupt:
        yield from run.written()
        raise
    finally:
        run.close()


def room_for(recipe: Recipe, jobs: int) -> int:
    """Pictures in memory at a time, at most; large ones are fewer.

    Those being read or written; where all goes on at once, as many again that wait for their turn,
    as many that wait for the disk, one that is filtered, and one more, so that no thread has to
    wait for it.
    """
    return jobs if recipe.is_timed else 3 * jobs + 2


def in_order(outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
    """Yield outcomes by their index, as soon as none before is missing."""
    early: dict[int, Outcome] = {}
    following = 0
    for outcome in outcomes:
        early[outcome.index] = outcome
        del outcome
        while following in early:
            yield early.pop(following)
            following += 1


class _Run:
    """Everything that is under way: some threads read and write, and as many wait for the disk."""

    def __init__(
        self,
        engine: Engine,
        waiting: Iterator[Outcome],
        recipe: Recipe,
        jobs: int,
        budget_bytes: float,
        say: Say,
    ) -> None:
        self._engine, self._recipe, self._say = engine, recipe, say
        self._waiting, self._budget_bytes = waiting, budget_bytes
        self._pool = ThreadPoolExecutor(jobs, "picture-files")
        self._disk = ThreadPoolExecutor(jobs, "picture-disk")
        self._done: SimpleQueue[Future[Outcome]] = SimpleQueue()
        self._stop = Event()  # set where nobody wants the pictures any more
        self._encoding: list[Future[Outcome]] = []  # the last that was started
        self._busy = 0  # steps that were started and not yet taken
        self._ready: list[Outcome] = []
        self._under_way, self._most = 0, room_for(recipe, jobs)
        self._is_due = False  # the next one is checked, whatever its place
        self._sizes: deque[int] = deque(maxlen=self._most)  # in bytes, of those read last

    def goes_on(self, pausing: Pausing) -> bool:
        """Begin as many as there is room for; False if none is under way."""
        (pausing.rest if self._under_way else pausing.wait)()
        while (
            self._has_room()
            and not pausing.is_paused()
            and (outcome := next(self._waiting, None)) is not None
        ):
            self._under_way += 1
            self._say(outcome, "reading")
            reading = self._start(read, outcome, self._recipe, self._stop.is_set)
            reading.add_done_callback(self._done.put)
        return bool(self._ready or self._busy)

    def _has_room(self) -> bool:
        """True if one more may be begun, if it is like the largest of those read last."""
        if not self._under_way:
            return True
        if not self._sizes or self._under_way == self._most:
            return False  # the first one tells how large they are
        return (self._under_way + 1) * COPIES * max(self._sizes) <= self._budget_bytes

    def step(self) -> Iterator[Outcome]:
        """Filter what was read, if it may be now, else wait for a file; yield what is finished."""
        if self._ready and not (self._recipe.is_timed and self._busy):
            yield from self._filter()
            return
        future = self._done.get()
        self._busy -= 1
        outcome = future.result()
        if outcome.picture is not None:
            self._sizes.append(outcome.picture.samples.nbytes)
        if outcome.goes_on and outcome.result is None:
            self._ready.append(outcome)
        else:
            self._under_way -= 1
            self._is_due |= self._is_missed(outcome)
            yield outcome

    def _is_missed(self, outcome: Outcome) -> bool:
        """True if it was to be checked and is not, so that the next one is."""
        return not (outcome.goes_on or outcome.is_wrong) and self._recipe.sampling_of(outcome).check

    def _filter(self) -> Iterator[Outcome]:
        """Filter one, or where that is timed all before the first is written."""
        count = len(self._ready) if self._recipe.is_timed else 1
        turn = sorted(self._ready[:count], key=lambda each: each.index)
        del self._ready[:count]
        for outcome in turn:
            outcome.is_due, self._is_due = self._is_due, False
            filter_(self._engine, outcome, self._recipe, partial(self._say, outcome))
        while turn:
            outcome = turn.pop(0)
            if not outcome.goes_on or outcome.large is not None:
                self._under_way -= 1
                self._is_due |= self._is_missed(outcome)
                yield outcome
                continue
            self._say(outcome, "writing")
            self._encoding = [self._start(encode, outcome, self._recipe)]
            self._encoding[0].add_done_callback(self._sync)

    def _start(self, step: Callable[..., None], outcome: Outcome, *words: Any) -> Future[Outcome]:
        self._busy += 1
        return self._pool.submit(_after, step, outcome, *words)

    def _sync(self, encoding: Future[Outcome]) -> None:
        failed = encoding.cancelled() or encoding.exception() is not None
        if failed or encoding.result().unsynced is None:
            self._done.put(encoding)
            return
        try:
            syncing = self._disk.submit(_after, sync, encoding.result())
        except RuntimeError:  # the system starts no more threads
            sync(encoding.result())
            self._done.put(encoding)
        else:
            syncing.add_done_callback(self._done.put)

    def written(self) -> Iterator[Outcome]:
        """Begin nothing more, and yield what was written, or could not be."""
        wait(self._encoding)  # else what is filtered might be let go of
        self.close()
        while not self._done.empty():
            future = self._done.get()
            if not future.cancelled() and future.result().result is not None:
                yield future.result()

    def close(self) -> None:
        """Wait for the steps that have begun, and let go of the others.

        What is written comes to its place.
        """
        self._stop.set()
        try:
            self._pool.shutdown(cancel_futures=True)
        finally:  # of an interrupt as well
            self._disk.shutdown()


def _after(step: Callable[..., None], outcome: Outcome, *words: Any) -> Outcome:
    step(outcome, *words)
    return outcome
