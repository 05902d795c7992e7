"""A worker of a batch, seen from inside: a process, here or on a cluster, that filters a part.

Calls come one at a time.  Each brings pictures, if there are any, and takes along the news since
the last one; the pictures are filtered on another thread, which never waits for a call.  A GPU
that fails is the end of the worker: others do its pictures then, and not the CPU here.
"""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import parent_process
from multiprocessing.connection import Connection
from queue import Empty, SimpleQueue
from threading import Condition, Thread
from time import process_time
from typing import Literal

from kernels import Engine
from kernels.core.cpu_load import usable_cores
from kernels.core.device import NoDevice
from kernels.core.device_turns import purpose
from kernels.core.errors import CannotRunError, DeviceLostError, KernelError
from workbench.base.memory import use_freed_memory_again
from workbench.batch.batch_run import Pausing, finishing
from workbench.batch.filtering import Outcome, Recipe
from workbench.batch.pairs import FilePair

Tasks = Sequence[tuple[int, FilePair]]  # each with its place among all pictures
MakeEngine = Callable[[int | None], Engine]
NEWS_S = 5.0  # in which there are news, or none are returned
GATHER_S = 0.01  # for more news: a call for each of a thousand rows a second would take a core


@dataclass(frozen=True, slots=True)
class Order:
    """The work of one worker."""

    run: str  # a name that no other batch has
    device: int | None  # the number of its GPU; None: it filters on the CPU
    make_engine: MakeEngine  # makes the Engine of that number
    recipe: Recipe
    jobs: int | None  # pictures that it reads, and writes, at a time; None: its share of the cores
    processes: int  # that share its computer
    shown_device: int | None = None  # in the lines of its pictures; None: there is one at most

    def threads(self, cores: int) -> int:
        return self.jobs or max(cores // self.processes, 1)


@dataclass(slots=True)
class News:
    """The news of a worker since the last call."""

    finished: list[Outcome] = field(default_factory=list)
    strips: dict[int, Outcome] = field(default_factory=dict)  # filtered in strips, by their index
    is_hungry: bool = False  # it can begin more pictures
    ended: Literal["", "stopped", "lost", "bug"] = ""  # it does nothing more
    words: str = ""  # why: a sentence, of a bug the traceback
    cpu_s: float = 0.0  # core-seconds that it has used

    def __bool__(self) -> bool:
        return bool(self.finished or self.strips or self.is_hungry or self.ended)


def engine_on(device: int | None) -> Engine:
    """Make an Engine that has this GPU, or none.

    Raises CannotRunError where there is none of that number.
    """
    if device is None:
        return Engine(use_gpu=False)
    engine = Engine(device)
    if isinstance(engine.device, NoDevice):
        raise CannotRunError(engine.device.reason)
    return engine


def any_engine(device: int | None) -> Engine:
    """Make an Engine that has this GPU if there is one; for the workers of a cluster."""
    return Engine(device or 0, use_gpu=device is not None)


# An engine belongs to one thread, whichever thread the calls come on.
_thread = ThreadPoolExecutor(1, "batch-engine")
# By batch; None: it was stopped, and its last news are told, but a call may still come.
_stations: dict[str, _Station | None] = {}


def advance(order: Order, tasks: Tasks) -> News:
    """Take more pictures, then wait for news; the first call makes the engine."""
    if order.run not in _stations:
        _stations[order.run] = _Station(order)
    station = _stations[order.run]
    news = News(ended="stopped") if station is None else station.advance(tasks)
    if news.ended == "stopped":
        _stations[order.run] = None
    return news


def stop(run: str) -> None:
    """Begin no more pictures of that batch in this process."""
    if (station := _stations.setdefault(run, None)) is not None:
        station.stop()


def begin_process(stopped: Connection) -> None:
    """Prepare a process of this computer, which stops when the other end of `stopped` is closed."""
    use_freed_memory_again()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # its parent says when to stop
    Thread(target=_await_stop, args=(stopped,), daemon=True).start()


def _await_stop(stopped: Connection) -> None:
    with suppress(EOFError, OSError):
        stopped.recv()
    with suppress(RuntimeError):  # the process is ending already
        for run in list(_stations):
            stop(run)
    parent = parent_process()
    assert parent is not None
    parent.join()
    _thread.shutdown()  # the parent is gone, and nobody else ends this process
    os._exit(1)


class _StopError(KeyboardInterrupt):
    """Nobody wants more: what is written already is reported, as after Ctrl+C."""


class _Station:
    """The pictures of one batch in this process, as an iterator that may give more later."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._tasks: SimpleQueue[tuple[int, FilePair]] = SimpleQueue()
        self._told = Condition()
        self._news = News()
        self._is_hungry = self._is_stopped = False
        self._began_s = process_time()
        self._engine: Engine | None = None
        _thread.submit(self._filter)

    def advance(self, tasks: Tasks) -> News:
        for each in tasks:
            self._tasks.put(each)
        if tasks:
            self._is_hungry = False
            _thread.submit(self._filter)
        with self._told:
            # A call that nobody waits for any more may have taken the news; there are no more then.
            while not self._told.wait_for(lambda: self._news, NEWS_S) and self._engine is None:
                pass
            self._told.wait_for(lambda: self._news.is_hungry or self._news.ended, GATHER_S)
            news = self._news
            self._news = News(ended=news.ended, words=news.words)
        news.cpu_s = process_time() - self._began_s
        return news

    def stop(self) -> None:
        """Begin no more pictures; the last news comes when nothing is being written."""
        self._is_stopped = True
        _thread.submit(self._close)

    def __iter__(self) -> Iterator[Outcome]:
        return self

    def __next__(self) -> Outcome:
        with suppress(Empty):
            index, pair = self._tasks.get_nowait()
            return Outcome(pair, index)
        if not self._is_hungry:
            self._is_hungry = True
            self._tell(is_hungry=True)
        raise StopIteration

    def _filter(self) -> None:
        if self._news.ended:
            return
        try:
            with purpose("workbench batch"):
                if self._engine is None:
                    self._engine = self._order.make_engine(self._order.device)
                self._filter_all(self._engine)
        except KernelError as error:
            self._tell(ended="lost", words=str(error))
        except Exception:  # noqa: BLE001 - it is raised again where it is seen
            self._tell(ended="bug", words=traceback.format_exc())

    def _filter_all(self, engine: Engine) -> None:
        order = self._order
        jobs, pausing = order.threads(usable_cores()), Pausing(rest=self._rest)
        how = (order.recipe, jobs, self._say, order.processes, pausing)
        with suppress(_StopError):
            for outcome in finishing(engine, self, *how):
                outcome.let_go()  # or its pictures stay in memory while others are waited for
                outcome.device = order.shown_device
                if not (engine.lost and outcome.error):
                    with self._told:
                        self._news.finished.append(outcome)
                        self._told.notify_all()
        if engine.lost:
            raise DeviceLostError(engine.lost)

    def _rest(self) -> None:
        if self._is_stopped or (self._engine is not None and self._engine.lost):
            raise _StopError

    def _say(self, outcome: Outcome, _doing: str) -> None:
        parent = parent_process()
        is_orphan = parent is not None and not parent.is_alive()  # nobody would hear of it
        if outcome.is_large or is_orphan:
            self._rest()
        if outcome.strips is not None:
            with self._told:
                pair, index, strips = outcome.pair, outcome.index, outcome.strips
                self._news.strips[index] = Outcome(pair, index, is_large=True, strips=strips)
                self._told.notify_all()

    def _tell(self, **facts: object) -> None:
        with self._told:
            for name, value in facts.items():
                setattr(self._news, name, value)
            self._told.notify_all()

    def _close(self) -> None:
        if not self._news.ended:
            self._tell(ended="stopped")
        if self._engine is not None:
            self._engine.close()
            self._engine = None  # nor what it holds on a GPU: a cluster's worker outlives the batch
