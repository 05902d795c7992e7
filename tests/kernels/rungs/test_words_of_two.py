"""Two sums in a word: filters of the workbench, exactly, whatever the row's end and the border."""

from __future__ import annotations

import numpy as np
import pytest

from kernels import filters
from kernels.core.borders import BORDERS
from kernels.core.job import Job
from kernels.core.step import Correlation, Step
from kernels.cuda_on_cpu import compiler
from kernels.rungs import packed_sums as packed_sums_module
from kernels.rungs.packed_sums import packed_sums
from kernels.rungs.rung import ladder
from tests.kernels.on_cpu import Shim
from tests.kernels.runners import order_of, verdict
from tests.made_up import H200

(RUNG,) = (rung for rung in ladder() if rung.key == "words_of_two")
SCHARR = np.array([[-3, 0, 3], [-10, 0, 10], [-3, 0, 3]], np.float32)
NAMES = (
    "gaussian 3",
    "gaussian 5",
    "box 3",
    "box 5",
    "box 7",
    "box 9",
    "unsharp 3",
    "unsharp 5",
    "scharr",
)
NAMES += ("sobel_x 3", "sobel_y 3", "laplacian 3", "sharpen 3", "sharpen_strong 3", "emboss 3")
# Height, width: less than a chunk, chunks that the last shorter than a halo follows, several warps.
SIZES = ((1, 1), (3, 5), (45, 70), (40, 48), (33, 176), (9, 513))
# Each takes a compiler: by day half of the numbers of channels, of the next name the others; of
# both halves one number has an offset.
BY_TURNS = [
    pytest.param(name, channels, marks=pytest.mark.nightly if (place + turn) % 2 else ())
    for place, name in enumerate(NAMES)
    for turn, channels in enumerate(((1, 3), (2, 4)))
]


def weights_of(name):
    key, _, ksize = name.partition(" ")
    return SCHARR if key == "scharr" else filters.get(key).weights(int(ksize))


def job_of(weights, shape, border="clamp", offset=0.0, *, filters_alpha=False):
    random = np.random.default_rng(shape[1] + shape[2])
    picture = random.integers(0, 256, shape, dtype=np.uint8)
    picture[::3] = picture[::3] // 128 * 255
    steps = (Step(Correlation(weights, offset), "words_of_two"),)
    return Job(picture, steps, border, filters_alpha=filters_alpha)


@pytest.mark.skipif(compiler.why_not() is not None, reason=str(compiler.why_not()))
@pytest.mark.parametrize(("name", "of_channels"), BY_TURNS)
def test_filters_of_the_workbench_are_exact(name, of_channels, build_cache, monkeypatch):
    weights, number = weights_of(name), NAMES.index(name)
    if number % 2:  # as if these pictures were not small
        monkeypatch.setattr(packed_sums_module, "SMALL", 0)
    # With an offset every other number of channels, of the next name the others.
    jobs = [
        job_of(
            *(weights, (*size_hw, channels), BORDERS[(number + channels) % len(BORDERS)]),
            (number + channels) // 2 % 2 * (20.0 if channels == 2 else -3.0),
            filters_alpha=number % 4 < 2,
        )
        for channels in of_channels
        for size_hw in SIZES
    ]
    taken = [job for job in jobs if RUNG.why_not(job, H200) is None]
    assert len(taken) >= len(jobs) / 2  # those without an offset
    shim = Shim(RUNG, taken, build_cache)
    for job in taken:
        check = verdict(job, shim.run(job, order_of(job)))
        assert check.ok, (job, check)
        assert not check.differing, (job, check)  # among these none has ties that float32 moves


def sentence(weights, offset=0.0):
    return RUNG.why_not(job_of(np.array(weights, np.float32), (8, 8, 3), offset=offset), H200)


def test_what_does_not_fit_is_refused_in_a_sentence():
    binomial = np.array([1, 6, 15, 20, 15, 6, 1])
    assert "no whole numbers" in sentence(filters.get("gaussian").weights(7))
    assert "whole numbers over 4096" in sentence(np.outer(binomial, binomial) / 4096)
    assert "over 12" in sentence(np.outer([1, 1, 1], [1, 2, 1]) / 12)
    assert "17 bits" in sentence(np.full((3, 3), 20))
    assert "no column times a row" in sentence(np.eye(7))
    assert "for sizes from 3 to 9" in sentence(filters.get("box").weights(11))
    assert "over 288" in sentence(filters.get("box").weights(3), 1 / 32)
    assert sentence(filters.get("box").weights(3), 1.0) is None


def test_an_unsharp_mask_is_a_blur_taken_away_from_twice_the_sample():
    blur = packed_sums(job_of(filters.get("gaussian").weights(5), (8, 8, 1)))
    mask = packed_sums(job_of(filters.get("unsharp").weights(5), (8, 8, 1)))
    assert (mask.numbers, mask.centre, blur.centre) == (blur.numbers, 2, 0)
    assert (mask.start, mask.divisor, mask.saturates) == (127, 256, False)


def test_quotients_in_halves_round_as_the_true_ones_whatever_the_sum():
    """The rung's floats of 16 bits, for all sums of nine bytes as they are, less what was turned.

    A product of two and a third added are exact as float64, and so rounded once.
    """
    for divisor, most, turned, more in ((9, 9, 3, 85), (9, 9, 6, 170), (16, 16, 8, 127)):
        sums = np.arange(255 * most + 1)
        lacking = sums - 255 * turned + 8 * (divisor == 16)
        assert np.abs(lacking).max() <= 2048  # each a float of 16 bits
        factor = float(np.float16(2**19 / divisor))
        assert np.float16(factor).view(np.uint16) == (0x7B1C if divisor == 9 else 0x7800)
        found = (lacking * 2.0**-24 * factor + 32 + more / 32).astype(np.float16)
        quotient, left = np.divmod(sums, divisor)
        up = (2 * left > divisor) | ((2 * left == divisor) & (quotient % 2 == 1))
        assert np.array_equal(found.view(np.uint16), 0x5000 + quotient + up)


@pytest.mark.skipif(compiler.why_not() is not None, reason=str(compiler.why_not()))
@pytest.mark.parametrize("name", ["box 3", "gaussian 3"])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_sums_in_halves_are_exact(name, channels, build_cache, monkeypatch):
    if channels > 2:  # as if these pictures were not small
        monkeypatch.setattr(packed_sums_module, "SMALL", 0)
    jobs = [
        job_of(weights_of(name), (*size_hw, channels), border, filters_alpha=border == "zero")
        for border in ("clamp", "zero", "wrap")
        for size_hw in SIZES
    ]
    shim = Shim(RUNG, jobs, build_cache)
    for job in jobs:
        assert RUNG.defines(job)["IN_HALVES"] == "1"
        check = verdict(job, shim.run(job, order_of(job)))
        assert check.ok, (job, check)
        assert not check.differing, (job, check)


def test_no_other_sums_are_floats_of_16_bits():
    def is_one(weights, offset=0.0):
        return packed_sums(
            job_of(np.array(weights, np.float32), (8, 8, 3), offset=offset)
        ).in_halves

    assert is_one(weights_of("box 3"))
    assert is_one(weights_of("gaussian 3"))
    assert not any(map(is_one, map(weights_of, ("box 5", "gaussian 5", "sobel_x 3", "sharpen 3"))))
    assert not is_one(weights_of("box 3"), 1.0)
    assert not is_one(np.full((3, 3), 1 / 8))
