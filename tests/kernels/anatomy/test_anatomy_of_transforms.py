"""Where a transform's blocks and threads stand, and that all of them do what the header counts.

What each loads and stores is compared with the rungs' text, address by address, in test_anatomy.py.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from kernels.anatomy import anatomy_words
from kernels.anatomy.accesses import NOWHERE
from kernels.anatomy.layouts import FftTiles
from kernels.anatomy.patterns import pattern_of
from kernels.anatomy.tile_shapes import shapes_of
from kernels.anatomy.transform_words import every
from kernels.rungs.job_facts import Facts
from kernels.rungs.rung import ladder
from kernels.rungs.work import pass_work
from kernels.rungs.work_facts import WorkFacts
from tests.kernels.cases import Case

RUNGS = {rung.key: rung for rung in ladder()}
SIDE_32 = Case("mirror", "uint8", 1, (391, 1300), 127, (32, 8))
# Pictures of one pixel, smaller than a tile, and larger than two; lines of 64, 256 and 1024.
CASES = (
    Case("clamp", "uint8", 1, (1, 1), 3, (32, 8)),
    Case("reflect", "uint8", 2, (20, 50), 5, (32, 8)),
    Case("mirror", "uint16", 3, (70, 140), 3, (32, 8)),
    Case("wrap", "float32", 4, (45, 75), 31, (32, 8)),
    Case("zero", "uint8", 3, (66, 30), 9, (32, 8)),
    Case("clamp", "float16", 3, (20, 20), 63, (32, 8)),
    pytest.param(SIDE_32, marks=pytest.mark.nightly),
)
LAID_OUT = [
    (key, function)
    for key, functions in (
        ("fft", ("gather", "multiply")),
        ("fft_registers", ("transform_rows", "filter_columns")),
    )
    for function in functions
]


def told(key, function, case):
    job = case.job(key)
    (shape,) = [each for each in shapes_of(RUNGS[key], job) if each.function == function]
    return shape, pattern_of(RUNGS[key], shape, job), FftTiles(Facts(job))


def all_blocks(shape):
    return [(x, y) for y in range(shape.grid[1]) for x in range(shape.grid[0])]


def loaded_of(steps, array):
    """(n,) the numbers that are loaded, each as often as it is."""
    own = [each.taken() for each in steps if each.array == array and not each.is_store]
    return np.concatenate(own)


# -- where blocks stand


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize(("key", "function"), LAID_OUT)
def test_a_sample_is_in_the_tile_of_its_block(key, function, case):
    shape, pattern, _ = told(key, function, case)
    looked_at = {}  # what is picked of each block: many samples share one
    for y in range(0, shape.picture.bottom, 5):
        for x in {*range(0, shape.picture.right, 7), shape.picture.right - 1}:
            block = shape.block_at(x, y)
            assert 0 <= block[0] < shape.grid[0]
            assert 0 <= block[1] < shape.grid[1]
            tile = shape.tile(block)
            assert tile.left <= x < tile.right
            assert tile.top <= y < tile.bottom
            if block not in looked_at:
                looked_at[block] = pattern.of(block).picked
            picked = looked_at[block]
            if picked is not None:
                assert 0 <= picked(x - tile.left, y - tile.top) < shape.threads
    outside = shape.block_at(-3, -8), shape.block_at(10**6, 10**6)
    assert outside[0] == shape.block_at(0, 0)
    assert outside[1] == shape.block_at(shape.picture.right - 1, shape.picture.bottom - 1)


@pytest.mark.parametrize("case", CASES[:-1], ids=str)
@pytest.mark.parametrize(("key", "function"), LAID_OUT)
def test_every_channel_has_as_many_blocks_in_each_place(key, function, case):
    """As many as there are rows, or groups of frequencies, to each tile of a channel."""
    shape, _, on = told(key, function, case)
    corners = Counter((shape.tile(each).left, shape.tile(each).top) for each in all_blocks(shape))
    a_tile = {"gather": 1, "multiply": on.line, "transform_rows": 1, "filter_columns": on.line // 8}
    assert {left for left, _ in corners} == {on.left(pair) for pair in range(on.pairs)}
    if function != "gather":  # of which rows of two tiles overlap
        assert set(corners.values()) == {on.colours * a_tile[function]}
        assert {top for _, top in corners} == set(range(0, shape.picture.bottom, shape.covers[1]))
    else:
        assert sum(corners.values()) == on.colours * on.pairs * on.tiles * on.line
        tops = {on.valid * tile + row - on.radius for tile in range(on.tiles) for row in range(64)}
        assert {top for _, top in corners} >= tops


@pytest.mark.parametrize(("key", "function"), [LAID_OUT[0], LAID_OUT[2]])
def test_a_tile_and_its_halo_are_what_is_loaded_of_a_channel(key, function):
    case = replace(CASES[2], size_hw=(140, 390))
    shape, pattern, on = told(key, function, case)
    middle = [block for block in all_blocks(shape) if _is_inside(shape, block)]
    assert middle
    for block in middle[::29]:
        whole = shape.with_halo(block)
        colour = block[1] // (on.pairs * (on.tiles if function == "gather" else 1))
        pitch = 19 * 64  # 390 pixels of three samples, two bytes each, in lines of 128 bytes
        places = np.unique(loaded_of(pattern.steps(block), "picture"))
        ys, xs = places // pitch, places % pitch
        assert set(ys) == set(range(whole.top, whole.bottom))
        assert set(xs) == set(range(whole.left + colour, whole.right, 3))
        assert len(places) == whole.count // 3


def _is_inside(shape, block):
    whole = shape.with_halo(block)
    return whole == whole.clipped(shape.picture)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize(
    ("key", "function"), [LAID_OUT[0], LAID_OUT[2], ("fft_registers", "restore_rows")]
)
def test_threads_along_a_row_share_its_pixels_out(key, function, case):
    """Each pixel of both tiles that comes out right is one thread's."""
    shape, pattern, on = told(key, function, case)
    places = pattern.places.reshape(-1, 2)
    places = places[places[:, 0] != NOWHERE]
    assert len(places) == len(np.unique(places, axis=0)) == 2 * on.valid * shape.covers[1]
    assert set(places[:, 0]) == {n * on.channels for n in range(2 * on.valid)}
    assert set(places[:, 1]) == set(range(shape.covers[1]))


