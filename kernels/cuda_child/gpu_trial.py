"""Try a user kernel on the GPU: guarded, verified, and only then timed.

It runs in a child, in stages under deadlines: a crop, some rows of it, a strip, the whole twice,
with different poison.  Then it is timed with input that it has not seen, and every timed output is
verified.  The reference is computed here, never there, beside the child's work.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache
from time import monotonic
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kernels.core.device import Device, Occupancy
from kernels.core.device_turns import Waiting, run_with_progress, takes_turns
from kernels.core.health import Nvml, Watch
from kernels.core.job import Job, Progress, Ran, Sampling
from kernels.core.poison import is_as_before, order_in_words, same_bits, unwritten_in_words
from kernels.core.sampling import Sampler
from kernels.core.timing import Cache
from kernels.cuda.launch import FP32_LANES, WATCHDOG_EFFICIENCY
from kernels.cuda_child import verification, worker_pool
from kernels.cuda_child.verification import Reference, Verification
from kernels.cuda_on_cpu import regions
from kernels.cuda_on_cpu.compile_errors import as_gnu, diagnostics_of
from kernels.cuda_on_cpu.findings import Built, KernelTrial
from kernels.cuda_on_cpu.regions import Region, Rows
from kernels.cuda_on_cpu.shared_run import layout_of
from kernels.rungs.rung import Rung

CROP = (64, 64)
STRIP_ROWS = 64  # at least
STRIPS = 16  # of which one foretells the time of all
MIN_DEADLINE_S = 0.5
SLOWER_THAN_PLAIN = 20  # times: then it is ended
AGAIN = 2  # more times it is run, at most, before it is rejected for being slow
WATCHDOG_S = 1.0  # that a launch may take where a display hangs on the GPU
MAX_TIMING_S = 1.0  # for all samples, with bringing their pictures there and back
MAX_WAITING = 256 << 20  # bytes of pictures and outputs that wait for their check
LOOK_S = 0.002  # between two looks at whether checks are done
STARTING = Progress("starting the process that runs kernels on the GPU")
VERIFYING = Progress("verifying against the float64 reference")
OWN_SAMPLING = Sampling(max_samples=9, max_seconds=0.1)

Stage = Literal["a part", "a strip", "the whole"]
Steps = Generator[Progress | KernelTrial, None, None]


def gpu_trial(
    rung: Rung, job: Job, *, children: worker_pool.WorkerPool, sampling: Sampling = OWN_SAMPLING
) -> Steps:
    """Run a kernel on a job, in one of these children, which it may crash.

    The last that is yielded is the outcome.
    """
    checks = verification.take(job, sampling)
    trial = _Trial(rung, job, sampling, checks)
    try:
        child = yield from run_with_progress(children.taking(), STARTING)
        try:
            yield from trial.run(child, once_compiled=children.keep_spare)
        finally:
            children.give_back(child)
    except worker_pool.RunEndedError as error:
        known = replace(trial.known, kernel=None, problem=str(error), line=error.line)
        diagnostics = diagnostics_of(as_gnu(rung, error.log), rung)
        yield replace(known, diagnostics=diagnostics, log=error.log)
    finally:
        verification.put_back(checks)  # references of the job are kept for the next source


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    ms: float
    answer: NDArray[Any]
    printed: str


class _Trial:
    """The stages of a trial, in their order.  Each raises RunEndedError where it ends badly.

    known  the outcome so far
    """

    _child: worker_pool.GpuWorker
    _device: Device

    def __init__(self, rung: Rung, job: Job, sampling: Sampling, checks: Verification) -> None:
        self._rung, self._job, self._sampling, self._checks = rung, job, sampling, checks
        whole = Region(0, 0, job.width, job.height, True)
        self.known = KernelTrial(job, whole, on_gpu=True)
        self._waited_s = 0.0  # that the run in hand waited for its turn on the device

    def run(self, child: worker_pool.GpuWorker, once_compiled: Callable[[], None]) -> Steps:
        """Try it in a child; yield what is known as soon as there is more of it."""
        assert child.facts is not None
        if reason := self._rung.why_not(self._job, child.facts):
            raise worker_pool.RunEndedError(reason)
        assert isinstance(child.facts, Device)
        self._child, self._device = child, child.facts
        plain_s = slowest_s(self._job, self._device)
        self._deadline_s = max(MIN_DEADLINE_S, SLOWER_THAN_PLAIN * plain_s)
        self._nvml = _nvml(child.facts.uuid)
        yield (yield from self._built())
        once_compiled()
        of_rows = yield from self._tried_small()
        first = yield from self._run(self._job, "the whole")
        again = yield from self._run(self._job, "the whole", turn=1)
        problem = self._difference(first.answer, again.answer) or of_rows
        self._check(self._job, again.answer, self._checks.whole())
        # While it is shown it is being checked.
        yield self._now(answer=again.answer, printed=again.printed)
        is_timed = self._sampling.max_samples > 0 and not problem
        with closing(self._timed(again.ms) if is_timed else self._checking()) as steps:
            for step in steps:
                if self.known.check is None and self._checks.done:
                    yield self._now(problem=problem, check=self._checks.done[0])
                    if not self.known.ok:
                        return
                elif isinstance(step, Progress):
                    yield step
        if is_timed:
            yield self._now(kernel=self._timing, health=self._watch.health())

    def _now(self, **more: Any) -> KernelTrial:
        self.known = replace(self.known, **more)
        return self.known

    # ---- Its stages. ----------------------------------------------------------------------------

    def _built(self) -> Generator[Progress, None, KernelTrial]:
        def prepare() -> None:
            self._checks.begin()
            self._nvml.look()  # opens it

        said = yield from self._compiled(self._job, prepare)
        facts = ("compile_ms", "registers", "local_bytes", "shared_bytes")
        built = Built(
            **{name: said[name] for name in facts},
            occupancy=said["occupancy"] and Occupancy(**said["occupancy"]),
            ran=tuple(Ran(**worker_pool.with_tuples(each)) for each in said["ran"]),
        )
        return self._now(built=built, device_name=self._device.name)

    def _tried_small(self) -> Generator[Progress, None, str]:
        crop = regions.part_of(self._job, CROP)
        run = yield from self._run(crop, "a part")
        of_rows = yield from self._some_rows(crop, run.answer)
        rows = min(max(STRIP_ROWS, self._job.height // STRIPS), self._job.height)
        strip = regions.part_of(self._job, (self._job.width, rows))
        yield from self._estimated(crop, "a part", run.ms, strip, "a strip")
        run = yield from self._run(strip, "a strip")
        yield from self._estimated(strip, "a strip", run.ms, self._job, "the whole")
        return of_rows

    def _some_rows(self, crop: Job, whole: NDArray[Any]) -> Generator[Progress, None, str]:
        rows = regions.rows_to_try(crop.height)
        try:
            some = yield from self._run(crop, "a part", rows=rows)
        except worker_pool.RunEndedError as error:
            error.args = (f"{error} {regions.launched_for(rows)}",)
            raise
        as_before = self._as_before(crop, some.answer, 0)
        words, _ = yield from regions.rows_fault(
            self._rung, crop, rows, whole, some.answer, as_before
        )
        return words.format(who="The kernel")

    def _estimated(
        self, small: Job, small_stage: Stage, small_ms: float, large: Job, large_stage: Stage
    ) -> Generator[Progress, None, None]:
        """Reject a kernel that would take too long for `large`, by its time for `small`.

        Others may have used the GPU meanwhile: a kernel that seems too slow runs on `small` again.
        """
        times = _samples(large) / _samples(small) / 1e3  # and seconds, of milliseconds
        left = AGAIN
        while reason := self._too_long(large_stage, small_ms * times):
            if not left:
                raise worker_pool.RunEndedError(reason)
            left -= 1
            run = yield from self._run(small, small_stage)
            small_ms = min(small_ms, run.ms)

    def _too_long(self, stage: Stage, seconds: float) -> str:
        """The sentence that rejects a kernel of this estimate; "": it may run."""
        words = f"Estimated time {worker_pool.in_seconds(seconds)} for {stage} of the picture"
        if self._device.watchdog and seconds > WATCHDOG_S:
            return (
                f"{words}: a display hangs on {self._device.name}, which would stand still as "
                f"long, and {worker_pool.in_seconds(WATCHDOG_S)} is the limit; use a smaller "
                "picture."
            )
        if seconds > self._deadline_s:
            limit = worker_pool.in_seconds(self._deadline_s)
            return f"{words} exceeds the limit {limit} ({SLOWER_THAN_PLAIN} × the naive kernel)."
        return ""

    def _difference(self, first: NDArray[Any], again: NDArray[Any]) -> str:
        """The sentence on how two runs with different poison differ; "": they do not."""
        if same_bits(first, again):  # then nothing is poison, which differs
            return ""
        # A sample that differs between runs may equal both poisons, and was written then.
        never = self._as_before(self._job, first, 0) & self._as_before(self._job, again, 1)
        return order_in_words(first, again, never) or unwritten_in_words(never)

    def _timed(self, first_ms: float) -> Generator[Progress, None, None]:
        """Time it; a failure counts only where the output for the picture itself is right."""
        try:
            yield from self._sampled(first_ms)
        except worker_pool.RunEndedError:
            yield from self._checking(first_alone=True)
            raise

    def _sampled(self, first_ms: float) -> Generator[Progress, None, None]:
        """Time it with a fresh picture each time; check some tiles of each output, all of one.

        No kernel can tell which one that will be.
        """
        sampling, self._watch = self._sampling, Watch(self._nvml)
        random = np.random.default_rng()
        samples = Sampler(first_ms, sampling, sampling.cache)
        count, is_one_whole, until = 0, False, monotonic() + MAX_TIMING_S
        while count == 0 or (samples.wants_more() and monotonic() < until):
            self._waited_s = 0.0
            unseen, turn = self._checks.unseen(), int(random.integers(0, 2))
            run = yield from self._run(unseen.job, "the whole", turn, sampling.cache)
            count += 1
            if samples.wants_more():
                samples.add(run.ms)
            else:  # it takes that long; yet its picture was not fresh
                samples = Sampler(run.ms, sampling, sampling.cache)
            self._watch.look()
            self._check(unseen.job, run.answer, unseen.reference)
            is_one_whole = is_one_whole or unseen.is_whole
            begun = monotonic()
            if self._checks.left * 2 * run.answer.nbytes > MAX_WAITING:
                yield from self._checking()
            self._reject_wrong()
            until += self._waited_s + monotonic() - begun
        if not is_one_whole:
            self._check(unseen.job, run.answer)
        yield from self._checking()
        self._reject_wrong()
        timing = samples.timing()
        self._timing = timing if timing.ended else replace(timing, ended="time")

    def _check(self, job: Job, answer: NDArray[Any], reference: Reference = ()) -> None:
        self._checks.add(job, answer, self._rung.tolerance(job), reference)

    def _checking(self, *, first_alone: bool = False) -> Generator[Progress, None, None]:
        """Wait for the checks that are left, or for the first of all; yield once they are done."""
        is_over = False
        while not is_over:
            self._checks.wait(LOOK_S)
            is_over = not self._checks.left or (first_alone and bool(self._checks.done))
            yield VERIFYING

    def _reject_wrong(self) -> None:
        for check in self._checks.done[1:]:
            if not check.ok:
                raise worker_pool.RunEndedError(
                    "The output is right for the picture, and wrong for another one, with which it "
                    f"was timed: {check}. A kernel must compute each output anew."
                )

    # ---- In the child. --------------------------------------------------------------------------

    def _compiled(
        self, job: Job, meanwhile: Callable[[], None] = lambda: None
    ) -> Generator[Progress, None, dict[str, Any]]:
        doing = Progress(f"compiling {self._rung.title}")
        yield doing
        steps = self._child.serving(
            worker_pool.Request.of("compile", self._rung, job), once_sent=meanwhile
        )
        return (yield from run_with_progress(steps, doing))

    def _run(
        self, job: Job, stage: Stage, turn: int = 0, cache: Cache = "cold", rows: Rows | None = None
    ) -> Generator[Progress, None, _Run]:
        """Run it once; nothing may have been written but the answer."""
        if self._rung.defines(job) != self._rung.defines(self._job):
            yield from self._compiled(job)
        request = worker_pool.Request.of("run", self._rung, job, rows=rows, turn=turn, cache=cache)
        doing = Progress(f"running {self._rung.title} on {stage} of the picture")
        yield doing
        steps = self._child.running(request, job.picture, self._deadline_s)
        since = monotonic()

        def where() -> Progress:
            if self._child.waits:
                self._waited_s = monotonic() - since
                return Waiting(self._child.waits)
            return doing

        said, answer = yield from run_with_progress(steps, where)
        if said["broken_rule"]:
            raise worker_pool.RunEndedError(said["broken_rule"])
        return _Run(said["ms"], answer, said["printed"])

    def _as_before(self, job: Job, answer: NDArray[Any], turn: int) -> NDArray[np.bool_]:
        layout = layout_of(self._rung, job, self._device)
        return is_as_before(answer, layout.unwritten(job, turn))


@cache
def _nvml(uuid: str) -> Nvml:
    return Nvml(uuid, takes_turns)


def slowest_s(job: Job, device: Device) -> float:
    """Seconds that the naive kernel stays below, by the most that the device can do."""
    per_s = device.multiprocessors * FP32_LANES * device.clock_khz * 1e3 * WATCHDOG_EFFICIENCY
    return _samples(job) * job.ksize**2 / per_s


def _samples(job: Job) -> int:
    return job.width * job.height * job.channels
