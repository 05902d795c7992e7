"""The panel about one launch: its blocks, a warp's accesses lane by lane, and it all in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from PySide6.QtCore import QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QFocusEvent, QHideEvent, QKeyEvent, QPainter, QShowEvent
from PySide6.QtWidgets import QWidget

from kernels.anatomy.launch_shapes import Block, Rect
from kernels.anatomy.record import PARTS, Part
from kernels.anatomy.transactions import LANES
from kernels.core.device import Device, NoDevice
from kernels.core.errors import KernelError
from kernels.core.job import Result
from workbench.base.background import AFTER_PAINTING_MS, Throttle
from workbench.model import intents
from workbench.model.state import State
from workbench.panels.anatomy.anatomy_overlay import (
    block_area,
    grid_is_drawn,
    legend_of,
    paint_look,
)
from workbench.panels.anatomy.launch_choice import LaunchChoice
from workbench.panels.anatomy.launch_legend import paint_legend, usual_height
from workbench.panels.anatomy.loads_bar import LoadsBar
from workbench.panels.anatomy.part_buttons import PartButtons
from workbench.panels.anatomy.subject import Look, Subject, look_at, look_from
from workbench.panels.anatomy.warp_card import WarpCard
from workbench.session.store import Store
from workbench.session.tasks import AnalysisThread
from workbench.session.worker import Worker
from workbench.widgets.boxes import UprightArea, VBox
from workbench.widgets.folding import FoldedSection, GivingWay
from workbench.widgets.lazy_panel import MARGINS
from workbench.widgets.tile import words_label

NO_PICTURE = "Open a picture: blocks, warps and threads are drawn over it."
PROSE_TIP = "The launch, this block and this warp in sentences."
TOO_CLOSE = "Zoom in to see the grid of blocks."
PASSING_MS = 50
RECORDS, COUNTS = "anatomy-block", "anatomy"  # what is done on the thread for analyses
KEYS: dict[int, Part] = dict(zip((Qt.Key.Key_1, Qt.Key.Key_2, Qt.Key.Key_3), PARTS, strict=True))


class AnatomyPane(QWidget):
    """The panel about a launch, which works without a GPU and for whatever implementation.

    Signals:
        look_changed(): what `paint` paints is another.
        wanted(name, value): the user wants `value` for State field `name`: "block_xy".
        area_wanted(area): this QRectF of pixels is to fill the view.
        entered(area): it came on screen, and this is the block that it shows.
        left(): it went.
    """

    look_changed = Signal()
    wanted = Signal(str, object)
    area_wanted = Signal(object)
    entered = Signal(object)
    left = Signal()

    def __init__(self, store: Store, worker: Worker, counts: AnalysisThread) -> None:
        """Make the panel.

        store, worker  read for the state and the device, never written to
        counts         records blocks and counts idle threads, which takes up to some seconds
        """
        super().__init__()
        self.setObjectName("anatomy-pane")
        self._store, self._worker, self._counts = store, worker, counts
        self._part: Part = "load"
        self._subject: Subject | None = None
        self._look: Look | None = None
        self._worded: Look | None = None  # the one that the panel describes
        self._at: tuple[int, int] | None = None  # sample and row that are looked at
        self._from: tuple[Subject, Block, int] | None = None  # numbers that cannot be pointed at
        self._scale = 1.0
        self._passing = Throttle(PASSING_MS, self._catch_up, self)
        self._later = Throttle(AFTER_PAINTING_MS, self._refresh, self)
        self._make()
        self._lay_out()

    # -- what to show

    def show_state(self, state: State) -> None:
        """Show `state` in a moment: while a slider is dragged the picture goes first."""
        self._choice.follow_choice(state.implementation)
        subject = self._subject
        is_of_it = subject is not None and intents.is_of(subject.job, state.picture)
        if not self.isVisible() or not is_of_it:
            self._refresh()
        else:
            self._later.ask()

    def show_device(self, _device: Device | NoDevice) -> None:
        """Show what the device, which the worker holds by now, can launch."""
        self._refresh()

    def show_result(self, result: Result) -> None:
        """Show what ran: `auto` may have picked a rung."""
        is_other = self._choice.follow(result.implementation)
        if self.isVisible():
            self._choice.show_running()
        if self._later.isActive():
            return
        # The job may also have been filtered in another pixel type.
        subject = self._subject
        if is_other or (subject is not None and subject.job.picture is not result.job.picture):
            self._refresh()

    def show_settled(self, result: Result) -> None:
        """Show the final result of a job."""
        if self._later.isActive():
            self._refresh()
        self.show_result(result)

    def point_at(self, point: tuple[float, float] | None) -> None:
        """Look at the thread that computes what is there, in pixels of the picture."""
        if point is None or self._subject is None or not self.isVisible():
            return
        channels, picture = self._subject.channels, self._subject.shape.picture
        x, y = int(point[0] * channels // 1), int(point[1] // 1)
        if 0 <= x < picture.right and 0 <= y < picture.bottom:
            self._go(x, y, is_passing=True)

    def paint(
        self,
        painter: QPainter,
        visible: QRectF,
        scale: float,
        foot_px: float = 0.0,
        corner_px: float = 0.0,
    ) -> None:
        """Paint as an `Overlay` of pictures; nothing while the panel is hidden.

        foot_px, corner_px  how high, or wide, something else is in the legend's corners
        """
        if self._look is None or not self.isVisible():
            return
        look, marks = self._look, self._warp.marks(self._look)
        paint_look(painter, visible, scale, look, marks)
        part = None if marks is None else marks.part
        paint_legend(painter, visible, scale, part, legend_of(look, marks), foot_px, corner_px)
        if scale != self._scale:
            self._scale = scale
            QTimer.singleShot(0, self, self._show_grid_note)  # no layout may change while painting

    @property
    def is_painting(self) -> bool:
        """Return whether there is anything over the picture."""
        return self._look is not None and self.isVisible()

    @property
    def legend_px(self) -> int:
        """Return how high the legend over the picture usually is, with its margin."""
        return math.ceil(usual_height(self.fontMetrics()))

    @property
    def look(self) -> Look | None:
        """Return the block and the thread that are looked at; None: nothing."""
        return self._look

    def choices(self) -> dict[str, Any]:
        """Return what to remember until the next start, fit for JSON."""
        return self._choice.choices()

    def restore(self, choices: Mapping[str, Any]) -> None:
        """Take over what `choices()` gave, as far as it makes sense."""
        self._choice.restore(choices)
        self._refresh()

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        """Pass the focus on; with a focus proxy Tab would skip what stands before the lanes."""
        self._warp.lanes.setFocus(event.reason())

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self._refresh()
        if not event.spontaneous():
            QTimer.singleShot(0, self, self._enter)  # the pointer's thread may be asked for

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802
        super().hideEvent(event)
        if not event.spontaneous():
            self.left.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        part = KEYS.get(event.key())
        if part is not None and self._look is not None:
            self.show_part(part)
        else:
            super().keyPressEvent(event)

    @property
    def part(self) -> Part:
        """Return which part of the launch is shown."""
        return self._part

    def show_part(self, part: Part) -> None:
        """Show another part of the launch: load, share or compute."""
        self._part = part
        self._parts.show_part(part)
        self._warp.show_look(self._look, part)
        self.look_changed.emit()

    def show_next_part(self) -> None:
        """Show the part after this one; after the last the first."""
        self.show_part(PARTS[(PARTS.index(self._part) + 1) % len(PARTS)])

    # -- building

    def _make(self) -> None:
        self._choice = LaunchChoice()
        self._choice.changed.connect(self._refresh)
        self._choice.changed.connect(self._ask_zoom)  # its blocks may have quite another size
        self._choice.block_wanted.connect(lambda shape: self.wanted.emit("block_xy", shape))
        self._sentence = words_label("anatomy-sentence")
        self._loads = LoadsBar()
        self._parts = PartButtons()
        self._parts.chosen.connect(self.show_part)
        self._parts.show_part(self._part)
        self._words = [
            (words_label(f"anatomy-heading-{n}"), words_label(f"anatomy-words-{n}"))
            for n in range(3)
        ]
        for heading, _ in self._words:
            heading.setProperty("heading", True)
        self._warp = WarpCard()
        self._warp.stepped.connect(self._step)
        self._warp.block_stepped.connect(self._step_block)
        self._warp.picked.connect(self._pick_lane)
        self._warp.time_chosen.connect(self.look_changed)
        self._parts.zoom_wanted.connect(self._ask_zoom)
        self._grid_note = words_label("anatomy-grid-note", 0.85, is_muted=True)
        self._grid_note.setText(TOO_CLOSE)
        self._grid_note.hide()

    def _lay_out(self) -> None:
        inside = QWidget()
        column = VBox(inside, MARGINS, 6)
        prose = QWidget()
        paragraphs = VBox(prose, 0, 6)
        for heading, words in self._words:
            paragraphs.add(heading, words)
        folded = FoldedSection("anatomy-fold", PROSE_TIP, "In words", prose)
        column.add(self._choice, self._sentence, self._loads, self._parts, self._warp)
        self._in_words = QWidget()  # which the section is in, as only its guard hides that
        VBox(self._in_words, 0).addWidget(folded)
        self._in_words.hide()
        column.add(self._grid_note, self._in_words)
        column.addStretch(1)
        area = UprightArea(inside)
        giving_way = GivingWay(area, (folded, self._sentence), usual=2)
        giving_way.staged.connect(lambda: self._parts.zoom.setVisible(not giving_way.is_staged))
        whole = VBox(self, 0)
        whole.addWidget(area)

    # -- what happens

    def _refresh(self) -> None:
        """Take the state anew; where the same thread is there, it stays looked at."""
        self._later.stop()
        if not self.isVisible():
            # They would keep a closed picture in memory.
            self._subject = self._look = self._worded = None
            for name in (RECORDS, COUNTS):
                self._counts.cancel(name)
            return
        found = self._launch()
        self._subject = found if isinstance(found, Subject) else None
        self._in_words.setVisible(self._subject is not None)
        old, self._look = self._look, None
        self._sentence.setText(found if isinstance(found, str) else found.rung.idea)
        self._choice.show_launch(self._subject, self._store.state.block_xy)
        self._count()
        if self._subject is None:
            self._show_look()
            self.look_changed.emit()
        elif (same := _same_thread(old, self._subject)) is not None:
            self._go_from(*same)
        else:
            picture = self._subject.shape.picture
            x, y = self._at or (picture.right // 2, picture.bottom // 2)
            self._go(min(x, picture.right - 1), min(y, picture.bottom - 1))

    def _count(self) -> None:
        """Show the loads of the launch, and count its idle threads off the GUI thread."""
        subject, device = self._subject, self._worker.device
        limits = device if isinstance(device, Device) else None
        self._loads.show_loads(subject.loads_per_sample(limits) if subject else None)
        self._counts.cancel(COUNTS)
        if subject is None:
            return
        records = subject.records
        if not records.problem and records.idle((0, 0)) is None:
            count = partial(told_at_end, records.making_idle)
            self._counts.ask(COUNTS, count, lambda _: self._show_counts(subject))

    def _record(self, look: Look) -> None:
        """Record a block that is looked at, off the GUI thread."""
        records = look.subject.records
        if look.record is None and not records.problem:
            make = partial(told_at_end, partial(records.making, look.block))
            show = partial(self._show_record, look)
            self._counts.ask(RECORDS, make, lambda _: show(), urgency=1)

    def _show_record(self, of: Look) -> None:
        look = self._look
        if look is None or (look.subject, look.block) != (of.subject, of.block):
            return
        self._look = self._worded = None
        if of.subject.shape.layout is not None and self._from is not None:
            self._go_from(*self._from)
        elif self._at is not None:
            self._go(*self._at)

    def _show_counts(self, subject: Subject) -> None:
        if self._look is not None and self._look.subject is subject:
            self._show_words(self._look)

    def _enter(self) -> None:
        if self._look is not None and self.isVisible():
            self.entered.emit(block_area(self._look))

    def _launch(self) -> Subject | str:
        """Return what to look at, or the sentence that says why there is nothing."""
        try:
            job = intents.job_for(self._store.state)
        except KernelError as error:
            return str(error)
        device = self._worker.device
        limits = device if isinstance(device, Device) else None
        return NO_PICTURE if job is None else self._choice.launch_of(job, limits)

    def _go(self, x: int, y: int, *, is_passing: bool = False) -> None:
        """Look at the thread that computes sample x of row y.

        is_passing  the pointer may be elsewhere with the next frame: then the painting follows at
                    once, but the words only every PASSING_MS, as laying them out takes a while
        """
        assert self._subject is not None
        self._at = x, y
        self._from = None
        self._take(look_at(self._subject, x, y), is_passing=is_passing)

    def _take(self, look: Look, *, is_passing: bool = False) -> None:
        old, self._look = self._look, look
        if old and old.subject is look.subject and _same(old, look):
            self._look = old
            return
        self._record(look)
        self.look_changed.emit()
        if not (is_passing and self._passing.isActive()):
            self._show_look()
        if is_passing:
            self._passing.ask()

    def _catch_up(self) -> None:
        if self._look is not self._worded:
            self._show_look()

    def _show_look(self) -> None:
        old, look = self._worded, self._look
        self._worded = look
        if not (old and look and (old.subject, old.block) == (look.subject, look.block)):
            self._show_words(look)
        self._show_grid_note()
        self._parts.zoom.setEnabled(look is not None)
        self._parts.setVisible(look is not None and look.thread is not None)
        self._warp.show_look(look, self._part)

    def _show_words(self, look: Look | None) -> None:
        sentences = look.sentences() if look else []
        for n, (heading, words) in enumerate(self._words):
            title, text = sentences[n] if n < len(sentences) else ("", "")
            heading.setText(title)
            words.setText(text)
            for part in (heading, words):
                part.setVisible(bool(text))

    def _show_grid_note(self) -> None:
        look = self._look
        self._grid_note.setVisible(look is not None and not grid_is_drawn(look, self._scale))

    def _ask_zoom(self) -> None:
        if self._look is not None:
            self.area_wanted.emit(block_area(self._look))

    def _pick_lane(self, lane: int) -> None:
        if self._look is not None:
            self._go_to_thread(self._look.warp * LANES + lane)

    def _step(self, lanes: int, warps: int) -> None:
        if self._look is not None and self._look.thread is not None:
            self._go_to_thread(self._look.thread + lanes + LANES * warps)

    def _go_to_thread(self, thread: int) -> None:
        """Look at a thread of the same block, where it has a sample on the picture, or numbers."""
        look = self._look
        assert look is not None
        if look.subject.shape.layout is not None:
            self._go_from(look.subject, look.block, thread)
            return
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
        if shape.layout is not None:
            self._go_from(look.subject, target, look.thread or 0)
            return
        if 0 <= target[0] < shape.grid[0] and 0 <= target[1] < shape.grid[1]:
            own: Rect = shape.tile(target).clipped(shape.picture)
            x = min(self._at[0] + across * shape.covers[0], own.right - 1)
            self._go(x, min(self._at[1] + down * shape.covers[1], own.bottom - 1))

    def _go_from(self, subject: Subject, block: Block, thread: int) -> None:
        found = look_from(subject, block, thread)
        if found is not None:
            self._at, self._from = found.middle, (subject, block, thread)
            self._take(found)


def told_at_end(make: Callable[[], Iterator[None]]) -> Iterator[bool | None]:
    """Do what `make` makes; None on the way, True at the end."""
    yield from make()
    yield True


def _same(old: Look, look: Look) -> bool:
    """Return whether the same thread is looked at, and the same samples of it."""
    if (old.block, old.thread, old.record) != (look.block, look.thread, look.record):
        return False
    return old.own == look.own


def _same_thread(old: Look | None, subject: Subject) -> tuple[Subject, Block, int] | None:
    """Return the same numbers of a transform in another launch, or None.

    The launch must have the same blocks. A place of the picture would lead to another thread.
    """
    if old is None or subject.shape.layout is None:
        return None
    was, now = old.subject, subject
    is_same_pass = (was.rung, was.shape.function) == (now.rung, now.shape.function)
    has_same_blocks = (was.shape.grid, was.shape.threads) == (now.shape.grid, now.shape.threads)
    is_there = is_same_pass and has_same_blocks
    return (now, old.block, old.thread or 0) if is_there else None
