"""One job on several GPUs: each keeps a strip; the halo is copied between."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import permutations
from statistics import median
from time import perf_counter
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kernels.core.borders import HaloRows, RowStrip, halo_rows
from kernels.core.cache import read_only
from kernels.core.device import Device, DeviceShare, HaloPath, NoDevice
from kernels.core.device_turns import Turns
from kernels.core.errors import LaunchRefusedError
from kernels.core.health import Watch, health_of_all
from kernels.core.job import Job, Progress, Result, Results, Sampling
from kernels.core.timing import Cache, Timing, added_up
from kernels.cuda.device_pictures import HALO_ROOM, Moved
from kernels.cuda.gpu import Gpu, in_words, timed_results, with_transfers
from kernels.cuda.launch import Launch, Program
from kernels.rungs.rung import Rung

T = TypeVar("T")


def part_jobs(job: Job) -> tuple[tuple[RowStrip, Job], ...]:
    """Return the parts of job.picture, and the job that each GPU does.

    The picture of such a job has no more than the size and type of its part: the samples are on the
    GPU alone.
    """
    shape = job.width, job.channels
    return tuple(
        (part, job.but(picture=np.empty((part.height, *shape), job.picture.dtype), devices=1))
        for part in job.parts
    )


class SeveralGpus:
    """GPUs that share the rows of a picture; for one thread, as `Gpu` is."""

    def __init__(self, gpus: Sequence[Gpu]) -> None:
        self._gpus = tuple(gpus)
        self._paths = open_paths(self._gpus)
        self._turns = Turns([gpu.device for gpu in gpus])

    def filtering(self, rung: Rung, job: Job, sampling: Sampling) -> Results:
        """Compile, upload, filter, download; then repeat halo and kernels for their timing.

        Raises the errors of `kernels.core.errors`.
        """
        jobs, is_shared = part_jobs(job), sampling.max_samples == 0
        gpus = self._gpus[: len(jobs)]  # all, unless there are fewer rows
        # Each for its part: how long a transform is goes by the size of what it is for.
        wanted = [(gpu, *each) for gpu, each in zip(gpus, jobs, strict=True)]
        if not all(gpu.has_compiled(rung, part) for gpu, _, part in wanted):
            yield Progress(f"compiling {rung.title}")
        compiled = [gpu.compile(rung, part) for gpu, _, part in wanted]
        if not all(
            gpu.pictures.has(job.picture, (strip.first, strip.end)) for gpu, strip, _ in wanted
        ):
            yield Progress(f"uploading the picture to {len(gpus)} GPUs")
        arrays, uploaded = yield from self._turns.doing(
            lambda: _uploaded(gpus, jobs, job), shared=is_shared
        )
        yield Progress(f"filtering with {rung.title} on {len(gpus)} GPUs")

        def make() -> list[Part]:
            return [self._part(at, each, jobs, arrays[at]) for at, (each, _) in enumerate(compiled)]

        parts = yield from self._turns.doing(make, shared=is_shared)
        run = JointRun(parts, self._paths, sampling.cache, in_words(job))
        watches = [Watch(gpu.nvml, why_not_alone=lambda: self._turns.why_not_alone) for gpu in gpus]

        def fetch() -> Result:
            picture, downloaded = _downloaded(parts, job)
            with gpus[0].using(in_words(job)):
                ran = parts[0].launch.ran()
            compile_ms = added_up(ms for _, ms in compiled)
            known = Result(job, picture, None, ran, compile_ms, device_name=_names(gpus))
            return with_transfers(known, uploaded, downloaded)

        def complete(known: Result, timing: Timing) -> Result:
            return replace(
                known,
                kernel=timing,
                shares=run.shares(len(timing.samples_ms)),
                health=health_of_all(watch.health() for watch in watches),
            )

        def look() -> None:
            for watch in watches:
                watch.look()

        yield from timed_results(run.run_ms, fetch, complete, sampling, look, self._turns)

    def _part(
        self, at: int, program: Program, jobs: Sequence[tuple[RowStrip, Job]], array: Any
    ) -> Part:
        gpu, (strip, job) = self._gpus[at], jobs[at]
        top = HALO_ROOM - strip.above
        own = strip.own.start, strip.own.stop
        launch = gpu.launch_on(program, job, array[top : top + strip.height], own)
        with gpu.using(in_words(job)):
            begun, has_halo, ended = (gpu.cp.cuda.Event() for _ in range(3))
        halo = tuple(halo_rows([each for each, _ in jobs], at))
        return Part(gpu, strip, launch, array, halo, (begun, has_halo, ended))


def _uploaded(
    gpus: Sequence[Gpu], jobs: Sequence[tuple[RowStrip, Job]], job: Job
) -> tuple[list[Any], Moved | None]:
    """The rows of every part on its GPU, and how long that took; None: all were there."""

    def upload(at: int) -> tuple[Any, Moved | None]:
        strip = jobs[at][0]
        return gpus[at].pictures.upload(job.picture, (strip.first, strip.end))

    found, ms = _at_once(upload, len(gpus))
    moved = [each for _, each in found if each is not None]
    together = Moved(ms, max(each.copy_ms for each in moved)) if moved else None
    return [array for array, _ in found], together


def _downloaded(parts: Sequence[Part], job: Job) -> tuple[NDArray[Any], Moved]:
    """The output, gathered, in read-only memory, and how long that took."""
    picture = parts[0].gpu.pictures.pinned(job.picture)

    def download(at: int) -> Moved:
        part, strip = parts[at], parts[at].strip
        target = part.launch.arrays["target"][strip.own]
        return part.gpu.pictures.download_into(picture[strip.first : strip.end], target)

    moved, ms = _at_once(download, len(parts))
    return read_only(picture), Moved(ms, max(each.copy_ms for each in moved))


def _at_once(do: Callable[[int], T], count: int) -> tuple[list[T], float]:
    with ThreadPoolExecutor(count) as threads:
        start = perf_counter()
        found = list(threads.map(do, range(count)))
        return found, (perf_counter() - start) * 1e3


def _names(gpus: Sequence[Gpu]) -> str:
    """Format "2 × NVIDIA H200", or all names where they differ."""
    counted = Counter(gpu.device.name for gpu in gpus)
    return " + ".join(f"{count} × {name}" for name, count in counted.items())


ALREADY_ENABLED = 704  # of cudaError: CuPy, or somebody else, has opened this way before


def open_paths(gpus: Sequence[Gpu]) -> dict[tuple[int, int], HaloPath]:
    """Open the paths of rows to each GPU from each other: straight, where the driver allows it."""
    ways = permutations(range(len(gpus)), 2)
    return {(to, source): _opened(gpus[to], gpus[source]) for to, source in ways}


def _opened(taker: Gpu, giver: Gpu) -> HaloPath:
    runtime = taker.cp.cuda.runtime
    try:
        with taker.using("opening the way between two GPUs"):
            if not runtime.deviceCanAccessPeer(taker.device.index, giver.device.index):
                return "host"
            runtime.deviceEnablePeerAccess(giver.device.index)
    except LaunchRefusedError as error:
        is_open = getattr(error.__cause__, "status", None) == ALREADY_ENABLED
        return "peer" if is_open else "host"
    return "peer"


@dataclass(slots=True, eq=False)
class Part:
    """One GPU's part of the job."""

    gpu: Gpu
    strip: RowStrip
    launch: Launch
    array: Any  # its rows on the device, with HALO_ROOM rows above and below
    halo: tuple[HaloRows, ...]
    events: tuple[Any, Any, Any]  # of CUDA: it has begun, it has its halo, it has ended
    times_ms: list[list[float]] = field(default_factory=list)  # to the halo, the end


