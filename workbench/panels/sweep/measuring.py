"""What is measured in the background: a sweep, or all of the ladder; one of them at a time."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Slot

from kernels.core.errors import KernelError
from kernels.core.job import Progress
from kernels.engine.engine import Implementation
from kernels.sweeps.plan import Plan
from kernels.sweeps.plan_run import sweeping
from kernels.sweeps.record import Record
from workbench.model.plan_draft import UnclearError, given, plan_of
from workbench.panels.sweep.run_row import Phase
from workbench.session.session_store import Began, NotKept, measuring, new_path, resuming

if TYPE_CHECKING:
    from workbench.window.main_window import MainWindow

BUSY = "Something is being measured already; wait for its end, or cancel it."


class Measuring(QObject):
    """Stands between the worker and the two panels that ask it for sweeps."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._is_of_ladder = False
        sweep, worker = window.sweep, window.worker
        sweep.started.connect(self._start_sweep)
        sweep.resume_wanted.connect(self.resume)
        sweep.paused.connect(worker.pause_sweep)
        window.rung.measure_wanted.connect(self._measure_ladder)
        worker.sweep_stepped.connect(self._show_step)
        worker.sweep_paused.connect(sweep.show_paused)
        worker.sweep_ended.connect(self._end)
        for cancelled in (sweep.cancelled, window.rung.measure_cancelled):
            cancelled.connect(worker.cancel_sweep)

    def toggle_sweep(self) -> None:
        """Start the sweep that the panel asks for, or cancel the one that runs."""
        self._window.docks.bring_forward("Sweep")
        self._window.sweep.toggle()

    def toggle_pause(self) -> None:
        """Let the sweep that runs stand still, or go on."""
        self._window.sweep.toggle_pause()

    def toggle_ladder(self) -> None:
        """Measure the ladder that the chosen implementation stands on, or stop doing so."""
        self._window.docks.bring_forward("Rung")
        self._window.rung.show_tab("ladder")
        self._window.rung.ladder.toggle()

    @Slot(object)
    def resume(self, path: Path) -> None:
        """Measure what the session in the file `path` lacks."""
        if self._window.sweep.phase is not Phase.IDLE or self._is_of_ladder:
            self._window.messages.show_message("info", BUSY)
        else:
            self._begin(resuming(path, given(self._window.store.state.picture)))

    @Slot(object)
    def _start_sweep(self, plan: Plan) -> None:
        pictures = given(self._window.store.state.picture)
        self._begin(measuring(plan, pictures, new_path(plan, datetime.now())))

    def _begin(self, steps: Any) -> None:
        self._window.sweep.show_asked()
        self._window.worker.start_sweep(steps)
        self._window.rung.ladder.show_busy(True)

    @Slot(object)
    def _measure_ladder(self, implementations: tuple[Implementation, ...]) -> None:
        """The present job with each of them; a sweep of which no session is kept."""
        state = self._window.store.state
        try:
            plan = plan_of(state, tuple(each.key for each in implementations))
        except UnclearError as unclear:
            self._window.messages.show_message("info", str(unclear))
            return
        self._is_of_ladder = True
        self._window.worker.start_sweep(partial(sweeping, plan, given=given(state.picture)))
        self._window.rung.ladder.show_measuring(True)
        self._window.sweep.show_busy(True)

    @Slot(object)
    def _show_step(self, step: Any) -> None:
        window = self._window
        match step:
            case Progress():
                if self._is_of_ladder:
                    window.rung.ladder.show_progress(step.doing)
                else:
                    window.sweep.show_progress(step)
            case Began():
                window.sessions.begin(step.session, step.path)
                window.sweep.show_begun(step)
                if remarks := step.session.remarks:
                    window.messages.show_message("info", " ".join(remarks))
            case NotKept():
                window.sessions.lose_file()
                window.messages.show_message("warning", step.sentence)
            case Record():
                window.rung.show_record(step)
                if self._is_of_ladder:
                    window.rung.ladder.show_record(step)
                else:
                    window.sessions.add(step)

    @Slot(object, bool)
    def _end(self, error: KernelError | None, is_complete: bool) -> None:
        sweep, ladder = self._window.sweep, self._window.rung.ladder
        if self._is_of_ladder:
            self._is_of_ladder = False
            ladder.show_measuring(False)
            sweep.show_busy(False)
        else:
            ladder.show_busy(False)
            sweep.show_ended(is_complete)
        if error is not None:
            self._window.messages.show_message("error", str(error))
