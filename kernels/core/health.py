"""The GPU's clocks, temperature, power and throttling while something is measured, from NVML."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain
from time import perf_counter, time_ns
from typing import Any

from kernels.core.cpu_load import Load
from kernels.core.timing import ENOUGH_SAMPLES, relative_spread

UNSTEADY = 0.5  # of the median between the quartiles: so far apart they say that something was


def disturbances_of(
    load: Load | None, health: Health | None, samples_ms: tuple[float, ...] = ()
) -> tuple[str, ...]:
    """Disturbances in words; empty if there were none, or nothing is known.

    samples_ms  of a time taken in one go, too short for the system to tell the load meanwhile
    """
    known = (each.disturbances for each in (load, health) if each)
    return (*chain.from_iterable(known), *_unsteady(samples_ms))


@lru_cache(maxsize=256)
def _unsteady(samples_ms: tuple[float, ...]) -> tuple[str, ...]:
    if len(samples_ms) < ENOUGH_SAMPLES or (apart := relative_spread(samples_ms)) <= UNSTEADY:
        return ()
    return (f"its quartiles lie {100 * apart:.0f} % of the median apart",)


# Seldom enough not to slow the measuring down: NVML answers at once, or in some milliseconds.
LOOK_EVERY_S = 0.05
MAX_SHARE = 0.02  # of the time, where it answers slowly
BEFORE_US = 1_000_000  # the driver reports others late: those of just before count, too
OTHERS_PERCENT = 5  # of the GPU's time, from which on a process of others disturbs

# Of Health by what NVML is asked for: the end of its function's name, and the clock or sensor.
READINGS: dict[str, tuple[Any, ...]] = {
    "sm_mhz": ("ClockInfo", 1),
    "memory_mhz": ("ClockInfo", 2),
    "temperature_c": ("Temperature", 0),
    "power_w": ("PowerUsage",),
}
# NVML's clocks event reasons (nvml.h, nvmlClocksEventReasons) by their bits; idling is none.
REASONS = {
    0x002: "clocks set by hand",
    0x004: "power limit",
    0x008: "slowed by the hardware",
    0x010: "in step with other GPUs",
    0x020: "heat, by the driver",
    0x040: "heat, by the hardware",
    0x080: "power brake",
    0x100: "clocks set for the display",
    0x200: "board limit",
    0x400: "reliability limit",
}


@dataclass(frozen=True, slots=True)
class Health:
    """The lowest and highest of each reading; None where the driver does not say."""

    sm_mhz: tuple[int, int] | None = None
    memory_mhz: tuple[int, int] | None = None
    temperature_c: tuple[int, int] | None = None
    power_w: tuple[float, float] | None = None  # often the mean of the last second
    throttled: tuple[str, ...] = ()  # what held the clocks down, in words
    others: tuple[str, ...] = ()  # what else used the GPU; most containers do not say

    @property
    def disturbances(self) -> tuple[str, ...]:
        """Possible disturbances of a time measured meanwhile, in words."""
        held = (f"the GPU's clocks were held down: {why}" for why in self.throttled)
        return (*held, *self.others)


def health_of_all(several: Iterable[Health | None]) -> Health | None:
    """Summary of several readings, or GPUs; None where nothing is known of any."""
    known = [each for each in several if each is not None]
    if not known:
        return None
    ranges: dict[str, Any] = {}
    for name in READINGS:
        values = list(chain.from_iterable(getattr(each, name) or () for each in known))
        ranges[name] = (min(values), max(values)) if values else None
    return Health(
        **ranges,
        throttled=tuple(dict.fromkeys(words for each in known for words in each.throttled)),
        others=tuple(dict.fromkeys(words for each in known for words in each.others)),
    )


class Nvml:
    """One GPU as NVML knows it; never fails, it then knows less, or nothing.

    gpu      CUDA's UUID, "GPU-…", or its place on the bus, "0000:1b:00.0": its number there need
             not be NVML's.  A part of a card (MIG) is watched as the whole card.
    is_ours  whether the process of that number keeps off what is timed here
    """

    def __init__(self, gpu: str, is_ours: Callable[[int], bool]) -> None:
        self._gpu, self._is_ours = gpu, is_ours

    def look(self) -> Health | None:
        """Read NVML once; None where it says nothing."""
        found: dict[str, Any] = {}
        for name, (function, *which) in READINGS.items():
            with suppress(Exception):  # not supported, no permission, unknown to this driver
                value = self._ask(function, *which)
                found[name] = (value / 1e3,) * 2 if name == "power_w" else (value,) * 2
        with suppress(Exception):
            reasons = self._ask("CurrentClocksEventReasons")
            found["throttled"] = tuple(words for bit, words in REASONS.items() if reasons & bit)
        return Health(**found) if found else None

    def others_since(self, since_us: int) -> dict[int, int]:
        """Processes of others that used the GPU since then, and their share in percent.

        None where the driver tells nothing of processes, or numbers them otherwise than this
        system: then ours are not among them.

        since_us  by the system's clock, which the driver's samples have
        """
        try:
            there = {each.pid for each in self._ask("ComputeRunningProcesses")}
            used = self._ask("ProcessUtilization", since_us)
        except Exception:  # noqa: BLE001 - not supported, no permission, or nobody used it
            return {}
        if not any(map(self._is_ours, there)):  # the driver numbers them otherwise
            return {}
        found: dict[int, int] = {}
        for each in used:
            if each.timeStamp >= since_us and each.pid in there and not self._is_ours(each.pid):
                found[each.pid] = max(found.get(each.pid, 0), int(each.smUtil))
        return found

    def _ask(self, function: str, *which: int) -> Any:
        nvml, handle = self._opened
        return getattr(nvml, f"nvmlDeviceGet{function}")(handle, *which)

    @cached_property
    def _opened(self) -> tuple[Any, Any]:
        """The module and the GPU's handle, opened at the first look: it may take a while."""
        try:
            import pynvml

            pynvml.nvmlInit()
            by = "UUID" if self._gpu.startswith("GPU-") else "PciBusId"
            return pynvml, getattr(pynvml, f"nvmlDeviceGetHandleBy{by}")(self._gpu)
        except Exception:  # noqa: BLE001 - no NVML, in whatever way: then nothing is watched
            return None, None


