"""Costs of a warp's accesses: sectors and lines of global memory, banks of shared memory.

Global memory is moved in sectors of 32 bytes, four to a line of 128.  Shared memory has 32 banks,
one word of four bytes wide, and word n is in bank n mod 32; lanes that want different words of one
bank take turns, lanes that want the same word do not (CUDA C++ Programming Guide, sections
"Device Memory Accesses" and "Shared Memory").  Accesses of eight bytes per lane are served half a
warp at a time, those of sixteen a quarter, so that 32 lanes need at least two turns or four.
How the hardware really splits them is not published (forums.developer.nvidia.com/t/339143): where
lanes of different parts want the same words it may serve them together, which is not counted here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernels.anatomy.accesses import NOWHERE, Places

LANES = 32
SECTOR_BYTES, LINE_BYTES = 32, 128
BANKS, WORD_BYTES = 32, 4


@dataclass(frozen=True, slots=True)
class Coalescing:
    """The cost of one access of a warp to global memory.

    sector         of each lane, counted from the start of the array; NOWHERE: it takes no part
    active         lanes that take part
    sectors, lines how many the access touches
    least_sectors  how many the same bytes of different numbers would touch, side by side
    least_lines    likewise
    """

    sector: NDArray[np.int64]
    active: int
    sectors: int
    lines: int
    least_sectors: int
    least_lines: int

    @property
    def is_best(self) -> bool:
        """Return whether no fewer sectors could hold what the warp wants."""
        return self.sectors <= self.least_sectors


@dataclass(frozen=True, slots=True)
class Conflicts:
    """The cost of one access of a warp to shared memory.

    bank         of each lane, its first; NOWHERE: it takes no part
    in_conflict  lanes one of whose banks is asked for several words at the same time
    active       lanes that take part
    turns        transactions: for each part of the warp that is served at a time, the most
                 different words that one bank is asked for; their sum
    least_turns  how many such parts there are: the transactions without conflicts
    """

    bank: NDArray[np.int64]
    in_conflict: NDArray[np.bool_]
    active: int
    turns: int
    least_turns: int

    @property
    def is_best(self) -> bool:
        """Return whether the access meets no bank conflict."""
        return self.turns <= self.least_turns


def of_warp(places: Places, warp: int) -> Places:
    """Return the lanes of warp number `warp`: (32,), NOWHERE beyond the block's last thread."""
    lanes = np.full(LANES, NOWHERE, np.int64)
    mine = places[warp * LANES : (warp + 1) * LANES]
    lanes[: len(mine)] = mine
    return lanes


def coalescing(lanes: Places, item_bytes: int, width: int = 1) -> Coalescing:
    """Count the sectors and lines that a warp touches.

    lanes       (32,) which number of an array each lane wants, or NOWHERE
    item_bytes  bytes per number; arrays begin at a line
    width       how many neighbouring numbers from there on, all of them in one sector
    """
    takes_part = lanes != NOWHERE
    wanted = lanes[takes_part] * item_bytes
    size = len(np.unique(wanted)) * item_bytes * width
    return Coalescing(
        sector=np.where(takes_part, lanes * item_bytes // SECTOR_BYTES, NOWHERE),
        active=int(takes_part.sum()),
        sectors=len(np.unique(wanted // SECTOR_BYTES)),
        lines=len(np.unique(wanted // LINE_BYTES)),
        least_sectors=-(-size // SECTOR_BYTES),
        least_lines=-(-size // LINE_BYTES),
    )


def conflicts(lanes: Places, item_bytes: int = WORD_BYTES, width: int = 1) -> Conflicts:
    """Count the transactions that a warp takes.

    lanes       (32,) which number of a tile each lane wants, or NOWHERE
    item_bytes  bytes per number
    width       how many neighbouring numbers from there on: sixteen bytes at most in all
    """
    takes_part = lanes != NOWHERE
    words_a_lane = max(item_bytes * width // WORD_BYTES, 1)
    first = lanes * item_bytes // WORD_BYTES
    words = first[:, None] + np.arange(words_a_lane)  # (32, words per lane)
    in_conflict = np.zeros(LANES, np.bool_)
    turns = parts = 0
    for part in np.split(np.arange(LANES), words_a_lane):
        mine = part[takes_part[part]]
        if not len(mine):
            continue
        asked = np.bincount(
            np.unique(words[mine]) % BANKS, minlength=BANKS
        )  # lanes that want the same word: a broadcast
        in_conflict[mine] = (asked[words[mine] % BANKS] > 1).any(1)
        turns, parts = turns + int(asked.max()), parts + 1
    return Conflicts(
        bank=np.where(takes_part, first % BANKS, NOWHERE),
        in_conflict=in_conflict,
        active=int(takes_part.sum()),
        turns=turns,
        least_turns=parts,
    )
