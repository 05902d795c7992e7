"""The scheduler that owns CUDA: it filters the picture in view, and measures beside that.

The order: the part of a large picture in view, the picture and the trial of a user kernel in turns,
the search for a GPU, the baseline's timing, comparison, sweep, and last the repeated timing of a
job that ran only once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import count
from time import monotonic
from typing import Any

from PySide6.QtCore import QObject, Signal, Slot

from kernels.core.device import Device, NoDevice
from kernels.core.device_turns import Waiting
from kernels.core.errors import DeviceLostError, KernelError, OutOfMemoryError
from kernels.core.job import Job, Progress, Result, Sampling
from kernels.core.timing import ENOUGH_SAMPLES, Cache
from kernels.engine.engine import Engine
from workbench.base.background import report
from workbench.imaging.display import show
from workbench.imaging.display_mapping import DisplayMapping
from workbench.session.tasks import Scheduler, Task

MakeSteps = Callable[[Engine], Iterator[Any]]

# A superseded job continues while newer requests keep coming, so that a dragged slider always has a
# picture to show; once the newest has waited this long, the hand rests and the old job gives way.
REST_S = 0.15
PAINTING_S = 0.01  # how long the window may take to show a result
HELD_S = 1.0  # analyses in view are done by then, except for the largest pictures
# As many samples as are needed, and enough for an interval.
BASELINE_SAMPLING = Sampling(
    min_samples=ENOUGH_SAMPLES, max_samples=100, max_seconds=2.0, noise=0.01
)
AGAIN_SAMPLING = Sampling(min_samples=3, max_samples=20, max_seconds=30.0, noise=0.01)
TOO_LARGE_TO_SHOW = "This computer has too little memory to show the result; use a smaller picture."
LIVE, DEVICE = "the picture in view", "the search for a GPU"
# Urgencies; several repeated timings go below the last.
REGION, PICTURE, SEARCH, BASELINE, COMPARISON, SWEEP, AGAIN = range(7, 0, -1)


class LongTask(QObject):
    """A kind of computation with the engine, in view or beside it.

    Signals:
        stepped(step): whatever the computation yields but None: Progress, Record and the like.
        paused(is_paused): it stands still from now on, or continues.
        ended(error, is_complete): it is over; the KernelError that ended it, or None.
    """

    stepped = Signal(object)
    paused = Signal(bool)
    ended = Signal(object, bool)

    def __init__(self, worker: Worker, purpose: str, urgency: int) -> None:
        super().__init__(worker)
        self._worker, self._purpose, self._urgency = worker, purpose, urgency

    def start(self, make: MakeSteps, number: int = 0) -> None:
        """Request a computation in place of that with this number; smaller numbers go first."""
        tell = self.stepped.emit, self.ended.emit, self.paused.emit
        name, urgency = f"{self._purpose} {number}", self._urgency - number
        self._worker.put(
            Task(name, lambda: make(self._worker.engine), *tell, urgency, self._purpose)
        )

    @Slot()
    def cancel(self) -> None:
        """End the computation that runs at its next step, and drop those that wait."""
        self._worker.drop(self._purpose)

    @Slot(bool)
    def pause(self, is_paused: bool) -> None:
        """Let the computation stand still, or continue; ignored where there is none."""
        self._worker.pause(self._purpose, is_paused)


class Worker(Scheduler):
    """A thread that runs one job at most; of those requested meanwhile only the newest waits.

    Attributes:
        device: the latest Device or NoDevice; None before the first.
        region, comparison, sweep: long computations, the most urgent first.
        baseline, again: idle timings; they emit checked Results.

    Signals, all in the order things happened:
        device_found(device): the Device or NoDevice, at the start; again whenever it failed, after
            `failed`, and whenever it was tried again.
        progressed(doing): what the live job is doing, "" when nothing.
        computed(result): one that is made fit for the screen next.
        filtered(result, display, look): a picture, and later the same with more known about it;
            the display has this look.
        settled(result): the last word on a job, and no other was requested.
        failed(error): the live job ended with a KernelError, or the GPU was lost.
    """

    device_found = Signal(object)
    progressed = Signal(str)
    computed = Signal(object)
    filtered = Signal(object, object, object)
    settled = Signal(object)
    failed = Signal(object)

    def __init__(self, make_engine: Callable[[], Engine], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.device: Device | NoDevice | None = None  # only the GUI thread touches it
        self.device_found.connect(self._keep_device)  # before anybody else hears of it
        self._numbers = count()  # of repeated timings
        self.region = LongTask(self, "a region in view", REGION)
        self.baseline = LongTask(self, "the baseline's time", BASELINE)
        self.comparison = LongTask(self, "a comparison", COMPARISON)
        self.sweep = LongTask(self, "a sweep", SWEEP)
        self.again = LongTask(self, "the time of a picture", AGAIN)
        self._wanted: tuple[Job, DisplayMapping, Sampling] | None = None
        self._wanted_since = 0.0
        self._is_held = self._is_awaited = False
        # Only the thread itself touches these.
        self._make_engine = make_engine
        self._engine: Engine | None = None
        self._has_shown = self._knows_device = False
        self.try_device()

    # -- what the GUI thread may call

    def request(
        self, job: Job, look: DisplayMapping | None = None, sampling: Sampling | None = None
    ) -> None:
        """Filter `job` next, in place of one that still waits.

        look  how to show the result; None: from black to white, as its pixel type has them
        """
        with self._wake:
            self._wanted_since, self._is_awaited = monotonic(), False
            self._wanted = (job, look or DisplayMapping(), sampling or Sampling())
            self._forget_timings()
            self._wake.notify()

    def expect(self, is_awaited: bool) -> None:
        """Stop the live job and let all but a region and trials wait, or no longer."""
        with self._wake:
            self._is_awaited = is_awaited
            if is_awaited:
                self._wanted = None
                self.drop(LIVE)
                self._forget_timings()
            self._wake.notify()

    def request_baseline(self, job: Job) -> None:
        """Time `job` when no picture is waited for, in place of another baseline."""
        self.baseline.start(partial(_timing, job, BASELINE_SAMPLING))

    def request_again(self, job: Job, cache: Cache) -> None:
        """Time `job`, which ran once, when nothing else is left; the next request drops it."""
        sampling = replace(AGAIN_SAMPLING, cache=cache)
        self.again.start(partial(_timing, job, sampling), next(self._numbers))

    def hold(self, is_held: bool) -> None:
        """Let the timing of a result wait for analyses in view, HELD_S at most."""
        with self._wake:
            self._is_held = is_held
            self._wake.notify()

    def try_device(self) -> None:
        """Try once more a GPU that failed, or was not there; `device_found` follows."""
        self.put(
            Task(DEVICE, self._finding, self.device_found.emit, lambda *_: None, urgency=SEARCH)
        )

    @property
    def gpu(self) -> Device | None:
        """The GPU; None: there is none, or it is looked for."""
        return self.device if isinstance(self.device, Device) else None

    @Slot(object)
    def _keep_device(self, device: Device | NoDevice) -> None:
        self.device = device

    def _forget_timings(self) -> None:
        for timing in (self.baseline, self.again):
            timing.cancel()

    def _end_live(self, error: KernelError | None, _is_complete: bool) -> None:
        is_lost = isinstance(error, DeviceLostError)
        if error is not None and (is_lost or not self._is_awaited):
            self.failed.emit(error)

    # -- the thread itself

    @property
    def engine(self) -> Engine:
        """The engine, made at its first use; for computations."""
        if self._engine is None:
            self._engine = self._make_engine()
        return self._engine

    def run(self) -> None:
        """Drive the tasks, then close the engine; Qt calls it, on the thread."""
        super().run()
        if self._engine is not None:
            try:
                self._engine.close()
            except Exception as error:  # noqa: BLE001 - carried to the GUI thread, not swallowed
                report(error)

    def _has_work(self) -> bool:
        return self._wanted is not None or super()._has_work()

    def _may_step(self, task: Task) -> bool:
        return super()._may_step(task) and (not self._is_awaited or task.urgency >= SEARCH)

    def _prepare(self) -> None:
        """Begin the newest job, unless the one before is to show its picture first."""
        super()._prepare()
        with self._wake:
            is_over = LIVE not in self._tasks or self._has_shown
            may_begin = is_over or monotonic() - self._wanted_since > REST_S
            if self._wanted is not None and may_begin:
                steps, self._wanted = partial(self._filtering, *self._wanted), None
                self._has_shown = False
                tell = (lambda step: self.progressed.emit(step.doing)), self._end_live
                self.put(Task(LIVE, steps, *tell, urgency=PICTURE, purpose=LIVE))

    def _filtering(
        self, job: Job, look: DisplayMapping, sampling: Sampling
    ) -> Iterator[Progress | None]:
        """Filter a job, and show its picture, then the same with more known about it."""
        last, display = None, None
        try:
            for step in self._steps(job, sampling):
                if self._is_awaited:
                    return  # no longer awaited
                if isinstance(step, Progress):
                    yield step
                    continue
                last, is_first = step, display is None
                if display is None:
                    self.computed.emit(step)
                    try:
                        display = show(step.picture, look)
                    except MemoryError as error:
                        raise OutOfMemoryError(TOO_LARGE_TO_SHOW) from error
                self.filtered.emit(step, display, look)
                if is_first:
                    self._has_shown = True
                    # The interpreter is the window's for a moment, lest both wait for each other.
                    self._rest(PAINTING_S)
                    if self._is_held:
                        self._rest(HELD_S, lambda: not self._is_held)
                        self._rest(PAINTING_S)  # then the analysis is painted
                yield None
        except Exception:
            self.progressed.emit("")
            raise
        with self._wake:
            is_settled = self._wanted is None
        if is_settled:
            self.progressed.emit("")
            self.settled.emit(last)

    def _steps(self, job: Job, sampling: Sampling) -> Iterator[Progress | Result]:
        """Filter a job; a list at first without the times and checks of its steps.

        Its picture would have to wait for them.
        """
        if not job.is_one_launch:
            yield from self.engine.filtering(job, replace(sampling, max_samples=0, check=False))
        yield from self.engine.filtering(job, sampling)

    def _rest(self, seconds: float, is_over: Callable[[], bool] = lambda: False) -> None:
        """Wait, unless there is news; a trial of a user kernel continues."""
        until = monotonic() + seconds
        while (left := until - monotonic()) > 0:
            with self._wake:
                self._wake.wait_for(
                    lambda: self._has_news() or is_over() or self._trial is not None, left
                )
                if self._has_news() or is_over():
                    return
                if (trial := self._trial) is not None:
                    trial.has_begun = True
            if trial is not None:
                self._step(trial)

    @property
    def _trial(self) -> Task | None:
        urgent = (each for each in self._tasks.values() if each.urgency == PICTURE)
        return next((each for each in urgent if each.name != LIVE), None)

    def _has_news(self) -> bool:
        new = (each.urgency for each in self._tasks.values() if not each.has_begun)
        is_news = any(urgency in (REGION, COMPARISON, SWEEP) for urgency in new)
        return is_news or self._wanted is not None or self._is_closing or bool(self._left)

    def _finding(self) -> Iterator[Device | NoDevice]:
        engine, is_known = self.engine, self._knows_device
        self._knows_device = True
        yield engine.try_again() if is_known else engine.device

    def _end(
        self, task: Task, error: KernelError | None = None, *, is_complete: bool = False
    ) -> None:
        super()._end(task, error, is_complete=is_complete)
        if isinstance(error, DeviceLostError):
            if task.urgency == BASELINE or task.urgency <= AGAIN:
                self.failed.emit(error)  # any other failure means that there is no such time
            self._knows_device = True
            self.drop(DEVICE)
            self.device_found.emit(NoDevice(str(error), is_lost=True))


def _timing(job: Job, sampling: Sampling, engine: Engine) -> Iterator[Result | Progress | None]:
    for step in engine.filtering(job, sampling):
        is_checked = isinstance(step, Result) and step.check is not None
        yield step if is_checked or isinstance(step, Waiting) else None
