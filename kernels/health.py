"""The GPU's clocks, temperature, power and throttling while something is measured, from NVML."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Health:
    """Lowest and highest seen of each; throttled: reasons in words, empty where there were none."""

    sm_mhz: tuple[int, int]
    memory_mhz: tuple[int, int]
    temperature_c: tuple[int, int]
    power_w: tuple[float, float]
    throttled: tuple[str, ...] = ()
