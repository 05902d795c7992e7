"""Find the GPU and what it can do, or the sentence that says why there is none."""

from __future__ import annotations

import atexit
import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from uuid import UUID

from kernels.core.device import Device, NoDevice, Occupancy
from kernels.core.version import how_to_add_extra

# Of cudaDeviceAttr: what is not, or in CUDA 13 no longer, among a device's properties.
CLOCK_RATE = 13
KERNEL_EXEC_TIMEOUT = 17
# ... and the limits of a multiprocessor, by the names of `Device`.
LIMITS = {
    "max_threads_per_multiprocessor": 39,
    "shared_bytes_per_multiprocessor": 81,
    "registers_per_multiprocessor": 82,
    "max_blocks_per_multiprocessor": 106,
    "reserved_shared_bytes_per_block": 111,
}

NO_DRIVER = "No NVIDIA driver was found, so only the CPU implementations are available."


def probe(index: int = 0) -> Device | NoDevice:
    """Look for GPU number `index`.  Imports CuPy; half a second the first time.

    Never raises for what a computer may lack: that is the result.
    """
    if importlib.util.find_spec("cupy") is None:
        if sys.platform == "darwin":
            return NoDevice("macOS has no CUDA, so only the CPU implementations are available.")
        how = how_to_add_extra("cuda13")
        if not driver_is_here():
            return NoDevice(NO_DRIVER, f"With an NVIDIA card: install its driver, then {how}.")
        return NoDevice(
            "An NVIDIA driver is here, but CuPy, which drives the GPU, is not installed.",
            f"To use the GPU: {how}.",
        )
    try:
        import cupy as cp
    except Exception as error:  # noqa: BLE001 - CuPy's import fails in many ways; all mean no GPU
        return NoDevice(
            f"CuPy is installed but does not import ({_first_line(error)}).",
            f"Install it again: {how_to_add_extra('cuda13')}.",
        )
    try:
        count = int(cp.cuda.runtime.getDeviceCount())
        if 0 <= index < count:
            return _describe(cp, index, count)
    except cp.cuda.runtime.CUDARuntimeError as error:
        words = _first_line(error)
        if not driver_is_here():
            return NoDevice(NO_DRIVER, "With an NVIDIA card: install its driver and start again.")
        if "insufficient" in words:
            return NoDevice(
                "The NVIDIA driver is too old for the installed CuPy.",
                f"Update the driver, or, for older ones, {how_to_add_extra('cuda12')}.",
            )
        return NoDevice(
            f"The NVIDIA driver is here but offers no GPU ({words}).",
            "Check `nvidia-smi`; after a driver update the computer must be restarted.",
        )
    if count == 0:
        return NoDevice("The NVIDIA driver is here but offers no GPU.", "Check `nvidia-smi`.")
    return NoDevice(
        f"There is no GPU number {index}: this computer has {count}, counted from 0.",
        f"Choose --device 0{f' to {count - 1}' if count > 1 else ''}.",
    )


def driver_is_here() -> bool:
    """True if this computer has NVIDIA's driver."""
    import ctypes

    with suppress(OSError):
        ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
        return True
    return False


def _describe(cp: Any, index: int, count: int) -> Device | NoDevice:
    runtime = cp.cuda.runtime
    facts = runtime.getDeviceProperties(index)
    capability = (int(facts["major"]), int(facts["minor"]))
    runtime_version = int(runtime.runtimeGetVersion())
    if runtime_version >= 13000 and capability < (7, 5):
        return NoDevice(
            f"{facts['name'].decode()} is older than CUDA 13 supports.",
            f"Install the CuPy for CUDA 12: {how_to_add_extra('cuda12')}.",
        )
    return Device(
        index=index,
        name=facts["name"].decode(),
        compute_capability=capability,
        multiprocessors=int(facts["multiProcessorCount"]),
        clock_khz=int(runtime.deviceGetAttribute(CLOCK_RATE, index)),
        max_threads_per_block=int(facts["maxThreadsPerBlock"]),
        max_block_xy=(int(facts["maxThreadsDim"][0]), int(facts["maxThreadsDim"][1])),
        shared_bytes_per_block=int(facts["sharedMemPerBlockOptin"] or facts["sharedMemPerBlock"]),
        l2_bytes=int(facts["l2CacheSize"]),
        memory_bytes=int(facts["totalGlobalMem"]),
        watchdog=bool(runtime.deviceGetAttribute(KERNEL_EXEC_TIMEOUT, index)),
        driver_version=int(runtime.driverGetVersion()),
        runtime_version=runtime_version,
        nvrtc_version=_nvrtc_version(),
        count=count,
        uuid=_uuid(facts) or str(runtime.deviceGetPCIBusId(index)),
        **{name: int(runtime.deviceGetAttribute(number, index)) for name, number in LIMITS.items()},
    )


