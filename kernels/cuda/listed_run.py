"""A list of steps on the device from end to end, timed as a whole: nothing leaves it in between."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from kernels.core.job import Job, Progress, Result, Results, Sampling
from kernels.core.step import OUTPUT
from kernels.cuda.device_pictures import Moved
from kernels.cuda.gpu import Gpu, in_words, timed_results, with_transfers
from kernels.cuda.launch import GRAPH_FROM, Launch, Program, captured
from kernels.rungs.cuda_text import header_parts, with_lines
from kernels.rungs.headers import knobs
from kernels.rungs.rung import Rung

BLOCK_XY, VECTOR = (128, 1), 4  # samples of a thread: see between_steps.cu
MAX_GRID_Y = 65_535


def filtering_list(
    gpu: Gpu,
    job: Job,
    runs: Sequence[tuple[Rung, Job]],
    sampling: Sampling,
    graph_from: int = GRAPH_FROM,
) -> Results:
    """Filter with each of `runs`, all launches between two events; yields as `Gpu.filtering` does.

    runs        a rung and its part for each of `job.runs`; of the parts' pictures only the shape
                counts
    graph_from  launches that are one CUDA graph, so that the gaps between them are shorter
    """
    yield Progress("compiling the whole list")
    programs = gpu.programs_of(runs)
    watch = gpu.watch()
    yield Progress("filtering the whole list")
    source, uploaded = yield from gpu.turns.doing(lambda: gpu.pictures.upload(job.picture))
    parts = [part for _, part in runs]
    listed = yield from gpu.turns.doing(
        lambda: gpu.with_room(lambda: ListLaunch(gpu, job, parts, programs, source, graph_from))
    )
    yield from timed_results(
        lambda: gpu.sample_ms(listed, sampling),
        lambda: listed.fetched(uploaded),
        lambda known, timing: replace(known, kernel=timing, health=watch.health()),
        sampling,
        watch.look,
        gpu.turns,
    )


class ListLaunch:
    """The launches of a list, ready on the device.

    parts       of the list: of their pictures only the shape and the type count
    programs    of the parts, no two with one constant memory
    source      (H, pitch) device array of the job's picture
    """

    def __init__(
        self,
        gpu: Gpu,
        job: Job,
        parts: Sequence[Job],
        programs: Sequence[Program],
        source: Any,
        graph_from: int = GRAPH_FROM,
    ) -> None:
        self.job, self._gpu, self._graph_from = job, gpu, graph_from
        self._graph: Any = None
        self._went_before = False
        self._launches: list[Launch] = []
        self._queue: list[Callable[[], None]] = []
        with gpu.using(in_words(job)):
            self.target = self._put(parts, programs, source)

    def _put(self, parts: Sequence[Job], programs: Sequence[Program], source: Any) -> Any:
        job, at = self.job, source
        is_wide = not job.is_rounded and job.pixel_type != "float32"
        if is_wide:
            at = self._gpu.pictures.empty(parts[0].picture)
            self._add("widen", job.pixel_type, source, at)
        before = at
        for program, part, run in zip(programs, parts, job.runs, strict=True):
            launch = self._gpu.launch_on(program, part, at)
            self._launches.append(launch)
            self._queue += launch.queue
            if run.blend != OUTPUT:
                target = launch.arrays["target"]
                self._add("blend", part.pixel_type, at, target, *map(np.float32, run.blend[:2]))
            at = launch.arrays["target"]
        if job.region is not None:
            shares = map(self._gpu.cp.asarray, job.region.shares(job.height, job.width))
            self._add("inside", parts[0].pixel_type, before, at, *shares)
        if is_wide:
            wide, at = at, self._gpu.pictures.empty(job.picture)
            self._add("narrow", job.pixel_type, wide, at)
        return at

    def _add(self, name: str, pixel_type: str, source: Any, target: Any, *shares: Any) -> None:
        """Queue a kernel of TEXT; shares: of the target, where it is mixed with the source."""
        job = self.job
        samples = job.width * job.channels
        options = _options(pixel_type, job.channels)
        function = self._gpu.cp.RawModule(code=TEXT, options=options).get_function(name)
        grid = (-(-samples // (VECTOR * BLOCK_XY[0])), min(job.height, MAX_GRID_Y))
        pitches = (each.shape[1] for each in ((target,) if shares else (source, target)))
        numbers = map(np.int32, (job.height, samples, *pitches))
        self._queue.append(partial(function, grid, BLOCK_XY, (source, target, *numbers, *shares)))

    def ready(self) -> Callable[[], None]:
        """Do what must not be timed; return a function that only queues the kernels."""
        for launch in self._launches:
            launch.program.bind(self._gpu.cp, launch.operands)
        # To a display's watchdog a graph may be one launch.
        is_worth_it = len(self._queue) >= self._graph_from and not self._gpu.device.watchdog
        # Kernels are loaded when they are first launched, which no graph can hold.
        if self._graph is None and self._went_before and is_worth_it:
            self._graph = captured(self._gpu.cp, self._go)
        self._went_before = True
        return self._go if self._graph is None else self._graph.launch

    def _go(self) -> None:
        for put in self._queue:
            put()

    def fetched(self, uploaded: Moved | None) -> Result:
        """The output of the last run, as a Result without a time."""
        gpu, job = self._gpu, self.job
        picture, downloaded = gpu.pictures.download(self.target, job.picture)
        with gpu.using(in_words(job)):
            ran = tuple(each for launch in self._launches for each in launch.ran())
        known = Result(job, picture, None, ran, device_name=gpu.device.name)
        return with_transfers(known, uploaded, downloaded)


_OWN = Path(__file__).with_name("between_steps.cu").read_text(encoding="utf-8")
TEXT = f"{with_lines(header_parts(()))}{_OWN}"


@cache
def _options(pixel_type: str, channels: int) -> tuple[str, ...]:
    """Options that compile TEXT behind the prelude: the same for all such pictures."""
    like = Job.of(np.zeros((1, 1, channels), pixel_type), np.ones((1, 1), np.float32))
    return ("-std=c++17", *(f"-D{name}={value}" for name, value in knobs(like).items()))
