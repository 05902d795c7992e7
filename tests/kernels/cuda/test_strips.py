"""Filtering in strips: what they hold, how tall they are, and that their seams do not show."""

from dataclasses import replace

import numpy as np
import pytest

from kernels.core.borders import strips_of
from kernels.core.errors import CannotRunError, OutOfMemoryError
from kernels.core.job import Job, Sampling
from kernels.cuda.gpu import Gpu
from kernels.cuda.launch import memory_bytes, rows_a_strip
from kernels.cuda_on_cpu import compiler
from kernels.rungs.headers import Facts
from kernels.rungs.rung import ladder
from tests.kernels import runners as r
from tests.kernels.cases import ONLY_CHANNELS, fitting_filter, fitting_picture, random_picture
from tests.kernels.cases import a_job as one_job
from tests.kernels.on_cpu import Shim
from tests.made_up import H200

RUNGS = {rung.key: rung for rung in ladder()}
# Every other one each day; launches of the others are in test_against_oracle.py.
BY_TURNS = [pytest.param(e, id=e.key) for e in ladder()[1::2]]
BY_TURNS += [pytest.param(e, id=e.key, marks=pytest.mark.nightly) for e in ladder()[::2]]


def a_job(rung, height=70, width=45, border="mirror", ksize=5) -> Job:
    """Of floats, or of bytes where the rung takes no others."""
    random = np.random.default_rng(5)
    channels = min(ONLY_CHANNELS.get(rung.key, {3}))
    picture = fitting_picture(random, (height, width, channels), "float32", rung.key)
    chosen = fitting_filter(random, ksize, rung.key)
    job = r.in_a_block_it_takes(one_job(picture, chosen, border, rung.key))
    if rung.why_not(job, H200):
        job = job.but(picture=random_picture(random, picture.shape, "uint8"))
    return job


@pytest.mark.skipif(compiler.why_not() is not None, reason=str(compiler.why_not()))
@pytest.mark.parametrize("rung", BY_TURNS)
def test_strips_together_are_the_whole(rung, build_cache):
    job = a_job(rung, border="mirror")
    strips = list(strips_of(job.height, 24, job.reach, job.border))
    parts = [job.but(picture=strip.of(job.picture)) for strip in strips]
    shim = Shim(rung, [job, *parts], build_cache)
    answers = [
        shim.run(part, rows=(strip.own.start, strip.own.stop))[strip.own]
        for part, strip in zip(parts, strips, strict=True)
    ]
    together = np.concatenate(answers)
    check = r.verdict(job, together)
    assert check.ok, str(check)
    if not rung.strips_differ:
        np.testing.assert_array_equal(together.view("u1"), shim.run(job).view("u1"))


def test_strips_are_halved_until_they_fit_with_buffers_and_arguments():
    rung, job = RUNGS["shared"], a_job(RUNGS["shared"], height=1000)
    needed = memory_bytes(rung, job, H200)
    assert rows_a_strip(rung, job, H200, needed - 1) == 500
    assert rows_a_strip(rung, job, H200, needed // 2) == 250  # the halo needs room as well
    assert rows_a_strip(rung, job, H200, 1000) == 0
    job = a_job(RUNGS["fft"], height=300, width=500)
    pictures = memory_bytes(RUNGS["constant"], job, H200)
    facts = Facts(job)
    spectrum = facts["FFT_LINE"] ** 2 * 8
    tiles = spectrum * 3 * facts["FFT_PAIRS"] * facts["FFT_TILES"]
    assert memory_bytes(RUNGS["fft"], job, H200) == pictures + spectrum + 2 * tiles


class SmallGpu(Gpu):
    """A GPU of which `free` bytes are free, and where nothing runs: what was tried is in `tried`.

    fails   so many tries run out of memory all the same
    """

    def __init__(self, free, device=H200, fails=0):
        self.device, self.free, self.fails, self.tried = device, free, fails, []

    def _room_bytes(self):
        return self.free

    def forget(self):
        pass

    def _filtering_whole(self, rung, job, sampling):
        yield from self._filtering_in_strips(rung, job, sampling, job.height)

    def _filtering_in_strips(self, _rung, _job, _sampling, rows):
        self.tried.append(rows)
        if len(self.tried) <= self.fails:
            raise OutOfMemoryError("It was taken.")
        yield rows


def tried(gpu, rung, job):
    list(gpu.filtering(rung, job, Sampling()))
    return gpu.tried


@pytest.mark.parametrize(("key", "is_cut"), [("shared", True), ("fft", False)])
def test_taken_memory_means_strips_or_a_sentence_but_never_other_bytes(key, is_cut):
    rung, job = RUNGS[key], a_job(RUNGS[key], height=1000)
    needed = memory_bytes(rung, job, H200)
    assert tried(SmallGpu(needed), rung, job) == [1000]
    if is_cut:
        assert tried(SmallGpu(needed - 1), rung, job) == [500]
        assert tried(SmallGpu(needed, fails=2), rung, job) == [1000, 500, 250]
    for short in () if is_cut else (SmallGpu(needed - 1), SmallGpu(needed, fails=1)):
        with pytest.raises(OutOfMemoryError):
            tried(short, rung, job)


def test_a_small_device_cuts_as_high_strips_however_much_is_free():
    rung, job = RUNGS["fft"], a_job(RUNGS["fft"], height=1000)
    small = replace(H200, memory_bytes=memory_bytes(rung, job, H200))
    found = {tuple(tried(SmallGpu(free << 30, small), rung, job)) for free in (1, 10)}
    assert len(found) == 1
    assert next(iter(found)) < (1000,)
    with pytest.raises(CannotRunError):  # for good, so that `auto` goes on
        tried(SmallGpu(1 << 30, replace(H200, memory_bytes=1)), rung, job)
