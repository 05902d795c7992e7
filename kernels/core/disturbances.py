"""Disturbances of a measured time: other load on the CPU, or a GPU that was slowed down."""

from __future__ import annotations

from kernels.core.cpu_load import Load
from kernels.core.health import Health


def disturbances_of(load: Load | None, health: Health | None) -> tuple[str, ...]:
    """Return what disturbed, in words; empty where nothing did, or nothing is known."""
    throttled = health.throttled if health else ()
    held = (f"the GPU's clocks were held down: {why}" for why in throttled)
    return (*(load.disturbances if load else ()), *held)
