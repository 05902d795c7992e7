"""Ranks of a tile: windows, tiles and samples that the cases of all rungs leave out."""

from __future__ import annotations

import numpy as np
import pytest

from kernels.core.job import Job
from kernels.core.nonlinear import Rank
from kernels.core.step import Step
from tests.kernels import runners as r
from tests.kernels.on_cpu import Shim

WHAT = {
    "noise": lambda random, shape: random.normal(100, 30, shape),
    "constant": lambda _, shape: np.full(shape, 7),
    "few values": lambda random, shape: random.integers(0, 3, shape),
    "a ramp": lambda _, shape: np.arange(np.prod(shape)).reshape(shape) // 200,
}


def filtered(picture, chosen, border, build_cache):
    job = Job(picture, (Step(chosen, "rank_tile"),), border)
    return r.verdict(job, r.on_shim(r.RUNGS["rank_tile"], build_cache)(job))


@pytest.mark.parametrize(
    ("what", "pixel_type", "shape", "chosen", "border"),
    [
        ("noise", "float32", (100, 170, 1), Rank(17), "mirror"),  # one tile is within the picture
        ("noise", "uint16", (40, 130, 2), Rank(31, 12.5), "zero"),
        ("noise", "float16", (70, 20, 1), Rank(45, 90), "reflect"),
        ("noise", "uint8", (30, 66, 4), Rank(33, 99.99), "clamp"),
        ("constant", "float32", (64, 65, 1), Rank(31), "zero"),
        ("few values", "float32", (64, 30, 1), Rank(35), "clamp"),
        ("a ramp", "float32", (65, 65, 1), Rank(31), "wrap"),
        ("noise", "float32", (1, 1, 1), Rank(63), "mirror"),
        ("noise", "float32", (1, 9, 3), Rank(1), "wrap"),
        pytest.param(
            "noise", "float32", (20, 70, 1), Rank(63, 0.01), "wrap", marks=pytest.mark.nightly
        ),
        pytest.param("a ramp", "uint8", (65, 65, 1), Rank(63), "mirror", marks=pytest.mark.nightly),
    ],
)
def test_it_gives_the_sample_itself(what, pixel_type, shape, chosen, border, build_cache):
    random = np.random.default_rng(chosen.ksize)
    picture = WHAT[what](random, shape).clip(0).astype(pixel_type)
    check = filtered(picture, chosen, border, build_cache)
    assert check.ok, str(check)


@pytest.mark.parametrize("pixel_type", ["float32", "float16"])
def test_tiny_numbers_and_infinities_have_ranks(pixel_type, build_cache):
    least = np.finfo(pixel_type).smallest_subnormal
    values = np.array([0, -0.0, least, -least, np.inf, -np.inf, 1, -1], pixel_type)
    picture = np.random.default_rng(3).choice(values, (20, 31, 2))
    check = filtered(picture, Rank(17, 37.5), "zero", build_cache)
    assert check.ok, str(check)


def test_a_launch_writes_its_own_rows_alone(build_cache):
    picture = np.random.default_rng(5).random((90, 40, 1), np.float32)
    job = Job(picture, (Step(Rank(17), "rank_tile"),), "mirror")
    shim = Shim(r.RUNGS["rank_tile"], [job], build_cache)
    whole, part = shim.run(job), shim.run(job, rows=(9, 80))
    assert np.array_equal(part[9:80], whole[9:80])
    assert not np.any(part[:9] == whole[:9])
    assert not np.any(part[80:] == whole[80:])
