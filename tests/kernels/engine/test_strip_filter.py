"""A picture that is filtered in strips gives, bit for bit, what it gives as a whole."""

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels import Engine, Job, Result, Sampling, filters
from kernels.core.borders import BORDERS, strips_of
from kernels.core.errors import CannotRunError, OutOfMemoryError
from kernels.core.job import Pick
from kernels.core.step import Correlation, Step
from kernels.core.timing import Timing
from kernels.engine.auto import AUTO
from kernels.engine.engine import PickRefusedError, StripFilter
from kernels.pictures.generated import noise
from tests.kernels.cases import random_list

ONCE = Sampling(max_samples=0, check=False)


@pytest.fixture(scope="module")
def engine():
    return Engine(use_gpu=False)


def results(steps):
    return [step for step in steps if isinstance(step, Result)]


def in_strips(engine, job, rows, named="sequential", check_taps=0, **how):
    """What `job` gives strip by strip, and the results, of which each is of a strip."""
    strip_filter, found = StripFilter(engine, job, named, check_taps, **how), []
    answer = np.empty_like(job.picture)
    for strip in strips_of(job.height, rows, job.reach, job.border):
        picture = np.concatenate([job.picture[first:end] for first, end in strip.spans])
        assert len(picture) == strip.height
        found.append(results(strip_filter.filtering(picture, strip))[-1])
        answer[strip.first : strip.end] = found[-1].picture[strip.own]
    return answer, found


@pytest.mark.parametrize("named", ["sequential", "parallel"])
@given(seed=st.integers(0, 2**32 - 1))
def test_strips_of_any_height_give_what_a_list_gives_of_the_whole(engine, named, seed):
    random = np.random.default_rng(seed)
    job = random_list(random, named)
    whole = engine.run(job, ONCE)
    rows, chosen = int(random.integers(1, job.height + 1)), named if job.is_one_launch else None
    answer, found = in_strips(engine, job, rows, chosen)
    assert answer.tobytes() == whole.picture.tobytes()
    assert {len(each.steps) for each in found} == {len(whole.steps)}


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("pixel_type", ["uint8", "float32"])
def test_opencv_gives_in_strips_what_it_gives_as_a_whole(engine, border, pixel_type):
    picture = noise(600, 37, 3, pixel_type)
    for name, ksize in (("gaussian", 7), ("box", 15), ("edges", 3), ("unsharp", 15)):
        chosen = filters.get(name)
        weights = chosen.weights(ksize)
        job = Job.of(picture, weights, border, "opencv", gradient=chosen.gradient)
        answer, found = in_strips(engine, job, 256, "opencv")
        assert len({each.ran for each in found}) == 1
        assert answer.tobytes() == engine.run(job, ONCE).picture.tobytes(), name


class Picking(Engine):
    """An engine that has a GPU, of which `auto` picks a rung and a block shape."""

    def __init__(self, key="shared"):
        super().__init__(use_gpu=False)
        self.jobs, self.pick = [], Pick(key, (16, 16), "made up")

    def picks(self, _job):
        yield self.pick

    def filtering(self, job, _sampling=None):
        self.jobs.append(job)
        yield Result(job, job.picture, Timing((1.0,), "warm"), ())


@pytest.mark.parametrize("named", [None, AUTO.key])
def test_what_auto_picks_for_the_first_strip_does_all_of_them(named):
    engine, job = Picking(), Job.of(noise(30, 20, 1), filters.get("gaussian").weights(3))
    in_strips(engine, job, 10, named)
    engine.pick = Pick("global", (8, 8), "tuned meanwhile")
    assert [(each.implementation, each.block_xy) for each in engine.jobs] == [
        ("shared", (16, 16))
    ] * 3


@pytest.mark.parametrize("named", [None, "fft"])
def test_what_rounds_otherwise_in_strips_is_refused_where_memory_is_only_taken(named):
    job = Job.of(noise(30, 20, 1), filters.get("gaussian").weights(3))
    strip = next(strips_of(job.height, 10, job.reach, job.border))
    for key, is_refused in (("fft", True), ("shared", False)):
        steps = StripFilter(Picking(key), job, named and key, for_now=True).filtering(
            job.picture, strip
        )
        with pytest.raises(OutOfMemoryError) if is_refused else nullcontext():
            list(steps)
        assert list(StripFilter(Picking(key), job, named and key).filtering(job.picture, strip))


class PickingEach(Engine):
    """An engine that picks opencv for each step, or what is left of this and parallel."""

    def __init__(self):
        super().__init__(use_gpu=False)
        self.here = ("opencv", "parallel")

    def picks(self, _job):
        yield from (Pick(key, None, "made up") for key in self.here)


def test_the_steps_of_a_list_pick_alike_in_all_strips():
    engine, blur = PickingEach(), Correlation(filters.get("gaussian").weights(3))
    steps = tuple(Step(blur, key) for key in (AUTO.key, "sequential", AUTO.key))
    job = Job(noise(30, 20, 1), steps)
    first, second, _ = strips_of(job.height, 10, job.reach, job.border)
    strip_filter = StripFilter(engine, job)
    (*_, one) = strip_filter.filtering(first.of(job.picture), first)
    assert [each.implementation for each in one.steps] == ["opencv", "sequential", "opencv"]
    engine.here = ("parallel",)
    with pytest.raises(PickRefusedError) as refused:
        list(strip_filter.filtering(second.of(job.picture), second))
    engine.here, pick = ("opencv", "parallel"), refused.value.pick
    _, found = in_strips(engine, job, 10, None, refused=frozenset({pick}))
    assert {each.steps[2].implementation for each in found} == {"parallel"}


def test_every_strip_is_checked_where_that_is_wanted(engine):
    job = Job.of(noise(40, 30, 1), filters.get("gaussian").weights(5))
    _, found = in_strips(engine, job, 10, "parallel", check_taps=None)
    assert [each.check.ok for each in found] == [True] * 4
    total = replace(found[0].check, total=40 * 30)
    for each in found[1:]:
        total = total.with_strip(each.check, 10)
    assert total.is_full
    assert total.ok


def test_what_a_strip_refuses_does_none_of_them_unless_it_was_named(engine):
    picture = noise(30, 20, 1, "float32")
    picture[25, 3] = np.nan
    job = Job.of(picture, filters.get("gaussian").weights(3))
    with pytest.raises(PickRefusedError, match="NaN") as refused:
        in_strips(engine, job, 10, None)
    answer, found = in_strips(engine, job, 10, None, refused=frozenset({refused.value.pick}))
    assert [each.implementation for each in found] == ["parallel"] * 3
    whole = engine.run(job.but(implementation=engine.best_for(job)), ONCE)
    assert answer.tobytes() == whole.picture.tobytes()
    with pytest.raises(CannotRunError, match="NaN"):
        in_strips(engine, job, 10, "opencv")
