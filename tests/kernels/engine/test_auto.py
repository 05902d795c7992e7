"""What `auto` picks: the quickest measured, never one that refuses, and always by name."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels import Engine, filters
from kernels.core.borders import BORDERS
from kernels.core.errors import CompileFailedError, DeviceLostError, OutOfMemoryError
from kernels.core.job import PIXEL_TYPES, Job, Sampling
from kernels.core.nonlinear import MAX_KSIZE, Bilateral, Guided, Morphology, NonLocalMeans, Rank
from kernels.core.step import Step
from kernels.engine import auto
from kernels.engine.auto import (
    AUTO,
    Candidate,
    Picker,
    job_class_of,
    ranked,
    shipped_times,
    size_class,
    usual_ways,
)
from tests.kernels.made_up_gpu import TimedEngine, timed_result
from tests.made_up import H200
from workbench.cli import made_jobs

QUICK = Sampling(max_samples=3, max_seconds=0.01)
RANDOM = np.random.default_rng(3).standard_normal((5, 5), np.float32)


def job_of(weights=RANDOM, shape=(40, 50, 1), pixel_type="uint8", border="clamp", **facts):
    picture = np.random.default_rng(5).integers(0, 256, shape, np.uint8).astype(pixel_type)
    return Job.of(picture, weights, border, "auto", **facts)


def way(key, ms, block_xy=(32, 8), spread=0.0):
    return Candidate(key, block_xy, ms, ms - spread, ms + spread)


@pytest.fixture
def engine(tmp_path):
    return TimedEngine(tmp_path / "measurements.json")


@pytest.fixture
def ship(monkeypatch):
    """Let these times come with the program, by class, in place of what was measured."""

    def ship(times):
        monkeypatch.setattr(auto, "shipped_times", lambda: ("H200", times))
        for name in ("timed_rungs", "usual_ways"):  # without what they have kept
            monkeypatch.setattr(auto, name, getattr(auto, name).__wrapped__)

    return ship


def remember(engine, job, *ways):
    for each in ways:
        engine.picker.measurements.add(job_class_of(job), each)


# -- kinds


@pytest.mark.parametrize(
    ("weights", "name"),
    [
        (filters.get("box").weights(5), "uniform"),
        (filters.get("gaussian").weights(5), "separable"),
        (filters.get("laplacian_of_gaussian").weights(9), "rank 3"),
        (RANDOM, "general"),
        (np.diag([1.0, 2.0, 3.0, 4.0, 5.0]).astype(np.float32), "general"),
    ],
)
def test_weights_are_of_a_class(weights, name):
    assert job_class_of(job_of(weights)).weights == name


def test_kinds_differ_in_type_channels_size_and_border_but_not_in_pixels():
    kind = job_class_of(job_of())
    assert job_class_of(replace(job_of(), picture=job_of().picture[:39].copy())) == kind
    for other in (
        job_of(pixel_type="float32"),
        job_of(shape=(40, 50, 3)),
        job_of(shape=(400, 500, 1)),
        job_of(border="zero"),
        job_of(weights=np.ones((3, 3), np.float32)),
    ):
        assert job_class_of(other) != kind
    assert job_class_of(job_of(border="wrap")) == job_class_of(job_of(border="mirror"))


# -- picking


def test_the_quickest_measured_is_picked_with_its_block(engine):
    job = job_of()
    remember(engine, job, way("global", 3), way("shared", 1, (64, 4)), way("shared", 2, (16, 16)))
    result = timed_result(engine.filtering(job, QUICK))
    assert engine.ran == [("shared", (64, 4))]
    assert result.job is job
    assert result.implementation == "shared"
    assert result.block_xy == (64, 4)
    assert result.picked.why == "the quickest of 3 measured here"


def test_a_tie_goes_to_the_simpler_rung_and_its_usual_block():
    tied = (way("shared", 1.0, spread=0.2), way("global", 1.1), way("constant", 1.3))
    assert [each.implementation for each in ranked(tied)] == ["global", "shared", "constant"]
    shapes = (way("shared", 1.0, (64, 4), 0.1), way("shared", 1.05))
    assert next(ranked(shapes)).block_xy == (32, 8)


def test_one_of_reduced_precision_is_never_picked(engine):
    job = job_of()
    remember(engine, job, way("tensor", 1, None), way("global", 2))
    assert engine.why_not(job.but(implementation="tensor")) is None
    assert next(engine.picks(job)).implementation == "global"


def test_the_nearest_size_measured_is_better_than_nothing(engine):
    large, larger = job_of(shape=(400, 500, 1)), job_of(shape=(1600, 2000, 1))
    remember(engine, large, way("constant", 1), way("global", 2))
    remember(engine, larger, way("global", 1))
    pick = next(engine.picks(job_of()))
    assert pick.implementation == "constant"
    assert "not measured here yet for this picture size" in pick.why
    assert str(job_class_of(large)) in pick.why


@pytest.mark.parametrize(
    ("filter_key", "ksize", "shape", "expected"),
    [
        ("random", 9, (8192, 8192, 1), "fast_fir"),  # register_tile takes a seventh longer
        ("random", 17, (4096, 4096, 1), "tensor_split"),
        ("edges", 5, (512, 512, 1), "gradient_fused"),
    ],
)
def test_without_measurements_it_goes_by_those_of_the_nearest_kind(
    engine, filter_key, ksize, shape, expected
):
    weights = made_jobs.weights(filter_key, ksize)
    job = job_of(weights, shape=(8, 8, 1), pixel_type="float32", gradient=filter_key == "edges")
    kind = replace(job_class_of(job), size=size_class(*shape[:2]))
    first, why = next(iter(usual_ways(kind)))
    assert first.implementation == expected
    assert f"not measured here yet; the quickest on an {shipped_times()[0]}" in why


# -- running


def test_where_the_pick_fails_the_next_best_runs_and_says_why(tmp_path):
    job, failure = job_of(), CompileFailedError("It did not compile.")
    engine = TimedEngine(tmp_path / "m.json", fails={"shared": failure})
    remember(engine, job, way("shared", 1), way("global", 2))
    result = timed_result(engine.filtering(job, QUICK))
    assert result.implementation == "global"
    assert "It did not compile." in result.picked.why


@pytest.mark.parametrize("failure", [DeviceLostError("Gone."), OutOfMemoryError("Taken.")])
def test_a_lost_gpu_ends_it_and_so_does_one_whose_memory_others_have(tmp_path, failure):
    """The next best might round otherwise, for no reason but what else the computer does."""
    engine = TimedEngine(tmp_path / "m.json", fails={"shared": failure})
    remember(engine, job_of(), way("shared", 1), way("global", 2))
    with pytest.raises(type(failure)):
        list(engine.filtering(job_of(), QUICK))


def test_without_a_gpu_the_cpu_runs_and_says_so():
    engine = Engine(use_gpu=False)
    result = timed_result(engine.filtering(job_of(), QUICK))
    assert result.implementation == "opencv"
    assert "--no-gpu" in result.picked.why
    assert result.check.ok
    assert "--no-gpu" in engine.why_not_auto(job_of())
    assert engine.best_for(job_of()) == "opencv"


@pytest.mark.parametrize(
    ("chosen", "pixel_type", "key"),
    [
        (Rank(3), "uint8", "median_pairs"),
        (Rank(3), "float32", "median_columns"),
        (Rank(5), "uint8", "median_tiles"),
        (Rank(15), "uint8", "median_halves"),
        (Rank(31), "uint8", "median_histogram"),
        (Rank(21), "float32", "rank_tile"),
        (Rank(31), "uint16", "rank_tile"),
        (Rank(65), "float32", "rank_bits"),
        (Rank(5, 90), "uint16", "rank_bits"),
        (Rank(5, 90), "float32", "rank_tile"),
        (Rank(11, 90), "uint8", "rank_tile"),
        (Rank(9, 100), "uint8", "extreme_ring"),
        (Rank(9, 0), "float32", "extreme_tile"),
        (Rank(15, 0), "float32", "extreme_copies"),
        (Morphology(9), "uint8", "morphology_ring"),
        (Morphology(11), "uint8", "morphology_rings"),
        (Morphology(11), "float32", "morphology_ring"),
        (Morphology(33), "float32", "morphology_rings"),
        (Morphology(63), "uint8", "morphology_rings"),
        (Bilateral(9), "float32", "bilateral_pairs"),
        (Bilateral(31), "uint8", "bilateral_tile"),
        (NonLocalMeans(21), "uint8", "patches_tensor"),
        (NonLocalMeans(21), "float32", "patches_strip"),
        (NonLocalMeans(21, patch=17), "uint8", "patches_offsets"),
        (Guided(9), "uint16", "guided_running"),
    ],
)
def test_what_was_never_measured_is_picked_by_a_rule(chosen, pixel_type, key, ship):
    ship({})
    job = Job(np.zeros((64, 64, 1), pixel_type), (Step(chosen, AUTO.key),))
    assert next(Picker(H200).picks(job)).implementation == key


@pytest.mark.parametrize(
    ("name", "ksize", "channels", "pixel_type", "key"),
    [
        ("random", 7, 3, "uint8", "tensor_windows"),
        ("random", 7, 1, "uint8", "tensor_dense_bytes"),
        ("gaussian", 5, 3, "uint8", "tensor_windows"),
        ("gaussian", 9, 3, "uint8", "tensor_tile_bytes"),
        ("random", 7, 1, "float32", "fast_fir"),
        ("minimum", 9, 3, "uint8", "extreme_ring"),
        ("median", 31, 3, "uint8", "median_histogram"),
    ],
)
def test_large_pictures_get_what_was_the_quickest_when_they_were_measured(
    name, ksize, channels, pixel_type, key
):
    job = made_jobs.job(name, ksize, (4096, 4096), channels, pixel_type, implementation=AUTO.key)
    pick = next(Picker(H200).picks(job))
    assert (pick.implementation, "quickest on an NVIDIA H200" in pick.why) == (key, True)


@pytest.mark.parametrize("is_timed", [True, False])
@pytest.mark.parametrize(
    ("chosen", "key"),
    [
        (Rank(9, 0, is_disk=True), "extreme_disk"),
        (Morphology(9, is_disk=True), "morphology_disk"),
        (Rank(5, is_disk=True), "rank_bits"),
    ],
)
def test_times_of_squares_say_nothing_of_disks(chosen, key, is_timed, ship):
    if not is_timed:
        ship({})
    job = Job(np.zeros((64, 64, 1), np.uint8), (Step(chosen, AUTO.key),))
    assert next(Picker(H200).picks(job)).implementation == key


@pytest.mark.parametrize("key", ["gaussian", "sobel_x", "emboss"])
def test_a_rung_without_times_is_picked_where_its_header_says_that_it_is_quick(key, ship):
    ship({})
    weights = filters.get(key).weights(3)
    for pixel_type, is_whole in (("uint8", True), ("float32", False)):
        job = Job.of(np.zeros((64, 64, 3), pixel_type), weights, implementation=AUTO.key)
        pick = next(Picker(H200).picks(job))
        assert (pick.implementation == "words_of_two") == is_whole
        assert ("not among the times that came" in pick.why) == is_whole


@pytest.mark.parametrize(
    ("name", "ksize", "side"),
    [("random", 7, 4096), ("random", 5, 4096), ("random", 7, 512), ("gaussian", 7, 4096)],
)
def test_fast_fir_is_picked_for_large_pictures_and_weights_of_full_rank(name, ksize, side, ship):
    ship({})
    picture = np.zeros((side, side, 1), np.float32)
    job = Job.of(picture, made_jobs.weights(name, ksize), implementation=AUTO.key)
    is_picked = next(Picker(H200).picks(job)).implementation == "fast_fir"
    assert is_picked == ((name, ksize, side) == ("random", 7, 4096))


def test_times_of_one_kind_of_filter_do_not_end_that_for_others(ship):
    """As if no more than a blur's were there."""
    jobs = [
        Job.of(np.zeros((64, 64, 3), np.uint8), filters.get(key).weights(3), implementation="auto")
        for key in ("gaussian", "emboss")
    ]
    times = {
        job_class_of(jobs[0]): (way("tensor_tile_bytes", 1, None), way("words_of_two", 2, None))
    }
    ship(times)
    blur, emboss = (next(Picker(H200).picks(job)) for job in jobs)
    assert blur.implementation == "tensor_tile_bytes"
    assert blur.why.startswith("not measured here yet; the quickest on an H200")
    assert emboss.implementation == "words_of_two"
    assert emboss.why.startswith("not measured here yet, and not among the times")


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("ksize", [3, 5, 7])
def test_windows_are_picked_for_colours_and_whole_weights_that_are_large(ksize, channels, ship):
    ship({})
    box, some = np.full((2, ksize, ksize), 1 / ksize**2, np.float32)
    some[0, 1], some[1, 0] = some[1, 0], 0
    others = np.random.default_rng(ksize).uniform(0, 1 / ksize**2, (ksize, ksize))
    for weights, least in ((box, 7), (some, 5), (others.astype(np.float32), 3)):
        picture = np.zeros((64, 64, channels), np.uint8)
        job = Job.of(picture, weights, implementation=AUTO.key)
        is_picked = next(Picker(H200).picks(job)).implementation == "tensor_windows"
        assert is_picked == (channels > 1 and ksize >= least)
        older = replace(H200, compute_capability=(8, 9)), replace(H200, compute_capability=(10, 0))
        picks = [next(Picker(each).picks(job)).implementation for each in older]
        assert "tensor_windows" not in picks


@given(
    ksize=st.integers(0, MAX_KSIZE // 2).map(lambda radius: 2 * radius + 1),
    percentile=st.sampled_from([0.0, 50.0, 99.9, 100.0]),
    is_disk=st.booleans(),
    pixel_type=st.sampled_from(PIXEL_TYPES),
    channels=st.integers(1, 4),
    border=st.sampled_from(BORDERS),
)
def test_some_rung_does_any_order_statistic(
    ksize, percentile, is_disk, pixel_type, channels, border
):
    step = Step(Rank(ksize, percentile, is_disk), AUTO.key)
    job = Job(np.zeros((64, 64, channels), pixel_type), (step,), border)
    assert next(Picker(H200).picks(job), None) is not None
