"""What a device can do: occupancy and ceilings."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from kernels.cuda import event_timer
from kernels.cuda.event_timer import CHAINS, REPEATS, CeilingBench
from kernels.cuda.nvrtc import compiler_for
from kernels.cuda.probing import occupancy_of
from tests.made_up import H200

UNKNOWN = replace(
    H200,
    max_threads_per_multiprocessor=0,
    max_blocks_per_multiprocessor=0,
    registers_per_multiprocessor=0,
    shared_bytes_per_multiprocessor=0,
)


@pytest.mark.parametrize(
    ("threads", "registers", "shared_bytes", "blocks", "least"),
    [
        # 48 × 32 = 1536 registers a warp; 10 warps a quarter; 40 warps are 5 blocks of 8.
        (256, 48, 4096, 5, "Registers: 48 × 256"),
        # 33 registers are rounded up to 1280 a warp, as 40 are: 12 warps a quarter.
        (256, 33, 0, 6, "Registers: 33 × 256"),
        (256, 40, 0, 6, "Registers: 40 × 256"),
        (1024, 64, 0, 1, "Registers: 64 × 1,024"),
        # 40,000 bytes and the 1024 that the system keeps, in units of 128: 41,088.
        (256, 32, 40_000, 5, "Shared memory: 40.1 KiB"),
        (128, 48, 24_000, 9, "Shared memory: 24.5 KiB"),
        (256, 24, 1024, 8, "Threads: 256 of 2,048"),
        # 35 threads take two warps: 64 threads of room.
        (35, 20, 0, 32, "Blocks: "),
        (32, 16, 0, 32, "Blocks: "),
    ],
)
def test_the_tightest_resource_is_named_and_a_driver_that_counts_otherwise(
    threads, registers, shared_bytes, blocks, least
):
    occupancy = occupancy_of(H200, threads, registers, shared_bytes, blocks)
    assert occupancy.limit.startswith(least)
    assert f"room for {blocks} blocks;" in occupancy.limit
    assert "driver" not in occupancy.limit
    assert "the driver" in occupancy_of(H200, threads, registers, shared_bytes, blocks + 1).limit


@pytest.mark.parametrize(
    ("threads", "blocks", "warps", "share"),
    [(256, 5, 40, 0.625), (256, 8, 64, 1.0), (35, 32, 64, 1.0), (32, 32, 32, 0.5), (1024, 0, 0, 0)],
)
def test_it_is_the_drivers_blocks_in_warps(threads, blocks, warps, share):
    occupancy = occupancy_of(H200, threads, 48, 0, blocks)
    assert (occupancy.warps, occupancy.most) == (warps, 64)
    assert occupancy.share == share


def test_what_is_not_known_of_a_device_is_left_out():
    only_threads = replace(UNKNOWN, max_threads_per_multiprocessor=2048)
    limit = occupancy_of(only_threads, 256, 48, 24_000, 8).limit
    for told in ("Threads", "256 of 2,048", "8 blocks"):
        assert told in limit
    occupancy = occupancy_of(UNKNOWN, 256, 48, 24_000, 5)
    assert "not known" in occupancy.limit
    assert (occupancy.blocks, occupancy.warps, occupancy.share) == (5, 40, 0.0)


ARCHITECTURES = (61, 75, 90, 120)
MILLISECONDS = {"copy": 0.125, "multiply_adds": 1.0, "read_past_l1": 0.2, "nothing": 0.003}


class FakeCuda:
    """A CuPy on which every kernel takes the time it has in MILLISECONDS."""

    def __init__(self):
        self.ran, self.launched = "", []
        self.cuda = SimpleNamespace(get_current_stream=nullcontext)

    def RawModule(self, code, options):  # noqa: N802
        assert all(f"void {name}(" in code for name in ("multiply_adds", "read_past_l1"))
        return SimpleNamespace(get_function=lambda name: lambda *how: self.note(name, *how))

    def zeros(self, count, dtype):
        def copy(source, size, stream):
            self.note("copy", size)

        return SimpleNamespace(data=SimpleNamespace(copy_from_device_async=copy), count=count)

    def note(self, name, *how):
        self.ran = name
        self.launched.append((name, *how))

    def sample_ms(self, launch, cache):
        launch()
        return MILLISECONDS[self.ran]

    def launch_nothing(self):
        self.note("nothing")


@pytest.fixture
def bench():
    cp = FakeCuda()
    return CeilingBench(cp, cp, H200)


def test_each_ceiling_is_work_over_time(bench):
    found = bench.ceilings()
    assert found["copy_gb_s"] == pytest.approx(2 * 2**28 / 0.125e6)
    assert found["empty_launch_ms"] == 0.003
    threads = 256 * 4 * 132
    operations = 2 * threads * CHAINS * REPEATS * event_timer.ROUNDS
    assert found["fma_tflop_s"] == pytest.approx(operations / 1e-3 / 1e12)
    read = (H200.l2_bytes // 4) * event_timer.L2_PASSES
    assert found["l2_read_gb_s"] == pytest.approx(read / 0.2e-3 / 1e9)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_kernels_compile_without_spills(architecture):
    if (compiler := compiler_for(architecture)) is None:
        pytest.skip(f"no NVRTC that compiles for sm_{architecture} is installed")
    text = "\n".join(
        Path(event_timer.__file__).with_name(name).read_text(encoding="utf-8")
        for name in ("event_timer.cu", "ceilings.cu")
    )
    options = [
        f"-arch=sm_{architecture}", "-std=c++17", "-Xptxas=-v",
        f"-DCHAINS={CHAINS}", f"-DREPEATS={REPEATS}",
    ]  # fmt: skip
    found = {each.function: each for each in compiler.compile(text, options).resources}
    assert set(found) == {"multiply_adds", "read_past_l1", "evict", "hold", "nothing"}
    assert not any(each.spill_bytes for each in found.values())


def test_the_sums_are_multiplied_and_added_and_not_folded_away():
    """In PTX there are as many multiply-adds as the ceiling counts, a loop's round."""
    if (compiler := compiler_for(90)) is None:
        pytest.skip("no NVRTC that compiles for sm_90 is installed")
    text = Path(event_timer.__file__).with_name("ceilings.cu").read_text(encoding="utf-8")
    options = ["-arch=compute_90", "-std=c++17", f"-DCHAINS={CHAINS}", f"-DREPEATS={REPEATS}"]
    ptx = compiler.compile(text, options).ptx
    kernel = ptx[ptx.index("multiply_adds") : ptx.index("read_past_l1")]
    assert kernel.count("fma.rn.f32") == CHAINS * REPEATS
