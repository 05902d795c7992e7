"""The times of a batch's stages: how busy each is, which is the limit, and what is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from time import monotonic, perf_counter, process_time
from typing import Any

from kernels.core.cpu_load import usable_cores
from kernels.core.job import Progress, Result
from kernels.core.plain_data import table_beside
from kernels.sweeps.estimate import about
from workbench.base import numbers
from workbench.base.columns import columns
from workbench.batch.journal import STAGES, Stage, Status

BY_FILES: tuple[Stage, ...] = ("decode", "encode")  # which the same threads do
BY_DISK: tuple[Stage, ...] = ("sync",)  # which others wait for, as many of them
BY_ENGINE: tuple[Stage, ...] = ("upload", "filter", "download", "verify")  # and one thread does
UNSURE_S = 1.0  # so long nothing is estimated: the first picture waits for what the program loads


def measuring(
    steps: Iterable[Progress | Result],
) -> Generator[Progress, None, tuple[Result, dict[Stage, float]]]:
    """Drive a filtering; the end is its result, and the seconds by stage."""
    began = filtered = perf_counter()
    result: Result | None = None
    for step in steps:
        if isinstance(step, Progress):
            yield step
            continue
        if result is None or step.check is None:  # a user kernel comes with its check
            filtered = perf_counter()
        result = step
    assert result is not None
    moved: dict[Stage, float | None] = {"upload": result.upload_ms, "download": result.download_ms}
    seconds: dict[Stage, float] = {stage: ms / 1e3 for stage, ms in moved.items() if ms is not None}
    seconds["filter"] = max(filtered - began - sum(seconds.values()), 0.0)
    if result.check is not None:
        seconds["verify"] = perf_counter() - filtered
    return result, seconds


def longest(seconds: Mapping[Stage, float], by_thread: Iterable[Sequence[Stage]]) -> Stage | None:
    """The longest stage of the busiest thread; None without any time."""
    took_s = {**dict.fromkeys(STAGES, 0.0), **seconds}
    busiest = max(by_thread, key=lambda stages: sum(took_s[stage] for stage in stages))
    stage = max(busiest, key=lambda stage: took_s[stage])
    return stage if took_s[stage] else None


@dataclass(frozen=True, slots=True)
class StageTime:
    """The time that one stage took."""

    stage: Stage
    pictures: int
    seconds: float  # of all threads together
    threads: int  # that may work on it
    share: float  # of these threads' time, 0 to 1


@dataclass(frozen=True, slots=True)
class DeviceTime:
    """The part of a batch that the GPU number `device` did, as in BatchProgress."""

    device: int
    finished: int
    per_s: float
    limit: Stage | None
    busy: float  # share of the time in which it filters and verifies, 0 to 1


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """The state of a batch that runs, here or in another process, which sends it as JSON."""

    total: int  # pictures
    finished: int
    failed: int
    verified: int  # of those that are done
    counts: dict[str, int]  # of those that are finished, by their status
    seconds: float  # so far
    per_s: float  # pictures that are finished, but for those that were there already
    left_s: float | None  # how long the rest will take; None where that is not known yet
    limit: Stage | None  # the stage that the others wait for; None before there is any time
    cores_busy: float | None  # on average, of `cores`; None: it is not known
    cores: int | None
    stages: tuple[StageTime, ...]
    devices: tuple[DeviceTime, ...] = ()  # each GPU, where several share the pictures
    cut: int = 0  # pictures of files with several pages, of which one is kept
    lossy: int = 0  # results that lack something of their pictures
    under_way: str = ""  # the name of a picture that is filtered, or written, if one is known


class StageTimes:
    """The times of all stages so far, for one thread.

    total    pictures that are to be done
    jobs     threads that read and write, and as many that wait for the disk
    engines  that filter, on as many threads
    clock, cpu_clock  seconds, and core-seconds of all that filters; None: it is not known
    devices  where several GPUs share the pictures: of each the threads of its processes
    cut      files so far with several pages of which one was kept; whoever counts them adds to it
    lossy    results so far that lack something of their pictures, likewise
    under_way  as BatchProgress has it; whoever knows it sets it
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
        self._total, self._jobs, self._engines = total, jobs, engines
        self._clocks = clock, cpu_clock or (lambda: 0.0)
        self._knows_cores = cpu_clock is not None
        self._began = self._now()
        self._ended: tuple[float, float] | None = None
        self._counts: Counter[Status] = Counter()
        self._verified = 0
        self.cut, self.lossy, self.under_way = 0, 0, ""
        self._pictures: Counter[Stage] = Counter()
        self._seconds: dict[Stage, float] = dict.fromkeys(STAGES, 0.0)
        self._of_device = {
            device: StageTimes(0, sum(threads), clock, None, len(threads))
            for device, threads in (devices or {}).items()
        }

    def add(
        self, status: Status, seconds: Mapping[Stage, float], device: int | None = None
    ) -> None:
        """Count a picture that there is nothing left to do to."""
        self._counts[status] += 1
        self._verified += status == "done" and "verify" in seconds
        self._pictures.update(seconds.keys())
        for stage, took_s in seconds.items():
            self._seconds[stage] += took_s
        if device in self._of_device:
            self._of_device[device].add(status, seconds)

    def end(self) -> None:
        """Let no more time pass, so that all words on the end are the same."""
        self._ended, self.under_way = self._now(), ""
        for times in self._of_device.values():
            times.end()

    def progress(self) -> BatchProgress:
        now, counts = self._ended or self._now(), self._counts
        elapsed_s, used_s = (end - begin for end, begin in zip(now, self._began, strict=True))
        finished = counts.total()
        per_s = _over(finished - counts["skipped"], elapsed_s)
        is_sure = elapsed_s >= UNSURE_S and per_s > 0
        stages = (self._stage(stage, elapsed_s) for stage in STAGES if self._pictures[stage])
        return BatchProgress(
            total=self._total,
            finished=finished,
            failed=counts["failed"] + counts["wrong"],
            verified=self._verified,
            counts={status: count for status, count in counts.items() if count},
            seconds=elapsed_s,
            per_s=per_s,
            left_s=(self._total - finished) / per_s if is_sure else None,
            limit=self._limit(),
            cores_busy=_over(used_s, elapsed_s) if self._knows_cores else None,
            cores=usable_cores() if self._knows_cores else None,
            stages=tuple(stages),
            devices=tuple(_of_device(*each) for each in self._of_device.items()),
            cut=self.cut,
            lossy=self.lossy,
            under_way=self.under_way,
        )

    def _now(self) -> tuple[float, float]:
        return self._clocks[0](), self._clocks[1]()

    def _limit(self) -> Stage | None:
        seconds = {stage: took_s / self._threads(stage) for stage, took_s in self._seconds.items()}
        return longest(seconds, (BY_FILES, BY_ENGINE, BY_DISK))

    def _threads(self, stage: Stage) -> int:
        return self._engines if stage in BY_ENGINE else self._jobs

    def _stage(self, stage: Stage, elapsed_s: float) -> StageTime:
        threads, pictures = self._threads(stage), self._pictures[stage]
        seconds = self._seconds[stage]
        return StageTime(stage, pictures, seconds, threads, _over(seconds, elapsed_s * threads))


