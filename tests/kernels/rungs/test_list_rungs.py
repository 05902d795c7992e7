"""Launches that do a whole list: right by the reference, faults found, refusals in a sentence."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from kernels.core.borders import BORDERS
from kernels.core.cache import read_only
from kernels.core.errors import CannotRunError
from kernels.core.job import PIXEL_TYPES, Job, Region
from kernels.core.nonlinear import Bilateral, Morphology, Rank
from kernels.core.step import LENGTH, Correlation, Step
from kernels.core.verdict import Check
from kernels.cuda_on_cpu import compiler
from kernels.cuda_on_cpu.shim import Order
from kernels.engine import list_ways
from kernels.oracle.checking import checking
from kernels.rungs.list_steps import steps_of, tolerances
from kernels.sweeps.step_words import WHOLES
from tests.kernels.on_cpu import Shim
from tests.kernels.rungs.faults import LIST_FAULTS, plant
from tests.made_up import H200

RUNGS = list_ways.LIST_RUNGS
OTHERS = [border for border in BORDERS if border != "crop"]


def weights_of(random: np.random.Generator, ksize: int, *, is_separable: bool = False):
    drawn = random.normal(size=(ksize, ksize))
    if is_separable:
        drawn = np.outer(drawn[0], drawn[:, 0])
    return read_only((drawn / np.abs(drawn).sum()).astype(np.float32))


def drawn_steps(random: np.random.Generator, count: int) -> tuple[Step, ...]:
    found: list[Step] = []
    for _ in range(count):
        how = {}
        if random.random() < 0.3:
            how = {"mix": float(np.float32(random.random())), "threshold": 0.125}
        how["is_grey"] = bool(random.random() < 0.2)
        whole = {"is_grey": how["is_grey"]}  # of two filters, which are not mixed
        ksize = int(random.choice([1, 3, 5]))
        match random.integers(6):
            case 0:
                offset = float(random.choice([0, 3.5]))
                found.append(Step(Correlation(weights_of(random, ksize), offset), **how))
            case 1:
                found.append(Step(Correlation(weights_of(random, ksize, is_separable=True)), **how))
            case 2:
                found += [Step(Correlation(weights_of(random, 3))), replace(LENGTH, **whole)]
            case 3:
                found.append(Step(Rank(3), **how))
            case 4:
                found.append(Step(Rank(ksize, float(random.choice([0, 100]))), **how))
            case _:
                kind = str(random.choice(["opening", "closing"]))
                found.append(Step(Morphology(3, kind), **whole))
    return tuple(found)


def drawn_job(seed: int, border: str) -> Job:
    random = np.random.default_rng(seed)
    size = random.integers(1, 12, 2) if random.random() < 0.3 else random.integers(20, 200, 2)
    shape = (int(size[0]), 2 * int(size[1]), int(random.integers(1, 5)))
    pixel_type = str(random.choice(PIXEL_TYPES))
    white = {"uint8": 255, "uint16": 65535}.get(pixel_type, 1)
    picture = read_only((random.random(shape) * white).astype(pixel_type))
    is_rounded = bool(random.random() < 0.2)
    # Two at least: one alone is no list.
    return Job(picture, drawn_steps(random, int(random.integers(2, 4))), border, is_rounded)


def verdict(job: Job, answer: np.ndarray) -> Check:
    *_, check = checking(job, answer, tolerances(job), max_taps=None)
    assert check.is_full
    return check


@pytest.fixture(scope="module", autouse=True)
def _a_compiler():
    if reason := compiler.why_not():
        pytest.skip(f"device code does not run on this CPU: {reason}")


# Each takes a compiler: of each border one rung by day, all others by night.
BY_TURNS = [
    pytest.param(key, border, marks=pytest.mark.nightly if (place + turn) % len(RUNGS) else ())
    for place, key in enumerate(RUNGS)
    for turn, border in enumerate(OTHERS)
]


@pytest.mark.parametrize(("key", "border"), BY_TURNS)
def test_a_whole_list_is_right(key, border, build_cache):
    first = 40 * OTHERS.index(border)  # other lists for each border
    jobs = (drawn_job(seed, border) for seed in range(first, first + 40))
    able = list(islice((job for job in jobs if not RUNGS[key].why_not(job, H200)), 6))
    assert len(able) == 6
    shim = Shim(RUNGS[key], able, build_cache)
    for number, job in enumerate(able):
        check = verdict(job, shim.run(job, Order(number % len(Order))))
        assert not check.wrong, (number, job.title, str(check))


@pytest.mark.parametrize("key", RUNGS)
def test_a_strip_of_rows_is_all_that_is_written(key, build_cache):
    job = drawn_job(3, "mirror")
    shim = Shim(RUNGS[key], [job], build_cache)
    whole, rows = shim.run(job), (job.height // 3, job.height // 2)
    part = shim.run(job, rows=rows)
    np.testing.assert_array_equal(part[slice(*rows)], whole[slice(*rows)])
    untouched = np.delete(part, np.s_[slice(*rows)], axis=0).view(np.uint8)
    assert (untouched == 0xA5).all()


def job_of(*steps: Step, pixel_type: str = "float32", white: float = 1.0, **how) -> Job:
    """A job that has tiles at its edges, and rings inside."""
    random = np.random.default_rng(0)
    picture = random.random((70, 300, 1)) * white
    return Job(read_only(picture.astype(pixel_type)), steps, "clamp", **how)


def times(factor: float) -> Step:
    return Step(Correlation(read_only(np.full((1, 1), factor, np.float32))))


# Lengths of which the squares are no floats, between steps and mixed at the end; and sums.
FAR_LENGTHS = [
    job_of(times(1e25), LENGTH, times(1e-25), pixel_type="uint8", white=255.0),
    job_of(times(1e-25), LENGTH, times(1e25), pixel_type="uint16", white=255.0),
    job_of(times(1e25), LENGTH, times(1e-25), pixel_type="float16"),
]
SUMS = job_of(
    *(
        Step(Correlation(weights_of(np.random.default_rng(seed), 3), float(seed)))
        for seed in range(3)
    )
)


@pytest.mark.parametrize("key", RUNGS)
def test_lengths_between_steps_are_floats_whatever_the_picture_is(key, build_cache):
    shim = Shim(RUNGS[key], FAR_LENGTHS, build_cache)
    for job in FAR_LENGTHS:
        assert not verdict(job, shim.run(job)).wrong, job.pixel_type


@pytest.mark.parametrize("fault", LIST_FAULTS)
def test_a_fault_is_found(fault, build_cache):
    rung = plant(LIST_FAULTS[fault], RUNGS[LIST_FAULTS[fault].rung])
    jobs = [SUMS, FAR_LENGTHS[0]]
    shim = Shim(rung, jobs, build_cache)
    assert any(verdict(job, shim.run(job)).wrong for job in jobs)


@pytest.mark.parametrize("key", RUNGS)
def test_a_slider_compiles_nothing_anew(key, build_cache):
    def mixed(mix: float, threshold: float, offset: float) -> Job:
        weights = weights_of(np.random.default_rng(1), 3)
        how = {"mix": mix, "threshold": threshold}
        return job_of(Step(Correlation(weights, offset), **how), Step(Rank(3), **how))

    jobs = [mixed(0.25, 0.125, 1.0), mixed(0.75, 0.25, -2.0)]
    shim = Shim(RUNGS[key], jobs[:1], build_cache)
    for job in jobs:
        assert shim.has(job)
        assert not verdict(job, shim.run(job)).wrong


@pytest.mark.parametrize("key", RUNGS)
def test_crop_is_taken_by_sums_and_gradients(key, build_cache):
    sums = (Step(Correlation(weights_of(np.random.default_rng(2), 3))), LENGTH, times(0.5))
    job = job_of(*sums).but(border="crop")
    assert not verdict(job, Shim(RUNGS[key], [job], build_cache).run(job)).wrong


@pytest.mark.parametrize("key", RUNGS)
def test_the_sign_of_zero_is_kept_by_ranks(key, build_cache):
    """Nothing is added to them: of zeros below none the least and the greatest are -0."""
    picture = read_only(np.full((70, 300, 1), -0.0, np.float32))
    job = Job(picture, (Step(Rank(3, 0.0)), Step(Rank(3))), "clamp")
    assert np.signbit(Shim(RUNGS[key], [job], build_cache).run(job)).all()


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"steps": (Step(Bilateral(5)), Step(Rank(3)))}, "weighted sums, gradients, medians"),
        (
            {"steps": (Step(Rank(3)),) * 2, "border": "crop"},
            "with crop weighted sums and gradients alone",
        ),
        ({"region": Region(0, 0, 2, 2)}, "A part of a picture"),
        ({"opaque": 255.0}, "weighted by alpha"),
        ({"steps": (Step(Morphology(3), mix=0.5),) * 2}, "mixed with its input"),
    ],
)
def test_what_is_no_work_for_one_launch_is_refused_in_a_sentence(how, words):
    picture = np.zeros((9, 9, 4), np.uint8)
    job = Job(picture, (Step(Rank(3)),) * 2).but(**how)
    with pytest.raises(CannotRunError, match=words):
        steps_of(job)
    for rung in RUNGS.values():
        assert words in (rung.why_not(job, H200) or "")


def test_the_ways_have_the_names_that_files_have():
    assert ("auto", *list_ways.WAYS) == WHOLES
