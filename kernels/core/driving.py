"""Driving a generator of Progress to its end: at once, or as part of a larger one."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

T = TypeVar("T")
Where = TypeVar("Where")


def outcome_of(steps: Generator[Any, None, T]) -> T:
    """Drive `steps` to their end at once; return what they return."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            outcome: T = end.value
            return outcome


def in_place_of(steps: Generator[Any, None, T], where: Where) -> Generator[Where, None, T]:
    """Drive `steps`, yielding `where` in place of each; return what they return."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            outcome: T = end.value
            return outcome
        yield where
