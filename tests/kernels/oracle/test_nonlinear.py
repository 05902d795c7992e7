"""Filters that are no weighted sum: the reference by other libraries and loops, and its bounds."""

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
from kernels.core.nonlinear import (
    CUT,
    KINDS,
    Bilateral,
    Guided,
    Morphology,
    NonLocalMeans,
    Rank,
)
from kernels.core.step import Correlation, Step
from kernels.core.verdict import Tolerance
from kernels.cpu import host_implementations
from kernels.oracle.checking import _weight_ulps, checking, judged, limits_of
from kernels.oracle.nonlinear import in_doubt
from kernels.oracle.reference import filtered, place_of, to_pixel_type
from tests.kernels.cases import random_picture
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
