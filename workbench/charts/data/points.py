"""Points from sessions and publications: what was measured, of which cell, and by whom."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from kernels.core.errors import KernelError
from kernels.core.timing import Timing
from kernels.sweeps.cell import PICTURE_KINDS, Cell
from kernels.sweeps.plan import Plan
from kernels.sweeps.published import Published, published_for
from kernels.sweeps.record import Machine, Measurement, Record, Session
from workbench.charts.data.figure import Standing
from workbench.model.names import cpu_name, kind_of


class Spread(NamedTuple):
    """A median with its quartiles."""

    middle: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Source:
    """A machine in a session, or a publication.

    key    the same for the same machine in another sweep
    origin  as in Session
    which  what tells it from other sessions of the same machine, where there are any
    publication, table, note  where published numbers stand, and what has to be known about them
    """

    key: str
    standing: Standing
    gpu: str
    cpu: str
    machine: Machine | None = field(default=None, compare=False)
    publication: str = ""
    table: str = ""
    note: str = ""
    origin: str = ""
    which: str = ""

    def machine_of(self, implementation: str) -> str:
        """Return the CPU or GPU of the machine that runs an implementation, in short."""
        on_cpu = kind_of(implementation) == "cpu" or not self.gpu
        if self.standing == "published":  # the names of CPUs were not
            return f"CPU beside {self.gpu}" if on_cpu and "CPU" not in self.gpu else self.gpu
        name = cpu_name(self.cpu) if on_cpu else self.gpu
        return f"{name}{self._remark}"

    @property
    def name(self) -> str:
        """Return the name of the machine: its GPU or else its CPU, and where it is from."""
        return f"{self.gpu or cpu_name(self.cpu)}{self._remark}"

    @property
    def _remark(self) -> str:
        said = ", ".join(filter(None, (self.origin, self.which)))
        return f" ({said})" if said else ""


@dataclass(frozen=True, slots=True)
class Point:
    """A cell that a source measured, with its time or the reason why it has none.

    ms           None: there is no valid time
    measurement  None: refused, or published
    objection    why there is no `ms`
    """

    cell: Cell
    source: Source
    ms: Spread | None
    measurement: Measurement | None = None
    objection: str | None = None

    @property
    def key(self) -> str:
        """Return the key of the series that the point belongs to."""
        if self.source.standing == "published":
            return f"{self.source.key} {self.cell.implementation}"
        return series_key(self.cell, self.source)

    @property
    def is_wrong(self) -> bool:
        """Return whether it ran, but its answer is not known to be right."""
        return self.ms is None and self.measurement is not None

    @property
    def on_gpu(self) -> bool:
        """Return whether its implementation is a CUDA kernel."""
        return kind_of(self.cell.implementation) == "cuda"


def series_key(cell: Cell, source: Source) -> str:
    """Return the key of the series of a cell that was, or will be, measured by `source`."""
    warm = " warm" if cell.cache == "warm" else ""
    return f"{cell.implementation}{warm} @ {source.key}"


def planned(session: Session) -> tuple[Cell, ...]:
    """Return all cells of a session's plan, measured or not.

    Empty if the plan names an implementation that this program does not have.  The sizes of
    given pictures are those that were measured so far.
    """
    own = {c.picture: (c.width, c.height) for c in (r.cell for r in session.records)}
    given = {name: size for name, size in own.items() if name not in PICTURE_KINDS}
    return _planned(session.plan, tuple(given.items()))


@lru_cache(maxsize=64)
def _planned(plan: Plan, given: tuple[tuple[str, tuple[int, int]], ...]) -> tuple[Cell, ...]:
    try:
        return plan.cells(dict(given))
    except KernelError:
        return ()


@lru_cache(maxsize=1 << 14)
def spread(timing: Timing) -> Spread:
    """Return median and quartiles in ms, cached, since charts are drawn again and again."""
    low, middle, high = np.percentile(timing.samples_ms, (25, 50, 75))
    return Spread(float(middle), float(low), float(high))


def measured_points(sessions: Sequence[Session]) -> Iterable[Point]:
    """Yield a point for each record of each session."""
    for session, source in zip(sessions, sources_of(sessions), strict=True):
        yield from (_point(record, source) for record in session.records)


def sources_of(sessions: Sequence[Session]) -> list[Source]:
    """Return the source of each session, in order."""
    met: dict[str, int] = {}
    found = []
    for session in sessions:
        standing: Standing = "recorded" if session.is_recorded else "live"
        key = f"{standing} {session.machine.name}"
        met[key] = met.get(key, 0) + 1
        again = f" {met[key]}" if met[key] > 1 else ""
        machine = session.machine
        which = _told_apart(session, sessions)
        origin = session.origin
        found.append(
            Source(
                *(key + again, standing, machine.gpu, machine.cpu, machine),
                origin=origin,
                which=which,
            )
        )
    return found


def _told_apart(session: Session, sessions: Sequence[Session]) -> str:
    """Return what tells sessions of a machine apart: what each measured, or when it began."""
    same = [s for s in sessions if _home(s) == _home(session)]
    if len(same) == 1:
        return ""
    if len({_short_title(each) for each in same}) == len(same):
        return _short_title(session)
    return f"{datetime.fromtimestamp(session.started):%Y-%m-%d %H:%M:%S}"


def _short_title(session: Session) -> str:
    return session.plan.title.rpartition(": ")[2]


def _home(session: Session) -> tuple[str, str]:
    return session.machine.name, session.origin


def _point(record: Record, source: Source) -> Point:
    measurement = None if isinstance(record.outcome, str) else record.outcome
    ms = spread(record.verified.kernel) if record.verified else None
    return Point(record.cell, source, ms, measurement, record.objection)


@lru_cache(maxsize=64)
def published(plan: Plan) -> tuple[Published, ...]:
    """Return the published times that belong to a plan."""
    try:
        return published_for(plan)
    except KernelError:  # it names an implementation that this program does not have
        return ()


def published_points(sessions: Sequence[Session]) -> list[Point]:
    """Return the points of all publications that belong to the sessions' plans."""
    found = dict.fromkeys(each for session in sessions for each in published(session.plan))
    return [
        Point(each.cell, _publication(each), Spread(*[each.milliseconds] * 3)) for each in found
    ]


@lru_cache(maxsize=4096)
def _publication(each: Published) -> Source:
    name = f"{each.gpu}, {each.by}"
    key = f"published {name}"
    return Source(key, "published", name, name, None, each.source, each.table, each.note)
