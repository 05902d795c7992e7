"""The subject of the anatomy: a pass of a rung for the present job, and a thread of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from kernels.anatomy import anatomy_words
from kernels.anatomy.accesses import NOWHERE, Access, Places, indices, tap_words
from kernels.anatomy.block_counts import idle_of, is_idle_counted, traffic_of
from kernels.anatomy.parts import Part, part_of
from kernels.anatomy.pattern import Pattern, Threads
from kernels.anatomy.patterns import pattern_of, why_not_told
from kernels.anatomy.tile_shapes import (
    USUAL_MULTIPROCESSORS,
    Block,
    Rect,
    Shape,
    shapes_of,
    why_none,
)
from kernels.anatomy.transactions import LANES, coalescing, conflicts, of_warp
from kernels.core.device import Device
from kernels.core.job import Job
from kernels.rungs.job_facts import pitch_of
from kernels.rungs.rung import Rung, ladder
from kernels.rungs.work import work_of
from workbench.base.channels import CHANNELS


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """One pass of a rung, for one job.

    job      with the rung as its implementation
    shapes   of the rung's passes that can be drawn; `shape` is the one looked at
    pattern  None: its threads are not told one by one
    """

    rung: Rung
    job: Job
    shapes: tuple[Shape, ...]
    shape: Shape
    pattern: Pattern | None

    @property
    def channels(self) -> int:
        """Return the number of channels of the job's picture."""
        return self.job.channels

    def with_pass(self, number: int) -> Subject:
        """Return the same rung's pass, by its place among `shapes`."""
        shape = self.shapes[min(number, len(self.shapes) - 1)]
        return replace(self, shape=shape, pattern=pattern_of(self.rung, shape, self.job))

    def loads_per_sample(self, device: Device | None) -> tuple[float, float] | None:
        """Return the samples loaded per sample computed; of the plain rung as well.

        None where one of the two is not known, as of what a library launches.
        """
        multiprocessors = device.multiprocessors if device else USUAL_MULTIPROCESSORS
        plain = next(each for each in ladder() if each.gradient == self.rung.gradient)
        own, its = (
            work_of(replace(self.job, implementation=each.key), each, multiprocessors)
            for each in (self.rung, plain)
        )
        if own.data_loads_a_sample is None or its.data_loads_a_sample is None:
            return None
        return own.data_loads_a_sample, its.data_loads_a_sample


