"""A job's run on the CPU from start to end, in steps, timed by a monotonic clock."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.cache import read_only
from kernels.core.cpu_load import LoadWatch
from kernels.core.errors import OutOfMemoryError
from kernels.core.job import Job, Progress, Result, Results, Sampled, Sampling
from kernels.core.sampling import THREADS_SETTLE_S, Sampler
from kernels.cpu import HostImplementation, Prepared
from kernels.cpu.opencv import takes_long

LONG_S = 0.5  # from here on it is said how much is done

# For how many seconds each implementation has run in this process.
_ran_s: defaultdict[str, float] = defaultdict(float)


def filtering(implementation: HostImplementation, job: Job, sampling: Sampling) -> Results:
    """Compile and filter, then repeat for the timing.

    Time that the caller spends between the steps does not count.
    """
    watch = LoadWatch()
    # A quick job's first run counts for nothing: only its picture is waited for.
    if sampling.max_samples and takes_long(job):
        watch.start()
    is_new = implementation.compiles(job)
    # numba may have what is compiled in its cache.
    yield Progress(f"{'compiling or loading' if is_new else 'preparing'} {implementation.title}")
    start = perf_counter()
    prepared = implementation.prepare(job)
    compile_ms = (perf_counter() - start) * 1e3 if is_new else None
    picture = _empty_like(job.picture)
    plan = sampling
    if (prepared.ran.threads or 1) > 1:  # new threads find a core each before the first sample
        settle_s = THREADS_SETTLE_S - _ran_s[implementation.key]
        plan = replace(sampling, warmup_seconds=max(sampling.warmup_seconds, settle_s))
    first_ms = yield from _timed(implementation, prepared, picture)
    ran = (prepared.ran,)

    samples = Sampler(first_ms, plan)
    yield Result(job, read_only(picture), samples.timing(), ran, compile_ms, load=watch.load())
    if not samples.wants_more():
        return
    watch.start()
    again = _empty_like(job.picture)
    again.fill(0)  # have its pages, as a first run would while it is timed
    while samples.wants_more():
        yield Sampled(f"filtering with {implementation.title}", samples.timing())
        samples.add((yield from _timed(implementation, prepared, again)))
        if samples.is_news():
            yield Result(job, picture, samples.timing(), ran, compile_ms, load=watch.load())
    # The answer to be checked is that of the last run, which was timed.
    yield Result(job, read_only(again), samples.timing(), ran, compile_ms, load=watch.load())


def _timed(
    implementation: HostImplementation, prepared: Prepared, out: NDArray[Any]
) -> Generator[Progress, None, float]:
    """Fill `out` once; return the milliseconds spent on it."""
    steps = prepared.filtering(out)
    doing, spent_s = f"filtering with {implementation.title}", 0.0
    while True:
        start = perf_counter()
        try:
            share = next(steps)
        except StopIteration:
            spent_s += perf_counter() - start
            _ran_s[implementation.key] += spent_s
            return spent_s * 1e3
        except MemoryError as error:
            raise _out_of_memory(out) from error
        spent_s += perf_counter() - start
        yield Progress(f"{doing}, {100 * share:.0f} %" if spent_s > LONG_S else doing)


def _empty_like(picture: NDArray[Any]) -> NDArray[Any]:
    try:
        return np.empty_like(picture)
    except MemoryError as error:
        raise _out_of_memory(picture) from error


def _out_of_memory(picture: NDArray[Any]) -> OutOfMemoryError:
    return OutOfMemoryError(
        f"This computer has too little memory to filter {picture.nbytes / 1e6:.0f} MB of pixels; "
        "use a smaller picture."
    )
