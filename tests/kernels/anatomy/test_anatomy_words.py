"""Numbers of a launch in sentences that read well, also where there is one of it, or none."""

import re

import numpy as np
import pytest

from kernels.anatomy.launch_shapes import shapes_of
from kernels.anatomy.record import (
    Access,
    Idle,
    Record,
    Traffic,
    block_words,
    idle_words,
    load_words,
    moves,
    share_words,
)
from kernels.core.job import Job
from kernels.rungs.rung import ladder

RUNGS = {rung.key: rung for rung in ladder()}


def shape(key="shared", size=(64, 64, 1), ksize=5, block_xy=(32, 8)):
    weights = np.full((ksize, ksize), 1 / ksize**2, np.float32)
    job = Job.of(np.zeros(size, np.uint8), weights, "clamp", key, block_xy)
    return shapes_of(RUNGS[key], job)[0]


def numbers(sentence):
    """The numbers in a sentence: what it says, in whatever words."""
    found = re.findall(r"\d[\d,]*(?:\.\d+)?", sentence)
    return [float(each.replace(",", "")) for each in found]


def step(array="picture", is_store=False, size=4, threads=32):
    return Access(array, is_store, "", 7, size, 4 * np.arange(threads)[None])


def test_a_block_its_tile_its_halo_and_its_idle_threads():
    halo = [2, 2, 36, 12, 432, 1.69, 0]
    assert numbers(block_words(shape(), (1, 2))) == [1, 2, 32, 63, 16, 23, 256, *halo[:-1], 24]
    edge = shape(size=(60, 60, 1))
    tile = [1, 7, 32, 59, 56, 59, 112, 56]
    # Of what it makes, not of all its tile.
    assert numbers(block_words(edge, (1, 7))) == [*tile, 2, 2, 32, 8, 256, 2.29, 76]
    assert "no halo" in block_words(shape("shared_untiled"), (0, 0))
    assert numbers(idle_words(Idle(12, 96, 4096))) == [96, 4096, 2.3, 12]


@pytest.mark.parametrize(
    ("traffic", "load", "share"),
    [
        (Traffic(432, 432, 432, 25600, 1728), [432, 432, 432], [1728, 25600, 14.8]),
        (Traffic(6400, 432, 6400, 0, 0), [6400, 6400, 432], [14.81]),
    ],
)
def test_what_is_loaded_and_what_is_shared(traffic, load, share):
    assert numbers(load_words(traffic, "picture")) == load
    assert numbers(share_words(traffic)) == share


def test_a_block_of_a_transform_loads_and_stores_numbers():
    job = Job.of(np.zeros((64, 64, 1), np.uint8), np.full((5, 5), 0.04, np.float32), "clamp", "fft")
    own = shapes_of(RUNGS["fft"], job)[0]
    steps = [step("picture", False, 1, 64), step("tiles", True, 8, 64), step("weights", threads=64)]
    record = Record(steps, own, (3, 0))
    assert numbers(moves(record.numbers_of())) == [64, 64]
    assert numbers(moves(record.numbers_of(5))) == [1, 1]
