"""A list of steps: each run of an implementation given what the one before gave, then the whole.

Between runs samples are float32, neither rounded nor clipped, unless the job rounds between steps
or begins with ranks of integers, which give integers: see `Job.wide_from`.
What a run gave is kept, so that a change of the last step runs no other again.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, reduce
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.cache import blank, may_change, once_a_picture, read_only
from kernels.core.cpu_load import both_loads
from kernels.core.device import DeviceShare
from kernels.core.device_turns import Waiting
from kernels.core.errors import CannotRunError
from kernels.core.health import health_of_all
from kernels.core.job import Job, Progress, Result, Results, Sampling
from kernels.core.step import OUTPUT, StepRun, make_grey
from kernels.core.timing import Timing, added_up
from kernels.oracle.reference import least_alpha, to_pixel_type

KEPT_BYTES = 1 << 29  # of samples that runs were given and gave
KEPT_PICTURES = 2  # the one in view, and a sweep's
Samples = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class KeptRun:
    """What a run gave."""

    start: Samples  # what the first run of its list was given
    sampling: Sampling  # by which it was timed and checked
    result: Result
    run: StepRun
    given: Samples  # what it gave the next run: its output, blended with its input

    @classmethod
    def of(
        cls, start: Samples, sampling: Sampling, result: Result, run: StepRun, dtype: np.dtype[Any]
    ) -> KeptRun:
        """Blend what a run gave with what it was given, to samples of that type."""
        given = blended(run, result.job.picture, result.picture, dtype)
        return cls(start, sampling, result, run, given)

    def stands_for(self, wanted: Sampling) -> bool:
        """True if it was timed and checked as well as that asks for."""
        check, had = self.result.check, self.sampling
        taps, most = had.check_taps, wanted.check_taps
        is_as_full = taps is None or (most is not None and most <= taps)
        is_checked = check is not None and (check.is_full or is_as_full)
        longer = ("max_samples", "max_seconds", "min_samples")
        is_timed = had.cache == wanted.cache and all(
            getattr(had, name) >= getattr(wanted, name) for name in longer
        )
        return (is_checked or not wanted.check) and (is_timed or not wanted.max_samples)

    def as_in(self, job: Job, run: StepRun, dtype: np.dtype[Any]) -> KeptRun:
        """The same run under the names of `job`, blended as `run` is, to samples of that type."""
        named = replace(self.result, job=job)
        if run.blend != self.run.blend or dtype != self.given.dtype:
            return KeptRun.of(self.start, self.sampling, named, run, dtype)
        return replace(self, result=named)


class KeptRuns:
    """What runs gave, up to KEPT_BYTES, of the KEPT_PICTURES that were filtered last."""

    def __init__(self) -> None:
        self._kept: list[KeptRun] = []  # those that go first in front

    def beginning(self, job: Job, sampling: Sampling) -> list[KeptRun]:
        """The first runs of `job`, as far as they are known.

        None where all are, and a time is wanted: what is asked for once more is measured anew.
        """
        start = given = between(job)
        known: list[KeptRun] = []
        for number, run in enumerate(job.runs, start=1):
            part = job.part(run, given)
            if (found := self._of(start, part, sampling)) is None:
                return known
            known.append(found.as_in(part, run, type_after(job, number)))
            given = known[-1].given
        return [] if sampling.max_samples else known

    def _of(self, start: Samples, job: Job, sampling: Sampling) -> KeptRun | None:
        same = (e for e in self._kept if e.start is start and _are_same(e.result.job, job))
        return next((each for each in same if each.stands_for(sampling)), None)

    def keep(self, runs: Sequence[KeptRun]) -> None:
        """Keep the first runs of a list, in place of what was known of them.

        The first of all goes last: without it those behind are of no use.
        """
        jobs = [each.result.job for each in runs]
        others = (e for e in self._kept if not any(_are_same(e.result.job, job) for job in jobs))
        self._kept = [*others, *reversed(runs)]
        starts = list({id(each.start): None for each in reversed(self._kept)})[:KEPT_PICTURES]
        self._kept = [each for each in self._kept if id(each.start) in starts]
        while self._kept and self._nbytes > KEPT_BYTES:
            self._kept.pop(0)

    @property
    def _nbytes(self) -> int:
        arrays = [(each.result.job.picture, each.result.picture, each.given) for each in self._kept]
        return sum({id(array): array.nbytes for each in arrays for array in each}.values())


def _are_same(one: Job, other: Job) -> bool:
    return one.picture is other.picture and one.same_run(other)  # the quick question first


def list_filtering(
    job: Job, sampling: Sampling, kept: KeptRuns, filtering: Callable[[Job, Sampling], Results]
) -> Generator[Progress | Result, None, None]:
    """Filter, time and check each run of `job`, step by step as the Engine does; last the list.

    filtering  does one run, of a job that is one launch

    The list's time is the sum of the runs' medians; see `Engine.filtering` for that of the whole.
    """
    runs, start = job.runs, between(job)
    done = kept.beginning(job, sampling)
    try:
        for number, run in enumerate(runs[len(done) :], start=len(done) + 1):
            part = job.part(run, done[-1].given if done else start)
            found = yield from _run(part, _name(runs, number), sampling, filtering)
            done.append(KeptRun.of(start, sampling, found, run, type_after(job, number)))
    finally:  # also where it is stopped in between
        if not may_change(job.picture):
            kept.keep(done)
    yield _whole(job, _as_picture(job, done[-1].given), tuple(each.result for each in done))


def inside(job: Job, given: Samples) -> Samples:
    """What was filtered, inside the job's region, in float32; elsewhere what it was before."""
    if job.region is None:
        return given
    share, original = job.share(), between(job).astype(np.float32)
    with np.errstate(invalid="ignore", over="ignore"):
        faded = share * given.astype(np.float32) + (np.float32(1) - share) * original
    found = np.where(share == 0, original, np.where(share == 1, given, faded))
    if job.keeps_alpha:
        found[..., -1] = original[..., -1]
    return found


