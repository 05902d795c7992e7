"""Costs of warps' accesses: sectors and lines of global memory, banks of shared memory.

Global memory is moved in sectors of 32 bytes, four to a line of 128.  Shared memory has 32 banks,
one word of four bytes wide; lanes that want different words of one bank take turns (CUDA C++
Programming Guide).  Accesses of eight bytes per lane are served half a warp at a time, those of
sixteen a quarter.  How the hardware splits them is not published (forums.developer.nvidia.com/t/
339143): where lanes of different parts want the same words it may take fewer turns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LANES = 32
SECTOR_BYTES, LINE_BYTES = 32, 128
BANKS, WORD_BYTES = 32, 4
NOWHERE = -1  # the offset of a lane that takes no part
Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one access of a warp: sectors of global memory, or turns at shared memory.

    A turn: for each part of the warp that is served at a time, the most different words requested
    of one bank.

    places  (32,) of each lane its sector, counted from the start of the array, or its first bank;
            NOWHERE: it takes no part
    waits   (32,) lanes one of whose banks has several words requested at the same time
    active  lanes that take part
    count   of sectors or turns; `least` if the bytes lay side by side, or without conflicts
    lines   of global memory
    """

    places: Numbers
    waits: NDArray[np.bool_]
    active: int
    count: int
    least: int
    lines: int = 0

    @property
    def is_best(self) -> bool:
        return self.count <= self.least


def coalescing(lanes: Numbers, size: int) -> Cost:
    """Count the sectors and lines that a warp touches.

    lanes  (32,) the byte of an array that each lane's access begins with, or NOWHERE
    size   bytes per access; arrays begin at a line
    """
    first = lanes[lanes != NOWHERE]
    request, sizes = np.zeros_like(first), np.full_like(first, size)
    return Cost(
        np.where(lanes != NOWHERE, lanes // SECTOR_BYTES, NOWHERE),
        np.zeros(LANES, np.bool_),
        active=len(first),
        count=touched(request, first, sizes, SECTOR_BYTES),
        least=-(-len(np.unique(first)) * size // SECTOR_BYTES),
        lines=touched(request, first, sizes, LINE_BYTES),
    )


def conflicts(lanes: Numbers, size: int = WORD_BYTES) -> Cost:
    """Count the turns that a warp takes.

    lanes  (32,) the byte of shared memory that each lane's access begins with, or NOWHERE
    size   bytes per access, sixteen at most
    """
    (own,) = np.nonzero(lanes != NOWHERE)
    sizes = np.full_like(own, size)
    part = _served_together(np.zeros_like(own), own, sizes)
    asked, turns = _asked(part, lanes[own], sizes)
    waits = np.zeros(LANES, np.bool_)
    waits[own] = turns > 1
    banks = np.where(lanes != NOWHERE, lanes // WORD_BYTES % BANKS, NOWHERE)
    return Cost(banks, waits, len(own), int(asked.max(1, initial=0).sum()), len(asked))


def touched(request: Numbers, first: Numbers, size: Numbers, unit: int = SECTOR_BYTES) -> int:
    """Sum the different sectors, or other units of bytes, over requests.

    request  number of each access's request
    first    its first byte; size: its bytes, at most a unit
    """
    ends = np.concatenate([first, first + size - 1]) // unit
    return len(np.unique(numbered(np.tile(request, 2), ends)))


def turns_taken(request: Numbers, lane: Numbers, first: Numbers, size: Numbers) -> int:
    """Sum the transactions of requests to shared memory."""
    part = _served_together(request, lane, size)
    return int(_asked(part, first, size)[0].max(1, initial=0).sum())


def turns_of(request: Numbers, lane: Numbers, first: Numbers, size: Numbers) -> Numbers:
    """Of each access, the most words that are wanted of one of its banks; 1: no conflict."""
    return _asked(_served_together(request, lane, size), first, size)[1]


def _served_together(request: Numbers, lane: Numbers, size: Numbers) -> Numbers:
    """Number the parts of warps that are served at a time: those with wide accesses are several."""
    words = np.maximum(size // WORD_BYTES, 1)
    part = numbered(request, lane // np.maximum(LANES // words, 1))
    return np.unique(part, return_inverse=True)[1]


def _asked(part: Numbers, first: Numbers, size: Numbers) -> tuple[Numbers, Numbers]:
    """Count the different words that each part asks of each bank: (parts, BANKS).

    Then, of each access, the most that are asked of one of its banks.
    """
    words = np.maximum(size // WORD_BYTES, 1)
    access, number = spread(words)
    word = first[access] // WORD_BYTES + number
    different = np.unique(numbered(part[access], word), return_index=True)[1]
    asked = np.zeros((int(part.max(initial=-1)) + 1, BANKS), np.int64)
    np.add.at(asked, (part[access][different], word[different] % BANKS), 1)
    turns = np.zeros_like(first)
    np.maximum.at(turns, access, asked[part[access], word % BANKS])
    return asked, turns


def occurrence(*columns: Numbers) -> Numbers:
    """Count those with the same values before each."""
    number = numbered(*columns)
    order = np.argsort(number, kind="stable")
    ordered = number[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    counted = np.empty(len(number), np.int64)
    lengths = np.diff(np.r_[starts, len(ordered)])
    counted[order] = np.arange(len(ordered)) - np.repeat(starts, lengths)
    return counted


def spread(counts: Numbers) -> tuple[Numbers, Numbers]:
    """Number each thing as often as it counts, and from 0 on its repetitions."""
    which = np.repeat(np.arange(len(counts)), counts)
    return which, np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)


def numbered(*columns: Numbers) -> Numbers:
    """Give each combination of values a number of its own."""
    number = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        number = number * (int(column.max(initial=0)) + 1) + column
    return number
