"""Traces of one block: its threads' loads and stores by step of the text, and all that they did."""

from __future__ import annotations

import ctypes
import mmap
import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.anatomy.launch_shapes import INSIDE, Block, Shape
from kernels.anatomy.record import TILE, Access, Idle, Record, idle_of, read_kept
from kernels.anatomy.transactions import NOWHERE, numbered, occurrence
from kernels.core.cache import LruCache
from kernels.core.job import Job
from kernels.cuda.launch import LaunchStep
from kernels.cuda_on_cpu.compiler import (
    RECORDED,
    STEPPED,
    BuildError,
    building,
    default_cache,
    why_not,
)
from kernels.cuda_on_cpu.device_code import Told, knobs_of, told, with_words
from kernels.cuda_on_cpu.regions import DEVICE
from kernels.cuda_on_cpu.shared_run import DYNAMIC_ARRAY, SharedRun, rounded_up
from kernels.cuda_on_cpu.shim import Launch, LaunchError, Named, Order, Shim
from kernels.rungs.headers import Facts
from kernels.rungs.rung import Rung

MAX_STEPS = 1_000_000
VALUE_BYTES = 16  # of what is loaded or stored at once that are kept


def _struct(fields: str) -> np.dtype[Any]:
    """A structure of fields by name and type: "thread:u4 value:16u1"."""
    return np.dtype([(name, kind) for name, _, kind in (f.partition(":") for f in fields.split())])


# As struct Head, Step, Access, Turn and Value in recorder.cpp.
HEAD = _struct(
    "counts:4u8 is_found:u4 found:2u4 none:u4 block:2u4 threads:2u4 dynamic:2u8 static:2u8"
)
STEP = _struct("interval:u4 point:u4 path:16u4")
ACCESS = _struct(
    "thread:u4 step:u4 array:i2 warp_barriers:u2 is_store:u4 size:u4 site:u4 offset:u8 value:16u1"
)
TURN = _struct("thread:u4 step:u4")
VALUE = _struct("thread:u4 step:u4 variable:u4 kind:u4 index:2i4 bits:u8")
MOST = ((STEP, MAX_STEPS), (ACCESS, 6_000_000), (TURN, MAX_STEPS), (VALUE, 1_500_000))
ROOM = np.array([most for _, most in MOST], np.uint64)
TRACE_BYTES = HEAD.itemsize + sum(kind.itemsize * most for kind, most in MOST)


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """All that one block did.

    head      of HEAD, one
    steps     of STEP, each once, in the order of the text
    accesses  of ACCESS, by the number of their step; `turns` and `values` likewise
    is_cut    there was no room for all of it
    """

    head: Any
    steps: NDArray[np.void]
    accesses: NDArray[np.void]
    turns: NDArray[np.void]
    values: NDArray[np.void]
    is_cut: bool

    @classmethod
    def of(cls, memory: NDArray[np.uint8]) -> Trace:
        """Copy it from the memory that a run wrote it into."""
        head = memory[: HEAD.itemsize].copy().view(HEAD)[0]
        begin, found = HEAD.itemsize, []
        for (kind, most), count in zip(MOST, head["counts"].tolist(), strict=True):
            size = kind.itemsize * min(count, most)
            found.append(memory[begin : begin + size].copy().view(kind))
            begin += kind.itemsize * most
        steps, *others = found
        order = np.lexsort((steps["point"], *steps["path"].T[::-1], steps["interval"]))
        rank = np.argsort(order).astype(np.uint32)
        for each in others if len(steps) else ():
            each["step"] = rank[np.minimum(each["step"], len(steps) - 1)]
        accesses, turns, values = (each[np.argsort(each["step"], kind="stable")] for each in others)
        is_cut = bool((head["counts"] > ROOM).any())
        return cls(head, steps[order], accesses, turns, values, is_cut)


