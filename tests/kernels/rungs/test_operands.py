"""Weights as halves for the tensor cores: nothing is lost that float32 would keep."""

from __future__ import annotations

import numpy as np
import pytest

from kernels.core.job import Job
from kernels.rungs.operands import band_words, operands_of


def halves(words):
    """The first of the two halves in each word."""
    return (words & 0xFFFF).astype(np.uint16).view(np.float16).astype(np.float64)


def weights_in(words, ksize):
    """(n, K): what high and low halves add up to."""
    before = 15 + -(ksize // 2) % 8
    high, low = halves(words[..., 0])
    return (high + low)[:, before : before + ksize]


@pytest.mark.parametrize("ksize", [1, 3, 15, 31, 127])
def test_a_word_holds_a_weight_and_the_next_and_those_8_further(ksize):
    weights = np.random.default_rng(1).uniform(-(2**15), 2**15, (2, ksize))
    words = band_words(weights)
    assert words.shape[-2] % 16 == 0
    np.testing.assert_allclose(weights_in(words, ksize), weights, rtol=0, atol=2**-8)
    np.testing.assert_array_equal(words[..., :-1, :] >> 16, words[..., 1:, :] & 0xFFFF)
    np.testing.assert_array_equal(words[:, :, :-8, 1], words[:, :, 8:, 0])


@pytest.mark.parametrize("scale", [1e-30, 1e-6, 1, 1e6, 1e30])
@pytest.mark.parametrize("form", ["bands", "thin_bands"])
def test_scaled_weights_times_undo_are_the_weights(form, scale):
    column, row = np.random.default_rng(2).uniform(-1, 1, (2, 7)).astype(np.float32)
    weights = (np.outer(column, row) * scale).astype(np.float32)
    operands = operands_of(form, Job(np.zeros((1, 1, 1), np.float32), weights))
    found = weights_in(operands.arguments[0], 7)
    undo = float(operands.constants["UNDO"][0])
    product = found if form == "bands" else np.outer(found[1], found[0])
    largest = np.abs(weights).max()
    assert np.isfinite(product).all()
    np.testing.assert_allclose(product * undo, weights, rtol=0, atol=largest * 2**-20)
