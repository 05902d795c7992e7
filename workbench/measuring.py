"""What is measured in the background: a sweep, or all of the ladder; one of them at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Slot

from kernels.engine import Implementation
from kernels.errors import KernelError
from kernels.job import Progress
from workbench import intents
from workbench.charts.sweep_panel import SweepWish
from workbench.state import State

if TYPE_CHECKING:
    from workbench.main_window import MainWindow


class Measuring(QObject):
    """Stands between the worker and the two panels that ask it for sweeps."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._since: State | None = None  # as things stood when it began
        self._is_of_ladder = False
        window.sweep.started.connect(self._start_sweep)
        window.rung.measure_wanted.connect(self._measure_ladder)
        window.worker.sweep_stepped.connect(self._show_step)
        window.worker.sweep_ended.connect(self._end)
        for cancelled in (window.sweep.cancelled, window.rung.measure_cancelled):
            cancelled.connect(window.worker.cancel_sweep)

    def toggle_sweep(self) -> None:
        """Start the sweep that the panel asks for, or cancel the one that runs."""
        self._window.bring_forward("Sweep")
        self._window.sweep.toggle()

    def toggle_ladder(self) -> None:
        """Measure the ladder that the chosen implementation stands on, or stop doing so."""
        self._window.bring_forward("Rung")
        self._window.rung.show_tab("ladder")
        self._window.rung.ladder.toggle()

    @Slot(object)
    def _start_sweep(self, wish: SweepWish) -> None:
        if self._start(wish):
            self._is_of_ladder = False
            self._window.sweep.show_running(True)
            self._window.rung.ladder.show_busy(True)

    @Slot(object)
    def _measure_ladder(self, implementations: tuple[Implementation, ...]) -> None:
        block_xy = self._window.store.state.block_xy
        if self._start(SweepWish("block shape", (block_xy,), implementations)):
            self._is_of_ladder = True
            self._window.rung.ladder.show_measuring(True)
            self._window.sweep.show_busy(True)

    def _start(self, wish: SweepWish) -> bool:
        """Whether there is something to measure: the worker has it then."""
        self._since = self._window.store.state
        sweeping = intents.sweep_for(self._since, wish)
        if sweeping is not None:
            self._window.worker.start_sweep(sweeping)
        return sweeping is not None

    @Slot(object)
    def _show_step(self, step: Any) -> None:
        panel = self._window.rung.ladder if self._is_of_ladder else self._window.sweep
        if isinstance(step, Progress):
            panel.show_progress(step.doing)
            return
        assert self._since is not None
        self._window.rung.show_point(step, self._since)
        panel.show_point(step)

    @Slot(object, bool)
    def _end(self, error: KernelError | None, is_complete: bool) -> None:
        sweep, ladder = self._window.sweep, self._window.rung.ladder
        if self._is_of_ladder:
            ladder.show_measuring(False)
            sweep.show_busy(False)
        else:
            ladder.show_busy(False)
            if is_complete:
                sweep.finished()
            else:
                sweep.show_running(False)
        if error is not None:
            self._window.messages.show_message("error", str(error))