def _as_picture(job: Job, given: Samples) -> Samples:
    """What the runs gave, inside the region; outside colours stay, whatever their alpha."""
    found = divided(job.opaque, inside(job, given))
    is_part = job.opaque is not None and job.region is not None
    return np.where(job.share() == 0, job.picture, found) if is_part else found


def divided(opaque: float | None, given: Samples) -> Samples:
    """Colours weighted by alpha divided by it, in float32; None: they are not.

    Below `least_alpha`, which nobody sees, they fade to 0 instead of growing without a bound.
    """
    if opaque is None:
        return given
    found = given.astype(np.float32)
    alpha = np.maximum(found[..., -1:], 0)
    with np.errstate(invalid="ignore", over="ignore"):
        least = np.float32(least_alpha(opaque))
        found[..., :-1] *= np.float32(opaque) * alpha / np.square(np.maximum(alpha, least))
    return found


def _run(
    job: Job, name: str, sampling: Sampling, filtering: Callable[[Job, Sampling], Results]
) -> Generator[Progress, None, Result]:
    found: Result | None = None
    try:
        for step in filtering(job, sampling):
            if isinstance(step, Result):
                found = step
            elif isinstance(step, Waiting):
                yield step
            else:
                yield Progress(f"{name}{step.doing}")
    except CannotRunError as error:
        raise CannotRunError(f"{name}{error}") from error
    assert found is not None
    return found


def _name(runs: Sequence[StepRun], number: int) -> str:
    return f"Step {number}, {runs[number - 1].steps[0].title}: " if len(runs) > 1 else ""


def between(job: Job) -> Samples:
    """A job's picture as samples are between steps; the same array for the same picture."""
    if job.opaque is not None:
        return _weighted(job.opaque, job.is_rounded)(job.picture)
    return _widened(job.picture) if type_after(job, 0) != job.picture.dtype else job.picture


def type_after(job: Job, taken: int) -> np.dtype[Any]:
    """The type of what that many of `job.runs` give, as the next one is given it."""
    is_kept = not job.is_wide or taken < job.wide_from
    return job.picture.dtype if is_kept else np.dtype(np.float32)


@cache
def _weighted(opaque: float, is_rounded: bool) -> Callable[[Samples], Samples]:
    """A function that gives pictures with colours weighted by alpha."""

    def weigh(picture: Samples) -> Samples:
        with np.errstate(invalid="ignore", over="ignore"):
            found = picture.astype(np.float32)
            share = found[..., -1:] / np.float32(opaque)
            found[..., :-1] = np.where(share == 0, np.float32(0), found[..., :-1] * share)
        return _of_type(found, picture.dtype if is_rounded else found.dtype)

    return once_a_picture(weigh)


