"""All cores, the same plain nested loops: what threads alone bring."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import islice
from typing import Any

from numpy.typing import NDArray

from kernels.host import loops
from kernels.host.sequential import chain, why_not
from kernels.host.strips import Rectangle, rectangles
from kernels.job import Job

TITLE = "Parallel"
IDEA = "The same loops on every CPU core, each with its own band of rows."
ORDER = 1
ERROR_FACTOR = 1.0

prepare = loops.prepare
__all__ = ["chain", "filtering", "on_all_threads", "prepare", "threads", "why_not"]


def threads() -> int:
    """The cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def filtering(job: Job, out: NDArray[Any]) -> Iterator[None]:
    """Fill `out`, (H, W, C) of job.picture's dtype, one rectangle a thread and step.

    Nothing runs on while it is paused at a yield, so a pause does not spoil a timing.
    """
    taps = job.ksize**2 * job.channels
    waiting = rectangles(job.height, job.width, taps, threads())
    yield from on_all_threads(waiting, lambda rectangle: loops.fill(job, out, rectangle))


def on_all_threads(
    waiting: Iterator[Rectangle], fill: Callable[[Rectangle], None]
) -> Iterator[None]:
    """Call `fill` for each of `waiting`, as many at once as there are threads; yields between."""
    while together := list(islice(waiting, threads())):
        # The first on this thread: it would only wait, and one alone need not wake another.
        done = [_pool().submit(fill, each) for each in together[1:]]
        fill(together[0])
        for future in done:
            future.result()
        yield


@cache
def _pool() -> ThreadPoolExecutor:
    # They live as long as the program, shared by all that filter on many cores.
    return ThreadPoolExecutor(threads(), thread_name_prefix="kernels-parallel")
