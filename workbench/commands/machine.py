"""Which computer this is, in the words that stand beside its figures, and its Engine."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from functools import partial
from typing import Any

from kernels import Engine
from kernels.device import Device, NoDevice
from kernels.sweeps.machine import cpu, memory, software, system
from workbench import numbers

__all__ = ["cpu", "engine_maker", "facts", "gpu"]


def engine_maker(arguments: Namespace) -> Callable[[], Engine]:
    """What makes the Engine that --device and --no-gpu ask for, on the thread that will use it."""
    return partial(Engine, arguments.device or 0, use_gpu=not arguments.no_gpu)


def gpu(device: Device | NoDevice) -> str:
    """Its name and what limits a block; or why there is none, and what would mend that."""
    if isinstance(device, NoDevice):
        return f"none. {device.reason} {device.remedy}".rstrip()
    major, minor = device.compute_capability
    return (
        f"{device.name} (number {device.index} of {device.count}), sm_{major}{minor}, "
        f"{device.multiprocessors} multiprocessors at {device.clock_khz / 1e6:.2f} GHz, "
        f"{numbers.byte_count(device.memory_bytes)} memory, "
        f"{numbers.byte_count(device.l2_bytes)} L2"
    )


def facts(engine: Engine) -> dict[str, Any]:
    """Return which computer this is and which versions took part, for JSON: no host or user
    names."""
    device = engine.device
    return {
        "cpu": cpu(),
        "memory": memory(),
        "system": system(),
        "gpu": device.name if isinstance(device, Device) else None,
        "software": software(device),
    }
