"""The float64 reference of every family, by hand-worked sums, other libraries and loops."""

from dataclasses import replace

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from kernels import Engine, Sampling, filters
from kernels.core.borders import BORDERS
from kernels.core.job import PIXEL_TYPES, Job
from kernels.core.nonlinear import CUT, KINDS, Bilateral, Guided, Morphology, NonLocalMeans, Rank
from kernels.core.step import Correlation, Step
from kernels.core.verdict import Tolerance
from kernels.cpu import host_implementations
from kernels.oracle.checking import _weight_ulps, checking, error_bound, judged, limits_of
from kernels.oracle.nonlinear import in_doubt
from kernels.oracle.reference import correlate, filtered, place_of, to_pixel_type
from tests.kernels.cases import random_picture, some_weights
from tests.kernels.core.test_borders import SCIPY

SEEDS = st.integers(0, 2**32 - 1)
EVERY_PIXEL = Sampling(max_samples=0, check_taps=None)


def job_of(picture, chosen, border="mirror", implementation="parallel", **fields):
    return Job(picture, (Step(chosen, implementation, **fields),), border)


def reference(picture, chosen, border="mirror"):
    return filtered(job_of(picture, chosen, border))


def noise(*shape, seed=1):
    return np.random.default_rng(seed).random(shape, np.float32)


# -- By other libraries.


@pytest.mark.parametrize("border", [each for each in BORDERS if each != "crop"])
@pytest.mark.parametrize("is_disk", [False, True])
@pytest.mark.parametrize("percentile", [0, 10, 50, 75, 100])
def test_order_statistics_are_scipys(border, is_disk, percentile):
    picture, chosen = noise(17, 19, 1), Rank(5, percentile, is_disk)
    expected = ndimage.percentile_filter(
        picture[..., 0], percentile, footprint=chosen.window, mode=SCIPY[border]
    )
    assert (reference(picture, chosen, border)[..., 0] == expected).all()


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("is_disk", [False, True])
def test_morphology_is_scipys_minimum_and_maximum_one_after_the_other(border, is_disk):
    picture = noise(17, 19, 1)
    given, footprint = picture[..., 0].astype(np.float64), Rank(5, 0, is_disk).window

    def least(samples):
        outside = np.inf if border == "crop" else 0
        mode = {"footprint": footprint, "mode": SCIPY[border], "cval": outside}
        return ndimage.minimum_filter(samples, **mode)

    def most(samples):
        return -least(-samples)

    expected = {
        "opening": most(least(given)),
        "closing": least(most(given)),
        "gradient": most(given) - least(given),
        "top_hat": given - most(least(given)),
        "black_hat": least(most(given)) - given,
    }
    for kind in KINDS:
        found = reference(picture, Morphology(5, kind, is_disk), border)
        assert (found[..., 0] == expected[kind]).all()


def test_opencvs_bilateral_filter_and_non_local_means_are_ours():
    for channels in (1, 3):
        picture = noise(20, 23, channels)
        found = cv2.bilateralFilter(picture, 5, 0.2, 1.5, borderType=cv2.BORDER_REFLECT_101)
        expected = reference(picture, Bilateral(5, 1.5, 0.2))
        np.testing.assert_allclose(found.reshape(picture.shape), expected, atol=5e-7)
    picture = (noise(40, 43, 1) * 255).astype(np.uint8)
    off = np.rint(reference(picture, NonLocalMeans(9, 3, 40.0)))[..., 0]
    off -= cv2.fastNlMeansDenoising(picture, None, 40, 3, 9)
    assert np.abs(off).max() <= 1
    assert (off != 0).mean() < 0.02


@pytest.mark.parametrize("border", BORDERS)
def test_the_guided_filter_is_that_of_scipys_means(border):
    picture = noise(17, 19, 1)

    def mean(samples):
        sums, counts = (
            ndimage.uniform_filter(each, 5, mode=SCIPY[border], cval=0.0)
            for each in (samples, np.ones_like(samples))
        )
        return sums / counts if border == "crop" else sums

    given = picture[..., 0].astype(np.float64)
    variance = mean(given**2) - mean(given) ** 2
    a = variance / (variance + 0.01)
    expected = mean(a) * given + mean((1 - a) * mean(given))
    found = reference(picture, Guided(5, 0.01), border)[..., 0]
    np.testing.assert_allclose(found, expected, atol=1e-12)


# -- By loops over pixels, as the definitions are read aloud.

PADS = {"zero": "constant", "clamp": "edge", "reflect": "symmetric", "mirror": "reflect"}


