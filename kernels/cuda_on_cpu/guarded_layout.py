"""Guarded memory, of this computer or of a device: every array between red zones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.job import Job
from kernels.core.poison import poison, poison_at, red_zone, row_end, same_bits

ALIGNMENT = 256  # of arrays on a device
WORDS = {"source": "the picture", "target": "the answer"}

Bytes = NDArray[np.uint8]
Place = tuple[int, int]  # first byte, and the one behind the last


def rounded_up(size: int, unit: int = ALIGNMENT) -> int:
    """The next multiple of `unit`."""
    return -(-size // unit) * unit


@dataclass(frozen=True, slots=True)
class GuardedLayout:
    """Arrays in one block of memory: "source", "target" and a rung's buffers.

    shape   (H, pitch) of source and target, in samples
    places  of the arrays, by name
    zones   (begin, end, name) of each red zone, with the array that it guards
    size    of the block, in bytes
    """

    shape: tuple[int, int]
    places: dict[str, Place]
    zones: tuple[tuple[int, int, str], ...]
    size: int

    def array(self, block: Bytes, name: str, job: Job) -> NDArray[Any]:
        """The (H, pitch) samples of "source" or "target"."""
        begin, end = self.places[name]
        return block[begin:end].view(job.picture.dtype).reshape(self.shape)

    def samples(self, block: Bytes, name: str, job: Job) -> NDArray[Any]:
        """Those samples of "source" or "target" that the picture has: (H, W · C)."""
        return self.array(block, name, job)[:, : job.width * job.channels]

    def unwritten(self, job: Job, turn: int) -> NDArray[Any]:
        """An output that no thread wrote to, like the job's picture."""
        begin, end = self.places["target"]
        rows = poison(end - begin, turn).view(job.picture.dtype).reshape(self.shape)
        return rows[:, : job.width * job.channels].reshape(job.picture.shape)

    def fill(self, block: Bytes, job: Job, turn: int) -> None:
        """Copy the picture; fill output, buffers and red zones with this turn's poison."""
        for begin, end, name in self.zones:
            block[begin:end] = self._red_zone(begin, end, name)
        for begin, end in self._poisoned():
            block[begin:end] = poison(end - begin, turn)
        self.copy_picture(block, job)

    def turn_over(self, block: Bytes) -> None:
        """Put the other turn's poison in the place of this turn's."""
        for begin, end in self._poisoned():
            np.invert(block[begin:end], out=block[begin:end])

    def _poisoned(self) -> Iterator[Place]:
        return (place for name, place in self.places.items() if name != "source")

    def copy_picture(self, block: Bytes, job: Job) -> None:
        """Copy the picture, with NaN between its rows."""
        rows = self.array(block, "source", job)
        row = job.width * job.channels
        rows.view(np.uint8)[:, row * rows.itemsize :] = 0xFF
        rows[:, :row] = job.picture.reshape(job.height, -1)

    def broken_rule(self, block: Bytes, job: Job, turn: int) -> str:
        """The sentence for what was written beside the output; empty: nothing was."""
        for begin, end, name in self.zones:
            wrong = np.flatnonzero(block[begin:end] != self._red_zone(begin, end, name))
            if wrong.size:
                is_before = begin + int(wrong[0]) < self.places[name][0]
                where = "before the start" if is_before else "behind the end"
                return f"Something was written {where} of {name_in_words(name)}."
        if not same_bits(self.samples(block, "source", job), job.picture.reshape(job.height, -1)):
            return "Something was written to the picture, which is only to be read."
        end = row_end(job.picture)
        begin, behind = self.places["target"]
        row_bytes = (behind - begin) // self.shape[0]
        padding = _poison_between_rows(self.shape[0], end, row_bytes, turn)
        before: dict[str, Any] = {"source": 0xFF, "target": padding}
        for name, was in before.items():
            rows = (self.array(block, name, job).view(np.uint8)[:, end:] != was).any(axis=1)
            if rows.any():
                of = f"row {int(np.argmax(rows))} of {name_in_words(name)}"
                return f"Something was written behind the end of {of}, where no sample is."
        return ""

    def _red_zone(self, begin: int, end: int, name: str) -> Bytes:
        return red_zone(end - begin, list(self.places).index(name))


@lru_cache(maxsize=8)  # a run's jobs are few, and it is timed
def _poison_between_rows(rows: int, end: int, row_bytes: int, turn: int) -> Bytes:
    """The poison of an output from byte `end` of each row on: all of it would cost a copy."""
    return poison_at(np.arange(end, row_bytes) + row_bytes * np.arange(rows)[:, None], turn)


def name_in_words(name: str) -> str:
    """The name of an array in sentences."""
    return WORDS.get(name, f"the buffer {name}")
