"""Several GPUs through the engine: which take part, and why they cannot; all made up."""

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest

from kernels import Engine, Job, Sampling, filters
from kernels.core.device import NoDevice
from kernels.core.errors import CannotRunError
from kernels.cuda import device_pictures, several_gpus
from kernels.engine.own_kernel import ONE_GPU
from tests.first_kernel import steps
from tests.kernels.made_up_cuda import MadeUpCuda, MadeUpGpu
from tests.made_up import H200

ONCE = Sampling(max_samples=3, max_seconds=9.0)


class MadeUpEngine(Engine):
    """Has `count` GPUs; `lacks` says for which number there is something else in its place."""

    def __init__(self, monkeypatch, count=2, lacks=None, **wanted):
        super().__init__(**wanted)
        monkeypatch.setattr(device_pictures, "cuda_errors_in_words", lambda _: nullcontext())
        self._cuda = MadeUpCuda(count)
        self.device = replace(H200, index=self._device_index, count=count)
        self.gpu = MadeUpGpu(self._cuda, self._device_index)
        self.gpus_made = []
        self._lacks = lacks or {}
        monkeypatch.setattr(several_gpus, "Gpu", self._gpu_on)

    def find_device(self, number):
        return self._lacks.get(number) or replace(self.device, index=number)

    def _gpu_on(self, device):
        self.gpus_made.append(device.index)
        return MadeUpGpu(self._cuda, device.index)


def a_job(devices=2, implementation="shared", **fields):
    picture = np.random.default_rng(5).integers(0, 256, (50, 60, 3), np.uint8)
    weights = filters.get("gaussian").weights(5)
    return Job.of(picture, weights, implementation=implementation, devices=devices, **fields)


def test_several_gpus_share_a_job_and_the_answer_is_checked(monkeypatch):
    engine = MadeUpEngine(monkeypatch, count=3)
    result = engine.run(a_job(3), ONCE)
    assert result.check.ok
    assert [share.index for share in result.shares] == [0, 1, 2]
    assert [share.rows for share in result.shares] == [(0, 16), (16, 33), (33, 50)]
    engine.run(a_job(2), ONCE)
    assert engine.gpus_made == [1, 2]  # once each


@pytest.mark.parametrize(
    ("wanted", "numbers"),
    [
        ({}, (0, 1, 2)),
        ({"device_index": 1}, (1, 0, 2)),
        ({"device_index": 2, "others": (1,)}, (2, 1)),
        ({"others": (0,)}, (0,)),
    ],
)
def test_the_engines_own_gpu_comes_first(monkeypatch, wanted, numbers):
    assert MadeUpEngine(monkeypatch, count=3, **wanted).device_numbers == numbers


@pytest.mark.parametrize(("count", "there"), [(1, "there is 1"), (2, "there are 2")])
def test_more_gpus_than_there_are_are_refused(monkeypatch, count, there):
    engine = MadeUpEngine(monkeypatch, count)
    sentence = f"3 GPUs are asked for, and {there} here; choose fewer."
    assert engine.why_not(a_job(3)) == sentence
    with pytest.raises(CannotRunError, match=sentence):
        engine.run(a_job(3), ONCE)


@pytest.mark.parametrize(
    ("device", "why"),
    [
        (NoDevice("It fell off the bus."), "It fell off the bus."),
        (replace(H200, max_threads_per_block=128), "A block of 32×8 = 256 threads"),
    ],
)
def test_a_gpu_that_cannot_do_its_part_is_named(monkeypatch, device, why):
    engine = MadeUpEngine(monkeypatch, lacks={1: device})
    assert engine.why_not(a_job(2)).startswith(f"GPU 1 cannot do its part. {why}")
    assert engine.why_not(a_job(1)) is None


def test_a_kernel_of_ones_own_has_one_gpu(monkeypatch):
    own = steps()[6]
    engine = MadeUpEngine(monkeypatch)
    reason = engine.why_not(a_job(2, "mine.cu", own=own))
    assert reason == ONE_GPU
    assert engine.why_not(a_job(1, "mine.cu", own=own)) is None
