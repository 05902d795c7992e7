"""What the anatomy says of threads, addresses and banks is what the rungs' text does on the CPU."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
import pytest

from kernels.anatomy import transactions
from kernels.anatomy.accesses import NOWHERE
from kernels.anatomy.block_counts import idle_of, traffic_of
from kernels.anatomy.patterns import pattern_of, patterns, why_not_told
from kernels.anatomy.tile_shapes import Rect, shapes_of, why_none
from kernels.cuda.launch import plan_steps
from kernels.cuda_on_cpu import compiler
from kernels.cuda_on_cpu.counting import CountingShim, Trace
from kernels.cuda_on_cpu.regions import DEVICE
from kernels.rungs.rung import ladder
from tests.kernels.cases import Case
from tests.kernels.runners import in_a_block_it_takes
from tests.made_up import H200

NEEDS_A_COMPILER = pytest.mark.skipif(
    compiler.why_not() is not None, reason=str(compiler.why_not())
)
RUNGS = {rung.key: rung for rung in ladder()}
# Those whose headers describe it, of all passes but a library's.
TOLD = [
    key for key, rung in RUNGS.items() if all(each.anatomy or each.library for each in rung.passes)
]
# Every border, pixel size, number of channels and block shape; pictures that blocks fill and do
# not, that have fewer samples than a halo, and of one pixel.
CASES = (
    Case("clamp", "uint8", 1, (20, 70), 5, (32, 8)),
    Case("zero", "uint8", 3, (19, 23), 3, (16, 16)),
    Case("reflect", "float32", 3, (36, 29), 7, (32, 16)),
    Case("mirror", "uint16", 4, (21, 18), 5, (8, 8)),
    Case("wrap", "float16", 2, (17, 30), 9, (7, 5)),
    Case("zero", "float32", 4, (9, 5), 15, (32, 4)),
    Case("mirror", "uint8", 1, (1, 1), 3, (8, 8)),
    Case("clamp", "uint8", 3, (32, 32), 1, (32, 32)),
)
# Whose text does not say in which order it reads what it adds up, or makes a number of.
IN_ANY_ORDER = {"differentiate", "measure", "gather"}
# Whose threads make a sample each, by the way that the text says.  Others make many, read chunks
# that reach beyond a row between others, and store what others have made.
SIMPLE = {"global", "tiles", "passes"}
PLAIN = [
    key for key in TOLD if {each.anatomy.partition(".")[0] for each in RUNGS[key].passes} <= SIMPLE
]
WIDE = [key for key in TOLD if key not in PLAIN]
# Whose buffers hold two floats a number.
OF_PAIRS = {"measure", "multiply", "filter_columns", "restore_rows"}
# Their tiles hold halves.
TENSOR = {"tensor", "tensor_split", "tensor_separable"}
# Also weights that are not unrolled whole.
WIDE_CASES = (
    *(CASES[n] for n in (0, 3, 4)),
    Case("reflect", "uint8", 1, (20, 40), 33, (32, 8)),
)
# Of several tiles; with lines of 256 numbers, not of 64; and of tiles of which two columns are
# right, fewer than a line has threads.
TRANSFORMS = {"fft", "fft_registers"}
TRANSFORM_CASES = (
    Case("wrap", "uint16", 3, (40, 75), 31, (32, 8)),
    Case("clamp", "float32", 1, (20, 20), 63, (32, 8)),
    Case("reflect", "uint8", 2, (3, 9), 63, (32, 8)),
)
# Of rungs that take bytes alone: several strips, rows that end in a strip's first samples, and
# blocks of few rows.
BYTES = {"tensor_bytes", "tensor_tile_bytes", "tensor_dense_bytes"}
BYTE_CASES = (
    Case("zero", "uint8", 3, (19, 23), 3, (32, 8)),
    Case("wrap", "uint8", 4, (5, 262), 9, (32, 8)),
    Case("mirror", "uint8", 3, (6, 90), 15, (32, 8)),
    Case("reflect", "uint8", 1, (9, 1027), 7, (32, 8)),
)
# With more than two million accesses, which take half a minute; or for nothing.
TOO_MANY = {
    ("tensor", WIDE_CASES[-1]),
    ("tensor_split", WIDE_CASES[-1]),
    ("tensor_split", WIDE_CASES[1]),
    ("fft", TRANSFORM_CASES[-1]),  # which knows no such threads
}


def cases_of(key):
    if key in PLAIN:
        return CASES
    return WIDE_CASES + TRANSFORM_CASES * (key in TRANSFORMS) + BYTE_CASES * (key in BYTES)


WIDE_PAIRS = [(key, case) for key in WIDE for case in cases_of(key) if (key, case) not in TOO_MANY]


@cache
def job_of(key, case):
    job = in_a_block_it_takes(case.job(key))
    if reason := why_none(RUNGS[key], job, H200):
        pytest.skip(reason)
    return job


@cache
def shim_of(key: str, cache_: Path) -> CountingShim:
    """Compiled for all cases at once."""
    jobs = (in_a_block_it_takes(case.job(key)) for case in cases_of(key))
    return CountingShim(
        RUNGS[key], [job for job in jobs if not RUNGS[key].why_not(job, H200)], cache_
    )


@lru_cache(maxsize=4)  # several megabytes each
def traces_of(key: str, case: Case, cache_: Path) -> list[Trace]:
    return shim_of(key, cache_).trace(job_of(key, case))


def each_pass(key, case, cache_):
    """Of each pass: its shape, its pattern and its trace."""
    job = job_of(key, case)
    traces = {trace.number: trace for trace in traces_of(key, case, cache_)}
    for shape in shapes_of(RUNGS[key], job, DEVICE):
        yield shape, pattern_of(RUNGS[key], shape, job), traces[shape.number]


def blocks_of(shape):
    across, down = shape.grid
    return [(x, y) for y in range(down) for x in range(across)]


def said(steps, array, is_store):
    """(thread, byte) of every access, each thread's in its order; wide ones in parts."""
    threads, bytes_ = [], []
    for step in steps:
        if (step.array, step.is_store) != (array, is_store):
            continue
        for time in range(step.count):
            places = step.places(time)
            (who,) = np.nonzero(places != NOWHERE)
            part_of = part_bytes(step.item_bytes) if step.bytes > 2 else step.item_bytes
            for part in range(0, step.bytes, part_of):
                threads.append(who)
                bytes_.append(places[who] * step.item_bytes + part)
    if not threads:
        return np.empty((0, 2), np.int64)
    return np.stack((np.concatenate(threads), np.concatenate(bytes_)), 1)


