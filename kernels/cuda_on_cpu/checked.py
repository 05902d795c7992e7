"""A rung on the CPU with every access checked: within its array, stored before, in no race."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ctypes import c_uint, c_void_p
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.poison import RED_BYTES
from kernels.cuda.launch import LaunchStep
from kernels.cuda_on_cpu.compiler import CHECKED
from kernels.cuda_on_cpu.elf import Variable
from kernels.cuda_on_cpu.shared_run import ALIGNMENT, SharedRun
from kernels.cuda_on_cpu.shim import Named, Shim

# As struct Watched in checking.cpp.
WATCHED = np.dtype(
    [
        ("begin", np.uint64),
        ("end", np.uint64),
        ("row_bytes", np.uint64),
        ("pitch_bytes", np.uint64),
        ("is_stored", np.uint32),
        ("may_store", np.uint32),
    ]
)


class CheckedShim(Shim):
    """A shim whose launches end at the first access that may not be."""

    flavour = CHECKED
    shared: SharedRun
    row_bytes: int
    variables: Sequence[Variable] = ()  # of the library

    def _placed(self, data: NDArray[Any]) -> NDArray[Any]:
        """Place it with nothing near it that an access could mean."""
        whole = np.zeros(data.nbytes + 2 * RED_BYTES + ALIGNMENT, np.uint8)
        begin = RED_BYTES + -(whole.ctypes.data + RED_BYTES) % ALIGNMENT
        placed = whole[begin : begin + data.nbytes].view(data.dtype).reshape(data.shape)
        placed[...] = data
        return placed

    @contextmanager
    def _watching(self, _step: LaunchStep, loads: Named, stores: Named) -> Iterator[None]:
        watched = np.zeros(len(loads) + len(stores) + len(self.variables), WATCHED)
        seen: dict[int, int] = {}
        for _, array in (*loads, *stores):
            place = seen.setdefault(array.ctypes.data, len(seen))
            is_picture = array is self.shared.source or array is self.shared.target
            watched[place] = (
                array.ctypes.data,
                array.ctypes.data + array.nbytes,
                self.row_bytes if is_picture else 0,
                array.nbytes // len(array) if is_picture else 0,
                any(array is one for _, one in loads),
                any(array is one for _, one in stores),
            )
        self.names = [*names_of(loads, stores), *(each.name for each in self.variables)]
        for place, each in enumerate(self.variables, len(seen)):
            watched[place] = (each.begin, each.end, 0, 0, True, True)
        size = c_uint(self.shared.target.itemsize)
        is_last = any(array is self.shared.target for _, array in stores)
        writers = c_void_p(self.shared.writers_address if is_last else None)
        count = len(seen), len(self.variables)
        self.library.check_accesses(c_void_p(watched.ctypes.data), *count, writers, size)
        yield
        self.library.check_accesses(None, 0, 0, None, size)


def names_of(loads: Named, stores: Named) -> list[str]:
    """Return the names of what a launch is given, each array once, in the order of its numbers."""
    seen: dict[int, str] = {}
    for place, (name, array) in enumerate((*loads, *stores)):
        word = {"picture": "the picture", "weights": "the weights"}.get(name, f"the buffer {name}")
        if name == "picture" and place >= len(loads):
            word = "the answer"
        seen.setdefault(array.ctypes.data, word)
    return list(seen.values())
