"""A list of steps on the device from end to end, timed as a whole: nothing leaves it in between."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from kernels.core.borders import Span
from kernels.core.job import Job, Progress, Result, Results, Sampling
from kernels.core.step import OUTPUT
from kernels.cuda.device_pictures import Moved
from kernels.cuda.gpu import Gpu, in_words, timed_results, with_transfers
from kernels.cuda.launch import GRAPH_FROM, Launch, Program, captured
from kernels.rungs.cuda_text import header_parts, with_lines
from kernels.rungs.headers import knobs, pitch_of
from kernels.rungs.rung import Rung

BLOCK_XY, VECTOR = (128, 1), 4  # samples of a thread: see between_steps.cu
MAX_GRID_Y = 65_535
LANES = 2  # strips that are under way at a time, so that the end of one launch is no gap
L2_SHARE = 0.75  # of the cache, for what lies between: with less, launches cost more than it saves
# Above and below the rows that a strip needs: a block brings its tile's last rows, needed or not.
SPARE_ROWS = 64


def filtering_list(
    gpu: Gpu,
    job: Job,
    runs: Sequence[tuple[Rung, Job]],
    sampling: Sampling,
    *,
    in_strips: bool = False,
) -> Results:
    """Filter with each of `runs`, all launches between two events; yields as `Gpu.filtering` does.

    runs       a rung and its part for each of `job.runs`; of the parts' pictures only the shape
               counts
    in_strips  whether all steps of a few rows go before those of the next, so that what lies
               between steps stays in the L2 cache; see `why_no_strips`
    """
    yield Progress("compiling the whole list")
    programs = gpu.programs_of(runs)
    watch = gpu.watch()
    yield Progress("filtering the whole list")
    source, uploaded = yield from gpu.turns.doing(lambda: gpu.pictures.upload(job.picture))
    parts = [part for _, part in runs]
    rows = rows_in_l2(job, gpu.device.l2_bytes) if in_strips else job.height
    listed = yield from gpu.turns.doing(
        lambda: gpu.with_room(lambda: ListLaunch(gpu, job, parts, programs, source, rows))
    )
    yield from timed_results(
        lambda: gpu.sample_ms(listed, sampling),
        lambda: listed.fetched(uploaded),
        lambda known, timing: replace(known, kernel=timing, health=watch.health()),
        sampling,
        watch.look,
        gpu.turns,
    )


def why_no_strips(job: Job, rungs: Sequence[Rung]) -> str:
    """The reason why a list cannot run strip by strip, a sentence; empty where it can."""
    for rung in rungs:
        whole = (e for e in rung.passes if e.library or e.grid or e.covers[1] == "HEIGHT")
        if rung.buffers or any(whole):
            return f"{rung.title} works on whole pictures, and not on a few rows of them."
        if rung.strips_differ:
            return f"{rung.title} rounds otherwise where rows begin elsewhere."
    if job.border == "wrap":
        return "A picture that wraps around needs its last rows for the first ones."
    return "" if len(job.runs) > 1 else "There is one step only."


def rows_in_l2(job: Job, l2_bytes: int) -> int:
    """Rows of a strip, a multiple of 32: what lies between its steps stays in the L2 cache."""
    sizes = ((np.dtype(kind).itemsize, count) for kind, count in places_of(job).items())
    row_bytes = sum(n * size * pitch_of(job.width, job.channels, size) for size, n in sizes)
    rows = int(L2_SHARE * l2_bytes) // (LANES * row_bytes) - 2 * job.reach
    return max(rows // 32, 1) * 32


def places_of(job: Job) -> dict[str, int]:
    """How many pictures of each pixel type lie between the steps: two that take turns, or one."""
    # What was there, with which a part is mixed, is in the picture itself unless it is wide.
    wide = job.is_wide * (2 + (job.region is not None))
    kept = min(job.wide_from if job.is_wide else len(job.runs) - 1, 2)
    return {"float32": wide, job.pixel_type: kept}


def rows_needed(job: Job, rows: Span) -> tuple[Span, ...]:
    """The rows of the picture, and of each of `job.runs`, that `rows` of the last are made of."""
    return tuple((max(rows[0] - halo, 0), min(rows[1] + halo, job.height)) for halo in job.halos)


class ListLaunch:
    """The launches of a list, ready on the device.

    parts       of the list: of their pictures only the shape and the type count
    programs    of the parts, no two with one constant memory
    source      (H, pitch) device array of the job's picture
    rows        of a strip; None: the whole picture is one
    """

    def __init__(
        self,
        gpu: Gpu,
        job: Job,
        parts: Sequence[Job],
        programs: Sequence[Program],
        source: Any,
        rows: int | None = None,
    ) -> None:
        self.job, self._gpu = job, gpu
        self._graph: Any = None
        self._went_before = False
        self._launches: list[Launch] = []
        self._queues: list[list[Callable[[], None]]] = []  # beside one another
        self._parts, self._programs, self._source = parts, programs, source
        rows = rows or job.height
        strips = [(at, min(at + rows, job.height)) for at in range(0, job.height, rows)]
        with gpu.using(in_words(job)):
            self.target = gpu.pictures.empty(job.picture)
            for lane in range(min(LANES, len(strips))):
                self._put_lane(strips[lane::LANES])

    def _put_lane(self, strips: Sequence[Span]) -> None:
        """Queue strips one after another; what lies between their steps is in the same places."""
        needed = [rows_needed(self.job, strip) for strip in strips]
        high = max(end - first for each in needed for first, end in each)
        height = self.job.height
        count = min(high + 2 * SPARE_ROWS, height)
        places = places_of(self.job)
        room = {
            kind: [self._gpu.pictures.empty(like, count - 1) for _ in range(places[kind])]
            for kind, like in {e.pixel_type: e.picture[:1] for e in self._parts}.items()
        }
        self._queues.append([])
        for each in needed:
            # As if they were whole pictures, of which only those rows are there.
            first = min(max(each[0][0] - SPARE_ROWS, 0), height - count)
            seen = partial(virtual, self._gpu.cp, first, height=height)
            self._put(each, {kind: list(map(seen, arrays)) for kind, arrays in room.items()})

    def _put(self, needed: Sequence[Span], places: Mapping[str, Sequence[Any]]) -> None:
        job, at = self.job, self._source
        before = at  # that a part is mixed with
        if job.is_wide and job.region is not None:
            before = places["float32"][-1]
            self._add("widen", job.pixel_type, needed[0], at, before)
        of_each = zip(self._programs, self._parts, job.runs, needed[1:], strict=True)
        for number, (program, part, run, rows) in enumerate(of_each):
            kept = places[part.pixel_type]
            if number == job.wide_from:
                wide = before if not number and job.region is not None else kept[(number + 1) % 2]
                if wide is not before:
                    self._add("widen", job.pixel_type, needed[number], at, wide)
                at = wide
            is_end = number + 1 == len(job.runs) and not job.is_wide
            target = self.target if is_end else kept[number % 2]
            launch = self._gpu.launch_on(program, part, at, rows, target)
            self._launches.append(launch)
            self._queues[-1] += launch.queue
            if run.blend != OUTPUT:
                mix = map(np.float32, run.blend[:2])
                self._add("blend", part.pixel_type, rows, at, target, *mix)
            at = target
        if job.region is not None:
            shares = [self._gpu.cp.asarray(e) for e in job.region.shares(job.height, job.width)]
            shares[0] = shares[0][needed[-1][0] :]
            self._add("inside", self._parts[-1].pixel_type, needed[-1], before, at, *shares)
        if job.is_wide:
            self._add("narrow", job.pixel_type, needed[-1], at, self.target)

    def _add(
        self, name: str, pixel_type: str, rows: Span, source: Any, target: Any, *more: Any
    ) -> None:
        """Queue a kernel of TEXT for `rows`; more: shares, where target is mixed with source."""
        job = self.job
        samples, count = job.width * job.channels, rows[1] - rows[0]
        options = _options(pixel_type, job.channels)
        function = self._gpu.cp.RawModule(code=TEXT, options=options).get_function(name)
        grid = (-(-samples // (VECTOR * BLOCK_XY[0])), min(count, MAX_GRID_Y))
        pitches = (each.shape[1] for each in ((target,) if more else (source, target)))
        numbers = map(np.int32, (count, samples, *pitches))
        arrays = source[rows[0] :], target[rows[0] :]
        self._queues[-1].append(partial(function, grid, BLOCK_XY, (*arrays, *numbers, *more)))

    def ready(self) -> Callable[[], None]:
        """Do what must not be timed; return a function that only queues the kernels."""
        for launch in self._launches[: len(self._parts)]:  # those of other strips are the same
            launch.program.bind(self._gpu.cp, launch.operands)
        # Its gaps between launches are shorter; to a display's watchdog it may be one launch.
        count = sum(map(len, self._queues))
        is_worth_it = count >= GRAPH_FROM and not self._gpu.device.watchdog
        # Kernels are loaded when they are first launched, which no graph can hold.
        if self._graph is None and self._went_before and is_worth_it:
            self._graph = captured(self._gpu.cp, self._go)
        self._went_before = True
        return self._go if self._graph is None else self._graph.launch

    def _go(self) -> None:
        """Queue one lane on the current stream, and the others beside it."""
        first, *others = self._queues
        stream = self._gpu.stream
        start = stream.record() if others else None
        for queue, beside in zip(others, self._beside, strict=True):
            beside.wait_event(start)
            with beside:
                for put in queue:
                    put()
        for put in first:
            put()
        for beside in self._beside:
            stream.wait_event(beside.record())

    @cached_property
    def _beside(self) -> list[Any]:
        return [self._gpu.cp.cuda.Stream(non_blocking=True) for _ in self._queues[1:]]

    def fetched(self, uploaded: Moved | None) -> Result:
        """The output of the last run, as a Result without a time."""
        gpu, job = self._gpu, self.job
        picture, downloaded = gpu.pictures.download(self.target, job.picture)
        with gpu.using(in_words(job)):
            ran = tuple(e for launch in self._launches[: len(self._parts)] for e in launch.ran())
        known = Result(job, picture, None, ran, device_name=gpu.device.name)
        return with_transfers(known, uploaded, downloaded)


def virtual(cp: Any, first: int, rows: Any, height: int) -> Any:
    """A picture of `height` rows on the device, of which only those in `rows` are there.

    first  the number of the first one; no others may be read or written, not even the picture's
           first row in place of one that a border has not
    """
    if len(rows) == height:
        return rows
    pitch = rows.shape[1]
    start = rows.data - first * pitch * rows.itemsize
    return cp.ndarray((height, pitch), rows.dtype, start)


_OWN = Path(__file__).with_name("between_steps.cu").read_text(encoding="utf-8")
TEXT = with_lines(header_parts(("blends",))) + _OWN


@cache
def _options(pixel_type: str, channels: int) -> tuple[str, ...]:
    """Options that compile TEXT behind the prelude: the same for all such pictures."""
    like = Job.of(np.zeros((1, 1, channels), pixel_type), np.ones((1, 1), np.float32))
    return ("-std=c++17", *(f"-D{name}={value}" for name, value in knobs(like).items()))
