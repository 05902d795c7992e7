"""A table of the stages of a batch, and the line that says how far it is."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from kernels.core.cores import usable_cores
from kernels.sweeps.estimate import about
from workbench.base import numbers
from workbench.base.columns import columns
from workbench.batch.stage_times import BatchProgress, DeviceTime, StageTime, StageTimes
from workbench.batch.stages import Stage

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
