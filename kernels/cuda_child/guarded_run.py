"""One run in the child: memory poisoned before, red zones and input inspected after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from kernels.core.device import Device, NoDevice
from kernels.core.errors import OutOfMemoryError
from kernels.core.job import Job
from kernels.core.poison import RED_BYTES, poison, red_zone, row_end, same_bits
from kernels.core.timing import Cache
from kernels.cuda_child.child_requests import Phase
from kernels.rungs.job_facts import Facts
from kernels.rungs.rung import Rung

MAX_SIZES = 3

M = TypeVar("M")


class KeptMemory(Generic[M]):
    """Memory by its exact size, so that nothing lies behind what a run asks for.

    make  makes memory of so many bytes; where there is not enough it raises, and nothing is kept
    let_go  called when some was dropped
    """

    def __init__(self, make: Callable[[int], M], let_go: Callable[[], None] = lambda: None) -> None:
        self._make, self._let_go = make, let_go
        self._kept: dict[int, M] = {}  # the one made last is last

    def get(self, size: int) -> M:
        """Return memory of that size, whatever is in it."""
        if size not in self._kept:
            self._make_room(size)
            self._kept[size] = self._make(size)
        return self._kept[size]

    def _make_room(self, size: int) -> None:
        """Drop what is larger, and the oldest: what is kept never takes much more than one."""
        smaller = [each for each in self._kept if each < size][1 - MAX_SIZES :]
        if dropped := [each for each in self._kept if each not in smaller]:
            for each in dropped:
                del self._kept[each]
            self._let_go()


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


class GuardedDevice(Protocol):
    """A device as the child uses it: CUDA's, or one that a test makes up.

    facts  of it, or why there is none
    """

    facts: Device | NoDevice

    def compile(self, rung: Rung, job: Job) -> dict[str, Any]:
        """Compile a rung for a job; return what the compiler made of it."""

    def launch(
        self,
        rung: Rung,
        job: Job,
        rows: tuple[int, int] | None,
        block: NDArray[np.uint8],
        places: Mapping[str, Place],
        cache: Cache,
        enter: Callable[[Phase], None],
    ) -> float:
        """Bring `block` to the device, run the kernel, wait for all of the device, fetch `block`.

        rows  (first, end) to write; None: all
        Says when it enters "launching" and "fetching"; returns the kernel's time in milliseconds.
        """

    def host_memory(self, size: int) -> NDArray[np.uint8]:
        """Return so many bytes of this computer's memory, for what goes to the device and back.

        Raises MemoryError.
        """

    def held_bytes(self) -> int:
        """Return the memory of the device that this process holds."""


@dataclass(slots=True, eq=False)
class _Room:
    """Memory of this computer for runs that need as much.

    block   goes to the device, and comes back
    before  what all of it but the picture is when it goes: not locked, so that on most computers no
            kernel reaches it
    filled  what `before` was filled for: which layout, and which turn
    """

    block: NDArray[np.uint8]
    before: NDArray[np.uint8]
    filled: tuple[Layout, int] | None = None


class HostMemory:
    """Memory of this computer for what goes to a device, kept from run to run with what is in it.

    New memory would cost a fault a page, and to poison it all again a good part of a run.
    """

    def __init__(self, device: GuardedDevice) -> None:
        self._device = device
        self._kept = KeptMemory(self._made)

    def filled(
        self, layout: Layout, job: Job, turn: int
    ) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Return the block that a run takes, and what to hold all but the picture in it against."""
        room = self._kept.get(layout.size)
        filled, room.filled = room.filled, None  # until it is filled wholly
        if filled is None or filled[0] != layout:
            layout.fill(room.before, job, turn)
        elif filled[1] != turn:
            layout.turn_over(room.before)
        room.filled = layout, turn
        layout.lay_around(room.block, room.before)
        layout.lay_in(room.block, job)
        return room.block, room.before

    def _made(self, size: int) -> _Room:
        assert isinstance(self._device.facts, Device)
        if size <= self._device.facts.memory_bytes:
            try:
                return _Room(self._device.host_memory(size), np.empty(size, np.uint8))
            except MemoryError:
                pass
        raise OutOfMemoryError(
            f"It takes {size / (1 << 30):,.3g} GiB for the picture, the answer and the kernel's "
            "own buffers, which there is no room for; use a smaller picture, or smaller buffers."
        )


def guarded_run(
    device: GuardedDevice,
    rung: Rung,
    job: Job,
    rows: tuple[int, int] | None,
    turn: int,
    cache: Cache,
    enter: Callable[[Phase], None],
    host: HostMemory,
    answer: NDArray[Any],
    taking_turn: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> dict[str, Any]:
    """Run it once into `answer`, (H, W, C); return its time and what it did that it may not.

    taking_turn  has the device for us alone
    """
    assert isinstance(device.facts, Device)
    layout = layout_of(rung, job, device.facts)
    block, before = host.filled(layout, job, turn)
    with taking_turn():
        ms = device.launch(rung, job, rows, block, layout.places, cache, enter)
    answer.reshape(job.height, -1)[:] = layout.samples(block, "target", job)
    return {
        "ms": ms,
        "outside": layout.touched_outside(block, before),
        "padding": layout.touched_padding(block, before, job),
        "changed": layout.is_changed(block, job),
    }