class JointRun:
    """The parts of one job, made ready; `doing` is what it is called where it fails."""

    def __init__(
        self,
        parts: Sequence[Part],
        paths: Mapping[tuple[int, int], HaloPath],
        cache: Cache,
        doing: str,
    ) -> None:
        self.parts, self._paths, self._cache, self._doing = parts, paths, cache, doing
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
        elapsed_ms = self._cp.cuda.get_elapsed_time
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
            wall_ms = float(elapsed_ms(first.events[0], self._all_ended))
        for part in self.parts:
            with part.gpu.using(self._doing):
                begun, *reached = part.events
                part.times_ms.append([float(elapsed_ms(begun, each)) for each in reached])
        return wall_ms

    def shares(self, count: int) -> tuple[DeviceShare, ...]:
        """Each GPU's part of the last `count` runs."""
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
                giver, first = self.parts[rows.source], HALO_ROOM + rows.first
                taken = giver.array[first : first + rows.count]
                # CUDA itself goes through the computer's memory where there is no other way.
                self._cp.cuda.runtime.memcpyPeerAsync(
                    part.array[top + rows.to :][: rows.count].data.ptr,
                    part.gpu.device.index,
                    taken.data.ptr,
                    giver.gpu.device.index,
                    taken.nbytes,
                    part.gpu.stream.ptr,
                )
            has_halo.record()
            go()
            ended.record()

    def _share(self, at: int, part: Part, count: int) -> DeviceShare:
        halo_ms, total_ms = zip(*part.times_ms[-count:], strict=True)
        paths = {self._paths.get((at, rows.source)) for rows in part.halo}
        return DeviceShare(
            index=part.gpu.device.index,
            name=part.gpu.device.name,
            rows=(part.strip.first, part.strip.end),
            total_ms=median(total_ms),
            halo_ms=median(halo_ms),
            halo_rows=sum(rows.count for rows in part.halo),
            halo_path="host" if "host" in paths else "peer" if "peer" in paths else "",
        )


class SharingGpus:
    """The GPUs that an Engine may use, each looked at and made when it is first needed.

    first   the one that the Engine uses for itself
    others  the numbers of those that may help, in their order; None: all there are
    find    looks for the GPU of a number
    gpu     returns what drives the first

    `first(count)` are the first `count` GPUs, of as many or more, as one.
    """

    def __init__(
        self,
        first: Device,
        others: Sequence[int] | None,
        find: Callable[[int], Device | NoDevice],
        gpu: Callable[[], Gpu],
    ) -> None:
        named = range(first.count) if others is None else others
        self.numbers = (first.index, *(each for each in named if each != first.index))
        self._device = cache(lambda number: first if number == first.index else find(number))
        self._own, self._gpu, self.first = gpu, cache(self._make), cache(self._share)

    def why_not(self, rung: Rung, job: Job) -> str | None:
        """The reason why as many GPUs as `job` asks for cannot share it; None if they can."""
        there = len(self.numbers)
        if job.devices > there:
            has = "there is 1" if there == 1 else f"there are {there}"
            return f"{job.devices} GPUs are asked for, and {has} here; choose fewer."
        for number in self.numbers[1 : job.devices]:
            if reason := rung.why_not(job, self._device(number)):
                return f"GPU {number} cannot do its part. {reason}"
        return None

    def _share(self, count: int) -> SeveralGpus:
        return SeveralGpus([self._gpu(at) for at in self.numbers[:count]])

    def _make(self, number: int) -> Gpu:
        device = self._device(number)
        assert isinstance(device, Device)
        return self._own() if number == self.numbers[0] else Gpu(device)
