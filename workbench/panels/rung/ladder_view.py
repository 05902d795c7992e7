"""The measured ladder: its bars, what they are of, and a button that measures what is missing."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QPushButton, QVBoxLayout, QWidget

from kernels.engine.engine import Implementation
from workbench.base.plain_text import Label, tip_text
from workbench.model.rung_times import LadderLine
from workbench.panels.rung.ladder_list import LadderList
from workbench.widgets.tile import MUTED, ElidedLabel, scaled_font

LEGEND = "Shorter is faster. On the right: how many times as fast as the one it builds on."


class LadderView(QWidget):
    """The measured ladder: the places of all implementations of one kind.

    Signals:
        chosen(key): the user wants this implementation.
        measure_wanted(implementations): all that can run are to be measured, one after another.
        cancelled(): and now no longer.
    """

    chosen = Signal(str)
    measure_wanted = Signal(object)
    cancelled = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._able: tuple[Implementation, ...] = ()
        self._is_measuring = self._is_busy = self._has_job = False
        self._caption = Label()
        self._caption.setObjectName("ladder-caption")
        self._caption.setWordWrap(True)
        self._caption.setFont(scaled_font(0.9))
        self._list = LadderList()
        self._list.chosen.connect(self.chosen)
        self._measure = QPushButton("Measure all")
        self._measure.setObjectName("ladder-measure")
        self._measure.setProperty("primary", True)
        self._measure.clicked.connect(self._toggle)
        self._bar = QProgressBar()
        self._bar.setObjectName("ladder-progress")
        self._bar.setAccessibleName("Implementations measured")
        self._bar.setTextVisible(False)
        self._bar.hide()
        self._doing = ElidedLabel(0.9)
        self._doing.setObjectName("ladder-doing")
        self._lay_out()
        self._refresh()

    def show_places(self, places: Sequence[LadderLine], chosen: str, caption: str) -> None:
        """Show a bar for each implementation, the chosen one marked.

        caption  what was measured; "" where there is no job to measure
        """
        self._list.show_places(places, chosen)
        self._caption.setText(caption or "Open a picture first.")
        self._able = tuple(each.implementation for each in places if each.reason is None)
        self._has_job = bool(caption)
        self._refresh()

    def show_measuring(self, is_measuring: bool) -> None:
        """Show that the measuring that was asked for began or ended."""
        self._is_measuring = is_measuring
        if is_measuring:
            self._bar.setRange(0, len(self._able))
            self._bar.setValue(0)
        else:
            done, count = self._bar.value(), self._bar.maximum()
            self._say("" if done == count else f"Stopped: {done} of {count} measured")
        self._refresh()

    def show_busy(self, is_busy: bool) -> None:
        """Disable measuring while a sweep runs, and enable it afterwards."""
        self._is_busy = is_busy
        self._refresh()

    def show_progress(self, text: str) -> None:
        """Show what is being measured now."""
        self._say(text)

    def show_record(self, _record: object) -> None:
        """Count one more measurement; its time comes with `show_places`."""
        self._bar.setValue(self._bar.value() + 1)

    def toggle(self) -> None:
        """Measure all, or cancel, as the button does."""
        self._measure.click()

    def _say(self, text: str) -> None:
        self._doing.show_text(text)
        self._doing.setAccessibleName(f"Ladder: {text or 'idle'}")

    @Slot()
    def _toggle(self) -> None:
        if self._is_measuring:
            self.cancelled.emit()
        else:
            self.measure_wanted.emit(self._able)

    def _refresh(self) -> None:
        self._measure.setText("Cancel" if self._is_measuring else "Measure all")
        can_start = bool(self._able) and self._has_job and not self._is_busy
        self._measure.setEnabled(self._is_measuring or can_start)
        self._measure.setToolTip(tip_text(self._tip()))
        self._bar.setVisible(self._is_measuring)

    def _tip(self) -> str:
        if self._is_measuring:
            return "Stop; the times measured so far stay"
        if self._is_busy:
            return "A sweep is running; wait for its end, or cancel it"
        return "Time every implementation in this list that can run the present job, in turn"

    def _lay_out(self) -> None:
        legend = Label(LEGEND)
        legend.setWordWrap(True)
        legend.setFont(scaled_font(0.85))
        legend.setForegroundRole(MUTED)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self._measure)
        row.addWidget(self._bar, 1)
        row.addWidget(self._doing, 2)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 8, 0, 0)
        layout.setSpacing(6)
        layout.addWidget(self._caption)
        layout.addWidget(self._list, 1)
        layout.addWidget(legend)
        layout.addLayout(row)