class Stop:
    """A flag that ends a recording at its next statement; any thread may set it."""

    def __init__(self) -> None:
        self.flag = ctypes.c_bool(False)

    def set(self) -> None:
        self.flag.value = True


@contextmanager
def recorded(
    library: ctypes.CDLL,
    memory: NDArray[np.uint8],
    arrays: Sequence[NDArray[Any]],
    block: tuple[int, int] = (0, 0),
    *,
    sought: int = 0,
    follows: bool = False,
    room: NDArray[np.uint64] = ROOM,
    sums: Sequence[NDArray[np.uint64]] = (),
    only: int = -1,
    stop: Stop | None = None,
) -> Iterator[None]:
    """Have launches write down a block in `memory`.

    sought   the address of a byte: only the block that stores there is looked for
    follows  write down also turns, and all values
    room     for steps, accesses, turns and values: of TRACE_BYTES as a rule
    sums     count all blocks: (blocks, arrays, 2) bytes loaded and stored, (blocks, 4) operations
    only     the number of the block that runs; -1: all do
    """
    ranges = [(each.ctypes.data, each.ctypes.data + each.nbytes) for each in arrays]
    watched = np.array(ranges, np.uint64).reshape(-1, 2)
    lists: tuple[NDArray[Any], ...] = (memory, room, watched, *sums)
    into, rooms, places, *counts = (ctypes.c_void_p(each.ctypes.data) for each in lists)
    flag = ctypes.byref(stop.flag) if stop else None
    how = (rooms, places, len(watched), ctypes.c_uint64(sought), *block, ctypes.c_bool(follows))
    how = (*how, ctypes.c_int64(only), flag, *(counts or (None, None)))
    library.record(into, *how)
    try:
        yield
    finally:
        library.record(None, *how)


class SteppedShim(Shim):
    """A shim that runs a job twice: to find the block that stores a sample, and to follow it."""

    flavour = STEPPED
    headers = ("stepping.h",)

    @classmethod
    def _written(cls, rung: Rung, text: str) -> str:
        before, mark, own = text.rpartition('#line 1 "')
        name = own.partition("\n")[0]
        return f"{before}{mark}{name}\n{told(rung).text}"

    def step_through(
        self, job: Job, shared: SharedRun, at: tuple[int, int, int], *, is_sought: bool
    ) -> None:
        """Run `job`, and record a block of a pass: see `Request.at`."""
        self._job, self._trace = job, shared.trace
        self._number, self._row, self._sample = at
        poison = shared.target.copy()
        for self._is_seeking in (True, False) if is_sought else (False,):
            shared.target[...] = poison
            self.run_into(job, shared.source, shared.target, Order.FORWARD)

    def _watching(
        self, step: LaunchStep, loads: Named, stores: Named
    ) -> AbstractContextManager[None]:
        if step.number != self._number:
            return nullcontext()
        ((_, stored),) = stores  # with rows like the picture
        row_bytes = stored.nbytes // self._job.height
        sample_bytes = row_bytes // Facts(self._job, DEVICE)["PITCH"]
        sample = int(stored.ctypes.data) + self._row * row_bytes + self._sample * sample_bytes
        arrays, sought = [each for _, each in (*loads, *stores)], sample * self._is_seeking
        block = self._block(step)
        return recorded(self.library, self._trace, arrays, block, sought=sought, follows=True)

    def _block(self, step: LaunchStep) -> tuple[int, int]:
        """The block that stores there; where none does, the one that should."""
        head = self._trace[: HEAD.itemsize].view(HEAD)[0]
        if head["is_found"]:
            return int(head["found"][0]), int(head["found"][1])
        assert step.grid is not None
        facts = Facts(self._job, DEVICE)
        across, down = (facts.value(each) for each in self.rung.passes[step.number].covers)
        x, y = self._sample // across, self._row // down
        return min(x, step.grid[0] - 1), min(y, step.grid[1] - 1)