def _of_device(device: int, times: StageTimes) -> DeviceTime:
    found = times.progress()
    busy = sum(each.share for each in found.stages if each.stage in BY_ENGINE)
    return DeviceTime(device, found.finished, found.per_s, found.limit, busy)


def _over(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0


IN_WORDS: dict[str, str] = table_beside(__file__)
DEVICE_HEADS = ("device", "pictures", "rate", "busy", "limit")
HEADS = ("stage", "pictures", "per picture", "threads", "busy", "")
BAR_LETTERS = 16  # of a bar that is full


def progress_words(progress: BatchProgress) -> str:
    """One line: "1,234 of 100,000 · checked 12 of 1,234: right · 56.1 per s · 29 min left"."""
    parts = [f"{progress.finished:,} of {progress.total:,}"]
    if progress.failed:
        parts.append(f"{progress.failed:,} failed")
    parts += [f"{progress.under_way} is under way"] * bool(progress.under_way)
    parts += filter(None, [verdict(progress.verified, progress.counts)])
    is_over = progress.finished == progress.total
    if progress.left_s is not None:
        parts.append(rate(progress.per_s))
        parts += [] if is_over else [f"{about(progress.left_s)} left"]
    for each in progress.devices:
        limit = f", {IN_WORDS[each.limit]} is the limit" if each.limit is not None else ""
        parts.append(f"GPU {each.device}: {rate(each.per_s)}{limit}")
    if not progress.devices and progress.limit is not None:
        parts.append(f"{IN_WORDS[progress.limit]} {'was' if is_over else 'is'} the limit")
    return " · ".join(parts)


def verdict(verified: int, counts: Mapping[str, int]) -> str:
    """How many results were checked, of those made here: "checked 12 of 1,234: right"; or ""."""
    wrong = counts.get("wrong", 0)
    made = counts.get("done", 0) + wrong
    found = f"{wrong:,} wrong" if wrong else "right"
    return f"checked {verified + wrong:,} of {made:,}: {found}" if verified + wrong else ""


def losses_in_words(cut: int, lossy: int, taking_all: str) -> list[str]:
    """Sentences on files of which one page was kept, and on results that lack something."""
    of = f"Of {numbers.plural(cut, 'file')} with several pages only one is kept"
    lost = f"Of {numbers.plural(lossy, 'result')} something is lost"
    said = (f"{of}; {taking_all} takes all.", cut), (f"{lost}: see the journal.", lossy)
    return [sentence for sentence, count in said if count]


def rows_in_words(rows: int, height: int, left_s: float) -> str:
    """Progress of a picture in strips: "1,024 of 100,000 rows, about 2 min left"."""
    return f"{rows:,} of {height:,} rows, {about(left_s)} left"


def closing_lines(progress: BatchProgress, what: str) -> list[str]:
    """The filter, `what`, with counts, verdict and rate; tables of the stages and of the GPUs."""
    counts = ", ".join(f"{count:,} {status}" for status, count in progress.counts.items())
    took, per_s = numbers.duration(progress.seconds * 1e3), rate(progress.per_s)
    checked = verdict(progress.verified, progress.counts)
    of = f"{numbers.plural(progress.finished, 'picture')} in {took}"
    pictures = ", ".join(filter(None, (of, per_s, checked)))
    lines = [f"{what}: {pictures}: {counts or 'none'}."]
    if progress.counts.get("skipped"):
        lines.append("Skipped: there already, whatever made them; --replace writes them anew.")
    lines += losses_in_words(progress.cut, progress.lossy, "--page all")
    devices = [
        (
            f"GPU {each.device}",
            f"{each.finished:,}",
            rate(each.per_s),
            numbers.percent(each.busy),
            IN_WORDS[each.limit] if each.limit is not None else "–",
        )
        for each in progress.devices
    ]
    lines += [stage_table(progress)] if progress.stages else []
    lines += [columns([DEVICE_HEADS, *devices])] if devices else []
    if progress.limit is not None:
        busy = progress.cores_busy
        cores = "" if busy is None else f"; {busy:.1f} of {progress.cores} cores were busy"
        lines.append(f"The limit was {IN_WORDS[progress.limit]}{cores}.")
    return lines


def summary(progress: BatchProgress) -> dict[str, Any]:
    """The same for programs; durations in seconds, rates per second."""
    data = asdict(progress)
    for name in ("total", "finished", "failed", "left_s", "under_way"):
        del data[name]
    if not progress.devices:
        del data["devices"]
    return data


def stage_table(progress: BatchProgress, marks: str = "#.") -> str:
    """A line for each stage, in letters of one width.

    marks  letters of a bar: what is busy, and what is not
    """
    rows = [
        (
            each.stage,
            f"{each.pictures:,}",
            numbers.duration(each.seconds / each.pictures * 1e3),
            str(each.threads),
            numbers.percent(each.share),
            (round(BAR_LETTERS * min(each.share, 1.0)) * marks[0]).ljust(BAR_LETTERS, marks[1]),
        )
        for each in progress.stages
    ]
    return columns([HEADS, *rows])


def rate(per_s: float) -> str:
    """A rate of pictures: "56.1 per s"."""
    return f"{numbers.three_digits(per_s)} per s"