def test_threads_down_columns_share_the_rows_out():
    shape, pattern, on = told("fft_registers", "filter_columns", CASES[2])
    rows = pattern.places[..., 1]
    for frequency in range(8):
        own = rows[:, frequency::8]
        assert sorted(own[own != NOWHERE]) == list(range(on.valid))
    assert pattern.each == (shape.covers[0], 1)


def test_of_a_frequency_nothing_is_drawn():
    _, pattern, _ = told("fft", "multiply", CASES[2])
    assert (pattern.places == NOWHERE).all()


# -- how much it is in all


@pytest.mark.parametrize("case", CASES, ids=str)
def test_all_blocks_together_do_what_the_header_counts(case):
    """In bytes, of every array; with zeros beyond the picture less is loaded."""
    rung, job = RUNGS["fft_registers"], case.job("fft_registers")
    facts = WorkFacts(job, 132)
    for shape in shapes_of(rung, job):
        pattern = pattern_of(rung, shape, job)
        done = pass_work(rung.passes[shape.number], facts)
        loaded, stored = Counter(), Counter()
        for block in all_blocks(shape):
            for step in pattern.steps(block):
                if step.memory == "global":
                    into = stored if step.is_store else loaded
                    into[step.array] += step.asked() * step.item_bytes
        for mine, header in ((loaded, done.loads), (stored, done.stores)):
            says = {name: facts.bytes_of({name: count}) for name, count in header.items() if count}
            if case.border == "zero":
                assert all(mine[name] <= most for name, most in says.items())
            else:
                assert +mine == says


def test_lines_of_1024_numbers_are_counted_as_well():
    """By hand: a trace of them would be too long."""
    shape, pattern, on = told("fft_registers", "filter_columns", SIDE_32)
    assert (on.side, shape.block, shape.grid) == (32, (8, 32), (128, 1))
    steps = {(step.name, step.array): step for step in pattern.steps((5, 0))}
    assert steps["Load a root", "weights"].asked() == 2 * 256 * 32
    assert steps["Hand over: read", "tile"].asked() == 2 * 2 * 256 * 32
    assert steps["Load a number", "lines"].asked() == 8 * 391
    assert steps["At an edge: load", "lines"].asked() == 8 * 2 * (63 + 63)
    assert steps["Store a number", "filtered"].asked() == 8 * 391


# -- in words


def test_what_a_block_works_on():
    case = CASES[2]
    _, pattern, _ = told("fft_registers", "transform_rows", case)
    found = [int(each) for each in re.findall(r"\d+", pattern.of((4, 3)).block)]
    assert found == [4, 3, 64, 69, 2, 3, 2, 64, 123, 186, 185, 248, 1]
    assert pattern.of((4, 3)).thread(13) == "holds every 8th number from 5 to 61 of row 65"
    assert pattern.of((4, 3)).thread(127) == "has no row to transform"
    _, pattern, _ = told("fft_registers", "filter_columns", case)
    block = (2 * 6 + 3, 1)
    sentences = pattern.of(block).block
    assert sentences.startswith(
        "Block (15, 1) takes frequencies 16 to 23 of the lines of tiles x 2 and"
    )
    assert "x 3, y 1 of channel 2, in rows 61 to 124" in sentences
    assert "keeps rows 62 to 69, which come out right" in sentences
    assert pattern.of(block).thread(11) == (
        "holds every 8th number from 1 to 57 down the column of frequency 19"
    )
    _, pattern, _ = told("fft", "gather", case)
    words = pattern.of((0, 0)).block.replace("−", "-")
    found = [int(each) for each in re.findall(r"-?\d+", words)]
    assert found == [0, 0, 0, 64, 0, 1, 0, 1, -1, 64, -1, 62, 61, 124, 1]
    assert pattern.of((0, 0)).thread(9) == "gathers number 9 of the row"
    _, pattern, _ = told("fft", "multiply", case)
    assert pattern.of((7, 2)).block.startswith(
        "Block (7, 2) multiplies row 7 of the 64 rows of frequencies of tiles x 0 and x 1, y 1 of "
    )


def test_which_numbers_a_thread_has():
    assert every(16, "number", 5, 256) == "every 16th number from 5 to 245"
    assert every(32, "number", 31, 1024) == "every 32nd number from 31 to 1023"
    assert every(64, "number", 5, 64) == "number 5"


def test_weights_of_one_number_have_no_halo():
    _, pattern, _ = told("fft", "gather", replace(CASES[1], ksize=1))
    assert "share none" in pattern.of((0, 0)).block


def test_what_a_library_does_is_not_shown():
    sentence = anatomy_words.of_a_library(RUNGS["fft"])
    assert sentence.startswith("Launches 2 and 4, the transforms, belong to the library cuFFT,")
    assert anatomy_words.of_a_library(RUNGS["fft_registers"]) == ""
