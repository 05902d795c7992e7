"""Launches that do a whole list: right by the reference, faults found, refusals in a sentence."""

from __future__ import annotations

from dataclasses import replace

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
from kernels.rungs.cuda_text import header_parts
from kernels.rungs.list_steps import steps_of
from kernels.sweeps.step_words import WHOLES
from tests.kernels.on_cpu import Shim
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
    *_, check = checking(job, answer, list_ways.tolerances(job), max_taps=None)
    assert check.is_full
    return check


@pytest.fixture(scope="module", autouse=True)
def _a_compiler():
    if reason := compiler.why_not():
        pytest.skip(f"device code does not run on this CPU: {reason}")


@pytest.mark.parametrize("border", OTHERS)
@pytest.mark.parametrize("key", RUNGS)
def test_a_whole_list_is_right(key, border, build_cache):
    jobs = [drawn_job(seed, border) for seed in range(40)]
    able = [job for job in jobs if not RUNGS[key].why_not(job, H200)][:12]
    assert len(able) == 12
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


FAULTS = {
    "the border of the picture at every step": (
        *(
            "list_tiles",
            "if constexpr (STEP + 1 < COUNT) continue_tile",
            "if (false) continue_tile",
        ),
    ),
    "a row too high": (
        *(
            "list_tiles",
            "const int row = min(UP - R + first",
            "const int row = min(UP - R + 1 + first",
        ),
    ),
    "rows of the weights the other way round": (
        *("list_ring", "const int down = 2 * R - j;", "const int down = j;"),
    ),
    "lanes at a warp's end that are no outputs": (
        *("list_ring", "constexpr int EDGE = (REACH * CHANNELS + V - 1) / V;"),
        "constexpr int EDGE = 0;",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault, build_cache):
    key, right, wrong = FAULTS[fault]
    rung = RUNGS[key]
    headers = header_parts(rung.includes)[len(header_parts(())) :]
    text = "".join(each.text for each in headers) + rung.source
    assert text.count(right) == 1
    changed = replace(rung, source=text.replace(right, wrong), includes=())
    random = np.random.default_rng(0)
    picture = read_only(random.random((70, 300, 1)).astype(np.float32))
    steps = tuple(Step(Correlation(weights_of(random, 3))) for _ in range(3))
    job = Job(picture, steps, "clamp")
    assert not verdict(job, Shim(rung, [job], build_cache).run(job)).wrong
    assert verdict(job, Shim(changed, [job], build_cache).run(job)).wrong


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"steps": (Step(Bilateral(5)), Step(Rank(3)))}, "weighted sums, gradients, medians"),
        ({"steps": (Step(Rank(3)),) * 2, "border": "crop"}, "any border but crop"),
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
