"""Cutting a picture into launches, without a GPU."""

from __future__ import annotations

import numpy as np
import pytest

from kernels.job import Job
from kernels.launch import MAX_GRID_Y, Launch, Program, rows_per_launch
from kernels.rung import ladder
from tests.made_up import H200


def a_job(height: int, width: int, ksize: int = 3, block_xy: tuple[int, int] = (32, 8)) -> Job:
    picture = np.broadcast_to(np.zeros(1, np.uint8), (height, width, 1))
    weights = np.ones((ksize, ksize), np.float32)
    job = Job(np.zeros((1, 1, 1), np.uint8), weights, block_xy=block_xy)
    object.__setattr__(job, "picture", picture)  # its shape alone counts here
    return job


class Recorder:
    """Stands for a compiled CUDA function; remembers how it was launched."""

    num_regs, shared_size_bytes = 32, 0

    def __init__(self) -> None:
        self.launches: list[tuple[tuple[int, int], int, int]] = []

    def __call__(self, grid, block, arguments, shared_mem):
        self.launches.append((grid, int(arguments[-2]), int(arguments[-1])))


class NoGpu:
    """Stands for CuPy, as far as weights in global memory need it."""

    asarray = staticmethod(np.asarray)


def test_one_launch_is_enough_without_a_watchdog():
    assert rows_per_launch(a_job(30_000, 30_000), H200) >= 30_000


def test_no_grid_is_taller_than_cuda_allows():
    assert rows_per_launch(a_job(100_000, 10, block_xy=(1024, 1)), H200) == MAX_GRID_Y


@pytest.mark.parametrize("block_y", [1, 7, 8, 32])
def test_with_a_watchdog_large_filters_are_cut_at_whole_blocks(block_y):
    from dataclasses import replace

    laptop = replace(H200, watchdog=True, multiprocessors=4, clock_khz=1_000_000)
    job = a_job(8192, 8192, ksize=127, block_xy=(8, block_y))
    rows = rows_per_launch(job, laptop)
    assert rows < 8192
    assert rows % block_y == 0


def test_the_launches_together_cover_every_row_once():
    function, job = Recorder(), a_job(100, 70)
    program = Program(ladder()[0], None, (function,))
    Launch(NoGpu, program, job, "source", "target", rows=24).ready()()
    assert [(first, end) for _, first, end in function.launches] == [
        (0, 24), (24, 48), (48, 72), (72, 96), (96, 100)
    ]  # fmt: skip
    assert {grid for grid, *_ in function.launches[:-1]} == {(3, 3)}
    assert function.launches[-1][0] == (3, 1)
