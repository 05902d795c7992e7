"""Find the OpenCV call that is the quickest for a job here, and on how many threads: by trying.

No rule holds on every computer: on sixteen cores GaussianBlur wins at 768 × 512 and sepFilter2D at
4096 × 4096; on two it is often the other way round.  So each kind of job is tried once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.cache import LruCache, once_a_picture
from kernels.core.cores import usable_cores
from kernels.core.job import Job
from kernels.core.sampling import THREADS_SETTLE_S
from kernels.cpu.cv_calls import Call, calls, exact_call

TRIAL_SAMPLES = 1 << 24  # of a larger picture as many are tried
TRIAL_ROUNDS = 3
TRIAL_RUNS = 5  # of each call in each round
TRIAL_S = 0.02  # or so long
NEARLY = 1.05  # this near to the quickest counts as quick
# From here on waking threads costs nothing beside what they do.
LARGE_SAMPLES = 1 << 20
COMPARED_SAMPLES, COMPARED_BANDS = 1 << 21, 8  # that a coarse call is held against an exact one on
# A result off by less than 1.5 from the unrounded sum is at most one level from the rounded one.
# Less is allowed where only some of the picture was compared.
MAX_OFF_EVERYWHERE, MAX_OFF_SOMEWHERE = 1.49, 1.25


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """A call and the threads that OpenCV is given for it."""

    call: Call
    threads: int


_rankings: LruCache[tuple[Any, ...], tuple[tuple[str, int], ...]] = LruCache(256)


def choose(job: Job, border: int) -> Choice:
    """Return the quickest call whose answer is within its bound on job.picture.

    border  what cv2 calls the border to try with
    """
    found = calls(job)
    kind = (job.picture.shape, job.pixel_type, border, job.ksize, *(each.name for each in found))
    ranking = _rankings.get_or_make(kind, lambda: _tried(found, _some_rows(job.picture), border))
    by_name = {each.name: each for each in found}
    for name, threads in ranking:
        if _is_close(job, by_name[name], border):
            return Choice(by_name[name], threads)
    return Choice(exact_call(job), usable_cores())


def use_threads(count: int) -> bool:
    """Let OpenCV use `count` threads; return whether it used another number before."""
    import cv2

    # Telling it the same again costs nothing, but another number ends or starts threads.
    if cv2.getNumThreads() == count:
        return False
    cv2.setNumThreads(count)
    return True


def _tried(
    found: tuple[Call, ...], picture: NDArray[Any], border: int
) -> tuple[tuple[str, int], ...]:
    """Return (name, threads) of every call, the one to take first.

    All take turns, so that what else the computer does meanwhile meets each of them.  Of those
    that are as quick as the quickest, by NEARLY, the first that is tried is taken, on all cores:
    else chance would decide, and one process measure another call than the next.
    """
    cores = usable_cores()
    counts = (cores, 1) if picture.size <= LARGE_SAMPLES and cores > 1 else (cores,)
    ways = [(call, threads) for threads in counts for call in found]
    if len(ways) == 1:
        return ((found[0].name, cores),)
    if len(counts) > 1:  # else all calls meet the same threads, settled or not
        _settle_threads()
    target = np.zeros_like(picture)
    took_s: dict[tuple[str, int], list[float]] = {(call.name, n): [] for call, n in ways}
    for _ in range(TRIAL_ROUNDS):
        for call, threads in ways:
            use_threads(threads)
            took_s[call.name, threads] += trial_seconds(call, picture, target, border)
    return _ranked({way: median(seconds) for way, seconds in took_s.items()})


@cache
def _settle_threads() -> None:
    """Let OpenCV's threads find a core each, once in a process: see THREADS_SETTLE_S."""
    import cv2

    use_threads(usable_cores())
    picture = np.zeros((512, 512, 3), np.uint8)  # enough for all threads
    ends_at = perf_counter() + THREADS_SETTLE_S
    while perf_counter() < ends_at:
        cv2.GaussianBlur(picture, (5, 5), 1.0)


def _ranked(seconds: dict[tuple[str, int], float]) -> tuple[tuple[str, int], ...]:
    """Return the ways to call, the quickest first; as one where they are equal by NEARLY."""
    near_s = NEARLY * min(seconds.values())
    return tuple(sorted(seconds, key=lambda way: max(seconds[way], near_s)))


def trial_seconds(
    call: Call, picture: NDArray[Any], target: NDArray[Any], border: int
) -> Iterator[float]:
    """Yield the seconds that runs took; a first one warms up, unless it took long."""
    spent_s = 0.0
    for number in range(TRIAL_RUNS + 1):
        start = perf_counter()
        call.apply(picture, target, -1, border)
        took_s = perf_counter() - start
        spent_s += took_s
        if number or spent_s > TRIAL_S:
            yield took_s
        if spent_s > TRIAL_S:
            return


def _some_rows(picture: NDArray[Any]) -> NDArray[Any]:
    """Return the first rows of `picture`, as float32 where cv2 filters it as that."""
    rows = picture[: max(TRIAL_SAMPLES // picture[0].size, 1)]
    return rows.astype(np.float32) if rows.dtype == np.float16 else rows


def _is_close(job: Job, call: Call, border: int) -> bool:
    """Return whether a call that is coarse with integers is within a level on this picture."""
    if not call.coarse or job.picture.dtype.kind != "u":
        return True
    key = (call.name, job.weights.tobytes(), job.offset, border)
    known = _comparisons(job.picture)
    allowed = MAX_OFF_EVERYWHERE if job.picture.size <= COMPARED_SAMPLES else MAX_OFF_SOMEWHERE
    return known.get_or_make(key, lambda: _furthest(job, call, border) <= allowed)


@once_a_picture
def _comparisons(picture: NDArray[Any]) -> LruCache[tuple[Any, ...], bool]:  # noqa: ARG001
    """Return what is known of calls on `picture`, for as long as that lives unchanged."""
    return LruCache(64)


def _furthest(job: Job, call: Call, border: int) -> float:
    """Return how far samples by `call` are from unrounded sums at most, in bands of the picture."""
    import cv2

    exact, furthest = exact_call(job), 0.0
    largest = float(np.iinfo(job.picture.dtype).max)
    for rows in _bands(job):
        coarse = call.apply(rows, None, -1, border)
        sums = np.clip(exact.apply(rows, None, cv2.CV_32F, border), 0, largest)
        furthest = max(furthest, float(cv2.absdiff(coarse.astype(np.float32), sums).max()))
    return furthest


def _bands(job: Job) -> Iterator[NDArray[Any]]:
    """Yield all rows of a small picture, else bands from top to bottom of a large one."""
    if job.picture.size <= COMPARED_SAMPLES:
        yield job.picture
        return
    rows = COMPARED_SAMPLES // job.picture[0].size // COMPARED_BANDS
    height = min(max(rows, 2 * job.ksize), job.height)
    for top in np.linspace(0, job.height - height, COMPARED_BANDS).astype(int):
        yield job.picture[top : top + height]
