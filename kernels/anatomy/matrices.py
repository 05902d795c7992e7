"""What rungs on tensor cores have in common: the words of tensor.cuh, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kernels.anatomy.accesses import TILE, Access, Find, Loops, Places
from kernels.anatomy.chunks import Wanted, wide_loads
from kernels.anatomy.launch_scene import Mask, Scene, only

HALF = 2  # bytes
FOUR = 4  # pixels that a thread loads at a time


class Matrices:
    """A scene in the names of tensor.cuh.

    g, t       of each thread: which row of a block of 8×8 it holds, and which two columns
    fits_half  whether a sample fits into a half; else it is kept as two
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
        """Of four blocks of 8×8 halves, from their corner: read_blocks."""
        return (8 * down + self.g) * stride + 8 * across + 2 * self.t

    def loads(self, loops: Loops, pixels: Wanted) -> tuple[Access, Access]:
        """Four pixels side by side, four samples at a time: read_pixels.

        pixels  pixel, row, and whether it takes part, of each thread
        """
        channels = self.at.channels

        def wanted(*index: Places) -> tuple[Places, Places, Mask]:
            x, y, takes_part = pixels(*index)
            return x * channels, y, takes_part

        return wide_loads(self.at, "Stage: load", loops, wanted, FOUR * channels, FOUR)

    def store_halves(self, name: str, loops: Loops, find: Find, width: int) -> Access:
        """Of `width` halves in shared memory."""
        return self.at.store(name, TILE, loops, find, width, HALF)

    def read_halves(self, name: str, loops: Loops, find: Find, width: int) -> Access:
        """Reads in which all threads take part: often too many to be gone through for a count."""
        load = self.at.load(name, TILE, loops, find, width, HALF)
        return replace(load, known=load.count * self.at.threads)

    def peaks(
        self, begin: int, warps: int, times: int, is_there: bool | None = None
    ) -> tuple[Access, ...]:
        """The largest sample of each warp, handed to all of them.

        begin  where that is, in halves
        """
        if not (self.is_scaled if is_there is None else is_there):
            return ()
        own = only(begin + 2 * self.at.ty, self.at.tx == 0)
        loops = {"time": times}
        return (
            self.store_halves("Store the warp's largest", loops, lambda _: own, 2),
            self.read_halves(
                "Read the largest of a warp",
                {**loops, "warp": warps},
                lambda _, warp: begin + 2 * warp,
                2,
            ),
        )

    def answer(
        self,
        x: Places,
        y: Places,
        columns: Sequence[int],
        rows: Sequence[int],
        planes: Sequence[int | Places],
        end: int,
    ) -> Access:
        """Two pixels of a plane at each of `columns` from x and `rows` from y: write_two."""
        at, width = self.at, self.at.job.width
        plane_of = np.stack([np.broadcast_to(each, at.threads) for each in planes])

        def find(second: Places, n: Places, row: Places, column: Places) -> Places:
            own_x, own_y = x + np.array(columns)[column] + second, y + np.array(rows)[row]
            place = at.begin(own_y) + own_x * at.channels + plane_of[n, at.thread]
            return only(place, (own_x < width) & (own_y < end))

        side_by_side = 2 if at.channels == 1 else 1
        every = {"plane": len(planes), "row": len(rows), "column": len(columns)}
        loops = {"pixel": 2 // side_by_side, **every}
        return at.store("Store the answer", "picture", loops, find, side_by_side)

    def alpha(
        self, x0: int, y0: int, columns: int, rows: int, end: int | None = None
    ) -> tuple[Access, ...]:
        """From picture to picture, after all else: copy_alpha."""
        at = self.at
        count = -(-columns * rows // at.threads) * at.job.has_alpha
        stop = at.height if end is None else end

        def find(time: Places) -> Places:
            row, column = np.divmod(time * at.threads + at.thread, columns)
            x, y = x0 + column, y0 + row
            takes_part = (row < rows) & (x < at.job.width) & (y < stop)
            return only(at.begin(y) + x * at.channels + at.channels - 1, takes_part)

        what = "picture", {"time": count}, find
        return at.load("Load alpha", *what), at.store("Store alpha", *what)
