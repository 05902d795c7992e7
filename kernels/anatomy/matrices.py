"""What rungs on tensor cores have in common: the words of tensor.cuh, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from kernels.anatomy.accesses import Places, Step
from kernels.anatomy.launch_scene import Mask, Scene, only
from kernels.anatomy.pattern import TILE
from kernels.anatomy.reads import WideReads

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

    def in_block(self, down: int, across: int, stride: int) -> Places:
        """Of four blocks of 8×8 halves, from their corner: read_blocks."""
        return (8 * down + self.g) * stride + 8 * across + 2 * self.t

    def pixels(
        self, name: str, count: int, at_time: Callable[[int], tuple[Places, Places, Mask]]
    ) -> tuple[Step, Step]:
        """Four pixels side by side, four samples at a time: read_pixels.

        at_time  time -> (pixel, row, whether it takes part) of each thread
        """
        channels = self.at.channels

        def wanted(time: int) -> tuple[Places, Places, Mask]:
            x, y, takes_part = at_time(time)
            return x * channels, y, takes_part

        return WideReads(self.at, count, wanted, FOUR * channels).steps(
            name,
            FOUR,
            turn_of("part", channels, "load"),
            turn_of("sample", FOUR * channels, "load"),
        )

    def shared(
        self, name: str, is_store: bool, count: int, places: Callable[[int], Places], width: int
    ) -> Step:
        """Of `width` halves in shared memory."""
        return Step(name, "shared", TILE, is_store, HALF, count, places, width=width)

    def shared_by_all(
        self, name: str, count: int, places: Callable[[int], Places], width: int
    ) -> Step:
        """Reads in which all threads take part: often too many to be gone through for a count."""
        numbers = count * width * self.at.threads
        return replace(self.shared(name, False, count, places, width), loads=lambda: (numbers, 0))

    def peaks_guess(
        self, planes: Iterable[int], guess: Callable[[int], Places]
    ) -> tuple[Step, ...]:
        """The sample that each thread guesses the scale by."""
        if not self.is_scaled:
            return ()
        every = [guess(plane) for plane in planes]
        size = self.at.sample_bytes
        name = "Load a sample to guess the scale by"
        return (Step(name, "global", "picture", False, size, len(every), every.__getitem__),)

    def peaks(
        self, begin: int, warps: int, times: int, is_there: bool | None = None
    ) -> tuple[Step, ...]:
        """The largest sample of each warp, handed to all of them.

        begin  where that is, in halves
        """
        if not (self.is_scaled if is_there is None else is_there):
            return ()
        at = self.at
        own = only(begin + 2 * at.ty, at.tx == 0)

        def other(time: int) -> Places:
            return np.full(at.threads, begin + 2 * (time % warps))

        return (
            self.shared("Store the warp's largest", True, times, lambda _: own, 2),
            self.shared("Read the largest of a warp", False, times * warps, other, 2),
        )

    def answer(
        self,
        x: Places,
        y: Places,
        columns: Iterable[int],
        rows: Iterable[int],
        planes: Iterable[int | Places],
        end: int,
    ) -> tuple[Step, ...]:
        """Two pixels of a plane at each of `columns` from x and `rows` from y: write_two."""
        at, width = self.at, self.at.job.width
        every = [(plane, row, column) for plane in planes for row in rows for column in columns]

        def places(time: int) -> Places:
            second, plane, row, column = 0, *every[time % len(every)]
            if at.channels > 1:
                second = time // len(every)
            own_x, own_y = x + column, y + row
            takes_part = (own_x < width) & (own_x + second < width) & (own_y < end)
            return only(at.begin(own_y) + (own_x + second) * at.channels + plane, takes_part)

        side_by_side = 2 if at.channels == 1 else 1
        count = len(every) * 2 // side_by_side
        size, name = at.sample_bytes, "Store the answer"
        store = Step(name, "global", "picture", True, size, count, places, width=side_by_side)
        return (store,)

    def alpha(
        self, x0: int, y0: int, columns: int, rows: int, end: int | None = None
    ) -> tuple[Step, ...]:
        """From picture to picture, after all else: copy_alpha."""
        at = self.at
        if not at.job.has_alpha:
            return ()
        count = -(-columns * rows // at.threads)
        stop = at.height if end is None else end

        def places(time: int) -> Places:
            n = time * at.threads + at.thread
            x, y = x0 + n % columns, y0 + n // columns
            takes_part = (n < columns * rows) & (x < at.job.width) & (y < stop)
            return only(at.begin(y) + x * at.channels + at.channels - 1, takes_part)

        size = at.sample_bytes
        return (
            Step("Load alpha", "global", "picture", False, size, count, places),
            Step("Store alpha", "global", "picture", True, size, count, places),
        )


def turn_of(part: str, parts: int, whole: str) -> Callable[[int], str]:
    """Words for a time: which part of which whole."""
    return lambda time: f"{part} {time % parts + 1} of {whole} {time // parts + 1}"
