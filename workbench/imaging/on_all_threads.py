"""Work on parts of a picture with as many threads as there are cores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import islice

from kernels.core.cpu_load import usable_cores
from kernels.cpu.sequential import Rectangle


def on_all_threads(parts: Iterator[Rectangle], work: Callable[[Rectangle], None]) -> Iterator[None]:
    """Call `work` with each of `parts`, as many at once as there are cores; yields in between.

    work  releases the interpreter's lock while it computes, as NumPy and OpenCV do
    """
    while together := list(islice(parts, usable_cores())):
        # The first on this thread: it would only wait, and one alone need not wake another.
        done = [_pool().submit(work, each) for each in together[1:]]
        work(together[0])
        for future in done:
            future.result()
        yield


@cache
def _pool() -> ThreadPoolExecutor:
    # They live as long as the program.
    return ThreadPoolExecutor(usable_cores(), thread_name_prefix="workbench-looking")
