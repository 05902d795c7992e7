"""The card about one warp: which thread is looked at, and one of its accesses lane by lane."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout

from workbench.panels.anatomy.subject import Look, lanes_of
from workbench.panels.anatomy.warp_strip import LaneStrip
from workbench.widgets.drop_down import DropDown
from workbench.widgets.number_boxes import WholeBox
from workbench.widgets.sentence_label import words_label

KINDS = {"global": "global memory", "shared": "shared memory"}


class WarpCard(QFrame):
    """A card that shows a `Look` with a thread; hidden where there is none.

    Signals:
        stepped(lanes, warps), block_stepped(across, down), picked(lane): see `LaneStrip`.
    """

    stepped = Signal(int, int)
    block_stepped = Signal(int, int)
    picked = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("card", True)
        self._look: Look | None = None
        self._thread = words_label("anatomy-thread")
        self._access = DropDown("anatomy-access", "Access to memory")
        self._access.setToolTip("Which load or store of the warp to look at, as the text has them")
        self._access.activated.connect(lambda _: self._show_lanes(fresh=True))
        self._time = WholeBox()
        self._time.setObjectName("anatomy-time")
        self._time.setAccessibleName("Which time, or which tap")
        self._time.setToolTip("Which of the loads, or of the taps, in their order")
        self._time.valueChanged.connect(lambda _: self._show_lanes())
        self._turn = words_label("anatomy-turn")
        self._turn.setProperty("muted", True)
        self._lanes = LaneStrip()
        self._lanes.stepped.connect(self.stepped)
        self._lanes.block_stepped.connect(self.block_stepped)
        self._lanes.picked.connect(self.picked)
        self._legend = words_label("anatomy-lane-legend")
        self._legend.setProperty("muted", True)
        self._sentence = words_label("anatomy-lane-words")
        times = QHBoxLayout()
        times.addWidget(self._time)
        times.addWidget(self._turn, 1)
        rows = QVBoxLayout(self)
        rows.addWidget(self._thread)
        rows.addWidget(self._access)
        rows.addLayout(times)
        rows.addWidget(self._lanes)
        rows.addWidget(self._legend)
        rows.addWidget(self._sentence)

    @property
    def lanes(self) -> LaneStrip:
        """Return the part that the keyboard goes to."""
        return self._lanes

    def show_look(self, look: Look | None) -> None:
        """Show a thread and its warp; hide the card where there is no thread."""
        self._look = look if look is not None and look.thread is not None else None
        self.setVisible(self._look is not None)
        if self._look is not None:
            self._thread.setText(self._look.thread_words())
            self._show_accesses(self._look)
        self._show_lanes()

    def _show_accesses(self, look: Look) -> None:
        """List the accesses; keep the one that was looked at, else take the one of each tap."""
        titles = [f"{step.name}, {KINDS[step.memory]}" for step in look.steps]
        if titles == self._access.entries():
            return
        known = self._access.currentText()
        self._access.clear()
        self._access.addItems(titles)
        taps = [n for n, step in enumerate(look.steps) if step.name.endswith("a sample")]
        self._access.setCurrentIndex(
            titles.index(known) if known in titles else taps[0] if taps else 0
        )

    def _show_lanes(self, fresh: bool = False) -> None:
        """Show the lanes at a time; `fresh`: at the first, as it is another access."""
        look = self._look
        if look is None:
            self._lanes.show_lanes(None, 0)
            return
        step = look.steps[self._access.currentIndex()]
        with QSignalBlocker(self._time):
            self._time.setRange(1, step.count)
            if fresh:
                self._time.setValue(1)
        self._time.setVisible(step.count > 1)
        self._turn.setVisible(step.count > 1)
        time = self._time.value() - 1
        turn = step.turn(time)
        self._turn.setText(f"of {step.count:,}: {turn}" if turn else f"of {step.count:,}")
        lanes = lanes_of(look, step, time)
        self._lanes.show_lanes(lanes, look.lane)
        self._legend.setText(lanes.legend)
        self._sentence.setText(lanes.sentence)
