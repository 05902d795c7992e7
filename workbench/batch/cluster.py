"""A batch on the workers of a cluster, by `distributed`, which is imported when one is asked for.

Slices of the pairs are handed out, some to each worker; what comes back are rows for the journal,
which is written here alone.  A slice whose worker is lost is done by another one.  All computers
see the same folders under the same names; that is looked at before anything is done.
"""

from __future__ import annotations

import logging
from asyncio import CancelledError
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from time import localtime, monotonic, sleep, strftime, time
from types import TracebackType
from typing import Any, Self, TypeVar
from uuid import uuid4

from kernels.core.errors import bug_in_words
from kernels.core.safe_files import reason
from kernels.core.version import program_version
from workbench.batch import cluster_work
from workbench.batch.batch_run import NEVER_PAUSED, REST_S, Pausing
from workbench.batch.cluster_work import Slice, Work, WorkerFacts, python_version
from workbench.batch.pairs import FilePair
from workbench.batch.stage_times import FinishedRow

CONNECT_S = 10.0  # in which a scheduler answers
ANSWER_S = 15.0  # in which workers answer that are not silent
WORKERS_S = 60.0  # for so long each worker is waited for, and another one when all are lost
NEWS_S = 1.0  # between two looks at the workers
SILENT_S = 10.0  # without a heartbeat, of which there are two a second; then it is said
LEFT_S = 30.0  # without one; then others do the pictures of that worker
MAX_SLICE = 64  # pictures: so many that the scheduler's millisecond does not count
TURNS = 4  # slices for each worker, at least, so that none waits long for the last one
IN_FLIGHT = 2  # slices for each worker: one that it does, and the next
RETRIES = 2  # of a slice that fails as a whole, beside those when its worker is lost
INSTALL = 'pip install "filter-workbench[cluster]"'

Say = Callable[[str], None]
_Answer = TypeVar("_Answer")


class ClusterError(Exception):
    """A cluster cannot be used.  str(error) is one sentence for the user."""


