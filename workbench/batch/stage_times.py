"""The times of a batch's stages: how busy each is, which is the limit, and what is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import monotonic, process_time
from typing import Any

from kernels.core.cpu_load import usable_cores
from kernels.sweeps.estimate import about
from workbench.base import numbers
from workbench.base.columns import columns
from workbench.batch.filtering import Outcome, Status
from workbench.batch.journal import BY_DISK, BY_ENGINE, BY_FILES, STAGES, Stage


@dataclass(frozen=True, slots=True)
class FinishedRow:
    """A row of the journal, small enough to be sent from one computer to another.

    source   what the picture is called
    output   what its result is called in the journal
    error    why there is none, one sentence; None: there is one
    remarks  what was converted on the way, and what was asked for and had no effect
    seconds  by stage
    log      of the compiler, where it refused; the journal leaves it out
    device   the GPU, where several share the pictures
    """

    source: str
    output: str
    status: Status
    error: str | None = None
    remarks: tuple[str, ...] = ()
    seconds: Mapping[Stage, float] | None = None
    log: str = ""
    device: int | None = None

    @property
    def line(self) -> dict[str, Any]:
        """Return what the journal says."""
        line = {
            "input": self.source,
            "output": self.output,
            "status": self.status,
            "error": self.error,
            "remarks": list(self.remarks),
            "seconds": {stage: round(took, 6) for stage, took in (self.seconds or {}).items()},
        }
        return line if self.device is None else {**line, "device": self.device}


def row_of(outcome: Outcome, output: str, device: int | None = None) -> FinishedRow:
    """Return the row of a picture whose result is called `output` in the journal."""
    return FinishedRow(
        source=outcome.pair.source_shown,
        output=output,
        status=outcome.status,
        error=outcome.error,
        remarks=(*outcome.remarks, *outcome.warnings),
        seconds=outcome.seconds,
        log=outcome.log,
        device=device,
    )


def rows_of(
    outcomes: Generator[Outcome, None, None], name_of: Callable[[Path], str]
) -> Generator[FinishedRow, None, None]:
    """Yield the row of each outcome, and keep none of their pictures in memory.

    name_of  from a result's file to what the journal calls it
    """
    with closing(outcomes):
        for outcome in outcomes:
            row = row_of(outcome, name_of(outcome.pair.target))
            del outcome  # its pictures would stay in memory while others are waited for
            yield row


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


IN_WORDS: dict[Stage, str] = {
    "decode": "reading and decoding",
    "upload": "uploading",
    "filter": "filtering",
    "download": "downloading",
    "verify": "verifying",
    "encode": "encoding and writing",
    "sync": "waiting for the disk",
}
DEVICE_HEADS = ("device", "pictures", "rate", "busy", "limit")
HEADS = ("stage", "pictures", "per picture", "threads", "at most", "busy", "")
BAR_LETTERS = 16  # of a bar that is full; the table has 80 columns then
PLAIN_MARKS = "#."
BLOCK_MARKS = "█░"


def progress_words(progress: BatchProgress) -> str:
    """Return one line: "1,234 of 100,000 · 56.1 per s · about 29 min left · ...: the limit"."""
    parts = [f"{progress.finished:,} of {progress.total:,}"]
    if progress.failed:
        parts.append(f"{progress.failed:,} failed")
    is_over = progress.finished == progress.total
    if progress.left_s is not None:
        parts.append(rate(progress.per_s))
        parts += [] if is_over else [f"{about(progress.left_s)} left"]
    if progress.devices:
        parts += map(_device_words, progress.devices)
    elif progress.limit is not None:
        parts.append(f"{IN_WORDS[progress.limit]} {'was' if is_over else 'is'} the limit")
    return " · ".join(parts)


def rows_in_words(rows: int, height: int, left_s: float) -> str:
    """Return how far a picture in strips is: "1,024 of 100,000 rows, about 2 min left"."""
    return f"{rows:,} of {height:,} rows, {about(left_s)} left"


def _device_words(each: DeviceTime) -> str:
    limit = f", {IN_WORDS[each.limit]} is the limit" if each.limit is not None else ""
    return f"GPU {each.device}: {rate(each.per_s)}{limit}"


def closing_lines(times: StageTimes, marks: str = BLOCK_MARKS) -> list[str]:
    """Return how many there were, how fast it was, and tables of the stages and of the GPUs.

    marks  letters of a bar, what is busy and what is not: BLOCK_MARKS, or PLAIN_MARKS
    """
    counts = ", ".join(f"{count:,} {status}" for status, count in times.counts.items())
    pictures = f"{times.finished:,} picture{'' if times.finished == 1 else 's'}"
    took = f"{pictures} in {numbers.duration(times.elapsed_s * 1e3)}"
    lines = [f"{took}, {rate(times.per_s)}: {counts}." if counts else f"{took}."]
    if stages := times.stages():
        lines.append(columns([HEADS, *(_row(each, marks) for each in stages)]))
    if devices := times.devices():
        lines.append(columns([DEVICE_HEADS, *map(_device_row, devices)]))
    if times.limit is not None:
        cores = ""
        if times.cores_busy is not None:
            cores = f"; {times.cores_busy:.1f} of {usable_cores()} cores were busy"
        lines.append(f"The limit was {IN_WORDS[times.limit]}{cores}.")
    return lines


def summary(times: StageTimes) -> dict[str, Any]:
    """Return the same for programs; durations in seconds, rates per second."""
    devices = [asdict(each) for each in times.devices()]
    return {
        "counts": dict(times.counts),
        "seconds": times.elapsed_s,
        "per_s": times.per_s,
        "limit": times.limit,
        "cores_busy": times.cores_busy,
        "cores": usable_cores() if times.cores_busy is not None else None,
        "stages": [asdict(each) for each in times.stages()],
        **({"devices": devices} if devices else {}),
    }


def marks_for(encoding: str | None) -> str:
    """Return the letters of a bar that a terminal with this encoding shows; None: any."""
    try:
        BLOCK_MARKS.encode(encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return PLAIN_MARKS
    return BLOCK_MARKS


def busy_words(each: StageTime) -> str:
    """Return how busy a stage is: "37 %"."""
    return numbers.percent(each.share)


def _row(each: StageTime, marks: str) -> tuple[str, ...]:
    full = round(BAR_LETTERS * min(each.share, 1.0))
    return (
        each.stage,
        f"{each.pictures:,}",
        numbers.duration(each.seconds / each.pictures * 1e3),
        str(each.threads),
        rate(each.at_most_per_s),
        busy_words(each),
        full * marks[0] + (BAR_LETTERS - full) * marks[1],
    )


def _device_row(each: DeviceTime) -> tuple[str, ...]:
    limit = IN_WORDS[each.limit] if each.limit is not None else "–"
    busy = numbers.percent(each.busy)
    return f"GPU {each.device}", f"{each.finished:,}", rate(each.per_s), busy, limit


def rate(per_s: float) -> str:
    """Return a rate of pictures: "56.1 per s"."""
    return f"{numbers.three_digits(per_s)} per s"
