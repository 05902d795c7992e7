"""The separable correlation of cuCIM in shared memory, behind its Gaussian filter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.cli.peers import PeerWay, Task, importable, to_host

TITLE = "cuCIM"


def missing() -> str | None:
    """Return why cuCIM cannot be used here; None if it can."""
    return importable("cucim.skimage._vendored.ndimage", TITLE)


def ways(task: Task) -> Iterator[PeerWay]:
    """Yield each way to do the task with it."""
    from cucim.skimage._vendored import ndimage

    if task.separable is None:
        return
    cp, source = task.cp, task.source
    column, row = map(cp.asarray, task.separable)
    between = cp.empty(source.shape, cp.float32)
    out = cp.empty_like(source)

    def passes(**how: Any) -> None:
        ndimage.correlate1d(source, column, axis=0, output=between, mode="nearest", **how)
        ndimage.correlate1d(between, row, axis=1, output=out, mode="nearest", **how)

    yield PeerWay(
        "cuCIM correlate1d × 2, shared memory",
        lambda: passes(algorithm="shared_memory"),
        lambda: to_host(cp, out),
    )
