"""A list on the GPU in one go: the bytes of its steps one by one, verified, timed as a whole."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from kernels import Engine, Result, Sampling, filters
from kernels.core.borders import BORDERS
from kernels.core.cache import may_change, read_only
from kernels.core.device import NoDevice
from kernels.core.job import MAX_STEPS, PIXEL_TYPES, Job, Region
from kernels.core.nonlinear import Rank
from kernels.core.step import Blend, Correlation, Step, StepRun
from kernels.cuda import device_pictures, listed_run
from kernels.cuda.launch import Launch, Program, Programs, plan_steps, rows_per_launch
from kernels.cuda.listed_run import (
    L2_SHARE,
    LANES,
    TEXT,
    ListLaunch,
    _options,
    places_of,
    rows_in_l2,
)
from kernels.cuda.nvrtc import compiler_for, options_for
from kernels.cuda_on_cpu import compiler
from kernels.engine.list_ways import GRAPH, STRIPS
from kernels.engine.step_list import KeptRuns, blended, list_filtering, parts_ahead
from kernels.oracle.reference import filtered, to_pixel_type
from kernels.rungs.cuda_text import header_parts
from kernels.rungs.headers import Facts
from kernels.rungs.operands import Operands, operands_of
from kernels.rungs.own_kernels import own_kernel
from kernels.rungs.rung import Rung, ladder
from tests.kernels.cases import fitting_weights, random_list, random_picture, random_weights
from tests.kernels.cuda.test_gpu import memory_left
from tests.kernels.made_up_cuda import MadeUpCuda, MadeUpGpu, by_reference
from tests.kernels.on_cpu import Shim
from tests.made_up import H200

QUICK = Sampling(max_samples=3, max_seconds=0.1, check_taps=None)
ONCE = Sampling(max_samples=0, check=False)
PLAIN = ("global", "constant", "shared", "separable", "register_tile", "ring", "auto", "fft")
SHARED, MEDIAN = (next(e for e in ladder() if e.key == key) for key in ("shared", "median_sort"))
NO_WRAP = [border for border in BORDERS if border != "wrap"]
GRADIENTS = ("gradient", "gradient_fused", "auto")


@pytest.mark.parametrize("pixel_type", PIXEL_TYPES)
@pytest.mark.parametrize("channels", [3, 4])
def test_what_lies_between_the_steps_compiles(pixel_type, channels):
    if (compiler := compiler_for(90)) is None:
        pytest.skip("NVRTC is not installed")
    made = compiler.compile(TEXT, (*_options(pixel_type, channels), "--gpu-architecture=sm_90"))
    assert all(f".entry {name}" in made.ptx for name in ("widen", "narrow", "blend"))


BLENDS = header_parts(("blends",))[-1].text
BLENDING = """extern "C" __global__ void convolve(
    const sample* src, sample* dst, int height, int width, int pitch, int first_row, int end_row)
{
    const int x = threadIdx.x, y = first_row + threadIdx.y;
    if (blockIdx.x || blockIdx.y || x >= width || y >= end_row) return;
    const float before = row_of(src, 0, pitch)[x];
    row_of(dst, y, pitch)[x] = blended(before, row_of(src, y, pitch)[x], 0.75f, 2.0f);
}"""


def test_blended_samples_are_those_of_numpy_and_nan_stays_nan(build_cache):
    if reason := compiler.why_not():
        pytest.skip(reason)
    values = np.array([0, -0.0, 1, -2, 2, 1e30, -7.3, np.inf, -np.inf, np.nan], np.float32)
    before, after = (each.ravel() for each in np.meshgrid(values[:7], values))
    picture = read_only(np.stack([before, after])[:, :, np.newaxis].copy())
    job = Job(picture, (Step(Correlation(np.ones((1, 1), np.float32)), "blending.cu", (128, 2)),))
    found = Shim(own_kernel("blending.cu", BLENDS + BLENDING), [job], build_cache).run(job)
    expected = blended(StepRun((), Blend(0.75, 2.0), 1), *picture[:, np.newaxis])
    np.testing.assert_array_equal(found[1:], expected)
    assert np.isnan(expected[0, np.isnan(after)]).all()


def by_few_rows(job, source, target, rows):
    """Do as `by_reference`, and read no rows but those that are needed."""
    needed = slice(max(rows[0] - job.reach, 0), rows[1] + job.reach)
    given = np.zeros(source.shape, source.dtype)
    given[needed] = source[needed]
    by_reference(job, given, target, rows)


class MadeUpListGpu(MadeUpGpu):
    """Does by the reference what rungs do, and by NumPy what lies between them."""

    def __init__(self, filter_rows=None):
        super().__init__(MadeUpCuda(1), 0, filter_rows or by_few_rows)
        self.cp.asarray = np.asarray
        self.cp.RawModule = lambda code, options: SimpleNamespace(
            get_function=lambda name: partial(self._between, name, "-DHAS_ALPHA=1" in options)
        )

    def launch_on(self, program, job, source, rows, target):
        made = super().launch_on(program, job, source, rows, target)
        bound = SimpleNamespace(bind=lambda *_: None)
        return SimpleNamespace(
            arrays=made.arrays, queue=(made.ready(),), program=bound, operands=None, ran=tuple
        )

    def _between(self, name, has_alpha, _grid, _block, values):
        source, target, count, samples, *more = values

        def do():
            given, into = source[:count, :samples], target[:count, :samples]
            found = np.asarray(given)
            is_alpha = np.arange(samples) % self.channels == self.channels - 1
            if name == "inside":
                share = more[1][:count, None] * np.repeat(more[2], self.channels)
                mixed = share * into + (np.float32(1) - share) * found
                kept = (share == 1) | (is_alpha & has_alpha)
                found = np.where(share == 0, found, np.where(kept, into, mixed))
            elif name == "blend":
                was, (share, threshold) = found.astype(np.float32), more[1:]
                change = into.astype(np.float32) - was
                whole = was + np.copysign(np.maximum(np.abs(change) - threshold, 0), change)
                whole = whole if threshold else into.astype(np.float32)
                whole = share * whole + (1 - share) * was if share != 1 else whole
                found = np.where(is_alpha & has_alpha, into, whole)
            into[...] = to_pixel_type(found, into.dtype)

        self.cp.current.put(do, 0.0)


def ranked_first(job: Job, count: int) -> Job:
    """The list with medians and percentiles in front, which keep bytes as they are."""
    ranks = [Step(Rank(3, each), "median_sort") for each in (50.0, 25.0)[:count]]
    return replace(job, steps=(*ranks, *job.steps)[:MAX_STEPS])


def by_the_reference(job, _sampling):
    yield Result(job, read_only(to_pixel_type(filtered(job), job.picture.dtype)), None, ())


def test_what_lies_between_the_steps_is_what_the_engine_does_there(monkeypatch):
    monkeypatch.setattr(device_pictures, "cuda_errors_in_words", lambda _: nullcontext())
    for seed in range(60):
        job = ranked_first(drawn(seed), seed % 3)
        *_, expected = list_filtering(job, ONCE, KeptRuns(), by_the_reference)
        found = done_by(MadeUpListGpu(), SHARED, job)
        assert found.tobytes() == expected.picture.tobytes(), seed


def done_by(gpu: MadeUpListGpu, rung: Rung, job: Job, rows: int | None = None) -> np.ndarray:
    """What a list gives whose runs are all the same rung's."""
    gpu.channels = job.channels
    parts = [part for _, part in parts_ahead(job)]
    rungs = [rung if each.has_weights else MEDIAN for each in parts]
    pairs = zip(rungs, parts, strict=True)
    programs = [SimpleNamespace(rung=one, knobs=one.defines(each)) for one, each in pairs]
    source, _ = gpu.pictures.upload(job.picture)
    listed = ListLaunch(gpu, job, parts, programs, source, rows=rows)
    with gpu.using(""):
        listed.ready()()
    return listed.fetched(None).picture


