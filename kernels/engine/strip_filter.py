"""One filtering of a picture that is nowhere whole: of its strips, one after the other.

What is chosen by trying, such as a rung, a block shape or one of OpenCV's functions, is chosen at
the first strip and kept, so that no seam shows where two ways to compute round differently.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from kernels.core.driving import last_of
from kernels.core.errors import CannotRunError
from kernels.core.job import Job, Pick, Progress, Result, Sampling
from kernels.cpu import HostImplementation, cpu_run
from kernels.cpu.prepared import Prepared
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
        self._prepared: Prepared | None = None

    def filtering(self, picture: NDArray[Any]) -> Iterator[Progress | Result]:
        """Filter a strip's picture; the last step is its Result, and `Result.check` if wanted.

        Raises the errors of `kernels.core.errors`.
        """
        job = self._job(picture)
        if job.implementation == AUTO.key or self._pick is not None:
            yield from self._on_gpu(job)
            return
        implementation = self._engine.implementation(job.implementation)
        if isinstance(implementation, HostImplementation):
            yield from self._on_cpu(implementation, job)
        else:
            yield from self._engine.filtering(job, self._sampling)

    def _job(self, picture: NDArray[Any]) -> Job:
        job = replace(self._like, picture=picture)
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
        pinned = replace(implementation, prepare=self._prepare_by(implementation))
        result = yield from last_of(cpu_run.filtering(pinned, job, self._sampling))
        yield result
        if self._sampling.check:
            yield from checked(result, implementation.tolerance(job), self._sampling.check_taps)

    def _prepare_by(self, implementation: HostImplementation) -> Callable[[Job], Prepared]:
        """Return what prepares a strip as the first was, if `implementation` did that one."""
        if implementation.key != self._chosen:
            return implementation.prepare

        def prepare(job: Job) -> Prepared:
            if self._prepared is None or self._prepared.again is None:
                self._prepared = implementation.prepare(job)
            else:
                self._prepared = self._prepared.again(job)
            return self._prepared

        return prepare
