"""The oracle, and with it every implementation, agrees with what people know: OpenCV and SciPy."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage

from kernels.core.borders import BORDERS
from kernels.core.job import Job
from kernels.oracle.checking import error_bound
from kernels.oracle.reference import correlate, to_pixel_type
from tests.kernels.cases import random_picture, some_weights
from tests.kernels.core.test_borders import SCIPY

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
SEEDS = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("border", BORDERS)
@given(size=SIZES, ksize=KSIZES, seed=SEEDS)
def test_scipys_correlate_gives_the_oracles_sums(border, size, ksize, seed):
    job = some_job(size, 3, "float32", ksize, border, seed)
    planes = job.picture.astype(np.float64)
    expected = ndimage.correlate(
        planes, job.weights.astype(np.float64)[..., None], mode=SCIPY[border], cval=0.0
    )
    sums = correlate(job.picture, job.weights, border)
    np.testing.assert_allclose(sums, expected, rtol=1e-9, atol=1e-12 * np.abs(planes).max())


@pytest.mark.parametrize("border", OPENCV)
@given(size=SIZES, ksize=KSIZES, channels=st.sampled_from([1, 3]), seed=SEEDS)
def test_opencvs_filter2d_of_floats_is_the_oracle_within_float32(
    border, size, ksize, channels, seed
):
    job = some_job(size, channels, "float32", ksize, border, seed)
    filtered = cv2.filter2D(job.picture, cv2.CV_32F, job.weights, borderType=OPENCV[border])
    sums = correlate(job.picture, job.weights, border)
    off = np.abs(filtered.reshape(sums.shape) - sums).max()
    assert off <= error_bound(job, ksize**2, 2.0)


@pytest.mark.parametrize("border", OPENCV)
@pytest.mark.parametrize("pixel_type", ["uint8", "uint16"])
@given(size=SIZES, ksize=KSIZES, seed=SEEDS)
def test_opencvs_filter2d_of_integers_is_the_oracle_but_for_sums_at_a_half(
    border, pixel_type, size, ksize, seed
):
    job = some_job(size, 3, pixel_type, ksize, border, seed)
    filtered = cv2.filter2D(job.picture, -1, job.weights, borderType=OPENCV[border])
    sums = correlate(job.picture, job.weights, border)
    differs = filtered != to_pixel_type(sums, filtered.dtype)
    from_half = np.abs(sums - np.floor(sums) - 0.5)
    assert (from_half[differs] <= error_bound(job, ksize**2, 4.0)).all()


def some_job(size, channels, pixel_type, ksize, border, seed):
    random = np.random.default_rng(seed)
    picture = random_picture(random, (*size, channels), pixel_type)
    return Job(picture, some_weights(random, ksize), border)
