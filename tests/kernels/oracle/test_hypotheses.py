"""What a wrong answer is: each mistake is planted in one, and told; a right one or noise is not."""

from dataclasses import replace

import numpy as np
import pytest

from kernels.core.borders import BORDERS
from kernels.core.job import Job
from kernels.core.nonlinear import Bilateral, Morphology, Rank
from kernels.core.step import Step
from kernels.core.verdict import Tolerance
from kernels.oracle.checking import checking
from kernels.oracle.reference import filtered, to_pixel_type

TOLERANCE = Tolerance(chain=25)
HEIGHT, WIDTH = 70, 90
RANDOM = np.random.default_rng(7)


def picture_of(dtype="uint8", channels=3, size=(HEIGHT, WIDTH)):
    white = np.iinfo(dtype).max if np.dtype(dtype).kind == "u" else 1
    return (RANDOM.uniform(0, 1, (*size, channels)) * white).astype(dtype)


def job_of(dtype="uint8", channels=3, *, weights=None, chosen=None, **others):
    if chosen is not None:
        return Job(picture_of(dtype, channels), (Step(chosen),), "clamp", **others)
    drawn = RANDOM.uniform(-1, 1.5, (5, 5))
    drawn *= 2 / np.abs(drawn).sum()  # sums leave the range of the type
    given = drawn if weights is None else weights
    return Job.of(picture_of(dtype, channels), given.astype(np.float32), "clamp", **others)


def answer_of(job, **changes):
    job = job.but(**changes)
    return to_pixel_type(filtered(job), job.picture.dtype)


def why(job, answer, max_taps=None):
    *_, check = checking(job, answer, TOLERANCE, max_taps)
    assert check.wrong or not check.why
    return check.why


def turned(change):
    def made(job):
        weights = change(job.correlation.weights.astype(np.float64))
        return answer_of(job, weights=np.ascontiguousarray(weights, np.float32))

    return made


def put(where, value):
    def made(job):
        answer = answer_of(job)
        answer[where] = value(answer) if callable(value) else value
        return answer

    return made


def next_samples(job):
    flat = job.but(picture=job.picture.reshape(HEIGHT, -1, 1))
    return answer_of(flat).reshape(job.picture.shape)


def around(job):
    noise, answer = picture_of(job.pixel_type), answer_of(job)
    noise[2:-2, 2:-2] = answer[2:-2, 2:-2]
    return noise


PLANTED = {
    "weights are transposed": turned(lambda each: each.T),
    "both ways, as in a convolution": turned(lambda each: each[::-1, ::-1]),
    "from left to right": turned(lambda each: each[:, ::-1]),
    "upside down": turned(lambda each: each[::-1]),
    "rotated by 90°": turned(np.rot90),
    "divided by their sum": turned(lambda each: each / each.sum()),
    "sum of their magnitudes": turned(lambda each: each / np.abs(each).sum()),
    "number of weights": turned(lambda each: each / each.size),
    "last row and column": turned(lambda each: np.pad(each[:-1, :-1], ((0, 1), (0, 1)))),
    "outermost weights": turned(lambda each: np.pad(each[1:-1, 1:-1], 1)),
    "offset is left out": lambda job: answer_of(job, offset=0.0),
    "unchanged": lambda job: job.picture,
    "Right, but shifted down": lambda job: np.roll(answer_of(job), 1, 0),
    "shifted up": lambda job: np.roll(answer_of(job), -1, 0),
    "shifted left": lambda job: np.roll(answer_of(job), -1, 1),
    "shifted right": lambda job: np.roll(answer_of(job), 1, 1),
    "shifted up and right": lambda job: np.roll(answer_of(job), (-1, 1), (0, 1)),
    "every colour is green": lambda job: answer_of(job)[..., [1, 1, 1]],
    "red and blue": lambda job: answer_of(job)[..., [2, 1, 0]],
    "It takes the next samples": next_samples,
    "border is zero": lambda job: answer_of(job, border="zero"),
    "border is reflect": lambda job: answer_of(job, border="reflect"),
    "border is mirror": lambda job: answer_of(job, border="mirror"),
    "border is wrap": lambda job: answer_of(job, border="wrap"),
    "within 2 pixels of the edges": around,
    "in the last 6 rows, the last row of blocks": put(np.s_[64:], lambda it: it[:6]),
    "in the last column": put(np.s_[:, -1], lambda it: it[:, 9]),
    "in green": put(np.s_[..., 1], lambda it: it[..., 0]),
    "in the last 3 rows, where it is 0": put(np.s_[-3:], 0),
    "in the first 8 rows, the first row of blocks": put(np.s_[:8], lambda it: it[8:16]),
    "in the last 5 columns, the last column of blocks": put(np.s_[:, 85:], lambda it: it[:, :5]),
    "It is 0 everywhere.": put(np.s_[:], 0),
    "where it is 0": put(np.s_[20:50, 30:60], 0),
}


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
@pytest.mark.parametrize(("words", "made"), PLANTED.items(), ids=list(PLANTED))
def test_a_mistake_is_told(words, made, dtype):
    job = job_of(dtype, offset=0.1 if dtype == "float32" else 9.0)
    assert words in why(job, made(job)), why(job, made(job))


STORED = {
    "cut off": lambda found: np.floor(found.clip(0, 255)),
    "not saturated": lambda found: np.rint(found).astype(int) % 256,
    "neither rounded nor saturated": lambda found: np.trunc(found).astype(int) % 256,
}


