"""The device that launches on the CPU are planned for: one that takes whatever a GPU takes."""

from __future__ import annotations

from kernels.core.device import Device

# So few multiprocessors that blocks which share out the rows among them walk some way, as they do
# down large pictures.
DEVICE = Device(
    index=0,
    name="The CPU runtime",
    compute_capability=(9, 0),
    multiprocessors=2,
    clock_khz=1_000_000,
    max_threads_per_block=1024,
    max_block_xy=(1024, 1024),
    shared_bytes_per_block=232_448,
    l2_bytes=0,
    memory_bytes=1 << 30,
    watchdog=False,
    driver_version=0,
    runtime_version=0,
    count=1,
    max_threads_per_multiprocessor=2048,
    shared_bytes_per_multiprocessor=233_472,
    registers_per_multiprocessor=65_536,
    max_blocks_per_multiprocessor=32,
    reserved_shared_bytes_per_block=1024,
)
