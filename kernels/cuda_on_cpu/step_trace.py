"""The steps of one block as a run writes them down: stepping.cpp's arrays, in shared memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_STEPS, MAX_ACCESSES, MAX_VALUES = 1_000_000, 1_500_000, 1_500_000
MAX_PATH, MAX_SHARED = 16, 16
VALUE_BYTES = 16  # of what is loaded or stored at once that are kept
DYNAMIC_ARRAY, STATIC_ARRAY = -1, -2
# As struct SharedName, Head, Step, Access and Value in stepping.cpp.
SHARED_NAME = np.dtype(
    [
        ("name", np.uint32),
        ("array", np.int32),
        ("offset", np.uint64),
        ("kind", np.uint32),
        ("size", np.uint32),
        ("rows", np.uint32),
        ("columns", np.uint32),
    ]
)
HEAD = np.dtype(
    [
        ("counts", np.uint64, 3),
        ("is_found", np.uint32),
        ("found", np.uint32, 3),
        ("block", np.uint32, 2),
        ("threads", np.uint32, 2),
        ("dynamic_bytes", np.uint64),
        ("static_bytes", np.uint64),
        ("shared_names", np.uint64),
        ("shared", SHARED_NAME, MAX_SHARED),
    ]
)
STEP = np.dtype(
    [
        ("thread", np.uint32),
        ("interval", np.uint32),
        ("point", np.uint32),
        ("path", np.uint32, MAX_PATH),
    ]
)
ACCESS = np.dtype(
    [
        ("step", np.uint32),
        ("array", np.int32),
        ("is_store", np.uint32),
        ("size", np.uint32),
        ("offset", np.uint64),
        ("value", np.uint8, VALUE_BYTES),
    ]
)
VALUE = np.dtype(
    [
        ("step", np.uint32),
        ("variable", np.uint32),
        ("index", np.int32, 2),
        ("bits", np.uint64),
        ("kind", np.uint32),
        ("none", np.uint32),
    ]
)
MOST = ((STEP, MAX_STEPS), (ACCESS, MAX_ACCESSES), (VALUE, MAX_VALUES))
TRACE_BYTES = HEAD.itemsize + sum(kind.itemsize * most for kind, most in MOST)


@dataclass(frozen=True, slots=True, eq=False)
class StepTrace:
    """All that one block did, in the order in which its threads ran.

    head      of HEAD, one
    steps     of STEP; `accesses` and `values` are of ACCESS and VALUE, each of a step
    is_cut    there was no room for all of it
    """

    head: Any
    steps: NDArray[np.void]
    accesses: NDArray[np.void]
    values: NDArray[np.void]
    is_cut: bool

    @classmethod
    def of(cls, memory: NDArray[np.uint8]) -> StepTrace:
        """Copy what is in the memory that a run wrote it down in."""
        head = memory[: HEAD.itemsize].copy().view(HEAD)[0]
        begin, found = HEAD.itemsize, []
        for (kind, most), count in zip(MOST, head["counts"], strict=True):
            size = kind.itemsize * min(int(count), most)
            found.append(memory[begin : begin + size].copy().view(kind))
            begin += kind.itemsize * most
        is_cut = any(
            int(count) > most for (_, most), count in zip(MOST, head["counts"], strict=True)
        )
        steps, accesses, values = found
        return cls(head, steps, accesses, values, is_cut)
