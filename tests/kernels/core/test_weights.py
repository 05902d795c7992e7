"""Separability and gain, told from weights alone."""

import numpy as np
import pytest

from kernels import filters
from kernels.core.weights import UNIT_ROUNDOFF, gain, separate, terms_gain

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
