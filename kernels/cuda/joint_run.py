"""One run of a job that several GPUs share: all begin together, and one clock times them all.

Nothing is queued on a GPU that could start before its halo rows are there: they are copied on its
own stream, in front of its kernels, out of rows that only an upload writes, which was waited for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from kernels.core.device import DeviceShare, HaloPath
from kernels.core.errors import LaunchRefusedError
from kernels.core.picture_parts import HaloRows, RowStrip
from kernels.core.timing import Cache
from kernels.cuda.device_pictures import HALO_ROOM
from kernels.cuda.gpu import Gpu
from kernels.cuda.launch import Launch

ALREADY_ENABLED = 704  # of cudaError: CuPy, or somebody else, has opened this way before
OPENING = "opening the way between two GPUs"


class HaloExchange:
    """Copies rows between GPUs: straight, where the driver allows it."""

    def __init__(self, gpus: Sequence[Gpu]) -> None:
        self._gpus = gpus
        self._paths = {
            (to, source): self._opened(taker, gpus[source])
            for to, taker in enumerate(gpus)
            for source in range(len(gpus))
            if source != to
        }

    def path(self, to: int, source: int) -> HaloPath:
        """Return how rows of GPU `source` reach GPU `to`; "" where those are one."""
        return self._paths.get((to, source), "")

    def copy(self, to: int, source: int, into: Any, rows: Any) -> None:
        """Queue a copy of `rows`, an array on GPU `source`, on the stream of GPU `to`.

        CUDA itself goes through the computer's memory where there is no other way.
        into  an array on GPU `to`, of the same shape; its stream is the current one
        """
        taker, giver = self._gpus[to], self._gpus[source]
        taker.cp.cuda.runtime.memcpyPeerAsync(
            into.data.ptr,
            taker.device.index,
            rows.data.ptr,
            giver.device.index,
            rows.nbytes,
            taker.stream.ptr,
        )

    @staticmethod
    def _opened(taker: Gpu, giver: Gpu) -> HaloPath:
        runtime = taker.cp.cuda.runtime
        try:
            with taker.using(OPENING):
                if not runtime.deviceCanAccessPeer(taker.device.index, giver.device.index):
                    return "host"
                runtime.deviceEnablePeerAccess(giver.device.index)
        except LaunchRefusedError as error:
            is_open = getattr(error.__cause__, "status", None) == ALREADY_ENABLED
            return "peer" if is_open else "host"
        return "peer"


@dataclass(slots=True, eq=False)
class Part:
    """One GPU's part of the job.

    array     its rows on the device, with HALO_ROOM rows above and below
    halo      what fills those next to its own
    events    of CUDA: it has begun, it has its halo, it has ended
    times_ms  of each run: until it had its halo, and until it had ended
    """

    gpu: Gpu
    strip: RowStrip
    launch: Launch
    array: Any
    halo: tuple[HaloRows, ...]
    events: tuple[Any, Any, Any]
    times_ms: list[tuple[float, float]] = field(default_factory=list)

    @property
    def target(self) -> Any:
        """Return its rows of the answer, on the device."""
        return self.launch.arrays["target"][self.strip.own]


class JointRun:
    """The parts of one job, made ready.

    doing  what it is called where it fails
    """

    def __init__(
        self, parts: Sequence[Part], exchange: HaloExchange, cache: Cache, doing: str
    ) -> None:
        self.parts, self._exchange, self._cache, self._doing = parts, exchange, cache, doing
        first = parts[0].gpu
        self._cp = first.cp
        with first.using(doing):
            self._gate, self._all_ended = self._cp.cuda.Event(), self._cp.cuda.Event()

    def run_ms(self) -> float:
        """Run once, and wait; return the time from the first GPU's start until all have ended.

        It is taken by the first GPU's events alone, since those of two GPUs cannot be compared: in
        it is what the others take to learn of the start, and the first to learn of their ends.
        """
        goes = [self._ready(part) for part in self.parts]
        first, *others = self.parts
        with first.gpu.using(self._doing):
            first.gpu.timer.hold(len(self.parts) + 1)  # all are queued before any begins
            self._gate.record()
        for at, go in enumerate(goes):
            self._queue(at, go)
        with first.gpu.using(self._doing):
            for part in others:
                first.gpu.stream.wait_event(part.events[2])
            self._all_ended.record()
            self._all_ended.synchronize()
            wall_ms = self._elapsed_ms(first.events[0], self._all_ended)
        for part in self.parts:
            with part.gpu.using(self._doing):
                begun, has_halo, ended = part.events
                part.times_ms.append(
                    (self._elapsed_ms(begun, has_halo), self._elapsed_ms(begun, ended))
                )
        return wall_ms

    def shares(self, count: int) -> tuple[DeviceShare, ...]:
        """Return what each GPU did in the last `count` runs."""
        return tuple(self._share(at, part, count) for at, part in enumerate(self.parts))

    def _ready(self, part: Part) -> Callable[[], None]:
        with part.gpu.using(self._doing):
            go = part.launch.ready()
            if self._cache == "cold":
                part.gpu.timer.evict()
        return go

    def _queue(self, at: int, go: Callable[[], None]) -> None:
        """Queue halo and kernels of part number `at`, behind the gate."""
        part = self.parts[at]
        begun, has_halo, ended = part.events
        top = HALO_ROOM - part.strip.above
        with part.gpu.using(self._doing):
            if at > 0:
                part.gpu.stream.wait_event(self._gate)
            begun.record()
            for rows in part.halo:
                first = HALO_ROOM + rows.first
                self._exchange.copy(
                    at,
                    rows.source,
                    part.array[top + rows.to :][: rows.count],
                    self.parts[rows.source].array[first : first + rows.count],
                )
            has_halo.record()
            go()
            ended.record()

    def _share(self, at: int, part: Part, count: int) -> DeviceShare:
        halo_ms, total_ms = zip(*part.times_ms[-count:], strict=True)
        paths = {self._exchange.path(at, rows.source) for rows in part.halo}
        return DeviceShare(
            index=part.gpu.device.index,
            name=part.gpu.device.name,
            rows=(part.strip.first, part.strip.end),
            total_ms=median(total_ms),
            halo_ms=median(halo_ms),
            halo_rows=sum(rows.count for rows in part.halo),
            halo_path="host" if "host" in paths else "peer" if "peer" in paths else "",
        )

    def _elapsed_ms(self, start: Any, stop: Any) -> float:
        return float(self._cp.cuda.get_elapsed_time(start, stop))