@pytest.mark.parametrize("border", [*PADS, "wrap", "crop"])
@pytest.mark.parametrize("channels", [1, 4])
def test_means_by_alikeness_are_those_of_loops_over_pixels(border, channels):
    picture, far = noise(5, 6, channels), 3
    around = ((far, far), (far, far), (0, 0))
    given = np.pad(picture.astype(np.float64), around, mode=PADS.get(border, "wrap"))
    if border == "crop":
        given = np.pad(picture.astype(np.float64), around, constant_values=np.nan)
    colours = given[..., :3]

    def patch(y, x):
        return colours[y - 1 : y + 2, x - 1 : x + 2]

    def alike(y, x, j, i):
        return np.exp(-np.nanmean((patch(y, x) - patch(j, i)) ** 2) / 0.3**2)

    def near(y, x, j, i):
        apart = np.abs(colours[y, x] - colours[j, i]).sum()
        far = (y - j) ** 2 + (x - i) ** 2
        return np.exp(-far / (2 * 1.5**2) - apart**2 / (2 * 0.4**2)) if far <= 4 else 0

    for chosen, weight in ((Bilateral(5, 1.5, 0.4), near), (NonLocalMeans(5, 3, 0.3), alike)):
        expected = picture.astype(np.float64)
        for y, x in np.ndindex(picture.shape[:2]):
            at = y + far, x + far
            total = weights = 0.0
            for j, i in np.ndindex(5, 5):
                other = at[0] + j - 2, at[1] + i - 2
                if np.isnan(given[other]).any() or (w := weight(*at, *other)) < CUT * (
                    weight is alike
                ):
                    continue
                total, weights = total + w * given[other], weights + w
            expected[y, x] = total / weights
        if channels == 4:
            expected[..., 3] = picture[..., 3]
        np.testing.assert_allclose(reference(picture, chosen, border), expected, atol=1e-12)


SOME = (
    Rank(5),
    Morphology(5, "top_hat", is_disk=True),
    Bilateral(5, 1.5, 0.3),
    NonLocalMeans(5, 3, 0.3),
    Guided(5, 0.01),
)


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("chosen", SOME, ids=lambda each: type(each).__name__)
def test_a_part_is_cut_out_of_the_whole_and_what_wraps_has_no_edge(chosen, border):
    for shape in ((6, 5, 2), (20, 22, 1)):
        job = job_of(noise(*shape), chosen, border)
        whole, middle = filtered(job), shape[0] // 2
        np.testing.assert_allclose(filtered(job, (1, middle), (2, 4)), whole[1:middle, 2:4])
        if border == "wrap":
            turned = np.roll(job.picture, (3, 1), (0, 1))
            again = filtered(job_of(turned, chosen, border))
            np.testing.assert_allclose(again, np.roll(whole, (3, 1), (0, 1)), atol=1e-12)


# -- What an answer may be off by.


def drawn_filter(random, kind, scale):
    """One of any size, also far larger than the picture, and of any strength."""
    ksize, extreme = int(random.choice((1, 3, 5, 9))), 10.0 ** random.uniform(-37, 37)
    width = float(random.choice((scale * 10.0 ** random.uniform(-4, 2), extreme)))
    match kind:
        case "Morphology":
            return Morphology(ksize, str(random.choice(KINDS)), bool(random.random() < 0.5))
        case "Bilateral":
            return Bilateral(ksize, float(random.choice((0.3, 2.0, extreme))), width)
        case "NonLocalMeans":
            return NonLocalMeans(ksize, int(random.choice((1, 3, 7))), width)
    return Guided(ksize, min(width, 1e18) ** 2 or 1e-45)