class Watch:
    """Collects readings of one GPU; cheap enough to be called between any two samples.

    Look when something has just run: an idle GPU's clocks say nothing of what was timed.

    why_not_alone  of the turn that was had last: see `Turns`
    """

    def __init__(
        self,
        nvml: Nvml,
        clock: Callable[[], float] = perf_counter,
        why_not_alone: Callable[[], str] = lambda: "",
    ) -> None:
        self._nvml, self._clock, self._why_not_alone = nvml, clock, why_not_alone
        self._seen: Health | None = None
        self._next_s = clock()
        self._since_us = time_ns() // 1000 - BEFORE_US
        self._others: dict[int, int] = {}  # the most of the GPU that each used, in percent
        self._beside: dict[str, None] = {}  # who did not keep off it

    def look(self) -> None:
        """Read once, behind what was timed, unless that was done a moment ago."""
        if why := self._why_not_alone():
            self._beside[why] = None
        start = self._clock()
        if start < self._next_s:
            return
        self._seen = health_of_all((self._seen, self._nvml.look()))
        for process, percent in self._nvml.others_since(self._since_us).items():
            self._others[process] = max(percent, self._others.get(process, 0))
        self._next_s = start + max(LOOK_EVERY_S, (self._clock() - start) / MAX_SHARE)

    def health(self) -> Health | None:
        """Summary of all readings so far; None where there were none."""
        if self._seen is None and not self._beside:
            return None
        busy = (
            f"another program (process {process}) used {percent} % of the GPU's time"
            for process, percent in self._others.items()
            if percent >= OTHERS_PERCENT
        )
        return replace(self._seen or Health(), others=(*self._beside, *busy))
