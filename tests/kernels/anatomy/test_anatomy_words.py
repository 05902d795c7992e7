"""Numbers of a launch in sentences that read well, also where there is one of it, or none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kernels.anatomy import anatomy_words, transactions
from kernels.anatomy.accesses import NOWHERE, TILE, Access
from kernels.anatomy.anatomy_words import grid_words, halo_words, idle_words
from kernels.anatomy.block_counts import (
    Idle,
    Traffic,
    counting_idle,
    idle_of,
    is_idle_counted,
)
from kernels.anatomy.parts import part_of
from kernels.anatomy.patterns import pattern_of
from kernels.anatomy.tile_shapes import shapes_of
from kernels.anatomy.transactions import coalescing
from kernels.core.job import Job
from kernels.rungs.rung import ladder

RUNGS = {rung.key: rung for rung in ladder()}


def shape(key="shared", size=(64, 64, 1), ksize=5, block_xy=(32, 8)):
    weights = np.full((ksize, ksize), 1 / ksize**2, np.float32)
    job = Job(np.zeros(size, np.uint8), weights, "clamp", key, block_xy)
    return shapes_of(RUNGS[key], job)[0]


def step(array="", is_store=False, turn="tap 1, 1"):
    loops = {"tap": 25}
    return Access("", array, is_store, 4, 32, loops, lambda tap: tap, words=lambda _: turn)


def test_the_grid():
    assert grid_words(shape()) == "2 × 8 = 16 blocks of 32 × 8 = 256 threads, 8 warps each."
    assert grid_words(shape(size=(8, 8, 1), block_xy=(8, 4))) == (
        "1 × 2 = 2 blocks of 8 × 4 = 32 threads, 1 warp each."
    )
    assert grid_words(shape(size=(4, 8, 1), block_xy=(8, 4))).startswith("One block of 8 × 4")


def test_a_block_its_tile_and_its_halo():
    assert anatomy_words.block_words(shape(), (1, 2)) == (
        "Block (1, 2) computes samples 32 to 63 of rows 16 to 23: 256 samples."
    )
    edge = shape(size=(60, 60, 1))
    assert anatomy_words.block_words(edge, (1, 7)) == (
        "Block (1, 7) computes samples 32 to 59 of rows 56 to 59; 56 % of its tile is beyond the "
        "picture."
    )
    assert halo_words(shape(), (0, 3)) == (
        "With its halo, 2 samples to either side and 2 rows above and below, it reads 36 × 12 = "
        "432 samples: 1.69 per sample that it computes; 24 lie beyond the picture."
    )
    assert halo_words(edge, (1, 7)) == (  # of what it makes, not of all its tile
        "With its halo, 2 samples to either side and 2 rows above and below, it reads 32 × 8 = "
        "256 samples: 2.29 per sample that it computes; 76 lie beyond the picture."
    )
    assert halo_words(shape("shared_untiled"), (0, 0)) == "It needs no halo."


@pytest.mark.parametrize(
    ("number", "sides"),
    [(0, "2 samples to either side, it reads 36 × 8"), (1, "2 rows above and below, it reads 32")],
)
def test_a_pass_along_one_axis_has_a_halo_along_that_axis_only(number, sides):
    job = Job(np.zeros((64, 64, 1), np.uint8), np.full((5, 5), 0.04, np.float32), "clamp")
    own = shapes_of(RUNGS["separable"], job)[number]
    assert f"With its halo, {sides}" in halo_words(own, (0, 3))


def test_one_of_something_is_not_many():
    thin = shape("separable_flat", size=(4, 8, 1), ksize=3)
    assert "computes samples 0 to 7 of row 2" in anatomy_words.block_words(thin, (0, 2))
    assert "1 sample to either side," in halo_words(thin, (0, 2))
    assert anatomy_words.span("row", 3, 4) == "row 3"
    assert anatomy_words.span("row", 3, 6) == "rows 3 to 5"


@pytest.mark.parametrize(
    ("traffic", "load", "share"),
    [
        (
            Traffic(432, 432, 432, 25600, 1728),
            "The block loads 432 samples from global memory, 432 bytes, each once.",
            "The block's threads store 1,728 bytes in shared memory and read 25,600: each byte is "
            "read 14.8 times on average.",
        ),
        (
            Traffic(500, 432, 500, 25600, 1728),  # stand-ins for what is beyond the picture
            "The block loads 500 samples from global memory, 500 bytes; 432 of them are different.",
            "The block's threads store 1,728 bytes in shared memory and read 25,600: each byte is "
            "read 14.8 times on average.",
        ),
        (
            Traffic(6400, 432, 6400, 0, 0),
            "The block loads 6,400 samples from global memory, 6,400 bytes; 432 of them are "
            "different.",
            "Nothing is shared: each sample is loaded 14.8 times on average; all but the first "
            "load should hit the cache.",
        ),
        (
            Traffic(256, 256, 1024, 0, 0),
            "The block loads 256 samples from global memory, 1,024 bytes, each once.",
            "Nothing is shared: no shared memory, and each number is loaded once.",
        ),
    ],
)
def test_what_is_loaded_and_what_is_shared(traffic, load, share):
    assert anatomy_words.load_words(traffic, "picture") == load
    assert anatomy_words.share_words(traffic) == share


@pytest.mark.parametrize(
    ("loads", "plain", "sentence"),
    [
        (2.0625, 25, "2.1 loads per sample; the plain kernel 25"),
        (18.11, 961, "18.1 loads per sample; the plain kernel 961"),
        (25, 25, "25 loads per sample: this is the plain kernel."),
        (1, 9, "1 load per sample; the plain kernel 9"),
    ],
)
def test_loads_are_compared_with_the_plain_kernels(loads, plain, sentence):
    assert anatomy_words.loads_words(loads, plain) == sentence


@pytest.mark.parametrize("size", [(64, 64, 1), (61, 63, 1), (8, 8, 1)])
def test_idle_threads_are_the_same_counted_before_or_at_once(size):
    own = shape(size=size)
    job = Job(np.zeros(size, np.uint8), np.full((5, 5), 0.04, np.float32), "clamp", "shared")
    first, second = (pattern_of(RUNGS["shared"], own, job) for _ in range(2))
    assert not is_idle_counted(first, own)
    for _ in counting_idle(first, own):
        pass
    assert is_idle_counted(first, own)
    assert idle_of(first, own, (0, 0)) == idle_of(second, own, (0, 0))


def test_each_access_belongs_to_a_part_of_the_launch():
    job = Job(np.zeros((64, 64, 1), np.uint8), np.full((5, 5), 0.04, np.float32), "clamp", "shared")
    steps = pattern_of(RUNGS["shared"], shape(), job).steps((0, 0))
    assert [(each.name, part_of(each)) for each in steps] == [
        ("Stage: load", "load"),
        ("Stage: store in the tile", "share"),
        ("Read a sample", "compute"),
        ("Store the answer", "compute"),
    ]


def test_idle_threads():
    assert idle_words(Idle(0, 0, 4096)) == "No thread is idle."
    assert idle_words(Idle(12, 96, 4096)) == (
        "96 of 4,096 threads (2.3 %) are idle, 12 of them in this block."
    )
    assert "none in this block" in idle_words(Idle(0, 96, 4096))
    assert idle_words(Idle(24, 24, 64)).endswith("are idle, all in this block.")


@pytest.mark.parametrize(
    ("lanes", "sentence"),
    [
        (
            np.arange(1, 33),
            "The warp's 32 loads of this tap touch 5 sectors of 32 bytes in 2 lines of 128; "
            "4 sectors would be ideal.",
        ),
        (
            np.arange(32),
            "The warp's 32 loads of this tap touch 4 sectors of 32 bytes in 1 line of 128: fully "
            "coalesced.",
        ),
        (np.full(32, NOWHERE), "No lane of this warp loads anything here."),
    ],
)
def test_sectors(lanes, sentence):
    assert anatomy_words.coalescing_words(step(), coalescing(lanes, 4)) == sentence


def test_wide_loads_say_how_wide():
    own = replace(step(turn=""), width=4)
    said = anatomy_words.coalescing_words(own, coalescing(np.arange(32) * 4, 4, 4))
    assert said.startswith("The warp's 32 loads of 16 bytes touch 16 sectors of 32 bytes in 4")
    assert said.endswith(": fully coalesced.")


def test_one_lane_touches():
    lanes = np.where(np.arange(32) == 3, 3, NOWHERE)
    said = anatomy_words.coalescing_words(step(is_store=True, turn=""), coalescing(lanes, 4))
    assert said.startswith("The warp's 1 store touches 1 sector of 32 bytes in 1 line")


@pytest.mark.parametrize(
    ("lanes", "sentence"),
    [
        (
            np.arange(32),
            "The warp's 32 reads of this tap: no bank conflict, one transaction for all 32.",
        ),
        (
            np.where(np.arange(32) == 3, 3, NOWHERE),
            "The warp's 1 read of this tap: one transaction.",
        ),
        (
            np.arange(32) * 2,
            "The warp's 32 reads of this tap take 2 transactions, a 2-way bank conflict: 32 lanes "
            "want different words of the same bank.",
        ),
        (np.full(32, NOWHERE), "No lane of this warp loads anything here."),
    ],
)
def test_banks(lanes, sentence):
    assert anatomy_words.conflict_words(step(TILE), transactions.conflicts(lanes)) == sentence


def test_what_is_left_out_is_said():
    sentence = anatomy_words.not_drawn(RUNGS["ring"])
    assert sentence.startswith("The header of Ring of rows does not describe its threads")
    assert sentence.endswith("blocks, tiles and halos are drawn, warps and lanes are not.")
    assert "nothing to draw" in anatomy_words.no_shapes(RUNGS["fft"])