def drawn_job(random, kind, implementation):
    shape = (*map(int, random.integers(1, 24, 2)), int(random.integers(1, 5)))
    picture = random_picture(random, shape, str(random.choice(PIXEL_TYPES)))
    if random.random() < 0.3:  # little differs from a lot: what cancels shows
        picture = (picture // 64 + 100).astype(picture.dtype)
    chosen = drawn_filter(random, kind, float(np.abs(picture).max()) or 1.0)
    return job_of(picture, chosen, str(random.choice(BORDERS)), implementation)


HOSTS = {each.key: each for each in host_implementations()}


@pytest.mark.parametrize("implementation", HOSTS)
@pytest.mark.parametrize("kind", ["Morphology", "Bilateral", "NonLocalMeans", "Guided"])
@settings(max_examples=15)
@given(seed=SEEDS)
def test_what_is_off_by_less_than_the_bound_is_right_and_twice_the_bound_is_found(
    implementation, kind, seed
):
    random, host = np.random.default_rng(seed), HOSTS[implementation]
    job = drawn_job(random, kind, implementation)
    if reason := host.why_not(job):
        assert reason.endswith(".")
        return
    answer, tolerance = np.full_like(job.picture, 77), host.tolerance(job)
    [*host.prepare(job).filtering(answer)]
    *_, check = checking(job, answer, tolerance, None)
    limits, exact = limits_of(job, tolerance), filtered(job)
    assert check.ok or "not checked" in str(check), str(check)
    at = tuple(map(random.integers, exact.shape))
    is_integer = answer.dtype.kind == "u"
    spacing = 2 * float(np.spacing(np.abs(answer[at])))
    rounding = limits.levels + limits.most_off + 1 if is_integer else spacing
    off = 2 * (limits.bound + doubt(job)[at]) + rounding
    with np.errstate(over="ignore"):
        wrong = answer.copy()
        wrong[at] = to_pixel_type(exact[at] + off * (-1 if exact[at] > 100 else 1), answer.dtype)
    is_told = 0 < wrong[at] < np.iinfo(answer.dtype).max if is_integer else np.isfinite(wrong[at])
    if np.isfinite(off) and is_told:
        *_, check = checking(job, wrong, tolerance, None)
        assert check.wrong == (wrong[at] != answer[at])


def doubt(job):
    """What weights about the cut may make of each sample, beyond the bound."""
    if not isinstance(job.filter, NonLocalMeans):
        return np.zeros(job.picture.shape)
    place = place_of(job, (0, job.height), (0, job.width))
    share = in_doubt(job.filter, place, 2.0**-23 * _weight_ulps(job, -np.log(CUT)))
    return np.broadcast_to(2 * float(np.abs(job.picture).max()) * share, job.picture.shape)


def test_weights_so_near_to_the_cut_that_their_rounding_decides_may_count_or_not():
    """Of stripes half of all weights are the same, and here the same as the cut."""
    picture = np.zeros((30, 30, 1), np.float32)
    picture[:, ::2] = 100
    at_the_cut = 100 / np.sqrt(-np.log(CUT))
    job, other, far = (
        job_of(picture, NonLocalMeans(21, 1, float(at_the_cut * factor)))
        for factor in (1 - 1e-9, 1 + 1e-9, 1.001)
    )
    answer = filtered(job).astype(np.float32)
    assert np.abs(answer - filtered(other)).max() > 0.01
    for each, is_right in ((job, True), (other, True), (far, False)):
        *_, check = checking(each, answer, Tolerance(21**2), None)
        assert check.ok == is_right, str(check)
    answer[5, 7] += 5
    *_, check = checking(other, answer, Tolerance(21**2), None)
    assert check.wrong == 1


@pytest.mark.parametrize("kind", ["Morphology", "Bilateral", "NonLocalMeans", "Guided"])
@settings(max_examples=8)
@given(seed=SEEDS)
def test_an_error_in_front_of_a_filter_grows_by_no_more_than_is_said(kind, seed):
    """Through the engine: each step, and the list from end to end."""
    random = np.random.default_rng(seed)
    job = drawn_job(random, kind, "parallel")
    picture = (random.random((9, 14, job.channels)) * 200).astype(job.pixel_type)
    box = Step(Correlation(filters.get("box").weights(3)), "parallel", mix=0.7, threshold=0.5)
    job = replace(job, picture=picture, steps=(box, *job.steps, box))
    engine = Engine(use_gpu=False)
    result = engine.run(job, EVERY_PIXEL)
    assert all(each.check.ok for each in result.steps), [str(e.check) for e in result.steps]
    assert result.check.ok or not np.isfinite(result.check.bound), str(result.check)


def test_a_sample_may_not_be_judged_by_more_than_its_own_leeway():
    job = job_of(noise(4, 5, 1), NonLocalMeans(3, 1, 0.1))
    exact, limits = filtered(job), limits_of(job, Tolerance(9))
    leeway = np.zeros(exact.shape)
    leeway[1, 2] = 0.5
    *_, wrong = judged(job, (exact + 0.4).astype(np.float32), exact, limits, leeway)
    assert wrong.sum() == exact.size - 1
    assert not wrong[1, 2, 0]


# -- weighted sums, by hand and by other libraries


COUNTING = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]], np.float32)[..., None]
ONES = np.ones((3, 3), np.float32)


def plane(*rows):
    """(H, W, 1) float32."""
    return np.array(rows, np.float32)[..., None]


def only(ksize, j, i):
    """(ksize, ksize) weights: 1 at row j, column i."""
    weights = np.zeros((ksize, ksize), np.float32)
    weights[j, i] = 1
    return weights


