"""The parts of the panel: the choice of the launch, and the card of one warp."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QEvent, QRect, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QFrame,
    QHeaderView,
    QSizePolicy,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from kernels.anatomy.record import Access, Part
from kernels.anatomy.transactions import LANES
from kernels.core.device import Device
from kernels.core.job import Job
from kernels.rungs.own_kernels import is_own
from kernels.rungs.rung import Rung, ladder
from workbench.base import theme
from workbench.base.paths import asset_table
from workbench.base.plain_text import tip_text
from workbench.model import intents
from workbench.panels.anatomy.subject import (
    LaneCell,
    Look,
    Marks,
    Subject,
    lanes_of,
    marks_of,
    subject_of,
)
from workbench.panels.controls.tool_row import BlockBox
from workbench.session.store import Store
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.buttons import allow, described
from workbench.widgets.drop_down import DropDown
from workbench.widgets.keyboard import ARROWS
from workbench.widgets.number_boxes import WholeBox
from workbench.widgets.tile import scaled_font, words_label
from workbench.widgets.watch import Watch

LEAST_WIDTH_PX = 256
MARK = "!"  # seen without its colour, too


class LaneGrid(QTableWidget):
    """Rows of lanes, one of them framed; where a row is a warp, signs without numbers."""

    picked = Signal(int)  # (lane): the user clicked a lane
    stepped = Signal(int, int, bool)  # (across, down, is_shifted): an arrow key was pressed

    def __init__(self, name: str, title: str, hint: str, columns: int, text_scale: float) -> None:
        """Make an empty grid; text_scale: size of the cells' texts, of the usual letters."""
        super().__init__(LANES // columns, columns)
        described(self, name, title, hint)
        self.cells: Sequence[LaneCell] = ()
        self._lane = 0
        self.cellClicked.connect(lambda row, column: self.picked.emit(row * columns + column))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QTableWidget.SelectionMode.NoSelection)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.setTextElideMode(Qt.TextElideMode.ElideNone)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        for header in (self.horizontalHeader(), self.verticalHeader()):
            header.hide()
            header.setMinimumSectionSize(1)
            header.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.setFont(scaled_font(text_scale))
        Watch(self, QEvent.Type.PaletteChange).seen.connect(
            lambda: self.show_cells(self.cells, self._lane, self.accessibleDescription())
        )

    def show_cells(self, cells: Sequence[LaneCell], lane: int, description: str) -> None:
        """Show these cells, with a frame around `lane`."""
        self.cells, self._lane = cells, lane
        self.setAccessibleDescription(description)
        colors, columns = theme.colors(self.palette()), self.columnCount()
        self.setRowCount(max(len(cells), LANES) // columns)
        self.updateGeometry()
        for number, cell in enumerate(cells):
            item = QTableWidgetItem()
            item.setTextAlignment(Qt.AlignmentFlag.AlignCenter)
            fill = QColor(colors.surface)
            if cell.color is not None:
                fill = QColor(colors.bad if cell.is_marked else colors.series[cell.color])
                fill.setAlpha(90 if cell.is_marked else 70)
            mark = MARK if cell.is_marked else ""
            text = mark or cell.text if columns == LANES else f"{number}\n{cell.text}{mark}"
            item.setText(text if cell.exists else "")
            item.setToolTip(tip_text(cell.tip))
            item.setBackground(fill)
            self.setItem(*divmod(number, columns), item)
        self.viewport().update()

    def sizeHint(self) -> QSize:  # noqa: N802
        lines = 1 if self.columnCount() == LANES else 2
        return QSize(LEAST_WIDTH_PX, self.rowCount() * (lines * self.fontMetrics().height() + 4))

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return self.sizeHint()

    def cell(self, lane: int) -> QRect:
        """The box in which a lane is painted, in the viewport."""
        return self.visualRect(self.model().index(*divmod(lane, self.columnCount())))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        super().paintEvent(event)
        painter, colors = QPainter(self.viewport()), theme.colors(self.palette())
        painter.setPen(QPen(QColor(colors.text), 2))
        painter.drawRect(self.cell(self._lane).adjusted(1, 1, -2, -2))

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if (step := ARROWS.get(event.key())) is None:
            event.ignore()  # others are the panel's
            return
        is_shifted = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        self.stepped.emit(*step, is_shifted)


FIRST = "shared"  # the rung until one is chosen
TIPS = asset_table("tips.toml")["anatomy"]


class LaunchChoice(QWidget):
    """Three lists that follow the rung that runs until another is picked here."""

    changed = Signal()  # another rung or pass was picked

    def __init__(self, store: Store) -> None:
        super().__init__()
        self._chosen = ""  # the rung picked here; "" follows the one that runs
        self._last_rung = FIRST  # the last one that ran
        self._asked_for = ""  # the implementation that the user asked for last
        self._running = ""  # the one that ran last, on the CPU or the GPU
        self._pass = 0
        self._names = DropDown("anatomy-rung", "Implementation to show", TIPS["names"])
        for each in ladder():
            self._names.add(each.title, each.key, each.idea)
        self._names.activated.connect(lambda _: self._choose(self._names.currentData(), 0))
        self._passes = DropDown("anatomy-pass", "Launch", "Which of its launches to show")
        self._passes.activated.connect(lambda number: self._choose(self._chosen, number))
        self._blocks = BlockBox("anatomy-block")
        self._blocks.activated.connect(lambda _: store.choose(block_xy=self._blocks.currentData()))
        self._note = words_label("anatomy-running", 0.9, is_muted=True)
        VBox(self, 0).add(HBox().add((self._names, 3), (self._blocks, 2)), self._passes, self._note)

    def follow(self, key: str) -> bool:
        """Note that implementation `key` runs; return True if it is another rung than before."""
        self._running = key
        is_other = _rung(key) is not None and key != self._last_rung
        if is_other:
            self._last_rung = key
        return is_other

    def follow_choice(self, key: str) -> None:
        """Note that the state names `key`; where that is another rung, it replaces the one here."""
        if key != self._asked_for and _rung(key) is not None:
            self._last_rung, self._chosen = key, ""
        self._asked_for = key

    def launch_of(self, job: Job, device: Device | None) -> Subject | str:
        """The launch to show, or a sentence on why there is none.

        It is that of the rung picked here, even if it does not take the job; else of the last one
        that ran, or of the first that takes it.
        """
        found = subject_of(self.rung, job, device)
        if isinstance(found, str) and not self._chosen:
            each = (subject_of(rung, job, device) for rung in ladder())
            found = next((other for other in each if isinstance(other, Subject)), found)
        return found.with_pass(self._pass) if isinstance(found, Subject) else found

    @property
    def rung(self) -> Rung:
        """The rung picked here, or else the last one that ran."""
        return _rung(self._chosen or self._last_rung) or ladder()[0]

    def restore(self, choices: Mapping[str, Any]) -> None:
        """Show the remembered rung until another runs or is picked."""
        key = choices.get("rung")
        self._last_rung = key if isinstance(key, str) and _rung(key) else FIRST
        self._chosen = ""

    def show_launch(self, subject: Subject | None, block_xy: tuple[int, int]) -> None:
        """Show the choice in the lists; `block_xy` may be any shape."""
        rung = subject.rung if subject is not None else self.rung
        self._names.show_data(rung.key)
        self.show_running()
        self._blocks.show_block(block_xy)
        allow(self._blocks, rung.own_block, TIPS["block"])
        passes = subject.shapes if subject is not None else ()
        titles = (f"Launch {each.number + 1}: {each.function}" for each in passes)
        self._passes.show_entries(dict.fromkeys(titles))
        self._passes.setCurrentIndex(min(self._pass, max(len(passes) - 1, 0)))
        self._passes.setVisible(len(passes) > 1)

    def show_running(self) -> None:
        """Name the implementation that runs where it is not the one whose launch is shown."""
        running = self._running
        is_needed = bool(running) and running != self._names.currentData()
        self._note.setVisible(is_needed)
        if is_needed:
            where = "" if _rung(running) or is_own(running) else " on the CPU"
            title = intents.implementation(running).title
            shown = self._names.currentText()
            self._note.setText(f"Running: {title}{where}. Shown: what {shown} launches.")

    def _choose(self, key: str, number: int) -> None:
        self._chosen, self._pass = key, number
        self.changed.emit()


def _rung(key: str) -> Rung | None:
    return next((rung for rung in ladder() if rung.key == key), None)


KINDS = {"global": "global memory", "shared": "shared memory"}
HINT = "Arrow keys: another lane or warp; with Shift: the next block.  Click: that lane"


class WarpCard(QFrame):
    """A card that shows a `Look` with a thread; hidden where there is none.

    lanes  the part that gets the keyboard
    """

    time_chosen = Signal()  # another access, or another time of it, is shown

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("card", True)
        self._look: Look | None = None
        self._part: Part = "compute"
        self._steps: tuple[Access, ...] = ()
        self._chosen: dict[Part, str] = {}  # the name of the access shown last
        self._thread, self._words = words_label("anatomy-thread"), words_label("anatomy-part-words")
        self._access = DropDown("anatomy-access", "Access to memory", TIPS["access"])
        self._access.activated.connect(self._choose_access)
        self._time = WholeBox("anatomy-time", "Which time, or which tap", TIPS["time"])
        self._time.valueChanged.connect(lambda _: self._show_lanes())
        self._time.valueChanged.connect(lambda _: self.time_chosen.emit())
        self._turn = words_label("anatomy-turn", is_muted=True)
        self.lanes = LaneGrid("anatomy-lanes", "Lanes of the warp", HINT, 16, 0.85)
        self._legend = words_label("anatomy-lane-legend", 0.9, is_muted=True)
        self._sentence = words_label("anatomy-lane-words")
        times = HBox().add(self._time, (self._turn, 1))
        VBox(self, (9, 7, 9, 7)).add(
            *(self._thread, self._words, self._access, times),
            *(self.lanes, self._legend, self._sentence),
        )

    def marks(self, look: Look) -> Marks | None:
        """The samples that `look` touches at the time shown; None without a thread."""
        if look.thread is None:
            return None
        name = self._chosen.get(self._part)
        step = next((each for each in look.steps_of(self._part) if each.name == name), None)
        time = min(self._time.value(), step.count) - 1 if step else 0
        return marks_of(look, self._part, step, time)

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
            titles = [f"{step.name}, {KINDS[step.memory]}" for step in self._steps]
            self._access.show_entries(dict.fromkeys(titles))
            # The access shown last stays, else it is the one of each tap.
            names = [step.name for step in self._steps]
            taps = [step.name for step in self._steps if self._look.is_of_taps(step)]
            wanted = (self._chosen.get(self._part, ""), *taps, *names)
            if names:
                chosen = next(name for name in wanted if name in names)
                self._chosen[self._part] = chosen
                self._access.setCurrentIndex(names.index(chosen))
        self._show_lanes(from_first=is_other_part)

    def _choose_access(self, number: int) -> None:
        self._chosen[self._part] = self._steps[number].name
        self._show_lanes(from_first=True)
        self.time_chosen.emit()

    def _show_lanes(self, from_first: bool = False) -> None:
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
