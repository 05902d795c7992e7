"""One sample explained: by hand, and against the oracle wherever it is asked."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.core.borders import BORDERS, OUTSIDE
from kernels.core.job import PIXEL_TYPES, Job
from kernels.core.nonlinear import KINDS, Bilateral, Guided, Morphology, NonLinear, NonLocalMeans
from kernels.core.step import Step
from kernels.oracle.explain import SOBEL_X, derivative, explain_pixel
from kernels.oracle.reference import filtered, to_pixel_type

PICTURE = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]], np.uint8)[..., None]
WEIGHTS = np.array([[0, 1, 0], [2, 0.5, -1], [0, 0, 3]], np.float32)


def job(border="clamp", picture=PICTURE, weights=WEIGHTS, gradient=False, offset=0.0):
    return Job.of(picture, weights, border, gradient=gradient, offset=offset)


def test_in_the_middle_no_border_is_at_work():
    found = explain_pixel(job(), 1, 1, 0)
    assert found.rows.tolist() == found.from_rows.tolist() == [0, 1, 2]
    assert found.samples.tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert found.products.tolist() == [[0, 2, 0], [8, 2.5, -6], [0, 0, 27]]
    assert found.total == found.value == 33.5
    assert found.rounded == 34  # half to even
    assert (found.beyond, found.is_alpha, found.slopes) == (0, False, None)


@pytest.mark.parametrize(
    ("border", "from_rows", "samples"),
    [
        ("zero", [OUTSIDE, 0, 1], [[0, 0, 0], [0, 1, 2], [0, 4, 5]]),
        ("clamp", [0, 0, 1], [[1, 1, 2], [1, 1, 2], [4, 4, 5]]),
        ("reflect", [0, 0, 1], [[1, 1, 2], [1, 1, 2], [4, 4, 5]]),
        ("mirror", [1, 0, 1], [[5, 4, 5], [2, 1, 2], [5, 4, 5]]),
        ("wrap", [2, 0, 1], [[9, 7, 8], [3, 1, 2], [6, 4, 5]]),
    ],
)
def test_at_a_corner_the_border_says_what_stands_in(border, from_rows, samples):
    found = explain_pixel(job(border), 0, 0, 0)
    assert found.rows.tolist() == found.columns.tolist() == [-1, 0, 1]
    assert found.from_rows.tolist() == found.from_columns.tolist() == from_rows
    assert found.samples.tolist() == samples
    assert found.beyond == 5
    assert found.total == (WEIGHTS * np.array(samples)).sum()


def test_alpha_passes_through_and_has_no_offset():
    picture = np.dstack((PICTURE, PICTURE + 100))
    found = explain_pixel(job(picture=picture), 1, 2, 1)
    assert (found.is_alpha, found.total, found.rounded) == (True, 106, 106)
    assert not explain_pixel(job(picture=picture), 1, 2, 0).is_alpha
    found = explain_pixel(job(offset=128.1), 1, 1, 0)
    assert (found.total, found.offset) == (33.5, float(np.float32(128.1)))
    assert found.value == found.total + found.offset
    assert found.rounded == 162
    alpha = explain_pixel(job(picture=picture, offset=128), 1, 2, 1)
    assert (alpha.total, alpha.offset, alpha.value) == (106, 0, 106)


def test_a_gradient_is_two_slopes_and_a_length():
    """Along x the picture rises by 1, along y by 3, and Sobel's weights sum to 8."""
    centre = np.zeros((3, 3), np.float32)
    centre[1, 1] = 1
    found = explain_pixel(job(weights=centre, gradient=True), 1, 1, 0)
    assert found.total == 5
    assert found.slopes.weighted.tolist() == PICTURE[..., 0].tolist()
    assert (found.slopes.gx, found.slopes.gy) == (8, 24)
    assert found.value == found.slopes.length == np.sqrt(640)
    for axis, weights, total in (("x", SOBEL_X, 8), ("y", SOBEL_X.T, 24)):
        part = derivative(job(weights=centre, gradient=True), found, axis)
        assert part.total == part.products.sum() == total
        assert np.array_equal(part.products, weights * found.slopes.weighted)
        assert part.rows.tolist() == [found.y - 1, found.y, found.y + 1]
    assert found.rounded == 25


