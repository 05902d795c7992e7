"""Disturbances of a measured time: other load on CPU or GPU, a slowed GPU, samples far apart."""

from __future__ import annotations

from functools import lru_cache
from itertools import chain

from kernels.core.cpu_load import Load
from kernels.core.health import Health
from kernels.core.statistics import ENOUGH_SAMPLES, relative_spread

UNSTEADY = 0.5  # of the median between the quartiles: so far apart they say that something was


def disturbances_of(
    load: Load | None, health: Health | None, samples_ms: tuple[float, ...] = ()
) -> tuple[str, ...]:
    """Return what disturbed, in words; empty where nothing did, or nothing is known.

    samples_ms  of a time taken in one go, too short for the system to tell the load meanwhile
    """
    known = (each.disturbances for each in (load, health) if each)
    return (*chain.from_iterable(known), *_unsteady(samples_ms))


@lru_cache(maxsize=256)
def _unsteady(samples_ms: tuple[float, ...]) -> tuple[str, ...]:
    """Return "its quartiles lie 83 % of the median apart"; empty where that is little."""
    if len(samples_ms) < ENOUGH_SAMPLES or (apart := relative_spread(samples_ms)) <= UNSTEADY:
        return ()
    return (f"its quartiles lie {100 * apart:.0f} % of the median apart",)
