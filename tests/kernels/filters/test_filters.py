"""Every filter's weights as they are written down, and what they refuse."""

import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels import filters
from kernels.core.errors import BadJobError
from kernels.core.nonlinear import Rank
from kernels.filters import custom, gaussian
from kernels.filters.gaussian import default_sigma

WRITTEN_DOWN = {
    "sharpen": [[0, -1, 0], [-1, 5, -1], [0, -1, 0]],
    "sharpen_strong": [[-1, -1, -1], [-1, 9, -1], [-1, -1, -1]],
    "sobel_x": [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]],
    "sobel_y": [[-1, -2, -1], [0, 0, 0], [1, 2, 1]],
    "prewitt_x": [[-1, 0, 1], [-1, 0, 1], [-1, 0, 1]],
    "prewitt_y": [[-1, -1, -1], [0, 0, 0], [1, 1, 1]],
    "laplacian": [[0, 1, 0], [1, -4, 1], [0, 1, 0]],
    "laplacian_diagonal": [[1, 1, 1], [1, -8, 1], [1, 1, 1]],
    "gradient": [[0, 0, 0], [0, 1, 0], [0, 0, 0]],
    "emboss": [[-2, -1, 0], [-1, 1, 1], [0, 1, 2]],
}
ANY_SIZE = ("identity", "gaussian", "box", "unsharp", "edges", "custom")
EVERY = filters.all_filters()
odd = st.integers(0, 63).map(lambda half: 2 * half + 1)


def weights(key, ksize, **parameters):
    return filters.get(key).weights(ksize, **parameters)


@pytest.mark.parametrize("key", WRITTEN_DOWN)
def test_small_filters_are_what_is_written_down(key):
    np.testing.assert_array_equal(weights(key, 3), WRITTEN_DOWN[key])


@pytest.mark.parametrize("key", ANY_SIZE)
@pytest.mark.parametrize("ksize", [-1, 0, 2, 4, 128, 129])
def test_even_and_impossible_sizes_are_refused_in_words(key, ksize):
    with pytest.raises(BadJobError, match=f"no size {ksize}; it takes odd sizes from 1 to 127"):
        weights(key, ksize)


@pytest.mark.parametrize("each", [e for e in EVERY if e.has_weights], ids=lambda each: each.key)
def test_weights_are_read_only_float32_of_the_size_asked_for(each):
    for ksize in each.sizes:
        made = each.weights(ksize)
        assert made.shape == (ksize, ksize)
        assert made.dtype == np.float32
        assert made.flags.c_contiguous
        assert not made.flags.writeable
        assert np.isfinite(made).all()


@pytest.mark.parametrize("each", [e for e in EVERY if not e.has_weights], ids=lambda e: e.key)
def test_an_order_statistic_has_a_size_and_no_weights(each):
    for ksize in each.sizes:
        assert each.of_size(ksize, offset=3.0) == each.of_size(ksize)
        assert getattr(each.of_size(ksize, is_disk=True), "is_disk", True)
        assert each.of_size(ksize).ksize == ksize
    with pytest.raises(BadJobError, match="has no weights"):
        each.weights(3)
    with pytest.raises(BadJobError, match="no size 4"):
        each.of_size(4)


def test_order_statistics_are_those_of_their_percentiles():
    made = {e.key: e.of_size(5) for e in EVERY if not e.has_weights}
    assert {k: e.percentile for k, e in made.items() if isinstance(e, Rank)} == {
        "median": 50,
        "percentile": 25,
        "minimum": 0,
        "maximum": 100,
    }
    assert filters.get("percentile").of_size(5, percentile=90.0) == Rank(5, 90.0)
    with pytest.raises(BadJobError, match="ercentile"):
        filters.get("percentile").of_size(5, percentile=101.0)


def test_gaussian_3_and_5_are_binomial():
    np.testing.assert_array_equal(weights("gaussian", 3) * 16, [[1, 2, 1], [2, 4, 2], [1, 2, 1]])
    row = np.array([1, 4, 6, 4, 1])
    np.testing.assert_array_equal(weights("gaussian", 5) * 256, np.outer(row, row))


@pytest.mark.parametrize("ksize", [7, 9, 31, 127])
def test_other_gaussians_are_sampled_with_the_usual_sigma(ksize):
    sigma = 0.3 * ((ksize - 1) / 2 - 1) + 0.8
    assert default_sigma(ksize) == pytest.approx(sigma)
    distance = np.arange(ksize) - ksize // 2
    bell = np.exp(-(distance[:, None] ** 2 + distance**2) / (2 * sigma**2))
    np.testing.assert_allclose(weights("gaussian", ksize), bell / bell.sum(), rtol=2e-7)


@given(odd, st.floats(0.1, 64))
def test_blurs_sum_to_one(ksize, sigma):
    for key in ("gaussian", "box", "unsharp"):
        assert weights(key, ksize, sigma=sigma).sum(dtype=np.float64) == pytest.approx(1, abs=1e-5)


