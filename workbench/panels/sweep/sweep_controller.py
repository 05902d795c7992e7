"""Measuring in the background: a sweep, or all of the ladder; one of them at a time."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Slot

from kernels.core.errors import KernelError
from kernels.core.job import Progress
from kernels.engine.engine import Implementation
from kernels.sweeps.plan import Plan
from kernels.sweeps.plan_run import sweeping
from kernels.sweeps.record import Record
from workbench.model.plan_draft import UnclearError, given, plan_of
from workbench.panels.rung.rung_panel import RungPane
from workbench.panels.sweep.run_row import SweepPhase
from workbench.panels.sweep.shown_sessions import Sessions
from workbench.panels.sweep.sweep_panel import SweepPanel
from workbench.session.session_store import Began, NotKept, measuring, new_path, resuming
from workbench.session.store import Store
from workbench.session.worker import Worker
from workbench.widgets.actions import Action
from workbench.widgets.docks import Docks
from workbench.widgets.message_bar import MessageBar

MENU = "&Sweep"
BUSY = "Something is being measured already; wait for its end, or cancel it."


class SweepController(QObject):
    """The link between the worker and the two panels that ask it for sweeps."""

    def __init__(
        self,
        store: Store,
        worker: Worker,
        sessions: Sessions,
        sweep: SweepPanel,
        rung: RungPane,
        docks: Docks,
        messages: MessageBar,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._store, self._worker, self._sessions = store, worker, sessions
        self._sweep, self._rung, self._docks, self._messages = sweep, rung, docks, messages
        self._is_of_ladder = False
        sweep.started.connect(self._start_sweep)
        sweep.resume_wanted.connect(self.resume)
        sweep.paused.connect(worker.pause_sweep)
        rung.measure_wanted.connect(self._measure_ladder)
        worker.sweep_stepped.connect(self._show_step)
        worker.sweep_paused.connect(sweep.show_paused)
        worker.sweep_ended.connect(self._end)
        for cancelled in (sweep.cancelled, rung.measure_cancelled):
            cancelled.connect(worker.cancel_sweep)

    def actions(self) -> list[Action]:
        """Return the actions of the menu for sweeps."""
        return [
            Action(
                *(MENU, "&Start or cancel sweep", self.toggle_sweep, ("Ctrl+B",)),
                "Measure what the panel Sweep says, or stop; what was measured stays.",
            ),
            Action(
                *(MENU, "&Pause or resume", self.toggle_pause, ("Ctrl+Shift+B",)),
                "Let the sweep stand still, measuring nothing, or go on.",
            ),
        ]

    def ladder_actions(self) -> list[Action]:
        """Return the menu's action for the ladder."""
        return [
            Action(
                *("&Run", "&Measure the ladder, or cancel", self.toggle_ladder, ("Ctrl+Shift+L",)),
                "Time every implementation that can run the present job, one after another.",
                separator=True,
            )
        ]

    def toggle_sweep(self) -> None:
        """Start the sweep that the panel asks for, or cancel the one that runs."""
        self._docks.bring_forward("Sweep")
        self._sweep.toggle()

    def toggle_pause(self) -> None:
        """Pause the sweep that runs, or let it go on."""
        self._sweep.toggle_pause()

    def toggle_ladder(self) -> None:
        """Measure the ladder that the chosen implementation stands on, or stop doing so."""
        self._docks.bring_forward("Rung")
        self._rung.show_tab("ladder")
        self._rung.ladder.toggle()

    @Slot(object)
    def resume(self, path: Path) -> None:
        """Measure what the session in the file `path` lacks."""
        if self._sweep.phase is not SweepPhase.IDLE or self._is_of_ladder:
            self._messages.show_message("info", BUSY)
        else:
            self._begin(resuming(path, given(self._store.state.picture)))

    @Slot(object)
    def _start_sweep(self, plan: Plan) -> None:
        pictures = given(self._store.state.picture)
        self._begin(measuring(plan, pictures, new_path(plan, datetime.now())))

    def _begin(self, steps: Any) -> None:
        self._sweep.show_asked()
        self._worker.start_sweep(steps)
        self._rung.ladder.show_busy(True)

    @Slot(object)
    def _measure_ladder(self, implementations: tuple[Implementation, ...]) -> None:
        """Measure the present job with each of them, and keep no session of it."""
        state = self._store.state
        try:
            plan = plan_of(state, tuple(each.key for each in implementations))
        except UnclearError as unclear:
            self._messages.show_message("info", str(unclear))
            return
        self._is_of_ladder = True
        self._worker.start_sweep(partial(sweeping, plan, given=given(state.picture)))
        self._rung.ladder.show_measuring(True)
        self._sweep.show_busy(True)

    @Slot(object)
    def _show_step(self, step: Any) -> None:
        match step:
            case Progress():
                if self._is_of_ladder:
                    self._rung.ladder.show_progress(step.doing)
                else:
                    self._sweep.show_progress(step)
            case Began():
                self._sessions.begin(step.session, step.path)
                self._sweep.show_begun(step)
                if remarks := step.session.remarks:
                    self._messages.show_message("info", " ".join(remarks))
            case NotKept():
                self._sessions.lose_file()
                self._messages.show_message("warning", step.sentence)
            case Record():
                self._rung.show_record(step)
                if self._is_of_ladder:
                    self._rung.ladder.show_record(step)
                else:
                    self._sessions.add(step)

    @Slot(object, bool)
    def _end(self, error: KernelError | None, is_complete: bool) -> None:
        sweep, ladder = self._sweep, self._rung.ladder
        if self._is_of_ladder:
            self._is_of_ladder = False
            ladder.show_measuring(False)
            sweep.show_busy(False)
        else:
            ladder.show_busy(False)
            sweep.show_ended(is_complete)
        if error is not None:
            self._messages.show_message("error", str(error))
