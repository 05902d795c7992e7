"""What OpenCV would get wrong, it refuses; right up to there it is right."""

import numpy as np
import pytest

from kernels import Engine, Job, Sampling
from kernels.borders import BORDERS
from kernels.errors import CannotRunError
from kernels.host import opencv
from kernels.host.opencv import LARGEST_SUM
from kernels.host.strips import bands

QUICK = Sampling(max_samples=1)
PATTERNS = {
    "in one pass": [[1, 0, 0], [0, 0, 0], [0, 0, 1]],
    "in two passes": [[0, 0, 0], [1, 2, 1], [0, 0, 0]],
    "downwards": [[-1, 0, 0], [0, 0, 0], [0, 0, -1]],
}


@pytest.fixture
def engine():
    return Engine(use_gpu=False)


def job_of(pattern, pixel_type, largest_sum, implementation="opencv"):
    """Weights that can bring sums up to `largest_sum`, over a picture that does."""
    largest = np.iinfo(pixel_type).max
    picture = np.random.default_rng().integers(0, largest, (20, 30, 3), pixel_type, endpoint=True)
    picture[5:9, 5:9] = largest
    drawn = np.array(PATTERNS[pattern], np.float64)
    weights = drawn * (largest_sum / largest / np.abs(drawn).sum())
    return Job(picture, weights.astype(np.float32), implementation=implementation)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("pixel_type", ["uint8", "uint16"])
def test_large_weights_saturate(engine, pattern, pixel_type):
    result = engine.run(job_of(pattern, pixel_type, 0.99 * LARGEST_SUM), QUICK)
    assert result.check.ok
    assert result.picture.max() == (0 if pattern == "downwards" else np.iinfo(pixel_type).max)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("pixel_type", ["uint8", "uint16"])
@pytest.mark.parametrize("largest_sum", [1.01 * LARGEST_SUM, 2.0**32, 1e32])
def test_larger_ones_are_refused_and_go_to_parallel(engine, pattern, pixel_type, largest_sum):
    job = job_of(pattern, pixel_type, largest_sum)
    with pytest.raises(CannotRunError, match=f"With {pixel_type} pixels .* such as parallel"):
        engine.run(job, QUICK)
    assert engine.best_for(job) == "parallel"
    other = job_of(pattern, pixel_type, largest_sum, "parallel")
    assert engine.run(other, QUICK).check.ok


def test_float_pictures_take_large_weights(engine):
    picture = np.random.default_rng().random((20, 30, 3), np.float32)
    weights = np.array(PATTERNS["in one pass"], np.float32) * np.float32(1e30)
    assert engine.run(Job(picture, weights, implementation="opencv"), QUICK).check.ok


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity_are_refused_and_go_to_parallel(engine, value):
    picture = np.zeros((9, 9, 1), np.float32)
    picture[4, 4] = value
    job = Job(picture, np.ones((3, 3), np.float32), implementation="opencv")
    assert "such as parallel" in engine.why_not(job)
    assert engine.best_for(job) == "parallel"


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("gradient", [False, True])
def test_seams_of_bands_do_not_show(engine, monkeypatch, border, gradient):
    monkeypatch.setattr(opencv, "BAND_SAMPLES", 1)
    monkeypatch.setattr(opencv, "BAND_REACHES", 1)  # bands of two or three rows
    random = np.random.default_rng()
    picture = random.integers(0, 255, (40, 30, 3), "uint8", endpoint=True)
    weights = random.random((5, 5), np.float32) / 25
    job = Job(picture, weights, border, "opencv", gradient=gradient)
    check = engine.run(job, QUICK).check
    assert check.is_full
    assert check.ok, str(check)


@pytest.mark.parametrize(("side", "pieces"), [(64, 1), (181, 1), (256, 2), (512, 8), (2048, 16)])
def test_no_thread_is_woken_for_less_than_that_takes(monkeypatch, side, pieces):
    waiting = []
    monkeypatch.setattr(opencv, "threads", lambda: 16)
    monkeypatch.setattr(opencv, "on_all_threads", lambda found, _: waiting.extend(found) or ())
    picture = np.zeros((side, side, 1), np.float32)
    weights = np.full((3, 3), 1 / 9, np.float32)
    list(opencv.filtering(Job(picture, weights, implementation="opencv"), np.empty_like(picture)))
    assert len(waiting) == pieces


def test_bands_cover_a_rectangle_once():
    assert list(bands((3, 10, 2, 9), 3)) == [(3, 6, 2, 9), (6, 9, 2, 9), (9, 10, 2, 9)]
