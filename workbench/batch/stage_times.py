"""The times of a batch's stages: how busy each is, which is the limit, and what is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import monotonic, process_time

from workbench.batch.filtering import Outcome, Status
from workbench.batch.finished_row import FinishedRow
from workbench.batch.stages import BY_DISK, BY_ENGINE, BY_FILES, STAGES, Stage

UNSURE_S = (
    1.0  # for so long nothing is foretold: the first picture waits for what the program loads
)


@dataclass(frozen=True, slots=True)
class StageTime:
    """The time that one stage took.

    pictures   that went through it
    seconds    of all threads together
    threads    that may work on it
    share      of these threads' time that it took, 0 to 1
    at_most_per_s  pictures that these threads would do in a second if they did nothing else, and
                took as long for each
    """

    stage: Stage
    pictures: int
    seconds: float
    threads: int
    share: float
    at_most_per_s: float


@dataclass(frozen=True, slots=True)
class DeviceTime:
    """The part of a batch that one of several GPUs did.

    device    its number
    finished  pictures
    per_s     that it finished per second
    limit     the stage that the others wait for there; None before there is any time
    busy      share of the time in which it filters and verifies, 0 to 1
    """

    device: int
    finished: int
    per_s: float
    limit: Stage | None
    busy: float


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """The state of a batch that runs, here or in another process, which tells it in JSON.

    total, finished, failed  pictures
    per_s   that are finished per second
    left_s  how long the rest will take; None where that is not known yet
    limit   the stage that the others wait for; None before there is any time
    devices  each GPU, where several share the pictures
    """

    total: int
    finished: int
    failed: int
    per_s: float
    left_s: float | None
    limit: Stage | None
    stages: tuple[StageTime, ...]
    devices: tuple[DeviceTime, ...] = ()


class StageTimes:
    """The times of all stages so far, for one thread.

    total    pictures that are to be done
    jobs     threads that read and write, and as many that wait for the disk
    engines  that filter, on as many threads
    clock, cpu_clock  seconds, and core-seconds of all that filters; None: it is not known
    devices  where several GPUs share the pictures: of each the threads of its processes
    """

    def __init__(
        self,
        total: int,
        jobs: int,
        clock: Callable[[], float] = monotonic,
        cpu_clock: Callable[[], float] | None = process_time,
        engines: int = 1,
        devices: Mapping[int, Sequence[int]] | None = None,
    ) -> None:
        self.total, self._jobs, self._engines = total, jobs, engines
        self._clock, self._cpu_clock = clock, cpu_clock
        self._ended: tuple[float, float] | None = None  # by both clocks
        self._began, self._cpu_began = clock(), cpu_clock() if cpu_clock else 0.0
        self.counts: Counter[Status] = Counter()
        self._pictures: Counter[Stage] = Counter()
        self._seconds: dict[Stage, float] = dict.fromkeys(STAGES, 0.0)
        self._of_device = {
            device: StageTimes(0, sum(threads), clock, None, len(threads))
            for device, threads in (devices or {}).items()
        }

    def add(self, finished: Outcome | FinishedRow) -> None:
        """Count a picture that there is nothing left to do to."""
        self.counts[finished.status] += 1
        for stage, seconds in (finished.seconds or {}).items():
            self._pictures[stage] += 1
            self._seconds[stage] += seconds
        if isinstance(finished, FinishedRow) and finished.device is not None:
            self._of_device[finished.device].add(replace(finished, device=None))

    def end(self) -> None:
        """Let no more time pass, so that all that is told of the end is the same."""
        self._ended = self._clock(), self._cpu_clock() if self._cpu_clock else 0.0
        for times in self._of_device.values():
            times.end()

    @property
    def finished(self) -> int:
        """Return how many pictures there is nothing left to do to."""
        return self.counts.total()

    @property
    def failed(self) -> int:
        """Return how many have no result."""
        return self.counts["failed"] + self.counts["wrong"]

    @property
    def elapsed_s(self) -> float:
        """Return how long it has taken so far."""
        return (self._ended[0] if self._ended else self._clock()) - self._began

    @property
    def cores_busy(self) -> float | None:
        """Return how many cores were kept busy on average; None: it is not known."""
        if self._cpu_clock is None:
            return None
        used_s = (self._ended[1] if self._ended else self._cpu_clock()) - self._cpu_began
        return used_s / self.elapsed_s if self.elapsed_s > 0 else 0.0

    @property
    def per_s(self) -> float:
        """Return how many are finished per second, but for those that were there already."""
        worked = self.finished - self.counts["skipped"]
        return worked / self.elapsed_s if self.elapsed_s > 0 else 0.0

    @property
    def left_s(self) -> float | None:
        """Return about how long the rest will take; None where that is not known yet."""
        if self.elapsed_s < UNSURE_S or self.per_s == 0:
            return None
        return (self.total - self.finished) / self.per_s

    @property
    def limit(self) -> Stage | None:
        """Return the stage that the others wait for; None before there is any time.

        It is the longer one of those that the busiest threads do.
        """
        if not any(self._seconds.values()):
            return None
        busiest = max(
            (BY_FILES, BY_ENGINE, BY_DISK),
            key=lambda stages: sum(self._seconds[stage] / self._threads(stage) for stage in stages),
        )
        return max(busiest, key=lambda stage: self._seconds[stage])

    def progress(self) -> BatchProgress:
        """Return how far it is."""
        return BatchProgress(
            total=self.total,
            finished=self.finished,
            failed=self.failed,
            per_s=self.per_s,
            left_s=self.left_s,
            limit=self.limit,
            stages=tuple(self.stages()),
            devices=tuple(self.devices()),
        )

    def devices(self) -> list[DeviceTime]:
        """Return the part of each GPU, where several share the pictures."""
        return [times._as_device(device) for device, times in self._of_device.items()]

    def stages(self) -> list[StageTime]:
        """Return the time of each stage that any picture went through."""
        return [self._stage(stage) for stage in STAGES if self._pictures[stage]]

    @property
    def _engine_s(self) -> float:
        return sum(self._seconds[stage] for stage in BY_ENGINE)

    def _threads(self, stage: Stage) -> int:
        return self._engines if stage in BY_ENGINE else self._jobs

    def _as_device(self, device: int) -> DeviceTime:
        all_s = self.elapsed_s * self._engines
        busy = self._engine_s / all_s if all_s > 0 else 0.0
        return DeviceTime(device, self.finished, self.per_s, self.limit, busy)

    def _stage(self, stage: Stage) -> StageTime:
        threads = self._threads(stage)
        pictures, seconds = self._pictures[stage], self._seconds[stage]
        return StageTime(
            stage=stage,
            pictures=pictures,
            seconds=seconds,
            threads=threads,
            share=seconds / (self.elapsed_s * threads) if self.elapsed_s > 0 else 0.0,
            at_most_per_s=pictures * threads / seconds if seconds > 0 else 0.0,
        )
