"""The words of tensor.cuh: steps shared by the rungs on tensor cores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kernels.anatomy.accesses import TILE, Access, Find, Loops, Places
from kernels.anatomy.chunks import Wanted, wide_loads
from kernels.anatomy.launch_scene import Scene, only, turns

HALF = 2  # bytes
FOUR = 4  # pixels that a thread loads at a time


class Matrices:
    """A scene in the names of tensor.cuh.

    g, t       (threads,) which row of a block of 8×8 each thread holds, and which two columns
    fits_half  whether a sample fits into one half; else it is kept as two
    """

    def __init__(self, at: Scene) -> None:
        self.at = at
        lane = at.thread % 32
        self.g, self.t = lane // 4, lane % 4
        self.planes = at.channels - at.job.has_alpha
        pad = -at.radius % 8
        self.reach = at.radius + pad
        self.deep = (pad + at.ksize + 30) // 16
        self.words = 16 * self.deep + 16
        self.fits_half = at.job.pixel_type in ("uint8", "float16")
        self.is_scaled = at.job.pixel_type == "float32"

    def in_block(self, down: Places, across: Places, stride: int) -> Places:
        """Return places in four blocks of 8×8 halves, counted from their corner: read_blocks."""
        return (8 * down + self.g) * stride + 8 * across + 2 * self.t

    def loads(self, loops: Loops, pixels: Wanted) -> tuple[Access, Access]:
        """Return loads of four neighbouring pixels, four samples at a time: read_pixels.

        pixels  pixel, row, and whether it takes part, for each thread
        """
        (x, y, takes_part), channels = pixels, self.at.channels
        wanted = x * channels, y, takes_part
        return wide_loads(self.at, "Stage: load", loops, wanted, FOUR * channels, FOUR)

    def store_halves(self, name: str, loops: Loops, places: Places, width: int) -> Access:
        """Return a store of `width` halves in shared memory."""
        return self.at.store(name, TILE, loops, places, width, HALF)

    def read_halves(self, name: str, loops: Loops, places: Places | Find, width: int) -> Access:
        """Return reads in which all threads take part.

        Their count is given, since there are often too many to visit.
        """
        load = self.at.load(name, TILE, loops, places, width, HALF)
        return replace(load, known=load.count * self.at.threads)

    def peaks(self, begin: int, times: int, is_there: bool) -> tuple[Access, ...]:
        """Return how the largest sample of each warp is exchanged among the warps.

        begin  where the largest samples lie, in halves
        """
        own = only(begin + 2 * self.at.ty, self.at.tx == 0)
        loops = {"time": times * is_there}
        warps = {**loops, "warp": self.at.block_y}
        return (
            self.store_halves("Store the warp's largest", loops, own, 2),
            self.read_halves("Read the largest of a warp", warps, begin + 2 * turns(warps)[1], 2),
        )

    def answer(
        self,
        x: Places,
        y: Places,
        columns: Sequence[int],
        rows: Sequence[int],
        planes: Places,
        end: int,
    ) -> Access:
        """Return stores of two pixels of a plane, at `columns` from x and `rows` from y: write_two.

        planes  (n, 1) or (n, threads)
        """
        at = self.at
        side_by_side = 2 if at.channels == 1 else 1
        every = {"plane": len(planes), "row": len(rows), "column": len(columns)}
        loops = {"pixel": 2 // side_by_side, **every}
        second, _, row, column = turns(loops)
        own_x, own_y = x + np.array(columns)[column] + second, y + np.array(rows)[row]
        place = at.begin(own_y) + own_x * at.channels + planes[:, None, None]
        places = only(place, (own_x < at.job.width) & (own_y < end))
        return at.store("Store the answer", "picture", loops, places, side_by_side)

    def alpha(self, columns: int, rows: int, end: int) -> tuple[Access, ...]:
        """Return how alpha is copied from picture to picture, after all else: copy_alpha."""
        at = self.at
        loops = {"time": -(-columns * rows // at.threads) * at.job.has_alpha}
        row, column = np.divmod(turns(loops)[0] * at.threads + at.thread, columns)
        x, y = at.x0 // at.channels + column, at.y0 + row
        takes_part = (row < rows) & (x < at.job.width) & (y < end)
        places = only(at.begin(y) + x * at.channels + at.channels - 1, takes_part)
        what = "picture", loops, places
        return at.load("Load alpha", *what), at.store("Store alpha", *what)
