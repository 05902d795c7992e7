"""Which computer this is, in the words that stand beside its figures, and its Engine."""

from __future__ import annotations

import os
import platform
import re
from argparse import Namespace
from collections.abc import Callable
from functools import partial
from pathlib import Path

from kernels import Engine
from kernels.device import Device, NoDevice
from kernels.host.parallel import threads
from workbench import numbers


def engine_maker(arguments: Namespace) -> Callable[[], Engine]:
    """What makes the Engine that --device and --no-gpu ask for, on the thread that will use it."""
    return partial(Engine, arguments.device or 0, use_gpu=not arguments.no_gpu)


def cpu() -> str:
    """ "Intel(R) Xeon(R) ..., 2 of 8 cores usable"."""
    usable, there = threads(), os.cpu_count() or 1
    cores = f"{there} cores" if usable == there else f"{usable} of {there} cores usable"
    return f"{_cpu_name()}, {cores}"


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


def _cpu_name() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        text = ""
    found = re.search(r"model name\s*: (.+)", text)
    return found[1] if found else platform.processor() or platform.machine()
