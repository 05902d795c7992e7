"""Weights as 8-bit digits along x and halves down: every tap once, and precise enough."""

import numpy as np
import pytest

from kernels.core.job import Job
from kernels.core.weights import separable_terms
from kernels.rungs.digit_bands import (
    SUM_BITS,
    bands_down,
    digit_bands,
    largest_of,
    row_may_lose,
    row_of,
)
from kernels.rungs.rung import ladder
from tests.compilers import needs_compiler
from tests.kernels.on_cpu import Shim
from tests.kernels.runners import verdict
from tests.made_up import H200

RUNGS = {rung.key: rung for rung in ladder()}


def weights_of(ksize, lowest=0.1, seed=None):
    column, row = np.random.default_rng(seed or ksize).uniform(lowest, 1, (2, ksize))
    return np.outer(column, row).astype(np.float32)


def halves(words):
    """Two numbers for each word, the one in its low bits first."""
    return np.stack((words & 0xFFFF, words >> 16), -1).astype(np.uint16).view(np.float16)


def of_three_digits(ksize):
    every = (weights_of(ksize, -1, seed) for seed in range(1, 99))
    return next(weights for weights in every if row_of(weights).digits == 3)


def job_of(weights, channels=1, picture=None):
    picture = np.zeros((1, 1, channels), np.uint8) if picture is None else picture
    return Job.of(picture, weights, "clamp", "tensor_tile_bytes")


def steps_of(ksize, channels):
    span = 1 + (ksize // 2 * channels + 7) // 8
    return -(-span // (4 if channels > 1 else 2))


def integers_of(words, row, steps):
    """What lanes hold, all digits together: (step, lane, register, byte)."""
    held = words[: steps * row.digits * 128].reshape(steps, row.digits, 32, 4, 1)
    digits = (held >> 8 * np.arange(4) & 255).astype(np.int64)
    if row.signed:
        digits -= 256 * (digits > 127)
    return (digits << 8 * (row.digits - 1 - np.arange(row.digits)[:, None, None, None])).sum(1)


@pytest.mark.parametrize("lowest", [0.1, -1])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("ksize", [1, 3, 7, 31, 127])
def test_each_of_16_sums_has_every_tap_along_x_once(ksize, channels, lowest):
    words, row = digit_bands(job_of(weights_of(ksize, lowest), channels))
    held = integers_of(words, row, steps_of(ksize, channels))
    lane, i = np.arange(32)[:, None], np.arange(4)
    sums = np.broadcast_to((2 * (lane // 4) + i % 2)[..., None], held.shape)
    wanted = np.sort(row.integers[row.integers != 0])
    for n in range(16):
        taps = held[(sums == n) & (held != 0)]
        np.testing.assert_array_equal(np.sort(taps), wanted)


@pytest.mark.parametrize("channels", [2, 3, 4])
def test_of_four_samples_two_different_ones_are_kept_in_their_order(channels):
    words, row = digit_bands(job_of(weights_of(31), channels))
    steps = steps_of(31, channels)
    places = words[steps * row.digits * 128 :][: steps * 32]
    for i in range(8):
        first, second = places >> 4 * i & 3, places >> 4 * i + 2 & 3
        assert (first < second).all()


@pytest.mark.parametrize("ksize", [1, 3, 9, 31, 127])
def test_each_of_eight_rows_has_every_tap_down_a_column_once(ksize):
    column = np.random.default_rng(ksize).uniform(1, 2**15, ksize).astype(np.float32)
    groups = 1 + (ksize + 6) // 8
    low, small, high = bands_down(column.astype(np.float64)).reshape(3, groups, 32, 2)
    both = halves(low).astype(np.float64) + halves(high)
    for found, times, loss in ((both, 1, 2**-21), (halves(small).astype(np.float64), 256, 2**-10)):
        np.testing.assert_array_equal(found[:, :, 1], np.roll(found[:, :, 0], -1, 0))
        for n in range(8):
            taps = times * found[:, 4 * n : 4 * n + 4, 0]
            np.testing.assert_allclose(np.sort(taps[taps != 0]), np.sort(column), rtol=loss)


@pytest.mark.parametrize("lowest", [0.0, -0.1, -1])
@pytest.mark.parametrize("ksize", [1, 3, 5, 7, 9, 15, 31, 63, 127])
def test_sums_lose_no_more_than_they_may_and_have_no_more_bits_than_there_are(ksize, lowest):
    for seed in range(1, 4):
        weights = weights_of(ksize, lowest, seed)
        row = row_of(weights)
        assert row.loses(separable_terms(weights)[0][1].astype(np.float64)) <= row_may_lose(ksize)
        assert np.abs(row.integers).max() <= largest_of(row.digits, row.signed)
        above, below = (
            255 * np.clip(row.integers, *limits).sum() / row.last_digit
            for limits in ((0, None), (None, 0))
        )
        assert 0 <= row.begin + below < 1
        assert (row.begin + above) * 2.0**row.shift < 2**SUM_BITS


@needs_compiler
@pytest.mark.parametrize("scale", [1e-30, 1e-3, 300, 1e30])
def test_weights_of_any_size_and_sign_are_filtered(build_cache, scale):
    rung = RUNGS["tensor_tile_bytes"]
    picture = np.random.default_rng(1).integers(0, 256, (9, 20, 1), np.uint8)
    taps = np.outer([1, -2, 1], [1, 0, -0.3]).astype(np.float32)
    job = job_of(taps * np.float32(scale), picture=picture)
    assert rung.why_not(job, H200) is None
    assert verdict(job, Shim(rung, [job], build_cache).run(job)).ok


@needs_compiler
@pytest.mark.parametrize("ksize", [7, 31])
@pytest.mark.parametrize("channels", [1, 3])
def test_three_digits_are_filtered_and_wide_bands_of_interleaved_channels(
    build_cache, channels, ksize
):
    rung = RUNGS["tensor_tile_bytes"]
    picture = np.random.default_rng(1).integers(0, 256, (9, 40, channels), np.uint8)
    weights = of_three_digits(7) if ksize == 7 else weights_of(ksize, -1)
    job = job_of(weights, picture=picture)
    assert verdict(job, Shim(rung, [job], build_cache).run(job)).ok


@needs_compiler
@pytest.mark.parametrize(("ksize", "channels"), [(9, 4), (17, 3), (31, 1)])
def test_loops_that_are_written_out_for_positive_weights(build_cache, ksize, channels):
    picture = np.random.default_rng(1).integers(0, 256, (101, 40, channels), np.uint8)
    job = job_of(weights_of(ksize), picture=picture)
    assert verdict(job, Shim(RUNGS["tensor_tile_bytes"], [job], build_cache).run(job)).ok
