"""CuPy's ndimage: a direct correlation, and two 1-D ones for separable weights."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.cli.peers import PeerWay, Task, importable, to_host

TITLE = "cupyx.scipy.ndimage"
DIRECT_KSIZE = 31  # beyond, it takes seconds


def missing() -> str | None:
    """Return why it cannot be used here; None if it can."""
    return importable("cupyx.scipy.ndimage", TITLE)


def ways(task: Task) -> Iterator[PeerWay]:
    """Yield each way to do the task with it."""
    from cupyx.scipy import ndimage

    cp, job, source = task.cp, task.job, task.source
    out = cp.empty_like(source)
    if job.ksize <= DIRECT_KSIZE:
        weights = cp.asarray(job.weights)[:, :, None]
        yield PeerWay(
            "CuPy correlate",
            lambda: ndimage.correlate(source, weights, output=out, mode="nearest"),
            lambda: to_host(cp, out),
        )
    if task.separable is None:
        return
    column, row = map(cp.asarray, task.separable)
    between = cp.empty(source.shape, cp.float32)

    def two_passes() -> None:
        ndimage.correlate1d(source, column, axis=0, output=between, mode="nearest")
        ndimage.correlate1d(between, row, axis=1, output=out, mode="nearest")

    yield PeerWay("CuPy correlate1d × 2", two_passes, lambda: to_host(cp, out))
