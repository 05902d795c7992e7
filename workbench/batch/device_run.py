"""Many picture files on several GPUs, or cores: processes, and one list that all take from.

Each process has a lock of Python's own.  In one process that decodes, filters and encodes on
sixteen threads, all of them wait for that lock, and most of all the one that filters.

A process that is lost, killed or crashed, takes no picture with it: those that it had are done at
the end, each alone in a process, so that one which breaks its process is found and fails with a
sentence.  What is lost after it has finished something is started anew.
"""

from __future__ import annotations

import signal
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, islice
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from time import process_time

from kernels.core.errors import DeviceLostError
from kernels.cuda_child.child_endings import how_it_ended
from workbench.batch.batch_run import NEVER_PAUSED, REST_S, Pausing, Say
from workbench.batch.device_process import MakeEngine, Order, Said, Tasks, engine_on, work
from workbench.batch.filtering import Outcome, Recipe
from workbench.batch.pairs import FilePair
from workbench.batch.stage_times import FinishedRow

SPAWN = get_context("spawn")  # never fork: CUDA does not outlive it
PATIENCE_S = 10.0  # with a process that is to end; then it is killed
AT_ONCE = 4  # pictures that a process is given: more would be those of the others
JOBS_EACH = 4  # threads that read and write, for which one lock of Python's is enough
PICTURES_EACH = 64  # which are worth the start of a process
MAX_EACH = 8