@pytest.mark.parametrize(("words", "store"), STORED.items(), ids=list(STORED))
def test_how_samples_are_stored_is_told(words, store):
    job = job_of(offset=120.0)
    assert words in why(job, store(filtered(job)).astype(np.uint8))


CLAMPED = {
    "negative ones became 0": (1, lambda found: found.clip(0)),
    "clamped to 0..1": (9, lambda found: found.clip(0, 1)),
    "clamped to 0..255": (2000, lambda found: found.clip(0, 255)),
    "whole numbers": (255, lambda found: np.rint(found).clip(0, 255)),
}


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize(("words", "white", "store"), [(w, *of) for w, of in CLAMPED.items()])
def test_floats_that_are_clamped_as_if_they_were_integers_are_told(words, white, store, dtype):
    drawn = RANDOM.uniform(-0.2, 0.2, (5, 5))
    job = job_of(dtype, weights=drawn - drawn.mean())
    job = job.but(picture=job.picture * np.array(white, dtype))
    assert words in why(job, store(filtered(job)).astype(dtype))


def test_weights_that_are_not_divided_are_told_and_tiny_ones_are_no_trouble():
    job = job_of("uint16", weights=np.full((3, 3), 1 / 9))
    job = job.but(picture=job.picture // 16)
    answer = answer_of(job, weights=np.ones((3, 3), np.float32))
    assert "not divided by 9" in why(job, answer)
    weights = np.full((3, 3), 1 / 9)
    weights[0, 0] = 1e-44  # over which the others are infinite as float32
    job = job_of(weights=weights)
    turned_over = np.ascontiguousarray(job.correlation.weights[::-1])
    assert "border is zero" in why(job, answer_of(job, border="zero"))
    assert "weights" in why(job, answer_of(job, weights=turned_over))


def test_alpha_that_is_filtered_is_told():
    job = job_of(channels=4)
    answer = answer_of(job)
    answer[..., -1:] = answer_of(job, picture=np.ascontiguousarray(job.picture[..., -1:]))
    assert why(job, answer) == "Right, but alpha is filtered as well."


NONLINEAR = [
    (Rank(5, 0.0), {"percentile": 100.0}, "maximum"),
    (Rank(5), {"percentile": 0.0}, "minimum"),
    (Rank(5), {"is_disk": True}, "disk"),
    (Rank(5), {"percentile": 54.0}, "next greater sample"),
    (Rank(3, 100.0), {"percentile": 88.0}, "next smaller sample"),
    (Rank(5), {"ksize": 7}, "size is 7"),
    (Morphology(3, "opening"), {"kind": "closing"}, "closing"),
    (Morphology(3, "top_hat"), {"kind": "black_hat"}, "black-hat"),
    (Bilateral(5, 1.0, 60.0), {"ksize": 3}, "size is 3"),
    (Bilateral(5, 1.0, 60.0), {"sigma_colour": 1e9}, "distance alone"),
    (Bilateral(5, 1.0, 60.0), {"sigma_space": 1e9}, "colour alone"),
]


@pytest.mark.parametrize(("chosen", "changes", "words"), NONLINEAR)
def test_another_filter_is_told(chosen, changes, words):
    job = job_of(chosen=chosen)
    assert words in why(job, answer_of(job, filter=replace(chosen, **changes)))
    assert "border is wrap" in why(job, answer_of(job, border="wrap"))
    assert why(job, answer_of(job)) == why(job, picture_of()) == ""


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize(("dtype", "channels"), [("uint8", 1), ("float16", 2), ("float32", 4)])
def test_of_a_right_answer_or_noise_nothing_is_said(dtype, channels, border):
    job = job_of(dtype, channels).but(border=border)
    noise = picture_of(dtype, channels)
    black_or_white = np.where(noise > noise.mean(), noise.max(), noise.min())
    for answer in (answer_of(job), noise, black_or_white, np.full_like(noise, 200)):
        assert not why(job, answer).startswith("Right")
    assert why(job, answer_of(job)) == why(job, noise) == ""


def test_of_two_that_fit_nothing_is_said():
    ahead = np.zeros((3, 3))
    ahead[1, 2] = 1  # of which flipped weights, and a shift by two, are the same
    both = np.zeros((3, 3))
    both[1, 1] = 1
    job = job_of(weights=ahead)
    answer = answer_of(job, weights=both.astype(np.float32))  # unchanged, and shifted by one
    assert why(job, answer) == ""


def test_of_a_large_picture_parts_are_compared(monkeypatch):
    job = job_of().but(picture=np.tile(picture_of(size=(300, 400)), (4, 4, 1)))
    answer = answer_of(job, border="mirror")
    asked = []
    monkeypatch.setattr(
        "kernels.oracle.hypotheses.filtered",
        lambda job, rows, columns: asked.append((rows, columns)) or filtered(job, rows, columns),
    )
    assert why(job, answer, max_taps=10_000_000) == "Right if the border is mirror."
    assert max(end - top for (top, end), _ in asked) <= 64


@pytest.mark.parametrize("is_broken", [False, True])
def test_what_fits_is_held_all_over_a_large_picture(is_broken):
    picture = np.random.default_rng(0).integers(0, 256, (512, 768, 3), np.uint8)
    job = Job.of(picture, np.full((5, 5), 1 / 25, np.float32))
    output = to_pixel_type(filtered(job.but(border="zero")), picture.dtype)
    if is_broken:
        output[100:200] = 0
    *_, check = checking(job, output, Tolerance(chain=25), None)
    assert check.why == ("" if is_broken else "Right if the border is zero.")
