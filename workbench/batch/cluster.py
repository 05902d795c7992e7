"""A batch on the workers of a cluster, by `distributed`, which is imported when one is asked for.

Each worker is an executor of `distributed`'s own that is bound to it; the rest is `SharedRun`.  All
computers see the same folders under the same names; that is checked before anything is done.
"""

from __future__ import annotations

import logging
import os
import platform
from asyncio import CancelledError
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Thread
from time import localtime, monotonic, sleep, strftime, time
from typing import Any, TypeVar
from uuid import uuid4

from kernels.core.cpu_load import usable_cores
from kernels.core.errors import KernelError, bug_in_words
from kernels.core.version import program_version
from workbench.base.disk import disk_in_words
from workbench.batch import batch_worker
from workbench.batch.batch_run import REST_S
from workbench.batch.batch_worker import Order, any_engine
from workbench.batch.device_run import SharedRun, Worker
from workbench.batch.filtering import Outcome, Recipe

CONNECT_S = 10.0  # in which a scheduler answers
ANSWER_S = 15.0  # in which workers answer that are not silent
WORKERS_S = 60.0  # for so long workers are waited for, and another one when all are lost
NEWS_S = 1.0  # between two looks at the workers
SILENT_S = 10.0  # without a heartbeat, of which there are two a second; then it is said
LEFT_S = 30.0  # without one; then others do the pictures of that worker
APPEARS_S = 5.0  # other computers may see a new file that late
INSTALL = 'pip install "filter-workbench[cluster]"'

ANYTHING = (Exception, CancelledError)  # may come of a request to a scheduler that is gone

_Answer = TypeVar("_Answer")


class ClusterError(KernelError):
    """A cluster cannot be used."""


# -- the questions to workers


def facts() -> tuple[str, int]:
    """The versions that two processes must have in common, and the cores of this one."""
    python = ".".join(platform.python_version_tuple()[:2])
    return f"Filter Workbench {program_version()} on Python {python}", usable_cores()


def look(token: Path, source: Path | None) -> str:
    """Look for a file in the folder of the results, and for a picture; "", or what is wrong."""
    folder = token.parent
    if not appears(token):
        return f"does not see {folder}"
    if not os.access(folder, os.W_OK):
        return f"cannot write into {folder}"
    return "" if source is None or appears(source) else f"does not see {source}"


def appears(path: Path) -> bool:
    """True if it is there, or comes to be soon, as another computer's file may."""
    until = monotonic() + APPEARS_S
    while not path.exists():
        if monotonic() > until:
            return False
        sleep(0.1)
    return True


