"""The one thread that computes and owns CUDA: it drives generators, the most urgent first.

Every computation is a generator that yields wherever it may be put aside (see
`kernels.engine.engine`), so one thread is enough.  The order: the part of a large picture in view,
the picture and the trial of a user kernel in turns, the baseline's timing, comparison, sweep, and
last the repeated timing of a job that ran only once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from threading import Condition
from time import monotonic
from typing import Any

from PySide6.QtCore import QObject, QThread, Signal, Slot

from kernels.core.device import Device, NoDevice
from kernels.core.device_turns import Waiting, purpose
from kernels.core.errors import DeviceLostError, KernelError, OutOfMemoryError
from kernels.core.job import Job, Progress, Result, Sampling
from kernels.core.timing import ENOUGH_SAMPLES, Cache
from kernels.engine.engine import Engine
from workbench.base.background import TOO_LITTLE_MEMORY, report
from workbench.imaging.display import Display, show
from workbench.imaging.display_mapping import DisplayMapping
from workbench.session.tasks import MakeSteps, PreemptibleTask, StepQueue, close_all

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
TIMING = "the time of a picture"
TOO_LARGE_TO_SHOW = "This computer has too little memory to show the result; use a smaller picture."


class Worker(QThread):
    """A thread that runs one job at most; of those requested meanwhile only the newest waits.

    Attributes:
        device: the latest Device or NoDevice; None before the first.
        trials: of user kernels on the GPU.
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
        self._make_engine = make_engine
        self._wake = Condition()  # guards the requests below
        self._wanted: tuple[Job, DisplayMapping, Sampling] | None = None
        self._wanted_since = 0.0
        self._is_held = self._is_awaited = False
        self._wants_device = True  # at the start, to know it
        self._closing = False
        self.trials = StepQueue(self._wake, self)
        self.baseline = PreemptibleTask(TIMING, self._wake, self)
        self.again = PreemptibleTask(TIMING, self._wake, self)
        self.region = PreemptibleTask("a region in view", self._wake, self)
        self.comparison = PreemptibleTask("a comparison", self._wake, self)
        self.sweep = PreemptibleTask("a sweep", self._wake, self)
        self._tasks = (self.region, self.baseline, self.comparison, self.sweep, self.again)
        # Only the thread itself touches these.
        self._engine: Engine | None = None
        self._live: _Live | None = None
        self._knows_device = False
        self._was_live = False  # the last of the picture's and a trial's steps

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

    def expect(self, is_awaited: bool) -> None:
        """Stop the live job and let all but a region wait, or no longer."""
        with self._wake:
            self._is_awaited = is_awaited
            if is_awaited:
                self._wanted = None
                self._forget_timings()
            self._wake.notify()

    def request_baseline(self, job: Job) -> None:
        """Time `job` when no picture is waited for, in place of another baseline."""
        self.baseline.start(_timing(job, BASELINE_SAMPLING))

    def request_again(self, job: Job, cache: Cache) -> None:
        """Time `job`, which ran once, when nothing else is left; the next request drops it."""
        self.again.add(_timing(job, replace(AGAIN_SAMPLING, cache=cache)))

    def hold(self, is_held: bool) -> None:
        """Let the timing of a result wait for analyses in view, HELD_S at most."""
        with self._wake:
            self._is_held = is_held
            self._wake.notify()

    def try_device(self) -> None:
        """Try once more a GPU that failed, or was not there; `device_found` follows."""
        with self._wake:
            self._wants_device = True
            self._wake.notify()

    @Slot(object)
    def _keep_device(self, device: Device | NoDevice) -> None:
        self.device = device

    def _forget_timings(self) -> None:
        for timing in (self.baseline, self.again):
            timing.cancel()

    def close(self) -> None:
        """Stop at the next step, and wait for the thread."""
        self.trials.stop()  # first: the thread's last step closes what that leaves
        with self._wake:
            self._closing = True
            self._wake.notify()
        self.wait()

    # -- the thread itself

    def run(self) -> None:
        """Do the most urgent step until `close` is called; Qt calls it, on the thread."""
        while not self._closing:
            self._attempt(self._do_next)
        self._drop_tasks()
        if self._engine is not None:
            self._attempt(self._engine.close)

    def _do_next(self) -> None:
        """Wait for work, and do the most urgent step that need not wait."""
        with self._wake:
            self._wake.wait_for(lambda: self._closing or self._has_work())
        if self._closing:
            return
        engine = self._engine = self._engine or self._made_engine()
        self._take_requests(engine)
        for step in self._by_urgency(engine):
            if not step():
                return

    def _made_engine(self) -> Engine:
        try:
            return self._make_engine()
        except Exception:
            with self._wake:  # or it would be tried again at once, and for ever
                self._wanted, self._wants_device = None, False
                dropped = [each for each in self._tasks if each.forget()]
            self.trials.forget()
            for task in dropped:
                task.ended.emit(None, False)
            raise

    def _by_urgency(self, engine: Engine) -> Iterator[Callable[[], bool]]:
        """Yield what may be done; each does one step, and returns True if it waits for the device.

        The picture and the trial of a user kernel take turns: both are waited for, and while the
        one is busy in a process of its own the other steps.
        """
        region, *others = (partial(self._step_task, each) for each in self._tasks)
        if self.region.can_step:
            yield region
        both = [self._step_trial, self._step_live]
        for step in both if self._was_live else reversed(both):
            if self.trials.has_work if step == self._step_trial else self._live is not None:
                self._was_live = step == self._step_live
                yield step
        if self._wants_device:
            yield partial(self._find_device, engine)
        if not self._is_awaited:
            yield from (each for each in others if each.args[0].can_step)

    def _take_requests(self, engine: Engine) -> None:
        """Turn requests into tasks; close superseded ones without the lock, as they may wait."""
        wanted, left = None, list[Iterator[Any] | None]()
        with self._wake:
            if self._is_awaited:
                left.append(self._drop_live())
            is_over = self._live is None or self._live.has_shown
            may_begin = is_over or monotonic() - self._wanted_since > REST_S
            if self._wanted is not None and may_begin:
                wanted, self._wanted = self._wanted, None
                left.append(self._drop_live())
            over = [each.take(engine) for each in self._tasks]
        close_all(left)
        if wanted is not None:
            self._live = _Live(engine, *wanted)
        for task, ended in zip(self._tasks, over, strict=True):
            if ended:
                close_all(ended)
                task.ended.emit(None, False)
            task.emit_pause()

    def _has_work(self) -> bool:
        is_live = self._live is not None or self.region.has_work or self.trials.has_work
        if self._wants_device or is_live:
            return True
        if self._is_awaited:
            return False
        return self._wanted is not None or any(each.has_work for each in self._tasks)

    def _step_trial(self) -> bool:
        with purpose("a trial of a user kernel"):
            self.trials.step()
        return False

    def _step_live(self) -> bool:
        assert self._live is not None
        step = None
        try:
            with purpose("the picture in view"):
                step = next(self._live.steps, None)
            if self._is_awaited:
                return False  # no longer awaited
            if isinstance(step, Progress):
                if step.doing != self._live.doing:
                    self._live.doing = step.doing
                    self.progressed.emit(step.doing)
            elif step is not None:
                is_first = not self._live.has_shown
                if is_first:
                    self.computed.emit(step)
                self.filtered.emit(step, self._live.show(step), self._live.look)
                if is_first:
                    self._let_paint()
            else:
                last, self._live = self._live.last, None
                with self._wake:
                    is_settled = self._wanted is None
                if is_settled:
                    self.progressed.emit("")
                    self.settled.emit(last)
        except (KernelError, MemoryError) as error:
            self._live = None
            self.progressed.emit("")
            if not self._is_awaited or isinstance(error, DeviceLostError):
                self._fail(error, self.failed.emit)
        return isinstance(step, Waiting)

    def _let_paint(self) -> None:
        """Leave the interpreter for a moment to the window, lest both wait for each other."""
        self._rest(PAINTING_S)
        if self._is_held:
            self._rest(HELD_S, lambda: not self._is_held)
            self._rest(PAINTING_S)  # then the analysis is painted

    def _rest(self, seconds: float, is_over: Callable[[], bool] = lambda: False) -> None:
        """Wait, unless there is news; a trial of a user kernel continues."""
        until = monotonic() + seconds
        while (left := until - monotonic()) > 0:
            with self._wake:
                self._wake.wait_for(
                    lambda: self._has_news() or is_over() or self.trials.has_work, left
                )
                if self._has_news() or is_over():
                    return
            if self.trials.has_work:
                self._step_trial()

    def _has_news(self) -> bool:
        """Return True if there is a request that does not wait with the timing."""
        is_requested = self._wanted is not None or (self._wants_device and self._knows_device)
        tasks = (self.region, self.comparison, self.sweep)
        return is_requested or self._closing or any(each.has_request for each in tasks)

    def _step_task(self, task: PreemptibleTask) -> bool:
        try:
            with purpose(task.purpose):
                is_over = not task.step()
        except (KernelError, MemoryError) as error:

            def tell(error: KernelError) -> None:
                self._end_task(task, error, False)
                # Any other failure of a timing only means that there is no such time.
                if task.purpose == TIMING and isinstance(error, DeviceLostError):
                    self.failed.emit(error)

            self._fail(error, tell)
            return False
        if is_over:
            self._end_task(task, None, True)
        return task.waits and not is_over

    def _end_task(
        self, task: PreemptibleTask, error: KernelError | None, is_complete: bool
    ) -> None:
        with self._wake:  # from here on a cancel comes too late
            steps = task.drop()
        close_all([steps])
        task.ended.emit(error, is_complete)

    def _fail(self, error: KernelError | MemoryError, tell: Callable[[KernelError], None]) -> None:
        """Report an expected failure, and a lost GPU."""
        if isinstance(error, MemoryError):
            error = OutOfMemoryError(TOO_LITTLE_MEMORY)
        tell(error)
        if isinstance(error, DeviceLostError):
            self._show_device(NoDevice(str(error), is_lost=True))

    def _find_device(self, engine: Engine) -> bool:
        self._show_device(engine.try_again() if self._knows_device else engine.device)
        return False

    def _show_device(self, device: Device | NoDevice) -> None:
        with self._wake:
            self._wants_device = False
        self._knows_device = True
        self.device_found.emit(device)

    def _attempt(self, step: Callable[[], None]) -> None:
        """Do something; a bug ends all tasks and is shown, and the thread lives on."""
        try:
            step()
        except Exception as error:  # noqa: BLE001 - carried to the GUI thread, not swallowed
            running = [each for each in self._tasks if each.is_running]
            self._drop_tasks()
            self.progressed.emit("")
            for each in running:
                self._end_task(each, None, False)
            report(error)

    def _drop_tasks(self) -> None:
        with self._wake:
            left = [self._drop_live(), *(each.drop() for each in self._tasks)]
        close_all(left)
        if self._closing:
            self.trials.step()  # closes what is left

    def _drop_live(self) -> Iterator[Any] | None:
        live, self._live = self._live, None
        return None if live is None else live.steps


class _Live:
    """The job whose picture the user waits for."""

    def __init__(self, engine: Engine, job: Job, look: DisplayMapping, sampling: Sampling) -> None:
        self.steps = engine.filtering(job, sampling)
        self.doing = ""
        self.last: Result | None = None
        self.look = look
        self._display: Display | None = None

    @property
    def has_shown(self) -> bool:
        return self._display is not None

    def show(self, result: Result) -> Display:
        """Make the Display of the picture, only once.  Raises OutOfMemoryError."""
        self.last = result
        if self._display is None:
            try:
                self._display = show(result.picture, self.look)
            except MemoryError as error:
                raise OutOfMemoryError(TOO_LARGE_TO_SHOW) from error
        return self._display


def _timing(job: Job, sampling: Sampling) -> MakeSteps:
    """Make a job's timing, of which only checked Results are told."""

    def steps(engine: Engine) -> Iterator[Any]:
        for step in engine.filtering(job, sampling):
            is_checked = isinstance(step, Result) and step.check is not None
            yield step if is_checked or isinstance(step, Waiting) else None

    return steps