def correlated(picture, weights, border="zero"):
    return correlate(picture, weights, border)[..., 0].tolist()


def test_weights_are_applied_as_drawn_and_those_of_zero_too():
    assert correlated(COUNTING, only(3, 1, 2)) == [[2, 3, 0], [5, 6, 0], [8, 9, 0]]
    assert correlated(COUNTING, only(3, 0, 1)) == [[0, 0, 0], [1, 2, 3], [4, 5, 6]]
    picture = np.zeros((1, 5, 1), np.float32)
    picture[0, 1] = np.nan
    assert np.isnan(correlate(picture, only(3, 1, 1), "zero")[0, :, 0]).tolist() == (
        [True, True, True, False, False]
    )
    picture = np.ones((7, 7, 1), np.float32)
    picture[3, 3] = np.inf
    identity = np.zeros((5, 5), np.float32)
    identity[2, 2] = 1
    made = correlate(picture, identity, "clamp")[..., 0]
    assert np.isnan(made[1:6, 1:6]).sum() == 24
    assert made[3, 3] == np.inf


def gradient(picture, weights, border, rows=None, columns=None):
    return filtered(Job.of(picture, weights, border, gradient=True), rows, columns)


@pytest.mark.parametrize(
    ("border", "left_of_it", "above_it"),
    [
        ("zero", [0, 1, 2], [0, 1, 4]),
        ("clamp", [1, 1, 2], [1, 1, 4]),
        ("reflect", [1, 1, 2], [1, 1, 4]),
        ("mirror", [2, 1, 2], [4, 1, 4]),
        ("wrap", [3, 1, 2], [7, 1, 4]),
    ],
)
def test_borders_one_pixel_out(border, left_of_it, above_it):
    assert correlated(COUNTING, only(3, 1, 0), border)[0] == left_of_it
    assert [row[0] for row in correlated(COUNTING, only(3, 0, 1), border)] == above_it


@pytest.mark.parametrize(
    ("border", "seven_left"),
    [  # of 1 2, continued to the left: what stands at -7 and at -6
        ("zero", [0, 0]),
        ("clamp", [1, 1]),
        ("reflect", [2, 2]),  # ... 1 2 2 1 1 2 2 1 | 1 2
        ("mirror", [2, 1]),  # ... 2 1 2 1 2 1 2 | 1 2
        ("wrap", [2, 1]),
    ],
)
def test_borders_further_out_than_the_picture_is_wide(border, seven_left):
    assert correlated(plane([1, 2]), only(15, 7, 0), border)[0] == seven_left


@pytest.mark.parametrize("channels", [2, 4])
def test_alpha_passes_through(channels):
    picture = np.full((2, 2, channels), 10, np.uint8)
    picture[..., -1] = [[0, 255], [7, 3]]
    filtered = correlate(picture, ONES, "clamp")
    assert (filtered[..., :-1] == 90).all()
    assert (filtered[..., -1] == picture[..., -1]).all()


@pytest.mark.parametrize("channels", [1, 3])
def test_without_alpha_every_channel_is_filtered_alone(channels):
    picture = np.arange(channels, dtype=np.uint8) * np.ones((2, 2, 1), np.uint8)
    assert (correlate(picture, ONES, "clamp")[0, 0] == 9 * np.arange(channels)).all()


AS_IT_IS = np.ones((1, 1), np.float32)


def lengths(picture, weights=AS_IT_IS, border="clamp"):
    return gradient(picture, weights, border)[..., 0].tolist()


def test_a_gradient_counts_every_neighbour_of_the_weighted_picture_as_sobel_does():
    """Of 1 to 9 at the centre: 3 + 2·6 + 9 - (1 + 2·4 + 7), 7 + 2·8 + 9 - (1 + 2·2 + 3)."""
    assert lengths(COUNTING)[1][1] == pytest.approx((8**2 + 24**2) ** 0.5, rel=1e-15)
    assert lengths(plane([0, 0, 0], [0, 7, 0], [0, 0, 0]))[1][1] == 0
    assert lengths(plane([7, 0, 0], [0, 0, 0], [0, 0, 0]))[1][1] == pytest.approx(7 * 2**0.5)
    assert lengths(plane([0, 0, 0], [0, 0, 7], [0, 0, 0]))[1][1] == 14
    # 0 0 9 becomes 0 3 6 by means of three, and then 6 once more; of 0 0 9 9 it would be 9.
    means = np.zeros((3, 3), np.float32)
    means[1] = 1
    assert lengths(plane([0, 0, 3]), means) == [[4 * 3, 4 * 6, 4 * 3]]
    assert lengths(np.array([[[0], [1], [0]]], np.uint8), np.full((1, 1), 0.25, np.float32)) == [
        [1, 0, 1]
    ]
    picture = np.random.default_rng(1).integers(0, 255, (3, 4, 4), np.uint8)
    assert (gradient(picture, ONES, "wrap")[..., 3] == picture[..., 3]).all()


