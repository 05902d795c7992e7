"""What OpenCV would get wrong, it refuses; right up to there it is right, whichever call runs."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from kernels import Engine, Job, Sampling, filters
from kernels.core.borders import BORDERS
from kernels.core.cores import usable_cores
from kernels.core.errors import CannotRunError
from kernels.cpu import cv_choice, opencv
from kernels.cpu.cv_calls import calls, exact_call
from kernels.cpu.cv_choice import Choice
from kernels.cpu.opencv import MAX_SUM
from kernels.oracle.checking import checking

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
    result = engine.run(job_of(pattern, pixel_type, 0.99 * MAX_SUM), QUICK)
    assert result.check.ok
    assert result.picture.max() == (0 if pattern == "downwards" else np.iinfo(pixel_type).max)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("pixel_type", ["uint8", "uint16"])
@pytest.mark.parametrize("largest_sum", [1.01 * MAX_SUM, 2.0**32, 1e32])
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
@pytest.mark.parametrize("channels", [3, 4])
@pytest.mark.parametrize("pixel_type", ["uint8", "float16"])
def test_seams_of_bands_do_not_show(engine, monkeypatch, border, gradient, channels, pixel_type):
    monkeypatch.setattr(opencv, "BAND_SAMPLES", 1)
    monkeypatch.setattr(opencv, "BAND_REACHES", 1)  # bands of two or three rows
    random = np.random.default_rng()
    picture = random.integers(0, 255, (40, 30, channels), endpoint=True).astype(pixel_type)
    weights = random.random((5, 5), np.float32) / 25
    job = Job(picture, weights, border, "opencv", gradient=gradient)
    check = engine.run(job, QUICK).check
    assert check.is_full
    assert check.ok, str(check)


@pytest.mark.parametrize(("cores", "bands"), [(1, 3), (2, 3), (16, 1)])
def test_a_large_picture_can_be_stopped_between_bands(monkeypatch, cores, bands):
    monkeypatch.setattr(opencv, "usable_cores", lambda: cores)
    picture = np.zeros((4096, 4096, 3), np.uint8)
    job = Job(picture, filters.get("box").weights(3), implementation="opencv")
    assert sum(1 for _ in opencv.prepare(job).filtering(np.empty_like(picture))) == bands


@pytest.mark.parametrize(("ksize", "bands"), [(9, 2), (11, 12)])
def test_what_takes_long_on_any_cores_can_be_stopped_on_many(monkeypatch, ksize, bands):
    monkeypatch.setattr(opencv, "usable_cores", lambda: 12)
    monkeypatch.setattr(opencv, "BAND_SAMPLES", 1 << 10)
    monkeypatch.setattr(opencv, "BAND_REACHES", 1)
    weights = np.random.default_rng(1).random((ksize, ksize), np.float32) / ksize**2
    job = Job(np.zeros((64, 64, 3), np.uint8), weights, implementation="opencv")
    filtering = opencv.prepare(job).filtering(np.empty_like(job.picture))
    assert sum(1 for _ in filtering) == bands


NAMED = {
    "cv2.GaussianBlur": filters.get("gaussian").weights(7),
    "cv2.blur": filters.get("box").weights(5),
    "cv2.Sobel": filters.get("sobel_y").weights(3) * 2,
    "cv2.Laplacian": filters.get("laplacian").weights(3),
    "cv2.sepFilter2D": filters.get("prewitt_x").weights(3),
    "cv2.filter2D": filters.get("unsharp").weights(9),
}


@pytest.mark.parametrize("name", NAMED)
def test_filters_that_cv2_has_a_name_for_are_tried_by_it(name):
    job = Job(np.zeros((9, 9, 1), np.uint8), NAMED[name], implementation="opencv")
    assert name in [call.name for call in calls(job)]


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("pixel_type", ["uint8", "uint16", "float32"])
@pytest.mark.parametrize("border", BORDERS)
def test_every_call_that_is_tried_gives_the_filter(engine, monkeypatch, name, pixel_type, border):
    """Whichever is the quickest here, all are right."""
    picture = np.random.default_rng(3).integers(0, 255, (37, 41, 3)).astype(pixel_type)
    job = Job(picture, NAMED[name], border, "opencv")
    for call in calls(job):
        monkeypatch.setattr(opencv, "choose", lambda *_, call=call: Choice(call, 1))
        check = engine.run(job, QUICK).check
        assert check.ok, f"{call.name}: {check}"
        assert check.levels == (1 if pixel_type != "float32" else 0)


@pytest.mark.parametrize("sigma", [None, 0.3, 1.0, 4.0, 60.0])
@pytest.mark.parametrize("ksize", [3, 5, 7, 31, 127])
def test_a_bell_curve_is_known_by_its_weights(ksize, sigma):
    weights = filters.get("gaussian").weights(ksize, sigma=sigma)
    job = Job(np.zeros((9, 9, 1), np.float32), weights, implementation="opencv")
    names = [call.name for call in calls(job)]
    vanishes = weights.min() <= 0  # a bell so narrow that its ends are zero has no logarithm
    assert ("cv2.GaussianBlur" in names) != vanishes
    nearly = weights.copy()
    nearly[0, 0] += np.float32(0.001)
    assert "cv2.GaussianBlur" not in [call.name for call in calls(replace(job, weights=nearly))]


def test_an_offset_is_left_to_calls_that_take_one(engine):
    picture = np.random.default_rng(4).integers(0, 255, (20, 20, 1), np.uint8)
    job = Job(picture, filters.get("gaussian").weights(5), implementation="opencv", offset=20.0)
    assert {call.name for call in calls(job)} == {"cv2.sepFilter2D"}
    assert engine.run(job, QUICK).check.ok


def test_a_call_that_is_off_by_more_than_a_level_is_passed_over(engine):
    """GaussianBlur rounds its weights to a 256th, which noise under a wide bell brings out."""
    picture = np.where(np.random.default_rng(5).random((200, 300, 1)) < 0.5, 0, 255)
    weights = filters.get("gaussian").weights(63, sigma=9.7)
    job = Job(picture.astype(np.uint8), weights, implementation="opencv")
    gaussian = next(call for call in calls(job) if call.name == "cv2.GaussianBlur")
    blurred = gaussian.apply(job.picture, None, -1, cv2.BORDER_REPLICATE).reshape(200, 300, 1)
    *_, check = checking(job, blurred, opencv.tolerance(job))
    assert not check.ok  # or this shows nothing
    result = engine.run(job, QUICK)
    assert result.check.ok
    assert result.ran[0].function != "cv2.GaussianBlur"


def test_what_was_called_and_on_how_many_threads_is_told(engine):
    picture = np.random.default_rng(6).integers(0, 255, (64, 64, 3), np.uint8)
    job = Job(picture, filters.get("box").weights(31), implementation="opencv")
    ran = engine.run(job, QUICK).ran[0]
    assert ran.function in {"cv2.blur", "cv2.sepFilter2D"}
    assert ran.threads in {1, usable_cores()}
    assert ran.function in str(ran)


@pytest.mark.parametrize("pixel_type", ["uint8", "uint16", "float32"])
@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("name", ["gaussian", "box", "sharpen", "laplacian"])
def test_a_run_is_that_one_call_straight_into_the_answer(name, channels, pixel_type, monkeypatch):
    """Small pictures take as long as plain cv2: nothing is copied, and no thread is started."""
    picture = (np.random.default_rng(9).random((48, 64, channels)) * 200).astype(pixel_type)
    job = Job(picture, filters.get(name).weights(3), "mirror", "opencv")
    prepared, done, out = opencv.prepare(job), [], np.zeros_like(picture)
    [*prepared.filtering(out)]  # the threads it was tried with last may be others
    expected, out[:] = out.copy(), 0

    def noted(function):
        def call(*given, **named):
            done.append((function.__name__, named.get("dst") is out))
            return function(*given, **named)

        return call

    for each in dir(cv2):
        if callable(function := getattr(cv2, each)) and not isinstance(function, type):
            monkeypatch.setattr(cv2, each, noted(function))
    monkeypatch.setattr(np, "asarray", lambda *_: pytest.fail("it was converted"))
    [*prepared.filtering(out)]
    called = prepared.ran.function.removeprefix("cv2.")
    assert done == [("getNumThreads", False), (called, True)]
    np.testing.assert_array_equal(out, expected)


def test_the_first_call_of_a_kind_of_job_tries_and_the_next_does_not(engine, monkeypatch):
    picture = np.random.default_rng(7).integers(0, 255, (63, 65, 3), np.uint8)
    job = Job(picture, filters.get("gaussian").weights(9), implementation="opencv")
    tried = []
    monkeypatch.setattr(
        cv_choice, "trial_seconds", lambda call, *_: iter([tried.append(call.name) or len(tried)])
    )
    opencv.prepare(job)
    assert set(tried) == {"cv2.GaussianBlur", "cv2.sepFilter2D"}
    tried.clear()
    opencv.prepare(replace(job, weights=filters.get("gaussian").weights(9, sigma=2.0)))
    assert tried == []


@pytest.mark.parametrize(
    ("height", "separable_s", "chosen"),  # each height is tried anew
    [(60, 0.97, "cv2.GaussianBlur"), (61, 0.90, "cv2.sepFilter2D")],
)
def test_chance_does_not_decide_between_calls_as_quick_as_each_other(
    height, separable_s, chosen, monkeypatch
):
    picture = np.random.default_rng(8).integers(0, 255, (height, 65, 3), np.uint8)
    job = Job(picture, filters.get("gaussian").weights(9), implementation="opencv")
    lasts_s = {"cv2.GaussianBlur": 1.0, "cv2.sepFilter2D": separable_s}
    monkeypatch.setattr(cv_choice, "trial_seconds", lambda call, *_: [lasts_s[call.name]])
    ran = opencv.prepare(job).ran
    assert (ran.function, ran.threads) == (chosen, usable_cores())


def test_one_disturbed_run_does_not_decide_between_calls(monkeypatch):
    picture = np.random.default_rng(9).integers(0, 255, (62, 65, 3), np.uint8)
    job = Job(picture, filters.get("gaussian").weights(9), implementation="opencv")
    lasts_s = {"cv2.GaussianBlur": iter([9.0] + [1.0] * 9), "cv2.sepFilter2D": iter([2.0] * 10)}
    monkeypatch.setattr(cv_choice, "trial_seconds", lambda call, *_: [next(lasts_s[call.name])])
    assert opencv.prepare(job).ran.function == "cv2.GaussianBlur"


# -- what need not be held against an exact call, and what has to be


def extremes(pixel_type, seed=6):
    """Samples of nothing and of the largest, which bring out what weights are off by."""
    drawn = np.random.default_rng(seed).random((120, 130, 3)) < 0.5
    return np.where(drawn, 0, np.iinfo(pixel_type).max).astype(pixel_type)


def most_off(job, call, code):
    """How far samples by `call` are from unrounded sums in float32 at most."""
    sums = exact_call(job).apply(job.picture, None, cv2.CV_32F, code)
    largest = np.iinfo(job.picture.dtype).max
    return abs(call.apply(job.picture, None, -1, code) - np.clip(sums, 0, largest)).max()


EXACT_WEIGHTS = {
    **{f"gaussian {k}": filters.get("gaussian").weights(k) for k in (3, 5, 7, 9, 15, 31)},
    **{f"gaussian {s}": filters.get("gaussian").weights(9, sigma=s) for s in (0.7, 1.0, 2.5)},
    **{f"box {k}": filters.get("box").weights(k) for k in (3, 5, 9)},
    "smooth on both ways": np.full((5, 5), np.float32(0.04)),
    "smooth but off the middle": np.outer([0.5, 0.25, 0.25], [0.25, 0.5, 0.25]),
    "a third thrice": np.outer([1, 0, 0], np.full(3, 1 / 3)),
    "sobel": filters.get("sobel_x").weights(3),
    "prewitt": filters.get("prewitt_x").weights(3),
}


@pytest.mark.parametrize("name", EXACT_WEIGHTS)
@pytest.mark.parametrize("pixel_type", ["uint8", "uint16"])
@pytest.mark.parametrize("border", ["clamp", "zero"])
def test_a_call_that_is_not_coarse_rounds_once_whatever_the_picture(name, pixel_type, border):
    weights = np.asarray(EXACT_WEIGHTS[name], np.float32)
    job = Job(extremes(pixel_type), weights, border, "opencv")
    code = getattr(cv2, opencv.OPENCV_BORDERS[border])
    found = [call for call in calls(job) if not call.coarse]
    off = {call.name: most_off(job, call, code) for call in found}
    assert found
    assert max(off.values()) <= 0.51, off


def test_how_far_a_coarse_call_is_off_depends_on_the_picture():
    """Nothing can be known of it once for all pictures of a kind."""
    weights = filters.get("gaussian").weights(7)
    even = np.repeat(np.linspace(0, 255, 130), 3).astype(np.uint8).reshape(1, 130, 3)
    pictures = (np.repeat(even, 120, axis=0), extremes("uint8"))
    off = []
    for picture in pictures:
        job = Job(np.ascontiguousarray(picture), weights, implementation="opencv")
        (call,) = (each for each in calls(job) if each.coarse)
        off.append(most_off(job, call, cv2.BORDER_REPLICATE))
    assert off[0] < cv_choice.MAX_OFF_EVERYWHERE < off[1]


def test_nothing_is_compared_for_a_bell_that_few_bits_hold(engine, monkeypatch):
    monkeypatch.setattr(cv_choice, "exact_call", lambda *_: pytest.fail("it was compared"))
    job = Job(extremes("uint8"), filters.get("gaussian").weights(5), implementation="opencv")
    assert engine.run(job, QUICK).check.ok
