"""The panel about one launch: its blocks, a warp's accesses lane by lane, and it all in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from PySide6.QtCore import QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QFocusEvent, QHideEvent, QKeyEvent, QPainter, QShowEvent
from PySide6.QtWidgets import QButtonGroup, QSizePolicy, QWidget

from kernels.anatomy.launch_shapes import Block
from kernels.anatomy.record import PARTS, Part, loads_words
from kernels.anatomy.transactions import LANES
from kernels.core.errors import KernelError
from kernels.core.job import Result
from kernels.cuda_on_cpu.recording import Stop
from workbench.base.background import AFTER_PAINTING_MS, Throttle
from workbench.base.paths import asset_table
from workbench.base.plain_text import tip_text
from workbench.imaging.pictures import Picture
from workbench.model import intents
from workbench.model.state import State
from workbench.panels.anatomy.anatomy_overlay import (
    PART_TITLES,
    block_area,
    legend_words,
    paint_look,
)
from workbench.panels.anatomy.launch_parts import LaunchChoice, WarpCard
from workbench.panels.anatomy.subject import Look, Subject, look_at, look_from
from workbench.session.store import Store
from workbench.session.tasks import AnalysisThread
from workbench.session.worker import Worker
from workbench.widgets.boxes import HBox, UprightArea, VBox
from workbench.widgets.buttons import push_button
from workbench.widgets.folding import FoldedSection, OffStage
from workbench.widgets.lazy_panel import MARGINS
from workbench.widgets.tile import words_label

NO_PICTURE = "Open a picture: blocks, warps and threads are drawn over it."
WORDS_PX = 860  # the least height at which the section in words is open by itself
TIPS = asset_table("tips.toml")["anatomy"]
PASSING_MS = 50
RECORDS, COUNTS = "anatomy-block", "anatomy"  # the tasks on the thread for analyses
CALM_MS = 120
KEYS: dict[int, Part] = dict(zip((Qt.Key.Key_1, Qt.Key.Key_2, Qt.Key.Key_3), PARTS, strict=True))


class AnatomyPane(QWidget):
    """The panel about a launch, which works without a GPU and for whatever implementation.

    look  the block and the thread that are shown; None: nothing
    part  of the launch: load, share or compute
    """

    look_changed = Signal()  # `paint` paints something else
    area_wanted = Signal(object)  # (area): this QRectF of pixels is to fill the view
    entered = Signal(object)  # (area): it came on screen, and this is the block that it shows
    left = Signal()  # it went

    def __init__(self, store: Store, worker: Worker, counts: AnalysisThread) -> None:
        """Make the panel; `counts` records blocks and counts idle threads."""
        super().__init__()
        self.setObjectName("anatomy-pane")
        self._store, self._worker, self._counts = store, worker, counts
        self.part: Part = "load"
        self._subject: Subject | None = None
        self._of: Picture | None = None  # the picture of that
        self.look: Look | None = None
        self._at: tuple[int, int] | None = None  # the sample and row shown
        self._scale = 1.0  # of the picture, as it was painted last
        self._numbers: tuple[Block, int] | None = None  # block and thread that keys went to
        self._passing = Throttle(PASSING_MS, self._show_look, self)
        self._later = Throttle(AFTER_PAINTING_MS, self._refresh, self)
        self._wanted: dict[str, Callable[[], None]] = {}  # requests to the thread, by their names
        self._calm = Throttle(CALM_MS, self._request, self)
        self._choice = LaunchChoice(store)
        self._choice.changed.connect(self._refresh)
        self._choice.changed.connect(self._ask_zoom)  # its blocks may have quite another size
        self._warp = WarpCard()
        self._warp.lanes.stepped.connect(self._step)
        self._warp.lanes.picked.connect(self._pick_lane)
        self._warp.time_chosen.connect(self.look_changed)
        self.look_changed.connect(self._show_legend)
        self._lay_out()

    def show_state(self, state: State) -> None:
        """Show `state` in a moment: while a slider is dragged the picture goes first."""
        self._choice.follow_choice(state.implementation)
        subject = self._subject
        if self.isVisible() and subject is not None and self._of is state.picture:
            self._later.ask()
        else:
            self._refresh()

    def show_result(self, result: Result) -> None:
        """Show what ran: `auto` may have picked a rung."""
        result = intents.last_run(result)
        is_other = self._choice.follow(result.implementation)
        if self.isVisible():
            self._choice.show_running()
        # The job may also have been filtered in another pixel type.
        job = self._subject.job if self._subject is not None else result.job
        is_other = is_other or job.pixel_type != result.job.pixel_type
        if not self._later.isActive() and is_other:
            self._refresh()

    def show_settled(self, result: Result) -> None:
        if self._later.isActive():
            self._refresh()
        self.show_result(result)

    def point_at(self, point: tuple[float, float] | None) -> None:
        """Show the thread that computes the sample at a point, in pixels of the picture."""
        if point is None or self._subject is None or not self.isVisible():
            return
        channels, picture = self._subject.channels, self._subject.shape.picture
        x, y = int(point[0] * channels // 1), int(point[1] // 1)
        if 0 <= x < picture.right and 0 <= y < picture.bottom:
            self._go(x, y, is_passing=True)

    def paint(self, painter: QPainter, visible: QRectF, scale: float) -> None:
        """Paint as an `Overlay` of pictures; nothing while the panel is hidden."""
        look = self.look
        if look is None or not self.isVisible():
            return
        paint_look(painter, visible, scale, look, self._warp.marks(look))
        if scale != self._scale:
            self._scale = scale
            QTimer.singleShot(0, self, self._show_legend)  # no layout may change while painting

    @property
    def is_painting(self) -> bool:
        """True while there is anything over the picture."""
        return self.look is not None and self.isVisible()

    def choices(self) -> dict[str, Any]:
        return {"rung": self._choice.rung.key}

    def restore(self, choices: Mapping[str, Any]) -> None:
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
        if part is not None and self.look is not None:
            self.show_part(part)
        else:
            super().keyPressEvent(event)

    def show_part(self, part: Part) -> None:
        """Show another part of the launch: load, share or compute."""
        self.part = part
        self._parts.button(PARTS.index(part)).setChecked(True)
        self._warp.show_look(self.look, part)
        self.look_changed.emit()

    def show_next_part(self) -> None:
        """Show the part after this one; after the last the first."""
        self.show_part(PARTS[(PARTS.index(self.part) + 1) % len(PARTS)])

    def _make_parts(self) -> QWidget:
        row = QWidget()
        buttons = HBox(row, 0, 4)
        self._parts = QButtonGroup(self)
        for number, part in enumerate(PARTS):
            title = PART_TITLES[part]
            name, called = f"anatomy-part-{part}", f"Part {title}"
            button = push_button(name, title, TIPS[part], called, look="compact")
            button.setCheckable(True)
            button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            self._parts.addButton(button, number)
            buttons.add((button, 1))
        self._parts.button(PARTS.index(self.part)).setChecked(True)
        self._parts.idClicked.connect(lambda number: self.show_part(PARTS[number]))
        title = "Zoom to the block"
        self._zoom = push_button("anatomy-zoom", "Zoom", TIPS["zoom"], title, look="compact")
        self._zoom.clicked.connect(self._ask_zoom)
        buttons.add(self._zoom)
        return row

    def _lay_out(self) -> None:
        self._sentence = words_label("anatomy-sentence")
        self._legend = words_label("anatomy-legend", 0.9)  # of what is painted, on its ground
        self._legend.setTextFormat(Qt.TextFormat.RichText)
        self._legend.setProperty("onPicture", True)
        self._legend.setContentsMargins(7, 3, 7, 3)  # padding of a style would not count
        self._loads = words_label("anatomy-loads")
        self._loads.setToolTip(tip_text(TIPS["loads"]))
        self._part_row = self._make_parts()
        self._words = words_label("anatomy-words")
        folded = FoldedSection("anatomy-fold", TIPS["prose"], "In words", self._words)
        self._in_words = QWidget()  # around the section, which is hidden on stage
        VBox(self._in_words, 0).add(folded)
        self._in_words.hide()
        inside = QWidget()
        VBox(inside, MARGINS, 6).add(
            *(self._choice, self._sentence, self._loads, self._part_row, self._warp, self._legend),
            *(self._in_words, 1),
        )
        folded.follow(self, WORDS_PX)
        OffStage(self, folded, self._zoom)
        VBox(self, 0).add(UprightArea(inside))

    def _refresh(self) -> None:
        self._later.stop()
        if not self.isVisible():
            # They would keep a closed picture in memory.
            self._subject = self._of = self.look = None
            for name in (RECORDS, COUNTS):
                self._cancel(name)
            return
        try:
            job = intents.like_step_job(self._store.state)
            self._of = self._store.state.picture
            found = NO_PICTURE if job is None else self._choice.launch_of(job, self._worker.gpu)
        except KernelError as error:
            found = str(error)
        self._subject = found if isinstance(found, Subject) else None
        self._in_words.setVisible(self._subject is not None)
        old, self.look = self.look, None
        self._sentence.show_or_hide(found if isinstance(found, str) else "")
        self._choice.show_launch(self._subject, self._store.state.block_xy)
        self._count()
        if self._subject is None:
            self._show_look()
            self.look_changed.emit()
        elif old is not None and _has_same_threads(old.subject, self._subject):
            self._go_to(old.block, old.thread or 0)
        else:
            picture = self._subject.shape.picture
            x, y = self._at or (picture.right // 2, picture.bottom // 2)
            self._go(min(x, picture.right - 1), min(y, picture.bottom - 1))

    def _count(self) -> None:
        subject = self._subject
        loads = subject.loads_per_sample(self._worker.gpu) if subject else None
        self._loads.setVisible(loads is not None)
        self._loads.setText(loads_words(*loads) if loads is not None else "")
        self._cancel(COUNTS)
        if subject is None:
            return
        records = subject.records
        if not records.problem and records.idle((0, 0)) is None:

            def show(_: bool) -> None:
                if self.look is not None and self.look.subject is subject:
                    self._show_words(self.look)

            self._make(COUNTS, records.making_idle, show)

    def _make(
        self, name: str, make: Callable[[Stop], Iterator[None]], show: Callable[[bool], None]
    ) -> None:
        stop = Stop()
        how: dict[str, Any] = {"on_step": lambda _: None, "on_drop": stop.set, "on_end": show}
        self._cancel(name)
        self._wanted[name] = partial(self._counts.ask, name, partial(make, stop), **how)
        self._calm.start()

    def _request(self) -> None:
        """Record what is wanted, now that it has not changed for a moment.

        Recording while a slider is dragged would slow down the picture.
        """
        wanted, self._wanted = self._wanted, {}
        for request in wanted.values():
            request()

    def _cancel(self, name: str) -> None:
        self._wanted.pop(name, None)
        self._counts.cancel(name)

    def _show_record(self, of: Look, is_complete: bool) -> None:
        look = self.look
        if not is_complete or look is None or (look.subject, look.block) != (of.subject, of.block):
            return
        self.look = None
        if self._numbers is not None:
            self._go_to(*self._numbers)
        elif self._at is not None:
            self._go(*self._at)

    def _enter(self) -> None:
        if self.look is not None and self.isVisible():
            self.entered.emit(block_area(self.look))

    def _go(self, x: int, y: int, *, is_passing: bool = False) -> None:
        """Show the thread that computes sample x of row y.

        is_passing  the pointer may be elsewhere with the next frame: then the painting follows at
                    once, but the words only every PASSING_MS, as laying them out takes a while
        """
        if self._subject is not None:
            self._at, self._numbers = (x, y), None
            self._take(look_at(self._subject, x, y), is_passing=is_passing)

    def _take(self, look: Look, *, is_passing: bool = False) -> None:
        old = self.look
        if old and old.subject is look.subject and old.facts == look.facts:
            return
        self.look, records = look, look.subject.records
        if look.record is None and not records.problem:
            # No more urgent than the counts: both wait for the library that either compiles.
            make = partial(records.making, look.block)
            self._make(RECORDS, make, partial(self._show_record, look))
        if not (is_passing and self._passing.isActive()):
            self._show_look()
        if is_passing:
            self._passing.ask()
        self.look_changed.emit()

    def _show_look(self) -> None:
        look = self.look
        self._show_words(look)
        self._zoom.setEnabled(look is not None)
        self._part_row.setVisible(look is not None and look.thread is not None)
        self._warp.show_look(look, self.part)

    def _show_legend(self) -> None:
        look, scale = self.look, self._scale
        self._legend.show_or_hide(legend_words(look, self._warp.marks(look), scale) if look else "")

    def _show_words(self, look: Look | None) -> None:
        sentences = look.sentences() if look else []
        self._words.setText("\n\n".join(f"{title}\n{text}" for title, text in sentences))

    def _ask_zoom(self) -> None:
        if self.look is not None:
            self.area_wanted.emit(block_area(self.look))

    # -- another thread, another block

    def _pick_lane(self, lane: int) -> None:
        if self.look is not None:
            self._go_to(self.look.block, self.look.warp * LANES + lane)

    def _step(self, across: int, down: int, is_shifted: bool) -> None:
        """Go to another lane or warp; shifted, to another block."""
        if (look := self.look) is None:
            return
        (x, y), thread = look.block, self._numbers[1] if self._numbers else look.thread or 0
        if is_shifted:
            self._go_to((x + across, y + down), thread)
        elif look.thread is not None:
            self._go_to(look.block, look.thread + across + LANES * down)

    def _go_to(self, block: Block, thread: int) -> None:
        """Show a thread by its numbers, if there is one; one beyond the picture becomes another."""
        subject = self._subject
        found = None if subject is None else look_from(subject, block, thread)
        if found is None or subject is None:
            return
        if subject.shape.layout is None and found.record is not None:
            is_here = self.look is not None and self.look.block == block
            if is_here and found.sample_of(thread) is None:
                return
            found = look_at(subject, *found.middle)
        self._at, self._numbers = found.middle, (block, thread)
        self._take(found)


def _has_same_threads(old: Subject, subject: Subject) -> bool:
    """True for launches of a transform with the same blocks: threads are known by their numbers.

    A place of the picture would lead to another thread.
    """
    was, now = (
        (each.rung, each.shape.function, each.shape.grid, each.shape.threads)
        for each in (old, subject)
    )
    return subject.shape.layout is not None and was == now
