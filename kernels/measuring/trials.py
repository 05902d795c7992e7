"""One job on one implementation, timed and held against an oracle worked out once for many."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from math import inf
from time import perf_counter

from kernels.core.device_turns import Waiting
from kernels.core.errors import DeviceLostError, GivenUpError, KernelError
from kernels.core.job import Job, Progress, Result, Sampling
from kernels.core.verdict import Check
from kernels.engine.engine import Engine
from kernels.oracle.checking import Oracle, checking
from kernels.rungs.own_kernels import is_own

# What takes less than this is measured to the end: its first run, which the device prepares for,
# says too little.
GIVE_UP_FROM_MS = 10.0


def measure_checked(
    engine: Engine,
    job: Job,
    sampling: Sampling,
    known: Oracle,
    limit_ms: float = inf,
    patience_s: float = inf,
) -> Generator[Progress, None, Result | str]:
    """Measure and check `job`; return the Result, or the sentence why there is none.

    known       of this picture, weights and border: see `checking.checking`
    limit_ms    give up where the kernel takes longer: nobody will want it
    patience_s  for the first run, compiling and pauses aside
    Raises GivenUpError where that was too short, and DeviceLostError.
    """
    result: Result | None = None
    clock = Patience(patience_s)
    try:
        for step in clock.watched(engine.filtering(job, replace(sampling, check=False))):
            if not isinstance(step, Result):
                if result is None and clock.is_over:
                    raise GivenUpError(f"Given up: not finished after {patience_s:g} s.")
                yield step
                continue
            result = step
            ms = step.kernel.median_ms if step.kernel else 0.0
            if ms > max(limit_ms, GIVE_UP_FROM_MS):
                return f"Given up: {ms:.3g} ms, far slower than the best."
    except (DeviceLostError, GivenUpError):
        raise
    except KernelError as error:
        return str(error)
    assert result is not None
    if result.kernel is None:  # of a user kernel, which is never timed unchecked
        return f"Its answer is {result.check}."
    if not sampling.check:
        return result
    check = yield from checked(engine, result, sampling.check_taps, known)
    return replace(result, check=check)


def checked(
    engine: Engine, result: Result, max_taps: int | None, known: Oracle
) -> Generator[Progress, None, Check]:
    """Verify the output of `result`, with `known` and `max_taps` of `checking.checking`.

    A user kernel brings its own Check, of more outputs than the one that is given.
    """
    if is_own(result.implementation):
        assert result.check is not None
        return result.check
    implementation = engine.implementation(result.implementation)
    tolerance = implementation.tolerance(result.job)
    for found in checking(result.job, result.picture, tolerance, max_taps, known):  # noqa: B007
        yield Progress("verifying against the float64 reference")
    return found


@contextmanager
def or_nothing() -> Iterator[None]:
    """Ignore failures of extras, unless the device is lost."""
    try:
        yield
    except DeviceLostError:
        raise
    except KernelError:
        pass


class Patience:
    """A clock of the time that a computation spends on itself.

    Not on compiling, which its second step ends with at the latest, not on waiting for its turn on
    the device, and not what whoever drives it spends between the steps.
    """

    def __init__(self, limit_s: float) -> None:
        self._limit_s, self._spent_s = limit_s, 0.0

    @property
    def is_over(self) -> bool:
        """Return True if more than the limit was spent."""
        return self._spent_s > self._limit_s

    def watched(self, steps: Iterator[Progress | Result]) -> Iterator[Progress | Result]:
        """Yield from `steps`, counting the time that each takes."""
        for number in count():
            start = perf_counter()
            step = next(steps, None)
            if step is None:
                return
            if number > 1 and not isinstance(step, Waiting):
                self._spent_s += perf_counter() - start
            yield step
