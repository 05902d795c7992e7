"""The model of a list in each way: its bytes and operations, held against numbers by hand."""

from dataclasses import replace

import pytest

from kernels import filters
from kernels.core.cache import blank
from kernels.core.job import Job
from kernels.core.nonlinear import Rank
from kernels.core.step import Correlation, Step
from kernels.engine.list_ways import LIST_RUNGS
from kernels.engine.list_work import list_work

LIMITS = {"multiprocessors": 132, "l2_bytes": 60 << 20}
CEILINGS = {"copy_gb_s": 4000.0, "l2_read_gb_s": 8000.0, "fma_tflop_s": 64.0}
SAMPLES = 4096 * 4096


def job(*sizes, shape=(4096, 4096, 1), pixel_type="uint8", **fields):
    steps = (Step(Correlation(filters.get("gaussian").weights(size))) for size in sizes)
    return Job(blank(shape, pixel_type), tuple(steps), **fields)


def test_each_step_moves_a_picture_and_bytes_are_widened_and_narrowed():
    """Two steps of bytes: widen 1 + 4, two of 4 + 4, narrow 4 + 1; of float32 no more than two."""
    found = list_work(job(3, 3), LIMITS)["graph"]
    assert (found.read_bytes, found.written_bytes) == (13 * SAMPLES, 13 * SAMPLES)
    assert found.memory_ms(CEILINGS) == pytest.approx(26 * SAMPLES / 4000 * 1e-6)
    floats = list_work(job(3, 3, pixel_type="float32"), LIMITS)["graph"]
    assert (floats.read_bytes, floats.written_bytes) == (8 * SAMPLES, 8 * SAMPLES)
    mixed = job(3, 3, pixel_type="float32")
    mixed = replace(mixed, steps=(replace(mixed.steps[0], mix=0.5), mixed.steps[1]))
    blended = list_work(mixed, LIMITS)["graph"]  # one more launch reads two pictures
    assert (blended.read_bytes, blended.written_bytes) == (16 * SAMPLES, 12 * SAMPLES)


def test_what_a_tile_needs_grows_from_step_to_step():
    """Of 64×32 samples the last step makes those, that before it a pixel more on every side."""
    two = job(3, 3)
    found = list_work(two, LIMITS)["list_tiles"]
    assert two.halos == (2, 1, 0)
    assert found.area == (64, 32)
    assert found.read_bytes == (64 + 4) * (32 + 4) * (4096 // 64) * (4096 // 32)
    assert found.written_bytes == SAMPLES
    first = 66 * 34 / (64 * 32)
    assert found.again == pytest.approx((first + 1) / 2 - 1)
    assert found.flops == pytest.approx(12 * SAMPLES * (first + 1))  # a column and a row of 3
    assert found.compute_ms(CEILINGS) == pytest.approx(12 * SAMPLES * (first + 1) / 64e9)


def test_strips_go_through_the_cache_and_lose_little():
    found = list_work(job(5, 3), LIMITS)
    strips, graph = found["strips"], found["graph"]
    across, down = strips.area
    assert across == 4096
    assert down % 32 == 0
    assert strips.read_bytes == round(SAMPLES * (down + 2 * 3) / down)
    assert strips.cached_bytes >= 24 * SAMPLES  # 26, but for first and last
    assert 0 < strips.again < 0.02
    assert graph.again == 0
    assert strips.memory_ms(CEILINGS) == pytest.approx(strips.cached_bytes / 8e9)


def test_the_ring_has_the_area_of_a_warp_and_repeats_least_where_pictures_are_large():
    found = list_work(job(*[3] * 8, shape=(8192, 8192, 1)), LIMITS)
    ring, tiles = found["list_ring"], found["list_tiles"]
    assert ring.area[0] == (32 - 2) * 8  # a lane of eight samples at either end is for the halo
    assert ring.again < tiles.again / 2
    assert ring.read_bytes < tiles.read_bytes


def test_longer_lists_are_bound_by_operations_on_bytes():
    """Where recomputation crosses bandwidth: of bytes early, of float32 not within eight."""

    def late(pixel_type, count):
        found = list_work(job(*[3] * count, pixel_type=pixel_type), LIMITS)["list_tiles"]
        return found.compute_ms(CEILINGS) > found.memory_ms(CEILINGS)

    assert [late("uint8", count) for count in (2, 8)] == [False, True]
    assert not late("float32", 8)


def test_ways_that_cannot_say_why():
    alone = list_work(job(3), LIMITS)
    assert {"strips", "list_tiles", "list_ring"} == {
        key for key, each in alone.items() if each == "There is one step only."
    }
    assert alone["graph"].read_bytes == SAMPLES  # of one launch nothing is widened
    wrapped = list_work(job(3, 3, border="wrap"), LIMITS)
    assert "wraps around" in wrapped["strips"]
    assert wrapped["list_tiles"].area == (64, 32)
    large = job(11, 3)
    assert list_work(large, LIMITS)["list_tiles"] == LIST_RUNGS["list_tiles"].why_never(large)


def test_comparisons_are_no_operations_but_are_done_again():
    median = Step(Rank(ksize=3, percentile=50.0))
    found = list_work(Job(blank((512, 512, 1), "uint8"), (median, median)), LIMITS)["list_tiles"]
    assert found.flops == 0
    assert found.again == pytest.approx((66 * 34 / 2048 + 1) / 2 - 1)
