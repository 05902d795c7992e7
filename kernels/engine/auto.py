"""The implementation `auto`: of all rungs and block shapes the one measured to be the quickest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Literal

from kernels.core.device import Device
from kernels.core.job import Job, Pick
from kernels.engine.measurements import (
    Candidate,
    JobClass,
    Measurements,
    job_class_of,
    nearest_shipped,
    shipped_times,
)
from kernels.rungs.rung import Rung, ladder

DEFAULT_BLOCK_XY = (32, 8)
KINDS_KEPT = 256  # of which is known what is usual: to look for the nearest takes a while


@dataclass(frozen=True, slots=True)
class Auto:
    """The implementation `auto`, as it introduces itself where implementations are chosen."""

    key: str = "auto"
    title: str = "Auto"
    idea: str = (
        "Runs the rung and block shape measured to be the quickest here for this kind of job, and "
        "says which; Run ▸ Tune measures them."
    )
    kind: Literal["auto"] = "auto"


AUTO = Auto()


class Picker:
    """The choice for one device, from what was measured there."""

    def __init__(self, device: Device, measurements: Measurements | None = None) -> None:
        self._device = device
        self.measurements = measurements or Measurements(device)

    def picks(self, job: Job) -> Iterator[Pick]:
        """Yield the ways to run `job`, the best first; none rejects it.

        Only measured ways where there are any for its kind: other rungs were wrong or hopeless.
        """
        kind = job_class_of(job)
        measured = self.measurements.of(kind)
        why = f"the quickest of {len(measured)} measured here"
        is_known = False
        for each in ranked(measured, partial(self._is_able, job)):
            is_known = True
            yield Pick(*each.way, why)
        if not is_known:
            yield from self._unmeasured(job, kind)

    def may_run(self, rung: Rung, job: Job) -> bool:
        """Return True if `auto` may choose `rung` for `job`: it can run it, with all of float32."""
        return not rung.reduced_precision and not rung.why_not(job, self._device)

    def _unmeasured(self, job: Job, kind: JobClass) -> Iterator[Pick]:
        seen: set[str] = set()
        if (near := self._nearest(kind)) is not None:
            new = "picture size" if near.size != kind.size else "border"
            why = f"not measured here yet for this {new}; the quickest for {near}"
            for each in ranked(self.measurements.of(near), partial(self._is_able, job)):
                seen.add(each.implementation)
                yield Pick(*each.way, why)
        for each, why in usual_ways(kind):
            if each.implementation not in seen and self._is_able(job, each):
                seen.add(each.implementation)
                yield Pick(*each.way, why)
        for rung in reversed(ladder()):
            block_xy = None if rung.own_block else DEFAULT_BLOCK_XY
            if rung.key not in seen and self.may_run(rung, _with_block(job, block_xy)):
                yield Pick(
                    rung.key, block_xy, "nothing like it was measured; the last on the ladder"
                )

    def _nearest(self, kind: JobClass) -> JobClass | None:
        """The measured class nearest to `kind`: of another size, or of another border as well."""
        alike = [
            each
            for each in self.measurements.kinds()
            if replace(each, size=kind.size, border=kind.border) == kind
        ]
        return min(
            alike,
            key=lambda each: (each.border != kind.border, abs(each.size - kind.size)),
            default=None,
        )

    def _is_able(self, job: Job, candidate: Candidate) -> bool:
        rung = next((rung for rung in ladder() if rung.key == candidate.implementation), None)
        return rung is not None and self.may_run(rung, _with_block(job, candidate.block_xy))


def ranked(
    measured: Iterable[Candidate], is_able: Callable[[Candidate], bool] = lambda _: True
) -> Iterator[Candidate]:
    """Sort: the quickest that are able first; of those that tie, the simplest in its usual shape.

    A tie is a median between the quartiles of the quickest: another run might have it the other
    way round.
    """
    by_time = filter(is_able, sorted(measured, key=lambda each: each.median_ms))
    tied: list[Candidate] = []
    for each in by_time:
        if tied and each.median_ms > tied[0].high_ms:
            yield from sorted(tied, key=_simplicity)
            yield each
            yield from by_time
            return
        tied.append(each)
    yield from sorted(tied, key=_simplicity)


def _simplicity(candidate: Candidate) -> tuple[int, bool, float]:
    keys = [rung.key for rung in ladder()]
    key = candidate.implementation
    return (
        keys.index(key) if key in keys else len(keys),
        candidate.block_xy not in (None, DEFAULT_BLOCK_XY),
        candidate.median_ms,
    )


@lru_cache(KINDS_KEPT)
def usual_ways(kind: JobClass) -> tuple[tuple[Candidate, str], ...]:
    """The quickest ways on the GPU whose times come with the program, and why."""
    device, ways = shipped_times()
    if (near := nearest_shipped(kind)) is None:
        return ()
    why = f"not measured here yet; the quickest on an {device} for {near}"
    return tuple((each, why) for each in ranked(ways[near]))


def usual_order(job: Job) -> list[Rung]:
    """Return the ladder as `usual_ways` have it for `job`, then from the top down."""
    rungs = {rung.key: rung for rung in reversed(ladder())}
    first = (each.implementation for each, _ in usual_ways(job_class_of(job)))
    return [rungs[key] for key in dict.fromkeys((*first, *rungs)) if key in rungs]


def with_pick(job: Job, pick: Pick) -> Job:
    """Return `job` as `pick` runs it."""
    return replace(_with_block(job, pick.block_xy), implementation=pick.implementation)


def _with_block(job: Job, block_xy: tuple[int, int] | None) -> Job:
    return replace(job, block_xy=block_xy) if block_xy else job
