"""Numbers of a launch in sentences that read well, also where there is one of it, or none."""

from __future__ import annotations

import re
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


def numbers(sentence):
    """The numbers in a sentence: what it says, in whatever words."""
    found = re.findall(r"\d[\d,]*(?:\.\d+)?", sentence)
    return [float(each.replace(",", "")) for each in found]


def step(array="", is_store=False, turn="tap 1, 1"):
    loops = {"tap": 25}
    return Access("", array, is_store, 4, 32, loops, lambda tap: tap, words=lambda _: turn)


def test_the_grid():
    assert numbers(grid_words(shape())) == [2, 8, 16, 32, 8, 256, 8]
    two = grid_words(shape(size=(8, 8, 1), block_xy=(8, 4)))
    assert numbers(two) == [1, 2, 2, 8, 4, 32, 1]
    assert "1 warp " in two
    assert numbers(grid_words(shape(size=(4, 8, 1), block_xy=(8, 4))))[:2] == [8, 4]


def test_a_block_its_tile_and_its_halo():
    inside = anatomy_words.block_words(shape(), (1, 2))
    assert numbers(inside) == [1, 2, 32, 63, 16, 23, 256]
    edge = shape(size=(60, 60, 1))
    assert numbers(anatomy_words.block_words(edge, (1, 7))) == [1, 7, 32, 59, 56, 59, 56]
    assert numbers(halo_words(shape(), (0, 3))) == [2, 2, 36, 12, 432, 1.69, 24]
    # Of what it makes, not of all its tile.
    assert numbers(halo_words(edge, (1, 7))) == [2, 2, 32, 8, 256, 2.29, 76]
    assert "no halo" in halo_words(shape("shared_untiled"), (0, 0))


@pytest.mark.parametrize(
    ("number", "sides"),
    [(0, [2, 36, 8]), (1, [2, 32, 12])],
)
def test_a_pass_along_one_axis_has_a_halo_along_that_axis_only(number, sides):
    job = Job(np.zeros((64, 64, 1), np.uint8), np.full((5, 5), 0.04, np.float32), "clamp")
    own = shapes_of(RUNGS["separable"], job)[number]
    assert numbers(halo_words(own, (0, 3)))[:3] == sides


def test_one_of_something_is_not_many():
    thin = shape("separable_flat", size=(4, 8, 1), ksize=3)
    assert "of row 2" in anatomy_words.block_words(thin, (0, 2))
    assert "1 sample " in halo_words(thin, (0, 2))
    assert anatomy_words.span("row", 3, 4) == "row 3"
    assert anatomy_words.span("row", 3, 6) == "rows 3 to 5"


@pytest.mark.parametrize(
    ("traffic", "load", "share"),
    [
        (
            Traffic(432, 432, 432, 25600, 1728),
            [432, 432],
            [1728, 25600, 14.8],
        ),
        (
            Traffic(500, 432, 500, 25600, 1728),  # stand-ins for what is beyond the picture
            [500, 500, 432],
            [1728, 25600, 14.8],
        ),
        (
            Traffic(6400, 432, 6400, 0, 0),
            [6400, 6400, 432],
            [14.8],
        ),
        (
            Traffic(256, 256, 1024, 0, 0),
            [256, 1024],
            [],
        ),
    ],
)
def test_what_is_loaded_and_what_is_shared(traffic, load, share):
    assert numbers(anatomy_words.load_words(traffic, "picture")) == load
    assert numbers(anatomy_words.share_words(traffic)) == share


@pytest.mark.parametrize(
    ("loads", "plain", "told"),
    [
        (2.0625, 25, [2.1, 25]),
        (18.11, 961, [18.1, 961]),
        (25, 25, [25]),
        (1, 9, [1, 9]),
    ],
)
def test_loads_are_compared_with_the_plain_kernels(loads, plain, told):
    assert numbers(anatomy_words.loads_words(loads, plain)) == told


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
    assert "No thread" in idle_words(Idle(0, 0, 4096))
    assert numbers(idle_words(Idle(12, 96, 4096))) == [96, 4096, 2.3, 12]
    assert "none in this block" in idle_words(Idle(0, 96, 4096))
    assert "all in this block" in idle_words(Idle(24, 24, 64))


@pytest.mark.parametrize(
    ("lanes", "told"),
    [
        (np.arange(1, 33), [32, 5, 32, 2, 128, 4]),
        (np.arange(32), [32, 4, 32, 1, 128]),
        (np.full(32, NOWHERE), []),
    ],
)
def test_sectors(lanes, told):
    said = anatomy_words.coalescing_words(step(), coalescing(lanes, 4))
    assert numbers(said) == told
    assert ("fully coalesced" in said) is (len(told) == 5)


def test_wide_loads_say_how_wide():
    own = replace(step(turn=""), width=4)
    said = anatomy_words.coalescing_words(own, coalescing(np.arange(32) * 4, 4, 4))
    assert numbers(said)[:5] == [32, 16, 16, 32, 4]
    assert "fully coalesced" in said


def test_one_lane_touches():
    lanes = np.where(np.arange(32) == 3, 3, NOWHERE)
    said = anatomy_words.coalescing_words(step(is_store=True, turn=""), coalescing(lanes, 4))
    assert numbers(said)[:4] == [1, 1, 32, 1]
    assert "1 store touches 1 sector " in said


@pytest.mark.parametrize(
    ("lanes", "word"),
    [
        (np.arange(32), "no bank conflict"),
        (np.where(np.arange(32) == 3, 3, NOWHERE), "1 read "),
        (np.arange(32) * 2, "2-way bank conflict"),
        (np.full(32, NOWHERE), "No lane"),
    ],
)
def test_banks(lanes, word):
    assert word in anatomy_words.conflict_words(step(TILE), transactions.conflicts(lanes))


def test_what_is_left_out_is_said():
    assert "Ring of rows" in anatomy_words.not_drawn(RUNGS["ring"])
    assert "nothing to draw" in anatomy_words.no_shapes(RUNGS["fft"])
