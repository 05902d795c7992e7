"""One GPU as the engine uses it: its stream, the pictures on it, and a job's run.

Everything here belongs to the thread that made it.  CuPy is imported when a Gpu is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any, TypeVar
from weakref import ref

import numpy as np

from kernels.core.borders import RowStrip, strips_of
from kernels.core.device import Device, Occupancy
from kernels.core.device_turns import Turns, note_process, takes_turns
from kernels.core.errors import (
    CannotRunError,
    DeviceLostError,
    OutOfMemoryError,
    cuda_errors_in_words,
)
from kernels.core.health import Nvml, Watch
from kernels.core.job import Job, Progress, Ran, Result, Results, Sampled, Sampling
from kernels.core.sampling import Sampler
from kernels.core.timing import Timing, added_up
from kernels.cuda.device_pictures import DevicePictures, Moved, Transfers, measuring_transfers
from kernels.cuda.event_timer import CeilingBench, EventTimer
from kernels.cuda.launch import (
    Launch,
    Program,
    Programs,
    Ready,
    occupancy_on,
    prepare_launch,
    rows_a_strip,
)
from kernels.cuda.probing import leave_quietly
from kernels.rungs.rung import Rung


def timed_results(
    run_ms: Callable[[], float],
    fetch: Callable[[], Result],
    complete: Callable[[Result, Timing], Result],
    sampling: Sampling,
    look: Callable[[], None],
    turns: Turns,
) -> Results:
    """Run until `sampling` is met; yields a Result after the first run, now and then, and last.

    run_ms    runs it once, and says how many milliseconds that took
    fetch     brings the output of the last run, as a Result that has no time yet
    complete  gives that one the times of all runs so far
    look      looks after the GPU, when something has just run that was to be timed
    turns     on what it runs on; each run and each fetching has one of its own
    """
    is_shared = sampling.max_samples == 0  # with others that want the output alone
    samples = Sampler((yield from turns.doing(run_ms, shared=is_shared)), sampling, sampling.cache)
    known = yield from turns.doing(fetch, shared=is_shared)
    yield complete(known, samples.timing())  # before the first look: somebody may wait for it
    if samples.wants_more():
        while samples.wants_more():
            yield Sampled("timing", samples.timing())
            samples.add((yield from turns.doing(run_ms)))
            look()
            if samples.is_news():
                yield complete(known, samples.timing())
        # The answer to be checked is that of the last launch, which was timed.
        known = yield from turns.doing(fetch)
    if sampling.max_samples > 0:
        look()
    yield complete(known, samples.timing())


MEMORY_SHARE = 0.95  # of what is free: it is given out in pieces, and others want some too

# ... and of all there is: as much is free on a device that nobody else uses.
MODEL_SHARE = 0.85

TOO_LITTLE = "The GPU has too little memory for {}; use a smaller one or a CPU implementation."
T = TypeVar("T")
# Times of a Result that those of its strips add up to.
SUMMED = ("compile_ms", "upload_ms", "upload_copy_ms", "download_ms", "download_copy_ms")


class Gpu:
    """One device that runs jobs; raises only the errors of `kernels.core.errors`."""

    def __init__(self, device: Device) -> None:
        import cupy as cp

        self.cp = cp
        self.device = device
        self.turns = Turns([device])
        with self.turns.held(), cuda_errors_in_words("starting to use it"):
            cp.cuda.Device(device.index).use()
            self.stream = cp.cuda.Stream(non_blocking=True)
            with self.stream:
                self.timer = EventTimer(cp, device.l2_bytes)
            self.nvml = Nvml(cp.cuda.runtime.deviceGetPCIBusId(device.index), takes_turns)
            self.pictures = DevicePictures(cp, self.stream, self.using, self.with_room)
        self._programs = Programs(cp)
        self._sampled: ref[Ready] | None = None  # what the last sample was of
        note_process()

    def filtering(self, rung: Rung, job: Job, sampling: Sampling) -> Results:
        """Compile, upload, filter, download; then repeat the kernel for its timing.

        Where memory is short after all, in strips half as high, if those give the same bytes.
        """
        rows = self._rows_at_once(rung, job)
        while True:
            try:
                if rows == job.height:
                    yield from self._filtering_whole(rung, job, sampling)
                else:
                    yield from self._filtering_in_strips(rung, job, sampling, rows)
            except OutOfMemoryError:
                if rows == 1 or rung.strips_differ:
                    raise
            else:
                return
            self.forget()  # memory is short after all
            rows = -(-rows // 2)

    def _filtering_whole(self, rung: Rung, job: Job, sampling: Sampling) -> Results:
        if not self.has_compiled(rung, job):
            yield Progress(f"compiling {rung.title}")
        program, compile_ms = self.compile(rung, job)
        if not self.pictures.has(job.picture):
            yield Progress("uploading the picture")
        watch, is_shared = self.watch(), sampling.max_samples == 0
        source, uploaded = yield from self.turns.doing(
            lambda: self.pictures.upload(job.picture), shared=is_shared
        )
        yield Progress(f"filtering with {rung.title}")
        launch = yield from self.turns.doing(
            lambda: self.launch_on(program, job, source), shared=is_shared
        )

        yield from timed_results(
            lambda: self.sample_ms(launch, sampling),
            lambda: replace(self._fetched(launch, uploaded), compile_ms=compile_ms),
            lambda known, timing: replace(known, kernel=timing, health=watch.health()),
            sampling,
            watch.look,
            self.turns,
        )

    def _fetched(self, launch: Launch, uploaded: Moved | None) -> Result:
        """Download the output of the last run, as a Result without a time."""
        job = launch.job
        picture, downloaded = self.pictures.download(launch.arrays["target"], job.picture)
        with self.using(in_words(job)):
            ran = launch.ran()
        known = Result(job, picture, None, ran, device_name=self.device.name)
        return with_transfers(known, uploaded, downloaded)

    def _filtering_in_strips(self, rung: Rung, job: Job, sampling: Sampling, rows: int) -> Results:
        """Filter strips of `rows` rows; each is timed once, and the times are added up."""
        picture, watch = np.empty_like(job.picture), self.watch()
        done: list[Result] = []
        for strip in strips_of(job.height, rows, job.reach, job.border):
            yield Progress(f"filtering rows {strip.first + 1:,} to {strip.end:,} of {job.height:,}")
            part = job.but(picture=strip.of(job.picture))
            program, compile_ms = self.compile(rung, part)
            found = yield from self.turns.doing(
                partial(self._strip, program, part, strip, sampling),
                shared=sampling.max_samples == 0,
            )
            picture[strip.first : strip.end] = found.picture[strip.own]
            done.append(replace(found, compile_ms=compile_ms, picture=picture))
            watch.look()
        picture.flags.writeable = False
        sums: dict[str, Any] = {n: added_up(getattr(each, n) for each in done) for n in SUMMED}
        timing = Timing((sum(each.timed.median_ms for each in done),), sampling.cache, "single")
        health = watch.health()
        yield replace(done[0], job=job, kernel=timing, strips=len(done), health=health, **sums)

    def _strip(self, program: Program, job: Job, strip: RowStrip, sampling: Sampling) -> Result:
        """Filter one strip from start to end; the device's memory that it took is free again."""
        source, uploaded = self.pictures.upload(job.picture)
        launch = self.launch_on(program, job, source, (strip.own.start, strip.own.stop))
        runs = max(1, min(2, sampling.max_samples))
        samples_ms = [self.sample_ms(launch, sampling) for _ in range(runs)]
        timing = Timing((samples_ms[-1],), sampling.cache, "single")  # the first only warms up
        return replace(self._fetched(launch, uploaded), kernel=timing)

    def _rows_at_once(self, rung: Rung, job: Job) -> int:
        """As many rows as there is memory for, now or on any such device."""
        of_model = rows_a_strip(rung, job, self.device, int(MODEL_SHARE * self.device.memory_bytes))
        there = rows_a_strip(rung, job, self.device, self._room_bytes())
        if there < job.height:
            self.forget()
            there = rows_a_strip(rung, job, self.device, self._room_bytes())
        rows = there
        if rung.strips_differ:
            rows = of_model if of_model <= there else 0
        if rows:
            return rows
        if not of_model:  # and never will be
            raise CannotRunError(TOO_LITTLE.format("even one row of this picture"))
        what = f"all of this picture at once, as {rung.title} needs it"
        raise OutOfMemoryError(TOO_LITTLE.format(what if there else "even one row of this picture"))

    def _room_bytes(self) -> int:
        """Bytes of the device's memory that a job may take."""
        pool = self.cp.get_default_memory_pool()
        with self.using("looking for memory"):
            free, _ = self.cp.cuda.runtime.memGetInfo()
            limits = [self.device.memory_bytes, pool.get_limit() or self.device.memory_bytes]
            room = min(free + pool.free_bytes(), *(each - pool.used_bytes() for each in limits))
        return int(MEMORY_SHARE * (room + self.pictures.nbytes))

    def prepare(self, rung: Rung, job: Job) -> Launch:
        """Compile `rung`, upload the job's picture, and make ready all that a launch needs."""
        program, _ = self.compile(rung, job)
        source, _ = self.pictures.upload(job.picture)
        return self.launch_on(program, job, source)

    def launch_once(self, rung: Rung, job: Job) -> tuple[Ran, ...]:
        """Launch `rung` once, everything ready before, in an NVTX range that has its name."""
        with self.turns.held(), self.using(in_words(job)):
            launch = self.prepare(rung, job)
            go = launch.ready()
            self.stream.synchronize()
            self.cp.cuda.nvtx.RangePush(rung.key)
            try:
                go()
                self.stream.synchronize()
            finally:
                self.cp.cuda.nvtx.RangePop()
        return launch.ran()

    def transfers(self, job: Job) -> Iterator[Progress | Transfers]:
        """Measure what bringing job.picture to the device and back takes."""
        how = (int(job.picture.nbytes), self.using, self.with_room, self.turns)
        yield from measuring_transfers(self.cp, self.stream, *how)

    def ceilings(self) -> dict[str, float]:
        """The device's limits by name: see `CeilingBench.ceilings`."""

        def measure() -> dict[str, float]:
            with self.turns.held(), self.using("measuring what the GPU can do at most"):
                return CeilingBench(self.cp, self.timer, self.device).ceilings()

        return self.with_room(measure)

    def occupancy(self, rung: Rung, job: Job) -> Occupancy | None:
        """The occupancy of the job's first pass that is ours; None if all are a library's."""
        program, _ = self.compile(rung, job)
        with self.using(in_words(job)):
            return occupancy_on(self.cp, program, job, self.device)

    def answer(self) -> None:
        """Do next to nothing on the device; raise DeviceLostError where it does not answer."""
        with self.using("being tried again"):
            self.cp.cuda.runtime.memGetInfo()
            self.stream.synchronize()

    def forget(self) -> None:
        """Give back all device and page-locked memory that is not in use this moment."""
        self.pictures.forget()
        self._programs.forget()
        with self.using("giving back memory"):
            self.cp.get_default_memory_pool().free_all_blocks()
            self.cp.get_default_pinned_memory_pool().free_all_blocks()

    @contextmanager
    def using(self, doing: str) -> Iterator[None]:
        """Enter this device and this stream, and put failures into words.

        Also those of entering and leaving, which a device that is gone has as well.
        """
        device = self.cp.cuda.Device(self.device.index)
        try:
            with cuda_errors_in_words(doing), device, self.stream:
                yield
        except DeviceLostError:
            leave_quietly()
            raise

    def has_compiled(self, rung: Rung, job: Job) -> bool:
        """True if `compile` takes no time."""
        return self._programs.has(rung, job)

    def compile(self, rung: Rung, job: Job) -> tuple[Program, float | None]:
        """The program, and the milliseconds that took; None where it was there."""
        known = self.has_compiled(rung, job)
        start = perf_counter()
        with self.using(f"compiling {rung.title} for size {job.ksize}"):
            program = self._programs.get(rung, job)
        return program, None if known else (perf_counter() - start) * 1e3

    def programs_of(self, runs: Iterable[tuple[Rung, Job]]) -> list[Program]:
        """The programs of a list's steps, compiled: equal ones have a constant memory each."""
        usual: list[Program] = []
        found: list[Program] = []
        for rung, job in runs:
            program, _ = self.compile(rung, job)
            with self.using(f"compiling {rung.title} for size {job.ksize}"):
                found.append(self._programs.get(rung, job, usual.count(program)))
            usual.append(program)
        return found

    def launch_on(
        self,
        program: Program,
        job: Job,
        source: Any,
        rows: tuple[int, int] | None = None,
        target: Any = None,
    ) -> Launch:
        """Make ready all that a launch needs; `rows` as `prepare_launch` has them.

        target  (H, pitch) device array; None: a new one
        """

        def prepared() -> Launch:
            with self.using(in_words(job)):
                to = self.pictures.empty(job.picture) if target is None else target
                return prepare_launch(
                    self.cp, self._programs, program, job, self.device, source, to, rows
                )

        return self.with_room(prepared)

    def sample_ms(self, launch: Ready, sampling: Sampling) -> float:
        """Run `launch` once, and wait; the milliseconds between two events."""
        is_warm = self._sampled is not None and self._sampled() is launch
        is_warm = is_warm and not self.turns.are_anew
        self._sampled = ref(launch)
        with self.using(in_words(launch.job)):
            if sampling.cache == "warm" and sampling.max_samples and not is_warm:
                launch.ready()()  # what others left in the L2 goes
            return self.timer.sample_ms(launch.ready(), sampling.cache)

    def watch(self) -> Watch:
        return Watch(self.nvml, why_not_alone=lambda: self.turns.why_not_alone)

    def with_room(self, make: Callable[[], T]) -> T:
        """Call `make`, again after making room if there was none."""
        try:
            return make()
        except OutOfMemoryError:
            self.forget()
        return make()


def in_words(job: Job) -> str:
    """A name for filtering `job`, for errors."""
    x, y = job.block_xy
    return f"filtering {job.width}×{job.height} pixels in {x}×{y} blocks"


def with_transfers(result: Result, up: Moved | None, down: Moved) -> Result:
    """Add the times of transfers; up is None if the picture was there."""
    return replace(
        result,
        upload_ms=up and up.ms,
        upload_copy_ms=up and up.copy_ms,
        download_ms=down.ms,
        download_copy_ms=down.copy_ms,
    )
