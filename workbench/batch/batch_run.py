"""Many picture files, one after the other or several at a time.

Files are read and written by as many threads as asked for; filtering happens on the caller's thread
and alone, while nothing is read or written, so that its times are those of one picture by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

from kernels import Engine
from workbench.batch.filtering import Outcome, Recipe, Say, filter_, read, write
from workbench.batch.pairs import FilePair


def running(
    engine: Engine,
    pairs: Sequence[FilePair],
    recipe: Recipe,
    jobs: int = 1,
    say: Say = lambda _: None,
) -> Iterator[Outcome]:
    """Do every pair; yields each in order, when there is nothing left to do to it.

    A picture that fails does not keep the others from being done.
    engine  used on the caller's thread alone
    jobs    how many are read, and written, at a time; so many are in memory at once
    say     is told what is under way
    """
    stop = Event()
    with ThreadPoolExecutor(jobs, "picture-files") as pool:
        do_all = map if jobs == 1 else pool.map  # one alone can be interrupted at any time
        try:
            for first in range(0, len(pairs), jobs):
                some = pairs[first : first + jobs]
                names = [_name(each, first + n, len(pairs)) for n, each in enumerate(some)]
                yield from _together(engine, some, names, recipe, do_all, stop, say)
        finally:
            stop.set()


def _together(
    engine: Engine,
    pairs: Sequence[FilePair],
    names: Sequence[str],
    recipe: Recipe,
    do_all: Callable[..., Iterator[Any]],
    stop: Event,
    say: Say,
) -> Iterator[Outcome]:
    """Read all, filter one after the other, write all."""
    say(f"{', '.join(names)}: reading")
    outcomes = list(do_all(lambda pair: read(pair, recipe, stop.is_set), pairs))
    for name, outcome in zip(names, outcomes, strict=True):
        if outcome.goes_on:
            filter_(engine, outcome, recipe, _prefixed(say, name))
    say(f"{', '.join(names)}: writing")
    list(do_all(lambda each: write(each, recipe), [each for each in outcomes if each.goes_on]))
    yield from outcomes


def _prefixed(say: Say, name: str) -> Say:
    return lambda doing: say(f"{name}: {doing}")


def _name(pair: FilePair, index: int, count: int) -> str:
    """Return "photo.png", or "photo.png (3 of 20)"."""
    return pair.name if count == 1 else f"{pair.name} ({index + 1:,} of {count:,})"
