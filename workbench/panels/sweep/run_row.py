"""The buttons to start, pause and cancel, with the progress and the time that is left."""

from __future__ import annotations

from enum import Enum, auto

from PySide6.QtCore import QElapsedTimer, Signal, Slot
from PySide6.QtWidgets import QProgressBar, QPushButton, QSizePolicy, QWidget

from kernels.sweeps.estimate import about
from workbench.base import numbers
from workbench.base.plain_text import Label, tip_text
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.buttons import push_button
from workbench.widgets.tile import ElidedLabel, scaled_font

START_TIP = "Measure all of it; what is measured is kept in a file as it goes"
BUSY = "Waiting: the ladder is being measured."
BUSY_TIP = "The ladder is being measured; wait for its end, or cancel it"


class SweepPhase(Enum):
    """The state of a sweep: idle, starting or stopping, running, or paused."""

    IDLE = auto()
    STARTING = auto()  # or stopping: until the worker has said so
    RUNNING = auto()
    PAUSED = auto()


class RunRow(QWidget):
    """The buttons, a bar, and two lines of small print.

    Signals:
        started(), cancelled(), paused(is_to_pause): what the user wants.
        phase_changed(phase): the SweepPhase is another one.
    """

    started = Signal()
    cancelled = Signal()
    paused = Signal(bool)
    phase_changed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._phase = self._told = SweepPhase.IDLE
        self._is_busy = self._can_start = False
        self._before = self._done = self._count = 0  # cells measured: at first, now, and in all
        self._last_said = ""  # what was measured last
        self._ended = ""  # how the last sweep did
        self._clock = QElapsedTimer()
        self._start = _button("St&art", "sweep-start")
        self._start.setProperty("primary", True)
        self._start.clicked.connect(self._act)
        self._cancel = _button("Ca&ncel", "sweep-cancel")
        self._cancel.setToolTip("Stop; what was measured so far stays")
        self._cancel.clicked.connect(self.cancelled)
        self._bar = QProgressBar()
        self._bar.setObjectName("sweep-progress")
        self._bar.setAccessibleName("Measurements done")
        self._left = Label(name="sweep-left", font=scaled_font(0.9), is_muted=True)
        self._doing = ElidedLabel(0.9, "sweep-doing")
        buttons, progress = HBox(), HBox()
        buttons.setSpacing(6)
        buttons.add((self._start, 1), (self._cancel, 1))
        progress.add((self._bar, 1), self._left)
        column = VBox(self, 0, 6)
        column.add(buttons, progress, self._doing)
        self._say("")
        self._refresh()

    @property
    def phase(self) -> SweepPhase:
        """Return the state of the sweep."""
        return self._phase

    def show_can_start(self, can_start: bool) -> None:
        """Enable starting where there is something to measure."""
        self._can_start = can_start
        self._refresh()

    def show_busy(self, is_busy: bool) -> None:
        """Disable starting while something else is measured."""
        self._is_busy = is_busy
        if self._phase is SweepPhase.IDLE:
            self._say(BUSY if is_busy else self._ended)
        self._refresh()

    def show_asked(self) -> None:
        """Show that a sweep was asked for and will begin."""
        self._phase = SweepPhase.STARTING
        self._clock.start()
        self._bar.setRange(0, 0)
        self._left.clear()
        self._last_said = ""
        self._say("")
        self._refresh()

    def show_begun(self, done: int, count: int) -> None:
        """Show that the sweep began, with `done` of `count` cells measured already."""
        if self._phase is SweepPhase.STARTING:
            self._phase = SweepPhase.RUNNING
        self._before, self._count = done, count
        self._bar.setRange(0, max(count, 1))
        self.show_done(done, done / max(count, 1))
        self._refresh()

    def show_paused(self, is_paused: bool) -> None:
        """Show that the sweep was paused, or goes on."""
        if self._phase in (SweepPhase.RUNNING, SweepPhase.PAUSED):
            self._phase = SweepPhase.PAUSED if is_paused else SweepPhase.RUNNING
            paused = f"Paused at {self._done:,} of {self._count:,}"
            self._say(paused if is_paused else self._last_said)
            self._refresh()

    def show_done(self, done: int, share: float) -> None:
        """Show how far the sweep is.

        done   cells measured in all their rounds
        share  of all rounds, from 0 to 1
        """
        self._done = done
        self._bar.setValue(round(share * self._bar.maximum()))

    def show_left(self, left_s: float | None) -> None:
        """Show how many seconds the rest will take; None: not known."""
        self._left.setText("" if left_s is None else f"{about(left_s)} left")

    def show_doing(self, text: str) -> None:
        """Show what is being measured; while paused only remember it."""
        self._last_said = text
        if self._phase is not SweepPhase.PAUSED:
            self._say(text)

    def show_ended(self, is_complete: bool) -> None:
        """Show how many cells were measured and how long it took; `is_complete`: all of them."""
        done, count = self._done, self._count
        has_begun = self._bar.maximum() > 0
        self._phase = SweepPhase.IDLE
        self._left.clear()
        if not has_begun:
            self._bar.setRange(0, 1)
            self._bar.setValue(0)
            self._ended = "Stopped before it began"
        else:
            took = numbers.duration(self._clock.elapsed())
            new = f", {done - self._before:,} of them new," if self._before else ""
            word = "Done" if is_complete else "Stopped"
            self._ended = f"{word}: {done:,} of {count:,}{new} in {took}"
        self._say(self._ended)
        self._refresh()

    def toggle(self) -> None:
        """Start or cancel, as the buttons do."""
        (self._start if self._phase is SweepPhase.IDLE else self._cancel).click()

    def toggle_pause(self) -> None:
        """Pause or go on, as the button does while something runs."""
        if self._phase is not SweepPhase.IDLE:
            self._start.click()

    @Slot()
    def _act(self) -> None:
        if self._phase is SweepPhase.IDLE:
            self.started.emit()
        else:
            self.paused.emit(self._phase is SweepPhase.RUNNING)

    def _refresh(self) -> None:
        if self._phase is not self._told:
            self._told = self._phase
            self.phase_changed.emit(self._phase)
        idle, paused = self._phase is SweepPhase.IDLE, self._phase is SweepPhase.PAUSED
        self._start.setText("St&art" if idle else "Resume" if paused else "P&ause")
        can_start = self._can_start and not self._is_busy
        self._start.setEnabled(can_start if idle else self._phase is not SweepPhase.STARTING)
        pause_tip = "Measure the rest" if paused else "Stand still, measuring nothing"
        self._start.setToolTip(
            tip_text((BUSY_TIP if self._is_busy else START_TIP) if idle else pause_tip)
        )
        self._cancel.setEnabled(not idle)
        self._cancel.setVisible(not idle)
        self._bar.setVisible(not idle)
        self._left.setVisible(not idle)

    def _say(self, text: str) -> None:
        self._doing.show_text(text)
        self._doing.setVisible(bool(text))
        self._doing.setAccessibleName(f"Sweep: {text or 'idle'}")


def _button(title: str, name: str) -> QPushButton:
    button = push_button(name, title)
    button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    return button
