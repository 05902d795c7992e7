"""This computer, in words that mean the same on any other: no host or user names."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path

from kernels.core.cpu_load import usable_cores
from kernels.core.device import Device, NoDevice, cuda_version
from kernels.core.errors import KernelError
from kernels.core.version import program_version
from kernels.cuda.probing import cupy_version
from kernels.engine.engine import Engine
from kernels.sweeps.record import Machine
from kernels.sweeps.session_files import PROGRAM

# What people call it -> what package registries do; CuPy is one of several, see `cupy_version`.
PACKAGES = {"NumPy": "numpy", "OpenCV": "opencv-python-headless", "numba": "numba"}
# Of Device: not limits, but which device and what drives it.
NO_LIMITS = {"index", "count", "driver_version", "runtime_version", "nvrtc_version", "watchdog"}


def this_machine(engine: Engine) -> Machine:
    """Describe this computer with the engine's GPU; unknown values are empty.

    Measures that GPU's ceilings, which takes some seconds the first time.
    """
    device = engine.device
    bare = Machine(cpu=cpu(), memory=memory(), system=system(), software=software(device))
    if isinstance(device, NoDevice):
        return replace(bare, no_gpu=f"{device.reason} {device.remedy}".rstrip())
    machine = replace(bare, gpu=device.name, limits=limits(device))
    with suppress(KernelError):
        return replace(machine, ceilings=engine.ceilings())
    return machine


def cpu() -> str:
    """Return the CPU in words: "Intel(R) Xeon(R) ..., 2 of 8 cores usable"."""
    usable, there = usable_cores(), os.cpu_count() or 1
    cores = f"{there} cores" if usable == there else f"{usable} of {there} cores usable"
    return f"{_cpu_name()}, {cores}"


def memory() -> str:
    """Return "126 GiB", or "" where the system does not tell."""
    count = _memory_bytes()
    return f"{count / (1 << 30):.3g} GiB" if count else ""


def system() -> str:
    """Return the system in words: "Debian GNU/Linux 12 (bookworm), Linux 6.1.0, x86_64"."""
    release = re.match(r"[\d.]*\d", platform.release())  # what a builder appended tells nobody
    kernel = f"{platform.system()} {release[0] if release else ''}".rstrip()
    name = ""
    with suppress(OSError):  # not Linux
        name = platform.freedesktop_os_release().get("PRETTY_NAME", "")
    if mac := platform.mac_ver()[0]:
        name, kernel = "", f"macOS {mac}"
    return ", ".join(filter(None, (name, kernel, platform.machine())))


def limits(device: Device) -> dict[str, int]:
    """Every number that describes the GPU, by its name in Device; capability 9.0 is 90."""
    major, minor = device.compute_capability
    values = {each.name: getattr(device, each.name) for each in fields(Device)}
    found = {n: v for n, v in values.items() if n not in NO_LIMITS and type(v) is int}
    return {"compute_capability": 10 * major + minor, **found}


def software(device: Device | NoDevice) -> dict[str, str]:
    """Names and versions of software that takes part in a measurement; imports none of it."""
    from importlib.metadata import PackageNotFoundError, version  # 50 ms that a start is without

    found = {"Python": platform.python_version(), PROGRAM: program_version()}
    for name, package in PACKAGES.items():
        with suppress(PackageNotFoundError):
            found[name] = version(package)
    if cupy := cupy_version():
        found["CuPy"] = cupy
    if isinstance(device, Device):
        if driver := _driver():
            found["NVIDIA driver"] = driver
        found["CUDA"] = (
            f"{cuda_version(device.runtime_version)}, "
            f"the driver's {cuda_version(device.driver_version)}"
        )
    return found


def _driver() -> str:
    """The version of the NVIDIA driver, from NVML, or ""."""
    try:
        import pynvml

        pynvml.nvmlInit()
        return str(pynvml.nvmlSystemGetDriverVersion())
    except Exception:  # noqa: BLE001 - no NVML, in whatever way
        return ""


def _cpu_name() -> str:
    with suppress(OSError):
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
        if found := re.search(r"model name\s*: (.+)", text):
            return found[1].strip()
    if sys.platform == "darwin" and (name := _sysctl("machdep.cpu.brand_string")):
        return name
    return platform.processor() or platform.machine()


def _memory_bytes() -> int:
    if sys.platform == "win32":
        import ctypes

        kilobytes = ctypes.c_ulonglong()
        ask = ctypes.windll.kernel32.GetPhysicallyInstalledSystemMemory
        return kilobytes.value * 1024 if ask(ctypes.byref(kilobytes)) else 0
    if sys.platform == "darwin":
        return int(_sysctl("hw.memsize") or 0)
    with suppress(ValueError, OSError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return 0


def _sysctl(name: str) -> str:
    with suppress(OSError):
        words = ["/usr/sbin/sysctl", "-n", name]
        return subprocess.run(words, capture_output=True, text=True).stdout.strip()
    return ""
