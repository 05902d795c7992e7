"""A batch on the workers of a cluster, by `distributed`, which is imported when one is asked for.

Slices of the pairs are handed out, some to each worker; what comes back are rows for the journal,
which is written here alone.  A slice whose worker is lost is done by another one.  All computers
see the same folders under the same names; that is looked at before anything is done.
"""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic, sleep
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

from kernels.core.atomic_files import reason
from kernels.core.version import program_version
from workbench.batch import cluster_work
from workbench.batch.cluster_work import Slice, Work, WorkerFacts, python_version
from workbench.batch.file_pairs import FilePair
from workbench.batch.finished_row import FinishedRow

CONNECT_S = 10.0  # in which a scheduler answers
WORKERS_S = 60.0  # for so long each worker is waited for, and another one when all are lost
REST_S = 0.2  # within which it is stopped
NEWS_S = 1.0  # between two looks at whether there are workers
MAX_SLICE = 64  # pictures: so many that the scheduler's millisecond does not count
TURNS = 4  # slices for each worker, at least, so that none waits long for the last one
IN_FLIGHT = 2  # slices for each worker: one that it does, and the next
RETRIES = 2  # of a slice that fails as a whole, beside those when its worker is lost
INSTALL = 'pip install "filter-workbench[cluster]"'

Say = Callable[[str], None]


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
        self._facts: dict[str, WorkerFacts] = {}
        try:
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
        is_paused: Callable[[], bool] = lambda: False,
        rest: Callable[[], None] = lambda: None,
    ) -> Generator[FinishedRow, None, None]:
        """Do every pair; yields each when its slice is finished.

        total      how many there are
        is_paused  whether nothing is to be handed out for now; `pairs` may then wait as well
        rest       is called again and again while nothing is half done; may raise KeyboardInterrupt

        After that those still come that workers had begun, before it is raised
        again.  Raises ClusterError where the scheduler, or all workers, are lost.
        """
        size = min(max(total // (TURNS * self.workers), 1), MAX_SLICE)
        run = _Run(self._client, work, _slices(pairs, size), self._wait_for_workers, rest)
        try:
            while run.goes_on(is_paused):
                yield from run.step()
        except KeyboardInterrupt:
            run.stop()
            yield from run.begun()
            raise
        except OSError as error:  # as distributed's own are
            raise ClusterError(
                f"The scheduler at {self._address} is lost; the same command with --resume does "
                "the rest."
            ) from error
        finally:
            run.cancel()

    def close(self) -> None:
        """Leave the scheduler and its workers to others."""
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

    def _addresses(self) -> list[str]:
        return list(self._client.nthreads())

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
        """Return each worker's answer, or its exception."""
        answers: dict[str, Any] = self._client.run(
            question, *words, workers=workers, on_error="return"
        )
        return answers


class _Run:
    """All slices that are handed out, and those that are to be handed out again, smaller.

    wait_for_workers  returns when there is one, or raises ClusterError
    rest              as in `Cluster.rows`
    """

    def __init__(
        self,
        client: Any,
        work: Work,
        slices: Iterator[Slice],
        wait_for_workers: Callable[[], None],
        rest: Callable[[], None],
    ) -> None:
        self._client, self._work, self._slices = client, work, slices
        self._wait_for_workers, self._rest = wait_for_workers, rest
        self._again: deque[Slice] = deque()
        self._handed_out: dict[str, tuple[Slice, Any]] = {}  # by the key of its future
        self._done: SimpleQueue[Any] = SimpleQueue()

    def goes_on(self, is_paused: Callable[[], bool]) -> bool:
        """Start as many slices as there is room for; return whether any is handed out.

        Where it is paused, what is handed out is waited for at first.
        """
        self._rest()
        while is_paused() and not self._handed_out:
            sleep(REST_S)
            self._rest()
        room = IN_FLIGHT * max(len(self._client.nthreads()), 1)
        while len(self._handed_out) < room and not (self._handed_out and is_paused()):
            part = self._again.popleft() if self._again else next(self._slices, None)
            if part is None:
                break
            self._hand_out(part)
        return bool(self._handed_out)

    def step(self) -> Iterator[FinishedRow]:
        """Wait for a slice; yield its rows."""
        looked_at = monotonic()
        while (future := self._next()) is None:
            self._rest()
            if monotonic() - looked_at > NEWS_S:
                self._wait_for_workers()
                looked_at = monotonic()
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
        asking = Thread(target=self._ask_to_stop, daemon=True)
        asking.start()
        asking.join(CONNECT_S)

    def begun(self) -> Iterator[FinishedRow]:
        """Yield the rows of what was begun, where nothing more is."""
        until = monotonic() + WORKERS_S
        while self._handed_out and monotonic() < until:
            self._rest()
            future = self._next()
            if future is not None:
                self._handed_out.pop(future.key)
                if future.status == "finished" and not isinstance(said := future.result(), str):
                    yield from said

    def cancel(self) -> None:
        """Let go of what is handed out, if anything is."""
        if self._handed_out:
            self.stop()
            with suppress(OSError):
                self._client.cancel([future for _, future in self._handed_out.values()])

    def _ask_to_stop(self) -> None:
        with suppress(OSError):
            self._client.run(cluster_work.stop, self._work.run, on_error="ignore")

    def _hand_out(self, part: Slice) -> None:
        future = self._client.submit(cluster_work.do, self._work, part, pure=False, retries=RETRIES)
        self._handed_out[future.key] = part, future
        future.add_done_callback(self._done.put)

    def _next(self) -> Any:
        with suppress(Empty):
            return self._done.get(timeout=REST_S)
        return None

    def _failed(self, pair: FilePair, why: str) -> FinishedRow:
        output = pair.target.relative_to(self._work.folder).as_posix()
        sentence = f"{pair.name}: {why.rstrip('.')}."
        return FinishedRow(pair.source_shown, output, "failed", sentence)


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
    return f"{type(error).__name__}: {error}"


def _host(worker: str) -> str:
    """Return the computer of "tcp://10.0.0.7:40123"."""
    return worker.rpartition(":")[0]


def _versions(program: str, python: str) -> str:
    return f"Filter Workbench {program} on Python {python}"


def _count(token: Path) -> int:
    return sum(1 for _ in token.parent.glob(f"{token.name}*"))
