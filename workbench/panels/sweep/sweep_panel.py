"""The panel of sweeps: choose what to measure, start it, and see it beside recorded ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QElapsedTimer, Qt, Signal, Slot
from PySide6.QtGui import QAction, QIcon, QImage
from PySide6.QtWidgets import QLabel, QMenu, QSizePolicy, QToolButton, QWidget

from kernels.core.device import Device, NoDevice
from kernels.core.job import Progress
from kernels.engine.engine import Implementation
from kernels.engine.own_kernel import OwnKernel
from kernels.sweeps.cell import Cell
from kernels.sweeps.estimate import about
from kernels.sweeps.plan import Plan
from kernels.sweeps.plan_files import as_toml
from kernels.sweeps.plan_run import OfCell
from kernels.sweeps.record import Session
from kernels.sweeps.rounds import share_done
from workbench.base.assets_path import asset
from workbench.base.plain_text import Label
from workbench.base.throttle import Throttle
from workbench.charts.chart_view import ChartView
from workbench.model.plan_estimate import time_s
from workbench.model.plan_words import fixed_choices, in_words, varied_of
from workbench.model.state import State
from workbench.panels.sweep.plan_choice import PlanChoice
from workbench.panels.sweep.run_row import RunRow, SweepPhase
from workbench.panels.sweep.session_list import SessionList
from workbench.panels.sweep.shown_sessions import Sessions
from workbench.session.session_store import Began, is_this_machine
from workbench.session.store import Store
from workbench.session.worker import Worker
from workbench.widgets.boxes import HBox, UprightArea, VBox
from workbench.widgets.buttons import make_button
from workbench.widgets.folding import FoldButton
from workbench.widgets.lazy_panel import MARGINS
from workbench.widgets.message_bar import Question
from workbench.widgets.tile import ElidedLabel

FOLD_TIP = "Show or hide the choices, to give the chart more room"
REPORT_TIP = "All that is shown, as one file to read, to print and to hand in"
NOTHING_TO_REPORT = "Measure something first, or open a session"
REFRESH_MS = 200  # often enough to see it grow, seldom enough not to slow it down
# Drawing slows down what is measured on the CPU meanwhile: at most one part in so many,
# which no median notices.
DRAW_SHARE = 15
LEFT_MS, LEFT_SHARE = 500.0, 30.0  # between two estimates: at least, and per ms of one
CHART_PX = 300
LONG_S = 600  # a plan that takes longer is asked about before it starts
AWAY = "The chart is in a window of its own; F9 takes it back."


class SweepPanel(QWidget):
    """The panel that asks for sweeps and shows their sessions.

    chart        moves into a window of its own and back into `chart_place`

    Signals:
        started(plan): the user wants this Plan measured.
        resume_wanted(path): and the rest of the session in this file.
        paused(is_to_pause), cancelled(): what runs is to stand still, or go on, or end.
        picked(cell): the user pointed at a measurement.
        plan_open_wanted(), plan_save_wanted(plan): a plan's file.
        report_wanted(), large_wanted(): a report of what is shown; the chart in a window.
        phase_changed(phase): the SweepPhase is another one.
    """

    started = Signal(object)
    resume_wanted = Signal(object)
    paused = Signal(bool)
    cancelled = Signal()
    picked = Signal(object)
    plan_open_wanted = Signal()
    plan_save_wanted = Signal(object)
    report_wanted = Signal()
    large_wanted = Signal()
    phase_changed = Signal(object)

    def __init__(self, sessions: Sessions, store: Store, worker: Worker) -> None:
        """Make the panel.

        store, worker  read for the state and the device, never written to
        """
        super().__init__()
        self.setObjectName("sweep-panel")
        self._sessions, self._worker = sessions, worker
        self._cells: tuple[Cell, ...] = ()  # of the sweep that runs
        self._varied: frozenset[str] = frozenset()  # what those cells differ in
        self._agreed: Plan | None = None  # the user agreed to how long it takes
        self._left_clock, self._left_gap_ms = QElapsedTimer(), 0.0
        self._later = Throttle(REFRESH_MS, self._show_sessions, self)
        self._fold = FoldButton("sweep-fold", FOLD_TIP, "Show what to measure")
        self._choice = PlanChoice(store, worker)
        self._folded = ElidedLabel(0.95, "sweep-plan")  # what Start starts, while that is folded
        self._run = RunRow()
        self._offer, self._doubt = Question("sweep-offer"), Question("sweep-doubt")
        self._list = SessionList()
        self._sessions_button = _button("Sessions", "sweep-sessions", "Open, close and compare")
        self._report = _button("Report", "sweep-report", NOTHING_TO_REPORT)
        self._report.setEnabled(False)
        self._large = _button("", "sweep-large", "The chart in a window of its own (F9)")
        self._large.setIcon(QIcon(str(asset("icons/float.svg"))))
        self._large.setAccessibleName("Chart in a window of its own")
        self.chart = ChartView()
        self.chart_place = VBox()
        self._away = _away()
        self._lay_out()
        self._connect()
        self.restore({})

    # -- what it is told

    def show_state(self, state: State) -> None:
        """Take `state`, which the store holds by now, for all that a sweep leaves as it is."""
        self.chart.prefer_baseline(state.baseline)
        self._choice.show_state(state)

    def show_device(self, device: Device | NoDevice) -> None:
        """Show what can be measured and resumed on the device, which the worker holds by now."""
        self._choice.show_device(device)
        self._later.ask()  # shows which sessions can be resumed here

    def show_implementations(
        self, implementations: Iterable[tuple[Implementation | OwnKernel, str | None]]
    ) -> None:
        """Offer all implementations, each with the reason why it cannot run here, or None."""
        self._choice.show_implementations(implementations)

    def show_plan(self, plan: Plan) -> None:
        """Show a plan that was opened from a file."""
        self._show_choice(True)
        self._choice.show_plan(plan)

    def show_busy(self, is_busy: bool) -> None:
        """Disable starting while something else is measured."""
        self._run.show_busy(is_busy)

    def offer(self, sentence: str, resume: Callable[[], None]) -> None:
        """Ask, in a line, whether to resume what was left unfinished."""
        self._offer.ask(
            sentence,
            ("&Resume", "Measure what is missing, into the same file", resume),
            ("&Dismiss", "Do not ask again; it stays among the recent sessions", lambda: None),
        )

    def show_asked(self) -> None:
        """Show that a sweep was asked for and will begin."""
        self._offer.hide()
        self._doubt.hide()
        self._run.show_asked()
        self.give_chart_room()
        if self.chart.isVisible():
            self.chart.draw_now()  # the slow first drawing must not disturb the first cell

    def give_chart_room(self) -> None:
        """Fold the choices away; a click brings them back."""
        self._show_choice(False)

    def show_begun(self, began: Began) -> None:
        """Show that the sweep began; some of it may have been measured before."""
        self._cells, self._varied = began.cells, varied_of(began.cells)
        self._left_gap_ms = 0.0
        complete = sum(record.is_complete for record in began.session.records)
        self._run.show_begun(complete, len(began.cells))

    def show_paused(self, is_paused: bool) -> None:
        """Show that the sweep was paused, or goes on."""
        if (live := self._sessions.live) is not None:
            self._show_done(live.session)
        self._run.show_paused(is_paused)

    def show_progress(self, step: Progress) -> None:
        """Show what is measured: "3 of 15 · Gaussian blur 5×5 · OpenCV · noise 1024²"."""
        if isinstance(step, OfCell):
            words = in_words(step.cell, self._varied)
            self._run.show_doing(f"{step.where} · {words}")
        else:
            self._run.show_doing(step.doing)

    def show_chart_away(self, is_away: bool) -> None:
        """Show or hide a sentence in place of the chart."""
        self._away.setVisible(is_away)

    def show_ended(self, is_complete: bool) -> None:
        """Show all that was measured, and that the sweep ended, be it complete or not."""
        self._show_sessions()  # with the last records
        self._run.show_ended(is_complete)
        self._cells, self._varied = (), frozenset()
        self._show_sessions()

    # -- what it is asked

    @property
    def phase(self) -> SweepPhase:
        """Return the state of the sweep."""
        return self._run.phase

    def toggle(self) -> None:
        """Start or cancel, as the buttons do."""
        self._run.toggle()

    def toggle_pause(self) -> None:
        """Pause or go on."""
        self._run.toggle_pause()

    @property
    def plan_actions(self) -> list[QAction]:
        """Return the actions of the button beside the plan."""
        return self._choice.plan_actions

    def grab_chart(self) -> QImage:
        """Return the chart as it is seen; a null image while there is none."""
        self._show_sessions()
        return self.chart.image()

    def draw_now(self) -> None:
        """Draw what would be drawn in a moment, for a picture that is taken now."""
        self._show_sessions()
        if self.chart.isVisible() and self._sessions.shown:
            self.chart.draw_now()

    def conditions(self) -> dict[str, Any]:
        """Return what a picture of the chart keeps beside the window's choices.

        That is what the first session's plan holds fixed, in the State's words, and the plan
        itself; nothing while there is no chart.
        """
        shown = self._sessions.sessions()
        return fixed_choices(shown[0].plan) | {"plan": as_toml(shown[0].plan)} if shown else {}

    def show_session_actions(self, actions: Sequence[QAction]) -> None:
        """Offer these actions at the button Sessions."""
        menu = QMenu(self._sessions_button)
        menu.addActions(actions)
        self._sessions_button.setMenu(menu)
        self._sessions_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)

    def show_report_actions(self, actions: Sequence[QAction]) -> None:
        """Offer these actions at the arrow of the button Report."""
        menu = QMenu(self._report)
        menu.addActions(actions)
        self._report.setMenu(menu)
        self._report.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)

    def close_sessions(self) -> None:
        """Close all sessions but the one that is being measured."""
        is_running = self._run.phase is not SweepPhase.IDLE
        for each in self._sessions.shown[1 if is_running and self._sessions.live else 0 :]:
            self._sessions.close(each.number)

    def choices(self) -> dict[str, Any]:
        """Return what to remember until the next start, fit for JSON."""
        return {**self._choice.choices(), "open": self._fold.isChecked()}

    def restore(self, choices: Mapping[str, Any]) -> None:
        """Take over what `choices()` gave; the defaults replace what makes no sense."""
        self._choice.restore(choices)
        self._show_choice(choices.get("open") is not False)

    # -- inside

    @Slot()
    def _ask(self) -> None:
        """Ask for the plan to be measured; if that takes very long, ask the user first."""
        plan = self._choice.plan
        if plan is None:
            return

        def start() -> None:
            self._agreed = plan
            self.started.emit(plan)

        takes_s = self._choice.estimated_s()
        if takes_s <= LONG_S or plan == self._agreed:
            start()
            return
        self._doubt.ask(
            f"This takes {about(takes_s)}.",
            ("Start an&yway", "It can be paused, stopped and resumed at any time", start),
            ("N&ot now", "Leave it as it is", lambda: None),
        )
        self._doubt.take_focus()

    @Slot(bool)
    def _show_choice(self, is_open: bool) -> None:
        """Show or hide the choices; without them the chart has the room."""
        self._fold.setChecked(is_open)
        self._fold.show_fold("What to measure", is_open)
        self._choice.setVisible(is_open)
        self._choice.custom.setVisible(is_open)
        self._folded.setVisible(not is_open)

    @Slot()
    def _show_choice_made(self) -> None:
        self._doubt.hide()  # it was about another plan
        self._run.show_can_start(self._choice.plan is not None)
        self._folded.show_text(self._choice.in_a_line)

    @Slot()
    def _show_sessions(self) -> None:
        drawing = QElapsedTimer()
        drawing.start()
        shown = self._sessions.shown
        is_running = self._run.phase is not SweepPhase.IDLE
        self.chart.show_sessions(self._sessions.sessions())
        if shown and self.chart.isVisible():
            self.chart.draw_now()
        cost_ms = drawing.elapsed() if is_running else 0
        self._later.setInterval(max(REFRESH_MS, DRAW_SHARE * cost_ms))
        here = [is_this_machine(each.session.machine, self._worker.device) for each in shown]
        self._list.show_sessions(shown, here, is_running=is_running)
        has_records = any(each.session.records for each in shown)
        self._report.setEnabled(has_records)
        self._report.setToolTip(REPORT_TIP if has_records else NOTHING_TO_REPORT)
        live = self._sessions.live
        if is_running and live is not None and self._cells:
            self._show_how_far(live.session)

    def _show_how_far(self, session: Session) -> None:
        """Show the progress, and now and then the time left, which takes a while to compute."""
        self._show_done(session)
        if self._left_clock.isValid() and self._left_clock.elapsed() < self._left_gap_ms:
            return
        self._left_clock.start()
        done = {record.cell for record in session.records if record.is_complete}
        rest = [cell for cell in self._cells if cell not in done]
        left_s = time_s(rest, session.plan, session.records)
        self._run.show_left(left_s if rest and session.records else None)
        self._left_gap_ms = max(LEFT_MS, LEFT_SHARE * self._left_clock.elapsed())

    def _show_done(self, session: Session) -> None:
        """Show the progress: the bar by rounds, the words by cells that have had all of theirs."""
        complete = sum(record.is_complete for record in session.records)
        share = share_done(self._cells, session.records, session.plan.sampling)
        self._run.show_done(complete, share)

    # -- how it looks

    def _connect(self) -> None:
        self._sessions.changed.connect(self._later.ask)
        self._choice.changed.connect(self._show_choice_made)
        self._choice.open_wanted.connect(self.plan_open_wanted)
        self._choice.save_wanted.connect(self.plan_save_wanted)
        self._fold.clicked.connect(self._show_choice)
        self._run.started.connect(self._ask)
        self._run.cancelled.connect(self.cancelled)
        self._run.paused.connect(self.paused)
        self._run.phase_changed.connect(self.phase_changed)
        self._list.resume_wanted.connect(self.resume_wanted)
        self._list.close_wanted.connect(self._sessions.close)
        self._report.clicked.connect(self.report_wanted)
        self._large.clicked.connect(self.large_wanted)
        self.chart.picked.connect(self.picked)

    def _lay_out(self) -> None:
        inside = QWidget()
        layout = VBox(inside, MARGINS, 6)
        custom = self._choice.custom  # below Start, which it must not push out of sight
        choice = (self._fold, self._folded, self._choice)
        layout.add(self._offer, *choice, self._run, self._doubt, custom, self._list)
        buttons = HBox(spacing=6)
        buttons.add((self._sessions_button, 1), (self._report, 1), self._large)
        layout.addLayout(buttons)
        self.chart_place.add((self._away, 1), self.chart)
        self.chart.setMinimumHeight(CHART_PX)
        layout.addLayout(self.chart_place, 1)
        outside = VBox(self, 0)
        outside.addWidget(UprightArea(inside))


def _away() -> QLabel:
    away = Label(AWAY, name="chart-away", is_muted=True, wraps=True)
    away.setAlignment(Qt.AlignmentFlag.AlignCenter)
    away.hide()
    return away


def _button(title: str, name: str, tip: str) -> QToolButton:
    button = make_button(name, title, tip)
    button.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
    return button
