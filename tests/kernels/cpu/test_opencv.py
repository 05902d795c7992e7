"""What OpenCV would get wrong, it refuses; right up to there it is right, whichever call runs."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from kernels import Engine, Job, Sampling, filters
from kernels.core import borders
from kernels.core.borders import BORDERS, strip_of_rows
from kernels.core.cpu_load import usable_cores
from kernels.core.errors import CannotRunError
from kernels.core.nonlinear import Bilateral, Guided, Morphology, NonLocalMeans, Rank
from kernels.core.step import Correlation, Step
from kernels.core.weights import separate
from kernels.cpu import opencv
from kernels.cpu.opencv import MAX_OFF, MAX_SUM, Call, _sigma, call_for, exact_call, most_off

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
    return Job.of(picture, weights.astype(np.float32), implementation=implementation)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("pixel_type", ["uint8", "uint16"])
@pytest.mark.parametrize("largest_sum", [1.01 * MAX_SUM, 2.0**32, 1e32])
def test_larger_ones_are_refused_and_go_to_parallel(engine, pattern, pixel_type, largest_sum):
    job = job_of(pattern, pixel_type, largest_sum)
    with pytest.raises(CannotRunError, match=f"With {pixel_type} pixels .* such as Parallel"):
        engine.run(job, QUICK)
    assert engine.best_for(job) == "parallel"
    other = job_of(pattern, pixel_type, largest_sum, "parallel")
    assert engine.run(other, QUICK).check.ok


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity_are_refused_and_go_to_parallel(engine, value):
    picture = np.zeros((9, 9, 1), np.float32)
    picture[4, 4] = value
    job = Job.of(picture, np.ones((3, 3), np.float32), implementation="opencv")
    assert "such as Parallel" in engine.why_not(job)
    assert engine.best_for(job) == "parallel"


@pytest.mark.parametrize("largest", [1e38, 3e38, np.finfo(np.float32).max])
@pytest.mark.parametrize("name", ["gaussian", "box", "sharpen", "edges"])
def test_real_numbers_that_sums_cannot_hold_are_refused(engine, largest, name):
    """The sums of one pass overflow, and become infinite or NaN."""
    chosen = filters.get(name)
    picture = np.full((20, 20, 1), largest, np.float32)
    picture[5:9] *= -1
    job = Job.of(picture, chosen.weights(3) * 4, implementation="opencv", gradient=chosen.gradient)
    assert "overflow" in engine.why_not(job)
    assert engine.best_for(job) == "parallel"


EXTREMES = {
    "uint8": [0, 255],
    "uint16": [0, 65535],
    "float16": [6e-8, -65504, 65504, 1e-5],
    "float32": [1e-45, 1e-38, -1e-39, 1e30, -2e36, 1.0],
}


@pytest.mark.parametrize("pixel_type", EXTREMES)
@pytest.mark.parametrize("name", ["gaussian", "box", "sobel_x", "edges", "unsharp"])
@pytest.mark.parametrize("ksize", [3, 9, 15])
def test_what_it_takes_it_gets_right_to_the_ends_of_the_pixel_type(engine, pixel_type, name, ksize):
    random, chosen = np.random.default_rng(11), filters.get(name)
    ksize = ksize if ksize in chosen.sizes else max(chosen.sizes)
    for values in (EXTREMES[pixel_type], EXTREMES[pixel_type][:2]):
        picture = random.choice(np.array(values, pixel_type), (40, 40, 3))
        job = Job.of(
            picture, chosen.weights(ksize), implementation="opencv", gradient=chosen.gradient
        )
        if not engine.why_not(job):
            check = engine.run(job, QUICK).check
            assert check.ok, str(check)


def in_bands(monkeypatch, rows, cores=2):
    """Have rows shared by `cores` threads, about `rows` at a time."""
    monkeypatch.setattr(opencv, "usable_cores", lambda: cores)
    monkeypatch.setattr(opencv, "SHARED_PRODUCTS", 1)
    monkeypatch.setattr(opencv, "BAND_SAMPLES", rows * 30)
    monkeypatch.setattr(opencv, "CALL_PRODUCTS", rows * 150)
    monkeypatch.setattr(opencv, "BAND_REACHES", 1)
    monkeypatch.setattr(borders, "BLOCK_ROWS", 8)


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("gradient", [False, True])
@pytest.mark.parametrize("channels", [3, 4])
@pytest.mark.parametrize("pixel_type", ["uint8", "float16"])
def test_seams_of_bands_do_not_show(engine, monkeypatch, border, gradient, channels, pixel_type):
    in_bands(monkeypatch, 2)
    random = np.random.default_rng()
    picture = random.integers(0, 255, (40, 30, channels), endpoint=True).astype(pixel_type)
    weights = random.random((5, 5), np.float32) / 25
    job = Job.of(picture, weights, border, "opencv", gradient=gradient)
    check = engine.run(job, QUICK).check
    assert check.is_full
    assert check.ok, str(check)


@pytest.mark.parametrize("pixel_type", ["uint8", "uint16", "float16", "float32"])
@pytest.mark.parametrize(
    ("name", "ksize"),
    [("gaussian", 3), ("gaussian", 7), ("box", 15), ("random", 5), ("random", 15)],
)
def test_neither_cores_nor_bands_change_a_bit(engine, monkeypatch, pixel_type, name, ksize):
    random = np.random.default_rng(12)
    picture = (random.random((90, 30, 3)) ** 9 * 60000).astype(pixel_type)
    weights = random.random((ksize, ksize), np.float32) / ksize**2
    if name != "random":
        weights = filters.get(name).weights(ksize)
    job, found = Job.of(picture, weights, "mirror", "opencv"), []
    for rows, cores in ((200, 1), (7, 3), (20, 16)):
        in_bands(monkeypatch, rows, cores)
        found.append(engine.run(job, QUICK).picture.tobytes())
    assert found[1:] == found[:1] * 2


RULE = [
    ("gaussian", 3, "uint8", "cv2.GaussianBlur"),
    ("gaussian", 7, "uint8", "cv2.sepFilter2D"),  # GaussianBlur's 8 bits may be off by two levels
    ("gaussian", 7, "uint16", "cv2.GaussianBlur"),
    ("gaussian", 31, "uint16", "cv2.sepFilter2D"),
    ("gaussian", 3, "float32", "cv2.sepFilter2D"),
    ("box", 3, "uint8", "cv2.sepFilter2D"),
    ("box", 3, "uint16", "cv2.blur"),
    ("box", 31, "uint8", "cv2.blur"),
    ("box", 31, "float32", "cv2.blur"),
    ("sobel_x", 3, "uint8", "cv2.sepFilter2D"),
    ("unsharp", 9, "uint8", "cv2.filter2D"),
]


@pytest.mark.parametrize(("name", "ksize", "pixel_type", "function"), RULE)
@pytest.mark.parametrize("border", ["clamp", "wrap"])
def test_the_weights_and_the_pixel_type_choose_the_call(
    engine, name, ksize, pixel_type, function, border
):
    picture = np.random.default_rng(3).integers(0, 255, (37, 41, 3)).astype(pixel_type)
    job = Job.of(picture, filters.get(name).weights(ksize), border, "opencv")
    result = engine.run(job, QUICK)
    assert (result.ran[0].function, result.ran[0].threads) == (function, usable_cores())
    assert result.check.ok
    one_row = Job.of(picture[:1].copy(), job.correlation.weights, border, "opencv")
    assert call_for(one_row).name == function  # whatever the size


@pytest.mark.parametrize("pixel_type", ["uint8", "uint16"])
@pytest.mark.parametrize(("ksize", "sigma"), [(3, None), (3, 0.6), (7, None), (7, 1.1), (7, 3.0)])
def test_how_far_a_bell_of_few_bits_is_off_at_most_is_known_of_its_weights(
    pixel_type, ksize, sigma
):
    """No picture is off by more, and black and white where its weights differ is off by as much."""
    weights = filters.get("gaussian").weights(ksize, sigma=sigma)
    found, largest = _sigma(ksize, separate(weights)), np.iinfo(pixel_type).max
    blur = Call("cv2.GaussianBlur", {"ksize": (ksize, ksize), "sigmaX": found}).apply
    at_most = most_off(ksize, found, pixel_type)
    random, most = np.random.default_rng(13), 0.0
    for _ in range(40):
        picture = np.where(random.random((60, 60)) < 0.5, 0, largest).astype(pixel_type)
        sums = cv2.filter2D(picture.astype(np.float64), -1, weights.astype(np.float64))
        blurred = blur(picture[..., np.newaxis], None, -1, cv2.BORDER_DEFAULT)
        most = max(most, float(abs(blurred - sums).max()))
    assert most <= at_most + 0.51
    assert most >= at_most / 4 or at_most < MAX_OFF


@pytest.mark.parametrize("pixel_type", ["uint8", "uint16"])
@pytest.mark.parametrize("name", ["gaussian", "box", "prewitt_x"])
@pytest.mark.parametrize("ksize", [3, 5, 9, 15])
def test_integers_are_rounded_as_the_reference_rounds_them(pixel_type, name, ksize):
    """All but bells of few bits: black and white bring out what weights are off by."""
    drawn = np.random.default_rng(6).random((120, 130, 3)) < 0.5
    picture = np.where(drawn, 0, np.iinfo(pixel_type).max).astype(pixel_type)
    chosen = filters.get(name)
    weights = chosen.weights(ksize if ksize in chosen.sizes else max(chosen.sizes))
    job = Job.of(picture, weights, implementation="opencv")
    out = np.empty_like(picture)
    [*opencv.prepare(job).filtering(out)]
    sums = cv2.filter2D(
        picture.astype(np.float64), -1, weights.astype(np.float64), borderType=cv2.BORDER_REPLICATE
    )
    assert abs(out - np.clip(sums, 0, np.iinfo(pixel_type).max)).max() <= 0.52


WINDOWS = [
    (Rank(5), ("uint8", "uint16", "float32")),
    (Rank(7), ("uint8",)),
    (Rank(7, 0.0, is_disk=True), ("uint8", "uint16", "float16", "float32")),
    (Rank(5, 25.0), ()),
    (Morphology(7, "closing"), ("uint8", "uint16", "float16", "float32")),
    (Morphology(5, "top_hat", is_disk=True), ("uint8", "uint16", "float16", "float32")),
    (Bilateral(7, 2.0, 30.0), ("uint8",)),
    (Bilateral(5, 2.0, 30.0), ()),  # of grey it cuts off the fractions
    (Bilateral(1, 2.0, 30.0), ()),  # which it takes for 3
    (NonLocalMeans(5, 3, 30.0), ()),
    (Guided(5, 100.0), ()),
]


@pytest.mark.parametrize(("chosen", "taken"), WINDOWS, ids=str)
def test_what_it_has_not_it_refuses_and_what_it_has_is_the_same_in_bands(
    engine, monkeypatch, chosen, taken
):
    for pixel_type in ("uint8", "uint16", "float16", "float32"):
        picture = (np.random.default_rng(2).random((41, 30, 2)) * 255).astype(pixel_type)
        job = Job(picture, (Step(chosen, "opencv", title="Median"),), "clamp")
        if pixel_type not in taken:
            never = isinstance(chosen, NonLocalMeans | Guided)
            never |= isinstance(chosen, Rank) and chosen.percentile not in (0, 50, 100)
            words = "same as Median; choose" if never else f"same as Median for {pixel_type} pixels"
            if pixel_type == "uint8" and isinstance(chosen, Bilateral):
                words = "for grey at sizes this small; "
            assert words in engine.why_not(job)
            assert engine.best_for(job) == "parallel"
            continue
        assert engine.best_for(job) == "opencv"
        found = []
        for rows, cores in ((200, 1), (3, 3)):
            in_bands(monkeypatch, rows, cores)
            for border in ("clamp", "zero", "wrap"):
                result = engine.run(replace(job, border=border), QUICK)
                assert result.check.ok, str(result.check)
                found.append(result.picture.tobytes())
        assert found[3:] == found[:3]


def test_of_a_transparent_picture_it_says_why_not(engine):
    picture = np.random.default_rng(3).integers(0, 256, (20, 30, 4), np.uint8)
    job = Job(picture, (Step(Bilateral(7, 2.0, 30.0), "opencv"),), "clamp")
    assert engine.why_not(job) is None
    said = engine.why_not(replace(job, opaque=255.0))
    assert "transparent" in said
    assert "--alpha apart" in said
    assert "alpha" not in engine.why_not(job.but(picture=picture[..., :3].astype(np.float32)))


@pytest.mark.parametrize("ksize", [9, 31])
def test_running_sums_of_real_numbers_begin_in_strips_where_they_do_in_the_whole(ksize):
    """Where rows of 1e30 are followed by rows of 1 they keep an error, which depends on it."""
    random = np.random.default_rng(14)
    picture = random.random((700, 8, 1), np.float32)
    picture[100:130] *= 1e25
    job = Job.of(picture, filters.get("box").weights(ksize), implementation="opencv")
    assert call_for(job).name == "cv2.blur"
    whole, strip = np.empty_like(picture), strip_of_rows(256, 512, 700, ksize, "clamp")
    [*opencv.prepare(job).filtering(whole)]
    rows = picture[slice(*strip.spans[0])].copy()
    lower = job.but(picture=rows, strip=strip)
    [*opencv.prepare(lower).filtering(out := np.empty_like(rows))]
    assert out[strip.own].tobytes() == whole[256:512].tobytes()
    assert exact_call(job).name == "cv2.sepFilter2D"


NAMED = [("gaussian", 3), ("box", 15), ("sharpen", 3)]
SMALL = [(Correlation(filters.get(name).weights(ksize)), (48, 64)) for name, ksize in NAMED]
SQUARES = [(Rank(15, 0.0), (512, 768)), (Morphology(15, "opening"), (512, 768))]


@pytest.mark.parametrize(("chosen", "size"), [*SMALL, *SQUARES])
def test_a_small_picture_is_one_call_straight_into_the_output(chosen, size, monkeypatch):
    """It takes as long as plain cv2: nothing is copied, and no thread is started."""
    monkeypatch.setattr(opencv, "usable_cores", lambda: 16)
    picture = (np.random.default_rng(9).random((*size, 3)) * 200).astype(np.uint8)
    prepared = opencv.prepare(Job(picture, (Step(chosen, "opencv"),), "mirror"))
    out, done = np.zeros_like(picture), []
    real = getattr(cv2, prepared.ran.function.removeprefix("cv2."))

    def noted(*given, **named):
        done.append(named.get("dst") is out)
        return real(*given, **named)

    monkeypatch.setattr(cv2, real.__name__, noted)
    [*prepared.filtering(out)]
    assert done == [True]
