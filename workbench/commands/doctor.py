"""`workbench doctor`: what is installed here, what the GPU is, and what is missing.

Needs no Qt, so that it can say why Qt does not load.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from kernels.device import Device, NoDevice, cupy_version
from kernels.version import program_version
from workbench import numbers, qt_libraries
from workbench.cli import FAILED
from workbench.commands import as_json, machine
from workbench.commands.machine import engine_maker
from workbench.commands.words import aligned

PACKAGES = (
    "PySide6-Essentials",
    "pyqtgraph",
    "numpy",
    "numba",
    "opencv-python-headless",
    "imageio",
    "pillow",
    "tifffile",
    "imagecodecs",
    "pooch",
    "platformdirs",
)


def run(arguments: Namespace) -> int:
    """Print all facts; FAILED where something keeps the window from opening."""
    device = engine_maker(arguments)().device
    why_no_window = _why_no_window()
    if arguments.json:
        print(as_json.text_of(_data(device, why_no_window), indent=2))
        return FAILED if why_no_window else 0
    print(aligned(facts(device)))
    print()
    print(f"The window cannot open: {why_no_window}" if why_no_window else _where_it_opens())
    return FAILED if why_no_window else 0


def _data(device: Device | NoDevice, why_no_window: str | None) -> dict[str, Any]:
    """The same for programs."""
    return {
        "facts": dict(facts(device)),
        "has_gpu": isinstance(device, Device),
        "why_no_gpu": device.reason if isinstance(device, NoDevice) else None,
        "why_no_window": why_no_window,
        "window": None if why_no_window else _where_it_opens(),
    }


def facts(device: Device | NoDevice) -> list[tuple[str, str]]:
    """Names and values, for the terminal and for the About box."""
    return [
        ("Filter Workbench", program_version()),
        ("Python", f"{platform.python_version()} ({sys.executable})"),
        ("System", platform.platform()),
        ("CPU", machine.cpu()),
        *((name, _version(name)) for name in PACKAGES),
        ("CuPy", cupy_version() or "not installed"),
        *_gpu_facts(device),
        ("Qt platform", qt_libraries.platform()),
        ("Display", _display()),
    ]


def _gpu_facts(device: Device | NoDevice) -> list[tuple[str, str]]:
    driver = ("NVIDIA driver", _driver(device))
    gpu = ("GPU", machine.gpu(device))
    if isinstance(device, NoDevice):
        return [driver, gpu]
    x, y = device.max_block_xy
    shared = numbers.byte_count(device.shared_bytes_per_block)
    block = f"at most {device.max_threads_per_block} threads, {x}×{y}, {shared} shared memory"
    watchdog = "on: long launches are split" if device.watchdog else "off"
    runtime = _cuda(device.runtime_version)
    return [driver, ("CUDA runtime", runtime), gpu, ("Block", block), ("Watchdog", watchdog)]


def _driver(device: Device | NoDevice) -> str:
    """Its own version where the kernel module tells, and the newest CUDA it runs."""
    parts = []
    try:
        text = Path("/proc/driver/nvidia/version").read_text(encoding="utf-8")
        parts += re.findall(r"NVRM.*?\s(\d+\.[\d.]+)\s", text)[:1]
    except OSError:
        pass
    if isinstance(device, Device):
        parts.append(f"runs CUDA up to {_cuda(device.driver_version)}")
    return ", ".join(parts) or "none found"


def _cuda(version: int) -> str:
    """13020 as "13.2"."""
    return f"{version // 1000}.{version % 1000 // 10}"


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _display() -> str:
    if sys.platform != "linux":
        return "the system's"
    named = [f"{n}={os.environ[n]}" for n in ("WAYLAND_DISPLAY", "DISPLAY") if os.environ.get(n)]
    return ", ".join(named) or "none"


def _where_it_opens() -> str:
    """What `workbench` will do here, where Qt has all that it needs."""
    if qt_libraries.platform() != "offscreen":
        return "The window can open."
    if "QT_QPA_PLATFORM" in os.environ:
        return "The window opens unseen, as QT_QPA_PLATFORM=offscreen asks for; unset it to see it."
    return "No window opens, for lack of a display: `workbench` draws it into workbench.png."


def _why_no_window() -> str | None:
    if reason := qt_libraries.why_no_window(qt_libraries.platform()):
        return reason
    try:
        from PySide6 import QtWidgets  # noqa: F401
    except ImportError as error:
        return f"Qt does not load ({error}); install the program again, or run `make setup`."
    return None
