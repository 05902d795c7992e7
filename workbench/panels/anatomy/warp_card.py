"""The card about one warp: what it does in a part of the launch, one access lane by lane."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QFrame

from kernels.anatomy.record import Access, Part
from workbench.panels.anatomy.subject import Look, Marks, lanes_of, marks_of
from workbench.panels.anatomy.warp_strip import LaneStrip
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.drop_down import DropDown
from workbench.widgets.number_boxes import WholeBox
from workbench.widgets.tile import words_label

KINDS = {"global": "global memory", "shared": "shared memory"}


class WarpCard(QFrame):
    """A card that shows a `Look` with a thread; hidden where there is none.

    Signals:
        stepped(lanes, warps), block_stepped(across, down), picked(lane): see `LaneStrip`.
        time_chosen(): another access, or another time of it, is looked at.
    """

    stepped = Signal(int, int)
    block_stepped = Signal(int, int)
    picked = Signal(int)
    time_chosen = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("card", True)
        self._look: Look | None = None
        self._part: Part = "compute"
        self._steps: tuple[Access, ...] = ()
        self._chosen: dict[Part, str] = {}  # the access looked at last
        self._marked: tuple[object, ...] = ()  # what the marks painted last are of
        self._marks: Marks | None = None
        self._thread = words_label("anatomy-thread")
        self._words = words_label("anatomy-part-words")
        self._access = DropDown("anatomy-access", "Access to memory")
        self._access.setToolTip("Which load or store of the warp to show")
        self._access.activated.connect(self._choose_access)
        tip = "Which of the loads, or of the taps, in their order"
        self._time = WholeBox("anatomy-time", "Which time, or which tap", tip)
        self._time.valueChanged.connect(lambda _: self._choose_time())
        self._turn = words_label("anatomy-turn", is_muted=True)
        self._lanes = LaneStrip()
        self._lanes.stepped.connect(self.stepped)
        self._lanes.block_stepped.connect(self.block_stepped)
        self._lanes.picked.connect(self.picked)
        self._legend = words_label("anatomy-lane-legend", 0.9, is_muted=True)
        self._sentence = words_label("anatomy-lane-words")
        times = HBox()
        times.add(self._time, (self._turn, 1))
        rows = VBox(self, (9, 7, 9, 7))
        rows.add(
            self._thread,
            self._words,
            self._access,
            times,
            self._lanes,
            self._legend,
            self._sentence,
        )

    @property
    def lanes(self) -> LaneStrip:
        """Return the part that the keyboard goes to."""
        return self._lanes

    def marks(self, look: Look) -> Marks | None:
        """Return what of `look` is touched at the time that is shown; None without a thread."""
        if look.thread is None:
            return None
        of = look, self._part, self._chosen.get(self._part), self._time.value()
        if of != self._marked:
            self._marked, self._marks = of, self._marks_of(*of)
        return self._marks

    @staticmethod
    def _marks_of(look: Look, part: Part, access: str | None, time: int) -> Marks:
        step = next((each for each in look.steps_of(part) if each.name == access), None)
        return marks_of(look, part, step, min(time, step.count) - 1 if step is not None else 0)

    def show_look(self, look: Look | None, part: Part) -> None:
        """Show a thread and its warp in a part of the launch; hide the card without a thread."""
        is_other_part = part != self._part
        self._look = look if look is not None and look.thread is not None else None
        self._part = part
        self.setVisible(self._look is not None)
        self._steps = self._look.steps_of(part) if self._look is not None else ()
        if self._look is not None:
            self._thread.setText(self._look.thread_words())
            self._words.setText(self._look.part_words(part))
            self._words.setVisible(part != "compute")  # that is the thread's
            self._show_accesses()
        self._show_lanes(fresh=is_other_part)

    def _show_accesses(self) -> None:
        """List the accesses; keep the one that was looked at, else take the one of each tap."""
        titles = [f"{step.name}, {KINDS[step.memory]}" for step in self._steps]
        if titles != self._access.entries():
            self._access.clear()
            self._access.addItems(titles)
        names = [step.name for step in self._steps]
        taps = [
            n for n, step in enumerate(self._steps) if self._look and self._look.is_of_taps(step)
        ]
        known = self._chosen.get(self._part)
        chosen = names.index(known) if known in names else taps[0] if taps else 0
        self._access.setCurrentIndex(chosen)
        if names:
            self._chosen[self._part] = names[chosen]

    def _choose_access(self, number: int) -> None:
        self._chosen[self._part] = self._steps[number].name
        self._show_lanes(fresh=True)
        self.time_chosen.emit()

    def _choose_time(self) -> None:
        self._show_lanes()
        self.time_chosen.emit()

    def _show_lanes(self, fresh: bool = False) -> None:
        """Show the lanes at a time; `fresh`: at the first, as it is another access."""
        look = self._look
        for part in (self._access, self._lanes, self._legend, self._sentence):
            part.setVisible(bool(self._steps))
        if look is None or not self._steps:
            self._time.hide()
            self._turn.hide()
            self._lanes.show_lanes(None, 0)
            return
        step = self._steps[self._access.currentIndex()]
        with QSignalBlocker(self._time):
            self._time.setRange(1, step.count)
            if fresh:
                self._time.setValue(1)
        self._time.setVisible(step.count > 1)
        self._turn.setVisible(step.count > 1)
        time = self._time.value() - 1
        turn = look.turn_words(step, time)
        self._turn.setText(f"of {step.count:,}: {turn}" if turn else f"of {step.count:,}")
        lanes = lanes_of(look, step, time)
        self._lanes.show_lanes(lanes, look.lane)
        self._legend.setText(lanes.legend)
        self._sentence.setText(lanes.sentence)
