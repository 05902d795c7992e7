"""Many picture files on several workers, which all take from one list: `SharedRun`.

Each worker is a `concurrent.futures` executor of one process, here or on a cluster (`cluster`).
One that is lost takes no picture with it: those that it had are done at the end, each alone on a
worker, so that one which breaks its process is found.  A process that is lost after it has finished
something is started anew.
"""

from __future__ import annotations

import signal
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from itertools import chain, islice
from multiprocessing import active_children, get_context
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic, process_time
from typing import TypeAlias
from uuid import uuid4

from kernels.core.errors import DeviceLostError
from kernels.core.safe_files import remove_abandoned
from kernels.cuda_child.worker_pool import how_it_ended
from workbench.batch import batch_worker
from workbench.batch.batch_run import NEVER_PAUSED, REST_S, Pausing, Say
from workbench.batch.batch_worker import News, Order, Tasks
from workbench.batch.filtering import Outcome, Recipe
from workbench.batch.pairs import FilePair

SPAWN = get_context("spawn")  # never fork: CUDA does not outlive it
PATIENCE_S = 10.0  # with a process that is to end; then it is killed
AT_ONCE = 4  # pictures that a worker is given: more would be those of the others
JOBS_EACH = 4  # threads that read and write, for which one lock of Python's is enough
PICTURES_EACH = 64  # which are worth the start of a process
MAX_EACH = 8


