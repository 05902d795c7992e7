"""One job on one implementation, timed and held against an oracle worked out once for many."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from math import inf

from kernels.check import Oracle, checking
from kernels.engine import Engine
from kernels.errors import DeviceLostError, KernelError
from kernels.job import Job, Progress, Result, Sampling

# What takes less than this is measured to the end: its first run, which the device prepares for,
# says too little.
GIVE_UP_FROM_MS = 10.0


def trying(
    engine: Engine, job: Job, sampling: Sampling, known: Oracle, limit_ms: float = inf
) -> Generator[Progress, None, Result | str]:
    """Measure and check `job`; returns the checked Result, or the sentence why there is none.

    known     what the oracle says about this picture, weights and border: see `check.checking`
    limit_ms  give up where the kernel takes longer: nobody will want it
    Raises DeviceLostError: nothing after it could be trusted.
    """
    result: Result | None = None
    try:
        for step in engine.filtering(job, replace(sampling, check=False)):
            if not isinstance(step, Result):
                yield step
                continue
            result = step
            if step.kernel.median_ms > max(limit_ms, GIVE_UP_FROM_MS):
                return f"Given up: {step.kernel.median_ms:.3g} ms is hopelessly slow."
    except DeviceLostError:
        raise
    except KernelError as error:
        return str(error)
    assert result is not None
    implementation = engine.implementation(job.implementation)
    chain, factor = implementation.chain(job), implementation.error_factor
    for check in checking(job, result.picture, chain, factor, sampling.check_taps, known):
        yield Progress("checking against the oracle")
        result = replace(result, check=check)
    return result
