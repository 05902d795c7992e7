"""Sweep panel: choose a plan, run it, and see its chart."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from PySide6.QtCore import QElapsedTimer, Signal
from PySide6.QtGui import QAction, QImage
from PySide6.QtWidgets import QMenu, QProgressBar, QSizePolicy, QToolButton, QWidget

from kernels.core.device import Device, NoDevice
from kernels.core.job import Progress
from kernels.sweeps.estimate import about, place_in, share_done
from kernels.sweeps.plan import Cell, Plan
from kernels.sweeps.plan_files import as_toml
from kernels.sweeps.plan_run import OfCell
from kernels.sweeps.record import Session
from workbench.base import numbers
from workbench.base.background import Throttle
from workbench.base.plain_text import Label, tip_text
from workbench.charts.canvas import make_plots
from workbench.charts.chart_view import ChartView
from workbench.model.cell_words import cell_in_words, varied_of
from workbench.model.plan_draft import fixed_choices, short, time_s
from workbench.model.state import State
from workbench.panels.sweep.plan_choice import PlanChoice
from workbench.panels.sweep.shown_sessions import SessionList, Sessions
from workbench.session.session_store import Began, is_this_machine
from workbench.session.store import Store
from workbench.session.worker import Worker
from workbench.widgets.boxes import HBox, UprightArea, VBox
from workbench.widgets.buttons import described, make_button, push_button
from workbench.widgets.folding import FoldButton
from workbench.widgets.keyboard import enable
from workbench.widgets.lazy_panel import MARGINS
from workbench.widgets.message_bar import Question
from workbench.widgets.tile import ElidedLabel, scaled_font

START_TIP = "Measure all of it; what is measured is kept in a file as it goes"
BUSY = "Waiting: the ladder is being measured."
BUSY_TIP = "The ladder is being measured; wait for its end, or cancel it"


Phase = Literal["idle", "starting", "running", "paused"]  # starting or stopping


class RunRow(QWidget):
    """Buttons, a bar, and two lines of small print.

    phase  the SweepPhase
    """

    phase_changed = Signal()  # (phase): the SweepPhase is another one

    def __init__(self, sessions: Sessions, worker: Worker, start: Callable[[], object]) -> None:
        """Make the row, whose buttons pause and cancel what `worker` measures."""
        super().__init__()
        self._sessions, self._worker, self._begin = sessions, worker, start
        self._cells: tuple[Cell, ...] = ()  # of the sweep that runs
        self._varied: frozenset[str] = frozenset()  # what those cells differ in
        self.phase: Phase = "idle"
        self._is_busy = self._can_start = False
        self._before = self._done = 0  # cells measured, if only once: at first, and now
        self._place = ""
        self._last_said = ""  # what was measured last
        self._ended = self._remark = ""  # how the last sweep did; what its chart does not show
        self._clock = QElapsedTimer()
        self._start = push_button("sweep-start", "St&art", look="primary")
        self._start.clicked.connect(self._act)
        self._cancel = push_button("sweep-cancel", "Ca&ncel", "Stop; what was measured stays")
        self._cancel.clicked.connect(worker.sweep.cancel)
        for button in (self._start, self._cancel):
            button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._bar = described(QProgressBar(), "sweep-progress", "Measurements done")
        self._left = Label(name="sweep-left", font=scaled_font(0.9), is_muted=True)
        self._doing = ElidedLabel(0.9, "sweep-doing")
        buttons = HBox(spacing=6).add((self._start, 1), (self._cancel, 1))
        VBox(self, 0, 6).add(buttons, HBox().add((self._bar, 1), self._left), self._doing)
        self._show_phase("idle")

    @property
    def is_idle(self) -> bool:
        return self.phase == "idle"

    def show_can_start(self, can_start: bool, remark: str) -> None:
        """Enable Start; `remark` stands beside how the last sweep ended."""
        self._can_start, self._remark = can_start, remark
        self._show_phase(self.phase)

    def show_busy(self, is_busy: bool) -> None:
        """Disable starting while something else is measured."""
        self._is_busy = is_busy
        self._show_phase(self.phase)

    def show_asked(self) -> None:
        self._clock.start()
        self._bar.setRange(0, 0)
        self._left.clear()
        self._last_said = ""
        self._show_phase("starting")

    def show_begun(self, began: Began) -> None:
        """Show that the sweep began; some of it may have been measured before."""
        self._cells, self._varied = began.cells, varied_of(began.cells)
        self._bar.setRange(0, max(len(began.cells), 1))
        self._show_done(began.session)
        self._before = self._done
        self._show_phase("running")

    def show_paused(self, is_paused: bool) -> None:
        if self.phase in ("running", "paused"):
            if (live := self._sessions.live) is not None:
                self._show_done(live.session)
            self._show_phase("paused" if is_paused else "running")

    def show_progress(self, step: Progress) -> None:
        """Show what is measured: "3 of 15 in round 1 of 10 · Gaussian blur 5×5 · OpenCV"."""
        self._last_said = step.doing
        if isinstance(step, OfCell):
            self._last_said = f"{step.where} · {cell_in_words(step.cell, self._varied)}"
        self._describe()

    def show_records(self) -> None:
        live = self._sessions.live
        if self.is_idle or live is None or not self._cells:
            return
        session = live.session
        self._show_done(session)
        done = {record.cell for record in session.records if record.is_complete}
        rest = [cell for cell in self._cells if cell not in done]
        left_s = time_s(rest, session.plan, session.records)
        self._left.show_or_hide(f"{about(left_s)} left" if rest and session.records else "")

    def _show_done(self, session: Session) -> None:
        self._done = len({record.cell for record in session.records})
        known = self._cells, session.records, session.plan.sampling
        share, self._place = share_done(*known), place_in(*known)
        self._bar.setValue(round(share * self._bar.maximum()))

    def show_ended(self, is_complete: bool) -> None:
        """Show how many cells were measured, and how long that took."""
        self._ended = "Stopped before it began"
        if self._bar.maximum() > 0:
            took = numbers.duration(self._clock.elapsed())
            new = f", {self._done - self._before:,} of them new," if self._before else ""
            word = "Done" if is_complete else "Stopped"
            self._ended = f"{word}: {self._place}{new} in {took}"
        self._cells = ()
        self._show_phase("idle")

    def toggle(self) -> None:
        (self._start if self.is_idle else self._cancel).click()

    def toggle_pause(self) -> None:
        if not self.is_idle:
            self._start.click()

    def _act(self) -> None:
        if self.is_idle:
            self._begin()
        else:
            self._worker.sweep.pause(self.phase == "running")

    def _show_phase(self, phase: Phase) -> None:
        is_other, self.phase = phase != self.phase, phase
        texts = {"idle": "St&art", "paused": "Resume"}
        tips = {"idle": BUSY_TIP if self._is_busy else START_TIP, "paused": "Measure the rest"}
        self._start.setText(texts.get(phase, "P&ause"))
        self._start.setToolTip(tip_text(tips.get(phase, "Stand still, measuring nothing")))
        can_start = self._can_start and not self._is_busy
        enable(self._start, can_start if self.is_idle else phase != "starting")
        if self.is_idle and self.window().focusWidget() is self._cancel:
            self._start.setFocus()
        self._cancel.setEnabled(not self.is_idle)
        for part in (self._cancel, self._bar):
            part.setVisible(not self.is_idle)
        self._left.setVisible(not self.is_idle and bool(self._left.text()))
        self._describe()
        if is_other:
            self.phase_changed.emit()

    def _describe(self) -> None:
        text = self._last_said
        if self.is_idle:
            text = BUSY if self._is_busy else " · ".join(filter(None, (self._ended, self._remark)))
        elif self.phase == "paused":
            text = f"Paused at {self._place}"
        self._doing.show_text(text)
        self._doing.setVisible(bool(text))
        self._doing.setAccessibleName(f"Sweep: {text or 'idle'}")


FOLD_TIP = "Show or hide the choices, to give the chart more room"
REPORT_TIP = "All that is shown, as one file to read, to print and to hand in"
NOTHING_TO_REPORT = "Measure something first, or open a session"
REFRESH_MS = 200  # often enough to see it grow, seldom enough not to slow it down
# Drawing slows down what is measured on the CPU meanwhile: at most one part in so many,
# which no median notices.
DRAW_SHARE = 15
CHART_PX = 300
OTHER = "The chart is of other settings"
LONG_S = 600  # a plan that takes longer is asked about before it starts


class SweepPanel(QWidget):
    """The panel that starts sweeps and shows their sessions.

    choice       the plan
    run          the buttons that start, pause and cancel
    report       the button for a report of what is shown
    """

    started = Signal(object)  # (plan): the user wants this Plan measured
    resume_wanted = Signal(object)  # (path): and the rest of the session in this file

    def __init__(self, sessions: Sessions, store: Store, worker: Worker) -> None:
        super().__init__()
        self.setObjectName("sweep-panel")
        self._sessions, self._worker = sessions, worker
        self._agreed: Plan | None = None  # the user agreed to how long it takes
        self._later = Throttle(REFRESH_MS, self._show_sessions, self)
        self._fold = FoldButton("sweep-fold", FOLD_TIP, "Show what to measure")
        self.choice = PlanChoice(store, worker)
        self._folded = ElidedLabel(0.95, "sweep-plan")  # what Start starts, while that is folded
        self.run = RunRow(sessions, worker, self._start)
        self._doubt = Question("sweep-doubt")
        self._list = SessionList(self.resume_wanted.emit, sessions.close)
        modes = QToolButton.ToolButtonPopupMode
        tip = "Open, close and compare"
        self._sessions_button = _button("Sessions", "sweep-sessions", tip, modes.InstantPopup)
        self.report = _button("Report", "sweep-report", NOTHING_TO_REPORT, modes.MenuButtonPopup)
        self.report.setEnabled(False)
        self.chart = ChartView()
        inside = QWidget()
        layout = VBox(inside, MARGINS, 6)
        # Start is the first, so that it stays under the pointer whatever is folded or said.
        layout.add(self.run, self._doubt, self._fold, self._folded, self.choice, self._list)
        buttons = HBox(spacing=6).add((self._sessions_button, 1), (self.report, 1))
        layout.add(buttons, (self.chart, 1))
        VBox(self, 0).addWidget(UprightArea(inside))
        sessions.changed.connect(self._later.ask)
        self.choice.changed.connect(self._show_choice_made)
        self.run.phase_changed.connect(self._show_plan)
        self._fold.clicked.connect(self.show_choice)
        worker.sweep.paused.connect(self.run.show_paused)
        self.restore({})

    def show_state(self, state: State) -> None:
        """Show what depends on `state`, which the store holds by now."""
        self.chart.prefer_baseline(state.baseline)
        self.choice.show_state(state)
        if self.isVisible() and self._sessions.shown:
            self._later.ask()  # shows whether the chart is of these settings

    def show_device(self, device: Device | NoDevice) -> None:
        """Show what the worker's device can measure and resume."""
        self.choice.show_device(device)
        self._later.ask()  # shows which sessions can be resumed here

    def show_plan(self, plan: Plan) -> None:
        self.show_choice(True)
        self.choice.show_plan(plan)

    def show_asked(self) -> None:
        self._doubt.hide()
        self.run.show_asked()
        self.show_choice(False)
        make_plots(self)  # the slow first drawing must not disturb the first cell

    def show_ended(self, is_complete: bool) -> None:
        """Show all that was measured, and that the sweep ended, be it complete or not."""
        self._show_sessions()  # with the last records
        self.run.show_ended(is_complete)
        self._show_sessions()

    def grab_chart(self) -> QImage:
        """Grab the chart as it is seen; a null image while there is none."""
        self._show_sessions()
        return self.chart.image()

    def draw_now(self) -> None:
        make_plots(self)
        self._show_sessions()

    def conditions(self) -> dict[str, Any]:
        """Collect what a picture of the chart keeps beside the window's choices.

        That is the plan of the first session, and what it holds fixed in the State's words.
        """
        shown = self._sessions.sessions()
        return fixed_choices(shown[0].plan) | {"plan": as_toml(shown[0].plan)} if shown else {}

    def show_menu_actions(
        self, sessions: Sequence[QAction], reports: Sequence[QAction], plans: Sequence[QAction]
    ) -> None:
        """Offer these actions at the buttons Sessions, Report and File."""
        offered = {self._sessions_button: sessions, self.report: reports, self.choice.files: plans}
        for button, actions in offered.items():
            menu = QMenu(button)
            menu.addActions(actions)
            button.setMenu(menu)

    def close_sessions(self) -> None:
        """Close all sessions but the one that is being measured."""
        keeps_live = self._sessions.live is not None and not self.run.is_idle
        for each in self._sessions.shown[1 if keeps_live else 0 :]:
            self._sessions.close(each.number)

    def choices(self) -> dict[str, Any]:
        return {**self.choice.choices(), "open": self._fold.isChecked()}

    def restore(self, choices: Mapping[str, Any]) -> None:
        self.choice.restore(choices)
        self.show_choice(choices.get("open") is not False)

    def _start(self) -> None:
        """Start the plan; if that takes very long, ask the user first."""
        plan = self.choice.plan
        if plan is None:
            return

        def start() -> None:
            self._agreed = plan
            self.started.emit(plan)

        takes_s = self.choice.estimated_s()
        if takes_s <= LONG_S or plan == self._agreed:
            start()
            return
        self._doubt.ask(
            f"This takes {about(takes_s)}.",
            ("Start an&yway", "It can be paused, stopped and resumed at any time", start),
            ("N&ot now", "Leave it as it is", lambda: None),
        )
        self._doubt.take_focus()

    def show_choice(self, is_open: bool) -> None:
        """Show the choices, or fold them away so that the chart has their room."""
        self._fold.setChecked(is_open)
        self._fold.show_fold("What to measure", is_open)
        self.choice.setVisible(is_open)
        self._folded.setVisible(not is_open)

    def _show_choice_made(self) -> None:
        self._doubt.hide()  # it was about another plan
        self._show_can_start()
        self._show_plan()

    def _show_can_start(self) -> None:
        plan, shown = self.choice.plan, [each.plan for each in self._sessions.sessions()]
        is_other = plan is not None and bool(shown) and plan not in shown
        self.run.show_can_start(plan is not None, OTHER if is_other else "")

    def _show_plan(self) -> None:
        """Show the name of what runs, or else of what Start starts."""
        live = self._sessions.live if self.run.phase in ("running", "paused") else None
        self._folded.show_text(short(live.session.plan) if live else self.choice.in_a_line)

    def _show_sessions(self) -> None:
        drawing = QElapsedTimer()
        drawing.start()
        shown = self._sessions.shown
        is_running = not self.run.is_idle
        self.chart.show_sessions(self._sessions.sessions())
        self.chart.repaint()
        self.run.show_records()
        cost_ms = drawing.elapsed() if is_running else 0
        self._later.setInterval(max(REFRESH_MS, DRAW_SHARE * cost_ms))
        here = [is_this_machine(each.session.machine, self._worker.device) for each in shown]
        self._list.show_sessions(shown, here, is_running=is_running)
        has_records = any(each.session.records for each in shown)
        self.chart.setMinimumHeight(CHART_PX if has_records else 0)  # an empty one needs no room
        self.report.setEnabled(has_records)
        self.report.setToolTip(REPORT_TIP if has_records else NOTHING_TO_REPORT)
        self._show_can_start()


def _button(title: str, name: str, tip: str, mode: QToolButton.ToolButtonPopupMode) -> QToolButton:
    button = make_button(name, title, tip)
    button.setPopupMode(mode)  # before the style sheet asks for it
    button.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
    return button
