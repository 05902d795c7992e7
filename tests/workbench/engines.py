"""Engines that do as a test says."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

from kernels.core.device import DeviceShare, Occupancy
from kernels.core.errors import CannotRunError, DeviceLostError, OutOfMemoryError
from kernels.core.job import Job, Progress, Ran, Result
from kernels.core.timing import Timing
from kernels.cuda.device_pictures import Transfers
from kernels.engine.engine import Engine
from kernels.rungs.rung import Rung
from tests.made_up import H200

DEVICE = replace(H200, name="NVIDIA Made Up 1", shared_bytes_per_block=100_000, count=2)


class Scripted(Engine):
    """Without a GPU; `script(job, steps)` says what comes of a job.

    steps  what a real engine would do
    """

    def __init__(self, script: Callable[[Job, Iterator], Iterator]) -> None:
        super().__init__(use_gpu=False)
        self._script = script

    def filtering(self, job, sampling=None):
        return self._script(job, super().filtering(job, sampling))


class MadeUpGpu(Engine):
    """Has a GPU whose rungs are worked out on the CPU.

    works_with  the implementation that does so
    """

    device = DEVICE
    works_with = "opencv"

    def find_device(self, number):
        return replace(self.device, index=number)

    def ceilings(self):
        known = {"copy_gb_s": 4000.0, "l2_read_gb_s": 7900.0, "fma_tflop_s": 60.0}
        return {**known, "empty_launch_ms": 0.003}

    def on_a_rung(self, job):
        key = job.implementation
        return key != "auto" and isinstance(self.implementation(key), Rung)

    def occupancy(self, job):
        words = "Registers keep more from fitting."
        return Occupancy(4, 32, 64, words) if self.on_a_rung(job) else None

    def transfers(self, job):
        yield Progress("copying")
        ms = job.picture.nbytes / 1e7
        slow, fast = Timing((ms, ms, ms)), Timing((ms / 5, ms / 5, ms / 5))
        yield Transfers(job.picture.nbytes, slow, slow, fast, fast)

    def compiling(self, jobs):
        yield from (Progress(f"compiling {job.implementation}") for job in jobs)

    def filtering(self, job, sampling=None):
        if not self.on_a_rung(job):
            yield from super().filtering(job, sampling)
            return
        if reason := self.why_not(job):
            raise CannotRunError(reason)
        yield Progress(f"compiling {job.implementation}")
        for step in super().filtering(job.but(implementation=self.works_with), sampling):
            yield _as_on_gpu(step, job) if isinstance(step, Result) else step


class FailingGpu(MadeUpGpu):
    """Its GPU is lost at the first rung that runs while `fails` is set.

    fails  of the class, for a test to set and clear: the GPU's failure in words; empty: it works
    """

    fails = ""

    @property
    def gpu(self):
        return SimpleNamespace(answer=self._ask)

    def filtering(self, job, sampling=None):
        if self.on_a_rung(job):
            with self._noticing_loss():
                self._ask()
        yield from super().filtering(job, sampling)

    def _ask(self):
        if reason := self.lost or type(self).fails:
            raise DeviceLostError(reason)


class FullGpu(MadeUpGpu):
    """Its rungs find no memory while `is_full`, of the class, is set by a test."""

    is_full = False

    def filtering(self, job, sampling=None):
        if self.on_a_rung(job):
            yield Progress("making room")
            if type(self).is_full:
                raise OutOfMemoryError("The GPU ran out of memory; use a smaller picture.")
        yield from super().filtering(job, sampling)


def _as_on_gpu(result: Result, job: Job) -> Result:
    ran = Ran("convolve", grid=(3, 2), block=job.block_xy, registers=40, shared_bytes=1664)
    return replace(
        result,
        job=job,
        kernel=replace(result.kernel, cache="cold"),
        ran=(ran,),
        upload_ms=0.2,
        download_ms=0.3,
        device_name=DEVICE.name,
        shares=_shares(job) if job.devices > 1 else (),
    )


def _shares(job: Job) -> tuple[DeviceShare, ...]:
    """As if each GPU took a tenth of a millisecond, and 10 µs of that for its halo."""
    bounds = [job.height * at // job.devices for at in range(job.devices + 1)]
    return tuple(
        DeviceShare(at, DEVICE.name, rows, 0.1, 0.01, job.reach, "peer")
        for at, rows in enumerate(pairwise(bounds))
    )
