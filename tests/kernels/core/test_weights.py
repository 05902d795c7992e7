"""Separability and gain, told from weights alone."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels import filters
from kernels.core.borders import read
from kernels.core.job import Job
from kernels.core.verdict import Tolerance
from kernels.core.weights import UNIT_ROUNDOFF, gain, separate, terms_gain, whole_numbers
from kernels.oracle.checking import checking

SEPARABLE = ("identity", "gaussian", "box", "sobel_x", "sobel_y", "prewitt_x", "prewitt_y")
NOT_SEPARABLE = (
    *("sharpen", "sharpen_strong", "laplacian", "laplacian_diagonal"),
    *("emboss", "laplacian_of_gaussian", "unsharp"),
)


@pytest.mark.parametrize("key", SEPARABLE)
@pytest.mark.parametrize("ksize", [3, 7, 31, 127])
def test_these_filters_are_separable(key, ksize):
    chosen = filters.get(key)
    made = chosen.weights(chosen.nearest_size(ksize))
    factors = separate(made)
    assert factors is not None
    column, row = (factor.astype(np.float64) for factor in factors)
    off = np.abs(np.outer(column, row) - made).sum()
    assert off <= 5 * UNIT_ROUNDOFF * gain(made)


@pytest.mark.parametrize("key", NOT_SEPARABLE)
def test_these_filters_are_not(key):
    assert separate(filters.get(key).weights(3)) is None


@pytest.mark.parametrize("key", ["sobel_x", "prewitt_y", "gaussian"])
def test_factors_are_exact_where_the_weights_are(key):
    made = filters.get(key).weights(3)
    column, row = separate(made)
    np.testing.assert_array_equal(np.outer(column, row), made)


def test_one_weight_a_little_off_is_noticed():
    made = filters.get("gaussian").weights(7).copy()
    made[0, 0] *= 1.001
    assert separate(made) is None


@pytest.mark.parametrize(
    ("key", "total"), [("gaussian", 1), ("sharpen", 9), ("sobel_x", 8), ("laplacian_diagonal", 16)]
)
def test_gain_is_the_sum_of_magnitudes(key, total):
    assert gain(filters.get(key).weights(3)) == total


def test_terms_that_cancel_are_counted_whole():
    """A bit of noise on a large separable part: neither term is small against their difference."""
    column, row = np.array([1, -1, 1, -1, 1]), np.array([1, 1, 1, 1, 1])
    assert terms_gain(np.outer(column, row).astype(np.float32)) == 1.0
    circle = np.float32(np.add.outer(np.arange(-2, 3) ** 2, np.arange(-2, 3) ** 2) - 4)
    assert 1.0 < terms_gain(circle) < 5.0
    assert terms_gain(np.zeros((3, 3), np.float32)) == 1.0


WHOLE_FILTERS = [
    *(("gaussian", ksize, ksize_divisor) for ksize, ksize_divisor in ((1, 1), (3, 16), (5, 256))),
    *(("box", ksize, ksize**2) for ksize in (1, 3, 5, 7, 9, 11, 15, 31)),
    *(("unsharp", ksize, divisor) for ksize, divisor in ((3, 16), (5, 256))),
    *((key, 3, 1) for key in ("sobel_x", "sobel_y", "prewitt_x", "prewitt_y", "emboss", "sharpen")),
    *((key, 3, 1) for key in ("sharpen_strong", "laplacian", "laplacian_diagonal")),
]
SCHARR = np.array([[-3, 0, 3], [-10, 0, 10], [-3, 0, 3]], np.float32)


@pytest.mark.parametrize(("key", "ksize", "divisor"), WHOLE_FILTERS)
def test_these_filters_are_whole_numbers(key, ksize, divisor):
    weights = filters.get(key).weights(ksize)
    found = whole_numbers(weights)
    assert found is not None
    assert (found.divisor, found.offset) == (divisor, 0)
    np.testing.assert_array_equal((found.weights / divisor).astype(np.float32), weights)


@pytest.mark.parametrize("key", ["gaussian", "laplacian_of_gaussian"])
def test_a_sampled_bell_is_not(key):
    assert whole_numbers(filters.get(key).weights(7)) is None


def test_an_offset_has_a_part_in_the_divisor():
    found = whole_numbers(SCHARR, 127.5)
    assert found is not None
    assert (found.divisor, found.offset) == (2, 255)
    np.testing.assert_array_equal(found.weights, 2 * SCHARR)
    assert whole_numbers(SCHARR, 0.1234567) is None
    assert whole_numbers(np.zeros((3, 3), np.float32), -3.0).offset == -3


def the_check_takes(weights, offset=0.0):
    """Whether whole numbers' sums over samples at random, and those that lie between two integers,
    are answers that the check allows of two roundings, as a rung says that sums them."""
    whole = whole_numbers(weights, offset)
    random = np.random.default_rng(int(abs(weights).sum() * 1000) + len(weights))
    picture = random.integers(0, 256, (64, 48, 1), dtype=np.uint8)
    picture[::3] = picture[::3] // 128 * 255
    job = Job.of(picture, weights, offset=offset)
    around = read(
        picture, job.border, (-job.radius, 64 + job.radius), (-job.radius, 48 + job.radius)
    )
    windows = np.lib.stride_tricks.sliding_window_view(
        around[..., 0].astype(np.int64), weights.shape
    )
    sums = (windows * whole.weights).sum((-2, -1)) + whole.offset
    doubled, rest = divmod(2 * sums + whole.divisor, 2 * whole.divisor)
    rounded = doubled - ((rest == 0) & (doubled % 2 == 1))
    answer = rounded.clip(0, 255).astype(np.uint8)
    *_, check = checking(job, answer, Tolerance(2), max_taps=None)
    return check.ok


@pytest.mark.parametrize(("key", "ksize", "_divisor"), WHOLE_FILTERS)
def test_the_check_takes_sums_of_whole_numbers(key, ksize, _divisor):
    weights = filters.get(key).weights(ksize)
    assert the_check_takes(weights)
    assert the_check_takes(weights, 20.5)


@given(
    integers=st.lists(st.integers(-40, 40), min_size=9, max_size=9),
    divisor=st.integers(1, 1024),
    offset=st.integers(-300, 300),
)
def test_any_whole_numbers_are_found_again_and_the_check_takes_them(integers, divisor, offset):
    numbers = np.array([*integers, offset]) / divisor
    weights = numbers[:-1].reshape(3, 3).astype(np.float32)
    found = whole_numbers(weights, float(np.float32(numbers[-1])))
    assert found is not None
    assert found.divisor == divisor // math.gcd(divisor, *integers, offset)
    np.testing.assert_array_equal(
        found.weights.ravel() * divisor, np.array(integers) * found.divisor
    )
    assert the_check_takes(weights, float(np.float32(numbers[-1])))


@pytest.mark.parametrize("large", [1e20, 3e9, -1e38])
def test_numbers_beyond_integers_are_no_whole_numbers(large):
    weights = np.zeros((3, 3), np.float32)
    weights[0, 0], weights[2, 2] = large, large
    assert whole_numbers(weights) is None
