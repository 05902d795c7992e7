"""Counts per block and per picture: bytes, how often each is used, idle threads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from kernels.anatomy.accesses import TILE, Access, count_different
from kernels.anatomy.pattern import Pattern
from kernels.anatomy.tile_shapes import Block, Shape


@dataclass(frozen=True, slots=True)
class Traffic:
    """The numbers that one block moves, of the array that its pass reads: picture or buffer.

    asked         numbers that its threads load from global memory
    different     how many of those are distinct
    loaded_bytes  bytes of all those loads
    read_bytes    bytes read from shared memory; 0 without shared memory
    stored_bytes  bytes stored in shared memory before
    """

    asked: int
    different: int
    loaded_bytes: int
    read_bytes: int
    stored_bytes: int

    @property
    def uses(self) -> float:
        """Return how often each loaded number is used, on average.

        Where numbers are kept in shared memory, reads from there count; else repeated loads do,
        which a cache may serve.
        """
        if self.read_bytes:
            return self.read_bytes / self.stored_bytes
        return self.asked / self.different if self.different else 0.0


@dataclass(frozen=True, slots=True)
class Idle:
    """Counts of threads that store nothing of what the pass writes: in one block, and in all."""

    in_block: int
    in_all: int
    threads: int

    @property
    def share(self) -> float:
        """Return the idle share of all threads: 0 to 1."""
        return self.in_all / self.threads


def traffic_of(steps: tuple[Access, ...], reads: str) -> Traffic:
    """Count what a block moves: loads from the array `reads`, and shared-memory accesses."""
    loads = [each for each in steps if each.array == reads and not each.is_store]
    shared = [each for each in steps if each.array == TILE]
    return Traffic(
        asked=sum(each.asked() for each in loads),
        different=count_different(loads),
        loaded_bytes=_bytes_of(loads),
        read_bytes=_bytes_of(each for each in shared if not each.is_store),
        stored_bytes=_bytes_of(each for each in shared if each.is_store),
    )


def _bytes_of(accesses: Iterable[Access]) -> int:
    return sum(each.asked() * each.item_bytes for each in accesses)


def idle_of(pattern: Pattern, shape: Shape, block: Block) -> Idle:
    """Count the threads that store nothing that the pass writes.

    The first time this takes up to 20 ms, unless `counting_idle` has counted before.
    """
    total = sum(count * _idle(pattern, shape, each) for each, count in _kinds(shape).items())
    return Idle(_idle(pattern, shape, block), total, shape.threads * shape.blocks)


def counting_idle(pattern: Pattern, shape: Shape) -> Iterator[None]:
    """Count what `idle_of` needs, one kind of block after the other, on whatever thread."""
    for block in _kinds(shape):
        _idle(pattern, shape, block)
        yield


def is_idle_counted(pattern: Pattern, shape: Shape) -> bool:
    """Return whether `idle_of` has nothing left to count."""
    return all(block in pattern.idle for block in _kinds(shape))


def _kinds(shape: Shape) -> dict[Block, int]:
    """Return a block of each kind, and how many there are of that kind.

    All blocks but those of the last column and the last row of the grid are alike.
    """
    across, down = shape.grid
    return {
        (x, y): columns * rows
        for x, columns in ((0, across - 1), (across - 1, 1))
        for y, rows in ((0, down - 1), (down - 1, 1))
        if columns and rows
    }


def _idle(pattern: Pattern, shape: Shape, block: Block) -> int:
    x, y = (0 if at < count - 1 else at for at, count in zip(block, shape.grid, strict=True))
    if (x, y) not in pattern.idle:
        writes = [s for s in pattern.steps((x, y)) if s.is_store and s.array == shape.writes]
        busy = np.any([each.takes_part() for each in writes], 0)
        pattern.idle[x, y] = shape.threads - int(busy.sum())
    return pattern.idle[x, y]
