"""Installed software and the GPU, as names and values."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import sys
from pathlib import Path

from kernels.core.device import Device, NoDevice, cuda_version
from kernels.core.version import program_version
from kernels.cuda.probing import cupy_version
from kernels.rungs.rung import broken_rungs
from kernels.sweeps.machine import cpu
from workbench.base import numbers, qt_libraries

PACKAGES = (
    "PySide6-Essentials",
    "pyqtgraph",
    "tree-sitter",
    "tree-sitter-cuda",
    "numpy",
    "numba",
    "opencv-python-headless",
    "imageio",
    "pillow",
    "tifffile",
    "imagecodecs",
    "pooch",
    "platformdirs",
    "nvidia-cuda-nvdisasm",
    "nvidia-cuda-sanitizer-api",
)


def facts(device: Device | NoDevice) -> list[tuple[str, str]]:
    """Return names and values, for the terminal and for the About box."""
    return [
        ("Filter Workbench", program_version()),
        ("Python", f"{platform.python_version()} ({sys.executable})"),
        ("System", platform.platform()),
        ("CPU", cpu()),
        *((name, _version(name)) for name in PACKAGES),
        ("CuPy", cupy_version() or "not installed"),
        *_gpu_facts(device),
        ("Qt platform", qt_libraries.platform()),
        ("Display", _display()),
        *_broken(),
    ]


def _broken() -> list[tuple[str, str]]:
    """Return what is wrong with the ladder's files, if anything is."""
    reasons = [each.reason for each in broken_rungs()]
    return [("Broken rungs", " ".join(reasons))] if reasons else []


def _gpu_facts(device: Device | NoDevice) -> list[tuple[str, str]]:
    driver = ("NVIDIA driver", _driver(device))
    named = ("GPU", gpu(device))
    if isinstance(device, NoDevice):
        return [driver, named]
    x, y = device.max_block_xy
    shared = numbers.byte_count(device.shared_bytes_per_block)
    block = f"at most {device.max_threads_per_block} threads, {x}×{y}, {shared} shared memory"
    watchdog = "on: long launches are split" if device.watchdog else "off"
    runtime = cuda_version(device.runtime_version)
    return [driver, ("CUDA runtime", runtime), named, ("Block", block), ("Watchdog", watchdog)]


def _driver(device: Device | NoDevice) -> str:
    """Return the driver's own version, if the kernel module tells, and the newest CUDA it runs."""
    parts = []
    try:
        text = Path("/proc/driver/nvidia/version").read_text(encoding="utf-8")
        parts += re.findall(r"NVRM.*?\s(\d+\.[\d.]+)\s", text)[:1]
    except OSError:
        pass
    if isinstance(device, Device):
        parts.append(f"runs CUDA up to {cuda_version(device.driver_version)}")
    return ", ".join(parts) or "none found"


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


def gpu(device: Device | NoDevice) -> str:
    """Return the GPU's name and what limits a block; or why there is none, and what to do."""
    if isinstance(device, NoDevice):
        return f"none. {device.reason} {device.remedy}".rstrip()
    major, minor = device.compute_capability
    return (
        f"{device.name} (number {device.index} of {device.count}), sm_{major}{minor}, "
        f"{device.multiprocessors} multiprocessors at {device.clock_khz / 1e6:.2f} GHz, "
        f"{numbers.byte_count(device.memory_bytes)} memory, "
        f"{numbers.byte_count(device.l2_bytes)} L2"
    )
