"""The loops on every core: the plain loops' sums, safe to call from anywhere, and stopped early."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from kernels import Job
from kernels.core.borders import BORDERS, strip_of_rows
from kernels.core.nonlinear import Bilateral, Guided, Morphology, NonLocalMeans, Rank
from kernels.core.step import Step
from kernels.cpu import _jit_rows, parallel, plain_loops, sequential

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


WINDOWS = (
    Rank(5),
    Rank(5, 100.0, is_disk=True),
    Morphology(5, "closing"),
    Bilateral(5, 2.0, 30.0),
    NonLocalMeans(5, 3, 30.0),
    Guided(5, 100.0),
)


@pytest.mark.parametrize("chosen", WINDOWS, ids=str)
def test_where_tiles_and_strips_begin_does_not_show(chosen, monkeypatch):
    """To the bit, also beside a light, whose rounding errors a running sum would carry along."""
    picture = RNG(5).random((90, 70, 3), np.float32)
    picture[20, 30] = 1e15
    job = Job(picture, (Step(chosen),), "mirror")
    whole, strip = filtered(parallel, job), strip_of_rows(40, 70, 90, job.reach, "mirror")
    part = replace(job, picture=strip.of(picture), strip=strip)
    assert filtered(parallel, part)[strip.own].tobytes() == whole[40:70].tobytes()
    monkeypatch.setattr(parallel, "TILE_HW", (9, 11))
    assert filtered(parallel, job).tobytes() == whole.tobytes()


@pytest.mark.parametrize("implementation", [sequential, parallel])
@pytest.mark.parametrize("chosen", WINDOWS, ids=str)
def test_nothing_of_them_is_compiled_while_it_is_timed_and_all_is_told(implementation, chosen):
    job = Job(RNG(6).random((30, 20, 4), np.float32), (Step(chosen),), "crop")
    prepared = implementation.prepare(job)
    loops = [getattr(plain_loops, name) for name in ("_rank", "_bilateral", "_non_local_means")]
    before = [len(plain_loops._compiled(each).signatures) for each in loops]
    shares = list(prepared.filtering(np.empty_like(job.picture)))
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert [len(plain_loops._compiled(each).signatures) for each in loops] == before


def compiled():
    return len(_jit_rows.sum_rows.signatures), len(_jit_rows.length_rows.signatures)
