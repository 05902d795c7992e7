"""One filtering of a picture that is nowhere whole: of its strips, one after the other.

The implementation, and what `auto` picks, is chosen for the first strip and kept, so that no seam
shows where two ways to compute round differently.  Where the pick refuses a later strip, as of NaN,
all strips are filtered again with the next one: the whole picture would have had that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from kernels.core.errors import CannotRunError, KernelError, OutOfMemoryError
from kernels.core.job import Job, Pick, Progress, Result, Sampling
from kernels.core.picture_parts import RowStrip
from kernels.engine.auto import AUTO, with_pick
from kernels.engine.engine import Engine
from kernels.rungs.rung import Rung

ROUNDS_OTHERWISE = (
    "{title} rounds otherwise in strips than over the whole picture, for which too little memory "
    "is free; close other programs, or choose another implementation, such as shared."
)


class PickRefusedError(KernelError):
    """The pick of the first strip cannot run a later one; another has to run all of them."""

    def __init__(self, pick: Pick, reason: str) -> None:
        super().__init__(reason)
        self.pick = pick


class StripFilter:
    """The filtering of every strip of one picture, for the engine's thread.

    like        a job with the strips' weights, pixel type and channels; its picture does not count
    named       the implementation; None, or auto: the best that can run it
    check_taps  the products that the reference may work out for each strip; 0: none is checked,
                None: as many as it takes to check every pixel
    pick        what `auto` picked; None: the first strip decides
    refused     picks that cannot run all strips
    for_now     whether the whole picture would fit into memory another time: what rounds otherwise
                in strips is rejected
    """

    def __init__(
        self,
        engine: Engine,
        like: Job,
        named: str | None = None,
        check_taps: int | None = 0,
        *,
        pick: Pick | None = None,
        refused: frozenset[Pick] = frozenset(),
        for_now: bool = False,
    ) -> None:
        self._engine, self._like = engine, like
        self._named = None if named == AUTO.key else named
        self._sampling = Sampling(
            max_samples=0, cache="warm", check=check_taps != 0, check_taps=check_taps
        )
        self.pick, self._refused, self._for_now = pick, refused, for_now

    def filtering(self, picture: NDArray[Any], strip: RowStrip) -> Iterator[Progress | Result]:
        """Filter a strip's picture; the last step is its Result, and `Result.check` if wanted.

        Raises the errors of `kernels.core.errors`, and PickRefusedError.
        """
        job = replace(self._like, picture=picture, strip=strip)
        if self._named is not None:
            self._reject_strips(self._named)
            job = replace(job, implementation=self._named)
            yield from self._engine.filtering(job, self._sampling)
        elif self.pick is not None:
            yield from self._as_picked(job, self.pick)
        else:
            for step in self._engine.picking(job, self._sampling, self._refused):
                if isinstance(step, Result) and step.picked is not None:
                    self._reject_strips(step.picked.implementation)
                    self.pick = step.picked
                yield step

    def _as_picked(self, job: Job, pick: Pick) -> Iterator[Progress | Result]:
        try:
            for step in self._engine.filtering(with_pick(job, pick), self._sampling):
                yield replace(step, picked=pick) if isinstance(step, Result) else step
        except CannotRunError as error:
            raise PickRefusedError(pick, str(error)) from error

    def _reject_strips(self, key: str) -> None:
        """Raise OutOfMemoryError where strips would have other bytes than the whole picture."""
        if self._for_now:
            implementation = self._engine.implementation(key)
            if isinstance(implementation, Rung) and implementation.strips_differ:
                raise OutOfMemoryError(ROUNDS_OTHERWISE.format(title=implementation.title))
