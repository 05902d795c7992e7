"""One block's steps, all threads abreast: run once on a small picture, all written down.

Between barriers threads of a block go at their own pace, on a GPU warp by warp.  Here those that
are at the same statement, in the same turn of the same loops, count as one step, in the order of
the text: where no two threads race it makes no difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels.anatomy.launch_shapes import shapes_of
from kernels.anatomy.transactions import numbered, spread, turns_of
from kernels.core.job import Job, Progress
from kernels.core.verdict import place_words
from kernels.cuda_on_cpu.compile_errors import first_error
from kernels.cuda_on_cpu.compiler import BuildError
from kernels.cuda_on_cpu.counting import requests
from kernels.cuda_on_cpu.cpu_runs import Runs, prepared
from kernels.cuda_on_cpu.device_code import Point, Told, told
from kernels.cuda_on_cpu.findings import finding_of
from kernels.cuda_on_cpu.recording import MAX_STEPS, VALUE_BYTES, SteppedShim, Trace
from kernels.cuda_on_cpu.regions import DEVICE, Region, cropped, region_of, small_size
from kernels.cuda_on_cpu.shared_run import DYNAMIC_ARRAY, STATIC_ARRAY
from kernels.cuda_on_cpu.shim import NEVER_STORED, TriedShim
from kernels.rungs.headers import Facts
from kernels.rungs.operands import operands_of
from kernels.rungs.rung import PICTURE, Rung

INTEGER, _, FLOATING, BOOLEAN, POINTER = range(5)  # enum ValueKind in stepping.h
LETTERS = "iufuu"  # of dtypes, by kind
SHARED_NAMES = 1 << 31  # from here on variables are ~the numbers of names of shared memory
WARP = 32
# What a thread does at a step: way 0: it loads, 1: stores, -1: neither; turns that its warp takes
# for one access to shared memory, 1: no bank conflict; races: see `_rivals`.
DOING = np.dtype([("is_here", "?"), ("way", "i4"), ("turns", "i8"), ("races", "?")])


class Touch(NamedTuple):
    """One load or store of a thread: the value, and where it lies, in words."""

    array: str
    is_store: bool
    offset: int
    size: int
    value: float
    where: str
    rival: str  # the other thread of a race, in words; empty: there is none


class Tile(NamedTuple):
    """An array in shared memory: (rows, columns), NaN where nothing was stored yet.

    loaded, stored  places (row, column) that threads touch at the present step
    """

    name: str
    values: NDArray[np.float64]
    loaded: NDArray[np.int64]
    stored: NDArray[np.int64]


class _Layout(NamedTuple):
    """An array in shared memory: `size` numbers of one dtype, in rows of `columns`."""

    name: str
    array: int
    begin: int
    kind: np.dtype[Any]
    size: int
    columns: int

    def numbers(self, offsets: Any) -> Any:
        """The numbers that accesses at these bytes begin in."""
        return (offsets - self.begin) // self.kind.itemsize


class BlockSteps:
    """The steps of one block, from 0 up to `count`."""

    def __init__(self, rung: Rung, job: Job, number: int, trace: Trace, told: Told) -> None:
        self.job, self.number, self._trace, self._told = job, number, trace, told
        self._pitch = Facts(job, DEVICE)["PITCH"]
        each, names = rung.passes[number], {PICTURE: "the picture"}
        reads = [names.get(name, name) for name in (each.reads, *each.also_reads)]
        weights = ["weights"] * len(operands_of(rung.weights, job).arguments)
        self.arrays = [*reads, *weights, "the answer" if each.writes == PICTURE else each.writes]
        self.block, self.block_xy = (tuple(trace.head[n].tolist()) for n in ("block", "threads"))
        self.threads = int(self.block_xy[0] * self.block_xy[1])
        self.count = len(trace.steps)
        self._intervals = trace.steps["interval"].astype(np.int64)
        self._shared = self._layouts()
        self._stores = trace.accesses[trace.accesses["is_store"] > 0]
        self._rivals = _rivals(trace.accesses, self._intervals)
        shapes = {shape.number: shape for shape in shapes_of(rung, job, DEVICE)}
        self.shape = shapes.get(number)  # None: its blocks have no place on the picture

    def point(self, step: int) -> Point:
        return self._told.points[int(self._trace.steps["point"][step])]

    def barriers_before(self, step: int) -> int:
        return int(self._intervals[step])

    def threads_at(self, step: int) -> NDArray[np.int64]:
        """The numbers of the threads that take part in a step."""
        turns = self._trace.turns
        return np.unique(turns["thread"][_span(turns, step)]).astype(np.int64)

    def next_barrier(self, step: int) -> int:
        """The first step behind the next barrier; the last step where there is none."""
        later = np.flatnonzero(self._intervals[step:] > self._intervals[step])
        return step + int(later[0]) if len(later) else self.count - 1

    def barrier_before(self, step: int) -> int:
        """The first step behind the barrier before, or of all."""
        begin = int(np.searchsorted(self._intervals, self._intervals[step]))
        if begin == step and step > 0:
            begin = int(np.searchsorted(self._intervals, self._intervals[step - 1]))
        return begin

    def steps_of(self, thread: int) -> NDArray[np.int64]:
        """The steps that a thread takes part in, each once."""
        turns = self._trace.turns
        return np.unique(turns["step"][turns["thread"] == thread]).astype(np.int64)

    def next_of(self, thread: int, step: int, way: int) -> int:
        """The next step (way 1) or the one before (-1) that a thread takes part in."""
        own = self.steps_of(thread)
        place = int(np.searchsorted(own, step, "right" if way > 0 else "left"))
        place += 0 if way > 0 else -1
        return int(own[place]) if 0 <= place < len(own) else step

    def storing(self, pixel: tuple[int, int]) -> int | None:
        """The thread that stores the first sample of a pixel (x, y); None: none does."""
        accesses, last = self._trace.accesses, len(self.arrays) - 1
        sample = pixel[1] * self._pitch + pixel[0] * self.job.channels
        sought = sample * self._kind_of(last).itemsize
        begin = accesses["offset"].astype(np.int64)
        is_it = (begin <= sought) & (sought < begin + accesses["size"])
        is_it &= (accesses["is_store"] > 0) & (accesses["array"] == last)
        found = accesses["thread"][is_it]
        return int(found[-1]) if len(found) else None

    def touches(self, step: int, thread: int) -> list[Touch]:
        """The loads and stores of a thread at a step, in its order."""
        span = _span(self._trace.accesses, step)
        mine = span.start + np.flatnonzero(self._trace.accesses["thread"][span] == thread)
        return [self._touch(self._trace.accesses[at], int(self._rivals[at])) for at in mine]

    def doing(self, step: int) -> NDArray[np.void]:
        """What each thread of the block does at a step: of DOING."""
        found, span = np.zeros(self.threads, DOING), _span(self._trace.accesses, step)
        own, found["way"] = self._trace.accesses[span], -1
        found["is_here"][self.threads_at(step)] = True
        found["way"][own["thread"]] = own["is_store"]  # the last one of each
        found["races"][own["thread"][self._rivals[span] >= 0]] = True
        if len(shared := own[own["array"] < 0]):
            thread, offset, size = (
                shared[n].astype(np.int64) for n in ("thread", "offset", "size")
            )
            turns = turns_of(requests(shared)[2], thread % WARP, offset, size)
            np.maximum.at(found["turns"], thread, turns)
        return found

    def variables(self, step: int, thread: int) -> list[tuple[str, str]]:
        """The variables in scope of a thread before a step, with values; the newest first.

        Where it takes no part in the step, before its next one.
        """
        own_steps = self.steps_of(thread)
        if not len(own_steps):  # it runs nothing but what reports no steps
            return []
        later = own_steps[np.searchsorted(own_steps, step) :]
        here = int(later[0]) if len(later) else self.count
        at = self.point(here if here < self.count else int(own_steps[-1]))
        values = self._trace.values
        is_mine = (values["thread"] == thread) & (values["step"] < here)
        known: dict[tuple[int, tuple[int, ...]], str] = {}
        is_mine &= (values["kind"] != POINTER) & (values["variable"] < SHARED_NAMES)
        for value in values[is_mine]:
            index = tuple(int(each) for each in value["index"] if each >= 0)
            known[-int(value["variable"]), index] = _in_words(int(value["kind"]), value["bits"])
        found = []
        for (variable, index), words in sorted(known.items()):
            each = self._told.variables[-variable]
            if each.function == at.function and each.begin <= at.at < each.end:
                found.append((each.name + "".join(f"[{place}]" for place in index), words))
        return found

    def tiles(self, step: int) -> list[Tile]:
        """The arrays in shared memory as they are before a step."""
        return [self._tile(each, step) for each in self._shared]

    def answer(self) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
        """The bytes of the pass's output, and which of them this block stores."""
        last = len(self.arrays) - 1
        size = self.job.height * self._pitch * self._kind_of(last).itemsize
        return self._stored_and_where(self.count, last, size)

    def _stored_and_where(
        self, step: int, array: int, size: int
    ) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
        """An array's bytes as they are before a step, and which of them were stored."""
        done = self._stores[: int(np.searchsorted(self._stores["step"], np.uint32(step)))]
        done = done[(done["array"] == array) & (done["offset"] + done["size"] <= size)]
        sizes = np.minimum(done["size"], VALUE_BYTES).astype(np.int64)
        # All bytes in the order of their stores: of those to one place the last one stays.
        store, byte = spread(sizes)
        places = done["offset"].astype(np.int64)[store] + byte
        memory = np.full(size, NEVER_STORED, np.uint8)
        memory[places] = done["value"][store, byte]
        is_stored = np.zeros(size, np.bool_)
        is_stored[places] = True
        return memory, is_stored

    def _layouts(self) -> list[_Layout]:
        shared = self._trace.values[self._trace.values["variable"] >= SHARED_NAMES]
        names, first = np.unique(~shared["variable"], return_index=True)
        found = []
        for name, (*_, kind, (rows, columns), at) in zip(
            names, shared[first].tolist(), strict=True
        ):
            size, kind = divmod(kind, 8)
            begin, end = self._trace.head["static"].tolist()
            array = STATIC_ARRAY if begin <= at < end else DYNAMIC_ARRAY
            start, room = self._memory_of(array)
            at -= start
            count = rows * columns or (room - at) // size
            columns = columns or self._row_of(array, size, count)
            if size not in (1, 2, 4, 8):  # vectors: their numbers
                count, columns = count * size // 4, columns * size // 4
                size, kind = 4, FLOATING
            dtype = np.dtype(f"{LETTERS[kind]}{size}")
            found.append(_Layout(self._told.shared[name], array, at, dtype, count, columns))
        return found

    def _memory_of(self, array: int) -> tuple[int, int]:
        """The begin of the block's shared memory, and its bytes."""
        begin, end = self._trace.head["dynamic" if array == DYNAMIC_ARRAY else "static"].tolist()
        return begin, end - begin

    def _tile(self, each: _Layout, step: int) -> Tile:
        span = slice(each.begin, each.begin + each.size * each.kind.itemsize)
        memory, is_stored = self._stored_and_where(step, each.array, self._memory_of(each.array)[1])
        values = memory[span].view(each.kind).astype(np.float64)
        values[~is_stored[span].reshape(-1, each.kind.itemsize).all(1)] = np.nan
        whole = np.full(-(-each.size // each.columns) * each.columns, np.nan)
        whole[: each.size] = values
        some = self._trace.accesses[_span(self._trace.accesses, step)]
        some = some[some["array"] == each.array]
        places = []
        for is_store in (0, 1):
            offsets = some["offset"][some["is_store"] == is_store].astype(np.int64)
            number = np.unique(each.numbers(offsets))
            number = number[(number >= 0) & (number < each.size)]
            places.append(np.stack(np.divmod(number, each.columns), 1))
        return Tile(each.name, whole.reshape(-1, each.columns), *places)

    def _row_of(self, array: int, size: int, count: int) -> int:
        """Guess how many numbers make a row: those from a thread to the one below it."""
        of_array = self._trace.accesses[self._trace.accesses["array"] == array][::-1]
        above, below = (
            dict(zip(own["step"].tolist(), own["offset"].tolist(), strict=True))
            for own in (of_array[of_array["thread"] == each] for each in (0, self.block_xy[0]))
        )
        strides = {(at - above[step]) // size for step, at in below.items() if step in above}
        likely = [each for each in strides if self.block_xy[0] <= each <= count]
        # Staged along one line, a row is as wide as the block; read back, as it is.
        return max(likely, default=min(count, WARP) or 1)

    def _touch(self, access: Any, rival: int) -> Touch:
        array, size, offset = int(access["array"]), int(access["size"]), int(access["offset"])
        name, where, kind = "shared memory", f"byte {offset:,}", np.dtype(np.float32)
        if array >= 0:
            name, kind = self.arrays[array], self._kind_of(array)
            y, sample = divmod(offset // kind.itemsize, self._pitch)
            x, channel = divmod(sample, self.job.channels)
            where = place_words(y, x, channel, self.job.channels)
            if name == "weights":
                where = f"number {offset // kind.itemsize:,}"
        for each in self._shared:
            number = each.numbers(offset)
            if each.array == array and 0 <= number < each.size:
                row, column = divmod(number, each.columns)
                name, where, kind = each.name, f"row {row}, column {column}", each.kind
                break
        is_whole = size >= kind.itemsize
        value = float(access["value"][:size].view(kind)[0]) if is_whole else float("nan")
        words = ""
        if rival >= 0:
            other = self._trace.accesses[rival]
            y, x = divmod(int(other["thread"]), self.block_xy[0])
            does = "stores" if other["is_store"] else "loads"
            words = f"thread {(x, y)}, which {does} in line {self.point(other['step']).line}"
        return Touch(name, bool(access["is_store"]), offset, size, value, where, words)

    def _kind_of(self, array: int) -> np.dtype[Any]:
        is_picture = self.arrays[array] in ("the picture", "the answer")
        return self.job.picture.dtype if is_picture else np.dtype(np.float32)


def _span(records: NDArray[np.void], step: int) -> slice:
    # Numbers of the column's own type: else all of it would be converted each time.
    return slice(*np.searchsorted(records["step"], np.array([step, step + 1], np.uint32)))


def _rivals(accesses: NDArray[np.void], intervals: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of each access the number of one that it races with; -1: none.

    Two threads touch the same shared memory, one stores, with no barrier of theirs between.
    """
    found, interval = np.full(len(accesses), -1), intervals[accesses["step"]]
    is_shared, is_store = accesses["array"] < 0, accesses["is_store"] > 0
    (at,) = np.nonzero(is_shared & np.isin(interval, interval[is_shared & is_store]))
    names = "array", "offset", "size", "thread", "warp_barriers"
    array, offset, size, thread, passed = (accesses[name][at].astype(np.int64) for name in names)
    unit = 4 if not ((offset | size) % 4).any() else 1
    which, number = spread(size // unit)
    at, thread, passed = at[which], thread[which], passed[which]
    cell = numbered(interval[at], -array[which], offset[which] // unit + number)
    cell, warp = np.unique(cell, return_inverse=True)[1], thread // WARP
    for place, who in ((cell, warp), (numbered(cell, warp, passed), thread)):
        order = np.lexsort((who, place))
        for mine, of in ((~is_store[at], order[is_store[at[order]]]), (is_store[at], order)):
            begin, end = (
                np.searchsorted(place[of], place[mine], side) for side in ("left", "right")
            )
            for each in (begin, end - 1) if len(of) else ():  # the first and the last one there
                rival = of[np.where(begin < end, each, 0)]
                is_race = (begin < end) & (who[rival] != who[mine])
                found[at[mine][is_race]] = at[rival[is_race]]
    return found


def _in_words(kind: int, bits: Any) -> str:
    number = np.uint64(bits)
    if kind == BOOLEAN:
        return "true" if number else "false"
    if kind == FLOATING:
        return f"{float(number.view(np.float64)):.6g}".replace("-", "−")
    return f"{int(number.view(np.int64) if kind == INTEGER else number):,}".replace("-", "−")


DEADLINE_S = 20.0  # of the CPU's time: each step takes a hundred times as long
TOO_LONG = (
    f"The block takes more than {MAX_STEPS:,} steps, which is all there is room for: "
    "choose a smaller kernel size, or a block of fewer threads."
)
NO_STEPS = "No thread of this block comes to a statement that can be shown."
NOT_FOLLOWED = "This text cannot be stepped through, though it compiles: {sentence}"


@dataclass(frozen=True, slots=True, eq=False)
class Stepped:
    """The steps of a block, or why there are none.

    region   of the job's picture, that it was run on; `job` is the job on that part
    pixel    (x, y) in that part, whose samples the block stores
    steps    None: the sentence `problem` says why not
    problem  with steps: what ended the run, after the last of them
    answer   (H, W, C) of the whole run, where it came to its end
    """

    job: Job
    region: Region
    pixel: tuple[int, int]
    steps: BlockSteps | None = None
    problem: str = ""
    line: int | None = None
    answer: NDArray[Any] | None = None


def stepping(
    rung: Rung,
    job: Job,
    *,
    at: tuple[int, int] | None = None,
    number: int | None = None,
    deadline_s: float = DEADLINE_S,
) -> Iterator[Progress | Stepped]:
    """Record the steps of the block that stores a pixel; the last that is yielded has them.

    Closing the generator ends the compiler and the run.

    at      (x, y) of the pixel; None: the one in the middle
    number  of the pass; None: the last one
    """
    region = region_of(job, small_size(job), at)
    part = cropped(job, region)
    x, y = at or (job.width // 2, job.height // 2)
    pixel = min(x, job.width - 1) - region.left, min(y, job.height - 1) - region.top
    own = [place for place, each in enumerate(rung.passes) if not each.library]
    number = own[-1] if number is None or number not in own else number
    runs = yield from prepared(SteppedShim, rung, part, deadline_s)
    if isinstance(runs, BuildError):
        sentence, line = first_error(str(runs), rung)
        if isinstance((yield from prepared(TriedShim, rung, part, deadline_s)), Runs):
            sentence, line = NOT_FOLLOWED.format(sentence=sentence), None
        yield Stepped(part, region, pixel, problem=sentence, line=line)
        return
    where = number, pixel[1], pixel[0] * job.channels
    ended = yield from runs.once(at=where)
    if ended.answer is None and ended.trace is not None and not len(ended.trace.turns):
        # It came to no block that stores there.
        ended = yield from runs.once(at=where, is_sought=False)
    found = finding_of(rung, region, ended)
    sentence, line = (found.sentence, found.line) if found else ("", None)
    trace = ended.trace
    assert trace is not None
    if trace.is_cut or not len(trace.turns):
        problem = TOO_LONG if trace.is_cut else sentence or NO_STEPS
        yield Stepped(part, region, pixel, problem=problem, line=line)
        return
    yield Progress("putting the steps in order")
    steps = BlockSteps(rung, part, number, trace, told(rung))
    yield Stepped(part, region, pixel, steps, sentence, line, ended.answer)
