"""The three parts of a launch: what is loaded, what is shared, what is computed."""

from __future__ import annotations

from typing import Literal

from kernels.anatomy.accesses import Access

Part = Literal["load", "share", "compute"]
PARTS: tuple[Part, ...] = ("load", "share", "compute")


def part_of(access: Access) -> Part:
    """Return the part that a load or store belongs to.

    Loads from global memory come first, then stores in shared memory; reads from there and what is
    stored in the end belong to the computing.
    """
    if access.memory == "global":
        return "compute" if access.is_store else "load"
    return "share" if access.is_store else "compute"