@given(odd.filter(lambda ksize: ksize >= 3), st.floats(0.1, 64))
def test_laplacian_of_gaussian_sums_to_zero_around_a_negative_centre(ksize, sigma):
    made = weights("laplacian_of_gaussian", ksize, sigma=sigma).astype(np.float64)
    assert abs(made.sum()) <= 1e-6 * np.abs(made).sum()
    assert made[ksize // 2, ksize // 2] == made.min() < 0
    np.testing.assert_array_equal(made, made.T)


@pytest.mark.parametrize("amount", [0.0, 0.5, 1.0, 10.0])
def test_unsharp_is_identity_and_what_the_blur_takes_away(amount):
    blur = weights("gaussian", 5).astype(np.float64)
    expected = (1 + amount) * weights("identity", 5) - amount * blur
    np.testing.assert_allclose(weights("unsharp", 5, amount=amount), expected, atol=1e-6)


@pytest.mark.parametrize("sigma", [0.0, -1.0, 0.09, 64.1, float("nan"), float("inf")])
@pytest.mark.parametrize("key", ["gaussian", "unsharp", "edges", "laplacian_of_gaussian"])
def test_a_sigma_out_of_range_is_refused_in_words(key, sigma):
    with pytest.raises(BadJobError, match=r"sigma must be from 0\.1 to 64"):
        weights(key, 5, sigma=sigma)


def test_an_unknown_filter_is_named_with_those_there_are():
    with pytest.raises(BadJobError, match="no filter 'xyz'; choose from identity, gaussian"):
        filters.get("xyz")
    with pytest.raises(BadJobError, match="'blur'; did you mean gaussian or box"):
        filters.get("blur")
    with pytest.raises(BadJobError, match="'contour'; did you mean edges or morph"):
        filters.get("contour")
    with pytest.raises(BadJobError, match="'negative'; nearest: custom"):
        filters.get("negative")


def test_everyday_words_are_of_filters_there_are():
    told = tomllib.loads(Path(filters.__file__).with_name("words.toml").read_text("utf-8"))
    assert told.pop("absent").keys() == {"phrases"}
    assert told.keys() <= {each.key for each in filters.all_filters()}
    assert all(each.keys() <= {"words", "near"} for each in told.values())


@pytest.mark.parametrize(("ksize", "nearest"), [(1, 3), (2, 3), (50, 49), (200, 127)])
def test_the_nearest_size(ksize, nearest):
    assert filters.get("laplacian_of_gaussian").nearest_size(ksize) == nearest
    assert filters.get("sobel_x").nearest_size(ksize) == 3


@pytest.mark.parametrize(
    ("matrix", "sentence"),
    [
        (((1.0,),), "are 1×1, not 3×3"),
        (((1.0, 2.0), (3.0, 4.0), (5.0, 6.0)), "as many columns as rows"),
        (((1.0,) * 3, (1.0,) * 3, (1.0, 2.0, float("nan"))), "finite"),
        (((1.0,) * 3, (1.0,) * 3, (1.0, 2.0, 1e39)), "finite"),
    ],
)
def test_custom_weights_that_do_not_fit_are_refused(matrix, sentence):
    with pytest.raises(BadJobError, match=sentence):
        weights("custom", 3, matrix=matrix)


@pytest.mark.parametrize(
    "text", ["1 2 3\n4 5 6\n7 8 9", "1,2,3;4,5,6;7,8,9", " 1, 2\t3 ;\n4 5 6;\n\n7 8 9\n"]
)
def test_custom_weights_are_read_from_text(text):
    assert custom.parse(text) == ((1, 2, 3), (4, 5, 6), (7, 8, 9))
    assert custom.parse("0") == ((0,),)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "Write rows of numbers"),
        ("1 2; 3 4", "odd size from 1 to 127, not 2"),
        ("1 2 3; 4 5 6", "square"),
        ("1 2; 3", "square"),
        ("1 x 3", "'x' is not a number"),
        ("1/0", "'1/0' is not a number"),
        ("1//2", "is not a number"),
        ("nan", "finite"),
        ("1e39", "finite"),
    ],
)
def test_text_that_is_no_square_of_numbers_is_refused(text, sentence):
    with pytest.raises(BadJobError, match=sentence):
        custom.parse(text)


@pytest.mark.parametrize("ksize", [1, 3, 5, 7, 9, 11, 13, 15, 31, 63, 127])
def test_automatic_sigma_is_that_of_opencv_but_at_the_sizes_of_its_tables(ksize):
    cv2 = pytest.importorskip("cv2")
    theirs, ours = cv2.getGaussianKernel(ksize, 0).ravel(), gaussian.taps(ksize)
    apart = np.abs(theirs - ours).max()
    if ksize in (7, 9):
        assert apart > 1e-3 or ksize == 9  # older versions have no table for it
        given = cv2.getGaussianKernel(ksize, gaussian.automatic_sigma(ksize)).ravel()
        np.testing.assert_allclose(given, ours, atol=1e-7)
    else:
        assert apart < 1e-7
