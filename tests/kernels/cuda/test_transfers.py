"""Transfers by a CuPy that does as a test says; on a real device in `test_gpu`."""

from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

from kernels import Engine, Job, Progress
from kernels.core.device_turns import Turns
from kernels.core.errors import CannotRunError, DeviceLostError, OutOfMemoryError
from kernels.cuda.device_pictures import MAX_BYTES, SAMPLING, Transfers, measuring_transfers
from tests.made_up import H200, a_job


class FakeCuda:
    """Counts copies, and what memory they are from and to."""

    def __init__(self, pinned_error=None):
        self.copies = []
        self.given_back = 0
        self.open = 0
        self._pinned_error = pinned_error
        self.cuda = SimpleNamespace(alloc_pinned_memory=self._pinned)

    def _pinned(self, count):
        if self._pinned_error:
            raise self._pinned_error
        return SimpleNamespace(ptr="pinned")

    def get_default_pinned_memory_pool(self):
        return SimpleNamespace(free_all_blocks=self._give_back)

    def _give_back(self):
        self.given_back += 1

    def empty(self, count, dtype):
        def copy(way):
            return lambda host, size, stream: self.copies.append((way, host == "pinned", size))

        data = SimpleNamespace(copy_from_host_async=copy("up"), copy_to_host_async=copy("down"))
        return SimpleNamespace(data=data)

    @contextmanager
    def using(self, doing):
        self.open += 1
        yield
        self.open -= 1


STREAM = SimpleNamespace(synchronize=lambda: None)


def measure(cp, count=4096):
    return measuring_transfers(cp, STREAM, count, cp.using, lambda make: make(), Turns([]))


def test_both_kinds_of_memory_are_measured_each_way():
    cp = FakeCuda()
    *steps, found = measure(cp)
    assert isinstance(found, Transfers)
    assert found.picture_bytes == 4096
    assert {step.doing for step in steps} == {"timing the upload", "timing the download"}
    assert all(isinstance(step, Progress) for step in steps)
    timings = (found.pageable_up, found.pageable_down, found.pinned_up, found.pinned_down)
    ways = (("up", False), ("down", False), ("up", True), ("down", True))
    for timing, (way, pinned) in zip(timings, ways, strict=True):
        copies = cp.copies.count((way, pinned, 4096))
        assert SAMPLING.min_samples <= len(timing.samples_ms) <= SAMPLING.max_samples
        assert len(timing.samples_ms) == copies - SAMPLING.warmups
        assert timing.ended in ("stable", "samples")
        assert timing.cache is None
    assert cp.given_back == 1


def test_stopped_half_way_it_gives_page_locked_memory_back():
    cp = FakeCuda()
    steps = measure(cp)
    for _ in steps:
        if cp.copies[-1][1]:
            break
    steps.close()
    assert cp.given_back == 1


def test_too_much_memory_to_lock_is_refused_and_nothing_measured():
    with pytest.raises(CannotRunError, match=r"up to 2\.1 GB"):
        list(measure(FakeCuda(), MAX_BYTES + 1))
    cp = FakeCuda(pinned_error=OutOfMemoryError("There is no memory to page-lock."))
    with pytest.raises(OutOfMemoryError, match="page-lock"):
        list(measure(cp))


def test_without_a_gpu_there_is_the_reason():
    engine = Engine(use_gpu=False)
    job = Job.of(np.zeros((4, 4, 1), np.uint8), np.ones((1, 1), np.float32))
    with pytest.raises(CannotRunError, match="--no-gpu"):
        list(engine.transfers(job))
    assert engine.ceilings() == {}
    assert engine.occupancy(job) is None
    with pytest.raises(CannotRunError, match="runs on the CPU"):
        engine.launch_once(job)


@pytest.mark.parametrize("asked", ["transfers", "occupancy", "ceilings"])
def test_a_gpu_lost_meanwhile_is_not_asked_again(asked):
    def lost(*_):
        raise DeviceLostError("The GPU failed.")

    engine = Engine()
    engine.device = H200
    engine.gpu = SimpleNamespace(transfers=lost, occupancy=lost, ceilings=lost)
    job = a_job("shared")
    with pytest.raises(DeviceLostError):
        list(getattr(engine, asked)(*(() if asked == "ceilings" else (job,))) or ())
    assert engine.why_not(job) == "The GPU failed."
    assert engine.ceilings() == {}