class Cluster:
    """A connection to a scheduler that has workers.

    workers  how many there were at the beginning
    """

    def __init__(self, address: str, say: Say, wanted: int = 1) -> None:
        """Connect, and wait for `wanted` workers; `say` is told so.

        Where not all of them come, it does with those that did.  Raises ClusterError where none do.
        """
        self._address, self._say = address, say
        self._client = connected(address)
        self._hearing = _Hearing(self._client, say)
        self._facts: dict[str, WorkerFacts] = {}
        try:
            with self._losses():
                self._wait_for_workers(wanted)
                self.workers = len(self._addresses())
        except BaseException:
            self.close()
            raise

    def check(self, folder: Path, source: Path | None) -> None:
        """Check that all workers can do what they will be asked for.  Raises ClusterError.

        folder  of the results, which is made; absolute
        source  one of the pictures; absolute
        """
        self._check_programs()
        made = [each for each in (folder, *folder.parents) if not each.exists()]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._check_folder(folder, source)
        except OSError as error:
            raise ClusterError(f"Cannot write {folder}: {reason(error)}.") from error
        except BaseException:
            with suppress(OSError):
                for each in made:
                    each.rmdir()
            raise

    @property
    def neighbours(self) -> int:
        """Return how many workers share a computer, at most."""
        return max(Counter(map(_host, self._facts)).values(), default=1)

    def threads(self, work: Work) -> int:
        """Return how many threads read and write on all workers together."""
        return sum(work.threads(each.cores) for each in self._facts.values())

    def rows(
        self,
        work: Work,
        pairs: Iterable[FilePair],
        total: int,
        pausing: Pausing = NEVER_PAUSED,
    ) -> Generator[FinishedRow, None, None]:
        """Do every pair; yields each when its slice is finished.

        total  how many there are

        After that those still come that workers had begun, before it is raised
        again.  Raises ClusterError where the scheduler, or all workers, are lost.
        """
        size = min(max(total // (TURNS * self.workers), 1), MAX_SLICE)
        run = _Run(self._client, work, _slices(pairs, size), self._look, self._hearing, pausing)
        try:
            with self._losses():
                while run.goes_on():
                    yield from run.step()
        except KeyboardInterrupt:
            run.stop()
            yield from run.begun()
            raise
        finally:
            run.cancel()

    def close(self) -> None:
        """Leave the scheduler and its workers to others."""
        with _whatever_became_of_it():
            self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

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

    def _addresses(self) -> list[str]:
        self._hearing.look()
        return self._hearing.workers

    def _look(self) -> None:
        """See that there are workers that answer.  Raises ClusterError where none do for long."""
        self._wait_for_workers()
        if self._hearing.shortest_s > WORKERS_S:
            raise ClusterError(
                f"No worker at {self._address} has answered for {WORKERS_S:.0f} s; the same "
                "command with --resume does the rest."
            )

    def _wait_for_workers(self, wanted: int = 1) -> None:
        there = len(self._addresses())
        if there < wanted:
            has = f"{there} of {wanted} workers" if there else "no workers"
            what = f"{wanted - there}" if wanted - there > 1 else "one"
            self._say(f"The scheduler at {self._address} has {has}; waiting for {what}.")
        while there < wanted and self._has_another(there):
            there = len(self._addresses())
        if 0 < there < wanted:
            self._say(
                f"{there} of the {wanted} workers that were asked for came to {self._address}, and "
                f"no other in {WORKERS_S:.0f} s; the batch begins, and takes those that come later."
            )

    def _has_another(self, there: int) -> bool:
        """Wait for a worker beside so many.  Raises ClusterError where there is none at all."""
        try:
            self._client.wait_for_workers(there + 1, timeout=WORKERS_S)
        except TimeoutError as error:
            if there:
                return False
            raise ClusterError(
                f"No worker came to {self._address} in {WORKERS_S:.0f} s; start one: "
                f"dask worker {self._address} --nthreads 1."
            ) from error
        return True

    def _check_programs(self) -> None:
        own = program_version(), python_version()
        self._facts = {}
        for worker, said in self._asked(cluster_work.facts).items():
            if not isinstance(said, WorkerFacts):
                raise ClusterError(
                    f"The worker at {worker} does not load this version of Filter Workbench "
                    f"({said}); install it there."
                )
            if (theirs := (said.program, said.python)) != own:
                raise ClusterError(
                    f"The worker at {worker} runs {_versions(*theirs)}, and this is "
                    f"{_versions(*own)}; install the same there."
                )
            self._facts[worker] = said

    def _check_folder(self, folder: Path, source: Path | None) -> None:
        """Have one worker of each computer read a file here, and write one beside it."""
        one_of = {_host(worker): worker for worker in self._facts}
        token = folder / f".workbench-{uuid4().hex}"
        try:
            token.write_text(token.name, encoding="utf-8")
            answers = self._asked(
                cluster_work.look, folder, token.name, source, workers=list(one_of.values())
            )
            for worker, said in answers.items():
                if said:
                    raise ClusterError(
                        f"The worker at {worker} {said}; a cluster needs storage that all of its "
                        "computers see under one name."
                    )
            if not cluster_work.appears(lambda: _count(token) > len(answers)):
                raise ClusterError(
                    f"What workers write into {folder} is not seen here; a cluster needs storage "
                    "that all of its computers see under one name."
                )
        finally:
            for each in folder.glob(f"{token.name}*"):
                each.unlink(missing_ok=True)

    def _asked(
        self, question: Callable[..., Any], *words: Any, workers: Sequence[str] | None = None
    ) -> dict[str, Any]:
        """Return each worker's answer, or its exception; nothing of those that are silent.

        Raises ClusterError where none answers for long.
        """
        until, addresses = monotonic() + WORKERS_S, workers or self._addresses()
        while asked := [each for each in addresses if each not in self._hearing.silent]:
            ask = partial(self._client.run, question, *words, workers=asked, on_error="return")
            answers: dict[str, Any] | None = _within(ANSWER_S, ask)
            if answers is not None:
                return answers
            with self._losses():
                self._hearing.look()
            if monotonic() > until:
                break
            sleep(REST_S)  # where asking fails at once
        raise ClusterError(f"No worker at {self._address} answers; see whether they are stopped.")


class _Hearing:
    """Which workers there are, and which of them send no heartbeats: stopped, or without a network.

    The scheduler itself gives such a worker up after five minutes.
    """

    def __init__(self, client: Any, say: Say) -> None:
        self._client, self._say = client, say
        # Of each worker: its last heartbeat, by its scheduler's clock, and when it was news here.
        self._heard: dict[str, tuple[float, float]] = {}
        self.silent: set[str] = set()
        self.left: set[str] = set()

    @property
    def workers(self) -> list[str]:
        """Return the addresses of all workers."""
        return list(self._heard)

    @property
    def talking(self) -> list[str]:
        """Return the addresses of those that pictures may be given to."""
        return [worker for worker in self._heard if worker not in self.left]

    @property
    def shortest_s(self) -> float:
        """Seconds since the last heartbeat of any worker."""
        return min((monotonic() - at for _, at in self._heard.values()), default=0.0)

    def look(self) -> None:
        """Ask the scheduler; say which workers are silent, and which are not any more."""
        identity = self._client.scheduler.identity
        found = self._client.sync(identity, callback_timeout=WORKERS_S)["workers"]
        now, before = monotonic(), self._heard
        self._heard = {}
        for worker, facts in found.items():
            beat = facts["last_seen"]
            known = before.get(worker, (beat, now))
            self._heard[worker] = known if known[0] == beat else (beat, now)
        self._tell({each: now - at for each, (_, at) in self._heard.items()})

    def _tell(self, quiet_s: dict[str, float]) -> None:
        silent = {worker for worker, for_s in quiet_s.items() if for_s > SILENT_S}
        self.left = {worker for worker, for_s in quiet_s.items() if for_s > LEFT_S}
        for worker in sorted(silent - self.silent):
            since = strftime("%H:%M:%S", localtime(time() - quiet_s[worker]))
            self._say(
                f"The worker at {worker} has been silent since {since}; others do its pictures if "
                f"it stays silent for {LEFT_S:.0f} s."
            )
        for worker in sorted(self.silent - silent):
            how = "answers again" if worker in quiet_s else "is gone"
            self._say(f"The worker at {worker} {how}.")
        self.silent = silent


class _Run:
    """All slices that are handed out, and those that are to be handed out again, smaller.

    look     returns when there are workers, or raises ClusterError
    hearing  knows which of them answer
    """

    def __init__(
        self,
        client: Any,
        work: Work,
        slices: Iterator[Slice],
        look: Callable[[], None],
        hearing: _Hearing,
        pausing: Pausing,
    ) -> None:
        self._client, self._work, self._slices = client, work, slices
        self._look, self._hearing, self._pausing = look, hearing, pausing
        self._looked_at = monotonic()
        self._again: deque[Slice] = deque()
        self._handed_out: dict[str, tuple[Slice, Any]] = {}  # by the key of its future
        self._done: SimpleQueue[Any] = SimpleQueue()

    def goes_on(self) -> bool:
        """Start as many slices as there is room for; return whether any is handed out.

        Where it is paused, what is handed out is waited for at first.
        """
        if self._handed_out:
            self._pausing.rest()
        else:
            self._pausing.wait()
        self._look_now_and_then()
        room = IN_FLIGHT * max(len(self._hearing.talking), 1)
        while len(self._handed_out) < room and not self._pausing.is_paused():
            part = self._again.popleft() if self._again else next(self._slices, None)
            if part is None:
                break
            self._hand_out(part)
        return bool(self._handed_out)

    def _look_now_and_then(self) -> None:
        """Take slices from workers that are silent for long; raise ClusterError where all are."""
        if monotonic() - self._looked_at < NEWS_S:
            return
        self._look()
        self._looked_at = monotonic()
        if self._hearing.left and self._hearing.talking:
            under_way = self._client.sync(
                self._client.scheduler.processing, workers=None, callback_timeout=WORKERS_S
            )
            keys = {key for worker in self._hearing.left for key in under_way.get(worker, ())}
            lost = [self._handed_out.pop(key) for key in keys & self._handed_out.keys()]
            self._again.extend(part for part, _ in lost)
            self._client.cancel([future for _, future in lost])

    def step(self) -> Iterator[FinishedRow]:
        """Wait a moment for a slice; yield its rows."""
        future = self._next()
        if future is None or future.key not in self._handed_out:  # others do it by now
            return
        part, _ = self._handed_out.pop(future.key)
        if future.status not in ("finished", "error"):
            raise ConnectionError("nobody knows of it any more")
        said = future.result() if future.status == "finished" else _words(future.exception())
        if not isinstance(said, str):
            yield from said
        elif len(part.pairs) > 1:  # one of its pictures may be to blame
            self._again.extend(_singles(part))
        else:
            yield self._failed(part.pairs[0], said)

    def stop(self) -> None:
        """Have workers begin no more pictures; not for ever, as one may not answer any more."""
        ask = partial(self._client.run, cluster_work.stop, self._work.run, on_error="ignore")
        _within(CONNECT_S, ask)

    def begun(self) -> Iterator[FinishedRow]:
        """Yield the rows of what was begun, where nothing more is."""
        until = monotonic() + WORKERS_S
        while self._handed_out and monotonic() < until:
            self._pausing.rest()
            future = self._next()
            if future is None or self._handed_out.pop(future.key, None) is None:
                continue
            if future.status == "finished" and not isinstance(said := future.result(), str):
                yield from said

    def cancel(self) -> None:
        """Let go of what is handed out, if anything is."""
        if self._handed_out:
            self.stop()
            with _whatever_became_of_it():
                self._client.cancel([future for _, future in self._handed_out.values()])

    def _hand_out(self, part: Slice) -> None:
        workers = self._hearing.talking if self._hearing.left else None
        future = self._client.submit(
            cluster_work.do,
            self._work,
            part,
            pure=False,
            retries=RETRIES,
            workers=workers or None,
            allow_other_workers=bool(workers),
        )
        self._handed_out[future.key] = part, future
        future.add_done_callback(self._done.put)

    def _next(self) -> Any:
        with suppress(Empty):
            return self._done.get(timeout=REST_S)
        return None

    def _failed(self, pair: FilePair, why: str) -> FinishedRow:
        output = pair.target.relative_to(self._work.folder).as_posix()
        said, _, log = why.partition("\n")
        sentence = f"{pair.name}: {said.rstrip('.')}."
        return FinishedRow(pair.source_shown, output, "failed", sentence, log=log)


@contextmanager
def _whatever_became_of_it() -> Iterator[None]:
    """Suppress failures of a request to a scheduler that may be gone."""
    with suppress(Exception, CancelledError):
        yield


def _within(patience_s: float, ask: Callable[[], _Answer]) -> _Answer | None:
    """Ask on a thread, and wait no longer than that: one that is asked may not answer any more."""
    answers: list[_Answer] = []

    def asking() -> None:
        with _whatever_became_of_it():
            answers.append(ask())

    thread = Thread(target=asking, daemon=True)
    thread.start()
    thread.join(patience_s)
    return answers[0] if answers else None


def connected(address: str) -> Any:
    """Return a client of the scheduler.  Raises ClusterError."""
    try:
        from distributed import Client
    except ImportError as error:
        raise ClusterError(f"A cluster needs the package distributed: {INSTALL}.") from error
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # what is wrong is said here
    try:
        return Client(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ClusterError(
            f"No scheduler answers at {address}; `dask scheduler` says where it is when it starts."
        ) from error


def _slices(pairs: Iterable[FilePair], size: int) -> Iterator[Slice]:
    """Yield all pairs, by absolute paths: workers have other current folders."""
    left, first = iter(pairs), 0
    while some := tuple(map(FilePair.absolute, islice(left, size))):
        yield Slice(first, some)
        first += len(some)


def _singles(part: Slice) -> Iterator[Slice]:
    return (Slice(part.first + at, (pair,)) for at, pair in enumerate(part.pairs))


def _words(error: BaseException) -> str:
    if type(error).__name__ == "KilledWorker":
        return "workers were lost over it, again and again"
    return bug_in_words(error)


def _host(worker: str) -> str:
    """Return the computer of "tcp://10.0.0.7:40123"."""
    return worker.rpartition(":")[0]


def _versions(program: str, python: str) -> str:
    return f"Filter Workbench {program} on Python {python}"


def _count(token: Path) -> int:
    return sum(1 for _ in token.parent.glob(f"{token.name}*"))
