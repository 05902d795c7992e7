"""The subject of the anatomy: a pass of a rung for the present job, and a thread of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from kernels.anatomy import record as words
from kernels.anatomy.launch_shapes import USUAL_MULTIPROCESSORS, Block, Rect, Shape, shapes_of
from kernels.anatomy.record import TILE, Access, Part, Record, span
from kernels.anatomy.transactions import LANES, NOWHERE, coalescing, conflicts
from kernels.core.device import Device
from kernels.core.job import Job
from kernels.core.verdict import CHANNELS
from kernels.cuda_on_cpu.recording import BlockRecords
from kernels.rungs.rung import Rung, ladder, work_of
from workbench.base.paths import asset


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """One pass of a rung, for one job."""

    rung: Rung
    job: Job  # with the rung as its implementation
    shapes: tuple[Shape, ...]  # of the rung's passes that can be drawn
    shape: Shape  # the one looked at
    records: BlockRecords  # of its blocks

    @property
    def channels(self) -> int:
        return self.job.channels

    def with_pass(self, number: int) -> Subject:
        """Choose a pass of the same rung, by its place among `shapes`."""
        shape = self.shapes[min(number, len(self.shapes) - 1)]
        if shape is self.shape:
            return self
        records = BlockRecords(self.rung, self.job, shape, asset("anatomy"))
        return replace(self, shape=shape, records=records)

    def loads_per_sample(self, device: Device | None) -> tuple[float, float] | None:
        """Samples loaded per sample computed, here and by the plain rung.

        None where one of the two is not known, as for a library's launches.
        """
        multiprocessors = device.multiprocessors if device else USUAL_MULTIPROCESSORS
        plain = next(each for each in ladder() if each.gradient == self.rung.gradient)
        own, its = (
            work_of(self.job.but(implementation=each.key), each, multiprocessors)
            for each in (self.rung, plain)
        )
        if own.data_loads_a_sample is None or its.data_loads_a_sample is None:
            return None
        return own.data_loads_a_sample, its.data_loads_a_sample


def subject_of(rung: Rung, job: Job, device: Device | None) -> Subject | str:
    """Choose the first pass of `rung` for `job`, or explain why there is none to show."""
    job = job.but(implementation=rung.key)
    if refusal := rung.why_never(job, device):
        return refusal
    shapes = shapes_of(rung, job, device)
    if not shapes:
        return f"The blocks of {rung.title} have no place on the picture: nothing is to be drawn."
    records = BlockRecords(rung, job, shapes[0], asset("anatomy"))
    return Subject(rung, job, shapes, shapes[0], records)


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """A block of a subject, and one thread of it."""

    subject: Subject
    block: Block
    at: tuple[int, int]  # the sample and row that are pointed at
    thread: int | None  # None where the block is not recorded
    record: Record | None = field(repr=False)  # the accesses of the block's threads; None likewise

    @property
    def steps(self) -> tuple[Access, ...]:
        """The accesses of the block's threads."""
        return self.record.steps if self.record else ()

    @property
    def tile(self) -> Rect:
        """The samples and rows that the block computes."""
        return self.subject.shape.tile(self.block)

    @property
    def warp(self) -> int:
        """Number of the thread's warp in its block."""
        return (self.thread or 0) // LANES

    @property
    def lane(self) -> int:
        """Number of the thread in its warp."""
        return (self.thread or 0) % LANES

    def rects_of(self, thread: int) -> list[Rect]:
        return self.record.rects(thread, thread + 1) if self.record else []

    def sample_of(self, thread: int) -> tuple[int, int] | None:
        """The first sample and row that `thread` computes; None if it computes none."""
        first = next(iter(self.rects_of(thread)), None)
        return (first.left, first.top) if first else None

    @property
    def own(self) -> Rect | None:
        """The samples around those pointed at that the thread computes; else its first."""
        rects, (x, y) = self.rects_of(self.thread or 0), self.at
        here = (r for r in rects if r.left <= x < r.right and r.top <= y < r.bottom)
        return next(here, rects[0] if rects else None)

    @property
    def facts(self) -> tuple[object, ...]:
        """Everything that is shown of it."""
        return self.block, self.thread, self.record, self.own

    @property
    def middle(self) -> tuple[int, int]:
        """The sample and row of the picture nearest to the thread's first, or the tile's middle."""
        picture, tile = self.subject.shape.picture, self.tile.clipped(self.subject.shape.picture)
        x, y = (tile.left + tile.right) // 2, (tile.top + tile.bottom) // 2
        x, y = self.sample_of(self.thread or 0) or (x, y)
        return min(max(x, 0), picture.right - 1), min(max(y, 0), picture.bottom - 1)

    def thread_words(self) -> str:
        """Name the thread and its samples."""
        if self.thread is None or self.record is None:
            return ""
        begin = f"Thread {self.thread}, lane {self.lane} of warp {self.warp},"
        if self.subject.shape.layout is not None:
            return f"{begin} {words.moves(self.record.numbers_of(self.thread))}."
        rect, channels = self.own, self.subject.channels
        if rect is None:
            return f"{begin} has no sample to compute."
        x, y = rect.left, rect.top
        more = ", and others in the same tile" if len(self.rects_of(self.thread)) > 1 else ""
        if rect.count == 1:
            name = f"{CHANNELS[channels][x % channels]} " if channels > 1 else ""
            return f"{begin} computes the {name}sample of pixel ({x // channels:,}, {y:,}){more}."
        samples = span("sample", x, rect.right)
        if channels > 1:
            pixels = span("pixel", x // channels, (rect.right - 1) // channels + 1)
            samples += f" (of {pixels})"
        return f"{begin} computes {samples} in {span('row', y, rect.bottom)}{more}."

    def sentences(self) -> list[tuple[str, str]]:
        """Headings, each with its paragraph."""
        shape, records = self.subject.shape, self.subject.records
        here = words.block_words(shape, self.block)
        if self.record is not None and shape.layout is not None:
            here = f"Block {self.block} {words.moves(self.record.numbers_of())}."
        missing = words.of_a_library(self.subject.rung)
        if self.record is None:
            why = records.problem or "this block is being recorded on the CPU …"
            missing = f"Warps and lanes are not drawn: {why} {missing}".strip()
        idle, launch = records.idle(self.block), words.grid_words(shape)
        if idle is not None or not records.problem:
            launch = f"{launch} {words.idle_words(idle)}"
        return [
            ("The launch", launch),
            ("This block", here),
            *([("Not shown", missing)] if missing else []),
        ]

    def steps_of(self, part: Part) -> tuple[Access, ...]:
        """The accesses of the block's threads in one part of the launch."""
        return tuple(each for each in self.steps if each.part == part)

    def part_words(self, part: Part) -> str:
        """Describe the block's work in one part of the launch but "compute"; see `thread_words`."""
        if part == "compute" or self.record is None:
            return ""
        if part == "load":
            return words.load_words(self.record.traffic, self.subject.shape.reads)
        return words.share_words(self.record.traffic)

    def loaded_by_warp(self, step: Access, time: int) -> list[tuple[int, Rect]]:
        """Lanes of the warp with the samples of the picture that each loads or stores at a time.

        None where the array is not laid out like the picture.
        """
        shape = self.subject.shape
        if step.array not in shape.row_bytes:
            return []
        item = shape.item_bytes[step.array]
        places = enumerate(step.lanes(time, self.warp).tolist())
        found = [(n, divmod(at, shape.row_bytes[step.array])) for n, at in places if at != NOWHERE]
        width = max(step.size // item, 1)
        rects = [(n, Rect(x // item, y, x // item + width, y + 1)) for n, (y, x) in found]
        return [(lane, rect) for lane, rect in rects if rect.left < shape.picture.right]

    def read_by_thread(self) -> list[Rect]:
        """The samples that count for those that the thread computes."""
        if self.thread is None or self.subject.shape.layout is not None:
            return []
        return [rect.grown(*self.subject.shape.halo) for rect in self.rects_of(self.thread)]

    def is_of_taps(self, step: Access) -> bool:
        """True if an access is done once for each weight."""
        is_read = not step.is_store and step.array in ("picture", TILE)
        return is_read and 1 < step.count == self.subject.job.ksize**2

    def turn_words(self, step: Access, time: int) -> str:
        """Name the tap that is read at a time; "" where taps have no access of their own."""
        if not self.is_of_taps(step):
            return ""
        y, x = divmod(time, self.subject.job.ksize)
        return f"tap x {x + 1}, y {y + 1}"

    def tap(self, step: Access, time: int) -> Rect | None:
        """The sample that the thread reads for a tap; None where taps have no access."""
        own = self.own
        if own is None or own.count != 1 or not self.is_of_taps(step):
            return None
        row, column = divmod(time, self.subject.job.ksize)
        x = own.left + (column - self.subject.job.radius) * self.subject.channels
        y = own.top + row - self.subject.job.radius
        return Rect(x, y, x + 1, y + 1)


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """The samples of the picture that one part of a launch touches, as far as they are known."""

    part: Part
    lanes: tuple[tuple[int, Rect], ...] = ()  # that each lane of the warp loads at the time shown
    reads: tuple[Rect, ...] = ()  # those that count for the samples that the thread computes
    tap: Rect | None = None  # the one of these that is read at the time shown
    is_shared: bool = False  # the part is "share", and the block keeps samples in shared memory


def marks_of(look: Look, part: Part, step: Access | None, time: int) -> Marks:
    """Find the samples that `part` of a launch touches; step, time: of the access shown."""
    if part == "share":
        return Marks(part, is_shared=bool(look.steps_of("share")))
    if part == "load":
        return Marks(part, () if step is None else tuple(look.loaded_by_warp(step, time)))
    tap = None if step is None else look.tap(step, time)
    return Marks(part, reads=tuple(look.read_by_thread()), tap=tap)


def look_at(subject: Subject, x: int, y: int) -> Look:
    """Choose the block and the thread that compute sample x of row y, or the nearest ones."""
    block = subject.shape.block_at(x, y)
    record = subject.records.get(block)
    thread = None if record is None else _thread_at(record, x, y)
    return Look(subject, block, (x, y), thread, record)


def look_from(subject: Subject, block: Block, thread: int) -> Look | None:
    """Choose a thread that computes numbers of a transform; None: there is no such one.

    Not all of these can be pointed at in the picture.
    """
    (across, down), threads = subject.shape.grid, subject.shape.threads
    if not (0 <= block[0] < across and 0 <= block[1] < down and 0 <= thread < threads):
        return None
    tile, record = subject.shape.tile(block), subject.records.get(block)
    return Look(subject, block, (tile.left, tile.top), thread if record else None, record)


def _thread_at(record: Record, x: int, y: int) -> int:
    """The thread that computes sample x of row y, or the nearest one, as for frequencies."""
    tile = record.shape.tile(record.block)
    column = min(max(x - tile.left, 0), tile.width - 1)
    row = min(max(y - tile.top, 0), tile.height - 1)
    if (own := int(record.owners[row, column])) != NOWHERE:
        return own
    rows, columns = np.nonzero(record.owners != NOWHERE)
    if not len(rows):
        return 0
    nearest = np.abs(rows - row) + np.abs(columns - column)
    return int(record.owners[rows, columns][nearest.argmin()])


class LaneCell(NamedTuple):
    text: str  # below the lane's number
    tip: str
    color: int | None = None  # an index into the theme's series; None: the lane takes no part
    is_marked: bool = False  # drawn as bad, with a mark
    exists: bool = True  # the block has such a thread


class Lanes(NamedTuple):
    """The sectors or banks that a warp's lanes touch at one time of an access."""

    cells: tuple[LaneCell, ...]
    legend: str  # of the numbers in the cells
    sentence: str  # all of it


def lanes_of(look: Look, step: Access, time: int) -> Lanes:
    """Describe the warp's lanes at one time of an access, from 0 to step.count - 1."""
    lanes, is_global = step.lanes(time, look.warp), step.memory == "global"
    found = coalescing(lanes, step.size) if is_global else conflicts(lanes, step.size)
    places, sentence = found.places, words.cost_words(step, found)
    if is_global:
        touched = np.unique(places[places != NOWHERE])
        places = np.where(places == NOWHERE, NOWHERE, np.searchsorted(touched, places) + 1)
    name, shown = ("sector" if is_global else "bank"), enumerate(places.tolist())
    cells = [_cell(name, lane, at, bool(found.waits[lane])) for lane, at in shown]
    marked = " Marked (!): bank conflict." if found.waits.any() else ""
    return Lanes(tuple(cells), f"Above: lane. Below: {name}.{marked}", sentence)


def _cell(name: str, lane: int, number: int, waits: bool) -> LaneCell:
    """A lane's cell: neighbouring numbers in two colours."""
    if number == NOWHERE:
        return LaneCell("–", f"Lane {lane} takes no part.")
    meets = "; it meets others there" if waits else ""
    colour = 4 if (number + (name == "sector")) % 2 else 0
    return LaneCell(str(number), f"Lane {lane}: {name} {number}{meets}", colour, waits)
