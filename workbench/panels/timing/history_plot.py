"""Chart of the filter times of the last runs."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from PySide6.QtCore import QEvent, QObject, Signal

from kernels.core.job import Job, Result
from workbench.base import numbers
from workbench.base.background import Throttle
from workbench.base.numbers import star, why_starred
from workbench.charts.canvas import FigureView
from workbench.charts.data.figure import Axis, Dot, Drawn, Figure, Guide, LegendLine, Plot, Series
from workbench.model.intents import keys_of, title_with_pick, work_in_words
from workbench.model.speed_up import single_in_words
from workbench.widgets.buttons import described
from workbench.widgets.watch import Watch

LAST_RUNS = 60


class Run(NamedTuple):
    """One Result in the plot, without its pictures."""

    implementation: str
    name: str
    median_ms: float
    is_wrong: bool
    in_words: str


class RunHistory(QObject):
    """The last runs, one for each job, in the order they ran.

    runs  the oldest first
    """

    changed = Signal()  # a run was added, more is known of the last one, or all were removed

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.runs: deque[Run] = deque(maxlen=LAST_RUNS)
        self._last_job: Job | None = None

    def add(self, result: Result) -> None:
        """Add a run with a time, or update the last one if it is of the same job."""
        if result.kernel is None:
            return
        if self._last_job is result.job:
            self.runs.pop()
        self._last_job = result.job
        self.runs.append(_run(result))
        self.changed.emit()

    def clear(self) -> None:
        self.runs.clear()
        self._last_job = None
        self.changed.emit()


def _run(result: Result) -> Run:
    job, kernel = result.job, result.timed
    is_wrong = result.check is not None and not result.check.ok
    lines = [
        f"{_name(result)}: {numbers.duration(kernel.median_ms)}{star(result.disturbances)}",
        single_in_words(result)
        if kernel.is_single
        else f"quartiles {numbers.duration_range(*kernel.quartiles_ms, kernel.median_ms)}",
        f"{work_in_words(job)}, {'all ' if job.region else ''}{job.width}×{job.height} pixels",
        *(["✗ its output is WRONG"] if is_wrong else []),
        *filter(None, [why_starred(result.disturbances)]),
    ]
    return Run(result.implementation, _name(result), kernel.median_ms, is_wrong, "\n".join(lines))


def _name(result: Result) -> str:
    if len(keys := keys_of(result.job)) > 1:
        return f"{len(keys)} implementations"
    blocks = [ran.block for ran in result.ran if ran.block]
    title = title_with_pick(result.job.implementation, result.picked)
    return " ".join([title, *(f"{x}×{y}" for x, y in blocks[:1])])


EMPTY = "The next runs appear here."
REDRAW_MS = 200  # often enough to keep up with dragging, seldom enough not to slow it down
LARGE_RANGE = 10.0  # from here on the axis is logarithmic
MIN_WIDTH = 20  # runs; so the first ones are not far apart
BLOCK = re.compile(r" (\d+×\d+)$")
MIN_PX = 90  # of the chart's height


class HistoryPlot(FigureView):
    """The chart of the last runs: one point for each job, in the order they ran."""

    def __init__(self, history: RunHistory) -> None:
        super().__init__(EMPTY, fills=True, least_px=MIN_PX)
        described(self, "history-plot", "Filter times of the last runs")
        self._runs = history.runs
        self._later = Throttle(REDRAW_MS, self._show_if_seen, self)
        Watch(self, QEvent.Type.Show).seen.connect(self._later.ask)
        history.changed.connect(self._follow)
        self._follow()

    def draw_now(self) -> None:
        """Draw what would be drawn in a moment, for a picture that is taken now."""
        self.make_plot()
        self._show()

    def show_drawn(self, drawn: Drawn) -> None:
        """Take the spots in the order of the runs, whatever ran: so the arrow keys go."""
        super().show_drawn(drawn._replace(spots=sorted(drawn.spots, key=lambda spot: spot.x)))

    def _follow(self) -> None:
        self.show_summary(_summary(self._runs) if self._runs else EMPTY)
        if self._runs:
            self._later.ask()
        else:
            self._show()  # also while it is closed: nothing of what was removed stays

    def _show_if_seen(self) -> None:
        if self.isVisible():
            self._show()

    def _show(self) -> None:
        self.show_figure(_figure(self._runs) if self._runs else None)


def _figure(runs: Sequence[Run]) -> Figure:
    times = [run.median_ms for run in runs]
    is_log = max(times) / min(times) > LARGE_RANGE
    names = ["", *(BLOCK.sub(r"\n\1", run.name) for run in runs)]
    ticks = tuple((n, name) for n, (before, name) in enumerate(pairwise(names)) if name != before)
    x = Axis("", str, ticks=ticks, ends=(0, max(len(runs), MIN_WIDTH) - 1))
    y = Axis(f"Filter time of the last {LAST_RUNS} runs", numbers.duration, is_log)
    right = tuple((float(n), run.median_ms) for n, run in enumerate(runs) if not run.is_wrong)
    body = Plot(x, y, tuple(_series(runs)), (Guide(right),) if len(right) > 1 else ())
    return Figure("", "Filter times", "", _summary(runs), (), body)


def _series(runs: Sequence[Run]) -> Iterator[Series]:
    """Yield the dots of each implementation; a wrong answer has no height, as in other charts."""
    from workbench.charts.data.points import style_of_implementation

    dots: dict[str, list[Dot]] = {}
    for number, run in enumerate(runs):
        ms = run.median_ms
        dot = Dot(float(number), ms, ms, ms, run.in_words, is_wrong=run.is_wrong)
        dots.setdefault(run.implementation, []).append(dot)
    for key, found in dots.items():
        entry = LegendLine(key, key, "", key, style_of_implementation(key))
        yield Series(entry, tuple(found), joined=False)


def _summary(runs: Sequence[Run]) -> str:
    times = [run.median_ms for run in runs]
    return (
        f"{len(runs)} runs, filter times from {numbers.duration(min(times))} to "
        f"{numbers.duration(max(times))}; the last, {runs[-1].name}, took "
        f"{numbers.duration(times[-1])}."
    )
