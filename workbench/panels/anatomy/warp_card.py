"""The card of one warp: its work in a part of the launch, one access lane by lane."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QFrame

from kernels.anatomy.record import Access, Part
from workbench.panels.anatomy.lane_grid import LaneGrid
from workbench.panels.anatomy.subject import Look, Marks, lanes_of, marks_of
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.drop_down import DropDown
from workbench.widgets.number_boxes import WholeBox
from workbench.widgets.tile import words_label

KINDS = {"global": "global memory", "shared": "shared memory"}
HINT = "Arrow keys: another lane or warp; with Shift: the next block.  Click: that lane"
ACCESS_TIP = "Which load or store of the warp to show"
TIME_TIP = "Which of the loads, or of the taps, in their order"


class WarpCard(QFrame):
    """A card that shows a `Look` with a thread; hidden where there is none.

    lanes  the part that gets the keyboard

    Signals:
        time_chosen(): another access, or another time of it, is shown.
    """

    time_chosen = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("card", True)
        self._look: Look | None = None
        self._part: Part = "compute"
        self._steps: tuple[Access, ...] = ()
        self._chosen: dict[Part, str] = {}  # the name of the access shown last
        self._marked: tuple[Look, Part, str | None, int] | None = None  # what `_marks` are of
        self._marks: Marks | None = None
        self._thread, self._words = words_label("anatomy-thread"), words_label("anatomy-part-words")
        self._access = DropDown("anatomy-access", "Access to memory", ACCESS_TIP)
        self._access.activated.connect(self._choose_access)
        self._time = WholeBox("anatomy-time", "Which time, or which tap", TIME_TIP)
        self._time.valueChanged.connect(lambda _: self._show_lanes())
        self._time.valueChanged.connect(lambda _: self.time_chosen.emit())
        self._turn = words_label("anatomy-turn", is_muted=True)
        self.lanes = LaneGrid("anatomy-lanes", "Lanes of the warp", HINT, 16, 0.85)
        self._legend = words_label("anatomy-lane-legend", 0.9, is_muted=True)
        self._sentence = words_label("anatomy-lane-words")
        times = HBox()
        times.add(self._time, (self._turn, 1))
        VBox(self, (9, 7, 9, 7)).add(
            *(self._thread, self._words, self._access, times),
            *(self.lanes, self._legend, self._sentence),
        )

    def marks(self, look: Look) -> Marks | None:
        """The samples that `look` touches at the time shown; None without a thread."""
        if look.thread is None:
            return None
        of = look, self._part, self._chosen.get(self._part), self._time.value()
        if of != self._marked:
            steps = [each for each in look.steps_of(self._part) if each.name == of[2]]
            time = min(of[3], steps[0].count) - 1 if steps else 0
            self._marked = of
            self._marks = marks_of(look, self._part, steps[0] if steps else None, time)
        return self._marks

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
            self._show_accesses(self._look)
        self._show_lanes(from_first=is_other_part)

    def _show_accesses(self, look: Look) -> None:
        """List the accesses; keep the one shown last, else take the one of each tap."""
        titles = [f"{step.name}, {KINDS[step.memory]}" for step in self._steps]
        if titles != self._access.entries():
            self._access.clear()
            self._access.addItems(titles)
        names = [step.name for step in self._steps]
        taps = [step.name for step in self._steps if look.is_of_taps(step)]
        wanted = (self._chosen.get(self._part), *taps, *names)
        if names:
            chosen = next(name for name in wanted if name in names)
            assert chosen is not None
            self._chosen[self._part] = chosen
            self._access.setCurrentIndex(names.index(chosen))

    def _choose_access(self, number: int) -> None:
        self._chosen[self._part] = self._steps[number].name
        self._show_lanes(from_first=True)
        self.time_chosen.emit()

    def _show_lanes(self, from_first: bool = False) -> None:
        """Show the lanes at the chosen time of the access, or at its first."""
        look, has_steps = self._look, bool(self._steps)
        for part in (self._access, self.lanes, self._legend, self._sentence):
            part.setVisible(has_steps)
        step = self._steps[self._access.currentIndex()] if has_steps else None
        for part_of_time in (self._time, self._turn):
            part_of_time.setVisible(step is not None and step.count > 1)
        if look is None or step is None:
            return
        with QSignalBlocker(self._time):
            self._time.setRange(1, step.count)
            if from_first:
                self._time.setValue(1)
        time = self._time.value() - 1
        turn = look.turn_words(step, time)
        self._turn.setText(f"of {step.count:,}: {turn}" if turn else f"of {step.count:,}")
        lanes = lanes_of(look, step, time)
        self.lanes.show_cells(lanes.cells, look.lane, f"{lanes.sentence} {lanes.legend}")
        self._legend.setText(lanes.legend)
        self._sentence.setText(lanes.sentence)
