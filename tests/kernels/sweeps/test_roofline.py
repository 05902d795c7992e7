"""Where a measurement stands under its machine's roof, by numbers worked out by hand."""

from dataclasses import replace

import pytest

from kernels.core.job import Ran
from kernels.core.timing import Timing
from kernels.rungs.rung import ladder, says_flops
from kernels.sweeps.plan import Cell
from kernels.sweeps.record import Machine, Measurement, Record
from kernels.sweeps.roofline import Roof, roof_of
from tests.made_up import FAILED, PASSED

MACHINE = Machine(
    "A CPU", "1 GiB", "A system", gpu="A card",
    limits={"multiprocessors": 100, "l2_bytes": 50_000_000},
    ceilings={"copy_gb_s": 4000.0, "fma_tflop_s": 50.0},
)  # fmt: skip
BARE = replace(MACHINE, limits={}, ceilings={})
LARGE = Cell("shared", (32, 8), ksize=3, width=4000, height=5000, cache="cold")
COMPULSORY_MS = 160e6 / 4000e9 * 1e3  # 20 million float32, there and back: 40 µs


def record(cell=LARGE, milliseconds=0.1, ran=None, check=PASSED) -> Record:
    ran = ran or (Ran(f"{cell.implementation}.convolve", grid=(1, 1), block=(64, 2)),)
    return Record(cell, Measurement(Timing((milliseconds,), cell.cache), ran, check))


def roof(cell=LARGE, milliseconds=0.1, machine=MACHINE, **facts) -> Roof:
    found = roof_of(record(cell, milliseconds, **facts), machine)
    assert isinstance(found, Roof)
    return found


def test_memory_binds_few_weights():
    under = roof()
    assert under.binds == "memory"
    assert under.attainable_ms == under.memory_ms == pytest.approx(COMPULSORY_MS)
    assert under.compute_ms == pytest.approx(20e6 * 18 / 50e12 * 1e3)
    assert under.share == pytest.approx(0.4)
    assert under.intensity == pytest.approx(18 / 8)
    assert under.achieved_tflop_s == pytest.approx(20e6 * 18 / 0.1e-3 / 1e12)
    for told in ("memory", "40 µs", "4,000 GB/s", "100 µs", "40 %"):
        assert told in under.sentence


def test_multiply_adds_bind_many_weights():
    under = roof(replace(LARGE, ksize=31), 2.0)
    assert under.binds == "multiply-adds"
    assert under.attainable_ms == pytest.approx(20e6 * 2 * 961 / 50e12 * 1e3)
    assert under.memory_ms == pytest.approx(COMPULSORY_MS)
    assert under.share == pytest.approx(under.compute_ms / 2.0)
    for told in ("multiply-adds", "769 µs", "50 TFLOP/s", "40 µs", "2 ms", "38 %"):
        assert told in under.sentence


def test_of_small_pictures_the_launch_itself_is_told():
    machine = replace(MACHINE, ceilings={**MACHINE.ceilings, "empty_launch_ms": 0.0026})
    words = "2.6 µs"
    small = replace(LARGE, width=64, height=64)
    assert words in roof(small, machine=machine).sentence
    assert words not in roof(small).sentence  # where it was not measured
    assert words not in roof(machine=machine).sentence  # 40 µs are more
    ten = roof(replace(small, count=10), machine=machine).sentence
    assert "26 µs" in ten


@pytest.mark.parametrize(
    ("given", "machine"),
    [
        (Record(LARGE, "It cannot."), MACHINE),
        (record(check=FAILED), MACHINE),
        (record(check=None), MACHINE),
        (record(Cell("opencv"), ran=(Ran("cv2.filter2D", threads=2),)), MACHINE),
        (record(), BARE),
        (record(replace(LARGE, ksize=4)), MACHINE),
        (record(replace(LARGE, implementation="fft")), MACHINE),
    ],
)
def test_not_every_record_has_a_roof(given, machine):
    assert roof_of(given, machine) is None


@pytest.mark.parametrize("key", [each.key for each in ladder() if says_flops(each)])
def test_every_rung_has_a_roof_and_says_that_it_is_a_model(key):
    gradient = "edges" if key.startswith("gradient") else "gaussian"
    cell = replace(LARGE, implementation=key, filter=gradient, width=300, height=200)
    under = roof(cell, 1e3)
    assert under.sentence.startswith("Model: ")
    assert 0 < under.share < 1


@pytest.mark.parametrize(
    ("side", "pixel_type", "implementation", "fits"),
    [
        (2500, "float32", "shared", True),  # 2 · 25 MB
        (2501, "float32", "shared", False),
        (5000, "uint8", "shared", True),
        (2500, "float32", "separable", False),  # and as much between its passes
        (2032, "float32", "separable", True),  # whose rows are padded
    ],
)
def test_it_fits_if_picture_answer_and_buffers_do(side, pixel_type, implementation, fits):
    cell = Cell(
        implementation, (32, 8), width=side, height=side, pixel_type=pixel_type, cache="warm"
    )
    under = roof(cell)
    assert under.is_l2_resident is fits
    assert ("L2 cache" in under.sentence) is fits
    assert roof(replace(cell, count=3)).is_l2_resident is fits  # each is sampled by itself
    assert not roof(cell, machine=replace(MACHINE, limits={})).is_l2_resident