@once_a_picture
def _widened(picture: Samples) -> Samples:
    with np.errstate(invalid="ignore"):
        return read_only(picture.astype(np.float32))


def blended(
    run: StepRun, before: Samples, after: Samples, dtype: np.dtype[Any] | None = None
) -> Samples:
    """A run's output blended with its input, in float32; of `dtype`, or the output's."""
    blend, dtype = run.blend, dtype or after.dtype
    if blend == OUTPUT:
        return after if after.dtype == dtype else _of_type(after, dtype)
    share, threshold, offset = map(np.float32, blend[:3])
    found, was = (each.astype(np.float32) for each in (after, before))
    with np.errstate(invalid="ignore", over="ignore"):
        if blend.opaque:  # the colour that is seen there; where none is, the pixel's own
            seen = np.maximum(found[..., -1:], 0)
            least = np.maximum(seen, np.float32(least_alpha(blend.opaque)))
            by = np.where(found[..., :-1] < 0, np.float32(blend.opaque), least)
            colours, part = was[..., -1:] * (found[..., :-1] / by), seen / least
            faded = part * colours + (1 - np.square(part)) * was[..., :-1]
            found[..., :-1] = np.where(part == 1, colours, faded)
        if offset:
            found[..., :-1] += offset * found[..., -1:]
        if offset or blend.opaque:
            found = _of_type(found, dtype).astype(np.float32)
        if blend.is_grey:
            make_grey(found)
        if threshold:
            change = found - was
            found = was + np.copysign(np.maximum(np.abs(change) - threshold, 0), change)
        if share != 1:
            found = share * found + (np.float32(1) - share) * was
    if after.shape[2] in (2, 4) and run.keeps_alpha:
        found[..., -1] = before[..., -1]
    return _of_type(found, dtype)


def _of_type(samples: Samples, dtype: np.dtype[Any]) -> Samples:
    return read_only(samples if samples.dtype == dtype else to_pixel_type(samples, dtype))


def _whole(job: Job, given: Samples, done: tuple[Result, ...]) -> Result:
    times = [each.kernel for each in done if each.kernel is not None]
    whole = times[0] if len(times) == len(done) else None
    if whole and len(times) > 1:
        whole = Timing((sum(each.median_ms for each in times),), whole.cache, "single")
    first, last = done[0], done[-1]
    names = dict.fromkeys(each.device_name for each in done if each.device_name)
    return Result(
        job,
        _of_type(given, job.picture.dtype),
        whole,
        tuple(ran for each in done for ran in each.ran),
        compile_ms=added_up(each.compile_ms for each in done),
        upload_ms=first.upload_ms,
        upload_copy_ms=first.upload_copy_ms,
        download_ms=last.download_ms,
        download_copy_ms=last.download_copy_ms,
        device_name=" + ".join(names) or None,
        shares=_shares([each.shares for each in done]),
        strips=max(each.strips for each in done),
        health=health_of_all(each.health for each in done),
        load=reduce(both_loads, (each.load for each in done)),
        steps=done,
    )


def _shares(of_runs: Sequence[tuple[DeviceShare, ...]]) -> tuple[DeviceShare, ...]:
    """Each GPU's part of all runs, where all were shared alike."""
    if any(len(one) != len(other) for one, other in pairwise(of_runs)):
        return ()
    sums = ("total_ms", "halo_ms", "halo_rows")
    return tuple(
        replace(each[-1], **{name: sum(getattr(one, name) for one in each) for name in sums})
        for each in zip(*of_runs, strict=True)
    )


def parts_ahead(job: Job) -> Iterator[tuple[str, Job]]:
    """The name and the job of each run, before any has run; of one launch the job itself.

    Of what they will be given only shape and type are known, unless it is the picture.
    """
    if job.is_one_launch:
        yield "", job
        return
    is_weighted = job.opaque is not None  # which takes a while, and integers have no NaN
    given = job.picture if is_weighted else between(job)
    if is_weighted and job.is_wide:
        given = blank(given.shape, "float32")
    runs = job.runs
    for number, run in enumerate(runs, start=1):
        yield _name(runs, number), job.part(run, given)
        given = blank(given.shape, str(type_after(job, number)))
