"""A user kernel as an implementation, which is chosen like any other."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from kernels.core.device import Device, NoDevice
from kernels.core.job import Job
from kernels.core.verdict import Tolerance
from kernels.rungs.headers import HeaderError
from kernels.rungs.own_kernels import IDEA, own_kernel
from kernels.rungs.rung import Rung

UNTIMED = "{key} runs on the CPU runtime here, where a kernel has no time."
HERE = "Your own kernel. With an NVIDIA GPU it runs there, apart; else on the CPU runtime, untimed."

ONE_GPU = "A kernel of your own runs in a process of its own, which has one GPU: choose 1."


@dataclass(frozen=True, slots=True)
class OwnKernel:
    """A user kernel, by its file's name, as it is listed."""

    key: str
    text: str = field(default="", repr=False)  # of the file; empty: not read
    kind: Literal["own"] = "own"

    @classmethod
    def of(cls, job: Job) -> OwnKernel:
        return cls(job.implementation, job.own)

    @property
    def title(self) -> str:
        """The file's name, by which its owner knows it."""
        return self.key

    @property
    def idea(self) -> str:
        rung = self.rung if self.text else None
        return HERE if rung is None or rung.idea == IDEA else rung.idea

    @property
    def own_block(self) -> str:
        """The reason why the block picker does not apply; empty where it does."""
        return self.rung.own_block if self.text else ""

    @property
    def rung(self) -> Rung:
        """The rung of the source.  Raises HeaderError where it makes none."""
        return _rung(self.key, self.text)

    def tolerance(self, job: Job) -> Tolerance:
        return self.rung.tolerance(job)

    def why_not_here(self, device: Device | NoDevice) -> str | None:
        """The reason why no user kernel runs on this computer; None if some may."""
        from kernels.cuda_on_cpu import compiler

        return None if isinstance(device, Device) else compiler.why_not()

    def why_not(self, job: Job, device: Device | NoDevice) -> str | None:
        """The reason why it cannot run `job` here, on GPU or CPU; None if it can."""
        if reason := self.why_not_here(device):
            return reason
        try:
            rung = self.rung
        except HeaderError as error:
            return str(error)
        if not isinstance(device, Device):
            return rung.why_not_anywhere(job)
        return ONE_GPU if job.devices > 1 else rung.why_not(job, device)


_rung = lru_cache(maxsize=64)(own_kernel)