def _nvrtc_version() -> int:
    """The version of the compiler that CuPy loads; 0 where it finds none, which compiling tells."""
    with suppress(Exception):
        major, minor = importlib.import_module("cupy_backends.cuda.libs.nvrtc").getVersion()
        return int(1000 * major + 10 * minor)
    return 0


def _uuid(facts: dict[str, Any]) -> str:
    """Format "GPU-" and the UUID as `nvidia-smi -L` does; "" where CuPy does not know it."""
    words = bytes(facts.get("uuid", b""))[:16]
    return f"GPU-{UUID(bytes=words)}" if len(words) == 16 and any(words) else ""


def cupy_version() -> str | None:
    """The version of whichever CuPy is installed, without importing it."""
    from importlib.metadata import PackageNotFoundError, version  # 50 ms that few need

    for name in ("cupy-cuda13x", "cupy-cuda12x", "cupy"):
        with suppress(PackageNotFoundError):
            return f"{name} {version(name)}"
    return None


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def leave_quietly() -> None:
    """Write nothing to stderr at the end of the process, when everything is torn down.

    CuPy unloads its modules there, and gives back memory; after a failure that ended CUDA each of
    these fails once more, where no hook of Python's is asked any longer.
    """
    atexit.unregister(_hush)
    atexit.register(_hush)  # the last to be registered is the first to be called


def _hush() -> None:
    with suppress(OSError, ValueError, AttributeError):  # there may be no stderr
        sys.stderr.flush()
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


WARP = 32
REGISTER_UNIT = 256  # registers are given out to warps in so many,
PARTITIONS = 4  # each of these quarters of a multiprocessor having its own
SHARED_UNIT = 128  # bytes; 256 before compute capability 8.0
SHARED_UNIT_BEFORE = 256


def occupancy_of(
    device: Device, threads: int, registers: int, shared_bytes: int, blocks: int
) -> Occupancy:
    """Return the driver's answer in warps, with the resource that explains it.

    threads       in a block
    registers     of a thread
    shared_bytes  of a block, static and dynamic
    blocks        on a multiprocessor, by `cudaOccupancyMaxActiveBlocksPerMultiprocessor`

    The driver counts, and arithmetic names the cause: that of the CUDA C++ Programming Guide
    (Multiprocessor Level) with the units of NVIDIA's `cuda_occupancy.h`.  Where the two differ the
    sentence says so, as when the driver keeps more of the shared memory for L1.
    """
    limits = sorted(_limits(device, threads, registers, shared_bytes))
    words = [f"{why} room for {allowed} blocks" for allowed, _, why in limits[:1]]
    words += [f"{resource} would allow {allowed}" for allowed, resource, _ in limits[1:2]]
    if limits and blocks != limits[0][0]:
        words.append(f"the driver, which decides, counts {blocks}")
    return Occupancy(
        blocks=blocks,
        warps=blocks * -(-threads // WARP),
        most=device.max_threads_per_multiprocessor // WARP,
        limit=f"{'; '.join(words) or 'The limits of this device are not known'}.",
    )


def _limits(
    device: Device, threads: int, registers: int, shared_bytes: int
) -> Iterator[tuple[int, str, str]]:
    """The blocks that each known resource alone allows, its name, and the reason in words."""
    warps = -(-threads // WARP)
    if device.registers_per_multiprocessor and registers:
        a_warp = _rounded_up(registers * WARP, REGISTER_UNIT)
        room = device.registers_per_multiprocessor // PARTITIONS // a_warp * PARTITIONS
        yield (room // warps, "registers", f"Registers: {registers} × {threads:,} threads leave")
    if device.shared_bytes_per_multiprocessor and shared_bytes:
        unit = SHARED_UNIT if device.compute_capability >= (8, 0) else SHARED_UNIT_BEFORE
        a_block = _rounded_up(shared_bytes + device.reserved_shared_bytes_per_block, unit)
        room = device.shared_bytes_per_multiprocessor // a_block
        yield (room, "shared memory", f"Shared memory: {a_block / 1024:.3g} KiB a block leave")
    if most := device.max_threads_per_multiprocessor:
        yield (most // WARP // warps, "threads", f"Threads: {threads:,} of {most:,} leave")
    if most := device.max_blocks_per_multiprocessor:
        yield (most, "blocks", "Blocks: a multiprocessor has")


def _rounded_up(number: int, unit: int) -> int:
    return -(-number // unit) * unit
