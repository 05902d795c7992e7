"""CV-CUDA's Gaussian, which makes its own weights from sigma."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kernels import filters
from kernels.filters.gaussian import BINOMIAL, default_sigma
from workbench.cli.peers import PeerWay, Task, importable, to_host

TITLE = "CV-CUDA"
TYPES = ("uint8", "uint16", "float32")


def missing() -> str | None:
    """Return why CV-CUDA cannot be used here; None if it can."""
    return importable("cvcuda", TITLE)


def ways(task: Task) -> Iterator[PeerWay]:
    """Yield each way to do the task with it."""
    import cvcuda

    cp, job = task.cp, task.job
    is_gaussian = np.array_equal(job.weights, filters.get("gaussian").weights(job.ksize))
    if not is_gaussian or job.pixel_type not in TYPES:
        return
    # Of the binomials of size 3 and 5 no sigma is known: as near as a bell comes to them.
    sigma = {3: 0.8493, 5: 1.0}.get(job.ksize) if job.ksize in BINOMIAL else None
    sigma = sigma or default_sigma(job.ksize)
    out = cp.empty_like(task.source)
    source, target = (cvcuda.as_tensor(each, "HWC") for each in (task.source, out))
    stream = cvcuda.cuda.as_stream(task.clock.stream.ptr)
    yield PeerWay(
        "CV-CUDA gaussian",
        lambda: cvcuda.gaussian_into(
            target,
            source,
            (job.ksize, job.ksize),
            (sigma, sigma),
            cvcuda.Border.REPLICATE,
            stream=stream,
        ),
        lambda: to_host(cp, out),
    )
