"""Where the blocks of a launch stand on the picture."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from kernels.anatomy.launch_shapes import shapes_of
from kernels.cuda.launch import plan_steps
from kernels.cuda_on_cpu.regions import DEVICE
from kernels.rungs.headers import Facts
from kernels.rungs.rung import ladder
from tests.kernels.cases import Case
from tests.kernels.runners import in_a_block_it_takes
from tests.made_up import H200

RUNGS = {rung.key: rung for rung in ladder()}
# Every pixel size, number of channels and block shape; pictures that blocks fill and do not, that
# have fewer samples than a halo, and of one pixel.
CASES = (
    Case("clamp", "uint8", 1, (20, 70), 5, (32, 8)),
    Case("zero", "uint8", 3, (19, 23), 3, (16, 16)),
    Case("reflect", "float32", 3, (36, 29), 7, (32, 16)),
    Case("mirror", "uint16", 4, (21, 18), 5, (8, 8)),
    Case("wrap", "float16", 2, (17, 30), 9, (7, 5)),
    Case("zero", "float32", 4, (9, 5), 15, (32, 4)),
    Case("mirror", "uint8", 1, (1, 1), 3, (8, 8)),
)
# Pictures of one pixel, smaller than a tile, and larger than two; lines of 64, 256 and 1024.
TRANSFORMS = (
    Case("clamp", "uint8", 1, (1, 1), 3, (32, 8)),
    Case("reflect", "uint8", 2, (20, 50), 5, (32, 8)),
    Case("mirror", "uint16", 3, (70, 140), 3, (32, 8)),
    Case("wrap", "float32", 4, (45, 75), 31, (32, 8)),
    Case("clamp", "float16", 3, (20, 20), 63, (32, 8)),
    Case("mirror", "uint8", 1, (391, 1300), 127, (32, 8)),
)
LAID_OUT = (
    *(("fft", "gather"), ("fft", "multiply")),
    *(("fft_registers", "transform_rows"), ("fft_registers", "filter_columns")),
)


def job_of(key, case):
    job = in_a_block_it_takes(case.job(key))
    if reason := RUNGS[key].why_never(job, H200):
        pytest.skip(reason)
    return job


def blocks_of(shape):
    across, down = shape.grid
    return [(x, y) for y in range(down) for x in range(across)]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("key", RUNGS)
def test_tiles_cover_the_picture_once_by_the_blocks_that_are_launched(key, case):
    job = job_of(key, case)
    launched = {step.number: step for step in plan_steps(RUNGS[key], job, DEVICE)}
    for shape in shapes_of(RUNGS[key], job, DEVICE):
        step = launched[shape.number]
        assert (shape.grid, shape.block) == (step.grid, step.block)
        if shape.layout is not None:
            continue  # see below
        covered = np.zeros((job.height, job.width * job.channels), int)
        for block in blocks_of(shape):
            own = shape.tile(block).clipped(shape.picture)
            assert own.count > 0
            covered[own.top : own.bottom, own.left : own.right] += 1
            assert shape.block_at(own.left, own.top) == block
            assert shape.block_at(own.right - 1, own.bottom - 1) == block
        assert (covered == 1).all()


@pytest.mark.parametrize("case", TRANSFORMS, ids=str)
@pytest.mark.parametrize(("key", "function"), LAID_OUT)
def test_a_sample_is_in_the_tile_of_its_block_of_a_transform(key, function, case):
    job = case.job(key)
    (shape,) = [each for each in shapes_of(RUNGS[key], job) if each.function == function]
    for y in range(0, shape.picture.bottom, 5):
        for x in {*range(0, shape.picture.right, 7), shape.picture.right - 1}:
            block = shape.block_at(x, y)
            assert 0 <= block[0] < shape.grid[0]
            assert 0 <= block[1] < shape.grid[1]
            tile = shape.tile(block)
            assert tile.left <= x < tile.right
            assert tile.top <= y < tile.bottom
    outside = shape.block_at(-3, -8), shape.block_at(10**6, 10**6)
    assert outside[0] == shape.block_at(0, 0)
    assert outside[1] == shape.block_at(shape.picture.right - 1, shape.picture.bottom - 1)


@pytest.mark.parametrize("case", TRANSFORMS[:-1], ids=str)
@pytest.mark.parametrize(("key", "function"), LAID_OUT[1:])
def test_every_channel_has_as_many_blocks_in_each_place(key, function, case):
    """As many as there are rows, or groups of frequencies, to each tile of a channel."""
    job = case.job(key)
    (shape,) = [each for each in shapes_of(RUNGS[key], job) if each.function == function]
    facts = Facts(job)
    line, colours = facts.value("FFT_LINE"), facts.value("PLANES")
    corners = Counter((shape.tile(each).left, shape.tile(each).top) for each in blocks_of(shape))
    a_tile = {"multiply": line, "transform_rows": 1, "filter_columns": line // 8}[function]
    step = 2 * (line - 2 * job.radius) * job.channels
    assert {left for left, _ in corners} == {
        step * n for n in range(-(-job.width * job.channels // step))
    }
    assert {top for _, top in corners} == set(range(0, shape.picture.bottom, shape.covers[1]))
    assert set(corners.values()) == {colours * a_tile}


def test_a_rung_that_could_never_run_says_why():
    case = replace(CASES[0], size_hw=(512, 768))
    assert RUNGS["shared"].why_never(case.job("shared")) is None
    untiled = case.job("shared_untiled")
    sentence = RUNGS["shared_untiled"].why_never(untiled) or ""
    assert "1,536.0 KiB" in sentence
    assert "no GPU has more than 227 KiB" in sentence
    assert "NVIDIA H200 has 227 KiB" in (RUNGS["shared_untiled"].why_never(untiled, H200) or "")
    assert "gradient" in (RUNGS["gradient"].why_never(case.job("shared")) or "")
    assert "rank" in (RUNGS["separable"].why_never(case.job("shared")) or "")
