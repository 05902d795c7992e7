"""The measured ladder: its bars, what they are of, and a button that measures what is missing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QProgressBar, QPushButton, QWidget

from kernels.engine.engine import Implementation
from kernels.sweeps.cell import Cell
from kernels.sweeps.record import Record
from kernels.sweeps.rounds import rounds_done
from workbench.base.plain_text import Label, tip_text
from workbench.model.rung_times import LadderLine
from workbench.panels.rung.ladder_list import LadderList
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.folding import GivingWay
from workbench.widgets.tile import ElidedLabel, scaled_font

LEGEND = (
    "Shorter is faster, each kind on its own scale. On the right: how many times as fast as the "
    "one it builds on."
)
COMPARE = "Compare all"
NO_JOB = "Open a picture first."
BUSY = "A sweep is running; wait for its end, or cancel it."
QUICKEST = "Fastest here: {title}, median {time}."
NONE_CAN = "Nothing to measure: {}"
NONE_RUNS = "Nothing to measure: none of them can run this job here; each says why."


class LadderView(QWidget):
    """The measured ladder: the places of all implementations.

    Signals:
        chosen(key): the user wants this implementation.
        measure_wanted(implementations): all that can run are to be measured, in this order.
        cancelled(): and now no longer.
    """

    chosen = Signal(str)
    measure_wanted = Signal(object)
    cancelled = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._able: tuple[Implementation, ...] = ()
        self._is_measuring = self._is_busy = self._has_job = False
        self._known: dict[Cell, Record] = {}  # of what is being measured, or was last
        self._rounds = self._count = 0
        self._why_none = self._quickest = ""
        self._caption = Label(name="ladder-caption", font=scaled_font(0.9), wraps=True)
        self._list = LadderList()
        self._list.chosen.connect(self.chosen)
        self._measure = QPushButton(COMPARE)
        self._measure.setObjectName("ladder-measure")
        self._measure.setProperty("primary", True)
        self._measure.clicked.connect(self._toggle)
        self._bar = QProgressBar()
        self._bar.setObjectName("ladder-progress")
        self._bar.setAccessibleName("Rounds measured")
        self._bar.setTextVisible(False)
        self._bar.hide()
        self._doing = ElidedLabel(0.9, "ladder-doing")
        self._reason = Label(name="ladder-reason", font=scaled_font(0.9), wraps=True)
        self._lay_out()
        self._refresh()

    def show_places(
        self, places: Sequence[LadderLine], chosen: str, headings: Mapping[str, str], caption: str
    ) -> None:
        """Show a bar for each implementation, the chosen one marked.

        headings  what stands above each kind
        caption   what was measured; "" where there is no job to measure
        """
        self._list.show_places(places, chosen, headings)
        self._caption.setText(caption or NO_JOB)
        self._able = tuple(each.implementation for each in places if each.reason is None)
        self._has_job = bool(caption)
        self._quickest = _quickest(places)
        reasons = {each.reason for each in places}
        self._why_none = NONE_CAN.format(reasons.pop()) if len(reasons) == 1 else NONE_RUNS
        self._refresh()

    def show_begun(self, rounds: int) -> None:
        """Show that the measuring that was asked for began, of each in so many rounds."""
        self._is_measuring, self._rounds, self._known = True, rounds, {}
        self._count = len(self._able)
        self._bar.setRange(0, self._count * rounds)
        self._bar.setValue(0)
        self._refresh()

    def show_ended(self) -> None:
        """Show that it ended: how many have a time, where not all have had all their rounds."""
        self._is_measuring = False
        is_all = self._bar.value() == self._bar.maximum()
        timed = sum(not isinstance(each.outcome, str) for each in self._known.values())
        few = ", with fewer samples" if timed == self._count else ""
        stopped = f"Stopped: {timed} of {self._count} measured{few}"
        self._say("" if is_all else stopped)
        self._refresh()

    def show_busy(self, is_busy: bool) -> None:
        """Disable measuring while a sweep runs, and enable it afterwards."""
        self._is_busy = is_busy
        self._refresh()

    def show_progress(self, text: str) -> None:
        """Show what is being measured now."""
        self._say(text)

    def show_record(self, record: Record) -> None:
        """Show how far it is, by rounds; the time itself comes with `show_places`."""
        self._known[record.cell] = record
        done = (rounds_done(each, self._rounds) for each in self._known.values())
        self._bar.setValue(sum(done))

    @property
    def is_measuring(self) -> bool:
        """Return whether all are being measured."""
        return self._is_measuring

    def toggle(self) -> str:
        """Measure all, or cancel, as the button does; return why it cannot, empty if it does."""
        reason = self._why_not()
        self._measure.click()
        return reason

    def _say(self, text: str) -> None:
        self._doing.show_text(text)
        self._doing.setAccessibleName(f"Ladder: {text or 'idle'}")

    @Slot()
    def _toggle(self) -> None:
        if self._is_measuring:
            self.cancelled.emit()
        else:
            self.measure_wanted.emit(what_matters_first(self._able))

    def _refresh(self) -> None:
        self._measure.setText("Cancel" if self._is_measuring else COMPARE)
        self._measure.setEnabled(not self._why_not())
        self._measure.setToolTip(tip_text(self._tip()))
        self._bar.setVisible(self._is_measuring)
        # Without a job the caption says it.
        self._reason.setText((self._why_not() or self._quickest) if self._has_job else "")
        self._reason.setVisible(bool(self._reason.text()))

    def _why_not(self) -> str:
        """Return why nothing can be measured or cancelled now; empty if it can."""
        if self._is_measuring:
            return ""
        if self._is_busy:
            return BUSY
        return NO_JOB if not self._has_job else "" if self._able else self._why_none

    def _tip(self) -> str:
        if self._is_measuring:
            return "Stop; the times measured so far stay"
        if reason := self._why_not():
            return reason
        return (
            "Time every implementation in this list that can run the present job, in turn: first "
            "the GPU's, then the CPU's, the slowest last"
        )

    def _lay_out(self) -> None:
        legend = Label(LEGEND, font=scaled_font(0.85), is_muted=True, wraps=True)
        tools = QWidget()
        HBox(tools, 0, 8).add(self._measure, (self._bar, 1), (self._doing, 2))
        layout = VBox(self, (0, 8, 0, 0), 6)
        layout.add(self._caption, (self._list, 1), legend, tools, self._reason)
        GivingWay(self, (legend, tools))


def _quickest(places: Sequence[LadderLine]) -> str:
    """Say which took the least time here, once all that can run have one; else ""."""
    able = [each for each in places if each.reason is None]
    right = [each for each in able if each.time is not None and not each.time.is_wrong]
    if len(able) < 2 or not right or any(each.time is None for each in able):
        return ""
    best = min(right, key=lambda each: each.median_ms or math.inf)
    return QUICKEST.format(title=best.implementation.title, time=best.time_in_words)


def what_matters_first(implementations: Iterable[Implementation]) -> tuple[Implementation, ...]:
    """Return them in the order to measure them: the GPU's, then the CPU's from the quickest on.

    The ladder begins with plain loops on one thread, which may take longer than all others.
    """
    every = tuple(implementations)
    on_cpu = [each for each in every if each.kind == "cpu"]
    return (*(each for each in every if each.kind != "cpu"), *reversed(on_cpu))