def part_bytes(item_bytes):
    """Wide accesses are traced as the compiler has them: words, or samples of two bytes."""
    return 2 if item_bytes == 2 else 4


def seen(trace, shape, block, array, is_store, item_bytes=4):
    """The same, as it was written down."""
    found = trace.of(block[1] * shape.grid[0] + block[0], array, is_store)
    pairs = np.stack((found["thread"], found["offset"]), 1).astype(np.int64)
    part = part_bytes(item_bytes)
    if not (found["size"] > part).any():
        return pairs
    parts = np.maximum(found["size"] // part, 1).astype(np.int64)
    within = np.arange(int(parts.sum())) - np.repeat(np.cumsum(parts) - parts, parts)
    return np.repeat(pairs, parts, 0) + np.stack((np.zeros_like(within), part * within), 1)


def by_thread(pairs, in_any_order):
    if in_any_order:
        return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    return pairs[np.argsort(pairs[:, 0], kind="stable")]


def test_every_pattern_is_some_rungs_and_every_name_in_a_header_is_known():
    named = {each.anatomy for rung in RUNGS.values() for each in rung.passes} - {""}
    assert named == set(patterns())
    assert [why_not_told(rung) for rung in RUNGS.values()] == [None] * len(RUNGS)
    assert len(TOLD) >= 23  # all that come with the program


@pytest.mark.parametrize(
    ("field", "wrong", "words"),
    [
        ("anatomy", "tiles.flt", "there is no anatomy tiles.flt; the nearest is tiles.flat."),
        ("anatomy", "tiles.np", "there is no anatomy tiles.np"),
        ("layout", "rows", "there is no layout rows"),
    ],
)
def test_a_name_that_nothing_is_called_by_is_told_with_its_line(field, wrong, words):
    rung = RUNGS["shared"]
    source = rung.source.replace('anatomy = "tiles.flat"', f'{field} = "{wrong}"')
    broken = replace(rung, source=source, passes=(replace(rung.passes[0], **{field: wrong}),))
    line = next(n for n, text in enumerate(source.split("\n"), 1) if text.startswith(field))
    assert why_not_told(broken).startswith(f"03_shared.cu, line {line}: {words}")


def test_a_pass_that_names_no_pattern_has_none():
    rung = RUNGS["shared"]
    silent = replace(rung, passes=(replace(rung.passes[0], anatomy=""),))
    job = CASES[0].job("shared")
    (shape,) = shapes_of(silent, job, DEVICE)
    assert pattern_of(silent, shape, job) is None
    assert why_not_told(silent) is None


@NEEDS_A_COMPILER
@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("key", PLAIN)
def test_a_launch_does_as_it_is_told_here(key, case, build_cache):
    check_addresses(key, case, build_cache)
    check_traffic(key, case, build_cache)
    check_idle(key, case, build_cache)
    check_tiles(key, case, build_cache)
    if case.border != "zero" and key != "gradient":
        check_memory(key, case, build_cache)


@NEEDS_A_COMPILER
@pytest.mark.parametrize(("key", "case"), WIDE_PAIRS, ids=str)
def test_rungs_of_many_samples_a_thread_do_so_too(key, case, build_cache):
    check_addresses(key, case, build_cache)
    check_traffic(key, case, build_cache)
    check_idle(key, case, build_cache)
    if key in TRANSFORMS and case.border != "zero":
        check_memory(key, case, build_cache)


@pytest.mark.parametrize(("key", "case"), WIDE_PAIRS[::4], ids=str)
def test_short_cuts_count_what_all_times_add_up_to(key, case):
    job = job_of(key, case)
    for shape in shapes_of(RUNGS[key], job, DEVICE):
        for step in pattern_of(RUNGS[key], shape, job).steps((0, 0)):
            places = [step.places(time) for time in range(step.count)]
            taken = np.concatenate(places) if places else np.empty(0, np.int64)
            taken = np.sort(taken[taken != NOWHERE])
            np.testing.assert_array_equal(np.sort(step.taken()), taken)
            if step.different is not None:
                np.testing.assert_array_equal(np.sort(step.different()), np.unique(taken))
            assert step.asked() == len(taken) * step.width


def check_addresses(key, case, cache_):
    """All addresses of all threads of all blocks; in their order, where the text says it."""
    for shape, pattern, trace in each_pass(key, case, cache_):
        compared = 0
        for block in blocks_of(shape):
            steps = pattern.steps(block)
            for array in {*trace.arrays, "tile", *(step.array for step in steps)}:
                for is_store in (False, True):
                    any_order = shape.function in IN_ANY_ORDER or key not in PLAIN
                    model = by_thread(said(steps, array, is_store), any_order)
                    item = items_of(key, case).get(array, 4)
                    real = by_thread(seen(trace, shape, block, array, is_store, item), any_order)
                    np.testing.assert_array_equal(model, real, f"{array} {is_store} {block}")
                    compared += len(real)
        assert compared >= len(trace.accesses) > 0


def check_traffic(key, case, cache_):
    for shape, pattern, trace in each_pass(key, case, cache_):
        for block in blocks_of(shape):
            traffic = traffic_of(pattern.steps(block), shape.reads)
            loads = trace.of(block[1] * shape.grid[0] + block[0], shape.reads, is_store=False)
            reads = trace.of(block[1] * shape.grid[0] + block[0], "tile", is_store=False)
            item = 4 if shape.reads != "picture" else job_of(key, case).picture.itemsize
            assert traffic.loaded_bytes == loads["size"].sum()
            halves = 2 if shape.function in OF_PAIRS else 1  # traced by fours
            assert traffic.asked * halves == loads["size"].sum() // item
            assert traffic.different * halves == len(np.unique(numbers(loads, item)))
            assert traffic.read_bytes == reads["size"].sum()
            stores = trace.of(block[1] * shape.grid[0] + block[0], "tile", is_store=True)
            assert traffic.stored_bytes == stores["size"].sum()


def items_of(key, case):
    tile = {"tile": 2} if key in TENSOR else {}
    return {"picture": job_of(key, case).picture.itemsize, **tile}


def numbers(accesses, item):
    """Every number that was accessed: several where one access takes sixteen bytes."""
    parts = (accesses["size"] // item).astype(np.int64)
    within = np.arange(int(parts.sum())) - np.repeat(np.cumsum(parts) - parts, parts)
    return np.repeat(accesses["offset"].astype(np.int64) // item, parts) + within


def check_idle(key, case, cache_):
    """Idle threads are those that store nothing."""
    for shape, pattern, trace in each_pass(key, case, cache_):
        written = trace.arrays[-1]
        busy_in = {}
        for block in blocks_of(shape):
            stores = trace.of(block[1] * shape.grid[0] + block[0], written, is_store=True)
            busy_in[block] = len(np.unique(stores["thread"]))
            assert idle_of(pattern, shape, block).in_block == shape.threads - busy_in[block]
        idle = idle_of(pattern, shape, (0, 0))
        assert idle.threads == shape.threads * shape.blocks
        assert idle.in_all == idle.threads - sum(busy_in.values())
        assert idle.share == idle.in_all / idle.threads


def check_memory(key, case, cache_):
    """Sectors, lines and banks, counted with sets out of what was written down, warp by warp and
    access by access."""
    for shape, pattern, trace in each_pass(key, case, cache_):
        if shape.function in IN_ANY_ORDER:
            continue
        block = (shape.grid[0] // 2, shape.grid[1] // 2)
        number = block[1] * shape.grid[0] + block[0]
        steps = [each for each in pattern.steps(block) if not each.name.endswith("alpha")]
        for memory_of in ("global", "shared"):
            kept = [s for s in steps if s.memory == memory_of and not s.is_store]
            # Spectrum and roots are both weights, and taken in turn.
            for array in {step.array for step in kept} - {"weights"}:
                real = trace.of(number, array, is_store=False)
                own = [step for step in kept if step.array == array]
                check_warps(own, real, shape)


def popped(offsets, step):
    """The next access of a lane, which may be traced as several words."""
    first, *_ = (offsets.pop(0) for _ in range(max(step.bytes // 4, 1)))
    return first


def check_warps(steps, real, shape):
    """A thread's n-th access belongs to the n-th time of the steps that it takes part in."""
    offsets = {thread: [] for thread in range(shape.threads)}
    for thread, offset in zip(real["thread"].tolist(), real["offset"].tolist(), strict=True):
        offsets[thread].append(offset)
    for step in steps:
        for time in range(step.count):
            places = step.places(time)
            for warp in range(shape.warps):
                lanes = transactions.of_warp(places, warp)
                mine = [
                    popped(offsets[32 * warp + lane], step)
                    for lane in range(32)
                    if lanes[lane] != NOWHERE
                ]
                if step.memory == "global":
                    found = transactions.coalescing(lanes, step.item_bytes)
                    assert found.sectors == len({offset // 32 for offset in mine})
                    assert found.lines == len({offset // 128 for offset in mine})
                    assert found.least_sectors <= found.sectors
                    assert found.least_lines <= found.lines
                else:
                    found = transactions.conflicts(lanes)
                    words = Counter(offset // 4 % 32 for offset in set(mine))
                    assert found.turns == max(words.values(), default=0)
                    assert int(found.in_conflict.sum()) == sum(
                        words[offset // 4 % 32] > 1 for offset in mine
                    )
                assert found.active == len(mine)


def check_tiles(key, case, cache_):
    """A block reads its tile and its halo and no more, of the picture or what it reads in its
    place, where no border brings other samples in."""
    job = job_of(key, case)
    pitch = shim_pitch(job)
    for shape, _, trace in each_pass(key, case, cache_):
        item = {"picture": job.picture.itemsize, "slopes": 8}.get(shape.reads, 4)
        for block in blocks_of(shape):
            whole = shape.with_halo(block)
            inside = whole.clipped(shape.picture)
            loads = trace.of(block[1] * shape.grid[0] + block[0], shape.reads, is_store=False)
            places = np.unique(loads["offset"].astype(np.int64) // item)
            ys, xs = places // pitch, places % pitch
            is_inside = whole == inside
            if is_inside:
                assert ys.min() == inside.top
                assert ys.max() == inside.bottom - 1
                assert xs.min() >= inside.left
                assert xs.max() < inside.right
                if not job.has_alpha:
                    assert len(places) == inside.count


def shim_pitch(job):
    return -(-job.width * job.channels * job.picture.itemsize // 128) * 128 // job.picture.itemsize


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("key", RUNGS)
def test_grids_and_blocks_are_what_is_launched(key, case):
    job = job_of(key, case)
    launched = {step.number: step for step in plan_steps(RUNGS[key], job, DEVICE)}
    for shape in shapes_of(RUNGS[key], job, DEVICE):
        step = launched[shape.number]
        assert (shape.grid, shape.block) == (step.grid, step.block)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("key", RUNGS)
def test_tiles_cover_the_picture_once(key, case):
    job = job_of(key, case)
    for shape in shapes_of(RUNGS[key], job, DEVICE):
        if shape.layout is not None:
            continue  # see test_anatomy_of_transforms.py
        covered = np.zeros((job.height, job.width * job.channels), int)
        for block in blocks_of(shape):
            tile = shape.tile(block)
            own = tile.clipped(shape.picture)
            assert own.count > 0
            covered[own.top : own.bottom, own.left : own.right] += 1
            assert shape.block_at(own.left, own.top) == block
            assert shape.block_at(own.right - 1, own.bottom - 1) == block
        assert (covered == 1).all()


# -- by hand


def test_a_rectangle_is_clipped_to_what_both_share():
    assert Rect(-2, -1, 6, 4).clipped(Rect(0, 0, 5, 9)) == Rect(0, 0, 5, 4)
    assert Rect(7, 0, 9, 3).clipped(Rect(0, 0, 5, 9)).count == 0
    assert Rect(0, 0, 5, 2).grown(2, 1) == Rect(-2, -1, 7, 3)


@pytest.mark.parametrize(
    ("lanes", "item_bytes", "sectors", "least", "lines"),
    [
        (range(32), 4, 4, 4, 1),  # a warp of floats fills a line
        (range(1, 33), 4, 5, 4, 2),  # begun one later it does not
        (range(32), 1, 1, 1, 1),
        (range(31, 63), 1, 2, 1, 1),
        (range(0, 96, 3), 4, 12, 4, 3),
        ([7] * 32, 4, 1, 1, 1),  # one number for all
        ([NOWHERE] * 32, 4, 0, 0, 0),
        (list(range(16)) + list(range(1024, 1040)), 4, 4, 4, 2),
    ],
)
def test_sectors_of_32_bytes_and_lines_of_128(lanes, item_bytes, sectors, least, lines):
    found = transactions.coalescing(np.array(lanes), item_bytes)
    assert (found.sectors, found.least_sectors, found.lines) == (sectors, least, lines)
    assert found.is_best == (sectors == least)


@pytest.mark.parametrize(
    ("lanes", "turns", "in_conflict"),
    [
        (range(32), 1, 0),
        (range(5, 37), 1, 0),
        (range(0, 64, 2), 2, 32),  # every second bank, twice
        (range(0, 1024, 32), 32, 32),  # a column of a tile 32 words wide
        (range(0, 33 * 32, 33), 1, 0),  # and of one 33 wide
        ([3] * 32, 1, 0),  # one word is broadcast
        (list(range(16)) + list(range(36, 52)), 2, 24),  # 16×16, next to a halo of two
        ([NOWHERE] * 32, 0, 0),
    ],
)
def test_lanes_that_want_different_words_of_a_bank_take_turns(lanes, turns, in_conflict):
    found = transactions.conflicts(np.array(lanes))
    assert (found.turns, int(found.in_conflict.sum())) == (turns, in_conflict)


@pytest.mark.parametrize(
    ("lanes", "turns", "least", "in_conflict"),
    [
        (range(0, 128, 4), 4, 4, 0),  # sixteen bytes each, side by side: a quarter fills the banks
        (range(0, 32 * 36, 36), 4, 4, 0),  # an odd number of sixteen bytes apart
        (range(0, 32 * 32, 32), 32, 4, 32),  # a line apart: all eight want the same four banks
        ([0] * 32, 4, 4, 0),  # broadcast
        (list(range(0, 32, 4)) + [NOWHERE] * 24, 1, 1, 0),
    ],
)
def test_sixteen_bytes_a_lane_are_served_a_quarter_of_a_warp_at_a_time(
    lanes, turns, least, in_conflict
):
    found = transactions.conflicts(np.array(lanes), width=4)
    assert (found.turns, found.least_turns, int(found.in_conflict.sum())) == (
        turns,
        least,
        in_conflict,
    )
    assert found.is_best == (turns == least)


def test_a_rung_that_could_never_run_says_why():
    case = replace(CASES[0], size_hw=(512, 768))
    assert why_none(RUNGS["shared"], case.job("shared")) is None
    sentence = why_none(RUNGS["shared_untiled"], case.job("shared_untiled"))
    assert sentence is not None
    assert "1,536 KiB" in sentence
    assert "no GPU has more than 227 KiB" in sentence
    assert "NVIDIA H200 has 227 KiB" in (
        why_none(RUNGS["shared_untiled"], case.job("shared_untiled"), H200) or ""
    )
    assert "gradient" in (why_none(RUNGS["gradient"], case.job("shared")) or "")
    assert "rank" in (why_none(RUNGS["separable"], case.job("shared")) or "")


def test_a_library_has_no_shape():
    job = Case("clamp", "uint8", 1, (64, 64), 5, (32, 8)).job("fft")
    assert [shape.function for shape in shapes_of(RUNGS["fft"], job)] == [
        "gather",
        "multiply",
        "crop",
    ]