def subject_of(rung: Rung, job: Job, device: Device | None) -> Subject | str:
    """Return the first pass of `rung` for `job`, or the sentence on why there is none to show."""
    job = replace(job, implementation=rung.key)
    if refusal := why_not_told(rung) or why_none(rung, job, device):
        return refusal
    shapes = shapes_of(rung, job, device)
    if not shapes:
        return anatomy_words.no_shapes(rung)
    return Subject(rung, job, shapes, shapes[0], pattern_of(rung, shapes[0], job))


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """A block of a subject, and one thread of it.

    round   where the samples begin that all threads compute at a time: the tile, as a rule
    thread  None where the subject has no pattern
    threads what the block's threads do; None likewise
    """

    subject: Subject
    block: Block
    round: tuple[int, int]
    thread: int | None
    threads: Threads | None = field(repr=False)

    @property
    def steps(self) -> tuple[Access, ...]:
        """Return what the block's threads do, without steps that they never reach."""
        return tuple(each for each in self.threads.steps if each.count) if self.threads else ()

    @property
    def tile(self) -> Rect:
        """Return the samples and rows that the block computes."""
        return self.subject.shape.tile(self.block)

    @property
    def warp(self) -> int:
        """Return the number of the thread's warp in its block."""
        return (self.thread or 0) // LANES

    @property
    def lane(self) -> int:
        """Return the number of the thread in its warp."""
        return (self.thread or 0) % LANES

    def sample_of(self, thread: int) -> tuple[int, int] | None:
        """Return the first sample and row that `thread` computes; None if it computes none.

        It may lie beyond the picture.
        """
        return next(iter(self.samples_of(thread)), None)

    def samples_of(self, thread: int) -> list[tuple[int, int]]:
        """Return all samples and rows where `thread` computes any, also beyond the picture."""
        if self.subject.pattern is None:
            return []
        left, top = self.round
        places = self.subject.pattern.places[:, thread].tolist()
        return [(left + x, top + y) for x, y in places if x != NOWHERE]

    @property
    def middle(self) -> tuple[int, int]:
        """Return the sample and row of the picture that are nearest to where the thread works.

        Where it has no sample, they are nearest to the middle of the tile.
        """
        picture, tile = self.subject.shape.picture, self.tile.clipped(self.subject.shape.picture)
        x, y = (tile.left + tile.right) // 2, (tile.top + tile.bottom) // 2
        x, y = self.sample_of(self.thread or 0) or (x, y)
        return min(max(x, 0), picture.right - 1), min(max(y, 0), picture.bottom - 1)

    def thread_words(self) -> str:
        """Say which thread it is and what it computes."""
        if self.thread is None:
            return ""
        begin = f"Thread {self.thread}, lane {self.lane} of warp {self.warp},"
        if self.threads is not None and self.threads.thread is not None:
            return f"{begin} {self.threads.thread(self.thread)}."
        sample = self.sample_of(self.thread)
        picture = self.subject.shape.picture
        if sample is None or not (sample[0] < picture.right and sample[1] < picture.bottom):
            return f"{begin} has no sample to compute."
        x, y = sample
        channels = self.subject.channels
        across, down = self.made_by_each
        more = ", and others in the same tile" if self.makes_more else ""
        if (across, down) == (1, 1):
            name = f"{CHANNELS[channels][x % channels]} " if channels > 1 else ""
            return f"{begin} computes the {name}sample of pixel ({x // channels:,}, {y:,}){more}."
        right, bottom = min(x + across, picture.right), min(y + down, picture.bottom)
        samples = anatomy_words.span("sample", x, right)
        if channels > 1:
            pixels = anatomy_words.span("pixel", x // channels, (right - 1) // channels + 1)
            samples += f" (of {pixels})"
        return f"{begin} computes {samples} in {anatomy_words.span('row', y, bottom)}{more}."

    @property
    def makes_more(self) -> bool:
        """Return whether a thread computes samples in several places of its tile."""
        pattern, covers = self.subject.pattern, self.subject.shape.covers
        if pattern is None:
            return False
        goes_on = pattern.round[0] < covers[0] or pattern.round[1] < covers[1]
        return len(pattern.places) > 1 or goes_on

    @property
    def made_by_each(self) -> tuple[int, int]:
        """Return how many samples and rows a thread computes."""
        return self.subject.pattern.each if self.subject.pattern else (1, 1)

    def sentences(self) -> list[tuple[str, str]]:
        """Return headings and what stands under them."""
        shape, pattern = self.subject.shape, self.subject.pattern
        here = self.threads.block if self.threads else ""
        if not here:
            halo = anatomy_words.halo_words(shape, self.block)
            here = f"{anatomy_words.block_words(shape, self.block)} {halo}"
        if pattern is None:
            return [
                ("The launch", anatomy_words.grid_words(shape)),
                ("This block", here),
                ("Not described", anatomy_words.not_drawn(self.subject.rung)),
            ]
        library = anatomy_words.of_a_library(self.subject.rung)
        return [
            ("The launch", f"{anatomy_words.grid_words(shape)} {self._idle_words(pattern)}"),
            ("This block", here),
            *([("Not shown", library)] if library else []),
        ]

    def _idle_words(self, pattern: Pattern) -> str:
        shape = self.subject.shape
        if not is_idle_counted(pattern, shape):
            return anatomy_words.counting_words()
        return anatomy_words.idle_words(idle_of(pattern, shape, self.block))

    def steps_of(self, part: Part) -> tuple[Access, ...]:
        """Return what the block's threads do in one part of the launch."""
        return tuple(each for each in self.steps if part_of(each) == part)

    def part_words(self, part: Part) -> str:
        """Say what the block does in one part of the launch; of "compute" `thread_words` does."""
        reads = self.subject.shape.reads
        if part == "compute":
            return ""
        traffic = traffic_of(self.steps, reads)
        if part == "load":
            return anatomy_words.load_words(traffic, reads)
        return anatomy_words.share_words(traffic)

    def loaded_by_warp(self, step: Access, time: int) -> list[tuple[int, Rect]]:
        """Return what each lane of the warp loads or stores at a time, as samples of the picture.

        Pairs of a lane and its samples; none where the array is not laid out like the picture.
        """
        job, shape = self.subject.job, self.subject.shape
        if step.array != "picture" and (shape.layout is not None or step.array == "weights"):
            return []
        pitch = pitch_of(job.width, job.channels, int(job.picture.dtype.itemsize))
        places = of_warp(step.places(time), self.warp)
        return [
            (
                lane,
                Rect(place % pitch, place // pitch, place % pitch + step.width, place // pitch + 1),
            )
            for lane, place in enumerate(places.tolist())
            if place != NOWHERE and place % pitch < shape.picture.right
        ]

    def read_by_thread(self) -> list[Rect]:
        """Return the samples around those that the thread computes which count for them."""
        if self.thread is None or self.subject.shape.layout is not None:
            return []
        across, down = self.made_by_each
        halo = self.subject.shape.halo
        return [
            Rect(x, y, x + across, y + down).grown(*halo) for x, y in self.samples_of(self.thread)
        ]

    def tap(self, step: Access, time: int) -> Rect | None:
        """Return the sample that the thread reads for a tap; None where taps have no access."""
        own = self.sample_of(self.thread or 0)
        if own is None or step.words is not tap_words or not {"row", "column"} <= set(step.loops):
            return None
        at = dict(zip(step.loops, indices(step.loops, time), strict=True))
        x = own[0] + (at["column"] - step.loops["column"] // 2) * self.subject.channels
        y = own[1] + at["row"] - step.loops["row"] // 2
        return Rect(x, y, x + 1, y + 1)


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """The samples of the picture that one part of a launch touches, as far as they are known.

    lanes      what each lane of the warp loads at the time that is looked at
    reads      what counts for the samples that the thread computes
    tap        the one of these that is read at the time that is looked at
    is_shared  whether the block keeps anything in shared memory
    """

    part: Part
    lanes: tuple[tuple[int, Rect], ...] = ()
    reads: tuple[Rect, ...] = ()
    tap: Rect | None = None
    is_shared: bool = False


def marks_of(look: Look, part: Part, step: Access | None, time: int) -> Marks:
    """Return what `part` of a launch touches; step, time: the access that is looked at."""
    if part == "share":
        return Marks(part, is_shared=bool(look.steps_of("share")))
    if part == "load":
        return Marks(part, () if step is None else tuple(look.loaded_by_warp(step, time)))
    tap = None if step is None else look.tap(step, time)
    return Marks(part, reads=tuple(look.read_by_thread()), tap=tap)


def look_at(subject: Subject, x: int, y: int, known: Look | None = None) -> Look:
    """Look at the block and the thread that compute sample x of row y, or the nearest ones.

    known  an earlier look, of which the steps can be used again if it is at the same block
    """
    shape, pattern = subject.shape, subject.pattern
    block = shape.block_at(x, y)
    tile = shape.tile(block)
    if pattern is None:
        return Look(subject, block, (tile.left, tile.top), None, None)
    own = tile.clipped(shape.picture)
    x, y = min(max(x, own.left), own.right - 1), min(max(y, own.top), own.bottom - 1)
    across, down = pattern.round
    left = tile.left + (x - tile.left) // across * across
    top = tile.top + (y - tile.top) // down * down
    threads = _threads(subject, pattern, block, known)
    find = threads.picked or partial(_maker, pattern)
    return Look(subject, block, (left, top), find(x - left, y - top), threads)


def look_from(
    subject: Subject, block: Block, thread: int, known: Look | None = None
) -> Look | None:
    """Look at a thread of a block where numbers of a transform are computed.

    There, not all threads can be pointed at. None: there is no such block or thread.

    known  as of `look_at`
    """
    pattern = subject.pattern
    (across, down), threads = subject.shape.grid, subject.shape.threads
    is_there = 0 <= block[0] < across and 0 <= block[1] < down and 0 <= thread < threads
    if pattern is None or not is_there:
        return None
    tile = subject.shape.tile(block)
    mine = _threads(subject, pattern, block, known)
    return Look(subject, block, (tile.left, tile.top), thread, mine)


def _threads(subject: Subject, pattern: Pattern, block: Block, known: Look | None) -> Threads:
    is_known = known is not None and known.subject is subject and known.block == block
    return (known.threads if known and is_known else None) or pattern.of(block)


def _maker(pattern: Pattern, x: int, y: int) -> int:
    """Return the thread that computes sample x of row y of a round.

    It is the nearest one where none does, as of alpha that goes another way.
    """
    places = pattern.places
    across = _distance(places[..., 0], x, pattern.each[0])
    far = across + _distance(places[..., 1], y, pattern.each[1])
    far[places[..., 0] == NOWHERE] = np.iinfo(np.int64).max
    return int(far.min(0).argmin())


def _distance(first: Places, wanted: int, count: int) -> Places:
    return np.maximum(first - wanted, 0) + np.maximum(wanted - (first + count - 1), 0)


@dataclass(frozen=True, slots=True, eq=False)
class Lanes:
    """The sectors or banks that a warp's lanes touch at one time of an access.

    title     "Sector" or "Bank"
    groups    a number a sector or bank, to tell neighbours apart by; NOWHERE for none
    conflict  whether it has to wait for others, or they for it
    sentence  all of it
    """

    title: str
    groups: tuple[int, ...]
    conflict: tuple[bool, ...]
    sentence: str

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the bank of each lane, or which of the sectors touched, from 1; "" for none."""
        first = 1 if self.title == "Sector" else 0
        return tuple("" if each == NOWHERE else str(each + first) for each in self.groups)

    @property
    def legend(self) -> str:
        """Say what the two numbers of a lane are, and what its mark means."""
        marked = " Marked: bank conflict." if any(self.conflict) else ""
        return f"Small: lane. Large: {self.title.lower()}.{marked}"


def lanes_of(look: Look, step: Access, time: int) -> Lanes:
    """Return what the lanes of the look's warp touch at a time, from 0 to step.count - 1."""
    lanes = of_warp(step.places(time), look.warp)
    if step.memory == "global":
        found = coalescing(lanes, step.item_bytes, step.width)
        sector = found.sector
        touched = np.unique(sector[sector != NOWHERE])
        groups = np.where(sector == NOWHERE, NOWHERE, np.searchsorted(touched, sector))
        sentence = anatomy_words.coalescing_words(step, found)
        return Lanes("Sector", tuple(groups.tolist()), (False,) * LANES, sentence)
    met = conflicts(lanes, step.item_bytes, step.width)
    sentence = anatomy_words.conflict_words(step, met)
    return Lanes("Bank", tuple(met.bank.tolist()), tuple(met.in_conflict.tolist()), sentence)
