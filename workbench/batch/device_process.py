"""The process that filters a part of a folder's pictures, on a GPU or on the CPU, seen from inside.

It asks for pictures when it has none left to begin, tells of each that is finished, and looks
whether it is to stop wherever filtering may be.  A GPU that fails is the end of it: the pictures
that it was given are then done by others, and not by the CPU here, or failed one after another.
"""

from __future__ import annotations

import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from time import process_time
from typing import Literal

from kernels import Engine
from kernels.core.device import NoDevice
from kernels.core.device_turns import purpose
from kernels.core.errors import CannotRunError, DeviceLostError, KernelError
from workbench.base.memory import use_freed_memory_again
from workbench.batch.batch_run import finishing
from workbench.batch.filtering import Outcome, Recipe
from workbench.batch.large_filtering import StripsDone
from workbench.batch.pairs import FilePair
from workbench.batch.stage_times import FinishedRow, row_of

Tasks = Sequence[tuple[int, FilePair]]  # each with its place among all pictures
MakeEngine = Callable[[int | None], Engine]


@dataclass(frozen=True, slots=True)
class Order:
    """The work of one process.

    device       the number of its GPU; None: it filters on the CPU
    make_engine  makes the Engine of that number
    row_device   what the rows of its pictures have as their GPU; None: there is one at most
    folder       of the results; absolute, as all paths that are sent
    jobs         how many pictures it reads, and writes, at a time
    processes    that share this computer's memory
    """

    device: int | None
    make_engine: MakeEngine
    recipe: Recipe
    folder: Path
    jobs: int
    processes: int
    row_device: int | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """One thing that the process says.

    kind     ready: it has nothing to do; more: it can begin more, and waits for an answer; row: a
             picture is finished; strips: so much is done of one that is filtered in strips;
             lost: it cannot go on; bug: nobody has thought of this
    index    of the picture
    text     what is done with it, or why it cannot go on, a sentence; of a bug the traceback
    cpu_s    core-seconds that it has used
    """

    kind: Literal["ready", "more", "row", "strips", "lost", "bug"]
    index: int = -1
    row: FinishedRow | None = None
    strips: StripsDone | None = None
    text: str = ""
    cpu_s: float = 0.0


def engine_on(device: int | None) -> Engine:
    """Return an Engine that has this GPU, or none.

    Raises CannotRunError where there is none of that number.
    """
    if device is None:
        return Engine(use_gpu=False)
    engine = Engine(device)
    if isinstance(engine.device, NoDevice):
        raise CannotRunError(engine.device.reason)
    return engine


def work(connection: Connection[Said, Tasks | None], order: Order) -> None:
    """Filter what `connection` gives, until that says None or is closed at its other end."""
    use_freed_memory_again()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started this says when to stop
    link = _Link(connection)
    with suppress(_StopError), purpose("workbench batch"):
        try:
            _work(link, order)
        except KernelError as error:
            link.say(Said("lost", text=str(error)))
        except Exception:  # noqa: BLE001 - it is raised again where it is seen
            link.say(Said("bug", text=traceback.format_exc()))


def _work(link: _Link, order: Order) -> None:
    engine = order.make_engine(order.device)

    def obey(outcome: Outcome, doing: str) -> None:
        if engine.lost or link.is_told:
            raise _StopError
        if outcome.strips is not None:
            link.say(Said("strips", outcome.index, strips=outcome.strips, text=doing))

    try:
        while not engine.lost:
            link.say(Said("ready"))
            begun = link.begun(link.take())
            outcomes = finishing(engine, begun, order.recipe, order.jobs, obey, order.processes)
            for outcome in outcomes:
                if not (engine.lost and outcome.error):
                    link.report(outcome, order)
                del outcome  # its pictures would stay in memory while others are waited for
    except _StopError:
        if not engine.lost:
            raise
    finally:
        engine.close()
    raise DeviceLostError(engine.lost)


class _StopError(KeyboardInterrupt):
    """Nobody wants more of this process: what is written already is told, as after Ctrl+C."""


class _Link:
    """The connection to whoever gives pictures; only for the thread that filters."""

    def __init__(self, connection: Connection[Said, Tasks | None]) -> None:
        self._connection = connection
        self._began_s = process_time()

    @property
    def is_told(self) -> bool:
        """Return whether there is a word that nobody asked for, which means to stop."""
        try:
            return self._connection.poll()
        except OSError:  # the other end is gone
            return True

    def say(self, said: Said) -> None:
        """Say it.  Raises _StopError where nobody listens any more."""
        try:
            self._connection.send(said)
        except OSError as error:
            raise _StopError from error

    def take(self) -> Tasks:
        """Wait for pictures.  Raises _StopError where there are to be none."""
        try:
            tasks = self._connection.recv()
        except (EOFError, OSError) as error:
            raise _StopError from error
        if tasks is None:
            raise _StopError
        return tasks

    def begun(self, tasks: Tasks) -> Iterator[Outcome]:
        """Yield these pictures, and then more, until there are none at the moment."""
        while tasks:
            for index, pair in tasks:
                yield Outcome(pair, index)
            self.say(Said("more"))
            tasks = self.take()

    def report(self, outcome: Outcome, order: Order) -> None:
        """Tell what became of a picture."""
        output = outcome.pair.target.relative_to(order.folder).as_posix()
        row = row_of(outcome, output, order.row_device)
        self.say(Said("row", outcome.index, row, cpu_s=process_time() - self._began_s))
