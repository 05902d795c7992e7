"""Where a run's arrays lie in one block of the device's memory: each between red zones.

What is there after a run is held against `before`: all but the picture as it was when it began.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.device import Device
from kernels.core.job import Job
from kernels.core.poison import RED_BYTES, poison, red_zone, row_end, same_bits
from kernels.rungs.job_facts import Facts
from kernels.rungs.rung import Rung

ALIGNMENT = 256  # of arrays on a device
WORDS = {"source": "the picture", "target": "the answer"}

Place = tuple[int, int]  # first byte, and the one behind the last


@dataclass(frozen=True, slots=True)
class Layout:
    """One run's memory: "source", "target" and the rung's buffers, by name, and the red zones.

    shape  (H, pitch) of source and target, in samples
    size   of all of it, in bytes
    """

    shape: tuple[int, int]
    places: dict[str, Place]
    size: int

    def red_zones(self) -> Iterator[tuple[Place, str]]:
        """Yield each red zone, with the name of the array whose end, or begin, it is nearest to."""
        at, before = 0, ""
        for name, (begin, end) in self.places.items():
            middle = (at + begin) // 2 if before else at
            if before:
                yield (at, middle), before
            yield (middle, begin), name
            at, before = end, name
        yield (at, self.size), before

    def fill(self, block: NDArray[np.uint8], job: Job, turn: int) -> None:
        """Lay in the picture; poison all else: answer and buffers with one that is each turn's."""
        for (begin, end), name in self.red_zones():
            block[begin:end] = red_zone(end - begin, list(self.places).index(name))
        for begin, end in self._poisoned():
            block[begin:end] = poison(end - begin, turn)
        self.lay_in(block, job)

    def lay_in(self, block: NDArray[np.uint8], job: Job) -> None:
        """Lay in the picture, and NaN between its rows."""
        rows = self.array(block, "source", job)
        row = job.width * job.channels
        rows.view(np.uint8)[:, row * rows.itemsize :] = 0xFF
        rows[:, :row] = job.picture.reshape(job.height, -1)

    def lay_around(self, block: NDArray[np.uint8], before: NDArray[np.uint8]) -> None:
        """Lay in all but the picture."""
        begin, end = self.places["source"]
        block[:begin], block[end:] = before[:begin], before[end:]

    def turn_over(self, block: NDArray[np.uint8]) -> None:
        """Put the other turn's poison in the place of this turn's."""
        for begin, end in self._poisoned():
            np.invert(block[begin:end], out=block[begin:end])

    def _poisoned(self) -> Iterator[Place]:
        return (place for name, place in self.places.items() if name != "source")

    def array(self, block: NDArray[np.uint8], name: str, job: Job) -> NDArray[Any]:
        """Return the (H, pitch) samples of "source" or "target"."""
        begin, end = self.places[name]
        return block[begin:end].view(job.picture.dtype).reshape(self.shape)

    def samples(self, block: NDArray[np.uint8], name: str, job: Job) -> NDArray[Any]:
        """Return those of "source" or "target" that are the picture's: (H, W · C)."""
        return self.array(block, name, job)[:, : job.width * job.channels]

    def touched_outside(
        self, block: NDArray[np.uint8], before: NDArray[np.uint8]
    ) -> list[tuple[str, int]]:
        """Return the arrays beside which something was written, and where, from their begin."""
        return [
            (name_in_words(name), begin + int(wrong[0]) - self.places[name][0])
            for (begin, end), name in self.red_zones()
            if (wrong := np.flatnonzero(block[begin:end] != before[begin:end])).size
        ]

    def touched_padding(
        self, block: NDArray[np.uint8], before: NDArray[np.uint8], job: Job
    ) -> list[tuple[str, int]]:
        """Return the pictures between whose rows something was written, and behind which row."""
        end, found = row_end(job.picture), []
        for name in WORDS:
            now = self.array(block, name, job).view(np.uint8)[:, end:]
            was: Any = 0xFF  # in `before` there is another picture, of an earlier job
            if name == "target":
                was = self.array(before, name, job).view(np.uint8)[:, end:]
            wrong = (now != was).any(axis=1)
            if wrong.any():
                found.append((name_in_words(name), int(np.flatnonzero(wrong)[0])))
        return found

    def is_changed(self, block: NDArray[np.uint8], job: Job) -> bool:
        """Return whether the picture is no longer what was laid in."""
        before = job.picture.reshape(job.height, -1)
        return not same_bits(self.samples(block, "source", job), before)


def layout_of(rung: Rung, job: Job, device: Device) -> Layout:
    """Lay out what a run needs."""
    facts = Facts(job, device)
    shape = (job.height, int(facts["PITCH"]))
    picture_bytes = shape[0] * shape[1] * job.picture.itemsize
    buffers = {name: int(facts.value(size)) for name, size in rung.buffers}
    places, at = {}, 0
    for name, size in {"source": picture_bytes, "target": picture_bytes, **buffers}.items():
        begin = _up(at + RED_BYTES)
        places[name] = (begin, begin + size)
        at = begin + size
    return Layout(shape, places, _up(at + RED_BYTES))


def packed(rows: NDArray[Any], job: Job) -> NDArray[Any]:
    """Return (H, W, C): the picture in what lies as on a device."""
    whole = rows[:, : job.width * job.channels]
    return np.ascontiguousarray(whole).reshape(job.picture.shape)


def unwritten(layout: Layout, job: Job, turn: int) -> NDArray[Any]:
    """Return (H, W, C): an answer that nobody wrote to."""
    begin, end = layout.places["target"]
    return packed(poison(end - begin, turn).view(job.picture.dtype).reshape(layout.shape), job)


def name_in_words(name: str) -> str:
    """Return what an array is called in sentences."""
    return WORDS.get(name, f"the buffer {name}")


def _up(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