@pytest.mark.parametrize("border", NO_WRAP)
def test_in_strips_it_gives_the_bytes_of_its_steps(monkeypatch, border):
    monkeypatch.setattr(device_pictures, "cuda_errors_in_words", lambda _: nullcontext())
    kinds = set()
    for seed in range(20):
        random, job = np.random.default_rng(seed), drawn(seed, border=border)
        picture = random_picture(random, (130 + seed, 5, job.channels), job.pixel_type, 1e3)
        region = Region(1, 6 * seed, 3, 15, feather=seed % 3) if seed % 2 else None
        job = ranked_first(job.but(picture=picture, region=region), seed // 9)
        *_, expected = list_filtering(job, ONCE, KeptRuns(), by_the_reference)
        assert done_by(MadeUpListGpu(), SHARED, job, 32).tobytes() == expected.picture.tobytes()
        kinds.add((job.is_wide, region is None, len(job.runs) > 2))
    assert len(kinds) == 8


def test_what_lies_between_the_steps_of_a_strip_has_room_in_the_cache():
    ranks, blur = [Step(Rank(3))] * 3, drawn(3).steps[0]
    for pixel_type, is_rounded, steps, row_bytes in (
        *(("uint8", True, (), 2), ("uint8", False, (), 3 * 4), ("float32", False, (), 2 * 4)),
        *(("uint8", False, ranks, 2), ("float32", False, ranks, 2 * 4)),
        *(("uint8", False, [*ranks[:1], blur], 1 + 3 * 4), ("uint16", False, [*ranks, blur], 16)),
    ):
        job = drawn(3, pixel_type=pixel_type, is_rounded=is_rounded, count=3, border="clamp")
        job = job.but(picture=np.zeros((9000, 4000, 3), pixel_type), region=Region(0, 0, 9, 9))
        job = replace(job, steps=tuple(steps) or job.steps)
        assert sum(np.dtype(e).itemsize * n for e, n in places_of(job).items()) == row_bytes
        rows = rows_in_l2(job, H200.l2_bytes)
        held = LANES * row_bytes * (rows + 2 * job.reach) * 12000
        assert rows % 32 == 0
        assert 0.5 < held / (L2_SHARE * H200.l2_bytes) <= 1.01


@pytest.fixture(scope="module")
def engine() -> Engine:
    made = Engine()
    if isinstance(made.device, NoDevice):
        pytest.skip(made.device.reason)
    return made


def drawn(seed: int, **fixed: object) -> Job:
    """A list whose steps each have a rung of their own, and weights that it takes."""
    random = np.random.default_rng(seed)
    job = random_list(random, **fixed)
    steps = [replace(each, is_grey=False) for each in job.steps]  # which no list on a GPU has
    for at, (step, behind) in enumerate(zip(steps, (*steps[1:], None), strict=True)):
        if not step.is_length:
            is_before_length = behind is not None and behind.is_length
            key = str(random.choice(GRADIENTS if is_before_length else PLAIN))
            weights = fitting_weights(random, step.filter.ksize, "" if key == "auto" else key)
            steps[at] = replace(
                step, implementation=key, filter=replace(step.filter, weights=weights)
            )
    return replace(job, steps=tuple(steps))


@pytest.mark.parametrize("pixel_type", PIXEL_TYPES)
@pytest.mark.parametrize("count", [1, 2, 3, 5, MAX_STEPS])
@pytest.mark.parametrize("channels", [3, 4])
def test_in_one_go_it_gives_the_bytes_of_its_steps(engine, pixel_type, count, channels):
    job = drawn(16 * count + channels, pixel_type=pixel_type, count=count, channels=channels)
    job = replace(job, list_way=GRAPH)  # rungs of whole lists add up in another order
    if reason := engine.why_not(job):
        pytest.skip(reason)
    one_by_one, whole = engine.run(job, ONCE), engine.run(job, QUICK)
    assert whole.picture.tobytes() == one_by_one.picture.tobytes()
    assert whole.check.ok or not np.isfinite(whole.check.bound)
    assert all(each.check.ok for each in whole.steps)
    assert len(whole.kernel.samples_ms) == 3
    if not job.is_one_launch:
        assert len(whole.steps) == count
        assert all(each.kernel.median_ms > 0 for each in whole.steps)
        assert whole.kernel.ended != "single"  # as a sum would have


@pytest.mark.parametrize("pixel_type", PIXEL_TYPES)
@pytest.mark.parametrize("border", NO_WRAP)
def test_in_strips_it_gives_the_bytes_of_one_graph(engine, monkeypatch, border, pixel_type):
    monkeypatch.setattr(listed_run, "rows_in_l2", lambda *_: 32)
    random = np.random.default_rng(7)
    steps = tuple(
        Step(Correlation(fitting_weights(random, 5, key)), key, mix=mix)
        for key, mix in (("shared", 1.0), ("tile_separable", 0.75), ("register_tile", 1.0))
    )
    picture = random_picture(random, (300, 210, 4), pixel_type, 1e3)
    job = Job(picture, steps, border, region=Region(9, 31, 150, 250, feather=5))
    graph, strips = (engine.run(replace(job, list_way=way), QUICK) for way in (GRAPH, STRIPS))
    assert (graph.list_way, strips.list_way) == (GRAPH, STRIPS)
    assert strips.picture.tobytes() == graph.picture.tobytes()


@pytest.mark.parametrize("list_way", [GRAPH, STRIPS])
@pytest.mark.parametrize("count", [0, 2])
def test_medians_of_bytes_in_front_run_on_bytes(engine, monkeypatch, list_way, count):
    monkeypatch.setattr(listed_run, "rows_in_l2", lambda *_: 32)
    picture = random_picture(np.random.default_rng(3), (300, 210, 4), "uint8", 1.0)
    weights = fitting_weights(np.random.default_rng(7), 5, "tile_separable")
    steps = tuple(Step(Correlation(weights), "tile_separable") for _ in range(count))
    for region in (None, Region(9, 31, 150, 250, feather=5)):
        job = ranked_first(Job(picture, steps or (Step(Rank(3), "median_sort"),), region=region), 2)
        job = replace(job, list_way=list_way)
        one_by_one, whole = engine.run(job, ONCE), engine.run(job, QUICK)
        types = [each.job.pixel_type for each in whole.steps]
        assert types == ["uint8"] * (len(job.runs) - count) + ["float32"] * count
        assert whole.list_way == list_way
        assert whole.check.ok
        assert whole.picture.tobytes() == one_by_one.picture.tobytes()


def blurs(key: str, count: int = 4, size: int = 96, **fields: object) -> Job:
    """The same rung for weights of one size, so that each step has the same program."""
    random = np.random.default_rng(5)
    picture = random.random((size, size, 3), np.float32)
    picture.flags.writeable = False
    steps = [Step(Correlation(random_weights(random, 5)), key) for _ in range(count)]
    return Job(picture, tuple(steps), list_way=GRAPH, **fields)


@pytest.mark.parametrize("key", ["constant", "shared", "register_tile"])
def test_equal_rungs_with_other_weights_keep_their_own(engine, key):
    result = engine.run(blurs(key), QUICK)
    assert result.check.ok
    assert len({ran.function for ran in result.ran}) == 1
    assert result.picture.tobytes() == result.steps[-1].picture.tobytes()


@pytest.mark.parametrize("cache", ["warm", "cold"])
@pytest.mark.parametrize("watchdog", [False, True])
def test_as_a_graph_or_not_from_a_cold_or_a_warm_cache_it_is_the_same(
    engine, monkeypatch, cache, watchdog
):
    graphs = []

    class Watched(ListLaunch):
        def ready(self):
            go = super().ready()
            graphs.append(self._graph is not None)
            return go

    monkeypatch.setattr("kernels.cuda.listed_run.ListLaunch", Watched)
    monkeypatch.setattr(engine.gpu, "device", replace(engine.gpu.device, watchdog=watchdog))
    result = engine.run(blurs("shared", border="mirror"), replace(QUICK, cache=cache))
    assert result.kernel.cache == cache
    assert result.check.ok
    assert graphs[-1] != watchdog


def test_without_the_memory_for_all_of_it_the_sum_of_the_steps_stands(engine):
    job = blurs("shared", MAX_STEPS, size=1500)
    with memory_left(engine, 5 * job.picture.nbytes):
        result = engine.run(job, replace(QUICK, check=False))
    times = [each.kernel.median_ms for each in result.steps]
    assert [each.strips for each in result.steps] == [1] * MAX_STEPS
    assert result.kernel.ended == "single"
    assert result.kernel.median_ms == pytest.approx(sum(times))
    assert engine.run(job, replace(QUICK, check=False)).kernel.ended != "single"


def test_what_a_step_gave_stays_on_the_device_for_the_next(engine):
    job = blurs("shared", 3)
    first = engine.run(job, ONCE)
    assert not any(may_change(each.picture) for each in first.steps)
    changed = replace(
        job, steps=(*job.steps[:2], Step(Correlation(filters.get("box").weights(3)), "shared"))
    )
    result = engine.run(changed, ONCE)
    assert [
        each.picture is one.picture for one, each in zip(first.steps, result.steps, strict=True)
    ] == ([True, True, False])
    assert result.steps[2].upload_ms is None


# -- cutting a picture into launches, without a GPU


def a_job(height: int, width: int, ksize: int = 3, block_xy: tuple[int, int] = (32, 8)) -> Job:
    picture = np.broadcast_to(np.zeros(1, np.uint8), (height, width, 1))
    weights = np.ones((ksize, ksize), np.float32)
    job = Job.of(np.zeros((1, 1, 1), np.uint8), weights, block_xy=block_xy)
    object.__setattr__(job, "picture", picture)  # its shape alone counts here
    return job


@pytest.mark.parametrize("block_y", [1, 7, 8, 32])
def test_with_a_watchdog_large_filters_are_cut_at_whole_blocks(block_y):
    laptop = replace(H200, watchdog=True, multiprocessors=4, clock_khz=1_000_000)
    job = a_job(8192, 8192, ksize=127, block_xy=(8, block_y))
    rows = rows_per_launch(job, laptop, block_y)
    assert rows < 8192
    assert rows % block_y == 0


def test_the_launches_together_cover_every_row_once():
    laptop = replace(H200, watchdog=True, multiprocessors=1, clock_khz=100)
    job = a_job(100, 70, block_xy=(32, 24))
    steps = plan_steps(ladder()[0], job, laptop)
    assert [step.rows for step in steps] == [(0, 24), (24, 48), (48, 72), (72, 96), (96, 100)]
    assert {step.grid for step in steps} == {(3, 1)}


def test_a_pass_with_a_grid_of_its_own_and_a_librarys_are_one_launch_each():
    job, rungs = a_job(500, 300), {rung.key: rung for rung in ladder()}
    steps = plan_steps(rungs["fft"], job, H200, rows=(10, 20))
    assert [step.number for step in steps] == [0, 1, 2, 3, 4]
    facts = Facts(job)
    tiles = facts["FFT_PAIRS"] * facts["FFT_TILES"]
    assert steps[0].grid == steps[2].grid == (facts["FFT_LINE"], tiles)
    assert steps[1].grid is None
    assert steps[1].block is None
    assert steps[4].rows == (10, 20)  # only what writes the picture is cut


class MadeUpStream:
    """Notes what CuPy's would be asked to do."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def begin_capture(self) -> None:
        self.done.append("capture")

    def end_capture(self) -> MadeUpStream:
        return self

    def upload(self) -> None:
        self.done.append("upload")

    def launch(self) -> None:
        self.done.append("graph")


def made_up_launch(stream: MadeUpStream, key: str, launches: int) -> Launch:
    cp = SimpleNamespace(cuda=SimpleNamespace(get_current_stream=lambda: stream))
    queue = tuple(lambda: stream.done.append("kernel") for _ in range(launches))
    program = Program(next(rung for rung in ladder() if rung.key == key), None, ())
    return Launch(cp, program, a_job(8, 8), (), {}, Operands(), queue)


def test_several_launches_are_captured_once_after_the_first_time_and_then_are_one():
    stream = MadeUpStream()
    launch = made_up_launch(stream, "separable", launches=2)
    for _ in range(3):
        launch.ready()()
    first, captured, then = ["kernel"] * 2, ["capture", *["kernel"] * 2, "upload"], ["graph"]
    assert stream.done == first + captured + then + then


def test_arguments_are_sent_once_unless_they_may_have_changed():
    sent = []
    programs = Programs(SimpleNamespace(asarray=lambda array: sent.append(array) or array.copy()))
    fixed, changing = np.zeros(3), np.zeros(3)
    fixed.flags.writeable = False
    for _ in range(2):
        programs.argument(fixed)
        programs.argument(changing)
    assert len([each for each in sent if each is fixed]) == 1
    assert len([each for each in sent if each is changing]) == 2
    programs.forget()
    programs.argument(fixed)
    assert sent[-1] is fixed


def test_weights_are_made_ready_once_for_all_launches_of_a_size():
    job = replace(a_job(9, 9), picture=np.zeros((9, 9, 1), np.uint8))
    first, again = operands_of("spectrum", job), operands_of("spectrum", replace(job))
    other = operands_of("spectrum", job.but(weights=job.correlation.weights * 2))
    assert again is first
    assert not first.arguments[0].flags.writeable
    assert (other.arguments[0] == 2 * first.arguments[0]).all()


def test_a_rung_for_one_architecture_is_compiled_for_that_alone():
    given = []
    module = SimpleNamespace(get_function=lambda _: None)
    cp = SimpleNamespace(RawModule=lambda code, options: given.append(options) or module)
    rung = next(rung for rung in ladder() if rung.key == "tensor_windows")
    job = Job.of(np.zeros((4, 5, 3), np.uint8), np.ones((5, 5), np.float32), "clamp", rung.key)
    Programs(cp).get(rung, job)
    assert "--gpu-architecture=sm_90a" in given[0]
    targets = [each for each in options_for(rung, job, 90) if "architecture" in each]
    assert targets == ["--gpu-architecture=sm_90a"]
