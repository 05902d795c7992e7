"""Other load on the CPU while something is measured, from Linux's /proc and control groups."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from time import perf_counter, process_time


@cache
def usable_cores() -> int:
    """The cores that this process is bound to, or as many as a container's quota allows."""
    has_mask = hasattr(os, "sched_getaffinity")
    bound = len(os.sched_getaffinity(0)) if has_mask else os.cpu_count() or 1
    quota = quota_of(control_group())
    return bound if quota is None else max(1, min(bound, math.ceil(quota)))


PROC, CGROUPS = Path("/proc"), Path("/sys/fs/cgroup")  # where Linux shows its counters


@cache
def control_group(proc: Path = PROC, cgroups: Path = CGROUPS) -> Path | None:
    """The folder of this process's own group, of version 2 or 1; None without one."""
    for line in text_of(proc / "self" / "cgroup").splitlines():
        _, controllers, name = line.split(":", 2)
        mounted = cgroups / controllers
        for folder in (mounted / name.lstrip("/"), mounted):  # the name may be the host's
            if "cpu" in (controllers or "cpu").split(",") and (folder / "cpu.stat").is_file():
                return folder
    return None


def quota_of(group: Path | None) -> float | None:
    """Cores' worth of time that `group` allows; None where it sets no limit."""
    if group is None:
        return None
    words = text_of(group / "cpu.max").split() or [
        *text_of(group / "cpu.cfs_quota_us").split(),
        *text_of(group / "cpu.cfs_period_us").split(),
    ]
    with suppress(ValueError, ZeroDivisionError):
        quota, period = map(int, words)
        return quota / period if quota > 0 else None
    return None


def text_of(path: Path) -> str:
    """The contents of a system file; "" if it cannot be read."""
    with suppress(OSError, ValueError):
        return path.read_text(encoding="ascii")
    return ""


# What disturbs: from so large a share of the usable cores on, and not before it adds up to what the
# kernel's clock ticks, of which there are a hundred a second, can tell from nothing.
OTHERS_SHARE, STOLEN_SHARE = 0.10, 0.01
TOLD_APART_S = 0.1
BUSY = (0, 1, 2, 5, 6)  # of /proc/stat: user, nice, system, interrupts
STOLEN = 7


@dataclass(frozen=True, slots=True)
class Load:
    """Load on the CPU during a measurement; sums, so that parts add up."""

    seconds: float  # watched
    cores: int  # that this process may use
    others_s: float  # core-seconds of other programs; of a short part, by ticks, below zero
    stolen_s: float  # core-seconds of them that the host gave to other virtual machines
    throttled: int = 0  # how many times a quota held this process back
    quota: float | None = None  # cores' worth of time that it allows, if known

    @property
    def others(self) -> float:
        """Cores that other programs kept busy, on average."""
        return max(self.others_s, 0.0) / self.seconds if self.seconds > 0 else 0.0

    @property
    def stolen(self) -> float:
        """The share of the cores' time that the host gave away; 0.01 is one percent."""
        return self.stolen_s / (self.seconds * self.cores) if self.seconds > 0 else 0.0

    @property
    def disturbances(self) -> tuple[str, ...]:
        """Possible disturbances of a time measured meanwhile, in words."""
        found = []
        if self.others > OTHERS_SHARE * self.cores and self.others_s >= TOLD_APART_S:
            found.append(f"other programs kept {self.others:.1f} of {self.cores} cores busy")
        if self.stolen > STOLEN_SHARE and self.stolen_s >= TOLD_APART_S:
            found.append(f"the host gave {100 * self.stolen:.0f} % of the cores' time to others")
        if self.throttled:
            of = f" of {self.quota:g} cores" if self.quota is not None else ""
            found.append(f"a quota{of} held it back {self.throttled}×")
        return tuple(found)

    def plus(self, other: Load) -> Load:
        """Both as one; `other` is the later."""
        names = ("seconds", "others_s", "stolen_s", "throttled")
        sums = {name: getattr(self, name) + getattr(other, name) for name in names}
        return replace(other, **sums)


def both_loads(first: Load | None, second: Load | None) -> Load | None:
    """The load in two spans of time, of which one may not be known."""
    return first.plus(second) if first and second else first or second


def disturbed_in_words(loads: Iterable[Load | None]) -> str:
    """Describe disturbances of measurements with these loads, those of the worst; or "".

    None stands for a measurement on a GPU, or for an unknown load.
    """
    known = [each for each in loads if each is not None]
    disturbed = [each for each in known if each.disturbances]
    if not disturbed:
        return ""
    worst = max(disturbed, key=lambda each: (each.others, each.stolen, each.throttled))
    return (
        f"{len(disturbed)} of {len(known)} times on the CPU were disturbed, at worst: "
        f"{', '.join(worst.disturbances)}."
    )


class LoadWatch:
    """Watches the rest of the CPU's load; cheap enough to be asked around any measurement."""

    def __init__(self, proc: Path = PROC, cgroups: Path = CGROUPS) -> None:
        self._proc, self._group = proc, control_group(proc, cgroups)
        self._began: tuple[float, float, float, int] | None = None

    def start(self) -> None:
        self._began = self._now()

    def load(self) -> Load | None:
        """The load since `start`; None where the system does not tell, or without that."""
        if self._began is None or (now := self._now()) is None:
            return None
        seconds, others_s, stolen_s, throttled = (
            after - before for after, before in zip(now, self._began, strict=True)
        )
        stolen_s, throttled = max(stolen_s, 0.0), max(int(throttled), 0)
        cores, quota = len(self._cpus), quota_of(self._group)
        return Load(seconds, cores, others_s, stolen_s, throttled, quota)

    @cached_property
    def _cpus(self) -> frozenset[str]:
        """Names in /proc/stat of the cores that this process may use."""
        return frozenset(f"cpu{number}" for number in os.sched_getaffinity(0))

    def _now(self) -> tuple[float, float, float, int] | None:
        """Seconds of a clock, and counters that only grow: others, stolen, throttled."""
        try:
            lines = (self._proc / "stat").read_text(encoding="ascii").splitlines()
            rows = [line.split() for line in lines if line.startswith("cpu")]
            ours = [[int(each) for each in row[1:]] for row in rows if row[0] in self._cpus]
            busy, stolen = (sum(sum(row[i] for i in of) for row in ours) for of in (BUSY, [STOLEN]))
        except (OSError, AttributeError, ValueError, IndexError):  # no Linux, or no such counters
            return None
        if not ours:
            return None
        words = text_of(self._group / "cpu.stat").split() if self._group else []
        ticks = os.sysconf("SC_CLK_TCK")  # a second
        throttled = int(dict(zip(words[::2], words[1::2], strict=False)).get("nr_throttled", 0))
        return perf_counter(), busy / ticks - process_time(), stolen / ticks, throttled
