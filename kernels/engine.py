"""Run any job on any implementation: the one door that scripts, command line and window use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

from kernels import cpu
from kernels.check import checking
from kernels.device import Device, NoDevice, probe
from kernels.errors import BadJobError, CannotRunError, DeviceLostError
from kernels.gpu import Gpu
from kernels.host import HostImplementation, host_implementations
from kernels.job import Job, Progress, Result, Sampling
from kernels.rung import Rung, ladder

Implementation = HostImplementation | Rung


def all_implementations() -> tuple[Implementation, ...]:
    """Everything there is to run a job with: CPU, slowest first, then the ladder, naive first."""
    return (*host_implementations(), *ladder())


class Engine:
    """Filters pictures; knows one GPU, or why there is none.

    Use it from one thread: CUDA's context, stream and arrays live and die there.

    device_index  which GPU
    use_gpu       False: behave as on a computer without one
    """

    def __init__(self, device_index: int = 0, *, use_gpu: bool = True) -> None:
        self._device_index = device_index
        self._use_gpu = use_gpu
        self._lost = ""  # why the GPU can no longer be used, once that is so

    @cached_property
    def device(self) -> Device | NoDevice:
        """The GPU, or why there is none; takes half a second the first time."""
        if not self._use_gpu:
            return NoDevice("The GPU was switched off with --no-gpu.")
        return probe(self._device_index)

    def implementation(self, key: str) -> Implementation:
        """The one called `key`; BadJobError if there is none."""
        for each in all_implementations():
            if each.key == key:
                return each
        known = ", ".join(each.key for each in all_implementations())
        raise BadJobError(f"There is no implementation {key!r}; choose from {known}.")

    def why_not(self, job: Job) -> str | None:
        """The reason job.implementation cannot run `job` here; None if it can."""
        return self._why_not(self.implementation(job.implementation), job)

    def best_for(self, job: Job) -> str:
        """The key of the implementation furthest up that can run `job` here."""
        return [each.key for each in all_implementations() if not self._why_not(each, job)][-1]

    def filtering(self, job: Job, sampling: Sampling | None = None) -> Iterator[Progress | Result]:
        """Filter, time and check, step by step.

        Yields Progress wherever it may be paused or stopped, which is every 20 ms or so on the
        CPU, and a Result whenever it knows more; the last one knows all.
        Raises the errors of `kernels.errors`: CannotRunError with the implementation's reason.
        """
        sampling = sampling or Sampling()
        implementation = self.implementation(job.implementation)
        if reason := self._why_not(implementation, job):
            raise DeviceLostError(reason) if reason == self._lost else CannotRunError(reason)
        result: Result | None = None
        for step in self._running(implementation, job, sampling):
            result = step if isinstance(step, Result) else result
            yield step
        if result is not None and sampling.check:
            yield from self._checked(result, implementation)

    def run(self, job: Job, sampling: Sampling | None = None) -> Result:
        """Filter, time and check in one go."""
        *_, last = (step for step in self.filtering(job, sampling) if isinstance(step, Result))
        return last

    def _why_not(self, implementation: Implementation, job: Job) -> str | None:
        if isinstance(implementation, HostImplementation):
            return implementation.why_not(job)  # without looking for a GPU, which takes a while
        return self._lost or implementation.why_not(job, self.device)

    def _running(
        self, implementation: Implementation, job: Job, sampling: Sampling
    ) -> Iterator[Progress | Result]:
        if isinstance(implementation, HostImplementation):
            yield from cpu.filtering(implementation, job, sampling)
            return
        try:
            yield from self._gpu.filtering(implementation, job, sampling)
        except DeviceLostError as error:
            self._lost = str(error)
            raise

    def _checked(
        self, result: Result, implementation: Implementation
    ) -> Iterator[Progress | Result]:
        chain = implementation.chain(result.job)
        for check in checking(result.job, result.picture, chain, implementation.error_factor):
            yield Progress("checking against the oracle")
            result = replace(result, check=check)
        yield result

    @cached_property
    def _gpu(self) -> Gpu:
        assert isinstance(self.device, Device)
        return Gpu(self.device)