LINE = re.compile(r'#line (\d+) "(.*)"')
# A value that the prelude returns would else be built where it is stored, unseen by g++.
HALF = (
    "unsigned short bits;\n    __device__",
    "unsigned short bits; float16& operator=(const float16& from)"
    " { return cuda_cpu::copy(this, &from, 2), *this; }\n    __device__",
)
ALIGNMENT = 128  # of what the launch requests of shared memory, behind arrays of fixed size


class RecordingShim(Shim):
    """A rung on the CPU, of whose passes single blocks can be recorded."""

    flavour = RECORDED
    headers = ("stepping.h",)

    @classmethod
    def _written(cls, _rung: Rung, text: str) -> str:
        """Device code that reports its steps, also in headers; the prelude has none."""
        begin = _behind_prelude(text)
        return text[:begin].replace(*HALF) + Told(text[begin:]).text

    @cached_property
    def _lines(self) -> list[tuple[str, int]]:
        """The file and line of each point: what of the headers is the rung's own has no name."""
        text = with_words(self.rung.text)
        text = text[_behind_prelude(text) :]
        places: list[tuple[str, int]] = []
        file, line = "", 0
        for each in text.split("\n"):
            if found := LINE.match(each):
                file, line = found[2], int(found[1]) - 1
            else:
                line += 1
            places.append(("" if file == self.rung.file else file, line))
        return [places[each.line - 1] for each in Told(text).points]

    def record(self, job: Job, shape: Shape, block: Block, stop: Stop | None = None) -> Record:
        named, each = self._named(job, shape, block), self.rung.passes[shape.number]
        pointers = [one for _, one in named]
        memory = np.frombuffer(mmap.mmap(-1, TRACE_BYTES), np.uint8)
        shared_bytes = Facts(job).value(each.shared_bytes)
        how = Launch(*shape.grid, *shape.block, shared_bytes, Order.FORWARD)
        only = block[1] * shape.grid[0] + block[0]
        with recorded(self.library, memory, pointers, block, only=only, stop=stop):
            self._launch(each, job, how, pointers, (0, job.height))
        trace = Trace.of(memory)
        if trace.is_cut:
            raise LaunchError("A block takes more steps than there is room to record.")
        # As on a GPU arrays of fixed size come first.
        dynamic = trace.accesses["array"] == DYNAMIC_ARRAY
        trace.accesses["offset"][dynamic] += rounded_up(
            int(np.diff(trace.head["static"])[0]), ALIGNMENT
        )
        trace.accesses["array"] = np.maximum(trace.accesses["array"], DYNAMIC_ARRAY)
        accesses = _accesses_of(trace, self._lines, [name for name, _ in named], shape.threads)
        return Record(accesses, shape, block)

    def _named(self, job: Job, shape: Shape, block: Block) -> list[tuple[str, NDArray[Any]]]:
        """The arrays that the pass reads and writes, by name; then the weights."""
        facts, each = Facts(job), self.rung.passes[shape.number]
        buffers = {n: np.zeros(facts.value(size), np.uint8) for n, size in self.rung.buffers}
        # As on a device; what is far from the block stays zero: that is quick.
        source = np.zeros((job.height, facts["PITCH"]), job.picture.dtype)
        reach = shape.with_halo(block).grown(*INSIDE)
        near = slice(max(reach.top, 0), max(reach.bottom, 0))
        part = job.picture[near]
        source[near, : job.width * job.channels] = part.reshape(len(part), job.width * job.channels)
        read = dict.fromkeys((each.reads, *each.also_reads))
        return [
            *((name, buffers.get(name, source)) for name in read),
            (each.writes, buffers.get(each.writes, np.zeros_like(source))),
            *(("weights", one) for one in self._operands(job)),
        ]


MOVED_KEPT = 4  # they take megabytes each, and the pointer comes by many


