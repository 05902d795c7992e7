"""The warps of a kernel that fit on a multiprocessor at once, and what limits them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kernels.core.device import Device, Occupancy

WARP = 32
REGISTER_UNIT = 256  # registers are given out to warps in so many,
PARTITIONS = 4  # each of these quarters of a multiprocessor having its own
SHARED_UNIT = 128  # bytes; 256 before compute capability 8.0
SHARED_UNIT_BEFORE = 256


@dataclass(frozen=True, slots=True)
class _Allowance:
    """The blocks that one resource has room for; why: in words, of that resource."""

    resource: str
    blocks: int
    why: str


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
    warps = -(-threads // WARP)
    return Occupancy(
        blocks=blocks,
        warps=blocks * warps,
        most=device.max_threads_per_multiprocessor // WARP,
        limit=_in_words(
            sorted(
                _allowances(device, threads, registers, shared_bytes), key=lambda one: one.blocks
            ),
            blocks,
        ),
    )


def _allowances(
    device: Device, threads: int, registers: int, shared_bytes: int
) -> Iterator[_Allowance]:
    """Return what each resource would allow if it alone counted; unknown ones are left out."""
    warps = -(-threads // WARP)
    if device.registers_per_multiprocessor and registers:
        a_warp = _rounded_up(registers * WARP, REGISTER_UNIT)
        room = device.registers_per_multiprocessor // PARTITIONS // a_warp * PARTITIONS
        yield _Allowance("registers", room // warps, f"{registers} × {threads:,} threads leave")
    if device.shared_bytes_per_multiprocessor and shared_bytes:
        unit = SHARED_UNIT if device.compute_capability >= (8, 0) else SHARED_UNIT_BEFORE
        a_block = _rounded_up(shared_bytes + device.reserved_shared_bytes_per_block, unit)
        room = device.shared_bytes_per_multiprocessor // a_block
        yield _Allowance("shared memory", room, f"{a_block / 1024:.3g} KiB a block leave")
    if most := device.max_threads_per_multiprocessor:
        yield _Allowance("threads", most // WARP // warps, f"{threads:,} of {most:,} leave")
    if most := device.max_blocks_per_multiprocessor:
        yield _Allowance("blocks", most, "a multiprocessor has")


def _in_words(allowances: list[_Allowance], blocks: int) -> str:
    """Name the tightest resource, then the next, then the driver if it disagrees."""
    if not allowances:
        return "What keeps more blocks from fitting is not known, as the device's limits are not."
    least, *others = allowances
    parts = [f"{least.resource.capitalize()}: {least.why} room for {_blocks(least.blocks)}"]
    if others:
        allows = f"would allow {others[0].blocks}"
        if others[0].blocks == least.blocks:
            allows = "allow no more" if others[0].resource.endswith("s") else "allows no more"
        parts.append(f"{others[0].resource} {allows}")
    if blocks != least.blocks:
        parts.append(f"the driver, which decides, counts {_blocks(blocks)}")
    return f"{'; '.join(parts)}."


def _blocks(count: int) -> str:
    return f"{count} block{'s' if count != 1 else ''}"


def _rounded_up(number: int, unit: int) -> int:
    return -(-number // unit) * unit