def processes_each(jobs: int, pictures: int) -> int:
    """Return how many processes filter on one GPU, or on the CPU, at a time.

    jobs      how many pictures are read at a time
    pictures  that there are to filter
    """
    return max(min(jobs // JOBS_EACH, pictures // PICTURES_EACH, MAX_EACH), 1)


def shared_jobs(jobs: int, processes: int) -> list[int]:
    """Return how many files each process reads at a time, of `jobs` in all."""
    each, more = divmod(jobs, processes)
    return [max(each + (at < more), 1) for at in range(processes)]


class DeviceRun:
    """A run over several processes.

    devices      the number of each one's GPU, or None for the CPU; several may have the same
    folder       of the results
    jobs         how many pictures are read, and written, at a time, by all processes together
    warn         is told of each process that is lost, in a sentence
    make_engine  makes a process's Engine, in that process; tests have devices made up there
    """

    def __init__(
        self,
        devices: Sequence[int | None],
        recipe: Recipe,
        folder: Path,
        jobs: int,
        warn: Callable[[str], None],
        make_engine: MakeEngine = engine_on,
    ) -> None:
        self._folder, self._warn = folder.absolute(), warn
        count, are_several = len(devices), len(set(devices)) > 1
        self._orders = [
            Order(
                device=device,
                make_engine=make_engine,
                recipe=recipe,
                folder=self._folder,
                jobs=share,
                processes=count,
                row_device=device if are_several else None,
            )
            for device, share in zip(devices, shared_jobs(jobs, count), strict=True)
        ]
        self._heard: SimpleQueue[tuple[_Worker, Said | None]] = SimpleQueue()
        self._workers: list[_Worker] = []
        self._left: Iterator[tuple[int, FilePair]] = iter(())
        self._suspects: deque[tuple[int, FilePair]] = deque()  # each was with a lost process
        self._lost_cpu_s, self._patience_s = 0.0, PATIENCE_S
        self._pausing = NEVER_PAUSED
        self._say: Say = lambda _outcome, _doing: None

    @property
    def jobs(self) -> int:
        """Return how many files are read at a time by all processes together."""
        return sum(order.jobs for order in self._orders)

    @property
    def shares(self) -> dict[int, list[int]]:
        """Return how many files are read at a time by each process of each GPU."""
        found: dict[int, list[int]] = {}
        for order in self._orders:
            if order.device is not None:
                found.setdefault(order.device, []).append(order.jobs)
        return found

    def cpu_s(self) -> float:
        """Return the core-seconds that this process and the others have used."""
        return process_time() + self._lost_cpu_s + sum(each.cpu_s for each in self._workers)

    def rows(
        self,
        pairs: Iterable[FilePair],
        pausing: Pausing = NEVER_PAUSED,
        say: Say = lambda _outcome, _doing: None,
    ) -> Generator[FinishedRow, None, None]:
        """Do every pair; yields each when there is nothing left to do to it.

        say  is told how far pictures are that are filtered in strips

        After that those still come whose files are written, before it is raised again.  Raises
        DeviceLostError where no process is left.
        """
        self._pausing, self._say = pausing, say
        self._left = enumerate(map(FilePair.absolute, pairs))
        if (first := next(self._left, None)) is None:
            return
        self._left = chain((first,), self._left)
        try:
            for order in self._orders:
                self._start(order)
            while self._goes_on():
                yield from self._hear(*self._next_word())
        except KeyboardInterrupt:
            self._patience_s = 0.0  # a second one is to end it all
            yield from self._written()
            raise
        finally:
            self._close()

    def _start(self, order: Order) -> None:
        self._workers.append(_Worker(order, self._heard))

    def _goes_on(self) -> bool:
        """Whether any process has something to do, after the pause if all wait in one."""
        if all(worker.is_idle for worker in self._workers):
            self._pausing.wait()
            self._give_idle()
        return not all(worker.is_idle for worker in self._workers)

    def _next_word(self) -> tuple[_Worker, Said | None]:
        """Wait for what a process says; what became idle in a pause is given work after it."""
        while True:
            self._pausing.rest()
            self._give_idle()
            with suppress(Empty):
                return self._heard.get(timeout=REST_S)

    def _hear(self, worker: _Worker, said: Said | None) -> Iterator[FinishedRow]:
        """Do what is to be done about what a process says; None: it has ended."""
        if said is None:
            yield from self._lose(worker)
        elif said.kind == "ready":
            worker.is_starting, worker.is_idle = False, True
        elif said.kind == "more":
            worker.give(self._next(AT_ONCE) if worker.suspect is None else ())
        elif said.kind == "row":
            yield worker.finish(said)
        elif said.kind == "strips":
            pair = worker.tasks[said.index]
            self._say(Outcome(pair, said.index, is_large=True, strips=said.strips), said.text)
        else:
            worker.fail(said)

    def _next(self, count: int) -> Tasks:
        return () if self._pausing.is_paused() else tuple(islice(self._left, count))

    def _give_idle(self) -> None:
        """Give to all that wait, once none is starting: the first would take it all."""
        if not (self._pausing.is_paused() or any(each.is_starting for each in self._workers)):
            for each in self._workers:
                if each.is_idle:
                    self._give(each)

    def _give(self, worker: _Worker) -> None:
        """Give a process that has nothing to do what there is: a few, or one suspect alone."""
        if tasks := self._next(AT_ONCE):
            worker.give(tasks)
        elif self._suspects:
            worker.give((self._suspects.popleft(),), is_suspect=True)

    def _lose(self, worker: _Worker) -> Iterator[FinishedRow]:
        self._workers.remove(worker)
        worker.end()
        self._lost_cpu_s += worker.cpu_s
        said = worker.loss
        if worker.suspect is not None and worker.tasks:
            yield self._failed(worker.suspect, said, worker.order.row_device)
        else:
            count = len(worker.tasks)
            again = f" Its {count:,} picture{'s are' if count > 1 else ' is'} done again."
            self._warn(said + (again if count else ""))
            self._suspects.extend(worker.tasks.items())
        if worker.finished or worker.suspect is not None:
            self._start(worker.order)
        if not self._workers:
            raise DeviceLostError(f"{said} No other is left; --resume does the rest.")
        self._give_idle()

    def _failed(self, pair: FilePair, said: str, device: int | None) -> FinishedRow:
        error = (
            f"{pair.name}: two processes were lost with it, the second one alone with it. {said}"
        )
        output = pair.target.relative_to(self._folder).as_posix()
        return FinishedRow(pair.source_shown, output, "failed", error, device=device)

    def _written(self) -> Iterator[FinishedRow]:
        """Have all stop, and yield what they have finished."""
        for worker in self._workers:
            worker.stop()
        while self._workers:
            worker, said = self._next_word()
            if said is None:
                self._workers.remove(worker)
                worker.end()
            elif said.kind == "row":
                yield worker.finish(said)
            elif said.kind == "bug":
                worker.fail(said)

    def _close(self) -> None:
        """End all processes; what they write is there as a whole, or not at all."""
        for worker in self._workers:
            worker.stop()
        for worker in self._workers:
            worker.end(self._patience_s)


class _Worker:
    """A process as it is seen from here.

    heard     gets what it says, from a thread, and None at its end
    tasks     the pictures that it has, by their index
    suspect   the picture that it does alone, since another process was lost with it
    finished  how many pictures it has told of
    is_starting  whether it has not said anything yet
    is_idle   whether it has nothing to do, and waits to be given something
    """

    def __init__(self, order: Order, heard: SimpleQueue[tuple[_Worker, Said | None]]) -> None:
        self.order = order
        self.tasks: dict[int, FilePair] = {}
        self.suspect: FilePair | None = None
        self.finished, self.cpu_s = 0, 0.0
        self.is_starting, self.is_idle = True, False
        self._why = ""
        self._connection, theirs = SPAWN.Pipe()
        self._process = SPAWN.Process(target=work, args=(theirs, order), daemon=True)
        with _not_interrupted():
            self._process.start()
        theirs.close()
        self._thread = Thread(target=_listen, args=(self, self._connection, heard), daemon=True)
        self._thread.start()

    @property
    def loss(self) -> str:
        """Return how it was lost, in a sentence."""
        number = self.order.device
        if self._why:
            return self._why if number is None else f"GPU {number}: {self._why}"
        which = "A process" if number is None else f"The process for GPU {number}"
        return f"{which} {how_it_ended(self._process.exitcode)}."

    def give(self, tasks: Tasks, *, is_suspect: bool = False) -> None:
        """Give it pictures; none: there are none at the moment."""
        self.tasks.update(tasks)
        if tasks:
            self.is_idle = False
            self.suspect = tasks[0][1] if is_suspect else None
        self._say(tasks)

    def finish(self, said: Said) -> FinishedRow:
        """Return the row of a picture that it is done with."""
        assert said.row is not None
        del self.tasks[said.index]
        self.finished += 1
        self.cpu_s = said.cpu_s
        return said.row

    def fail(self, said: Said) -> None:
        """Keep why it cannot go on, until it has ended.  Raises RuntimeError for a bug."""
        if said.kind == "bug":
            raise RuntimeError(f"A process that filters failed:\n{said.text}")
        self._why = said.text

    def stop(self) -> None:
        """Have it stop after what it is writing."""
        self._say(None)

    def end(self, patience_s: float = PATIENCE_S) -> None:
        """Wait until it has ended, or end it."""
        self._process.join(patience_s)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._thread.join()
        self._connection.close()

    def _say(self, tasks: Tasks | None) -> None:
        with suppress(OSError):  # it has ended, which the thread tells
            self._connection.send(tasks)


def _listen(
    worker: _Worker,
    connection: Connection[Tasks | None, Said],
    heard: SimpleQueue[tuple[_Worker, Said | None]],
) -> None:
    """Put what it says into `heard`.

    On a thread: on the main one an interrupt would tear a word apart.
    """
    with suppress(EOFError, OSError):
        while True:
            heard.put((worker, connection.recv()))
    heard.put((worker, None))


@contextmanager
def _not_interrupted() -> Iterator[None]:
    """Start processes that Ctrl+C does not reach, however early: they are told when to stop.

    A process inherits what is blocked; here what comes meanwhile comes a moment later.
    """
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
