"""The figures of a step's result on the stage, and the ladder up to it."""

from __future__ import annotations

import weakref

from kernels.core.job import Result
from workbench.model.recorded_times import RecordedTimes
from workbench.model.state import State
from workbench.window.presenter.figures import bar_of, figures_of, recorded_figures
from workbench.window.presenter.ladder_so_far import LadderBar, bars_so_far
from workbench.window.presenter.stage import Stage


class FiguresOnStage:
    """The figures of one presentation, and what it has shown so far.

    recorded  the times that came with the program, once they are read
    """

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self.recorded = RecordedTimes()
        self._bars: dict[int, LadderBar] = {}  # by the number of the step
        self._works: dict[int, object] = {}  # what was filtered there

    def are_recorded(self, state: State) -> bool:
        """Return whether recorded figures stand in for a result of `state`."""
        return recorded_figures(state, self.recorded) is not None

    def show(
        self,
        step: int,
        state: State,
        result: Result | None,
        baseline: Result | None,
        *,
        is_refused: bool,
    ) -> None:
        """Show what is known of a step: as `figures_of`, or recorded where it was refused."""
        figures = figures_of(state, result, baseline, is_refused=is_refused)
        if is_refused:
            figures = recorded_figures(state, self.recorded) or figures
        self._stage.show_figures(figures)
        self._show_ladder(step, state, result, self.recorded if is_refused else RecordedTimes())

    def _show_ladder(
        self, step: int, state: State, result: Result | None, recorded: RecordedTimes
    ) -> None:
        """Show the bars of the steps up to this one that filtered the same."""
        if (bar := bar_of(state, result, recorded)) is not None:
            self._bars[step] = bar
        picture = state.picture and weakref.ref(state.picture)  # it may be large
        work = (state.filter, state.ksize, state.sigma, state.border, picture)
        self._works[step] = work
        numbers = [n for n in range(step + 1) if self._works.get(n) == work]
        bars = bars_so_far([self._bars.get(n) for n in numbers])
        self._stage.ladder.show_bars(bars, self._bars.get(step))
