"""This computer, in the words that stand beside its figures, and its Engine."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

from kernels import Engine
from kernels.core.device import Device
from kernels.core.version import program_version
from kernels.cuda_on_cpu.confinement import allow_unconfined
from kernels.sweeps.machine import cpu, memory, software, system
from workbench.cli.output import CommandError

__all__ = ["cpu", "engine_maker", "facts", "gpu_of", "heading"]


def engine_maker(arguments: Namespace) -> Callable[[], Engine]:
    """Create the maker of the Engine for --device and --no-gpu, to call on its thread."""
    if getattr(arguments, "unconfined", False):
        allow_unconfined()
    others = getattr(arguments, "devices", None) or None
    return partial(Engine, arguments.device or 0, others=others, use_gpu=not arguments.no_gpu)


def heading(bench: str, engine: Engine) -> dict[str, Any]:
    """The beginning of a bench's JSON: its name, program, date and machine."""
    return {
        "bench": bench,
        "program": program_version(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": facts(engine),
    }


def facts(engine: Engine) -> dict[str, Any]:
    """The computer and its software as JSON, without host or user names."""
    device = engine.device
    return {
        "cpu": cpu(),
        "memory": memory(),
        "system": system(),
        "gpu": device.name if isinstance(device, Device) else None,
        "software": software(device),
    }


def gpu_of(engine: Engine) -> Device:
    """The engine's GPU.  Raises CommandError where it has none."""
    if isinstance(device := engine.device, Device):
        return device
    raise CommandError(f"{device.reason} {device.remedy}".rstrip())
