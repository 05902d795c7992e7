"""The loops on every core: the plain loops' sums, safe to call from anywhere, and stopped early."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from kernels import Job
from kernels.core.borders import BORDERS
from kernels.cpu import _jit_rows, parallel, sequential

RNG = np.random.default_rng


def filtered(implementation, job):
    out = np.zeros_like(job.picture)
    for _ in implementation.prepare(job).filtering(out):
        pass
    return out


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("shape", [(40, 37, 3), (1, 9, 1), (3, 700, 4), (17, 2, 2)])
def test_integers_are_those_of_the_plain_loops(border, shape):
    """Dyadic weights: every sum is exact in whatever order, so not a sample may differ."""
    picture = RNG(1).integers(0, 256, shape, np.uint8)
    weights = RNG(2).integers(-8, 9, (5, 5)).astype(np.float32) / 64
    job = Job.of(picture, weights, border, offset=7.5)
    assert np.array_equal(filtered(parallel, job), filtered(sequential, job))


def test_several_threads_may_filter_at_once():
    """numba's pool ends the program where two threads enter it together."""
    picture = RNG(3).integers(0, 256, (300, 400, 3), np.uint8)
    job = Job.of(picture, np.full((9, 9), 1 / 81, np.float32))
    expected = filtered(parallel, job)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: filtered(parallel, job), range(24)))
    assert all(np.array_equal(answer, expected) for answer in answers)


@pytest.mark.parametrize("writeable", [True, False])
@pytest.mark.parametrize("gradient", [True, False])
@pytest.mark.parametrize("pixel_type", ["uint8", "float16", "float32"])
def test_nothing_is_compiled_while_it_is_timed(writeable, gradient, pixel_type):
    """Also for a picture of the window, which may not be written to and stays as it is."""
    picture = RNG(4).integers(0, 256, (12, 13, 3)).astype(pixel_type)
    picture.flags.writeable = writeable
    job = Job.of(picture, np.ones((1, 1), np.float32), gradient=gradient)
    prepared = parallel.prepare(job)
    before = compiled()
    for _ in prepared.filtering(np.empty_like(picture)):
        pass
    assert compiled() == before
    assert picture.flags.writeable == writeable


def compiled():
    return len(_jit_rows.sum_rows.signatures), len(_jit_rows.length_rows.signatures)