class BlockRecords:
    """Records of one launch's blocks: kept ones of those inside the picture, and those made here.

    problem  why no more can be made; empty: they can
    """

    def __init__(self, rung: Rung, job: Job, shape: Shape, kept: Path | None = None) -> None:
        """kept: the folder of `record.read_kept`."""
        self.rung, self.job, self.shape = rung, job, shape
        self.problem = why_not() or ""
        self._known: dict[Block, Record] = {}  # those recorded
        self._moved: LruCache[Block, Record] = LruCache(MOVED_KEPT)
        self._inside = read_kept(kept, rung, job, shape) if kept else None
        self._shim: RecordingShim | None = None

    def get(self, block: Block) -> Record | None:
        """The record of a block; None: it is yet to be made."""
        inside = self._inside if self.shape.is_inside(block) else None
        if block in self._known or inside is None:
            return self._known.get(block)
        return self._moved.get_or_make(block, lambda: inside.moved(self.shape, block))

    def making(self, block: Block, stop: Stop | None = None) -> Generator[None, None, None]:
        """Record a block, bit by bit, unless that was done, or cannot be."""
        if self.get(block) or self.problem:
            return
        try:
            if self._shim is None:
                text = RecordingShim.text(self.rung, [knobs_of(self.rung, self.job)])
                library = yield from building(text, RECORDED, default_cache())
                self._shim = RecordingShim(self.rung, str(library))
            yield
            record = self._shim.record(self.job, self.shape, block, stop)
        except (BuildError, LaunchError, OSError) as error:
            if stop and stop.flag:
                return
            self.problem = f"{self.rung.title} cannot be recorded: {error}"
            return
        self._known[block] = record
        if self._inside is None and self.shape.is_inside(block):
            self._inside = record

    def making_idle(self, stop: Stop | None = None) -> Generator[None, None, None]:
        """Record what `idle` needs: a block of each kind."""
        for each in self.shape.kinds():
            yield from self.making(each, stop)

    def idle(self, block: Block) -> Idle | None:
        """Count idle threads; None: not all kinds of blocks are recorded."""
        records = {each: self.get(each) for each in (*self.shape.kinds(), block)}
        found = {each: record for each, record in records.items() if record}
        return idle_of(found, self.shape, block) if len(found) == len(records) else None


def _accesses_of(
    trace: Trace, lines: Sequence[tuple[str, int]], names: Sequence[str], threads: int
) -> list[Access]:
    """The accesses of each line to one array, of one size, by time and thread.

    A time is a step of the text, one access in it, and one turn of that access.
    """
    accesses = trace.accesses[trace.accesses["size"] > 0]
    numbers = {line: number for number, line in enumerate(dict.fromkeys(lines))}
    line = np.array([numbers[each] for each in lines])[trace.steps["point"][accesses["step"]]]
    place = numbered(*(accesses[name].astype(np.int64) for name in ("step", "site")))
    time = np.stack((place, occurrence(accesses["thread"].astype(np.int64), place)))
    kinds = np.stack([line, *(accesses[name] for name in ("array", "is_store", "size"))])
    _, first, kind = np.unique(kinds, axis=1, return_index=True, return_inverse=True)
    found = []
    for number in np.argsort(first):
        mine = np.flatnonzero(kind == number)
        times = np.unique(time[:, mine], axis=1, return_inverse=True)[1].ravel()
        offsets = np.full((int(times.max()) + 1, threads), NOWHERE, np.int64)
        offsets[times, accesses["thread"][mine]] = accesses["offset"][mine].astype(np.int64)
        one, (file, at) = accesses[mine[0]], list(numbers)[line[mine[0]]]
        name = TILE if one["array"] < 0 else names[one["array"]]
        found.append(Access(name, bool(one["is_store"]), file, at, int(one["size"]), offsets))
    return found


def _behind_prelude(text: str) -> int:
    return next(found.start() for found in re.finditer('#line 1 "(?!prelude)', text))
