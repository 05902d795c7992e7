"""Medians from histograms, of pictures whose medians leap across the values."""

from __future__ import annotations

import numpy as np
import pytest

from kernels.core.job import Job
from kernels.core.nonlinear import Rank
from kernels.core.step import Step
from tests.kernels import runners as r

Y, X = np.mgrid[:60, :70]
WHAT = {
    "stripes": 255 * (Y % 2),
    "checks": 255 * ((X + Y) % 2),
    "steps": np.array([3, 250, 96, 127, 128, 160])[Y // 2 % 6],
    "few values": np.random.default_rng(0).choice([0, 40, 41, 200, 255], Y.shape),
    "black or white": np.random.default_rng(1).choice([0, 255], Y.shape),
    "one value": np.full(Y.shape, 255),
}


@pytest.mark.parametrize("what", WHAT)
@pytest.mark.parametrize("ksize", [3, 19, 31])
def test_a_median_that_leaps_is_found(what, ksize, build_cache):
    picture = WHAT[what].astype(np.uint8)[:, :, None]
    job = Job(picture, (Step(Rank(ksize), "median_histogram"),), "mirror")
    check = r.verdict(job, r.on_shim(r.RUNGS["median_histogram"], build_cache)(job))
    assert check.ok, str(check)
