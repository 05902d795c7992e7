"""The transforms of cuFFT by way of CuPy: spectra multiplied.  Zeros lie beyond."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.cli.peers import PeerWay, Task, importable, to_host

TITLE = "cuFFT"


def missing() -> str | None:
    """Return why it cannot be used here; None if it can."""
    return importable("cupyx.scipy.fft", TITLE)


def ways(task: Task) -> Iterator[PeerWay]:
    """Yield each way to do the task with it."""
    from cupyx.scipy import fft

    cp, job = task.cp, task.job
    if job.pixel_type != "float32":
        return
    height, width, radius = job.height, job.width, job.radius
    shape = tuple(fft.next_fast_len(side + 2 * radius, True) for side in (height, width))
    spectrum = fft.rfft2(cp.asarray(job.weights[::-1, ::-1]), s=shape)  # flipped: a correlation
    planes = [cp.ascontiguousarray(task.source[:, :, n]) for n in range(job.channels)]
    found: list[Any] = []

    def multiply_spectra() -> None:
        found.clear()
        for plane in planes:
            product = fft.rfft2(plane, s=shape)
            product *= spectrum
            back = fft.irfft2(product, s=shape, overwrite_x=True)
            found.append(back[radius : radius + height, radius : radius + width])

    yield PeerWay(
        "cuFFT", multiply_spectra, lambda: to_host(cp, cp.stack(found, axis=-1)), border="zero"
    )
