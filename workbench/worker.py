"""The one thread that computes, and owns CUDA: it drives generators, the most urgent first.

Every computation is a generator that yields wherever it may be put aside (`kernels.engine`), so
one thread is enough: a picture the user waits for goes before the baseline's timing, that before
a sweep, and a pause costs none of them anything but time.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from threading import Condition
from time import monotonic
from typing import Any

from PySide6.QtCore import QObject, QThread, Signal

from kernels.engine import Engine
from kernels.errors import KernelError, OutOfMemoryError
from kernels.job import Job, Progress, Result, Sampling
from workbench.display import Display, to_display

# A superseded job may still finish for so long: quick filters then keep up with a dragged slider,
# slow ones get out of the way.
GRACE_S = 0.02
BASELINE_SAMPLING = Sampling(max_samples=5, max_seconds=0.5)
TOO_LARGE_TO_SHOW = "This computer has too little memory to show the result; use a smaller picture."

Levels = tuple[float, float] | None
Sweeping = Callable[[Engine], Iterator[Any]]


class Worker(QThread):
    """Runs at most one job; of those asked for meanwhile only the newest waits.

    Signals, all in the order things happened:
        device_found(device): the Device or NoDevice, once.
        progressed(doing): what the live job is doing, "" when nothing.
        filtered(result, display, levels): a picture, and later the same with more known about it;
            the display was made with these levels.
        settled(result): the last word on a job, and nobody has asked for another.
        failed(error): the live job ended with a KernelError.
        baseline_timed(result): the CPU's turn at the live job.
        sweep_stepped(step): a sweep's Progress or SweepPoint.
        sweep_ended(error, is_complete): a sweep is over; the KernelError that ended it, or None.
        broke(sentence, details): a bug, with its traceback.
    """

    device_found = Signal(object)
    progressed = Signal(str)
    filtered = Signal(object, object, object)
    settled = Signal(object)
    failed = Signal(object)
    baseline_timed = Signal(object)
    sweep_stepped = Signal(object)
    sweep_ended = Signal(object, bool)
    broke = Signal(str, str)

    def __init__(self, make_engine: Callable[[], Engine], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._make_engine = make_engine
        self._wake = Condition()  # guards the five wishes below
        self._wanted: tuple[Job, Levels, Sampling] | None = None
        self._wanted_since = 0.0
        self._wanted_baseline: Job | None = None
        self._wanted_sweep: Sweeping | None = None
        self._stop_sweep = False
        self._closing = False
        # The tasks in hand; only the thread itself touches them.
        self._live: _Live | None = None
        self._baseline: Iterator[Progress | Result] | None = None
        self._sweep: Iterator[Any] | None = None
        self._sweep_step: Any = None

    # -- what the GUI thread may call

    def request(self, job: Job, levels: Levels = None, sampling: Sampling | None = None) -> None:
        """Filter `job` next.  One still waiting is forgotten: nobody wants it any more.

        levels  sample values to show as black and white; None: the pixel type's own
        """
        with self._wake:
            if self._wanted is None:
                self._wanted_since = monotonic()
            self._wanted = (job, levels, sampling or Sampling())
            self._wanted_baseline = None
            self._wake.notify()

    def request_baseline(self, job: Job) -> None:
        """Time `job` when no picture is waited for."""
        with self._wake:
            self._wanted_baseline = job
            self._wake.notify()

    def start_sweep(self, sweeping: Sweeping) -> None:
        """Begin a sweep in the background, in place of one that runs."""
        with self._wake:
            self._stop_sweep, self._wanted_sweep = self._sweep is not None, sweeping
            self._wake.notify()

    def cancel_sweep(self) -> None:
        """End the sweep at its next step."""
        with self._wake:
            self._stop_sweep = self._sweep is not None or self._wanted_sweep is not None
            self._wanted_sweep = None
            self._wake.notify()

    def close(self) -> None:
        """Stop at the next step, some 20 ms away, and wait for the thread to end."""
        with self._wake:
            self._closing = True
            self._wake.notify()
        self.wait()

    # -- the thread itself

    def run(self) -> None:
        engine = self._make_engine()
        probed = False
        while self._take_wishes(engine, wait=probed):
            if self._live is not None:
                self._attempt(self._step_live)
            elif not probed:
                probed = True
                self._attempt(lambda: self.device_found.emit(engine.device))
            elif self._baseline is not None:
                self._attempt(self._step_baseline)
            elif self._sweep is not None:
                self._attempt(self._step_sweep)
        self._drop_tasks()

    def _take_wishes(self, engine: Engine, *, wait: bool) -> bool:
        """Turn wishes into tasks; sleep while there is nothing to do.  False: the end."""
        with self._wake:
            while wait and not self._closing and not self._has_work():
                self._wake.wait()
            if self._wanted is not None and self._may_supersede():
                self._live = _Live(engine, *self._wanted)
                self._wanted = self._baseline = None
            if self._wanted_baseline is not None and self._live is None:
                self._baseline = engine.filtering(self._wanted_baseline, BASELINE_SAMPLING)
                self._wanted_baseline = None
            stopped = self._stop_sweep
            if stopped:
                self._sweep, self._stop_sweep = None, False
            if self._wanted_sweep is not None:
                self._sweep, self._wanted_sweep = self._wanted_sweep(engine), None
                self._sweep_step = None
            closing = self._closing
        if stopped and not closing:
            self.sweep_ended.emit(None, False)
        return not closing

    def _has_work(self) -> bool:
        wishes = (self._wanted, self._wanted_baseline, self._wanted_sweep)
        tasks = (self._live, self._baseline, self._sweep)
        return self._stop_sweep or any(each is not None for each in (*wishes, *tasks))

    def _may_supersede(self) -> bool:
        return (
            self._live is None or self._live.has_shown or monotonic() - self._wanted_since > GRACE_S
        )

    def _step_live(self) -> None:
        assert self._live is not None
        try:
            step = next(self._live.steps, None)
            if isinstance(step, Progress):
                self._tell(step)
            elif step is not None:
                self.filtered.emit(step, self._live.show(step), self._live.levels)
            else:
                self._end_live(self._live)
        except KernelError as error:
            self._live = None
            self.progressed.emit("")
            self.failed.emit(error)

    def _tell(self, progress: Progress) -> None:
        assert self._live is not None
        if progress.doing != self._live.doing:
            self._live.doing = progress.doing
            self.progressed.emit(progress.doing)

    def _end_live(self, live: _Live) -> None:
        self._live = None
        with self._wake:
            is_last = self._wanted is None
        if is_last:
            self.progressed.emit("")
            self.settled.emit(live.last)

    def _step_baseline(self) -> None:
        assert self._baseline is not None
        try:
            step = next(self._baseline, None)
        except KernelError:
            self._baseline = step = None  # then there is no baseline; the live job says more
        if step is None:
            self._baseline = None
        elif isinstance(step, Result) and step.check is not None:
            self.baseline_timed.emit(step)

    def _step_sweep(self) -> None:
        assert self._sweep is not None
        try:
            step = next(self._sweep, None)
        except KernelError as error:
            self._end_sweep(error, False)
            return
        if step is None:
            self._end_sweep(None, True)
        elif step != self._sweep_step:  # the same Progress may come thousands of times a second
            self._sweep_step = step
            self.sweep_stepped.emit(step)

    def _end_sweep(self, error: KernelError | None, is_complete: bool) -> None:
        with self._wake:  # who cancels now comes too late
            self._sweep, self._stop_sweep = None, False
        self.sweep_ended.emit(error, is_complete)

    def _attempt(self, step: Callable[[], None]) -> None:
        """Run one step; a bug ends all tasks and is shown, and the thread lives on."""
        try:
            step()
        except Exception as error:  # noqa: BLE001 - carried to the GUI thread, not swallowed
            sweeping = self._sweep is not None
            self._drop_tasks()
            self.progressed.emit("")
            if sweeping:
                self._end_sweep(None, False)
            self.broke.emit(f"{type(error).__name__}: {error}", traceback.format_exc())

    def _drop_tasks(self) -> None:
        self._live = self._baseline = self._sweep = None


class _Live:
    """The job whose picture the user waits for."""

    def __init__(self, engine: Engine, job: Job, levels: Levels, sampling: Sampling) -> None:
        self.steps = engine.filtering(job, sampling)
        self.doing = ""
        self.last: Result | None = None
        self.levels = levels
        self._display: Display | None = None

    @property
    def has_shown(self) -> bool:
        return self._display is not None

    def show(self, result: Result) -> Display:
        """The picture as the screen wants it, converted once however often timings improve.

        Raises OutOfMemoryError.
        """
        self.last = result
        if self._display is None:
            try:
                self._display = to_display(result.picture, self.levels)
            except MemoryError as error:
                raise OutOfMemoryError(TOO_LARGE_TO_SHOW) from error
        return self._display
