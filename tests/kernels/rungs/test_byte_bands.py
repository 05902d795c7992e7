"""Weights as the lanes of a warp hold them: every tap once in each sum, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from kernels.core.job import Job
from kernels.rungs.byte_bands import bands_along
from kernels.rungs.operands import operands_of


def job_of(ksize, channels):
    return Job(np.zeros((1, 1, channels), np.uint8), np.ones((ksize, ksize), np.float32))


def halves(words):
    """Two numbers for each word, the one in its low bits first."""
    return np.stack((words & 0xFFFF, words >> 16), -1).astype(np.uint16).view(np.float16)


def span_of(ksize, channels):
    return 1 + (ksize // 2 * channels + 7) // 8


def taps_of(words, blocks):
    """Of each of 16 sums the weights that are not zero, sorted; `words` are of so many blocks."""
    both = halves(words.reshape(blocks, 2, 32, 4)).astype(np.float64).sum(1)  # (block, lane, i, 2)
    lane, i = np.arange(32)[:, None], np.arange(4)
    sums = np.broadcast_to(2 * (lane // 4) + i % 2, both.shape[:3])
    return [np.sort(each[each != 0]) for each in (both[sums == n].ravel() for n in range(16))]


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("ksize", [1, 3, 7, 31, 127])
def test_each_of_16_sums_has_every_tap_along_x_once(ksize, channels):
    job = job_of(ksize, channels)
    row = np.random.default_rng(ksize).uniform(1, 2**15, ksize).astype(np.float32)
    words, span = bands_along(row.astype(np.float64), job), span_of(ksize, channels)
    steps = (span + 1) // 2
    assert len(words) == 256 * span + (channels > 1) * (256 + 32) * steps
    found = taps_of(words[: 256 * span], span)
    if channels > 1:
        found += taps_of(words[256 * span :][: 256 * steps], steps)
    colour = 16 if not job.has_alpha else 0
    for n, taps in enumerate(found):
        if job.has_alpha and n % channels == channels - 1:
            np.testing.assert_array_equal(taps, 1.0)
            assert len(taps) == 1
            continue
        np.testing.assert_allclose(taps, np.sort(row), rtol=2**-21)
        colour += 1
    assert colour


@pytest.mark.parametrize("channels", [2, 3, 4])
def test_of_four_numbers_two_different_ones_are_kept_in_their_order(channels):
    words = bands_along(np.ones(9), job_of(9, channels))
    span = span_of(9, channels)
    places = words[256 * span + 256 * ((span + 1) // 2) :]
    for i in range(8):
        first, second = places >> 4 * i & 3, places >> 4 * i + 2 & 3
        assert (first < second).all()


@pytest.mark.parametrize("scale", [1e-20, 1e-6, 1, 1e6, 1e20])
def test_columns_and_rows_are_the_weights_times_a_power_of_two(scale):
    column, row = np.random.default_rng(2).uniform(-1, 1, (2, 7)).astype(np.float32)
    weights = (np.outer(column, row) * scale).astype(np.float32)
    job = Job(np.zeros((1, 1, 1), np.uint8), weights)
    plain, scaled = operands_of("separable", job), operands_of("byte_band", job)
    largest = max(np.abs(taps).max() for taps in taps_of(scaled.arguments[0], span_of(7, 1)))
    assert 2**14 <= largest < 2**15
    times = 2 ** np.round(np.log2(largest / np.abs(plain.constants["ROW"]).max()))
    np.testing.assert_array_equal(
        scaled.constants["COLUMN"], plain.constants["COLUMN"] * np.float32(2**24 / times)
    )
