"""Rungs that filter a list strip by strip: they give what they give of whole pictures, and touch no
memory but what is there."""

from __future__ import annotations

import ctypes
import faulthandler
import mmap
import os
import signal
import traceback
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kernels.core.job import Job
from kernels.cuda import device_pictures, listed_run
from kernels.cuda.listed_run import why_no_strips
from kernels.cuda_on_cpu import compiler
from kernels.cuda_on_cpu.shared_run import rounded_up
from kernels.cuda_on_cpu.shim import Order
from kernels.engine.step_list import parts_ahead
from kernels.rungs.rung import Rung, ladder
from tests.kernels.cases import fitting_picture, usual_cases
from tests.kernels.cuda.test_listed_run import MadeUpListGpu, done_by
from tests.kernels.made_up_cuda import OnDevice
from tests.kernels.on_cpu import Shim
from tests.kernels.runners import shim_of
from tests.made_up import H200

pytestmark = pytest.mark.skipif(compiler.why_not() is not None, reason=str(compiler.why_not()))
PAGE, BESIDE = mmap.PAGESIZE, 1 << 20
STRIP = 65  # rows: of tiles of 64 rows, and of less, the last one has a single row that is needed
HEIGHT, WIDTH = 4 * STRIP + 1, 25


def guarded(shape: tuple[int, ...], dtype: Any, fill: int, *, at_page_begin: bool = True):
    """An array shared with child processes, to touch what lies beside which is a fault."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    room = rounded_up(size, PAGE)
    block = np.frombuffer(mmap.mmap(-1, room + 2 * BESIDE), np.uint8)
    for first in (0, BESIDE + room):
        place = ctypes.c_void_p(block.ctypes.data + first)
        assert not ctypes.CDLL(None).mprotect(place, ctypes.c_size_t(BESIDE), 0)
    first = BESIDE if at_page_begin else BESIDE + room - size
    made = block[first : first + size]
    made[...] = fill
    return made.view(dtype).reshape(shape).view(OnDevice)


class GuardedGpu(MadeUpListGpu):
    """Does on the CPU what rungs do, in memory with an end on either side, of `fill` before."""

    def __init__(self, shim: Shim, fill: int, *, at_page_begin: bool) -> None:
        def run(job, source, target, rows):
            shim.run_into(job, source, target, Order.FORWARD, rows)

        def empty(shape, dtype):
            made = guarded(shape, dtype, fill, at_page_begin=at_page_begin)
            made.cuda = self.cp
            kept.append(made)  # only its address is
            return made

        super().__init__(run)
        kept = self.kept = []
        self.cp.empty = empty


def in_a_child(do: Callable[[], None]) -> int:
    """Do it where a crash does no harm; return how that ended: 0 is well, 11 is a crash."""
    if (child := os.fork()) == 0:
        faulthandler.disable()  # a crash may be what is wanted
        status = 1
        try:
            do()
            status = 0
        except BaseException:  # noqa: BLE001
            traceback.print_exc()
        os._exit(status)
    return os.waitpid(child, 0)[1]


def lists(rung: Rung) -> dict[str, Job]:
    """The same step twice, for each border that the rung and strips take."""
    found = {}
    for case in usual_cases(rung.key):
        one, random = case.job(rung.key), np.random.default_rng(1)
        shape = HEIGHT, WIDTH, case.channels
        picture = fitting_picture(random, shape, case.pixel_type, rung.key)
        job = one.but(picture=picture, steps=one.steps * 2, is_rounded=True)
        _, first = next(parts_ahead(job))
        is_slow = rung.filter == "non_local_means" and job.ksize > 5
        if job.ksize == 1 or is_slow or rung.why_not(first, H200) or why_no_strips(job, [rung]):
            continue
        found[job.border] = job
    return found


def ended_in_strips(shim: Shim, job: Job, fill: int, answer: NDArray[Any], **how: bool) -> int:
    """Filter strip by strip into `answer`, which child processes share; how that ended."""
    gpu = GuardedGpu(shim, fill, **how)
    return in_a_child(lambda: np.copyto(answer, done_by(gpu, shim.rung, job, STRIP)))


@pytest.fixture(autouse=True)
def _without_cuda(monkeypatch):
    monkeypatch.setattr(device_pictures, "cuda_errors_in_words", lambda _: nullcontext())


DAILY = ("shared", "words_of_two", "extreme_ring")


@pytest.mark.parametrize(
    "rung",
    [
        pytest.param(rung, marks=() if rung.key in DAILY else pytest.mark.full, id=rung.key)
        for rung in ladder()
    ],
)
def test_a_list_in_strips_touches_what_is_there_alone(rung, build_cache):
    if not (jobs := lists(rung)):
        pytest.skip("works on whole pictures")
    for job in jobs.values():
        part = next(part for _, part in parts_ahead(job))
        shim = shim_of(rung, build_cache)
        shim = shim if shim.has(part) else Shim(rung, [part], build_cache)
        expected = job.picture
        for run in job.runs:
            expected = shim.run(job.part(run, expected))
        for fill, at_page_begin in ((0xFF, True), (0x5A, False)):
            answer = guarded(expected.shape, expected.dtype, fill)
            ended = ended_in_strips(shim, job, fill, answer, at_page_begin=at_page_begin)
            assert ended == 0, (job.border, job.pixel_type, job.channels, job.ksize)
            np.testing.assert_array_equal(answer.view("u1"), expected.view("u1"))


def test_a_touch_of_what_is_not_there_is_a_crash(monkeypatch, build_cache):
    monkeypatch.setattr(listed_run, "SPARE_ROWS", 0)
    rung = next(rung for rung in ladder() if rung.key == "extreme_tile")
    job = lists(rung)["mirror"]
    answer = guarded(job.picture.shape, job.picture.dtype, 0)
    ended = ended_in_strips(shim_of(rung, build_cache), job, 0, answer, at_page_begin=False)
    assert ended == signal.SIGSEGV
