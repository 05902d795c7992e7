"""The checker finds what is planted, forgives what float32 needs forgiven, and says what it saw."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels import filters
from kernels.core.job import Job
from kernels.core.verdict import LIVE_TAPS, Tolerance
from kernels.oracle.checking import checking, error_bound, plan_tiles
from kernels.oracle.reference import correlate, filtered, to_pixel_type

HEIGHT, WIDTH = 90, 150  # more than one tile each way


def job_of(pixel_type="uint8", channels=3, key="gaussian", ksize=5, border="mirror"):
    random = np.random.default_rng(11)
    shape = (HEIGHT, WIDTH, channels)
    if pixel_type.startswith("float"):
        picture = random.standard_normal(shape).astype(pixel_type)
    else:
        picture = random.integers(0, 200, shape).astype(pixel_type)
    return Job.of(picture, filters.get(key).weights(ksize), border)


def right_answer(job):
    sums = correlate(job.picture, job.correlation.weights, job.border)
    return to_pixel_type(sums, job.picture.dtype)


def last(job, answer, max_taps=None):
    *_, found = checking(job, answer, Tolerance(job.ksize**2), max_taps=max_taps)
    return found


@pytest.mark.parametrize("pixel_type", ["uint8", "uint16", "float16", "float32"])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_the_right_answer_is_verified(pixel_type, channels):
    job = job_of(pixel_type, channels)
    found = last(job, right_answer(job))
    assert found.ok
    assert found.is_full
    assert (found.differing, found.wrong) == (0, 0)


@given(
    st.integers(0, HEIGHT - 1),
    st.integers(0, WIDTH - 1),
    st.integers(0, 2),
    st.sampled_from(["uint8", "uint16", "float32"]),
)
def test_one_planted_error_is_found_where_it_is(y, x, channel, pixel_type):
    job = job_of(pixel_type)
    answer = right_answer(job)
    answer[y, x, channel] += 3
    found = last(job, answer)
    assert not found.ok
    assert found.worst == (y, x, channel)
    assert (found.wrong, found.differing) == (1, 1)
    assert found.max_error == pytest.approx(3, abs=1e-5)


def test_one_off_is_wrong_unless_the_sum_lies_at_a_half():
    """The oracle says 2.5 for the first pixel, and 2.25 for the second."""
    weights = np.full((1, 1), 0.25, np.float32)
    job = Job.of(np.array([10, 9], np.uint8).reshape(1, 2, 1), weights)
    right = np.array([2, 2], np.uint8).reshape(1, 2, 1)
    either = np.array([3, 2], np.uint8).reshape(1, 2, 1)
    wrong = np.array([2, 3], np.uint8).reshape(1, 2, 1)
    assert last(job, right).ok
    assert last(job, either).ok
    assert last(job, either).differing == 1
    assert last(job, wrong).wrong == 1
    assert last(job, either + np.uint8(1)).wrong == 2


def test_floats_may_be_off_by_the_bound_and_no_more():
    job = job_of("float32")
    bound = error_bound(job, job.ksize**2, 1.0)
    exact = correlate(job.picture, job.correlation.weights, job.border)
    assert last(job, (exact + 0.9 * bound).astype(np.float32)).ok
    assert not last(job, (exact + 1.2 * bound).astype(np.float32)).ok


def test_the_bound_of_a_gradient_is_that_of_eight_sums_and_may_overflow():
    """√(8² + 8²) times as much, and eight roundings of its own."""
    picture, weights = np.full((2, 2, 1), -8, np.float32), filters.get("sharpen").weights(3)
    job = Job.of(picture, weights, gradient=True)
    assert error_bound(job, 9, 2.0) == pytest.approx(2 * (9 + 8) * 2**-24 * 9 * 8 * 128**0.5)
    picture = np.full((2, 2, 1), 1e38, np.float32)
    weights = np.ones((1, 1), np.float32)
    assert error_bound(Job.of(picture, weights), 1, 1.0) < np.inf
    assert error_bound(Job.of(picture, weights, gradient=True), 1, 1.0) == np.inf


@pytest.mark.parametrize("pixel_type", ["uint8", "uint16", "float16", "float32"])
@pytest.mark.parametrize("border", ["zero", "clamp", "reflect", "mirror", "wrap"])
def test_a_gradient_is_checked_across_tiles(pixel_type, border):
    job = job_of(pixel_type, border=border).but(gradient=True)
    answer = to_pixel_type(filtered(job), job.picture.dtype)
    assert last(job, answer).differing == 0
    answer[64, 64, 1] += 3
    assert last(job, answer).wrong == 1


def test_alpha_may_not_differ_by_one_bit_nor_a_nan_come_from_nowhere():
    job = job_of("float32", channels=4)
    answer = right_answer(job)
    answer[5, 5, 3] = np.nextafter(answer[5, 5, 3], np.float32(9))
    found = last(job, answer)
    assert found.wrong == 1
    job = job_of("float32")
    answer = right_answer(job)
    answer[70, 100, 0] = np.nan
    found = last(job, answer)
    assert found.worst == (70, 100, 0)
    assert not found.ok


@pytest.mark.parametrize(("steps", "is_right"), [(0, True), (1, False), (-1, False)])
def test_a_float16_has_to_be_the_nearest(steps, is_right):
    """1 + 2⁻¹² lies between 1 and the next float16, 1 + 2⁻¹⁰, and nearer to 1."""
    job = Job.of(np.ones((1, 1, 1), np.float16), np.full((1, 1), 1 + 2.0**-12, np.float32))
    answer = np.ones((1, 1, 1), np.float16)
    answer = (answer.view(np.int16) + np.int16(steps)).view(np.float16)
    assert last(job, answer).ok == is_right


def test_a_float16_may_be_either_of_two_as_near_and_is_infinite_where_too_large():
    job = Job.of(np.ones((1, 1, 1), np.float16), np.full((1, 1), 1 + 2.0**-11, np.float32))
    for value in (1, 1 + 2.0**-10):
        assert last(job, np.full((1, 1, 1), value, np.float16)).ok
    assert not last(job, np.full((1, 1, 1), 1 + 2.0**-9, np.float16)).ok
    job = Job.of(np.full((1, 1, 1), 60_000, np.float16), np.full((1, 1), 2, np.float32))
    assert last(job, np.full((1, 1, 1), np.inf, np.float16)).ok
    assert not last(job, np.full((1, 1, 1), 65_504, np.float16)).ok


@pytest.mark.parametrize("instead", [0.0, np.inf, -np.inf])
def test_a_nan_that_did_not_spread_is_found(instead):
    job = job_of("float32")
    picture = job.picture.copy()
    picture[20, 30, 1] = np.nan
    job = Job.of(picture, job.correlation.weights, job.border)
    answer = right_answer(job)
    assert last(job, answer).ok
    answer[20, 30, 1] = instead
    assert not last(job, answer).ok


@pytest.mark.parametrize("border", ["zero", "clamp", "reflect", "mirror", "wrap"])
def test_an_answer_with_another_border_is_found(border):
    job = job_of(border=border)
    other = Job.of(job.picture, job.correlation.weights, "zero" if border != "zero" else "clamp")
    assert not last(job, right_answer(other)).ok


def test_every_pixel_is_in_one_tile_and_with_a_low_limit_corners_and_edges_are():
    job = job_of()
    assert (coverage(job, None) == 1).all()
    seen = coverage(job_of(ksize=127), 1)
    for edge in (seen[0], seen[-1], seen[:, 0], seen[:, -1]):
        assert edge[0]
        assert edge[-1]
        assert edge[1:-1].any()
    assert seen[10:-10, 10:-10].any()


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_with_a_limit_all_edges_and_corners_are_checked(share):
    job = job_of()
    taps = job.ksize**2 * job.channels * HEIGHT * WIDTH
    seen = coverage(job, int(share * taps))
    assert seen.max() == 1
    for edge in (seen[0], seen[-1], seen[:, 0], seen[:, -1]):
        assert (edge == 1).all()
    assert seen[5:-5, 5:-5].any()
    assert not seen.all()


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_the_seams_between_gpus_are_checked_as_edges_are(share):
    job = replace(job_of(), devices=3)
    taps = job.ksize**2 * job.channels * HEIGHT * WIDTH
    seen = coverage(job, int(share * taps))
    assert seen.max() == 1
    assert not seen.all()
    for part in job.parts:
        for edge in (seen[part.first], seen[part.end - 1]):
            assert (edge == 1).all()
    some = coverage(job, 1)
    for part in job.parts:
        assert some[part.first, (0, -1)].all()
        assert some[part.end - 1, (0, -1)].all()


@pytest.mark.parametrize("shape", [(1, 3_000_000, 3), (3_000_000, 1, 1), (3, 1_000_000, 1)])
def test_a_long_thin_picture_costs_no_more_and_its_ends_are_checked(shape):
    picture = np.broadcast_to(np.zeros(1, np.uint8), shape)
    job = job_of(ksize=31)
    object.__setattr__(job, "picture", picture)  # only its shape counts here
    tiles = list(plan_tiles(job, LIVE_TAPS))
    pixels = sum((bottom - top) * (right - left) for top, bottom, left, right in tiles)
    assert pixels * job.ksize**2 * job.channels <= 1.2 * LIVE_TAPS
    assert any(top == 0 and left == 0 for top, _, left, _ in tiles)
    assert any(bottom == shape[0] and right == shape[1] for _, bottom, _, right in tiles)
    # A tile takes its time however few its pixels.
    for limit in (LIVE_TAPS // 100, LIVE_TAPS, None):
        assert sum(1 for _ in plan_tiles(job, limit)) < 1500


def test_an_integer_more_than_one_off_is_wrong_however_large_the_bound():
    """Sixteen bits under a wide filter: the bound alone would let anything pass."""
    drawn = job_of(ksize=31, pixel_type="uint16")
    job = Job.of(drawn.picture * np.uint16(300), drawn.correlation.weights)
    answer = right_answer(job)
    *_, right = checking(job, answer, Tolerance(31**2), None)
    *_, wrong = checking(job, answer - np.uint16(2), Tolerance(31**2), None)
    assert right.bound > 1
    assert right.ok
    assert wrong.wrong > wrong.total // 2


def test_sums_that_overflow_are_not_called_checked():
    picture = np.full((20, 20, 1), 3e38, np.float32)
    job = Job.of(picture, filters.get("laplacian").weights(3))
    *_, found = checking(job, np.zeros_like(picture), Tolerance(9), None)
    assert not found.ok
    assert "overflow" in str(found)


def coverage(job, max_taps):
    """(H, W): how many tiles hold each pixel."""
    seen = np.zeros((HEIGHT, WIDTH), int)
    for top, bottom, left, right in plan_tiles(job, max_taps):
        assert top < bottom
        assert left < right
        seen[top:bottom, left:right] += 1
    return seen


def test_a_librarys_own_rounding_is_allowed_and_said():
    job = job_of()
    answer = right_answer(job)
    answer[: HEIGHT // 2] += 1  # half of all samples, by a level
    own = Tolerance(job.ksize**2, levels=1, library="OpenCV")
    *_, found = checking(job, answer, own, None)
    assert found.ok
    assert found.own_rounding == ("OpenCV's own rounding: within 1 level, 50 % of samples differ")
    assert str(found) == f"verified, {found.own_rounding}, checked all pixels"
    answer[3, 5, 0] += 1
    *_, found = checking(job, answer, own, None)
    assert (found.ok, found.wrong, found.own_rounding) == (False, 1, "")


def test_without_it_a_level_is_wrong_and_floats_are_held_to_the_bound():
    job = job_of()
    answer = right_answer(job)
    answer[0, 0, 0] += 1
    assert last(job, answer).wrong == 1
    real = job_of("float32")
    off = right_answer(real)
    off[0, 0, 0] += 0.5
    *_, found = checking(real, off, Tolerance(25, levels=1, library="OpenCV"), None)
    assert found.wrong == 1
