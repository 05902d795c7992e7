"""The GPUs of this computer that can share a job: which they are, and why they cannot."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kernels.core.device import Device, NoDevice
from kernels.core.job import Job
from kernels.cuda.gpu import Gpu
from kernels.cuda.several_gpus import SeveralGpus
from kernels.rungs.rung import Rung


class SharingGpus:
    """The GPUs that an Engine may use, each looked at and made when it is first needed.

    first   the one that the Engine uses for itself
    others  the numbers of those that may help, in their order; None: all there are
    find    looks for the GPU of a number
    gpu     returns what drives the first
    """

    def __init__(
        self,
        first: Device,
        others: Sequence[int] | None,
        find: Callable[[int], Device | NoDevice],
        gpu: Callable[[], Gpu],
    ) -> None:
        named = range(first.count) if others is None else others
        self.numbers = (first.index, *(each for each in named if each != first.index))
        self._devices: dict[int, Device | NoDevice] = {first.index: first}
        self._find, self._gpu, self._gpus = find, gpu, dict[int, Gpu]()
        self._several: dict[int, SeveralGpus] = {}

    def why_not(self, rung: Rung, job: Job) -> str | None:
        """Return why as many GPUs as `job` asks for cannot share it; None if they can."""
        there = len(self.numbers)
        if job.devices > there:
            has = "there is 1" if there == 1 else f"there are {there}"
            return f"{job.devices} GPUs are asked for, and {has} here; choose fewer."
        for number in self.numbers[1 : job.devices]:
            if reason := rung.why_not(job, self._device(number)):
                return f"GPU {number} cannot do its part. {reason}"
        return None

    def first(self, count: int) -> SeveralGpus:
        """Return the first `count` GPUs, of as many or more."""
        if count not in self._several:
            self._several[count] = SeveralGpus([self._made(at) for at in self.numbers[:count]])
        return self._several[count]

    def _device(self, number: int) -> Device | NoDevice:
        if number not in self._devices:
            self._devices[number] = self._find(number)
        return self._devices[number]

    def _made(self, number: int) -> Gpu:
        if number == self.numbers[0]:
            return self._gpu()
        if number not in self._gpus:
            device = self._device(number)
            assert isinstance(device, Device)
            self._gpus[number] = Gpu(device)
        return self._gpus[number]
