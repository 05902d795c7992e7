"""Installed software and the GPU as names and values, and what does not fit together."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from kernels.core import version
from kernels.core.device import Device, NoDevice, cuda_version
from kernels.core.version import program_version
from kernels.cuda import nvrtc
from kernels.cuda.probing import cupy_version
from kernels.cuda_on_cpu import compiler
from kernels.rungs.rung import broken_rungs
from kernels.sweeps.machine import cpu
from workbench.base import numbers, qt_libraries
from workbench.base.importing import other_kernels

DISTRIBUTION, EXTRA = "filter-workbench", "nvidia-cuda-nvdisasm"
CUPYS = ("cupy", "cupy-cuda11x", "cupy-cuda12x", "cupy-cuda13x")
# Folders of CUDA's headers in NVIDIA's wheels, newest first; then the toolkit's.
WHEEL_HEADERS = ("cu13/include", "cuda_runtime/include")
TOOLKIT = "/usr/local/cuda"
MENU_FOLDER = Path("~/.local/share/applications")


def facts(device: Device | NoDevice) -> list[tuple[str, str]]:
    """Names and values, for the terminal and for the About box."""
    nvrtcs = ["{}.{} ({})".format(*each.version, each.path) for each in nvrtc.compilers()]
    return [
        ("Filter Workbench", program_version()),
        ("Python", f"{platform.python_version()} ({sys.executable})"),
        ("System", platform.platform()),
        ("CPU", cpu()),
        ("Installed as", version.kind()),
        *((name, package_version(name)) for name in (*packages(), EXTRA)),
        ("CuPy", cupy_version() or "not installed"),
        ("C++ compiler", compiler.why_not() or str(compiler.the_compiler())),
        ("NVRTC", ", ".join(nvrtcs) or "not installed"),
        ("CUDA headers", str(cuda_headers() or "none found")),
        *_gpu_facts(device),
        ("Qt platform", qt_libraries.platform()),
        ("Display", _display()),
        *(("Broken rungs", each.reason) for each in broken_rungs()),
    ]


def _gpu_facts(device: Device | NoDevice) -> list[tuple[str, str]]:
    parts = []
    with suppress(OSError):
        text = Path("/proc/driver/nvidia/version").read_text(encoding="utf-8")
        parts += re.findall(r"NVRM.*?\s(\d+\.[\d.]+)\s", text)[:1]
    if isinstance(device, Device):
        parts.append(f"runs CUDA up to {cuda_version(device.driver_version)}")
    found = [("NVIDIA driver", (", ".join(parts) or "none found")), ("GPU", gpu(device))]
    if isinstance(device, NoDevice):
        return found
    x, y = device.max_block_xy
    shared = numbers.byte_count(device.shared_bytes_per_block)
    block = f"at most {device.max_threads_per_block} threads, {x}×{y}, {shared} shared memory"
    return [
        *found,
        ("CUDA runtime", cuda_version(device.runtime_version)),
        ("Block", block),
        ("Watchdog", "on: long launches are split" if device.watchdog else "off"),
    ]


def packages() -> list[str]:
    """Names of the distributions that this program requires."""
    with suppress(metadata.PackageNotFoundError):
        needed = (each for each in metadata.requires(DISTRIBUTION) or () if "extra ==" not in each)
        return sorted({re.split(r"[^\w.-]", each)[0] for each in needed})
    return []


def package_version(package: str) -> str:
    """Version of a distribution, or "not installed"."""
    with suppress(metadata.PackageNotFoundError):
        return metadata.version(package)
    return "not installed"


def cuda_headers() -> Path | None:
    """Folder of the CUDA headers that CuPy passes to NVRTC."""
    spec = find_spec("nvidia")
    wheels = (spec.submodule_search_locations or ()) if spec else ()
    folders = [Path(wheel, name) for wheel in wheels for name in WHEEL_HEADERS]
    toolkit = Path(os.environ.get("CUDA_PATH", TOOLKIT), "include")
    return next((each for each in (*folders, toolkit) if (each / "cuda.h").is_file()), None)


def problems(device: Device | NoDevice) -> list[str]:
    """Name what is installed and does not fit together, a sentence each with the remedy."""
    return [*_package_problems(), *_nvrtc_problems(device), *qt_libraries.problems()]


def _package_problems() -> Iterator[str]:
    cupys = [name for name in CUPYS if package_version(name) != "not installed"]
    if len(cupys) > 1:
        yield f"{' and '.join(cupys)} share one folder: uninstall them all, then install one."
    yield from other_kernels()
    if (entry := hidden_menu_entry()) is not None:
        yield f"Menus do not look where the desktop entry is: ln -s {entry} {MENU_FOLDER}/"


def hidden_menu_entry() -> Path | None:
    """Desktop entry of this copy, where no menu looks for it."""
    entry = next(Path(sys.prefix, "share/applications").glob("*.FilterWorkbench.desktop"), None)
    if entry is None or sys.platform != "linux" or version.kind() == "checkout":
        return None
    searched = (os.environ.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share").split(":")
    menus = [MENU_FOLDER.expanduser(), *(Path(each, "applications") for each in searched)]
    return None if any((each / entry.name).exists() for each in menus) else entry


def _nvrtc_problems(device: Device | NoDevice) -> Iterator[str]:
    compilers = nvrtc.compilers()
    if cupy_version() is None or not compilers:
        return
    newest, headers = compilers[0], cuda_headers()
    number = 1000 * newest.version[0] + 10 * newest.version[1]
    if isinstance(device, Device) and number > device.driver_version:
        yield (
            f"NVRTC {cuda_version(number)} is newer than the driver "
            f"(CUDA {cuda_version(device.driver_version)}), which may refuse its output: "
            "install the NVRTC of the driver's version, or update the driver."
        )
    if headers is None:
        how = version.how_to_add(f"nvidia-cuda-runtime=={cuda_version(number)}.*")
        yield f"CUDA's headers are missing: {how}."
    elif (of_headers := _version_of(headers)) not in (0, number):
        yield (
            f"NVRTC is of CUDA {cuda_version(number)}, the headers in {headers} of CUDA "
            f"{cuda_version(of_headers)}: install nvidia-cuda-runtime of NVRTC's version."
        )
    folder = Path(newest.path).parent
    if folder.name and not any(folder.glob("*nvrtc-builtins*")):
        yield f"nvrtc-builtins is missing in {folder}: install nvidia-cuda-nvrtc again."


def _version_of(headers: Path) -> int:
    text = (headers / "cuda.h").read_text(encoding="utf-8", errors="replace")
    found = re.search(r"#define CUDA_VERSION (\d+)", text)
    return int(found[1]) if found else 0


def _display() -> str:
    if sys.platform != "linux":
        return "the system's"
    named = [f"{n}={os.environ[n]}" for n in ("WAYLAND_DISPLAY", "DISPLAY") if os.environ.get(n)]
    return ", ".join(named) or "none"


def gpu(device: Device | NoDevice) -> str:
    """Format the GPU and the limits of a block, or why there is none."""
    if isinstance(device, NoDevice):
        return f"none. {device.reason} {device.remedy}".rstrip()
    major, minor = device.compute_capability
    return (
        f"{device.name} (number {device.index} of {device.count}), sm_{major}{minor}, "
        f"{device.multiprocessors} multiprocessors at {device.clock_khz / 1e6:.2f} GHz, "
        f"{numbers.byte_count(device.memory_bytes)} memory, "
        f"{numbers.byte_count(device.l2_bytes)} L2"
    )
