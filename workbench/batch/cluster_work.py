"""The part of a batch that a worker of a cluster does: slices of the pairs, one at a time.

It runs in the worker's process, and imports nothing of the cluster's.  A slice goes through the
engine that filters files anywhere; what goes back are rows for the journal.
"""

from __future__ import annotations

import platform
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from pathlib import Path
from time import monotonic, sleep
from uuid import uuid4

from kernels import Engine
from kernels.core.cpu_load import usable_cores
from kernels.core.errors import KernelError, bug_in_words
from kernels.core.version import program_version
from workbench.batch.batch_run import running
from workbench.batch.filtering import Recipe
from workbench.batch.pairs import FilePair
from workbench.batch.stage_times import FinishedRow, rows_of

APPEARS_S = 5.0  # other computers may see a new file that late

# An engine belongs to one thread, whichever of the worker's threads the slices come on.
_thread = ThreadPoolExecutor(1, "batch-engine")
_stopped: set[str] = set()


@dataclass(frozen=True, slots=True)
class Work:
    """The part of a batch that is the same for all slices.

    run        a name that no other batch has
    folder     of the results; absolute, as all paths that are sent
    device     which GPU of those that a worker sees
    use_gpu    False: none of them
    jobs       threads that read and write; None: as many as there are cores for a worker
    neighbours workers that share a computer, at most
    """

    run: str
    folder: Path
    recipe: Recipe
    device: int = 0
    use_gpu: bool = True
    jobs: int | None = None
    neighbours: int = 1

    def threads(self, cores: int) -> int:
        """Return how many threads of a worker read and write, on a computer of so many cores."""
        return self.jobs or max(cores // self.neighbours, 1)


@dataclass(frozen=True, slots=True)
class Slice:
    """Pairs that one worker does.

    first  index of the first one in the whole batch
    """

    first: int
    pairs: tuple[FilePair, ...]


@dataclass(frozen=True, slots=True)
class WorkerFacts:
    """The versions of a worker, and the cores that it may use."""

    program: str
    python: str
    cores: int


def do(work: Work, part: Slice) -> list[FinishedRow] | str:
    """Filter a slice; return the rows of all its pictures, or where stopped, of those begun.

    Where the whole slice fails, return why, and of a bug the traceback in the lines below: an
    exception may not get through to where it is read.
    """
    try:
        return _thread.submit(_do, work, part).result()
    except KernelError as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 - carried to the client, not swallowed
        return f"{bug_in_words(error)}\n{traceback.format_exc().rstrip()}"


def stop(run: str) -> None:
    """Begin no more pictures of that batch in this process."""
    _stopped.add(run)


def facts() -> WorkerFacts:
    """Return what this process is."""
    return WorkerFacts(program_version(), python_version(), usable_cores())


def python_version() -> str:
    """Return "3.11": what two processes have to have in common to understand each other."""
    return ".".join(platform.python_version_tuple()[:2])


def look(folder: Path, token: str, source: Path | None) -> str:
    """Read the file `token` in `folder`, and write one beside it; return why not, or nothing.

    source  a picture that has to be there as well
    """
    path = folder / token
    if not appears(path.is_file):
        return f"does not see {folder}"
    try:
        answer = path.with_name(f"{token}-{uuid4().hex}")
        answer.write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    except OSError as error:
        return f"cannot write into {folder} ({error.strerror})"
    if source is not None and not appears(source.exists):
        return f"does not see {source}"
    return ""


def appears(is_there: Callable[[], bool]) -> bool:
    """Return whether it is there, or comes to be soon, as another computer's file may."""
    until = monotonic() + APPEARS_S
    while not is_there():
        if monotonic() > until:
            return False
        sleep(0.1)
    return True


def _do(work: Work, part: Slice) -> list[FinishedRow]:
    pairs = takewhile(lambda _: work.run not in _stopped, part.pairs)
    engine = _engine(work.device, work.use_gpu)
    threads = work.threads(usable_cores())
    outcomes = running(engine, pairs, work.recipe, threads, first=part.first)
    return list(rows_of(outcomes, lambda target: target.relative_to(work.folder).as_posix()))


@cache
def _engine(device: int, use_gpu: bool) -> Engine:
    return Engine(device, use_gpu=use_gpu)
