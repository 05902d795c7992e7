"""The panel about one launch: its blocks, a warp's accesses lane by lane, and it all in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QRectF, QSignalBlocker, QTimer, Signal
from PySide6.QtGui import QFocusEvent, QFont, QPainter, QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from kernels.anatomy.memory import LANES
from kernels.anatomy.shapes import Rect
from kernels.device import Device, NoDevice
from kernels.errors import KernelError
from kernels.job import Result
from kernels.rung import Rung, ladder
from kernels.tuner import PRESETS
from workbench import intents
from workbench.anatomy.overlay import grid_is_drawn, paint_look
from workbench.anatomy.strip import LaneStrip
from workbench.anatomy.subject import Look, Subject, lanes_of, look_at, subject_of
from workbench.controls.drop_down import DropDown
from workbench.controls.number_boxes import WholeBox
from workbench.state import State
from workbench.views.tile import scaled_font
from workbench.views.upright_area import UprightArea

FIRST = "shared"  # where nothing was chosen yet
BLOCK_TIP = "Threads per block, as under Implementation; keys: , and ."
NO_PICTURE = "Open a picture first: the anatomy is drawn over it."
TOO_CLOSE = "The grid is not drawn: zoom in until blocks are a few screen pixels apart."
PASSING_MS = 50
KINDS = {"global": "global memory", "shared": "shared memory"}


class AnatomyPane(QWidget):
    """Follows the state; works without a GPU, and whatever implementation is chosen.

    Signals:
        look_changed(): what `paint` paints is another.
        wanted(name, value): the user wants `value` for State field `name`: "block_xy".
        zoom_wanted(x, y): pixel (x, y) is to be seen from near.
    """

    look_changed = Signal()
    wanted = Signal(str, object)
    zoom_wanted = Signal(int, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("anatomy-pane")
        self._state = State()
        self._device: Device | None = None
        self._chosen = ""  # the rung picked here; "" follows the state
        self._last_rung = FIRST  # the last one that the state or `auto` chose
        self._pass = 0
        self._subject: Subject | None = None
        self._look: Look | None = None
        self._worded: Look | None = None  # the one that the panel tells of
        self._at: tuple[int, int] | None = None  # sample and row looked at
        self._scale = 1.0
        self._passing = QTimer(self)
        self._passing.setSingleShot(True)
        self._passing.setInterval(PASSING_MS)
        self._passing.timeout.connect(self._catch_up)
        self._make()
        self._lay_out()

    # -- what to show

    def show_state(self, state: State) -> None:
        old, self._state = self._state, state
        if state.implementation != old.implementation and _rung(state.implementation):
            self._last_rung, self._chosen = state.implementation, ""
        self._refresh()

    def show_device(self, device: Device | NoDevice) -> None:
        self._device = device if isinstance(device, Device) else None
        self._refresh()

    def show_result(self, result: Result) -> None:
        """What ran: `auto` may have picked a rung."""
        is_other = bool(_rung(result.implementation)) and result.implementation != self._last_rung
        if is_other:
            self._last_rung = result.implementation
        # Or it was filtered in another pixel type.
        subject = self._subject
        if is_other or (subject is not None and subject.job.picture is not result.job.picture):
            self._refresh()

    def point_at(self, point: tuple[float, float] | None) -> None:
        """Look at the thread that makes what is there, in pixels of the picture."""
        if point is None or self._subject is None or not self.isVisible():
            return
        channels, picture = self._subject.channels, self._subject.shape.picture
        x, y = int(point[0] * channels // 1), int(point[1] // 1)
        if 0 <= x < picture.right and 0 <= y < picture.bottom:
            self._go(x, y, is_passing=True)

    def paint(self, painter: QPainter, visible: QRectF, scale: float) -> None:
        """An `Overlay` of pictures; nothing while the panel is hidden."""
        if self._look is None or not self.isVisible():
            return
        paint_look(painter, visible, scale, self._look)
        if scale != self._scale:
            self._scale = scale
            QTimer.singleShot(0, self, self._show_grid_note)  # nothing is laid out while painting

    @property
    def look(self) -> Look | None:
        return self._look

    def choices(self) -> dict[str, Any]:
        """What to remember until the next start, fit for JSON."""
        return {"rung": self._chosen or self._last_rung}

    def restore(self, choices: Mapping[str, Any]) -> None:
        """Take over what `choices()` gave, as far as it makes sense."""
        key = choices.get("rung")
        self._last_rung = key if isinstance(key, str) and _rung(key) else FIRST
        self._chosen = ""
        self._refresh()

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        """Passed on; with a focus proxy Tab would not come to what stands before the lanes."""
        self._lanes.setFocus(event.reason())

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self._refresh()

    # -- building

    def _make(self) -> None:
        self._names = DropDown("anatomy-rung", "Rung to take apart")
        self._names.setToolTip("Which rung's launch to show; it need not be the one that runs")
        for each in ladder():
            self._names.addItem(each.title, each.key)
        self._names.activated.connect(lambda _: self._choose(self._names.currentData()))
        self._passes = DropDown("anatomy-pass", "Pass")
        self._passes.setToolTip("Which of its launches")
        self._passes.activated.connect(self._choose_pass)
        self._blocks = DropDown("anatomy-block", "Block shape")
        self._blocks.activated.connect(
            lambda _: self.wanted.emit("block_xy", self._blocks.currentData())
        )
        self._sentence = _label("anatomy-sentence")
        self._words = [
            (_label(f"anatomy-heading-{n}", 0.85), _label(f"anatomy-words-{n}")) for n in range(3)
        ]
        for heading, _ in self._words:
            heading.setProperty("muted", True)
        self._thread_words = _label("anatomy-thread")
        self._access = DropDown("anatomy-access", "Access to memory")
        self._access.setToolTip("Which load or store of the warp to look at, as the text has them")
        self._access.activated.connect(lambda _: self._show_lanes(fresh=True))
        self._time = WholeBox()
        self._time.setObjectName("anatomy-time")
        self._time.setAccessibleName("Which time, or which tap")
        self._time.setToolTip("Which of the loads, or of the taps, in their order")
        self._time.valueChanged.connect(lambda _: self._show_lanes())
        self._turn = QLabel()
        self._turn.setProperty("muted", True)
        self._lanes = LaneStrip()
        self._lanes.stepped.connect(self._step)
        self._lanes.block_stepped.connect(self._step_block)
        self._lanes.picked.connect(self._pick_lane)
        self._lane_words = _label("anatomy-lane-words")
        self._zoom = QPushButton("Zoom to it")
        self._zoom.setObjectName("anatomy-zoom")
        self._zoom.setAccessibleName("Zoom to the thread")
        self._zoom.setToolTip("Have the thread's pixel in the middle, large enough to be seen")
        self._zoom.clicked.connect(self._ask_zoom)
        self._grid_note = _label("anatomy-grid-note", 0.85)
        self._grid_note.setText(TOO_CLOSE)
        self._grid_note.setProperty("muted", True)
        self._grid_note.hide()

    def _lay_out(self) -> None:
        times = QHBoxLayout()
        times.addWidget(self._time)
        times.addWidget(self._turn, 1)
        self._warp_part = QFrame()
        self._warp_part.setProperty("card", True)
        warp = QVBoxLayout(self._warp_part)
        warp.addWidget(self._thread_words)
        warp.addWidget(self._access)
        warp.addLayout(times)
        warp.addWidget(self._lanes)
        warp.addWidget(self._lane_words)
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(2, 4, 6, 4)
        column.setSpacing(6)
        column.addWidget(self._sentence)
        column.addWidget(self._warp_part)
        for heading, words in self._words:
            column.addWidget(heading)
            column.addWidget(words)
        near = QHBoxLayout()
        near.addWidget(self._grid_note, 1)
        near.addWidget(self._zoom)
        column.addLayout(near)
        column.addStretch(1)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(10, 4, 6, 8)
        choice = QHBoxLayout()
        choice.addWidget(self._names, 3)
        choice.addWidget(self._blocks, 2)
        rows.addLayout(choice)
        rows.addWidget(self._passes)
        rows.addWidget(UprightArea(inside), 1)

    # -- what happens

    def _choose(self, key: str) -> None:
        self._chosen, self._pass = key, 0
        self._refresh()

    def _choose_pass(self, number: int) -> None:
        self._pass = number
        self._refresh()

    def _refresh(self) -> None:
        """Take the state anew; where the same thread is there, it stays looked at."""
        if not self.isVisible():
            # Which would keep a picture that was closed.
            self._subject = self._look = self._worded = None
            return
        rung, found = self._rung_and_subject()
        self._names.setCurrentIndex(self._names.findData(rung.key))
        self._subject = found if isinstance(found, Subject) else None
        self._look = None
        self._sentence.setText(found if isinstance(found, str) else rung.idea)
        self._show_blocks(rung)
        self._show_passes()
        if self._subject is None:
            self._show_look()
            self.look_changed.emit()
        else:
            picture = self._subject.shape.picture
            x, y = self._at or (picture.right // 2, picture.bottom // 2)
            self._go(min(x, picture.right - 1), min(y, picture.bottom - 1))

    def _rung_and_subject(self) -> tuple[Rung, Subject | str]:
        """What was picked here, whether or not it takes the job; else the last rung that ran, or
        the first that takes it."""
        rung = _rung(self._chosen or self._last_rung) or ladder()[0]
        try:
            job = intents.job_for(self._state)
        except KernelError as error:
            return rung, str(error)
        if job is None:
            return rung, NO_PICTURE
        found = subject_of(rung, job, self._device)
        if isinstance(found, str) and not self._chosen:
            others = ((each, subject_of(each, job, self._device)) for each in ladder())
            able = ((each, other) for each, other in others if isinstance(other, Subject))
            rung, found = next(able, (rung, found))
        return rung, found.with_pass(self._pass) if isinstance(found, Subject) else found

    def _show_blocks(self, rung: Rung) -> None:
        """The usual shapes and the chosen one, which may be any."""
        own = self._state.block_xy
        shapes = list(dict.fromkeys((*PRESETS, own)))
        titles = [f"{x}×{y}" for x, y in shapes]
        if titles != _entries(self._blocks):
            self._blocks.clear()
            for title, shape in zip(titles, shapes, strict=True):
                self._blocks.addItem(title, shape)
        self._blocks.setCurrentIndex(shapes.index(own))
        self._blocks.setEnabled(not rung.own_block)
        self._blocks.setToolTip(rung.own_block or BLOCK_TIP)

    def _show_passes(self) -> None:
        shapes = self._subject.shapes if self._subject else ()
        titles = [f"Launch {shape.number + 1}: {shape.function}" for shape in shapes]
        if titles != _entries(self._passes):
            self._passes.clear()
            self._passes.addItems(titles)
        self._passes.setCurrentIndex(min(self._pass, max(len(titles) - 1, 0)))
        self._passes.setVisible(len(titles) > 1)

    def _go(self, x: int, y: int, *, is_passing: bool = False) -> None:
        """Look at the thread that makes sample x of row y.

        is_passing  the pointer may be elsewhere with the next frame: then the painting follows at
                    once, but the words only every PASSING_MS, as laying them out takes a while
        """
        assert self._subject is not None
        old = self._look
        self._at = x, y
        self._look = look_at(self._subject, x, y, old)
        if old is not None and (old.block, old.thread, old.round) == (
            self._look.block,
            self._look.thread,
            self._look.round,
        ):
            self._look = old
            return
        self.look_changed.emit()
        if is_passing:
            if not self._passing.isActive():
                self._show_look()
                self._passing.start()
        else:
            self._show_look()

    def _catch_up(self) -> None:
        if self._look is not self._worded:
            self._show_look()

    def _show_look(self) -> None:
        """Tell of it in the panel."""
        old, look = self._worded, self._look
        self._worded = look
        is_same_block = (
            old is not None
            and look is not None
            and (old.subject, old.block) == (look.subject, look.block)
        )
        self._warp_part.setVisible(look is not None and look.thread is not None)
        if not is_same_block:
            sentences = look.sentences() if look else []
            for n, (heading, words) in enumerate(self._words):
                title, text = sentences[n] if n < len(sentences) else ("", "")
                heading.setText(title)
                words.setText(text)
                for part in (heading, words):
                    part.setVisible(bool(text))
        self._show_grid_note()
        self._zoom.setVisible(look is not None)
        if look is not None and look.thread is not None:
            self._thread_words.setText(look.thread_words())
            self._show_accesses(look)
        self._show_lanes()

    def _show_accesses(self, look: Look) -> None:
        titles = [f"{step.name}, {KINDS[step.memory]}" for step in look.steps]
        if titles == _entries(self._access):
            return
        known = self._access.currentText()
        self._access.clear()
        self._access.addItems(titles)
        taps = [n for n, step in enumerate(look.steps) if step.name.endswith("a sample")]
        self._access.setCurrentIndex(
            titles.index(known) if known in titles else taps[0] if taps else 0
        )

    def _show_lanes(self, fresh: bool = False) -> None:
        """fresh  of another access: begin with its first time"""
        look = self._look
        if look is None or look.thread is None:
            self._lanes.show_lanes(None, 0)
            return
        step = look.steps[self._access.currentIndex()]
        with QSignalBlocker(self._time):
            self._time.setRange(1, max(step.count, 1))
            if fresh:
                self._time.setValue(1)
        self._time.setVisible(step.count > 1)
        self._turn.setVisible(step.count > 1)
        time = self._time.value() - 1
        self._turn.setText(f"{step.turn(time)} of {step.count:,} in all" if step.count > 1 else "")
        lanes = lanes_of(look, step, time)
        self._lanes.show_lanes(lanes, look.lane)
        self._lane_words.setText(lanes.sentence)

    def _show_grid_note(self) -> None:
        look = self._look
        self._grid_note.setVisible(look is not None and not grid_is_drawn(look, self._scale))

    def _ask_zoom(self) -> None:
        if self._look is not None and self._at is not None:
            self.zoom_wanted.emit(self._at[0] // self._look.subject.channels, self._at[1])

    def _pick_lane(self, lane: int) -> None:
        if self._look is not None:
            self._go_to_thread(self._look.warp * LANES + lane)

    def _step(self, lanes: int, warps: int) -> None:
        if self._look is not None and self._look.thread is not None:
            self._go_to_thread(self._look.thread + lanes + LANES * warps)

    def _go_to_thread(self, thread: int) -> None:
        """Where it has a sample on the picture."""
        look = self._look
        assert look is not None
        if not 0 <= thread < look.subject.shape.threads:
            return
        sample = look.sample_of(thread)
        picture = look.subject.shape.picture
        if sample is not None and sample[0] < picture.right and sample[1] < picture.bottom:
            self._go(*sample)

    def _step_block(self, across: int, down: int) -> None:
        look = self._look
        if look is None or self._at is None:
            return
        shape = look.subject.shape
        target = (look.block[0] + across, look.block[1] + down)
        if 0 <= target[0] < shape.grid[0] and 0 <= target[1] < shape.grid[1]:
            own: Rect = shape.tile(target).clipped(shape.picture)
            x = min(self._at[0] + across * shape.covers[0], own.right - 1)
            self._go(x, min(self._at[1] + down * shape.covers[1], own.bottom - 1))


def _entries(drop_down: DropDown) -> list[str]:
    return [drop_down.itemText(number) for number in range(drop_down.count())]


def _rung(key: str) -> Rung | None:
    return next((rung for rung in ladder() if rung.key == key), None)


def _label(name: str, scale: float = 1.0, weight: QFont.Weight = QFont.Weight.Normal) -> QLabel:
    label = QLabel()
    label.setObjectName(name)
    label.setFont(scaled_font(scale, weight))
    label.setWordWrap(True)
    label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
    label.setTextInteractionFlags(label.textInteractionFlags().TextSelectableByMouse)
    return label
