"""Ranks found bit by bit: windows and floats that the cases of all rungs leave out."""

import numpy as np
import pytest

from kernels.core.job import Job
from kernels.core.nonlinear import Rank
from kernels.core.step import Step
from tests.kernels import runners as r


@pytest.mark.parametrize("pixel_type", ["uint8", "uint16", "float16", "float32"])
@pytest.mark.parametrize(
    ("chosen", "border"),
    [
        (Rank(127), "mirror"),
        (Rank(31, is_disk=True), "crop"),
        (Rank(9, 12.5), "crop"),
        (Rank(5, 99.0), "zero"),
    ],
)
def test_it_gives_the_sample_itself_whatever_the_size(chosen, border, pixel_type, build_cache):
    random = np.random.default_rng(chosen.ksize)
    if pixel_type.startswith("float"):
        smallest = np.finfo(pixel_type).smallest_subnormal
        values = np.array([0, -0.0, smallest, -smallest, np.inf, -np.inf, 1, -1], pixel_type)
        picture = random.choice(values, (6, 9, 2))
        picture[:3] = random.standard_normal((3, 9, 2))
    else:
        picture = random.integers(0, np.iinfo(pixel_type).max, (6, 9, 2), pixel_type, endpoint=True)
    job = Job(picture, (Step(chosen, "rank_bits"),), border)
    check = r.verdict(job, r.on_shim(r.RUNGS["rank_bits"], build_cache)(job))
    assert check.ok, str(check)
