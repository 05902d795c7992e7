"""OpenCV's filter2D and sepFilter2D on all cores of the CPU."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kernels.core.cores import usable_cores
from workbench.cli.peers import PeerWay, Task, importable

TITLE = "OpenCV on the CPU"


def missing() -> str | None:
    """Return why OpenCV cannot be used here; None if it can."""
    return importable("cv2", TITLE)


def ways(task: Task) -> Iterator[PeerWay]:
    """Yield each way to do the task with it."""
    import cv2

    job = task.job
    if job.pixel_type == "float16":
        return
    cv2.setNumThreads(usable_cores())
    out = np.empty_like(job.picture)
    replicate = cv2.BORDER_REPLICATE
    yield PeerWay(
        f"OpenCV filter2D ({usable_cores()} threads)",
        lambda: cv2.filter2D(job.picture, -1, job.weights, dst=out, borderType=replicate),
        lambda: out,
        runs_on="cpu",
    )
    if task.separable is not None:
        column, row = task.separable
        yield PeerWay(
            f"OpenCV sepFilter2D ({usable_cores()} threads)",
            lambda: cv2.sepFilter2D(job.picture, -1, row, column, dst=out, borderType=replicate),
            lambda: out,
            runs_on="cpu",
        )
