"""Windows as operands: whole numbers of every size exactly, others as two digits, whatever the row
and the border."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from kernels import filters
from kernels.core.borders import BORDERS
from kernels.core.job import Job
from kernels.core.step import Correlation, Step
from kernels.core.weights import whole_numbers
from kernels.cuda_on_cpu import compiler
from kernels.oracle.reference import filtered
from kernels.rungs import window_bands
from kernels.rungs.rung import ladder
from tests.kernels.on_cpu import POISON, Shim
from tests.kernels.runners import order_of, verdict
from tests.made_up import H200

(RUNG,) = (rung for rung in ladder() if rung.key == "tensor_windows")
# Height, width: less than a piece, an end shorter than a halo, two strips, the last with one pixel.
SIZES = ((1, 1), (3, 5), (45, 70), (9, 257), (5, 769), (21, 193))


def by_turns(*ksizes):
    """Every size and number of channels, of whose pairs half are left to `make full`, and a quarter
    to the night."""
    marks = [], [pytest.mark.full], [pytest.mark.nightly], [pytest.mark.full]
    pairs = product(ksizes, (1, 2, 3, 4))
    return [pytest.param(*each, marks=marks[(each[0] // 2 + each[1]) % 4]) for each in pairs]


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
@pytest.mark.parametrize(("ksize", "channels"), by_turns(3, 5, 7, 9, 11))
def test_sums_are_exact(ksize, channels, build_cache):
    number, weights = ksize + channels, whole(ksize, channels)
    jobs = [
        job_of(
            *(weights, (*size_hw, channels), BORDERS[(number + turn) % len(BORDERS)], offset),
            filters_alpha=bool(number % 3),
        )
        for turn, offset in ((0, 0.0), (3, 20.0))
        for size_hw in SIZES
    ]
    shim = Shim(RUNG, jobs, build_cache)
    for job in jobs:
        assert window_bands.digits_of(job) == (1 if ksize // 2 * channels <= 16 else 2)
        answer = shim.run(job, order_of(job))
        assert np.array_equal(answer, exactly(job)), job
        assert verdict(job, answer).ok, job


def hostile(ksize, channels):
    """Of one sign and of both; one that is as large as all others; with subnormals; and such that
    an even picture's sums lie by the halves."""
    random = np.random.default_rng(ksize * 8 + channels)
    yield random.uniform(0, 1, (ksize, ksize)) * 1.2 / ksize**2
    some = random.uniform(-1, 2, (ksize, ksize)) / ksize**2
    yield some
    huge = some.copy()
    huge[0, -1] = np.abs(some).sum()
    yield huge
    tiny = some.copy()
    tiny[1:] = 1e-40
    yield tiny
    yield np.abs(some) / np.abs(some).sum() * 127.5 / 128


@pytest.mark.skipif(compiler.why_not() is not None, reason=str(compiler.why_not()))
@pytest.mark.parametrize(("ksize", "channels"), by_turns(3, 5, 7, 9, 15))
def test_any_weights_are_two_digits_and_sums_as_close_as_the_check_asks(
    ksize, channels, build_cache
):
    jobs = [
        job_of(
            *(weights, (*size_hw, channels), BORDERS[(ksize + channels) % len(BORDERS)]),
            *(channels % 2 * 20.3,),
            filters_alpha=bool(ksize % 3),
        )
        for weights in hostile(ksize, channels)
        for size_hw in SIZES
    ]
    jobs += [job.but(picture=np.full_like(job.picture, 128)) for job in jobs[2 :: len(SIZES)]]
    taken = [job for job in jobs if RUNG.why_not(job, H200) is None]
    assert all(window_bands.digits_of(job) == 2 for job in taken)
    assert len(taken) >= len(jobs) * 3 / 5
    shim = Shim(RUNG, taken, build_cache)
    for job in taken:
        assert verdict(job, shim.run(job, order_of(job))).ok, job


@pytest.mark.skipif(compiler.why_not() is not None, reason=str(compiler.why_not()))
@pytest.mark.parametrize(("ksize", "channels"), [(5, 3), (7, 1)])
def test_so_are_those_of_long_strips_and_of_some_rows(ksize, channels, build_cache, monkeypatch):
    monkeypatch.setattr(window_bands, "MANY_SAMPLES", 0)
    weights = whole(ksize, channels, 100)
    jobs = [job_of(weights, (23, width, channels), "reflect") for width in (683, 2049)]
    shim = Shim(RUNG, jobs, build_cache)
    for job in jobs:
        assert RUNG.defines(job)["STRIP"] == "2048"
        assert np.array_equal(shim.run(job), exactly(job))
        some = shim.run(job, rows=(6, 17))
        assert np.array_equal(some[6:17], exactly(job)[6:17])
        assert (some[17:] == POISON).all()
        assert (some[:6] == POISON).all()


