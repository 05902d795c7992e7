"""What is recorded of threads and addresses is what another run of the rungs' text did."""

import weakref
from concurrent.futures import ThreadPoolExecutor, TimeoutError
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from kernels.anatomy import transactions
from kernels.anatomy.launch_shapes import shapes_of
from kernels.anatomy.record import TILE, Record, digest, idle_of, read_kept
from kernels.anatomy.transactions import NOWHERE
from kernels.core.job import Job
from kernels.cuda_on_cpu.counting import SHARED
from kernels.cuda_on_cpu.recording import BlockRecords, Stop
from kernels.cuda_on_cpu.regions import DEVICE
from kernels.rungs.own_kernels import own_kernel
from kernels.rungs.rung import ladder
from tests.compilers import needs_compiler
from tests.kernels.anatomy.recorded import FOLDER, jobs_of, launches_of
from tests.kernels.cases import Case, has_no_weights
from tests.kernels.cuda_on_cpu.bad_kernels import START
from tests.kernels.on_cpu import AccessesShim, CountingShim, RecordingShim
from tests.kernels.runners import in_a_block_it_takes
from tests.made_up import H200

RUNGS = {rung.key: rung for rung in ladder()}
# Pictures that blocks do not fill, with and without alpha; the large one has blocks inside.
CASES = (
    Case("zero", "uint8", 4, (25, 62), 5, (32, 8)),
    Case("reflect", "float32", 1, (36, 29), 3, (16, 16)),
)
LARGE = Case("mirror", "uint8", 3, (300, 1400), 5, (32, 8))


@cache
def job_of(key, case):
    job = in_a_block_it_takes(case.job(key))
    if reason := RUNGS[key].why_never(job, H200):
        pytest.skip(reason)
    return job


def able(key, cases):
    jobs = [in_a_block_it_takes(case.job(key)) for case in cases]
    return [job for job in jobs if not RUNGS[key].why_never(job, H200)]


def one_of(key: str) -> Case:
    """One of the cases that a rung takes, which rungs have by turns: each is compiled twice."""
    taken = [case for case in CASES if able(key, [case])]
    return taken[list(RUNGS).index(key) % len(taken)] if taken else CASES[0]


@cache
def recorder_of(key: str, case: Case, cache_: Path) -> RecordingShim:
    """Compiled for a case and the large one at once."""
    return RecordingShim(RUNGS[key], able(key, (case, LARGE)), cache_)


