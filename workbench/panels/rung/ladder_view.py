"""The measured ladder: its chart, and a button that measures all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QProgressBar, QWidget

from kernels.engine.engine import Implementation
from kernels.sweeps.estimate import rounds_done
from kernels.sweeps.plan import Cell
from kernels.sweeps.record import Record
from workbench.base import numbers
from workbench.base.plain_text import Label, tip_text
from workbench.charts.canvas import FigureView
from workbench.charts.data.figure import Axis, Bar, Bars, Figure, Group, LegendLine
from workbench.charts.data.points import style_of_implementation
from workbench.model.rung_times import LadderLine
from workbench.widgets.boxes import HBox, UprightArea, VBox
from workbench.widgets.buttons import described, push_button
from workbench.widgets.folding import GivingWay
from workbench.widgets.tile import ElidedLabel, scaled_font

LARGE_RANGE = 20.0  # largest over smallest time, from which the scale is logarithmic
IN_USE = "● "  # marks the chosen one
NOT_MEASURED = "—"
MIN_CHART_PX = 220


def figure_of(places: Sequence[LadderLine], chosen: str) -> Figure:
    """A bar per implementation: its median, and the ratio to its predecessor."""
    times = [each.median_ms for each in places if each.median_ms]
    is_log = bool(times) and max(times) > LARGE_RANGE * min(times)
    axis = Axis(f"Time{', logarithmic' if is_log else ''}", numbers.duration, is_log)
    groups = []
    for each in places:
        key, title = each.implementation.key, each.implementation.title
        groups.append(Group(f"{IN_USE if key == chosen else ''}{title}", (_bar(each),)))
    body = Bars(axis, tuple(groups), names_beside=True)
    return Figure("", "The ladder: times", "", quickest_of(places), (), body)


def _bar(place: LadderLine) -> Bar:
    key, title, time = place.implementation.key, place.implementation.title, place.time
    entry = LegendLine(title, title, "", title, style_of_implementation(key))
    if time is None:
        return Bar(entry, None, 0.0, 0.0, NOT_MEASURED, place.in_words, key)
    ms = time.median_ms
    mark = "✗ " if time.is_wrong else ""
    ratio = "" if place.ratio is None else f" · {numbers.speed_up(place.ratio)}"
    words = f"{mark}{time.duration}{ratio}"
    return Bar(entry, ms, ms, ms, words, place.in_words, key, is_part=bool(time.where))


LEGEND = "Beside a time: how many times as fast it is as the one that it builds on."
COMPARE = "Compare all"
COMPARE_TIP = (
    "Time every implementation in this list that can run the present job, in turn: first "
    "the GPU's, then the CPU's, the slowest last"
)
CANCEL_TIP = "Stop; the times measured so far stay"
NO_JOB = "Open a picture first."
BUSY = "A sweep is running; wait for its end, or cancel it."
QUICKEST = "Fastest here: {title}, median {time}."
NONE_CAN = "Nothing to measure: {}"
NONE_RUNS = "Nothing to measure: none of them can run this job here; each says why."


class LadderView(QWidget):
    """The measured ladder: the places of all implementations.

    places  what the chart shows
    chart   a click or Enter picks the key of an implementation

    Signals:
        measure_wanted(implementations): all that can run, in the order to measure them.
        cancelled(): and now no longer.
    """

    measure_wanted = Signal(object)
    cancelled = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._able: tuple[Implementation, ...] = ()
        self.is_measuring = self._is_busy = self._has_job = False
        self._known: dict[Cell, Record] = {}  # of the measurement under way, or the last
        self._rounds = self._count = 0
        self._why_none = self._quickest = ""
        self._caption = Label(name="ladder-caption", font=scaled_font(0.9), wraps=True)
        self.places: Sequence[LadderLine] = ()
        self.chart = described(FigureView(""), "ladder-chart", "The ladder: times")
        self.chart.setMinimumWidth(MIN_CHART_PX)
        self._measure = push_button("ladder-measure", COMPARE)
        self._measure.setProperty("primary", True)
        self._measure.clicked.connect(self._toggle)
        self._bar = described(QProgressBar(), "ladder-progress", "Rounds measured")
        self._bar.setTextVisible(False)
        self._bar.hide()
        self._doing = ElidedLabel(0.9, "ladder-doing")
        self._reason = Label(name="ladder-reason", font=scaled_font(0.9), wraps=True)
        self._lay_out()
        self._refresh()

    def show_places(self, places: Sequence[LadderLine], chosen: str, caption: str) -> None:
        """Show a bar for each implementation, the chosen one marked.

        caption  on the job; "" where there is none
        """
        self.places = places
        self.chart.show_figure(figure_of(places, chosen))
        self._caption.setText(caption or NO_JOB)
        self._able = tuple(each.implementation for each in places if each.reason is None)
        self._has_job = bool(caption)
        self._quickest = quickest_of(places)
        reasons = {each.reason for each in places}
        self._why_none = NONE_CAN.format(reasons.pop()) if len(reasons) == 1 else NONE_RUNS
        self._refresh()

    def show_begun(self, rounds: int) -> None:
        """Show that the measuring began, with this number of rounds for each."""
        self.is_measuring, self._rounds, self._known = True, rounds, {}
        self._count = len(self._able)
        self._bar.setRange(0, self._count * rounds)
        self._bar.setValue(0)
        self._refresh()

    def show_ended(self) -> None:
        """Show that it ended, and how many have a time if it was cancelled."""
        self.is_measuring = False
        is_all = self._bar.value() == self._bar.maximum()
        timed = sum(not isinstance(each.outcome, str) for each in self._known.values())
        few = ", with fewer samples" if timed == self._count else ""
        stopped = f"Stopped: {timed} of {self._count} measured{few}"
        self.show_progress("" if is_all else stopped)
        self._refresh()

    def show_busy(self, is_busy: bool) -> None:
        """Disable measuring while a sweep runs."""
        self._is_busy = is_busy
        self._refresh()

    def show_record(self, record: Record) -> None:
        """Show the progress by rounds; the time itself comes with `show_places`."""
        self._known[record.cell] = record
        done = (rounds_done(each, self._rounds) for each in self._known.values())
        self._bar.setValue(sum(done))

    def toggle(self) -> str:
        """Measure all, or cancel; the reason it cannot, or ""."""
        reason = self._why_not()
        self._measure.click()
        return reason

    def show_progress(self, text: str) -> None:
        """Name the implementation that is being measured."""
        self._doing.show_text(text)
        self._doing.setAccessibleName(f"Ladder: {text or 'idle'}")

    def _toggle(self) -> None:
        if self.is_measuring:
            self.cancelled.emit()
        else:
            self.measure_wanted.emit(what_matters_first(self._able))

    def _refresh(self) -> None:
        reason = self._why_not()
        self._measure.setText("Cancel" if self.is_measuring else COMPARE)
        self._measure.setEnabled(not reason)
        self._measure.setToolTip(
            tip_text(CANCEL_TIP if self.is_measuring else reason or COMPARE_TIP)
        )
        self._bar.setVisible(self.is_measuring)
        # Without a job the caption says it.
        self._reason.show_or_hide((reason or self._quickest) if self._has_job else "")

    def _why_not(self) -> str:
        if self.is_measuring:
            return ""
        if self._is_busy:
            return BUSY
        return NO_JOB if not self._has_job else "" if self._able else self._why_none

    def _lay_out(self) -> None:
        legend = Label(LEGEND, font=scaled_font(0.85), is_muted=True, wraps=True)
        tools = QWidget()
        HBox(tools, 0, 8).add(self._measure, (self._bar, 1), (self._doing, 2))
        layout = VBox(self, (0, 8, 0, 0), 6)
        layout.add(self._caption, (UprightArea(self.chart), 1), legend, tools, self._reason)
        GivingWay(self, (legend, tools))


def quickest_of(places: Sequence[LadderLine]) -> str:
    """Name the fastest, once all that can run have a time; else ""."""
    able = [each for each in places if each.reason is None]
    times = [(each.time, each.implementation.title) for each in able if each.time]
    right = [(time, title) for time, title in times if not time.is_wrong]
    if len(able) < 2 or not right or len(times) < len(able):
        return ""
    time, title = min(right, key=lambda each: each[0].median_ms)
    return QUICKEST.format(title=title, time=time.duration)


def what_matters_first(implementations: Iterable[Implementation]) -> tuple[Implementation, ...]:
    """Order of measuring: the GPU's, then the CPU's, plain loops on one thread last."""
    every = tuple(implementations)
    on_cpu = [each for each in every if each.kind == "cpu"]
    return (*(each for each in every if each.kind != "cpu"), *reversed(on_cpu))
