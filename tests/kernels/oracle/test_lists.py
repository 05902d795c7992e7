"""A list of steps against SciPy in float64, and the bounds of what it may be off by."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage

from kernels import Engine, Sampling
from kernels.core.borders import BORDERS
from kernels.core.job import Job, Region
from kernels.core.step import LENGTH, Correlation, Step
from kernels.core.verdict import LIVE_TAPS, Tolerance
from kernels.oracle.checking import carried_bound, checking, judged, limits_of, plan_tiles
from kernels.oracle.explain import value_at
from kernels.oracle.reference import filtered, to_pixel_type
from tests.kernels.cases import random_list, random_weights

SEEDS = st.integers(0, 2**32 - 1)
PADS = {
    **{"zero": "constant", "clamp": "edge", "reflect": "symmetric"},
    **{"mirror": "reflect", "wrap": "wrap", "crop": "constant"},
}
BT601 = 0.299, 0.587, 0.114
SOBEL = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], np.float64)
EVERY_PIXEL = Sampling(max_samples=0, check_taps=None)


def slid(samples, weights, border):
    """By SciPy over what NumPy has continued, however far."""
    r = len(weights) // 2
    around = np.pad(samples, ((r, r), (r, r), (0, 0)), mode=PADS[border])
    found = ndimage.correlate(around, weights.astype(np.float64)[..., None], mode="constant")
    return found[r : r + len(samples), r : r + samples.shape[1]]


def by_scipy(job):
    """The list's output before it is rounded: each filter of what the one before gave."""
    dtype = job.picture.dtype

    def stored(samples):
        return to_pixel_type(samples, dtype).astype(np.float64) if job.is_rounded else samples

    given = job.picture.astype(np.float64)
    for number, run in enumerate(job.runs):
        before = given = stored(given) if number else given
        found = slid(given, run.steps[0].filter.weights, job.border) + run.steps[0].filter.offset
        if len(run.steps) > 1:
            found = np.hypot(*(slid(found, each, job.border) for each in (SOBEL, SOBEL.T)))
        share, threshold = map(float, map(np.float32, run.blend[:2]))
        if share != 1 or threshold or run.blend.is_grey:
            found = stored(found)
        if run.blend.is_grey and found.shape[2] > 2:
            luma = sum(found[..., c] * float(np.float32(BT601[c])) for c in range(3))
            found = np.dstack([luma, luma, luma, found[..., 3:]])
        if share != 1 or threshold:
            change = found - before
            change -= change.clip(-threshold, threshold)
            found = before + share * change
        given = found
        if job.has_alpha:
            given[..., -1] = before[..., -1]
    return given


