"""Classes of jobs that are alike: what one of a class shows tells which rung suits the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernels.core.job import Job
from kernels.core.weights import separable_terms

# Of higher rank, sums of separable weights are no longer worth telling apart.
MAX_RANK = 8
BORDER_GROUPS = {"zero": "zero", "clamp": "clamp"}  # the others all fold the index back


@dataclass(frozen=True, slots=True, order=True)
class JobClass:
    """The properties that a job's speed depends on, beside the device.

    weights  "uniform", "separable", "rank 2" and so on, "general"; "gradient" where that follows
    border   its group: "zero", "clamp" or "folded"
    size     log₂ of the number of pixels, rounded
    """

    pixel_type: str
    channels: int
    ksize: int
    weights: str
    border: str
    size: int

    def __str__(self) -> str:
        return (
            f"{self.channels} × {self.pixel_type}, {self.weights} {self.ksize}×{self.ksize}, "
            f"border {self.border}, 2^{self.size} pixels"
        )


def job_class_of(job: Job) -> JobClass:
    """Return the class that `job` belongs to."""
    return JobClass(
        pixel_type=job.pixel_type,
        channels=job.channels,
        ksize=job.ksize,
        weights=weights_class(job),
        border=BORDER_GROUPS.get(job.border, "folded"),
        size=size_class(job.strip.whole if job.strip else job.height, job.width),
    )


def size_class(height: int, width: int) -> int:
    """Return log₂ of the number of pixels, rounded."""
    return round(float(np.log2(height * width)))


def weights_class(job: Job) -> str:
    """Return what an implementation can make use of in the job: see `JobClass`."""
    return f"gradient after {_class_of(job)}" if job.gradient else _class_of(job)


def _class_of(job: Job) -> str:
    if np.ptp(job.weights) == 0:
        return "uniform"
    rank = len(separable_terms(job.weights))
    if rank == 1:
        return "separable"
    # From half the size on, as many multiply-adds are spent on the passes as on the weights.
    return f"rank {rank}" if rank <= MAX_RANK and 2 * rank < job.ksize else "general"
