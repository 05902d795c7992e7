"""A rung's first run: one picture, on the CPU, compiled for nothing else: it answers soon."""

from dataclasses import replace

import pytest

from kernels.cuda_on_cpu import compiler
from kernels.rungs.rung import ladder
from tests.kernels.cases import LEVELS, Case
from tests.kernels.on_cpu import Shim
from tests.kernels.runners import verdict
from tests.made_up import H200

pytestmark = pytest.mark.skipif(compiler.why_not() is not None, reason=str(compiler.why_not()))
CASES = [
    Case(border, pixel_type, channels, (45, 70), 5, block_xy)
    for border in ("mirror", "wrap")
    for pixel_type, channels in (("uint8", 3), ("float32", 1))
    for block_xy in LEVELS["block_xy"]
]


@pytest.mark.parametrize("rung", ladder(), ids=lambda rung: rung.key)
def test_a_rung_says_of_one_picture_what_the_oracle_says(rung, build_cache):
    jobs = (case.job(rung.key) for case in CASES)
    job = next(job for job in jobs if not rung.why_not(job, H200))
    check = verdict(job, Shim(rung, [job], build_cache).run(job))
    assert check.ok, str(check)


RUNGS = [
    pytest.param(rung, marks=() if number % 18 == 0 else pytest.mark.full, id=rung.key)
    for number, rung in enumerate(ladder())
]


@pytest.mark.parametrize("rung", RUNGS)
def test_alpha_is_filtered_where_it_counts_as_a_colour(rung, build_cache):
    kinds = ("float32", 4), ("uint8", 4), ("float32", 2), ("uint8", 2)
    cases = (Case("mirror", *kind, (45, 70), 5, xy) for kind in kinds for xy in LEVELS["block_xy"])
    jobs = (replace(case.job(rung.key), filters_alpha=True) for case in cases)
    if (job := next((job for job in jobs if not rung.why_not(job, H200)), None)) is None:
        pytest.skip("takes no picture with alpha")
    check = verdict(job, Shim(rung, [job], build_cache).run(job))
    assert check.ok, str(check)
