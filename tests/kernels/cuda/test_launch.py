"""Cutting a picture into launches, and what is kept from one to the next, without a GPU."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from kernels.core.job import Job
from kernels.cuda.launch import Launch, Program, Programs, plan_steps, rows_per_launch
from kernels.cuda.nvrtc import options_for
from kernels.rungs.headers import Facts
from kernels.rungs.operands import Operands, operands_of
from kernels.rungs.rung import ladder
from tests.made_up import H200


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
