"""One body for every implementation: on the host, on the shim and, where there is one, on a GPU."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels import filters
from kernels.borders import BORDERS
from kernels.engine import Engine
from kernels.errors import CannotRunError
from kernels.job import Job
from kernels.reference import correlate, to_pixel_type
from tests.cuda_on_cpu.shim import Shim
from tests.kernels import runners as r
from tests.kernels.cases import (
    LEVELS,
    Case,
    cases_of,
    knob_groups,
    pairwise_cases,
    random_picture,
    random_weights,
)

REFUSES_NAN = ("opencv",)
everywhere = pytest.mark.parametrize("name", r.NAMES)


def agree(name: str, run: r.Run, case: Case) -> None:
    """The body: what `run` makes of the case is what the oracle says, in every sample."""
    job = case.job(r.key_of(name))
    check = r.verdict(job, run(job))
    assert check.ok, f"{case}: {check}"


@everywhere
@pytest.mark.parametrize("case", pairwise_cases(), ids=str)
def test_every_implementation_says_what_the_oracle_says(name, case, runners):
    agree(name, runners(name), case)


@pytest.mark.full
@pytest.mark.parametrize("group", list(knob_groups()), ids=lambda group: "-".join(map(str, group)))
@pytest.mark.parametrize("name", r.ON_HOST + r.ON_GPU)
def test_the_full_product_says_what_the_oracle_says(name, group, runners):
    """For a machine with a GPU and many cores; a group's programs are compiled by one process."""
    run = runners(name)
    for case in cases_of(*group):
        if name in r.ON_GPU or case.block_xy == LEVELS["block_xy"][0]:
            agree(name, run, case)


@everywhere
def test_halves_are_rounded_to_even(name, runners):
    assert halves_differ(r.key_of(name), runners(name)) == 0


def halves_differ(key: str, run: r.Run) -> int:
    """How many samples are not exactly the oracle's, of some that often lie between two integers.

    Binomial sums are exact in float32, so there is no excuse.
    """
    differing = 0
    for pixel_type, ksize in product(("uint8", "uint16"), (3, 5)):
        picture = np.random.default_rng(ksize).integers(0, 256, (40, 40, 3), pixel_type)
        job = Job(picture, filters.get("gaussian").weights(ksize), "mirror", key)
        sums = correlate(job.picture, job.weights, job.border)
        assert (sums - np.floor(sums) == 0.5).any()
        differing += int((run(job) != to_pixel_type(sums, picture.dtype)).sum())
    return differing


@pytest.mark.parametrize("name", r.ON_SHIM)
def test_a_launch_writes_its_rows_and_no_others(name, runners, build_cache):
    """Long pictures, and those on a GPU with a display, are launched in strips."""
    case = next(case for case in pairwise_cases() if case.size_hw == (64, 64) and case.ksize > 1)
    job = case.job(r.key_of(name))
    whole = runners(name)(job)
    strip = Shim(r.RUNGS[r.key_of(name)], [job], build_cache).run(job, rows=(13, 37))
    nothing = r.poisoned_like(job.picture)
    np.testing.assert_array_equal(strip[13:37], whole[13:37])
    np.testing.assert_array_equal(strip[:13], nothing[:13])
    np.testing.assert_array_equal(strip[37:], nothing[37:])


@everywhere
@pytest.mark.parametrize("border", BORDERS)
def test_nan_and_infinity_spread_as_in_the_oracle_or_are_refused(name, border, runners):
    random = np.random.default_rng(7)
    picture = random.standard_normal((37, 41, 3)).astype(np.float32)
    picture[5, 6, 0], picture[20, 30, 1], picture[20, 32, 1] = np.nan, np.inf, -np.inf
    picture[0, 0, 2], picture[36, 40, 2] = np.inf, np.nan
    for weights in (random_weights(random, 5), filters.get("laplacian").weights(3)):
        job = Job(picture, weights, border, r.key_of(name))
        if name in REFUSES_NAN:
            with pytest.raises(CannotRunError, match="NaN"):
                runners(name)(job)
            continue
        check = r.verdict(job, runners(name)(job))
        assert check.ok, str(check)


@everywhere
def test_one_job_leaves_nothing_behind_for_the_next(name, runners):
    """Above all no weights: two jobs that share a program take turns."""
    run, random = runners(name), np.random.default_rng(3)
    case = next(each for each in pairwise_cases() if each.ksize == 5)
    job = case.job(r.key_of(name))
    other = replace(job, weights=random_weights(random, 5))
    for each in (job, other, job, other):
        check = r.verdict(each, run(each))
        assert check.ok, str(check)


@pytest.mark.parametrize("name", r.ON_GPU)
def test_two_engines_in_one_process_keep_their_own_weights(name, runners):
    """CuPy gives both the same module, and so the same constant memory."""
    first, second = runners(name), r.on_gpu(r.key_of(name), Engine())
    job = pairwise_cases()[0].job(r.key_of(name))
    other = replace(job, weights=random_weights(np.random.default_rng(4), job.ksize))
    for run, each in ((first, job), (second, other), (first, job)):
        check = r.verdict(each, run(each))
        assert check.ok, str(check)


@everywhere
@given(data=st.data())
def test_any_picture_of_any_size_is_right(name, runners, data):
    """Knobs come from the pairwise cases, which are compiled already."""
    run = runners(name)
    case = data.draw(st.sampled_from(pairwise_cases()))
    height, width = data.draw(st.tuples(st.integers(1, 70), st.integers(1, 70)))
    random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    job = Job(
        random_picture(random, (height, width, case.channels), case.pixel_type),
        random_weights(random, case.ksize),
        case.border,
        r.key_of(name),
        case.block_xy,
    )
    check = r.verdict(job, run(job))
    assert check.ok, str(check)