class ClusterRun(SharedRun):
    """A run over the workers of a scheduler, also over those that come later; to be closed.

    Some may be stopped or unreachable, which the scheduler itself sees only after five minutes.
    """

    def __init__(self, address: str, warn: Callable[[str], None], wanted: int = 1) -> None:
        """Connect, and wait for `wanted` workers or some.  Raises ClusterError where none comes."""
        super().__init__(warn)
        self._address, self._client = address, connected(address)
        self._cores: dict[str, int] = {}  # that each may use
        # Of each worker: its last heartbeat, by its scheduler's clock, and when it was news here.
        self._beats: dict[str, tuple[float, float]] = {}
        self._silent: set[str] = set()  # addresses of those that send no heartbeats
        self.addresses: list[str] = []  # of all
        self._talking: list[str] = []  # of those that pictures may be given to
        self._quiet_s = 0.0  # since the last heartbeat of any
        self._address_of: dict[Worker, str] = {}
        self._given_up: set[str] = set()  # whose GPU is lost
        self._looked_at = 0.0
        try:
            with self._losses():
                self._wait_for_workers(wanted)
        except BaseException:
            self.close()
            raise

    def check(self, folder: Path, source: Path | None) -> None:
        """Check that all workers see a picture and the folder.  Raises ClusterError."""
        own, _ = facts()
        for worker, said in self._asked(facts).items():
            runs, cores = said if isinstance(said, tuple) else (said, 0)
            if runs != own:
                raise ClusterError(
                    f"The worker at {worker} does not run {own} ({runs}); install the same there."
                )
            self._cores[worker] = cores
        with disk_in_words(ClusterError, f"Cannot write {folder}"):
            folder.mkdir(parents=True, exist_ok=True)
            self._check_folder(folder, source)

    def prepare(self, recipe: Recipe, device: int | None, jobs: int | None = None) -> int:
        """Take the work, each worker with that GPU of its own, or none; returns threads in all."""
        neighbours = max(Counter(map(_host, self._cores)).values(), default=1)
        self._order = Order(uuid4().hex, device, any_engine, recipe, jobs, processes=neighbours)
        return sum(map(self._order.threads, self._cores.values()))

    def close(self) -> None:
        """Leave the scheduler and its workers to others."""
        with suppress(*ANYTHING):
            self._client.close()

    @contextmanager
    def _losses(self) -> Iterator[None]:
        """Raise whatever distributed makes of a scheduler that is gone as ClusterError."""
        try:
            yield
        except (Exception, CancelledError) as error:
            is_open = getattr(self._client, "status", "running") == "running"
            if isinstance(error, ClusterError) or (is_open and not isinstance(error, OSError)):
                raise
            raise ClusterError(
                f"The scheduler at {self._address} is lost; the same command with --resume does "
                "the rest."
            ) from error

    def _look(self) -> list[str]:
        identity = self._client.scheduler.identity
        found = self._client.sync(identity, callback_timeout=WORKERS_S)["workers"]
        now, before = monotonic(), self._beats
        self._beats = {}
        for worker, known_of in found.items():
            beat = known_of["last_seen"]
            known = before.get(worker, (beat, now))
            self._beats[worker] = known if known[0] == beat else (beat, now)
        quiet_s = {each: now - at for each, (_, at) in self._beats.items()}
        self._quiet_s = min(quiet_s.values(), default=0.0)
        self.addresses = list(quiet_s)
        self._talking = [worker for worker, for_s in quiet_s.items() if for_s <= LEFT_S]
        silent = {worker for worker, for_s in quiet_s.items() if for_s > SILENT_S}
        for worker in sorted(silent - self._silent):
            since = strftime("%H:%M:%S", localtime(time() - quiet_s[worker]))
            self._warn(
                f"The worker at {worker} has been silent since {since}; others do its pictures if "
                f"it stays silent for {LEFT_S:.0f} s."
            )
        for worker in sorted(self._silent - silent):
            how = "answers again" if worker in quiet_s else "is gone"
            self._warn(f"The worker at {worker} {how}.")
        self._silent = silent
        return self.addresses

    def _see_that_one_talks(self) -> None:
        """Look at the workers.  Raises ClusterError where there is none that answers for long."""
        with self._losses():
            self._wait_for_workers()
        if self._quiet_s > WORKERS_S:
            raise ClusterError(
                f"No worker at {self._address} has answered for {WORKERS_S:.0f} s; the same "
                "command with --resume does the rest."
            )

    def _wait_for_workers(self, wanted: int = 1) -> None:
        if (there := len(self._look())) >= wanted:
            return
        self._warn(f"The scheduler at {self._address} has {there} of {wanted} workers; waiting.")
        with suppress(TimeoutError):
            self._client.wait_for_workers(wanted, timeout=WORKERS_S)
        if not (there := len(self._look())):
            raise ClusterError(
                f"No worker came to {self._address} in {WORKERS_S:.0f} s; start one: "
                f"dask worker {self._address} --nthreads 1."
            )
        if there < wanted:
            self._warn(
                f"{there} of {wanted} workers came to {self._address} in {WORKERS_S:.0f} s; the "
                "batch begins, and takes those that come later."
            )

    def _check_folder(self, folder: Path, source: Path | None) -> None:
        one_of = {_host(worker): worker for worker in self._cores}
        token = folder / f".workbench-{uuid4().hex}"
        try:
            token.touch()
            answers = self._asked(look, token, source, workers=list(one_of.values()))
        finally:
            token.unlink(missing_ok=True)
        for worker, said in answers.items():
            if said:
                raise ClusterError(
                    f"The worker at {worker} {said}; a cluster needs storage that all of its "
                    "computers see under one name."
                )

    def _asked(
        self, question: Callable[..., Any], *words: Any, workers: Sequence[str] | None = None
    ) -> dict[str, Any]:
        """Each worker's answer, or its exception.  Raises ClusterError where none answers."""
        until, addresses = monotonic() + WORKERS_S, workers or self._look()
        while asked := [each for each in addresses if each not in self._silent]:
            ask = partial(self._client.run, question, *words, workers=asked, on_error="return")
            if (answers := within(ANSWER_S, ask)) is not None:
                return dict(answers)
            if monotonic() > until:
                break
            with self._losses():
                self._look()
            sleep(REST_S)  # where asking fails at once
        raise ClusterError(f"No worker at {self._address} answers; see whether they are stopped.")

    def _start_all(self) -> None:
        known = {self._address_of[worker] for worker in self._workers}
        for address in self._talking:
            if address in known or address in self._given_up:
                continue
            executor = self._client.get_executor(
                workers=[address], allow_other_workers=False, pure=False, retries=0
            )
            worker = Worker(self._order, executor, self._heard)
            self._address_of[worker] = address
            self._workers.append(worker)
            worker.call()

    def _may_begin(self) -> bool:
        return True  # some may never answer, and others come later

    def _gone(self) -> list[tuple[Worker, str]]:
        if monotonic() - self._looked_at < NEWS_S:
            return []
        self._looked_at = monotonic()
        self._see_that_one_talks()
        self._start_all()
        talking = set(self._talking)
        lost = [each for each in self._workers if self._address_of[each] not in talking]
        return [(each, self._of(each, "It does not answer any more.")) for each in lost]

    def _why_lost(self, worker: Worker, error: BaseException | None) -> str:
        self._see_that_one_talks()
        why = "It ended its work." if error is None else bug_in_words(error)
        return self._of(worker, f"{why.rstrip('.')}.")

    def _of(self, worker: Worker, words: str) -> str:
        return f"The worker at {self._address_of[worker]} is lost. {words}"

    def _lose(self, worker: Worker, words: str) -> Iterator[Outcome]:
        if (address := self._address_of[worker]) in self._talking:
            self._given_up.add(address)
        yield from super()._lose(worker, words)

    def _none_left(self, words: str) -> None:
        """Wait for other workers.  Raises ClusterError where none comes."""
        while not self._workers:
            self._see_that_one_talks()
            if self._given_up.issuperset(self.addresses):
                raise ClusterError(f"{words} No other is left; --resume does the rest.")
            self._pausing.rest()
            sleep(REST_S)
            self._start_all()

    def _stop(self) -> float:
        ask = partial(self._client.run, batch_worker.stop, self._order.run, on_error="ignore")
        within(CONNECT_S, ask)
        return WORKERS_S

    def _close(self) -> None:
        self._stop()
        for worker in self._workers:
            with suppress(*ANYTHING):
                worker.executor.shutdown(wait=False)


def within(patience_s: float, ask: Callable[[], _Answer]) -> _Answer | None:
    """Ask on a thread, and wait no longer than that: a worker may not answer any more."""
    answers: list[_Answer] = []

    def asking() -> None:
        with suppress(*ANYTHING):
            answers.append(ask())

    thread = Thread(target=asking, daemon=True)
    thread.start()
    thread.join(patience_s)
    return answers[0] if answers else None


def connected(address: str) -> Any:
    """Connect to the scheduler.  Raises ClusterError."""
    try:
        from distributed import Client
    except ImportError as error:
        raise ClusterError(f"A cluster needs the package distributed: {INSTALL}.") from error
    for name in ("distributed", "distributed.client", "tornado.application"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # what is wrong is said here
    try:
        return Client(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ClusterError(
            f"No scheduler answers at {address}; `dask scheduler` says where it is when it starts."
        ) from error


def _host(worker: str) -> str:
    return worker.rpartition(":")[0]
