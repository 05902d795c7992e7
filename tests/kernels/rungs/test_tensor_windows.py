"""Windows as operands: whole numbers of every size, exactly, whatever the row's end and the border."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kernels import filters
from kernels.core.borders import BORDERS
from kernels.core.job import Job
from kernels.core.step import Correlation, Step
from kernels.core.weights import whole_numbers
from kernels.cuda_on_cpu import compiler
from kernels.oracle.reference import filtered
from kernels.rungs import whole_bands
from kernels.rungs.rung import ladder
from tests.kernels.on_cpu import Shim
from tests.kernels.runners import order_of, verdict
from tests.made_up import H200

(RUNG,) = (rung for rung in ladder() if rung.key == "tensor_windows")
# Height, width: less than a piece, an end shorter than a halo, two strips, the last with one pixel.
SIZES = ((1, 1), (3, 5), (45, 70), (9, 257), (5, 769), (21, 193))


def job_of(weights, shape, border="clamp", offset=0.0, *, filters_alpha=False):
    random = np.random.default_rng(shape[1] + shape[2])
    picture = random.integers(0, 256, shape, dtype=np.uint8)
    picture[::3] = picture[::3] // 128 * 255
    steps = (Step(Correlation(np.array(weights, np.float32), offset), "tensor_windows"),)
    return Job(picture, steps, border, filters_alpha=filters_alpha)


def whole(ksize, channels, divisor=None):
    random = np.random.default_rng(ksize * 8 + channels)
    integers = random.integers(-31, 64, (ksize, ksize))
    integers[0, :2] = -128, 127
    return integers / (divisor or random.choice((1, 121, 256, 512, 48)))


def exactly(job):
    """The whole numbers' sums over the divisor, in integers, rounded half to even; alpha copied."""
    found = whole_numbers(job.correlation.weights, job.correlation.offset)
    assert found is not None
    numbers = Correlation(found.weights.astype(np.float32), float(found.offset))
    sums = np.rint(filtered(job.but(filter=numbers))).astype(np.int64)
    quotient, rest = np.divmod(sums, found.divisor)
    up = (2 * rest > found.divisor) | ((2 * rest == found.divisor) & (quotient % 2 == 1))
    answer = (quotient + up).clip(0, 255).astype(np.uint8)
    if job.has_alpha:
        answer[..., -1] = job.picture[..., -1]
    return answer


@pytest.mark.skipif(compiler.why_not() is not None, reason=str(compiler.why_not()))
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("ksize", [3, 5, 7, 9, 11])
def test_sums_of_whole_numbers_are_exact(ksize, channels, build_cache):
    number, weights = ksize + channels, whole(ksize, channels)
    jobs = [
        job_of(
            *(weights, (*size_hw, channels), BORDERS[(number + turn) % len(BORDERS)], offset),
            filters_alpha=bool(number % 3),
        )
        for turn, offset in ((0, 0.0), (3, 20.0))
        for size_hw in SIZES
    ]
    taken = [job for job in jobs if RUNG.why_not(job, H200) is None]
    assert bool(taken) == (ksize // 2 * channels <= 16)
    shim = Shim(RUNG, taken, build_cache)
    for job in taken:
        answer = shim.run(job, order_of(job))
        assert np.array_equal(answer, exactly(job)), job
        assert verdict(job, answer).ok, job
