"""Compile many kernels on all cores before they are needed: one by one that takes minutes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress

from kernels.core.cores import usable_cores
from kernels.core.device import Device
from kernels.core.job import Job, Progress
from kernels.rungs.rung import Rung

PATIENCE_S = 0.05


def compiling_ahead(device: Device, wanted: Iterable[tuple[Rung, Job]]) -> Iterator[Progress]:
    """Compile every binary that `wanted` needs into CuPy's cache on disk.

    From there it is read by whoever launches it, on a thread of its own.

    Stopping, wherever this yields, waits for those being compiled and forgets the rest.
    """
    import cupy as cp

    from kernels.cuda.launch import Programs

    def compile_(rung: Rung, job: Job) -> None:
        # What fails here fails again, and is said, when it is to run.
        with suppress(Exception), cp.cuda.Device(device.index):
            Programs(cp).get(rung, job)

    different = {(rung.key, tuple(rung.defines(job).items())): (rung, job) for rung, job in wanted}
    with ThreadPoolExecutor(usable_cores(), thread_name_prefix="kernels-compiling") as pool:
        left = {pool.submit(compile_, *each) for each in different.values()}
        try:
            while left:
                yield Progress(f"compiling, {len(left)} of {len(different)} kernels left")
                left = wait(left, PATIENCE_S).not_done
        finally:
            pool.shutdown(cancel_futures=True)