@pytest.mark.skipif(compiler.why_not() is not None, reason=str(compiler.why_not()))
@pytest.mark.parametrize(
    ("ksize", "channels"),
    [(7, 4), (9, 1), *(pytest.param(*e, marks=pytest.mark.nightly) for e in ((5, 3), (15, 3)))],
)
def test_two_digits_of_long_strips_and_of_some_rows(ksize, channels, build_cache, monkeypatch):
    monkeypatch.setattr(window_bands, "MANY_SAMPLES", 0)
    weights = next(hostile(ksize, channels))
    jobs = [job_of(weights, (61, width, channels), "mirror") for width in (400, 1030)]
    shim = Shim(RUNG, jobs, build_cache)
    for job in jobs:
        assert RUNG.defines(job)["STRIP"] == "1024"
        answer = shim.run(job)
        assert verdict(job, answer).ok, job
        some = shim.run(job, rows=(6, 49))
        assert np.array_equal(some[6:49], answer[6:49])
        assert (some[49:] == POISON).all()
        assert (some[:6] == POISON).all()


def test_quotients_round_as_the_true_ones_whatever_the_divisor():
    """The rung's float32 arithmetic, for divisors of each kind, around all integers and halves."""
    for divisor in (1, 2, 6, 14, 26, 49, 121, 1022, 4096, 8191, 10_001, 65_534, 65_536):
        whole_sums = np.arange(256 * 2) * divisor // 2
        sums = np.unique(np.clip(whole_sums[:, None] + np.arange(-2, 3), 0, 255 * divisor))
        by = np.float32(1 / divisor)
        rest = np.float32(1 / divisor - float(by))
        is_power = divisor & (divisor - 1) == 0
        value = sums.astype(np.float32)
        quotients = value * by
        if not is_power and (divisor % 2 == 0 or divisor > 8192):
            lost = (value * rest).astype(np.float64)  # a product of two float32 is exact in float64
            quotients = (value.astype(np.float64) * float(by) + lost).astype(np.float32)
        quotient, left = np.divmod(sums, divisor)
        up = (2 * left > divisor) | ((2 * left == divisor) & (quotient % 2 == 1))
        assert np.array_equal(np.rint(quotients), quotient + up), divisor


def sentence(weights, channels=3, card=H200, **how):
    return RUNG.why_not(job_of(weights, (8, 8, channels), **how), card)


def test_what_does_not_fit_is_refused_in_a_sentence():
    uneven = np.random.default_rng(3).uniform(0, 1e-4, (3, 3))
    uneven[1, 1] = 1
    assert "and these need three" in sentence(uneven)
    assert "sizes from 3 to 15" in sentence(np.ones((17, 17)), 1)
    assert "sizes from 3 to 15" in sentence(np.ones((1, 1)))
    assert sentence(filters.get("gaussian").weights(7)) is None
    assert sentence(np.full((3, 3), 128)) is None
    assert sentence(np.ones((11, 11)), 4) is None


def test_cards_before_and_after_the_one_that_it_is_for_are_refused():
    cards = [replace(H200, compute_capability=each) for each in ((8, 9), (10, 0), (12, 0))]
    said = [sentence(np.ones((5, 5)), card=card) for card in cards]
    assert all("only compute capability 9.0 has" in each for each in said)
    assert [each[-5:] for each in said] == [" 8.9.", "10.0.", "12.0."]
    assert RUNG.architecture == "sm_90a"


def test_a_compiler_that_takes_no_second_architecture_is_refused_with_what_to_install():
    older, newer, unknown = (replace(H200, nvrtc_version=each) for each in (12_080, 12_090, 0))
    said = sentence(np.ones((5, 5)), card=older)
    assert "sm_90a alone, which takes NVRTC 12.9; CuPy has 12.8 here" in said
    assert "nvidia-cuda-nvrtc-cu12>=12.9" in said
    assert sentence(np.ones((5, 5)), card=newer) is sentence(np.ones((5, 5)), card=unknown) is None
