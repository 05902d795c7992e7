"""Which resource keeps more blocks from fitting, against NVIDIA's occupancy calculator by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kernels.cuda.occupancy import occupancy_of
from tests.made_up import H200

UNKNOWN = replace(
    H200,
    max_threads_per_multiprocessor=0,
    max_blocks_per_multiprocessor=0,
    registers_per_multiprocessor=0,
    shared_bytes_per_multiprocessor=0,
)


@pytest.mark.parametrize(
    ("threads", "registers", "shared_bytes", "blocks", "least", "next_one"),
    [
        # 48 × 32 = 1536 registers a warp; 10 warps a quarter; 40 warps are 5 blocks of 8.
        (256, 48, 4096, 5, "Registers: 48 × 256 threads leave", "threads would allow 8"),
        # 33 registers are rounded up to 1280 a warp, as 40 are: 12 warps a quarter.
        (256, 33, 0, 6, "Registers: 33 × 256 threads leave", "threads would allow 8"),
        (256, 40, 0, 6, "Registers: 40 × 256 threads leave", "threads would allow 8"),
        (256, 32, 0, 8, "Registers: 32 × 256 threads leave", "threads allow no more"),
        (256, 79, 64_000, 3, "Registers: 79 × 256 threads leave", "shared memory allows no more"),
        (1024, 64, 0, 1, "Registers: 64 × 1,024 threads leave", "threads would allow 2"),
        # 40,000 bytes and the 1024 that the system keeps, in units of 128: 41,088.
        (256, 32, 40_000, 5, "Shared memory: 40.1 KiB a block leave", "registers would allow 8"),
        (128, 48, 24_000, 9, "Shared memory: 24.5 KiB a block leave", "registers would allow 10"),
        (256, 24, 1024, 8, "Threads: 256 of 2,048 leave", "registers would allow 10"),
        # 35 threads take two warps: 64 threads of room.
        (35, 20, 0, 32, "Threads: 35 of 2,048 leave", "blocks allow no more"),
        (32, 16, 0, 32, "Blocks: a multiprocessor has", "threads would allow 64"),
    ],
)
def test_the_tightest_resource_is_named_with_the_next(
    threads, registers, shared_bytes, blocks, least, next_one
):
    occupancy = occupancy_of(H200, threads, registers, shared_bytes, blocks)
    plural = "block" if blocks == 1 else "blocks"
    assert occupancy.limit == f"{least} room for {blocks} {plural}; {next_one}."
    assert occupancy.blocks == blocks


@pytest.mark.parametrize(
    ("threads", "blocks", "warps", "share"),
    [(256, 5, 40, 0.625), (256, 8, 64, 1.0), (35, 32, 64, 1.0), (32, 32, 32, 0.5), (1024, 0, 0, 0)],
)
def test_it_is_the_drivers_blocks_in_warps(threads, blocks, warps, share):
    occupancy = occupancy_of(H200, threads, 48, 0, blocks)
    assert (occupancy.warps, occupancy.most) == (warps, 64)
    assert occupancy.share == share


@pytest.mark.parametrize("blocks", [0, 1, 4, 6])
def test_where_the_driver_counts_otherwise_it_is_said_and_the_driver_is_right(blocks):
    occupancy = occupancy_of(H200, 256, 48, 0, blocks)
    assert occupancy.blocks == blocks
    plural = "block" if blocks == 1 else "blocks"
    assert occupancy.limit == (
        "Registers: 48 × 256 threads leave room for 5 blocks; threads would allow 8; "
        f"the driver, which decides, counts {blocks} {plural}."
    )


def test_what_is_not_known_of_a_device_is_left_out():
    only_threads = replace(UNKNOWN, max_threads_per_multiprocessor=2048)
    limit = occupancy_of(only_threads, 256, 48, 24_000, 8).limit
    for told in ("Threads", "256 of 2,048", "8 blocks"):
        assert told in limit
    occupancy = occupancy_of(UNKNOWN, 256, 48, 24_000, 5)
    assert "not known" in occupancy.limit
    assert (occupancy.blocks, occupancy.warps, occupancy.share) == (5, 40, 0.0)
