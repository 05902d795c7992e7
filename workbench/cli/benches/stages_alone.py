"""Each stage of a batch alone: on as many threads, and in as many processes, as the batch has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from threading import Barrier
from time import perf_counter

from kernels import Engine
from workbench.base.one_heap import use_freed_memory_again
from workbench.batch.device_process import engine_on
from workbench.batch.device_run import SPAWN, shared_jobs
from workbench.batch.file_pairs import FilePair
from workbench.batch.filtering import Outcome, Recipe, encode, filter_, read, sync
from workbench.cli.output import CommandError

START_S = 120.0  # within which all processes have begun


def seconds_alone(
    engine: Engine, pairs: Iterable[FilePair], recipe: Recipe, jobs: int
) -> list[float]:
    """Return the seconds of decoding, of filtering and of encoding, in this process.

    Raises CommandError where a file fails.
    """
    return _seconds_alone(engine, pairs, recipe, jobs, lambda: None)


def seconds_in_processes(
    devices: Sequence[int | None], pairs: Iterable[FilePair], recipe: Recipe, jobs: int
) -> list[float]:
    """Return the same, in a process for each of the devices, which share files and threads.

    All of them begin a stage at a time.  Raises CommandError where a file fails.
    """
    each, count = list(pairs), len(devices)
    barrier = SPAWN.Barrier(count, timeout=START_S)
    with ProcessPoolExecutor(count, SPAWN, _begin, (barrier,)) as pool:
        parts = (each[at::count] for at in range(count))
        shares = shared_jobs(jobs, count)
        work = partial(_in_process, recipe)
        return [max(times) for times in zip(*pool.map(work, devices, parts, shares), strict=True)]


_barrier: Barrier


def _begin(barrier: Barrier) -> None:
    global _barrier
    _barrier = barrier
    use_freed_memory_again()


def _in_process(
    recipe: Recipe, device: int | None, pairs: list[FilePair], jobs: int
) -> list[float]:
    """Return the seconds of this process, whose first picture, which is for warming up, is none."""
    engine = engine_on(device)
    try:
        _seconds_alone(engine, pairs[:1], recipe, jobs, lambda: None)
        return _seconds_alone(engine, pairs, recipe, jobs, _barrier.wait)
    except BaseException:
        _barrier.abort()  # the others wait for this one
        raise
    finally:
        engine.close()


def _seconds_alone(
    engine: Engine,
    pairs: Iterable[FilePair],
    recipe: Recipe,
    jobs: int,
    begin: Callable[[], object],
) -> list[float]:
    """Return the seconds of each stage.

    begin  is called before each, and waits until all processes are there
    """
    outcomes = [Outcome(pair) for pair in pairs]

    def encoding(outcome: Outcome) -> Outcome:
        if outcome.goes_on:
            encode(outcome, recipe)
        return outcome

    with ThreadPoolExecutor(jobs) as pool, ThreadPoolExecutor(jobs) as disk:
        begin()
        decode_s = _seconds(lambda: pool.map(lambda each: read(each, recipe), outcomes))
        begin()
        filter_s = sum(_filter_seconds(engine, each, recipe) for each in outcomes)
        begin()
        encode_s = _seconds(lambda: disk.map(sync, pool.map(encoding, outcomes)))
    if failed := next(filter(None, (each.error for each in outcomes)), None):
        raise CommandError(failed)
    return [decode_s, filter_s, encode_s]


def _filter_seconds(engine: Engine, outcome: Outcome, recipe: Recipe) -> float:
    """Return how long one is filtered; its result is then one that a GPU's link does not keep.

    In a batch the page-locked memory of a result is free again once it is written.
    """
    if not outcome.goes_on:
        return 0.0
    began = perf_counter()
    filter_(engine, outcome, recipe, lambda _: None)
    took_s = perf_counter() - began
    if outcome.result is not None:
        outcome.result = replace(outcome.result, picture=outcome.result.picture.copy())
    return took_s


def _seconds(start: Callable[[], Iterable[None]]) -> float:
    """Return how long it takes until all that is started is done."""
    began = perf_counter()
    for _ in start():
        pass
    return perf_counter() - began
