"""What the FFT rungs are given: sizes that cover a picture, and a spectrum that correlates."""

import numpy as np
import pytest

from kernels.core.borders import read
from kernels.core.job import Job
from kernels.cuda.nvrtc import compiler_for
from kernels.cuda_on_cpu import compiler
from kernels.oracle.checking import checking
from kernels.oracle.reference import correlate
from kernels.rungs.headers import Facts
from kernels.rungs.operands import SIDES, fft_side, roots, spectrum, tiles_of
from kernels.rungs.rung import ladder
from tests.kernels.on_cpu import Shim
from tests.kernels.rungs.compiled import compile_rung

RUNGS = {rung.key: rung for rung in ladder()}


@pytest.mark.parametrize(("height", "width"), [(1, 1), (63, 300), (257, 90), (1, 5000)])
@pytest.mark.parametrize("ksize", [1, 5, 31, 127])
def test_tiles_cover_the_picture_and_none_is_idle(height, width, ksize):
    side = fft_side(width, height, ksize // 2)
    valid = side**2 - 2 * (ksize // 2)
    pairs, tiles = tiles_of(width, height, ksize // 2, side)
    assert side in SIDES
    assert valid > 0
    assert 2 * valid * (pairs - 1) < width <= 2 * valid * pairs
    assert valid * (tiles - 1) < height <= valid * tiles


def test_a_product_of_spectra_is_the_correlation():
    random = np.random.default_rng(1)
    picture = random.random((64 - 4, 64 - 4, 1), np.float32)
    job = Job.of(picture, random.random((5, 5), np.float32), "mirror")
    tile = read(job.picture, job.border, (-2, 62), (-2, 62))[..., 0]
    answer = np.fft.ifft2(np.fft.fft2(tile) * spectrum(job.correlation.weights, 64))
    assert np.abs(answer.imag).max() < 1e-5
    expected = correlate(job.picture, job.correlation.weights, job.border)[..., 0]
    np.testing.assert_allclose(answer.real[:60, :60], expected, rtol=1e-5)


@pytest.mark.parametrize("side", SIDES)
def test_two_steps_with_roots_between_them_are_a_transform(side):
    """As 26_fft_registers.cu has it: over j, times roots, over l."""
    line = np.random.default_rng(3).random(side**2)
    over_j = np.fft.fft(line.reshape(side, side), axis=0)  # k, l
    over_l = np.fft.fft(over_j * roots(side), axis=1)  # k, m
    np.testing.assert_allclose(over_l.T.ravel(), np.fft.fft(line) / side, rtol=1e-4, atol=1e-5)


def a_large_job(key: str) -> Job:
    """One that takes the longest transform there is, of nearly the smallest pictures that do."""
    random = np.random.default_rng(4)
    weights = random.uniform(-1, 2, (127, 127)) / 127**2
    picture = random.random((660, 540, 1), np.float32)
    return Job.of(picture, weights.astype(np.float32), "reflect", key)


@pytest.mark.nightly
@pytest.mark.skipif(compiler.why_not() is not None, reason=str(compiler.why_not()))
@pytest.mark.parametrize("key", ["fft", "fft_registers"])
def test_the_longest_transform_is_right(key, build_cache):
    """Pictures and weights of other tests are too small for it."""
    job, rung = a_large_job(key), RUNGS[key]
    assert Facts(job)["FFT_SIDE"] == SIDES[-1]
    answer = Shim(rung, [job], build_cache).run(job)
    *_, check = checking(job, answer, rung.tolerance(job), max_taps=100_000_000)
    assert check.ok, str(check)


@pytest.mark.parametrize("architecture", [75, 80, 86, 89, 90, 120])
def test_the_longest_transform_keeps_in_registers(architecture):
    if compiler_for(architecture) is None:
        pytest.skip(f"no NVRTC that compiles for sm_{architecture} is installed")
    made = compile_rung(RUNGS["fft_registers"], a_large_job("fft_registers"), architecture)
    assert {each.spill_bytes for each in made.resources} == {0}
