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
    "filter": "filtering",
    "verify": "verifying",
    "encode": "encoding and writing",
}
DEVICE_HEADS = ("device", "pictures", "rate", "busy", "limit")
HEADS = ("stage", "pictures", "per picture", "threads", "busy", "at most")


def progress_words(progress: BatchProgress) -> str:
    """Return one line: "1,234 of 100,000 · 56.1 per s · about 29 min left · ...: the limit"."""
    parts = [f"{progress.finished:,} of {progress.total:,}"]
    if progress.failed:
        parts.append(f"{progress.failed:,} failed")
    if progress.left_s is not None:
        parts += [rate(progress.per_s), f"{about(progress.left_s)} left"]
    if progress.devices:
        parts += map(_device_words, progress.devices)
    elif progress.limit is not None:
        parts.append(f"{IN_WORDS[progress.limit]} is the limit")
    return " · ".join(parts)


def rows_in_words(rows: int, height: int, left_s: float) -> str:
    """Return how far a picture in strips is: "1,024 of 100,000 rows, about 2 min left"."""
    return f"{rows:,} of {height:,} rows, {about(left_s)} left"


def _device_words(each: DeviceTime) -> str:
    limit = f", {IN_WORDS[each.limit]} is the limit" if each.limit is not None else ""
    return f"GPU {each.device}: {rate(each.per_s)}{limit}"


def closing_lines(times: StageTimes) -> list[str]:
    """Return how many there were, how fast it was, and tables of the stages and of the GPUs."""
    counts = ", ".join(f"{count:,} {status}" for status, count in times.counts.items())
    pictures = f"{times.finished:,} picture{'' if times.finished == 1 else 's'}"
    took = f"{pictures} in {numbers.duration(times.elapsed_s * 1e3)}"
    lines = [f"{took}, {rate(times.per_s)}: {counts}." if counts else f"{took}."]
    if stages := times.stages():
        lines.append(columns([HEADS, *map(_row, stages)]))
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


def _row(each: StageTime) -> tuple[str, ...]:
    return (
        each.stage,
        f"{each.pictures:,}",
        numbers.duration(each.seconds / each.pictures * 1e3),
        str(each.threads),
        f"{100 * each.share:.0f} %",
        rate(each.at_most_per_s),
    )


def _device_row(each: DeviceTime) -> tuple[str, ...]:
    limit = IN_WORDS[each.limit] if each.limit is not None else "–"
    busy = f"{100 * each.busy:.0f} %"
    return f"GPU {each.device}", f"{each.finished:,}", rate(each.per_s), busy, limit


def rate(per_s: float) -> str:
    """Return a rate of pictures: "56.1 per s"."""
    return f"{numbers.three_digits(per_s)} per s"