def processes_each(jobs: int, pictures: int) -> int:
    """Processes that filter on one GPU, or on the CPU, at a time.

    jobs      how many pictures are read at a time
    pictures  that there are to filter
    """
    return max(min(jobs // JOBS_EACH, pictures // PICTURES_EACH, MAX_EACH), 1)


def shared_jobs(jobs: int, processes: int) -> list[int]:
    """Files that each process reads at a time, of `jobs` in all."""
    each, more = divmod(jobs, processes)
    return [max(each + (at < more), 1) for at in range(processes)]


class Worker:
    """A worker as it is seen from here; it has one call at a time."""

    def __init__(self, order: Order, executor: Executor, heard: Heard) -> None:
        self.order, self.executor, self._heard = order, executor, heard
        self.tasks: dict[int, FilePair] = {}  # by their index
        self.finished, self.cpu_s = 0, 0.0
        self.is_open = self.is_hungry = False  # its engine is there; it can begin more pictures
        self.is_suspect = False  # its picture is alone, since another worker was lost with it

    @property
    def is_idle(self) -> bool:
        return self.is_open and not self.tasks

    def call(self, tasks: Tasks = ()) -> None:
        """Give it pictures, if any, and ask for its news."""
        if tasks:
            self.tasks.update(tasks)
            self.is_hungry = False
        sent = tuple((index, pair.absolute()) for index, pair in tasks)
        try:
            future = self.executor.submit(batch_worker.advance, self.order, sent)
        except BrokenExecutor as error:
            future = Future()
            future.set_exception(error)
        future.add_done_callback(lambda done: self._heard.put((self, done)))

    def take(self, news: News) -> Iterator[Outcome]:
        """Yield pictures that it had: others, somebody else has taken over."""
        self.is_open, self.cpu_s = True, news.cpu_s
        self.is_hungry |= news.is_hungry
        for outcome in news.finished:
            if pair := self.tasks.pop(outcome.index, None):
                self.finished += 1
                outcome.pair = pair
                yield outcome


Heard: TypeAlias = "SimpleQueue[tuple[Worker, Future[News]]]"


class SharedRun:
    """A run over several workers; subclasses know where these come from."""

    def __init__(self, warn: Callable[[str], None]) -> None:
        self._warn = warn
        self._heard: Heard = SimpleQueue()
        self._workers: list[Worker] = []
        self._left: Iterator[tuple[int, FilePair]] = iter(())
        self._suspects: deque[tuple[int, FilePair]] = deque()  # each was with a lost worker
        self._lost_cpu_s = 0.0
        self._pausing, self._patience_s = NEVER_PAUSED, PATIENCE_S
        self._is_stopping = False

    def cpu_s(self) -> float:
        """Core-seconds that this process and the workers have used."""
        return process_time() + self._lost_cpu_s + sum(each.cpu_s for each in self._workers)

    def outcomes(
        self,
        pairs: Iterable[FilePair],
        pausing: Pausing = NEVER_PAUSED,
        say: Say = lambda _outcome, _doing: None,
    ) -> Generator[Outcome, None, None]:
        """Do every pair; yields each when there is nothing left to do to it.

        say  gets the progress of pictures that are filtered in strips

        After a KeyboardInterrupt those still come whose files are written, before it is raised
        again.  Raises DeviceLostError where no worker is left.
        """
        self._pausing = pausing
        left = enumerate(pairs)
        if (first := next(left, None)) is None:
            return
        self._left = chain((first,), left)
        try:
            self._start_all()
            if not self._workers:
                self._none_left("")
            while self._goes_on():
                for worker, words in self._gone():
                    yield from self._lose(worker, words)
                yield from self._hear(say)
        except KeyboardInterrupt:
            self._patience_s = 0.0  # a second one is to end it all
            yield from self._written(say)
            self._patience_s = PATIENCE_S
            raise
        finally:
            self._close()
            for worker in self._workers:
                _tidy(worker)

    # What subclasses say: whence workers come, how they are lost, and how they are stopped.

    def _start_all(self) -> None:
        raise NotImplementedError

    def _may_begin(self) -> bool:
        """True if none is starting: the first would take all there is."""
        return all(each.is_open for each in self._workers)

    def _gone(self) -> list[tuple[Worker, str]]:
        """Workers that are lost though their calls have not failed, with a sentence each."""
        return []

    def _why_lost(self, worker: Worker, error: BaseException | None) -> str:
        raise NotImplementedError

    def _replace(self, worker: Worker) -> None:
        """Start another worker in the place of one that was lost, if that is possible."""

    def _none_left(self, words: str) -> None:
        raise DeviceLostError(f"{words} No other is left; --resume does the rest.")

    def _stop(self) -> float:
        """Have all workers begin no more; returns the seconds to wait for what they had begun."""
        raise NotImplementedError

    def _close(self) -> None:
        raise NotImplementedError

    def _goes_on(self) -> bool:
        if all(worker.is_idle for worker in self._workers):
            self._pausing.wait()
            self._feed()
        return not all(worker.is_idle for worker in self._workers)

    def _hear(self, say: Say) -> Iterator[Outcome]:
        """Wait a moment for news; idle workers are given work after a pause."""
        self._pausing.rest()
        self._feed()
        try:
            worker, future = self._heard.get(timeout=REST_S)
        except Empty:
            return
        if worker not in self._workers:
            return
        error = None if future.cancelled() else future.exception()
        if error is not None or future.cancelled():
            yield from self._lose(worker, self._why_lost(worker, error))
            return
        news = future.result()
        for index, outcome in news.strips.items():
            if index in worker.tasks and outcome.strips is not None:
                outcome.pair = worker.tasks[index]
                say(outcome, outcome.strips.doing)
        finished = list(worker.take(news))
        if worker.tasks and not news.ended:
            worker.call(self._next() if worker.is_hungry and not worker.is_suspect else ())
        yield from finished
        if news.ended == "bug":
            raise RuntimeError(f"A process that filters failed:\n{news.words}")
        if news.ended:
            yield from self._lose(worker, self._of(worker, news.words))

    def _of(self, worker: Worker, words: str) -> str:
        number = worker.order.device
        return words if number is None else f"GPU {number}: {words}"

    def _next(self) -> Tasks:
        return () if self._pausing.is_paused() else tuple(islice(self._left, AT_ONCE))

    def _feed(self) -> None:
        """Give a few pictures to all that wait, or where there are none left one suspect alone."""
        if self._pausing.is_paused() or not self._may_begin():
            return
        for worker in (each for each in self._workers if each.is_idle):
            tasks = self._next()
            worker.is_suspect = not tasks and bool(self._suspects)
            if worker.is_suspect:
                tasks = (self._suspects.popleft(),)
            if tasks:
                worker.call(tasks)

    def _lose(self, worker: Worker, words: str) -> Iterator[Outcome]:
        self._workers.remove(worker)
        self._lost_cpu_s += worker.cpu_s
        _tidy(worker)
        if self._is_stopping:
            return
        if worker.is_suspect and worker.tasks:
            ((index, pair),) = worker.tasks.items()
            lost = "two processes were lost with it, the second one alone with it."
            device = worker.order.shown_device
            yield Outcome(pair, index, error=f"{pair.name}: {lost} {words}", device=device)
        else:
            count = len(worker.tasks)
            self._warn(f"{words} Pictures to be done again: {count:,}." if count else words)
            self._suspects.extend(worker.tasks.items())
        if worker.finished or worker.is_suspect:
            self._replace(worker)
        if not self._workers:
            self._none_left(words)

    def _written(self, say: Say) -> Iterator[Outcome]:
        until = monotonic() + self._stop()
        self._left, self._is_stopping = iter(()), True
        self._suspects.clear()
        while monotonic() < until and any(each.tasks for each in self._workers):
            yield from self._hear(say)


def _tidy(worker: Worker) -> None:
    """Remove what a process that was killed had begun to write."""
    for folder in {pair.target.parent for pair in worker.tasks.values()}:
        remove_abandoned(folder)


class DeviceRun(SharedRun):
    """A run over processes of this computer.

    devices      the number of each one's GPU, or None for the CPU; several may have the same
    jobs         pictures that are read, and written, at a time, by all processes together
    warn         gets a sentence for each process that is lost
    make_engine  makes a process's Engine, in that process; tests have devices made up there

    Its attribute `shares` has, for each GPU, how many of these `jobs` each of its processes does.
    """

    def __init__(
        self,
        devices: Sequence[int | None],
        recipe: Recipe,
        jobs: int,
        warn: Callable[[str], None],
        make_engine: batch_worker.MakeEngine = batch_worker.engine_on,
    ) -> None:
        super().__init__(warn)
        count, are_several, run = len(devices), len(set(devices)) > 1, uuid4().hex
        shares = shared_jobs(jobs, count)
        self.jobs, self.shares = sum(shares), dict[int, list[int]]()
        for device, share in zip(devices, shares, strict=True):
            if device is not None:
                self.shares.setdefault(device, []).append(share)
        self._orders = [
            Order(run, device, make_engine, recipe, share, count, device if are_several else None)
            for device, share in zip(devices, shares, strict=True)
        ]
        self._processes: dict[Worker, BaseProcess] = {}
        self._stopped, self._going = SPAWN.Pipe(duplex=False)

    def _start_all(self) -> None:
        for order in self._orders:
            self._start(order)

    def _start(self, order: Order) -> None:
        executor = ProcessPoolExecutor(1, SPAWN, batch_worker.begin_process, (self._stopped,))
        worker = Worker(order, executor, self._heard)
        before = set(active_children())
        with _not_interrupted():
            worker.call()  # which starts the process
        (self._processes[worker],) = set(active_children()) - before
        self._workers.append(worker)

    def _why_lost(self, worker: Worker, _error: BaseException | None) -> str:
        process = self._processes[worker]
        if wait([process.sentinel], PATIENCE_S):
            worker.executor.shutdown()  # its thread reaps the process, and knows the exit code
        number = worker.order.device
        which = "A process" if number is None else f"The process for GPU {number}"
        return f"{which} {how_it_ended(process.exitcode)}."

    def _replace(self, worker: Worker) -> None:
        self._end([worker], PATIENCE_S)  # where a GPU was lost it still has its context
        self._start(worker.order)

    def _stop(self) -> float:
        self._going.close()
        return float("inf")

    def _close(self) -> None:
        self._going.close()
        self._end(list(self._processes), self._patience_s)
        self._stopped.close()

    def _end(self, workers: Sequence[Worker], patience_s: float) -> None:
        """End their processes; what they write is there as a whole, or not at all."""
        # An executor reaps its process on a thread of its own, which only its first shutdown joins.
        closing = [
            Thread(target=worker.executor.shutdown, kwargs={"cancel_futures": True})
            for worker in workers
        ]
        for each in closing:
            each.start()
        for process in map(self._processes.__getitem__, workers):
            if not wait([process.sentinel], patience_s):
                process.kill()
        for each in closing:
            each.join()


@contextmanager
def _not_interrupted() -> Iterator[None]:
    """Start processes that Ctrl+C does not reach: they inherit what is blocked."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