def bytes_of(threads, offsets, sizes):
    """Every (thread, byte) that is accessed, once."""
    each = np.repeat(np.arange(len(sizes)), sizes)
    within = np.arange(len(each)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    pairs = np.stack((threads[each], offsets[each] + within), 1)
    return np.unique(pairs, axis=0)


def recorded(record: Record, array, is_store):
    own = [s for s in record.steps if (s.array, s.is_store) == (array, is_store)]
    threads, offsets, sizes = [], [], []
    for step in own:
        time, thread = np.nonzero(step.offsets != NOWHERE)
        threads.append(thread)
        offsets.append(step.offsets[time, thread])
        sizes.append(np.full(len(thread), step.size))
    if not own:
        return np.empty((0, 2), np.int64)
    return bytes_of(*(np.concatenate(each) for each in (threads, offsets, sizes)))


def traced(accesses):
    if not len(accesses):
        return np.empty((0, 2), np.int64)
    names = ("thread", "offset", "size")
    return bytes_of(*(accesses[name].astype(np.int64) for name in names))


def accesses_of(counts, block, array, is_store):
    """Those of one block to an array, or to the tile in shared memory."""
    begin, end = np.searchsorted(counts.accesses["step"], [block, block + 1])
    own = counts.accesses[begin:end]
    places = [i for i, name in enumerate(counts.arrays) if name == array] or [SHARED]
    return own[np.isin(own["array"], places) & (own["is_store"] == is_store)]


# Of every ninth rung each time: it is compiled for long.
SOME = [*RUNGS][1::9]
EACH = [
    pytest.param(
        key, case, marks=() if key in SOME and case == one_of(key) else pytest.mark.nightly
    )
    for key in RUNGS
    for case in CASES
]


@needs_compiler
@pytest.mark.parametrize(("key", "case"), EACH, ids=str)
def test_each_thread_touches_what_another_trace_says(key, case, build_cache):
    job = job_of(key, case)
    shim = AccessesShim if has_no_weights(key) else CountingShim  # counted floats lack ranks.cuh
    traces = {e.number: e for e in shim(RUNGS[key], [job], build_cache).count(job, 12_000_000)}
    for shape in shapes_of(RUNGS[key], job, DEVICE):
        trace, looked_at = traces[shape.number], {(0, 0), *shape.kinds()}
        assert not trace.is_cut
        for block in looked_at:
            record = recorder_of(key, case, build_cache).record(job, shape, block)
            number = block[1] * shape.grid[0] + block[0]
            # In a record dynamic memory stands behind static: here both begin at 0.
            is_both = "    __shared__" in RUNGS[key].source
            for array in {*trace.arrays, *[TILE] * (not is_both)}:
                for is_store in (False, True):
                    real = accesses_of(trace, number, array, is_store)
                    mine = recorded(record, array, is_store)
                    np.testing.assert_array_equal(mine, traced(real), f"{array} {is_store} {block}")
            loads = accesses_of(trace, number, shape.reads, False)
            if shape.reads != "weights" and not job.has_alpha:
                assert record.traffic.loaded_bytes == loads["size"].sum()
            busy = np.unique(accesses_of(trace, number, shape.writes, True)["thread"])
            assert record.idle == shape.threads - len(busy)
            assert record.traffic.different <= record.traffic.asked


@needs_compiler
@pytest.mark.parametrize("key", ["shared", "separable", "tensor_tile_bytes"])
def test_idle_threads_of_all_blocks_are_those_of_each_kind(key, build_cache):
    job = job_of(key, one_of(key))
    shim = recorder_of(key, one_of(key), build_cache)
    for shape in shapes_of(RUNGS[key], job, DEVICE):
        blocks = [(x, y) for x in range(shape.grid[0]) for y in range(shape.grid[1])]
        records = {block: shim.record(job, shape, block) for block in blocks}
        idle = idle_of(records, shape, (0, 0))
        assert idle.in_all == sum(each.idle for each in records.values())
        assert idle.threads == shape.threads * shape.blocks


@needs_compiler
@pytest.mark.parametrize(
    "key", [pytest.param(key, marks=() if key in SOME else pytest.mark.nightly) for key in RUNGS]
)
def test_blocks_inside_the_picture_do_alike(key, build_cache):
    """So that one record of them is enough."""
    job, compared = job_of(key, LARGE), 0
    shim = recorder_of(key, one_of(key), build_cache)
    for shape in shapes_of(RUNGS[key], job, DEVICE):
        across, down = shape.grid
        some = [(x, y) for y in range(down) for x in range(across) if shape.is_inside((x, y))]
        if len(some) < 2:
            continue
        first, last = (shim.record(job, shape, block) for block in (some[0], some[-1]))
        for mine, other in zip(first.moved(shape, some[-1]).steps, last.steps, strict=True):
            assert (mine.array, mine.line, mine.size) == (other.array, other.line, other.size)
            np.testing.assert_array_equal(mine.offsets, other.offsets)
            compared += 1
    if not compared:
        pytest.skip("its blocks are as wide as the picture, or transform it")


@needs_compiler
def test_a_tile_and_its_halo_are_what_a_block_loads(build_cache):
    job = job_of("shared", LARGE)
    (shape,) = shapes_of(RUNGS["shared"], job, DEVICE)
    record = recorder_of("shared", one_of("shared"), build_cache).record(job, shape, (5, 7))
    loads = recorded(record, "picture", False)[:, 1]
    ys, xs = np.divmod(np.unique(loads), shape.row_bytes["picture"])
    whole = shape.with_halo((5, 7))
    assert (ys.min(), ys.max() + 1, xs.min(), xs.max() + 1) == (
        *(whole.top, whole.bottom),
        *(whole.left, whole.right),
    )
    assert (record.owners == np.arange(256).reshape(8, 32)).all()
    assert record.rects(0, 32) == [shape.tile((5, 7)).__class__(160, 56, 192, 57)]


@needs_compiler
def test_lanes_that_skip_a_turn_of_a_loop_stay_at_the_same_step(build_cache):
    """Beyond an edge with zeros nothing is loaded: of a tap's row all lanes access one row."""
    job = job_of("global", Case("zero", "uint8", 3, (19, 43), 3, (16, 16)))
    (shape,) = shapes_of(RUNGS["global"], job, DEVICE)
    record = RecordingShim(RUNGS["global"], [job], build_cache).record(job, shape, (0, 0))
    (taps,) = [s for s in record.steps if s.array == "picture" and not s.is_store]
    assert taps.count == job.ksize**2
    for time, offsets in enumerate(taps.offsets):
        (lane,) = np.nonzero(offsets != NOWHERE)
        y, x = np.divmod(offsets[lane], shape.row_bytes["picture"])
        np.testing.assert_array_equal(y, lane // 16 + time // 3 - 1)
        np.testing.assert_array_equal(x, lane % 16 + (time % 3 - 1) * 3)


@needs_compiler
def test_a_recording_ends_at_once_where_it_is_stopped(build_cache, monkeypatch):
    """Not when its native call ends: this one never does."""
    endless = own_kernel("mine.cu", START.format(before="", body="while (height > 0)\n    y;"))
    job = Job.of(np.zeros((8, 32, 1), np.uint8), np.ones((3, 3), np.float32), block_xy=(32, 8))
    (shape,) = shapes_of(endless, job)
    RecordingShim(endless, [job], build_cache)
    monkeypatch.setattr("kernels.cuda_on_cpu.recording.default_cache", lambda: build_cache)
    records, stop = BlockRecords(endless, job, shape), Stop()
    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(list, records.making((0, 0), stop))
        with pytest.raises(TimeoutError):
            running.result(0.5)
        stop.set()
    assert (records.get((0, 0)), records.problem) == (None, "")


# -- kept as data


@pytest.mark.parametrize("key", RUNGS)
def test_what_is_kept_is_of_the_rungs_text_as_it_is(key):
    """Else `make blocks` records it again."""
    rung = RUNGS[key]
    for name, (job, shape, _) in launches_of(rung, list(jobs_of(rung))).items():
        assert name == digest(rung, job, shape)
        assert read_kept(FOLDER, rung, job, shape) is not None


@needs_compiler
@pytest.mark.parametrize("key", ["separable", "tile_separable", "tensor_tile_bytes"])
def test_what_is_kept_is_what_would_be_recorded(key, build_cache):
    rung = RUNGS[key]
    launches = list(launches_of(rung, list(jobs_of(rung))[:1]).values())
    shim = RecordingShim(rung, [job for job, _, _ in launches], build_cache)
    for job, shape, block in launches:
        kept = read_kept(FOLDER, rung, job, shape).moved(shape, block)
        anew = shim.record(job, shape, block)
        for mine, other in zip(kept.steps, anew.steps, strict=True):
            np.testing.assert_array_equal(mine.offsets, other.offsets)
            assert (mine.name, mine.array) == (other.name, other.array)


def test_without_a_compiler_what_is_kept_is_shown_and_the_rest_is_said(monkeypatch):
    rung = RUNGS["shared"]
    job = next(jobs_of(rung))
    (shape,) = shapes_of(rung, job)
    monkeypatch.setattr("kernels.cuda_on_cpu.recording.why_not", lambda: "There is no compiler.")
    records = BlockRecords(rung, job, shape, FOLDER)
    assert list(records.making((0, 0))) == []
    assert (records.get((0, 0)), records.problem) == (None, "There is no compiler.")
    assert records.get((9, 9)).traffic.asked == 38 * 10
    assert records.idle((9, 9)) is None


def test_of_blocks_that_the_pointer_comes_by_only_the_last_are_kept():
    rung = RUNGS["shared"]
    job = next(jobs_of(rung))
    (shape,) = shapes_of(rung, job)
    records = BlockRecords(rung, job, shape, FOLDER)
    passed = [weakref.ref(records.get((x, 9))) for x in range(3, 15)]
    assert [each() is None for each in passed] == [True] * 8 + [False] * 4
    assert records.get((3, 9)).traffic is records.get((14, 9)).traffic  # not counted anew


# -- by hand


@pytest.mark.parametrize(
    ("lanes", "size", "sectors", "least", "lines"),
    [
        (range(0, 128, 4), 4, 4, 4, 1),  # a warp of floats fills a line
        (range(4, 132, 4), 4, 5, 4, 2),  # begun one later it does not
        (range(32), 1, 1, 1, 1),
        (range(31, 63), 1, 2, 1, 1),
        (range(0, 384, 12), 4, 12, 4, 3),
        ([28] * 32, 4, 1, 1, 1),  # one number for all
        ([NOWHERE] * 32, 4, 0, 0, 0),
        ([*range(0, 64, 4), *range(4096, 4160, 4)], 4, 4, 4, 2),
        (range(0, 512, 16), 16, 16, 16, 4),
    ],
)
def test_sectors_of_32_bytes_and_lines_of_128(lanes, size, sectors, least, lines):
    found = transactions.coalescing(np.array(lanes), size)
    assert (found.count, found.least, found.lines) == (sectors, least, lines)
    assert found.is_best == (sectors == least)


@pytest.mark.parametrize(
    ("lanes", "size", "turns", "least", "in_conflict"),
    [
        (range(32), 4, 1, 1, 0),
        (range(5, 37), 4, 1, 1, 0),
        (range(0, 64, 2), 4, 2, 1, 32),  # every second bank, twice
        (range(0, 1024, 32), 4, 32, 1, 32),  # a column of a tile 32 words wide
        (range(0, 33 * 32, 33), 4, 1, 1, 0),  # and of one 33 wide
        ([3] * 32, 4, 1, 1, 0),  # one word is broadcast
        ([*range(16), *range(36, 52)], 4, 2, 1, 24),  # 16×16, next to a halo of two
        ([None] * 32, 4, 0, 0, 0),
        (range(0, 128, 4), 16, 4, 4, 0),  # sixteen bytes each: a quarter fills the banks
        (range(0, 32 * 36, 36), 16, 4, 4, 0),  # an odd number of sixteen bytes apart
        (range(0, 32 * 32, 32), 16, 32, 4, 32),  # a line apart: all eight want the same four banks
        ([0] * 32, 16, 4, 4, 0),  # broadcast
        ([*range(0, 32, 4), *[None] * 24], 16, 1, 1, 0),
    ],
)
def test_lanes_that_want_different_words_of_a_bank_take_turns(
    lanes, size, turns, least, in_conflict
):
    """The lanes' first words."""
    at = np.array([NOWHERE if each is None else 4 * each for each in lanes])
    found = transactions.conflicts(at, size)
    assert (found.count, found.least) == (turns, least)
    assert int(found.waits.sum()) == in_conflict
    assert found.is_best == (turns == least)
