"""Lists of steps through the engine: what is run again, which step is to blame, and why not."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from kernels import Engine, Result, Sampling, filters
from kernels.core.borders import BORDERS
from kernels.core.cache import blank, read_only
from kernels.core.errors import CannotRunError, DeviceLostError, OutOfMemoryError
from kernels.core.job import MAX_STEPS, Job, Progress
from kernels.core.nonlinear import Morphology, Rank
from kernels.core.step import LENGTH, Blend, Correlation, Step, StepRun
from kernels.core.timing import Timing
from kernels.cuda_on_cpu import compiler
from kernels.engine import list_ways, step_list
from kernels.engine.auto import AUTO
from kernels.engine.list_ways import LIST_RUNGS
from kernels.engine.list_work import list_work
from kernels.oracle.reference import filtered, to_pixel_type
from tests.first_kernel import steps as kernels_of_ones_own
from tests.kernels.cases import random_weights
from tests.kernels.engine.test_sharing_gpus import MadeUpEngine
from tests.made_up import H200

ONCE = Sampling(max_samples=0, check=False)
CHECKED = Sampling(max_samples=0)
TIMED = Sampling(max_samples=2, max_seconds=0.01)
EVERY_PIXEL = replace(TIMED, check_taps=None)
PICTURE = read_only(np.random.default_rng(1).integers(0, 256, (40, 50, 3), np.uint8))


def step(name="gaussian", ksize=3, implementation="parallel", **fields):
    chosen = filters.get(name)
    return Step(Correlation(chosen.weights(ksize)), implementation, title=chosen.title, **fields)


BLUR, SHARPEN, BOX = step(), step("sharpen"), step("box", 5)


def listed(*steps, picture=PICTURE, **fields):
    return Job(picture, steps or (BLUR, SHARPEN, BOX), **fields)


class Counting(Engine):
    """Remembers the titles of what runs; `spoiled` is the one whose output is off in a place."""

    def __init__(self, spoiled=""):
        super().__init__(use_gpu=False)
        self.ran, self._spoiled = [], spoiled

    def _running(self, implementation, job, sampling):
        self.ran.append(job.title)
        for each in super()._running(implementation, job, sampling):
            if isinstance(each, Result) and job.title == self._spoiled:
                picture = each.picture.copy()
                picture[7, 9, 1] += 1
                each = replace(each, picture=read_only(picture))
            yield each

    def titles(self, job, sampling=TIMED):
        self.ran.clear()
        result = self.run(job, sampling)
        assert [each.job.title for each in result.steps] == [run.steps[0].title for run in job.runs]
        assert (result.check is not None) == sampling.check
        return self.ran.copy()


def test_a_change_of_a_step_runs_that_and_those_behind_it():
    engine = Counting()
    assert engine.titles(listed()) == ["Gaussian blur", "Sharpen", "Box blur"]
    assert engine.titles(listed(BLUR, SHARPEN, step("laplacian"))) == ["Laplacian"]
    assert engine.titles(listed(BLUR, step("laplacian"), BOX)) == ["Laplacian", "Box blur"]
    assert engine.titles(listed(BLUR, SHARPEN, BOX, BOX)) == ["Box blur"]
    assert engine.titles(listed(BLUR, replace(SHARPEN, mix=0.5), BOX)) == ["Box blur"]
    assert len(engine.titles(listed(border="wrap"))) == 3
    assert len(engine.titles(listed(picture=PICTURE.copy()))) == 3


def test_the_time_of_a_list_is_the_sum_of_its_steps_or_of_the_one():
    result = Engine(use_gpu=False).run(listed(replace(BLUR, mix=0.5)), TIMED)
    assert result.kernel is result.steps[0].kernel
    result = Engine(use_gpu=False).run(listed(), TIMED)
    times = [each.kernel.median_ms for each in result.steps]
    assert result.kernel.median_ms == pytest.approx(sum(times))
    assert len(result.ran) == 3
    assert result.steps[2].job.picture is result.steps[1].picture


def test_what_was_run_for_less_does_not_stand_for_more():
    engine = Counting()
    wanted = [ONCE, CHECKED, TIMED, EVERY_PIXEL, replace(EVERY_PIXEL, max_samples=9, cache="warm")]
    for sampling in wanted:
        assert len(engine.titles(listed(), sampling)) == 3
        again = replace(sampling, max_samples=0)
        assert engine.titles(listed(), again) == engine.titles(listed(), ONCE) == []
    assert len(engine.titles(listed(), TIMED)) == 3  # the other was from a warm cache
    assert len(engine.titles(listed(), TIMED)) == 3  # and what is asked for anew is timed anew


def test_what_may_have_changed_is_filtered_again():
    engine, picture, weights = Counting(), PICTURE.copy(), BLUR.filter.weights.copy()
    changed = [picture, weights]
    before = engine.run(listed(Step(Correlation(weights)), BOX, picture=picture), ONCE)
    for each in changed:
        each *= 2
        job = listed(Step(Correlation(weights)), BOX, picture=picture)
        after = engine.run(job, ONCE).picture
        assert after.tobytes() == Engine(use_gpu=False).run(job, ONCE).picture.tobytes()
        assert after.tobytes() != before.picture.tobytes()


def test_a_step_that_is_known_has_the_name_that_it_is_asked_for_by():
    engine = Counting()
    engine.run(listed(), ONCE)
    result = engine.run(listed(replace(BLUR, title="Mine"), SHARPEN, BOX), ONCE)
    assert [each.job.title for each in result.steps] == ["Mine", "Sharpen", "Box blur"]


def test_what_is_kept_is_bounded_and_the_last_steps_go_first(monkeypatch):
    engine, size = Counting(), 4 * PICTURE.size
    monkeypatch.setattr(step_list, "KEPT_BYTES", 3 * size)  # the picture and two outputs
    engine.run(listed(), ONCE)
    assert engine.titles(listed(), ONCE) == ["Box blur"]
    monkeypatch.setattr(step_list, "KEPT_BYTES", size)
    engine.run(listed(), ONCE)
    assert len(engine.titles(listed(), ONCE)) == 3
    monkeypatch.undo()
    for _ in range(step_list.KEPT_PICTURES):
        engine.run(listed(picture=read_only(PICTURE.copy())), ONCE)
    assert len({id(each.start) for each in engine._kept_runs._kept}) == step_list.KEPT_PICTURES


def test_stopped_between_its_steps_it_goes_on_there():
    engine = Counting()
    steps = engine.filtering(listed(), ONCE)
    for each in steps:
        if isinstance(each, Progress) and each.doing.startswith("Step 3, Box blur: "):
            break
    steps.close()
    assert engine.titles(listed(), ONCE) == ["Box blur"]


@pytest.mark.parametrize("spoiled", ["Gaussian blur", "Sharpen", "Box blur"])
def test_the_step_that_is_wrong_is_found_and_so_is_the_whole(spoiled):
    result = Counting(spoiled).run(listed(picture=read_only(PICTURE.astype(np.float32))), CHECKED)
    wrong = [each.job.title for each in result.steps if not each.check.ok]
    assert wrong == [spoiled]
    (found,) = (each.check for each in result.steps if not each.check.ok)
    assert (found.wrong, found.worst) == (1, (7, 9, 1))
    assert not result.check.ok


def test_with_a_threshold_unsharp_leaves_flat_noise_alone_and_sharpens_edges():
    random = np.random.default_rng(4)
    picture = np.where(np.arange(60) < 30, 60, 180) + random.integers(-2, 3, (40, 60))
    job = listed(step("unsharp", 5, threshold=8.0), picture=read_only(picture.astype(np.uint8)))
    result = Engine(use_gpu=False).run(job, EVERY_PIXEL)
    assert result.check.ok
    changed = result.picture != job.picture[..., 0]
    assert not changed[:, :26].any()
    assert not changed[:, 34:].any()
    assert changed[:, 29:31].all()


@given(threshold=st.floats(0, 300, width=32), mix=st.sampled_from((1.0, 0.5, 0.0)))
def test_a_threshold_takes_so_much_of_every_change_and_never_turns_one(threshold, mix):
    random = np.random.default_rng(5)
    before, after = random.normal(0, 100, (2, 9, 11, 4)).astype(np.float32)
    found = step_list.blended(StepRun((), Blend(mix, threshold), 1), before, after)
    change = after.astype(np.float64) - before
    expected = before + mix * np.sign(change) * np.maximum(np.abs(change) - threshold, 0)
    expected[..., 3] = after[..., 3] if (mix, threshold) == (1, 0) else before[..., 3]
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_a_picture_without_channels_comes_back_without_channels():
    flat = read_only(PICTURE[..., 0].copy())
    result = Engine(use_gpu=False).run(listed(picture=flat), TIMED)
    assert result.picture.shape == flat.shape
    assert result.check.is_full
    as_one = Engine(use_gpu=False).run(listed(picture=flat[..., np.newaxis]), ONCE)
    assert (result.picture == as_one.picture[..., 0]).all()
    assert {each.picture.shape for each in result.steps} == {(*flat.shape, 1)}


def test_a_gradient_between_two_steps_is_one_of_them():
    edges = (step("gradient"), LENGTH)
    engine = Counting()
    assert engine.titles(listed(BLUR, *edges, BOX), CHECKED) == [
        "Gaussian blur",
        "Gradient",
        "Box blur",
    ]
    one = engine.run(listed(*edges), ONCE)
    rounded = engine.run(listed(*edges, is_rounded=True), ONCE)
    assert one.picture.tobytes() == rounded.picture.tobytes()
    assert one.steps == rounded.steps == ()
    assert len(listed(*edges * MAX_STEPS).runs) == MAX_STEPS


# -- Other ways to run it, and why not.


def test_ranks_of_bytes_at_the_head_give_bytes_and_are_what_floats_would_give():
    ranks = Step(Rank(9)), Step(Morphology(3, "top_hat"))
    job = listed(*ranks, step("edges", mix=0.5), BLUR)
    chosen = tuple(replace(each, implementation="auto") for each in job.steps)
    result = Engine(use_gpu=False).run(replace(job, steps=chosen), EVERY_PIXEL)
    assert [each.job.pixel_type for each in result.steps] == ["uint8"] * 2 + ["float32"] * 2
    assert result.check.ok
    assert all(each.check.ok for each in result.steps)
    floats = Job(PICTURE.astype(np.float32), job.steps)
    expected = filtered(floats).round().clip(0, 255)
    assert np.abs(result.picture - expected).max() <= 1
    assert listed(*ranks).wide_from == 2  # of these alone none is float32
    assert listed(replace(ranks[0], mix=0.5), BLUR).wide_from == 0
    with_alpha = np.dstack([PICTURE, PICTURE[..., :1]])
    assert listed(*ranks, picture=with_alpha, opaque=255.0).wide_from == 0
    assert listed(*ranks, picture=PICTURE.astype(np.float16)).wide_from == 0


@pytest.mark.parametrize(
    ("first", "border"), [(Rank(5), "crop"), (Morphology(5, "black_hat"), "zero")]
)
def test_ranks_that_may_give_halves_or_less_than_0_give_floats(first, border):
    job = listed(Step(first, "auto"), step(implementation="auto"), border=border)
    result = Engine(use_gpu=False).run(job, EVERY_PIXEL)
    assert [each.job.pixel_type for each in result.steps] == ["float32"] * 2
    assert result.check.ok
    assert replace(job, border="clamp").wide_from == 1


def test_what_ranks_gave_goes_on_in_the_type_of_the_list_that_it_is_in():
    rank, engine = Step(Rank(3), "auto"), Counting()
    jobs = listed(rank, rank), listed(rank, BLUR, BOX), listed(rank, BLUR, BOX, is_rounded=True)
    for job in (*jobs, *jobs):
        alone, found = (each.run(job, ONCE) for each in (Engine(use_gpu=False), engine))
        assert found.picture.tobytes() == alone.picture.tobytes()
        types = [[each.job.pixel_type for each in result.steps] for result in (found, alone)]
        assert types[0] == types[1]


def test_each_step_of_auto_picks_for_itself():
    result = Engine(use_gpu=False).run(listed(step(implementation=AUTO.key), BOX), CHECKED)
    assert [each.implementation for each in result.steps] == ["opencv", "parallel"]
    assert result.check.ok


def test_what_cannot_run_is_told_with_its_step():
    engine = Engine(use_gpu=False)
    job = listed(BLUR, step("sharpen", implementation="shared"))
    told = "Step 2, Sharpen: The GPU was switched off with --no-gpu."
    assert engine.why_not(job) == told
    with pytest.raises(CannotRunError, match=told):
        engine.run(job)
    assert engine.why_not(listed()) is None
    picture = PICTURE.astype(np.float32)
    picture[3, 3] = np.inf
    nan = listed(BLUR, step("sharpen", implementation="opencv"), picture=read_only(picture))
    assert engine.why_not(nan) is None  # before the first step has run nobody knows
    with pytest.raises(CannotRunError, match="Step 2, Sharpen: The picture holds NaN or infinity"):
        engine.run(nan)


def test_what_is_of_one_launch_is_not_of_a_list():
    engine = Engine(use_gpu=False)
    job = listed(*[step(implementation=AUTO.key)] * 2)
    assert engine.occupancy(job) is None
    for ask in (engine.launch_once, lambda job: list(engine.picks(job))):
        with pytest.raises(CannotRunError, match="ask for one of them"):
            ask(job)
    assert engine.best_for(job) == "opencv"
    assert "switched off" in engine.why_not_auto(job)
    assert list(engine.compiling([job])) == []
    engine = Engine()
    engine.device = H200
    assert engine.best_for(job) == AUTO.key
    nan = read_only(np.full((4, 4, 1), np.nan, np.float32))
    assert Engine(use_gpu=False).best_for(listed(picture=nan)) == "parallel"


def test_a_kernel_of_ones_own_is_a_step_like_any_other():
    if reason := compiler.why_not():
        pytest.skip(reason)
    mine = step("sharpen", implementation="mine.cu", own=kernels_of_ones_own()[6])
    engine = Counting()
    result = engine.run(listed(BLUR, mine, BOX), TIMED)
    assert [each.implementation for each in result.steps] == ["parallel", "mine.cu", "parallel"]
    assert result.check.ok
    assert result.steps[1].check.ok
    assert result.kernel is None  # on the CPU it has no time
    broken = replace(mine, own="no kernel")
    assert engine.why_not(listed(BLUR, broken)).startswith("Step 2, Sharpen: mine.cu: ")


class Card:
    """In place of a Gpu: answers as the reference does."""

    def filtering(self, _rung, job, _sampling):
        picture = read_only(to_pixel_type(filtered(job), job.picture.dtype))
        yield Result(job, picture, Timing((2.0,), "cold"), (), device_name="a card")


def on_a_card(monkeypatch, whole):
    engine = Engine()
    engine.device, engine.gpu = H200, Card()
    monkeypatch.setattr(list_ways, "filtering_list", lambda *given, in_strips: whole(*given))
    return engine


SHARED = tuple(replace(each, implementation="shared") for each in (BLUR, SHARPEN, BOX))


def test_on_one_gpu_the_whole_is_timed_in_one_go(monkeypatch):
    def whole(_gpu, job, runs, _sampling):
        assert [(rung.key, part.title) for rung, part in runs] == [
            ("shared", each.title) for each in SHARED
        ]
        picture = to_pixel_type(filtered(job), job.picture.dtype)
        yield Result(job, read_only(picture), Timing((5.0,), "cold"), ())

    engine = on_a_card(monkeypatch, whole)
    result = engine.run(listed(*SHARED, list_way="graph"), TIMED)
    assert result.kernel.median_ms == 5.0
    assert [each.kernel.median_ms for each in result.steps] == [2.0] * 3
    assert result.check.ok
    assert engine.run(listed(*SHARED), CHECKED).kernel.median_ms == 6.0  # without a time it is not
    assert (
        engine.run(listed(*SHARED[:2], BOX, list_way="graph"), TIMED).kernel.median_ms > 4.0
    )  # nor over the CPU


def test_one_launch_of_a_list_stands_in_no_chosen_implementations_place():
    runs = [(object(), None)] * 2  # none is looked at where it is one graph
    auto = tuple(replace(each, implementation="auto") for each in (BLUR, SHARPEN))
    assert list_ways.way_of(listed(*auto), runs, H200) == ("list_ring", "")
    assert list_ways.way_of(listed(*SHARED[:2]), runs, H200) == ("graph", "")
    tiles = listed(*SHARED[:2], list_way="list_tiles")
    assert list_ways.way_of(tiles, runs, H200) == ("list_tiles", "")
    # Of bytes that stay bytes a graph moves fewer, where there is one.
    picture = np.zeros((9, 9, 3), np.uint8)
    opening = tuple(Step(Rank(5, percentile), "auto") for percentile in (0.0, 100.0))
    assert list_ways.way_of(Job(picture, opening), runs, H200) == ("graph", "")
    rounded = {t: Job(picture.astype(t), auto, is_rounded=True) for t in ("uint8", "uint16")}
    assert list_ways.way_of(rounded["uint8"], runs, H200) == ("graph", "")
    assert list_ways.way_of(rounded["uint8"], [], H200) == ("list_ring", "")
    assert list_ways.way_of(rounded["uint16"], runs, H200) == ("list_ring", "")
    assert list_ways.way_of(Job(picture, auto), runs, H200) == ("list_ring", "")
    assert list_ways.way_of(Job(np.float32(picture), opening), runs, H200) == ("list_ring", "")
    median = replace(BLUR, filter=Rank(9), implementation="auto")
    found, reason = list_ways.way_of(listed(median, SHARPEN, list_way="list_ring"), runs, H200)
    assert (found, "median" in reason.lower()) == ("graph", True)


@pytest.mark.parametrize("samples", [0, 3])
@pytest.mark.parametrize("whole", ["auto", "list_ring"])
def test_by_rule_the_samples_are_those_of_the_steps(monkeypatch, whole, samples):
    class Ring(Card):
        def filtering(self, rung, job, sampling):
            *_, found = super().filtering(rung, job, sampling)
            if rung.key == "list_ring":  # as if it had rounded one sample otherwise
                picture = found.picture.copy()
                picture.flat[0] = np.nextafter(picture.flat[0], np.float32(9), dtype=np.float32)
                found = replace(found, picture=read_only(picture))
            yield found

    engine = on_a_card(monkeypatch, None)
    engine.gpu = Ring()
    floats = read_only(PICTURE.astype(np.float32))
    job = listed(*SHARED[:2], picture=floats, list_way=whole)
    if whole == "auto":
        monkeypatch.setattr(list_ways, "way_of", lambda *_: ("list_ring", ""))
    result = engine.run(job, replace(TIMED, max_samples=samples))
    expected = engine.run(replace(job, list_way="auto"), CHECKED).picture
    assert result.check.ok
    assert (result.picture.tobytes() == expected.tobytes()) == (whole == "auto")


def test_without_the_memory_for_the_whole_the_sum_stands(monkeypatch):
    def whole(*_):
        yield Progress("filtering the whole list")
        raise OutOfMemoryError("too little memory")

    result = on_a_card(monkeypatch, whole).run(listed(*SHARED, list_way="graph"), TIMED)
    assert result.kernel.median_ms == 6.0
    assert result.check.ok
    assert result.device_name == "a card"


def test_a_gpu_that_is_lost_over_the_whole_is_not_asked_again(monkeypatch):
    def whole(*_):
        yield Progress("filtering the whole list")
        raise DeviceLostError("It is gone.")

    engine = on_a_card(monkeypatch, whole)
    for _ in range(2):
        with pytest.raises(DeviceLostError, match="It is gone"):
            engine.run(listed(*SHARED, list_way="graph"), TIMED)
    assert engine.lost


def test_several_gpus_share_each_step(monkeypatch):
    job = listed(*SHARED, border="wrap", devices=2)
    result = MadeUpEngine(monkeypatch).run(job, EVERY_PIXEL)
    assert result.check.ok
    assert [each.check.ok for each in result.steps] == [True] * 3
    assert [share.rows for share in result.shares] == [(0, 20), (20, 40)]
    of_steps = [each.shares[1].total_ms for each in result.steps]
    assert result.shares[1].total_ms == pytest.approx(sum(of_steps))


# -- Whatever is done to a list.


class Editing(RuleBasedStateMachine):
    """One engine, which keeps what it ran, gives what another one gives that knows nothing."""

    picture = read_only(np.random.default_rng(3).integers(0, 256, (9, 11, 2), np.uint8))
    places = st.integers(0, MAX_STEPS - 1)

    def __init__(self):
        super().__init__()
        self.engine, self.off = Engine(use_gpu=False), set()
        self.steps, self.how = [self.made(0)], {"border": "clamp"}

    @staticmethod
    def made(seed):
        return Step(
            Correlation(random_weights(np.random.default_rng(seed), 3)), "parallel", title=str(seed)
        )

    @precondition(lambda self: len(self.steps) < MAX_STEPS)
    @rule(place=places, seed=st.integers(0, 3))
    def add(self, place, seed):
        self.steps.insert(place, self.made(seed))

    @precondition(lambda self: len(self.steps) > 1)
    @rule(place=places)
    def remove(self, place):
        del self.steps[place % len(self.steps)]

    @rule(one=places, other=places)
    def swap(self, one, other):
        one, other = one % len(self.steps), other % len(self.steps)
        self.steps[one], self.steps[other] = self.steps[other], self.steps[one]

    @rule(place=places, mix=st.sampled_from((1.0, 0.5, 0.25)))
    def mix(self, place, mix):
        place %= len(self.steps)
        self.steps[place] = replace(self.steps[place], mix=mix)

    @rule(place=places)
    def toggle(self, place):
        self.off ^= {place}

    @rule(border=st.sampled_from(BORDERS), is_rounded=st.booleans())
    def set_how(self, border, is_rounded):
        self.how = {"border": border, "is_rounded": is_rounded}

    @rule(sampling=st.sampled_from((ONCE, CHECKED, EVERY_PIXEL)))
    def run(self, sampling):
        on = [each for place, each in enumerate(self.steps) if place not in self.off]
        job = Job(self.picture, tuple(on or self.steps), **self.how)
        found, fresh = (
            engine.run(job, sampling) for engine in (self.engine, Engine(use_gpu=False))
        )
        assert found.picture.tobytes() == fresh.picture.tobytes()
        assert [e.picture.tobytes() for e in found.steps] == [
            e.picture.tobytes() for e in fresh.steps
        ]
        for each in (found, *found.steps):
            assert not sampling.check or each.check.is_verified
            assert each.kernel.samples_ms


Editing.TestCase.settings = settings(max_examples=20, stateful_step_count=20)
test_editing = Editing.TestCase


# -- the model of a list in each way, against numbers by hand


LIMITS = {"multiprocessors": 132, "l2_bytes": 60 << 20}
CEILINGS = {"copy_gb_s": 4000.0, "l2_read_gb_s": 8000.0, "fma_tflop_s": 64.0}
SAMPLES = 4096 * 4096


def job(*sizes, shape=(4096, 4096, 1), pixel_type="uint8", **fields):
    steps = (Step(Correlation(filters.get("gaussian").weights(size))) for size in sizes)
    return Job(blank(shape, pixel_type), tuple(steps), **fields)


def test_each_step_moves_a_picture_and_bytes_are_widened_and_narrowed():
    """Two steps of bytes: widen 1 + 4, two of 4 + 4, narrow 4 + 1; of float32 no more than two."""
    found = list_work(job(3, 3), LIMITS)["graph"]
    assert (found.read_bytes, found.written_bytes) == (13 * SAMPLES, 13 * SAMPLES)
    assert found.memory_ms(CEILINGS) == pytest.approx(26 * SAMPLES / 4000 * 1e-6)
    ranks = replace(job(3), steps=(Step(Rank(3)), *job(3, 3).steps))  # bytes: 1 + 1
    ranked = list_work(ranks, LIMITS)["graph"]
    assert (ranked.read_bytes, ranked.written_bytes) == (14 * SAMPLES, 14 * SAMPLES)
    floats = list_work(job(3, 3, pixel_type="float32"), LIMITS)["graph"]
    assert (floats.read_bytes, floats.written_bytes) == (8 * SAMPLES, 8 * SAMPLES)
    mixed = job(3, 3, pixel_type="float32")
    mixed = replace(mixed, steps=(replace(mixed.steps[0], mix=0.5), mixed.steps[1]))
    blended = list_work(mixed, LIMITS)["graph"]  # one more launch reads two pictures
    assert (blended.read_bytes, blended.written_bytes) == (16 * SAMPLES, 12 * SAMPLES)


def test_what_a_tile_needs_grows_from_step_to_step():
    """Of 64×32 samples the last step makes those, that before it a pixel more on every side."""
    two = job(3, 3)
    found = list_work(two, LIMITS)["list_tiles"]
    assert two.halos == (2, 1, 0)
    assert found.area == (64, 32)
    assert found.read_bytes == (64 + 4) * (32 + 4) * (4096 // 64) * (4096 // 32)
    assert found.written_bytes == SAMPLES
    first = 66 * 34 / (64 * 32)
    assert found.again == pytest.approx((first + 1) / 2 - 1)
    assert found.flops == pytest.approx(12 * SAMPLES * (first + 1))  # a column and a row of 3
    assert found.compute_ms(CEILINGS) == pytest.approx(12 * SAMPLES * (first + 1) / 64e9)


def test_strips_go_through_the_cache_and_lose_little():
    found = list_work(job(5, 3), LIMITS)
    strips, graph = found["strips"], found["graph"]
    across, down = strips.area
    assert across == 4096
    assert down % 32 == 0
    assert strips.read_bytes == round(SAMPLES * (down + 2 * 3) / down)
    assert strips.cached_bytes >= 24 * SAMPLES  # 26, but for first and last
    assert 0 < strips.again < 0.02
    assert graph.again == 0
    assert strips.memory_ms(CEILINGS) == pytest.approx(strips.cached_bytes / 8e9)


def test_the_ring_has_the_area_of_a_warp_and_repeats_least_where_pictures_are_large():
    found = list_work(job(*[3] * 8, shape=(8192, 8192, 1)), LIMITS)
    ring, tiles = found["list_ring"], found["list_tiles"]
    assert ring.area[0] == (32 - 2) * 8  # a lane of eight samples at either end is for the halo
    assert ring.again < tiles.again / 2
    assert ring.read_bytes < tiles.read_bytes


def test_longer_lists_are_bound_by_operations_on_bytes():
    """Where recomputation crosses bandwidth: of bytes early, of float32 not within eight."""

    def late(pixel_type, count):
        found = list_work(job(*[3] * count, pixel_type=pixel_type), LIMITS)["list_tiles"]
        return found.compute_ms(CEILINGS) > found.memory_ms(CEILINGS)

    assert [late("uint8", count) for count in (2, 8)] == [False, True]
    assert not late("float32", 8)


def test_ways_that_cannot_say_why():
    alone = list_work(job(3), LIMITS)
    assert {"strips", "list_tiles", "list_ring"} == {
        key for key, each in alone.items() if each == "There is one step only."
    }
    assert alone["graph"].read_bytes == SAMPLES  # of one launch nothing is widened
    wrapped = list_work(job(3, 3, border="wrap"), LIMITS)
    assert "wraps around" in wrapped["strips"]
    assert wrapped["list_tiles"].area == (64, 32)
    large = job(11, 3)
    assert list_work(large, LIMITS)["list_tiles"] == LIST_RUNGS["list_tiles"].why_never(large)


def test_comparisons_are_no_operations_but_are_done_again():
    median = Step(Rank(ksize=3, percentile=50.0))
    found = list_work(Job(blank((512, 512, 1), "uint8"), (median, median)), LIMITS)["list_tiles"]
    assert found.flops == 0
    assert found.again == pytest.approx((66 * 34 / 2048 + 1) / 2 - 1)
