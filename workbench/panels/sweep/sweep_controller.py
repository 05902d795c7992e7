"""Background measuring: a sweep or the ladder, one at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QMainWindow

from kernels.core.device import Device, NoDevice
from kernels.core.errors import KernelError, SessionFileError
from kernels.core.job import Progress
from kernels.core.safe_files import lock, regular
from kernels.engine.engine import Implementation
from kernels.rungs.own_kernels import is_own
from kernels.rungs.rung import Rung
from kernels.sweeps.cell_jobs import with_texts
from kernels.sweeps.estimate import rounds_of
from kernels.sweeps.plan import Plan
from kernels.sweeps.plan_run import sweeping
from kernels.sweeps.record import Record
from kernels.sweeps.session_files import read_session
from workbench.base.background import Background
from workbench.base.settings import Settings
from workbench.model.plan_draft import UnclearError, given, plan_of, short
from workbench.model.rung_times import RungTimes
from workbench.panels.sweep.shown_sessions import Sessions, ShownSession
from workbench.session import session_store
from workbench.session.exporter import Exporter
from workbench.session.kernel_folder import KernelFolder
from workbench.session.store import Store
from workbench.session.worker import Worker
from workbench.widgets.actions import Action, Actions
from workbench.widgets.docks import Docks
from workbench.widgets.lazy_panel import LazyPanel
from workbench.widgets.message_bar import MessageBar

if TYPE_CHECKING:
    from workbench.panels.rung.rung_panel import RungPane
    from workbench.panels.sweep.sweep_panel import SweepPanel


@dataclass(frozen=True, slots=True, eq=False)
class SweepParts:
    """The parts of a window that the services around the panel Sweep share."""

    window: QMainWindow  # parent of services and dialogs; its menus are meant where menus are
    settings: Settings
    store: Store
    worker: Worker
    reading: Background  # reads files, makes pictures and compares off the GUI thread
    exporter: Exporter
    sessions: Sessions
    kernels: KernelFolder  # of the user
    docks: Docks
    messages: MessageBar
    sweep: LazyPanel[SweepPanel]


START, PAUSE = "Start sweep", "Pause sweep"  # as the menu has them while nothing runs
COMPARE, CANCEL = "Compare all implementations", "Cancel comparing implementations"
BUSY = "Something is being measured already; wait for its end, or cancel it."
RECENT_S = 7 * 24 * 3600
OFFERED = "offered"  # the setting with the names of files that were offered
MAX_OFFERED = 50


class SweepController(QObject):
    """The link between the worker and the two panels that ask it for sweeps."""

    changed = Signal()  # a sweep, or the ladder's measuring, began, ended, paused or went on

    def __init__(self, parts: SweepParts, rung: LazyPanel[RungPane], times: RungTimes) -> None:
        """Connect the worker, and the panels once they are made; `times` gets every record."""
        super().__init__(parts.window)
        self._parts, self._sweep, self._rung, self._times = parts, parts.sweep, rung, times
        self._store, self._worker, self._messages = parts.store, parts.worker, parts.messages
        self._is_of_ladder = False
        self._worker.sweep.stepped.connect(self._show_step)
        self._worker.sweep.ended.connect(self._show_ended)
        self._worker.device_found.connect(self._look_for_unfinished)
        self._sweep.when_made(self._connect_sweep)
        rung.when_made(self._connect_ladder)

    def _connect_sweep(self, sweep: SweepPanel) -> None:
        sweep.started.connect(lambda plan: self._begin(session_store.measuring, plan, None))
        sweep.resume_wanted.connect(self.resume)
        sweep.run.phase_changed.connect(self.changed)
        sweep.run.show_busy(self._is_of_ladder)

    def _connect_ladder(self, rung: RungPane) -> None:
        rung.ladder.measure_wanted.connect(self._measure_ladder)
        rung.ladder.cancelled.connect(self._worker.sweep.cancel)
        rung.ladder.show_busy(not self._is_idle)

    def actions(self) -> Actions:
        return {
            START: Action(
                self.toggle_sweep,
                name=lambda: f"&{START}" if self._is_idle else "Ca&ncel sweep",
            ),
            PAUSE: Action(
                lambda: self._sweep.get().run.toggle_pause(),
                lambda: "No sweep is running." if self._is_idle else "",
                self._pause_name,
            ),
            COMPARE: Action(
                self.toggle_ladder,
                name=lambda: f"&{CANCEL if self._is_of_ladder else COMPARE}",
            ),
        }

    def _pause_name(self) -> str:
        sweep = self._sweep.made
        return "R&esume sweep" if sweep is not None and sweep.run.phase == "paused" else f"&{PAUSE}"

    @property
    def _is_idle(self) -> bool:
        return self._sweep.made is None or self._sweep.made.run.is_idle

    @property
    def under_way(self) -> str:
        """What is being measured, and what becomes of it when the window closes; empty: nothing."""
        if self._is_of_ladder:
            return "Implementations are being compared; their times are not kept."
        live = None if self._is_idle else self._parts.sessions.live
        if live is None:
            return "" if self._is_idle else "A sweep is about to begin."
        kept = "kept in no file" if live.path is None else "kept, and can be resumed"
        done = f"what is measured is {kept}" if live.session.records else "nothing is measured yet"
        return f"A sweep is at {live.place}; {done}."

    def toggle_sweep(self) -> None:
        """Start the panel's sweep, or cancel the one that runs."""
        self._parts.docks.bring_forward("Sweep")
        self._sweep.get().run.toggle()

    def toggle_ladder(self) -> None:
        """Measure all of the ladder that can run here, or cancel."""
        self._parts.docks.bring_forward("Implementation")
        rung = self._rung.get()
        rung.show_tab("ladder")
        if reason := rung.ladder.toggle():
            self._messages.show_message("info", reason)

    def resume(self, path: Path) -> None:
        """Measure the rest of the session in the file `path`."""
        if not self._is_idle or self._is_of_ladder:
            self._messages.show_message("info", BUSY)
        else:
            self._parts.docks.bring_forward("Sweep")
            self._begin(session_store.resuming, path)

    def _begin(self, measure: Callable[..., Any], what: Plan | Path, *place: None) -> None:
        self._sweep.get().show_asked()
        pictures, paths = given(self._store.state.picture), self._parts.kernels.paths
        self._worker.sweep.start(partial(measure, what, pictures, *place, paths))
        self._rung.if_made(lambda panel: panel.ladder.show_busy(True))

    def _measure_ladder(self, implementations: tuple[Implementation, ...]) -> None:
        """Measure the present job with each of them; no session is kept."""
        state = self._store.state
        try:
            plan = plan_of(state, tuple(each.key for each in implementations))
            own = [each for each in implementations if isinstance(each, Rung) and is_own(each.key)]
            plan, texts = with_texts(plan, own)
        except UnclearError as unclear:
            self._messages.show_message("info", str(unclear))
            return
        self._worker.sweep.start(partial(sweeping, plan, given=given(state.picture), texts=texts))
        self._rung.get().ladder.show_begun(rounds_of(plan.sampling))
        self._show_of_ladder(True)

    def _show_of_ladder(self, is_of_ladder: bool) -> None:
        self._is_of_ladder = is_of_ladder
        self._sweep.if_made(lambda panel: panel.run.show_busy(is_of_ladder))
        self.changed.emit()

    @Slot(object)
    def _show_step(self, step: Any) -> None:
        match step:
            case Progress():
                if self._is_of_ladder:
                    self._rung.get().ladder.show_progress(step.doing)
                else:
                    self._sweep.get().run.show_progress(step)
            case session_store.Began():
                self._parts.sessions.begin(step.session, step.path)
                self._sweep.get().run.show_begun(step)
                if remarks := step.session.remarks:
                    self._messages.show_message("info", " ".join(remarks))
            case session_store.NotKept():
                self._parts.sessions.lose_file()
                self._messages.show_message("warning", step.sentence)
            case Record():
                self._times.add_record(step)
                self._rung.if_made(lambda panel: panel.refresh())
                if self._is_of_ladder:
                    self._rung.get().ladder.show_record(step)
                else:
                    self._parts.sessions.add(step)

    @Slot(object, bool)
    def _show_ended(self, error: KernelError | None, is_complete: bool) -> None:
        if self._is_of_ladder:
            self._rung.get().ladder.show_ended()
            self._show_of_ladder(False)
        else:
            self._rung.if_made(lambda panel: panel.ladder.show_busy(False))
            self._sweep.get().show_ended(is_complete)
        if error is not None:
            self._messages.show_error(error)

    # -- what an earlier run of the program left

    def _look_for_unfinished(self, device: Device | NoDevice) -> None:
        before = self._parts.settings.get(OFFERED, [])
        work = partial(unfinished, device, before, time.time())
        self._parts.reading.run(work, self._offer, lambda _: None)

    def _offer(self, left: ShownSession | None) -> None:
        if left is None or left.path is None:
            return
        path, settings = left.path, self._parts.settings
        before = settings.get(OFFERED, [])
        settings.set(OFFERED, [*before, path.name][-MAX_OFFERED:])

        def resume() -> None:
            self._messages.dismiss(sentence)
            settings.set(OFFERED, before)  # offer it again if it is left again
            self.resume(path)

        sentence = f"A sweep was left at {left.place}: {short(left.session.plan)}."
        self._messages.show_message("info", sentence, actions=[("&Resume", resume)], stays=True)


def unfinished(device: Device | NoDevice, but: Collection[str], now: float) -> ShownSession | None:
    """Newest incomplete session of this machine, or None.

    It is at most seven days old, and no process is writing to it.

    but  names of files to leave out
    now  seconds since 1970
    """
    for path in session_store.saved_sessions():
        try:
            if (
                path.name in but
                or not session_store.can_grow(path)
                or now - path.stat().st_mtime > RECENT_S
            ):
                continue
            left = ShownSession(0, read_session(path), path)
            is_candidate = left.session.records and left.missing
            if is_candidate and session_store.is_this_machine(left.session.machine, device):
                with open(path, "rb", opener=regular) as file:
                    if lock(file.fileno()):  # no process is writing to it
                        return left
        except (SessionFileError, OSError):
            continue
    return None
