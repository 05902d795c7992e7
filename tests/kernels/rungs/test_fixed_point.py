"""Weights as integers: fixed point and bands of bytes."""

import numpy as np
import pytest

from kernels import filters
from kernels.core.job import Job
from kernels.core.weights import UNIT_ROUNDOFF, gain
from kernels.oracle.checking import error_bound
from kernels.rungs import digit_bands as module
from kernels.rungs.digit_bands import (
    MAX_DIGITS,
    fixed_point,
    largest_of,
    lost,
    may_lose,
)
from kernels.rungs.rung import ladder

SIZES = (1, 3, 5, 7, 9, 15)
KINDS = {
    "of both signs": lambda random, shape: random.uniform(-1, 1, shape),
    "mostly positive": lambda random, shape: random.uniform(-1, 2, shape),
    "positive": lambda random, shape: random.uniform(0, 1, shape),
    "normal": lambda random, shape: random.standard_normal(shape),
}


def weights_of(kind, ksize, scale=1.0):
    drawn = KINDS[kind](np.random.default_rng(ksize), (ksize, ksize))
    return (drawn * scale).astype(np.float32)


def check(weights):
    """What holds of any weights; returns what became of them."""
    made = fixed_point(weights)
    exact = weights.astype(np.float64)
    assert np.float32(made.undo) == made.undo
    assert 1 <= made.digits <= MAX_DIGITS
    assert np.abs(made.integers).max() <= largest_of(made.digits, made.signed)
    assert made.signed or made.integers.min() >= 0
    assert lost(exact, made.integers * made.undo) <= may_lose(weights)
    return made


@pytest.mark.parametrize("scale", [1e-20, 3e30])
@pytest.mark.parametrize("ksize", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_integers_times_undo_are_the_weights(kind, ksize, scale):
    made = check(weights_of(kind, ksize, scale))
    assert made.signed == (weights_of(kind, ksize).min() < 0)


@pytest.mark.parametrize("name", ["box", "sharpen", "emboss", "laplacian"])
def test_weights_that_are_multiples_of_one_number_need_one_digit_and_stay_exact(name):
    weights = filters.get(name).weights(3)
    made = check(weights)
    assert made.digits == 1
    np.testing.assert_allclose(made.integers * made.undo, weights, rtol=UNIT_ROUNDOFF)


def test_lost_is_what_the_worst_picture_brings_to_light():
    random = np.random.default_rng(4)
    exact = random.uniform(-1, 1, (5, 5))
    rounded = np.round(exact, 2)
    pictures = random.integers(0, 2, (20000, 25))
    found = np.abs(pictures @ (rounded - exact).ravel()).max()
    assert 0.6 * lost(exact, rounded) < found <= lost(exact, rounded)
    errors = rounded - exact
    worst = max(errors[errors > 0].sum(), -errors[errors < 0].sum())
    assert lost(exact, rounded) == pytest.approx(worst)


@pytest.mark.parametrize("ksize", SIZES)
def test_what_may_be_lost_leaves_eight_roundings_to_the_sums(ksize):
    """Of what the rung's header says that its answers may be off by."""
    rung = next(each for each in ladder() if each.weights == "fixed_point")
    weights = weights_of("of both signs", ksize)
    job = Job.of(np.full((1, 1, 1), 255, np.uint8), weights, "clamp", rung.key)
    tolerance = rung.tolerance(job)
    bound = error_bound(job, tolerance.chain, tolerance.factor)
    left = bound - 255 * may_lose(weights)
    assert left == pytest.approx(8 * UNIT_ROUNDOFF * gain(weights) * 255, rel=1e-6)


@pytest.mark.parametrize("value", [0, 0.75])
def test_the_scales_that_are_tried_at_once_do_not_change_which_is_taken(monkeypatch, value):
    """With zeros all scales lose nothing, with equal weights many do: the first is taken."""
    several = [np.full((9, 9), value, np.float32), weights_of("of both signs", 9)]
    made = [fixed_point(weights) for weights in several]
    monkeypatch.setattr(module, "SLICE", 1 << 30)
    for each, weights in zip(made, several, strict=True):
        at_once = fixed_point.__wrapped__(weights)
        assert (each.digits, each.undo) == (at_once.digits, at_once.undo)
        np.testing.assert_array_equal(each.integers, at_once.integers)
