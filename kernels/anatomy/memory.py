"""What a warp's accesses cost: sectors and lines of global memory, banks of shared memory.

Global memory is moved in sectors of 32 bytes, four to a line of 128.  Shared memory has 32 banks,
one word of four bytes wide, and word n is in bank n mod 32; lanes that want different words of one
bank take turns, lanes that want the same word do not (CUDA C++ Programming Guide, sections
"Device Memory Accesses" and "Shared Memory").
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernels.anatomy.steps import NOWHERE, Places

LANES = 32
SECTOR_BYTES, LINE_BYTES = 32, 128
BANKS, WORD_BYTES = 32, 4


@dataclass(frozen=True, slots=True)
class Coalescing:
    """Of one access of a warp to global memory.

    sector         of each lane, counted from the array's begin; NOWHERE: it takes no part
    active         lanes that take part
    sectors, lines it touches
    least_sectors  that as many bytes of different numbers would lie in, side by side;
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
        return self.sectors <= self.least_sectors


@dataclass(frozen=True, slots=True)
class Conflicts:
    """Of one access of a warp to shared memory.

    bank       of each lane; NOWHERE: it takes no part
    in_conflict  lanes whose bank is asked for more than one word
    active     lanes that take part
    turns      the access takes: the most different words that one bank is asked for; 1: no conflict
    """

    bank: NDArray[np.int64]
    in_conflict: NDArray[np.bool_]
    active: int
    turns: int


def of_warp(places: Places, warp: int) -> Places:
    """The lanes of warp number `warp`: (32,), NOWHERE beyond the block's last thread."""
    lanes = np.full(LANES, NOWHERE, np.int64)
    mine = places[warp * LANES : (warp + 1) * LANES]
    lanes[: len(mine)] = mine
    return lanes


def coalescing(lanes: Places, item_bytes: int) -> Coalescing:
    """lanes  (32,) which number of an array each lane wants, or NOWHERE
    item_bytes  of one number; arrays begin at a line
    """
    takes_part = lanes != NOWHERE
    wanted = lanes[takes_part] * item_bytes
    size = len(np.unique(wanted)) * item_bytes
    return Coalescing(
        sector=np.where(takes_part, lanes * item_bytes // SECTOR_BYTES, NOWHERE),
        active=int(takes_part.sum()),
        sectors=len(np.unique(wanted // SECTOR_BYTES)),
        lines=len(np.unique(wanted // LINE_BYTES)),
        least_sectors=-(-size // SECTOR_BYTES),
        least_lines=-(-size // LINE_BYTES),
    )


def conflicts(lanes: Places) -> Conflicts:
    """lanes  (32,) which word of a tile each lane wants, or NOWHERE"""
    takes_part = lanes != NOWHERE
    bank = np.where(takes_part, lanes % BANKS, NOWHERE)
    words = np.unique(lanes[takes_part])  # the same word is one broadcast
    asked = np.bincount(words % BANKS, minlength=BANKS)
    return Conflicts(
        bank=bank,
        in_conflict=takes_part & (asked[bank] > 1),
        active=int(takes_part.sum()),
        turns=int(asked.max()),
    )
