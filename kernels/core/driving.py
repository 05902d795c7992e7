"""Drive a generator of Progress to its end: at once, or as part of a larger one."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import Any, TypeVar

from kernels.core.device_turns import Waiting
from kernels.core.job import Progress

T = TypeVar("T")


def outcome_of(steps: Generator[Any, None, T], tell: Callable[[Any], object] = bool) -> T:
    """Drive `steps` to their end at once, and `tell` each; return their value."""
    while True:
        try:
            tell(next(steps))
        except StopIteration as end:
            outcome: T = end.value
            return outcome


def last_of(steps: Iterable[Progress | T]) -> Generator[Progress, None, T]:
    """Drive `steps`, yielding every Progress; return the last of what else there is."""
    found: list[T] = []
    for step in steps:
        if isinstance(step, Progress):
            yield step
        else:
            found = [step]
    return found[0]


def run_with_progress(steps: Generator[Any, None, T], where: Any) -> Generator[Any, None, T]:
    """Drive `steps`, yielding `where`, or its value, for each but a Waiting."""
    try:
        while True:
            step = next(steps)
            present = where() if callable(where) else where
            yield step if isinstance(step, Waiting) else present
    except StopIteration as end:
        outcome: T = end.value
        return outcome
    finally:
        steps.close()


def side_by_side(*steps: Generator[Any, None, Any]) -> Generator[None, None, list[Any]]:
    """Drive several by turns, until the first has a value; return their values."""
    found: dict[int, Any] = {}
    try:
        while len(found) < len(steps) and not found.get(0):
            for number, each in enumerate(steps):
                if number not in found:
                    try:
                        next(each)
                    except StopIteration as end:
                        found[number] = end.value
            yield
    finally:
        for each in steps:
            each.close()
    return [found.get(number) for number in range(len(steps))]
