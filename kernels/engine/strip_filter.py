"""One filtering of a picture that is nowhere whole: of its strips, one after the other.

The implementation, and what `auto` picks, is chosen for the first strip and kept, so that no seam
shows where two ways to compute round differently.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from kernels.core.driving import last_of
from kernels.core.errors import CannotRunError
from kernels.core.job import Job, Pick, Progress, Result, Sampling
from kernels.core.row_strips import RowStrip
from kernels.cpu import HostImplementation, cpu_run
from kernels.engine.auto import AUTO, with_pick
from kernels.engine.engine import Engine, checked


class StripFilter:
    """The filtering of every strip of one picture, for the engine's thread.

    like        a job with the strips' weights, pixel type and channels; its picture does not count
    named       the implementation; None, or auto: the best that can run it
    check_taps  the products that the reference may work out for each strip; 0: none is checked,
                None: as many as it takes to check every pixel
    """

    def __init__(
        self, engine: Engine, like: Job, named: str | None = None, check_taps: int | None = 0
    ) -> None:
        self._engine, self._like = engine, like
        self._named = None if named == AUTO.key else named
        self._sampling = Sampling(
            max_samples=0, cache="warm", check=check_taps != 0, check_taps=check_taps
        )
        self._chosen: str | None = None
        self._pick: Pick | None = None

    def filtering(self, picture: NDArray[Any], strip: RowStrip) -> Iterator[Progress | Result]:
        """Filter a strip's picture; the last step is its Result, and `Result.check` if wanted.

        Raises the errors of `kernels.core.errors`.
        """
        job = self._job(picture, strip)
        if job.implementation == AUTO.key or self._pick is not None:
            yield from self._on_gpu(job)
            return
        implementation = self._engine.implementation(job.implementation)
        if isinstance(implementation, HostImplementation):
            yield from self._on_cpu(implementation, job)
        else:
            yield from self._engine.filtering(job, self._sampling)

    def _job(self, picture: NDArray[Any], strip: RowStrip) -> Job:
        job = replace(self._like, picture=picture, strip=strip)
        if self._chosen is None:
            self._chosen = self._named or self._engine.best_for(job)
        job = replace(job, implementation=self._chosen)
        if self._named is None and self._engine.why_not(job):  # as of NaN, in this strip alone
            return replace(job, implementation=self._engine.best_for(job))
        return with_pick(job, self._pick) if self._pick else job

    def _on_gpu(self, job: Job) -> Iterator[Progress | Result]:
        for step in self._engine.filtering(job, self._sampling):
            if isinstance(step, Result):
                self._pick = step.picked or self._pick
            yield step

    def _on_cpu(self, implementation: HostImplementation, job: Job) -> Iterator[Progress | Result]:
        if self._named is not None and (reason := implementation.why_not(job)):
            raise CannotRunError(reason)
        result = yield from last_of(cpu_run.filtering(implementation, job, self._sampling))
        yield result
        if self._sampling.check:
            yield from checked(result, implementation.tolerance(job), self._sampling.check_taps)
