"""Run any job on any implementation: the one door that scripts, command line and window use."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import cached_property, partial
from time import monotonic
from typing import Any

from numpy.typing import NDArray

from kernels.core.borders import RowStrip
from kernels.core.cache import all_finite, has_nan
from kernels.core.device import Device, NoDevice, Occupancy
from kernels.core.errors import (
    BadJobError,
    CannotRunError,
    DeviceLostError,
    KernelError,
    OutOfMemoryError,
    hint_of,
)
from kernels.core.job import Job, Pick, Progress, Ran, Region, Result, Results, Sampling
from kernels.core.nonlinear import Bilateral, Guided, Morphology, NonLocalMeans, Rank
from kernels.core.verdict import Tolerance
from kernels.cpu import HostImplementation, cpu_run, host_implementations
from kernels.cuda.device_pictures import Transfers
from kernels.cuda.gpu import Gpu
from kernels.cuda.launch import compiling_ahead
from kernels.cuda.probing import probe
from kernels.cuda.several_gpus import SharingGpus
from kernels.engine import list_ways
from kernels.engine.auto import AUTO, Picker, with_pick
from kernels.engine.own_kernel import OwnKernel
from kernels.engine.step_list import KeptRuns, list_filtering, parts_ahead
from kernels.oracle.checking import checking
from kernels.rungs.list_steps import tolerances
from kernels.rungs.own_kernels import is_own
from kernels.rungs.rung import BrokenRung, Rung, whole_ladder

Runnable = HostImplementation | Rung
Implementation = Runnable | BrokenRung
NEWS_S = 1 / 30  # how far a check is, is said no more often than it can be read
NOT_HERE = "{key} is a user kernel, which can only be filtered with, verified and timed."
NO_RUNG = "No rung can run this job, so the CPU does."
ONE_STEP = "A list of several steps is launched and picked for step by step: ask for one of them."


def all_implementations() -> tuple[Implementation, ...]:
    """Every implementation: CPU, slowest first, then the ladder, naive first."""
    return (*host_implementations(), *whole_ladder())


class Engine:
    """The one door to filtering; knows one GPU, or why there is none.

    Use it from one thread: CUDA's context, stream and arrays live and die there.

    device_index  which GPU
    others        those that take part where a job asks for several, in their order; None: all
                  others that there are
    use_gpu       False: behave as on a computer without one
    """

    def __init__(
        self, device_index: int = 0, *, others: Sequence[int] | None = None, use_gpu: bool = True
    ) -> None:
        self._device_index, self._others, self._use_gpu = device_index, others, use_gpu
        self.lost = ""
        self._has_run_own = False
        self._kept_runs = KeptRuns()

    def forget_runs(self) -> None:
        """Filter every step of the next list anew, however another one began."""
        self._kept_runs = KeptRuns()

    def close(self) -> None:
        """End the processes, if there are any, that ran user kernels on the GPU."""
        if self._has_run_own and isinstance(self.device, Device):
            from kernels.engine.own_run import end_children

            end_children(self.device)

    @cached_property
    def device(self) -> Device | NoDevice:
        """The GPU, or the reason why there is none; takes half a second the first time."""
        if not self._use_gpu:
            return NoDevice("The GPU was switched off with --no-gpu.")
        return self.find_device(self._device_index)

    def find_device(self, number: int) -> Device | NoDevice:
        """Look for the GPU of that number; takes half a second the first time."""
        return probe(number)

    @property
    def device_numbers(self) -> tuple[int, ...]:
        """The GPUs that may share a job, in the order in which they are taken."""
        return self._sharing.numbers if isinstance(self.device, Device) else ()

    def try_again(self) -> Device | NoDevice:
        """Look again for a GPU that failed or was not there.

        One that was out of reach may be back; after a failure that ends CUDA for this process it
        stays lost.  (Resetting the device would take away the page-locked memory of results.)
        """
        if isinstance(self.device, NoDevice):
            del self.device  # and look for it anew
        elif self.lost:
            self.lost = ""
            try:
                with self._noticing_loss():
                    self.gpu.answer()
            except DeviceLostError as error:
                return NoDevice(str(error), is_lost=True)
        self.__dict__.pop("_ceilings", None)  # without a GPU there were none
        return self.device

    def implementation(self, key: str) -> Runnable:
        """Find the implementation called `key`.

        Raises BadJobError if there is none, as for `auto`, which picks one, and CannotRunError for
        a rung whose file cannot be used, and for a user kernel, which only `filtering` and
        `why_not` take, as it must not run in this process.
        """
        if is_own(key):
            raise CannotRunError(NOT_HERE.format(key=key))
        found = self._named(key)
        if isinstance(found, BrokenRung):
            raise CannotRunError(found.reason)
        return found

    def _named(self, key: str) -> Implementation:
        for each in all_implementations():
            if each.key == key:
                return each
        known = (*(each.key for each in all_implementations()), AUTO.key)
        raise BadJobError(f"There is no implementation {key!r}; {hint_of(key, known)}")

    def why_not(self, job: Job) -> str | None:
        """The reason why job.implementation cannot run `job` here; None if it can."""
        if not job.is_one_launch:
            reasons = ((name, self.why_not(part)) for name, part in parts_ahead(job))
            return next((f"{name}{reason}" for name, reason in reasons if reason), None)
        if job.implementation == AUTO.key:
            return None  # it finds one that can
        if is_own(job.implementation):
            return OwnKernel.of(job).why_not(job, self._device_left)
        return self._why_not(self._named(job.implementation), job)

    def best_for(self, job: Job) -> str:
        """The key to run all of `job` with: `auto` where a rung can, else the best on the CPU."""
        return next(self._on_cpu(job)) if self.why_not_auto(job) else AUTO.key

    def why_not_auto(self, job: Job) -> str | None:
        """The reason why `auto` has no choice but the CPU; None where it has, for some step."""
        if reason := self._why_no_gpu():
            return reason
        picks = (self.picker.picks(part) for _, part in parts_ahead(job))
        return None if any(next(each, None) for each in picks) else NO_RUNG

    def picks(self, job: Job) -> Iterator[Pick]:
        """Picks of `auto` for `job`, the best first; last those on the CPU.

        Raises CannotRunError for a list, each step of which is picked for.
        """
        if not job.is_one_launch:
            raise CannotRunError(ONE_STEP)
        reason = self._why_no_gpu()
        if not reason:
            yield from self.picker.picks(job)
        for key in self._on_cpu(job):
            yield Pick(key, None, reason or NO_RUNG)

    @cached_property
    def picker(self) -> Picker:
        """The Picker for this GPU, which holds what was measured on it."""
        assert isinstance(self.device, Device)
        return Picker(self.device)

    def filtering(
        self, job: Job, sampling: Sampling | None = None, refused: Collection[Pick] = ()
    ) -> Results:
        """Filter, time and check, step by step.

        Yields Progress wherever it may be paused or stopped, every 20 ms or so on the CPU, and a
        Result whenever it knows more; the last one knows all.

        Of a list each step is filtered, timed and checked, unless what it gave is known from
        before, and then the whole: where all of it runs on one GPU, it is timed in one go, unless
        colours are weighted by alpha, which the CPU does.

        refused  picks that `auto` is not to take
        Raises the errors of `kernels.core.errors`: CannotRunError with the implementation's reason.
        """
        with closing(self._filtering(job, sampling or Sampling(), refused)) as steps:
            for step in steps:
                if isinstance(step, Result) and job.is_flat:  # NumPy would broadcast (H, W, 1)
                    step = replace(step, picture=step.picture.reshape(job.picture.shape[:2]))
                yield step

    def run(self, job: Job, sampling: Sampling | None = None) -> Result:
        """Filter, time and check in one go."""
        *_, last = (step for step in self.filtering(job, sampling) if isinstance(step, Result))
        return last

    def compiling(self, jobs: Iterable[Job]) -> Iterator[Progress]:
        """Compile what `jobs` need, on all cores; those that cannot run here are passed over."""
        wanted = []
        parts = (part for each in jobs for _, part in parts_ahead(each))
        for job in () if self._why_no_gpu() else parts:
            key = job.implementation
            rung = None if is_own(key) or key == AUTO.key else self._named(key)
            if isinstance(rung, Rung) and not self._why_not(rung, job):
                wanted.append((rung, job))
        if wanted and isinstance(self.device, Device):
            yield from compiling_ahead(self.device, wanted)

    def launch_once(self, job: Job) -> tuple[Ran, ...]:
        """Launch a rung once, for a profiler: in an NVTX range that has its name.

        Raises the errors of `kernels.core.errors`: CannotRunError for a list.
        """
        if not job.is_one_launch:
            raise CannotRunError(ONE_STEP)
        if job.implementation == AUTO.key and (reason := self._why_no_gpu()):
            raise CannotRunError(reason)
        rung, job = self._runnable(job)
        if not isinstance(rung, Rung):
            raise CannotRunError(f"{rung.title} runs on the CPU, so there is nothing to launch.")
        return self.gpu.launch_once(rung, job)

    def transfers(self, job: Job) -> Iterator[Progress | Transfers]:
        """Measure up- and download of job.picture, by its bytes alone; the last step is Transfers.

        Raises CannotRunError without a GPU and for a picture too large, OutOfMemoryError where
        there is no room to page-lock as much memory.
        """
        if reason := self._why_no_gpu():
            raise CannotRunError(reason)
        with self._noticing_loss():
            yield from self.gpu.transfers(job)

    def occupancy(self, job: Job) -> Occupancy | None:
        """Warps of job.implementation that fit on a multiprocessor.

        None on the CPU, for a list, and for what a library launches.  Raises the errors of
        `kernels.core.errors`.
        """
        if not job.is_one_launch:
            return None
        rung, job = self._runnable(job)
        if not isinstance(rung, Rung):
            return None
        with self._noticing_loss():
            return self.gpu.occupancy(rung, job)

    def _runnable(self, job: Job) -> tuple[Runnable, Job]:
        """What runs `job`, with the pick of `auto` in it.  Raises CannotRunError."""
        if job.implementation == AUTO.key:
            job = with_pick(job, next(self.picks(job)))
        found = self.implementation(job.implementation)
        if isinstance(found, Rung) and (reason := self._why_not(found, job)):
            raise CannotRunError(reason)
        return found, job

    def ceilings(self) -> dict[str, float]:
        """The GPU's limits by name, measured once: see `CeilingBench.ceilings`; none without one.

        Also none where it has no room for measuring.
        """
        return dict(self._ceilings)

    @cached_property
    def _ceilings(self) -> dict[str, float]:
        if not self._why_no_gpu():
            with self._noticing_loss(), suppress(OutOfMemoryError):
                return self.gpu.ceilings()
        return {}

    def _filtering(
        self, job: Job, sampling: Sampling, refused: Collection[Pick] = ()
    ) -> Generator[Progress | Result, None, None]:
        if not job.is_one_launch:
            yield from self._listed(job, sampling, refused)
            return
        if job.implementation == AUTO.key:
            yield from self.picking(job, sampling, refused)
            return
        if is_own(job.implementation):
            from kernels.engine.own_run import own_filtering

            self._has_run_own = True
            yield from own_filtering(job, self._device_left, sampling)
            return
        implementation = self.implementation(job.implementation)
        if reason := self._why_not(implementation, job):
            raise DeviceLostError(reason) if reason == self.lost else CannotRunError(reason)
        result: Result | None = None
        for step in self._running(implementation, job, sampling):
            result = step if isinstance(step, Result) else result
            yield step
        if result is not None and sampling.check:
            yield from checked(result, implementation.tolerance(job), sampling.check_taps)

    def _listed(self, job: Job, sampling: Sampling, refused: Collection[Pick]) -> Results:
        """Filter a list, step by step, and hold what it gives at the end against the reference."""
        kept = KeptRuns() if refused else self._kept_runs  # what they gave may be there
        filtering = partial(self._filtering, refused=refused)
        result: Result | None = None
        with closing(list_filtering(job, sampling, kept, filtering)) as steps:
            for step in steps:
                result = step if isinstance(step, Result) else result
                yield step
        assert result is not None
        step_by_step = result
        is_wanted = sampling.max_samples or job.list_way in list_ways.LIST_RUNGS
        if is_wanted and isinstance(self._device_left, Device):
            result = yield from self._in_one_go(result, self._device_left, sampling)
        if sampling.check:
            for step in checked(result, self.tolerance(result), sampling.check_taps):
                result = step if isinstance(step, Result) else result
                yield step
        is_right = result.check is None or result.check.ok
        if is_right and list_ways.LIST_RUNGS.keys() & {result.list_way} - {job.list_way}:
            # Samples are those of the steps, timed or not and on whatever device.
            yield replace(result, picture=step_by_step.picture)

    def _in_one_go(
        self, steps: Result, device: Device, sampling: Sampling
    ) -> Generator[Progress | Result, None, Result]:
        """Run a list that ran step by step as a whole; without the memory for it that is all."""
        result, job = steps, steps.job
        runs = self.on_one_gpu(steps)
        is_here = job.devices == 1 and all(self._ran_here(each) for each in steps.steps)
        way, why_other = list_ways.way_of(job, runs, device) if is_here else ("", "")
        if way:
            with suppress(OutOfMemoryError), self._noticing_loss():
                for step in list_ways.running(way, self.gpu, job, runs, sampling):
                    if isinstance(step, Result):
                        step = replace(step, steps=steps.steps, list_way=way, why_other=why_other)
                        step = result = replace(step, compile_ms=steps.compile_ms)
                    yield step
        return result

    def _ran_here(self, step: Result) -> bool:
        """True if a rung of the ladder ran it on the GPU."""
        key = step.implementation
        return not is_own(key) and isinstance(self.implementation(key), Rung)

    def on_one_gpu(self, result: Result) -> list[tuple[Rung, Job]]:
        """What ran each step of a list, and its job; empty where not all of it can be launches."""
        runs: list[tuple[Rung, Job]] = []
        on_cpu = result.job.opaque is not None or any(each.is_grey for each in result.job.steps)
        for each in result.steps if not on_cpu else ():
            if not self._ran_here(each) or each.strips > 1 or each.job.devices > 1:
                return []
            rung = self.implementation(each.implementation)
            assert isinstance(rung, Rung)
            runs.append((rung, _as_run(each)))
        return runs

    def tolerance(self, result: Result) -> Tolerance | tuple[Tolerance, ...]:
        """The error that `result` may have, for `checking`; of a list that of each of its steps."""
        if result.list_way in list_ways.LIST_RUNGS:
            return tolerances(result.job)
        return tuple(map(self._tolerance, result.steps)) or self._tolerance(result)

    def _tolerance(self, result: Result) -> Tolerance:
        if is_own(result.implementation):
            return OwnKernel.of(result.job).tolerance(result.job)
        return self.implementation(result.implementation).tolerance(_as_run(result))

    def picking(self, job: Job, sampling: Sampling, refused: Collection[Pick] = ()) -> Results:
        """Filter with the best there is for `job`; with the next best where that one fails.

        A lack of memory is no such failure: another time there is more, and the next best may
        round otherwise.  Takes no pick that is `refused`.
        """
        failure: KernelError | None = None
        ways = [(each.implementation, each.block_xy) for each in refused]
        for best in self.picks(job):
            if (best.implementation, best.block_xy) in ways:
                continue
            why = best.why if failure is None else f"the first choice failed: {failure}"
            pick = replace(best, why=why)
            try:
                for step in self.filtering(with_pick(job, pick), sampling):
                    if isinstance(step, Result):
                        step = replace(step, job=job, picked=pick)
                    yield step
            except (DeviceLostError, OutOfMemoryError):  # of memory there may be more
                raise
            except KernelError as error:
                failure = error
                continue
            return
        raise failure or CannotRunError("No implementation can run this job.")

    @property
    def _device_left(self) -> Device | NoDevice:
        """The GPU, or why there is none, or none any more."""
        return NoDevice(self.lost, is_lost=True) if self.lost else self.device

    def _why_no_gpu(self) -> str:
        return self.lost or (self.device.reason if isinstance(self.device, NoDevice) else "")

    def _on_cpu(self, job: Job) -> Iterator[str]:
        parts = [part for _, part in parts_ahead(job)]
        hosts = reversed(host_implementations())
        return (each.key for each in hosts if not any(map(each.why_not, parts)))

    def _why_not(self, implementation: Implementation, job: Job) -> str | None:
        is_by_order = isinstance(job.filter, Rank | Morphology)
        if is_by_order and has_nan(job.picture) and has_nan(job.colours):
            return f"The picture holds NaN, which has no place in the order that {job.title} makes."
        smooths = isinstance(job.filter, Bilateral | NonLocalMeans | Guided)
        if smooths and not all_finite(job.picture):
            return f"The picture holds NaN or infinity, which {job.title} cannot average."
        if isinstance(implementation, HostImplementation):
            return implementation.why_not(job)  # without looking for a GPU, which takes a while
        reason = self.lost or implementation.why_not(job, self.device)
        if not reason and job.devices > 1 and isinstance(implementation, Rung):
            return self._sharing.why_not(implementation, job)
        return reason

    def _running(self, implementation: Runnable, job: Job, sampling: Sampling) -> Results:
        if isinstance(implementation, HostImplementation):
            yield from cpu_run.filtering(implementation, job, sampling)
            return
        with self._noticing_loss():
            gpus = self.gpu if job.devices == 1 else self._sharing.first(job.devices)
            yield from gpus.filtering(implementation, job, sampling)

    @contextmanager
    def _noticing_loss(self) -> Iterator[None]:
        """Remember a lost GPU: nothing is asked of it again."""
        try:
            yield
        except DeviceLostError as error:
            self.lost = str(error)
            raise

    @cached_property
    def gpu(self) -> Gpu:
        """The GPU's driver; only where `device` is one."""
        assert isinstance(self.device, Device)
        return Gpu(self.device)

    @cached_property
    def _sharing(self) -> SharingGpus:
        """The GPUs that can share a job; only where `device` is one."""
        assert isinstance(self.device, Device)
        return SharingGpus(self.device, self._others, self.find_device, lambda: self.gpu)


