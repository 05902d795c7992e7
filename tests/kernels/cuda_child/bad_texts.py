"""Texts that name what a made-up device does, and a job to try them on."""

from __future__ import annotations

import numpy as np

from kernels.core.job import Job
from kernels.cuda_child.gpu_trial import gpu_trial
from kernels.cuda_on_cpu.findings import KernelTrial
from kernels.rungs.own_kernels import own_kernel
from tests.kernels.cuda_on_cpu.bad_kernels import COPY, START

BLUR = np.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]], np.float32) / 16
GOOD = START.format(before="", body=COPY)


def a_job(dtype=np.uint8) -> Job:
    """120×100 samples: larger than the crop, and than the first strip."""
    picture = np.random.default_rng(4).integers(1, 255, (100, 120, 1)).astype(dtype)
    return Job.of(picture, BLUR, block_xy=(32, 8))


def text(**doing: str) -> str:
    """A kernel, which a made-up device takes for what is named."""
    return GOOD + "".join(f"// {what}: {name}\n" for what, name in doing.items())


def tried(children, source: str, job: Job | None = None, **options) -> KernelTrial:
    rung = own_kernel("mine.cu", source)
    *_, outcome = gpu_trial(rung, job or a_job(), children=children, **options)
    assert isinstance(outcome, KernelTrial)
    return outcome
