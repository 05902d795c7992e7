"""The roofs of the roofline: what they are worked out from, and that their kernels compile."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from kernels.cuda import ceilings, event_timer
from kernels.cuda.ceilings import CHAINS, REPEATS, CeilingBench
from kernels.cuda.nvrtc import compile_text, compiler_for
from tests.kernels.cuda.theory import fma_tflop_s_in_theory
from tests.made_up import H200

ARCHITECTURES = (61, 75, 80, 86, 89, 90, 120)
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
    operations = 2 * threads * CHAINS * REPEATS * ceilings.ROUNDS
    assert found["fma_tflop_s"] == pytest.approx(operations / 1e-3 / 1e12)
    read = (H200.l2_bytes // 4) * ceilings.L2_PASSES
    assert found["l2_read_gb_s"] == pytest.approx(read / 0.2e-3 / 1e9)


@pytest.mark.parametrize(
    ("capability", "multiprocessors", "mhz", "tflop_s"),
    # What NVIDIA's data sheets say: H200 SXM, A100, GeForce RTX 4090, Tesla T4.
    [
        ((9, 0), 132, 1980, 67),
        ((8, 0), 108, 1410, 19.5),
        ((8, 9), 128, 2520, 82.6),
        ((7, 5), 40, 1590, 8.1),
    ],
)
def test_the_theory_is_what_data_sheets_say(capability, multiprocessors, mhz, tflop_s):
    card = replace(
        H200,
        compute_capability=capability,
        multiprocessors=multiprocessors,
        clock_khz=1000 * mhz,
    )
    assert fma_tflop_s_in_theory(card) == pytest.approx(tflop_s, rel=0.01)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_kernels_compile_without_spills(architecture):
    if compiler_for(architecture) is None:
        pytest.skip(f"no NVRTC that compiles for sm_{architecture} is installed")
    text = "\n".join(
        Path(module.__file__).with_suffix(".cu").read_text(encoding="utf-8")
        for module in (ceilings, event_timer)
    )
    options = [
        f"-arch=sm_{architecture}", "-std=c++17", "-Xptxas=-v",
        f"-DCHAINS={CHAINS}", f"-DREPEATS={REPEATS}",
    ]  # fmt: skip
    found = {each.function: each for each in compile_text(text, options, architecture).resources}
    assert set(found) == {"multiply_adds", "read_past_l1", "evict", "hold", "nothing"}
    assert not any(each.spill_bytes for each in found.values())


def test_the_sums_are_multiplied_and_added_and_not_folded_away():
    """In PTX there are as many multiply-adds as the ceiling counts, a loop's round."""
    if compiler_for(90) is None:
        pytest.skip("no NVRTC that compiles for sm_90 is installed")
    text = Path(ceilings.__file__).with_suffix(".cu").read_text(encoding="utf-8")
    options = ["-arch=compute_90", "-std=c++17", f"-DCHAINS={CHAINS}", f"-DREPEATS={REPEATS}"]
    ptx = compile_text(text, options, 90).ptx
    kernel = ptx[ptx.index("multiply_adds") : ptx.index("read_past_l1")]
    assert kernel.count("fma.rn.f32") == CHAINS * REPEATS
