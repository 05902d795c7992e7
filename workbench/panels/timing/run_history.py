"""The filter times of the last runs, kept from the first on, whether or not anything shows them."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from PySide6.QtCore import QObject, Signal

from kernels.core.job import Job, Result
from workbench.base import numbers
from workbench.base.disturbed_words import star, why_starred
from workbench.model.intents import title_with_pick
from workbench.model.speed_up import single_in_words

LAST_RUNS = 60


class Run(NamedTuple):
    """One Result in the plot, without its pictures: for those of sixty runs there is no room."""

    implementation: str
    name: str
    median_ms: float
    is_wrong: bool
    in_words: str


class RunHistory(QObject):
    """The last runs, one for each job, in the order they ran.

    Signals:
        changed(): a run was added, more is known of the last one, or all were removed.

    runs  the oldest first
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.runs: deque[Run] = deque(maxlen=LAST_RUNS)
        self._last_job: Job | None = None

    def add(self, result: Result) -> None:
        """Add a run, or what is newly known of the last one if it is of the same job.

        What has no time is left out.
        """
        if result.kernel is None:
            return
        if self._last_job is result.job:
            self.runs.pop()
        self._last_job = result.job
        self.runs.append(_run(result))
        self.changed.emit()

    def clear(self) -> None:
        """Remove all runs."""
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
        f"{job.filter_title} {job.ksize}×{job.ksize}, {job.width}×{job.height} pixels",
        *(["✗ its answer is WRONG"] if is_wrong else []),
        *filter(None, [why_starred(result.disturbances)]),
    ]
    return Run(result.implementation, _name(result), kernel.median_ms, is_wrong, "\n".join(lines))


def _name(result: Result) -> str:
    """Return what ran: "Shared-memory tile 32×8", or "OpenCV", which has no block shape."""
    blocks = [ran.block for ran in result.ran if ran.block]
    title = title_with_pick(result.job.implementation, result.picked)
    return " ".join([title, *(f"{x}×{y}" for x, y in blocks[:1])])