def test_a_length_is_the_oracles_where_squares_are_hard_to_round():
    """A power of a single number is rounded otherwise than the squares of many, once in 4,000."""
    picture = (np.random.default_rng(615).random((3, 3, 1)) * 250).astype(np.float32)
    made = job(picture=picture, weights=np.array([[1]], np.float32) / 3, gradient=True)
    assert explain_pixel(made, 1, 1, 0).value == filtered(made)[1, 1, 0]


@st.composite
def jobs_and_places(draw):
    height, width = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    channels, ksize = draw(st.integers(1, 4)), draw(st.sampled_from((1, 3, 5, 15)))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    pixel_type = np.dtype(draw(st.sampled_from(PIXEL_TYPES)))
    picture = (random.random((height, width, channels)) * 250).astype(pixel_type)
    if pixel_type.kind == "f" and draw(st.booleans()):
        picture[0, 0, 0] = draw(st.sampled_from((np.nan, np.inf, -np.inf)))
    weights = random.standard_normal((ksize, ksize)).astype(np.float32)
    is_gradient = draw(st.booleans())
    offset = 0.0 if is_gradient else draw(st.sampled_from((0.0, 128.0, -0.1)))
    border = draw(st.sampled_from(BORDERS))
    made = Job.of(picture, weights, border, gradient=is_gradient, offset=offset)
    place = (
        draw(st.integers(0, height - 1)),
        draw(st.integers(0, width - 1)),
        draw(st.integers(0, channels - 1)),
    )
    return made, place


@given(jobs_and_places())
def test_the_answer_is_the_oracles_to_the_last_bit(drawn):
    made, (y, x, channel) = drawn
    found = explain_pixel(made, y, x, channel)
    oracle = filtered(made)[y, x, channel]
    np.testing.assert_array_equal(found.value, oracle)
    if np.isfinite(oracle) or made.picture.dtype.kind == "f":
        expected = to_pixel_type(np.array(oracle), made.picture.dtype)
        np.testing.assert_array_equal(found.rounded, expected)
    assert found.rounded.dtype == made.picture.dtype


@given(jobs_and_places())
def test_what_stands_in_is_on_the_picture_or_nothing(drawn):
    made, place = drawn
    found = explain_pixel(made, *place)
    for wanted, got, size in (
        (found.rows, found.from_rows, made.height),
        (found.columns, found.from_columns, made.width),
    ):
        inside = (wanted >= 0) & (wanted < size)
        assert (got[inside] == wanted[inside]).all()
        assert ((got >= 0) & (got < size) | (got == OUTSIDE)).all()
        assert made.border in ("zero", "crop") or (got != OUTSIDE).all()


def nonlinear(chosen: NonLinear, border="clamp", picture=PICTURE):
    return Job(picture, (Step(chosen),), border)


NONLINEAR = (
    *(Morphology(3, kind, is_disk) for kind in KINDS for is_disk in (False, True)),
    *(Bilateral(5, 1.5, 30.0), NonLocalMeans(5, 3, 40.0), Guided(3, 200.0)),
)


@given(jobs_and_places(), st.sampled_from(NONLINEAR))
def test_what_leads_to_the_answer_gives_the_oracles(drawn, chosen):
    made, (y, x, channel) = drawn
    picture = np.nan_to_num(made.picture, posinf=1, neginf=-1)
    job = nonlinear(chosen, made.border, picture)
    found = explain_pixel(job, y, x, channel)
    assert found.value == filtered(job, (y, y + 1), (x, x + 1))[0, 0, channel]
    if found.is_alpha:
        return
    told, own = found.figures, float(picture[y, x, channel])
    for each in found.extremes[:1]:
        assert each.y == OUTSIDE or picture[each.y, each.x, channel] == each.value
    match chosen:
        case Morphology(kind="opening" | "closing"):
            assert found.value == found.extremes[-1].value == found.products.sum()
        case Morphology(kind="gradient"):
            assert found.value == found.extremes[0].value - found.extremes[1].value
        case Morphology(kind="top_hat"):
            assert found.value == own - found.extremes[-1].value
        case Morphology():
            assert found.value == found.extremes[-1].value - own
        case Guided():
            assert told["mean"] == pytest.approx(found.products.sum())
            assert told["b"] == pytest.approx((1 - told["a"]) * told["mean"])
            assert found.value == pytest.approx(told["mean_a"] * own + told["mean_b"])
        case _:
            assert found.value == pytest.approx(told["weighted"] / told["weights"])
            assert found.weights[2, 2] == found.weights.max() == 1
            assert found.apart[2, 2] == 0
