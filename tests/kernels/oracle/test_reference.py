"""The float64 reference, by hand-worked sums and by other libraries."""

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage

from kernels.core.borders import BORDERS
from kernels.core.job import Job
from kernels.oracle.checking import error_bound
from kernels.oracle.reference import correlate, filtered, to_pixel_type
from tests.kernels.cases import random_picture, some_weights
from tests.kernels.core.test_borders import SCIPY

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


def test_weights_are_applied_as_drawn_not_flipped():
    assert correlated(COUNTING, only(3, 1, 2)) == [[2, 3, 0], [5, 6, 0], [8, 9, 0]]
    assert correlated(COUNTING, only(3, 0, 1)) == [[0, 0, 0], [1, 2, 3], [4, 5, 6]]


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


def test_nan_reaches_as_far_as_the_weights_also_where_they_are_zero():
    picture = np.zeros((1, 5, 1), np.float32)
    picture[0, 1] = np.nan
    assert np.isnan(correlate(picture, only(3, 1, 1), "zero")[0, :, 0]).tolist() == (
        [True, True, True, False, False]
    )


AS_IT_IS = np.ones((1, 1), np.float32)


def lengths(picture, weights=AS_IT_IS, border="clamp"):
    return gradient(picture, weights, border)[..., 0].tolist()


def test_a_gradient_counts_every_neighbour_as_sobel_does():
    """Of 1 to 9 at the centre: 3 + 2·6 + 9 - (1 + 2·4 + 7), 7 + 2·8 + 9 - (1 + 2·2 + 3)."""
    assert lengths(COUNTING)[1][1] == pytest.approx((8**2 + 24**2) ** 0.5, rel=1e-15)
    assert lengths(plane([0, 0, 0], [0, 7, 0], [0, 0, 0]))[1][1] == 0
    assert lengths(plane([7, 0, 0], [0, 0, 0], [0, 0, 0]))[1][1] == pytest.approx(7 * 2**0.5)
    assert lengths(plane([0, 0, 0], [0, 0, 7], [0, 0, 0]))[1][1] == 14


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


def test_it_is_the_weighted_picture_that_is_continued():
    """0 0 9 becomes 0 3 6 by means of three, and then 6 once more; of 0 0 9 9 it would be 9."""
    means = np.zeros((3, 3), np.float32)
    means[1] = 1
    assert lengths(plane([0, 0, 3]), means) == [[4 * 3, 4 * 6, 4 * 3]]


def test_the_weighted_picture_is_not_rounded():
    assert lengths(np.array([[[0], [1], [0]]], np.uint8), np.full((1, 1), 0.25, np.float32)) == [
        [1, 0, 1]
    ]


def test_alpha_has_no_gradient():
    picture = np.random.default_rng(1).integers(0, 255, (3, 4, 4), np.uint8)
    assert (gradient(picture, ONES, "wrap")[..., 3] == picture[..., 3]).all()


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


def test_a_weight_of_zero_makes_nan_of_an_infinity():
    picture = np.ones((7, 7, 1), np.float32)
    picture[3, 3] = np.inf
    identity = np.zeros((5, 5), np.float32)
    identity[2, 2] = 1
    made = correlate(picture, identity, "clamp")[..., 0]
    assert np.isnan(made[1:6, 1:6]).sum() == 24
    assert made[3, 3] == np.inf


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