@pytest.mark.parametrize(
    ("border", "expected"),
    [  # of 1 2 4: the difference of the neighbours, four times, or twice where above is nothing
        ("zero", [2 * 2, 2 * 3, 2 * 2]),
        ("clamp", [4 * 1, 4 * 3, 4 * 2]),
        ("reflect", [4 * 1, 4 * 3, 4 * 2]),
        ("mirror", [0, 4 * 3, 0]),
        ("wrap", [4 * 2, 4 * 3, 4 * 1]),
    ],
)
def test_borders_of_a_gradient(border, expected):
    assert lengths(plane([1, 2, 4]), border=border) == [expected]
    assert lengths(plane([1], [2], [4]), border=border) == [[length] for length in expected]


@pytest.mark.parametrize(
    ("sums", "rounded"),
    [
        ([0.5, 1.5, 2.5, 3.5, 254.5], [0, 2, 2, 4, 254]),
        ([0.49, 0.51, 1.49], [0, 1, 1]),
        ([-0.5, -0.6, -1e9], [0, 0, 0]),
        ([255.4, 255.6, 256, 1e9], [255, 255, 255, 255]),
    ],
)
def test_bytes_are_rounded_half_to_even_and_saturated(sums, rounded):
    assert to_pixel_type(np.array(sums), np.dtype(np.uint8)).tolist() == rounded


@pytest.mark.parametrize(("dtype", "bits"), [("float16", 0x7D00), ("float32", 0x7FA00000)])
@pytest.mark.parametrize("work_out", [correlate, gradient])
def test_a_nan_of_any_kind_in_the_picture_is_no_warning(dtype, bits, work_out):
    picture = np.ones((9, 9, 1), dtype)
    picture.view(f"u{picture.itemsize}")[4, 4] = bits  # one that signals
    made = work_out(picture, np.full((3, 3), 1 / 9, np.float32), "clamp")
    assert np.isnan(made[4, 4]).all()


OPENCV = {  # filter2D has no BORDER_WRAP
    "zero": cv2.BORDER_CONSTANT,
    "clamp": cv2.BORDER_REPLICATE,
    "reflect": cv2.BORDER_REFLECT,
    "mirror": cv2.BORDER_REFLECT_101,
}
# Not below the largest radius: from a few sizes out on, SciPy's "reflect" in two dimensions is
# not its own in one.  What lies so far out is held against numpy.pad in test_borders.py.
SIZES = st.tuples(st.integers(16, 50), st.integers(16, 50))
KSIZES = st.sampled_from([1, 3, 5, 9, 31])


@pytest.mark.parametrize("border", BORDERS)
@given(size=SIZES, ksize=KSIZES, seed=SEEDS)
def test_scipys_correlate_gives_the_oracles_sums(border, size, ksize, seed):
    job = some_job(size, 3, "float32", ksize, border, seed)
    planes = job.picture.astype(np.float64)
    expected = ndimage.correlate(
        planes, job.correlation.weights.astype(np.float64)[..., None], mode=SCIPY[border], cval=0.0
    )
    sums = correlate(job.picture, job.correlation.weights, border)
    np.testing.assert_allclose(sums, expected, rtol=1e-9, atol=1e-12 * np.abs(planes).max())


@pytest.mark.parametrize("border", OPENCV)
@given(size=SIZES, ksize=KSIZES, channels=st.sampled_from([1, 3]), seed=SEEDS)
def test_opencvs_filter2d_of_floats_is_the_oracle_within_float32(
    border, size, ksize, channels, seed
):
    job = some_job(size, channels, "float32", ksize, border, seed)
    filtered = cv2.filter2D(
        job.picture, cv2.CV_32F, job.correlation.weights, borderType=OPENCV[border]
    )
    sums = correlate(job.picture, job.correlation.weights, border)
    off = np.abs(filtered.reshape(sums.shape) - sums).max()
    assert off <= error_bound(job, ksize**2, 2.0)


def some_job(size, channels, pixel_type, ksize, border, seed):
    random = np.random.default_rng(seed)
    picture = random_picture(random, (*size, channels), pixel_type)
    return Job.of(picture, some_weights(random, ksize), border)