def _as_run(result: Result) -> Job:
    return with_pick(result.job, result.picked) if result.picked else result.job


def checked(
    result: Result, tolerance: Tolerance | Sequence[Tolerance], max_taps: int | None
) -> Results:
    """Hold the result against the reference; the last step is the same result with its check."""
    doing, next_s = "", 0.0
    for check in checking(result.job, result.picture, tolerance, max_taps):
        share = check.checked / check.total
        if monotonic() >= next_s or share == 1:
            doing = f"verifying against the float64 reference: {100 * share:.0f} %"
            next_s = monotonic() + NEWS_S
        yield Progress(doing)
        result = replace(result, check=check)
    yield result


ROUNDS_OTHERWISE = (
    "{title} rounds otherwise in strips than over the whole picture, for which too little memory "
    "is free; close other programs, or choose another implementation, such as shared."
)


class PickRefusedError(KernelError):
    """The pick of the first strip cannot run a later one; another has to run all of them."""

    def __init__(self, pick: Pick, reason: str) -> None:
        super().__init__(reason)
        self.pick = pick


class StripFilter:
    """The filtering of every strip of a picture that is nowhere whole, for the engine's thread.

    The implementation is chosen for the first strip and kept, so that no seam shows where two round
    differently.  Where the pick rejects a later strip, as of NaN, the next one filters all again.

    like        a job with the strips' weights, pixel type and channels; its picture does not count
    named       the implementation; None, or auto: the best that can run it, or of a list's steps
                those of `like`
    check_taps  of `Sampling`, for each strip; 0: none is checked
    pick        what `auto` picked; None: the first strip decides
    refused     picks that cannot run all strips
    for_now     reject what rounds otherwise in strips: the whole would fit another time
    region      the part of the whole picture that is filtered; None: all
    """

    def __init__(
        self,
        engine: Engine,
        like: Job,
        named: str | None = None,
        check_taps: int | None = 0,
        *,
        pick: Pick | None = None,
        refused: frozenset[Pick] = frozenset(),
        for_now: bool = False,
        region: Region | None = None,
    ) -> None:
        self._engine, self._like, self._region = engine, like, region
        self._named = None if named == AUTO.key else named
        self._sampling = Sampling(
            max_samples=0, cache="warm", check=check_taps != 0, check_taps=check_taps
        )
        self.pick, self._refused, self._for_now = pick, refused, for_now
        self._ways: list[tuple[str, Pick | None]] = []  # of a list in the first strip

    def filtering(self, picture: NDArray[Any], strip: RowStrip) -> Results:
        """Filter a strip's picture; the last step is its Result, and `Result.check` if wanted.

        Raises the errors of `kernels.core.errors`, and PickRefusedError.
        """
        job = replace(self._like, picture=picture, strip=strip, region=self._region)
        if self._named is not None:
            self._reject_strips(self._named)
            steps = (replace(each, implementation=self._named) for each in job.steps)
            yield from self._engine.filtering(replace(job, steps=tuple(steps)), self._sampling)
        elif not job.is_one_launch:  # each step picks for itself, alike in all strips
            for step in self._engine.filtering(job, self._sampling, self._refused):
                if isinstance(step, Result):
                    self._keep_to_the_ways(step)
                yield step
        elif self.pick is not None:
            yield from self._as_picked(job, self.pick)
        else:
            for step in self._engine.picking(job, self._sampling, self._refused):
                if isinstance(step, Result) and step.picked is not None:
                    self._reject_strips(step.picked.implementation)
                    self.pick = step.picked
                yield step

    def _keep_to_the_ways(self, result: Result) -> None:
        ways = [(each.name, each.picked) for each in result.steps]
        self._ways = self._ways or ways
        for (first, pick), (name, _) in zip(self._ways, ways, strict=True):
            if pick is not None and first != name:
                raise PickRefusedError(pick, f"{first} cannot run all strips.")
        for each in result.steps:
            self._reject_strips(each.implementation)

    def _as_picked(self, job: Job, pick: Pick) -> Results:
        try:
            for step in self._engine.filtering(with_pick(job, pick), self._sampling):
                yield replace(step, picked=pick) if isinstance(step, Result) else step
        except CannotRunError as error:
            raise PickRefusedError(pick, str(error)) from error

    def _reject_strips(self, key: str) -> None:
        """Raise OutOfMemoryError where strips would have other bytes than the whole picture."""
        if self._for_now and not is_own(key):
            implementation = self._engine.implementation(key)
            if isinstance(implementation, Rung) and implementation.strips_differ:
                raise OutOfMemoryError(ROUNDS_OTHERWISE.format(title=implementation.title))