@pytest.mark.parametrize("border", BORDERS)
@given(seed=SEEDS)
def test_the_reference_is_scipys_filters_one_after_another(border, seed):
    job = random_list(np.random.default_rng(seed), border=border)
    np.testing.assert_allclose(filtered(job), by_scipy(job), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("border", BORDERS)
@given(seed=SEEDS)
def test_a_part_of_a_list_is_cut_out_of_the_whole(border, seed):
    random = np.random.default_rng(seed)
    job = random_list(random, border=border)
    rows, columns = (
        sorted(map(int, random.choice(size + 1, 2, replace=False)))
        for size in (job.height, job.width)
    )
    part = filtered(job, (rows[0], rows[1]), (columns[0], columns[1]))
    assert (part == filtered(job)[slice(*rows), slice(*columns)]).all()


@given(seed=SEEDS)
def test_a_pixel_of_a_list_is_that_of_the_whole_also_at_the_edge_of_a_part(seed):
    random = np.random.default_rng(seed)
    job = random_list(random)
    part = Region(0, 0, int(random.integers(1, job.width + 1)), 1, feather=2)
    for each in (job, replace(job, region=part)):
        y, x = (int(random.integers(size)) for size in (job.height, job.width))
        np.testing.assert_array_equal(value_at(each, y, x)[0, 0], filtered(each)[y, x])


@pytest.mark.parametrize(
    "implementation", ["parallel", "opencv", pytest.param("sequential", marks=pytest.mark.nightly)]
)
@given(seed=SEEDS)
def test_what_is_right_is_called_right_and_what_is_off_by_twice_the_bound_wrong(
    implementation, seed
):
    random = np.random.default_rng(seed)
    job, engine = random_list(random, implementation), Engine(use_gpu=False)
    result = engine.run(job, EVERY_PIXEL)
    tolerances = engine.tolerance(result)
    assert all(each.check.ok for each in result.steps)
    limits, exact = limits_of(job, tolerances), by_scipy(job)
    if not np.isfinite(limits.bound):
        assert "not checked" in str(result.check)
        return
    assert result.check.ok
    assert result.check.is_full
    assert not judged(job, result.picture, exact, limits)[2].any()
    wrong, at = result.picture.copy(), tuple(map(random.integers, exact.shape))
    is_integer = wrong.dtype.kind == "u"
    rounding = limits.levels + 2 if is_integer else 2 * float(np.spacing(np.abs(wrong[at])))
    off = (2 * limits.bound + rounding) * (-1 if exact[at] > 100 else 1)
    wrong[at] = to_pixel_type(exact[at] + off, wrong.dtype)
    if not is_integer or 0 < wrong[at] < np.iinfo(wrong.dtype).max:
        *_, check = checking(job, wrong, tolerances, None)
        assert check.wrong == (wrong[at] != result.picture[at])


def one(weights, offset=0.0, **fields):
    return Step(Correlation(np.full((1, 1), weights, np.float32), offset), **fields)


ROUNDED_ONCE = (Tolerance(1), Tolerance(1))


def test_errors_grow_by_the_gains_of_the_steps_behind_them():
    picture = np.full((2, 2, 1), 100, np.float32)
    for last, gain in ((one(3), 3), (one(-3, mix=0.25), 1.5)):
        alone = carried_bound(Job(picture, (one(2),)), (Tolerance(1000),))
        both = carried_bound(Job(picture, (one(2), last)), (Tolerance(1000), Tolerance(0)))
        assert both == pytest.approx(gain * alone, rel=1e-2)
    length = carried_bound(Job(picture, (one(2), one(1), LENGTH)), (Tolerance(1e6), Tolerance(0)))
    alone = carried_bound(Job(picture, (one(2),)), (Tolerance(1e6),))
    assert length == pytest.approx(8 * 2**0.5 * alone, rel=1e-2)


@pytest.mark.parametrize(
    ("pixel_type", "rounding"), [("uint8", 1.0), ("float16", 100 * 2.0**-10), ("float32", 0.0)]
)
def test_rounding_between_steps_may_be_off_by_a_step_of_the_type_and_no_more(pixel_type, rounding):
    job = Job(np.full((2, 2, 1), 100, pixel_type), (one(1), one(1)), is_rounded=True)
    assert carried_bound(job, ROUNDED_ONCE) == pytest.approx(rounding, abs=1e-3)
    large = Job(np.full((2, 2, 1), 60_000, "float16"), (one(1.2), one(0.1)), is_rounded=True)
    assert carried_bound(large, ROUNDED_ONCE) == np.inf  # one may be infinite, the other not


def test_where_a_step_overflows_nothing_can_be_said_whatever_follows():
    picture = np.full((2, 2, 1), 3e38, np.float32)
    for last in (one(0), one(1, mix=0.0), one(1e-30)):
        assert carried_bound(Job(picture, (one(2), last)), ROUNDED_ONCE) == np.inf


def a_long_list(ksize, size=600):
    step = Step(Correlation(random_weights(np.random.default_rng(1), ksize)))
    return Job(np.zeros((size, size, 3), np.uint8), (step,) * 8)


def test_the_tiles_of_a_list_cost_no_more_than_they_may_halos_and_all():
    for ksize, limit in ((3, LIVE_TAPS), (3, LIVE_TAPS // 4), (15, LIVE_TAPS), (31, 4 * LIVE_TAPS)):
        job, taps = a_long_list(ksize), 0
        tiles = list(plan_tiles(job, limit))
        for top, bottom, left, right in tiles:
            halos = (2 * each * (ksize // 2) for each in range(8))
            taps += (
                3
                * ksize**2
                * sum(
                    min(bottom - top + halo, 600) * min(right - left + halo, 600) for halo in halos
                )
            )
        assert tiles
        assert taps <= 8 * limit
    assert not list(plan_tiles(a_long_list(127), LIVE_TAPS))  # one would take minutes
    seen = np.zeros((600, 600), int)
    for top, bottom, left, right in plan_tiles(a_long_list(127), None):
        seen[top:bottom, left:right] += 1
    assert (seen == 1).all()
