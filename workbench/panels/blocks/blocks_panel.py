"""The panel Blocks: a live comparison, which starts anew when the window's settings change."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Any

from PySide6.QtCore import Slot
from PySide6.QtGui import QFont, QHideEvent, QShowEvent
from PySide6.QtWidgets import QProgressBar, QWidget

from kernels.core.device import Device, NoDevice
from kernels.core.errors import KernelError
from kernels.core.job import Job, Pick, Progress
from kernels.engine.auto import Picker
from kernels.engine.job_comparison import COMPARING, Snapshot, comparing
from workbench.base.background import Background, Throttle, bugs
from workbench.base.plain_text import Label
from workbench.charts.canvas import FigureView
from workbench.model import intents
from workbench.panels.blocks.candidates import Field, Key, ShapePicks, field_of, untimed
from workbench.panels.blocks.rows import (
    NONE_CAN,
    BlockRow,
    RecordedShapes,
    bars_of,
    map_of,
    recorded_shapes,
    rows_of,
    sentence_of,
)
from workbench.session.live import Live
from workbench.session.store import Store
from workbench.session.worker import Worker
from workbench.widgets.boxes import HBox, UprightArea, VBox
from workbench.widgets.buttons import check_segment, described, make_segments, push_button
from workbench.widgets.lazy_panel import MARGINS
from workbench.widgets.message_bar import MessageBar
from workbench.widgets.tile import scaled_font, words_label


class BlocksPhase(Enum):
    """The state of a comparison, from not started to done."""

    IDLE = "idle"
    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"


MIN_CHART_PX = 220
CALM_MS = 300  # without changes before it starts anew
BARS, MAP = "blocks-bars", "blocks-map"
VIEWS = (
    (BARS, "Bars", "One below the other."),
    (MAP, "Map", "Widths across, heights down, times as colours."),
)
OF_BLOCKS = "Block shapes compared: {subject}"
NO_GPU = "There is no GPU here. Compare runs the CPU's implementations in turn on your picture."
LEAST_BAR_PX = 24
NOT_YET = "Nothing is measured yet: press Compare."
START_TIP = "Run them in turn on the present job until their times have settled."
STOP_TIP = "Stop; what was measured stays in sight."
USES_SHAPE = "A click uses that block shape."
USES_NOTHING = "Recorded times: point at one for details. Choosing a shape takes a GPU."
RECORDED_TIP = "Back to the times that were recorded on a GPU."


class BlocksPanel(QWidget):
    """The panel, which compares while it is visible.

    Without a GPU it shows what an H200 took, until the user starts the CPU's implementations.

    rows   the standing of the candidates
    phase  the BlocksPhase
    """

    def __init__(
        self,
        store: Store,
        worker: Worker,
        live: Live,
        background: Background,
        messages: MessageBar,
    ) -> None:
        """Make the panel; `background` reads what an H200 took."""
        super().__init__()
        self.setObjectName("blocks-panel")
        self._store, self._worker, self._live = store, worker, live
        self._background, self._messages = background, messages
        self._field = Field()
        self._jobs: tuple[Job, ...] = ()  # asked for last; steps of others are dropped
        self._found: Snapshot | None = None
        self._doing = ""  # while they have not all run
        self._recorded: RecordedShapes | None = None
        self._is_stopped = False  # by the user: then it does not begin by itself
        self._picker: tuple[Device, Picker] | None = None
        self.phase = BlocksPhase.IDLE
        self.rows: tuple[BlockRow, ...] = ()
        self._subject = Label(
            name="blocks-subject", font=scaled_font(1.05, QFont.Weight.DemiBold), wraps=True
        )
        self._work = words_label("blocks-work", 0.88, is_muted=True)
        self._note = words_label("blocks-note", 0.95)
        self.picks = ShapePicks()
        self._sentence = Label(name="blocks-sentence", wraps=True, lines=2, is_selectable=True)
        self._click = words_label("blocks-click", 0.88, is_muted=True)
        policy = self._click.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # what is beside it stays at the right
        self._click.setSizePolicy(policy)
        self.chart = FigureView("")  # the sentence says why there is nothing
        self.chart.setAccessibleName("Times of the candidates")
        self.chart.setMinimumWidth(MIN_CHART_PX)
        self._start = push_button("blocks-start", "", look="primary")
        self._pause = push_button("blocks-pause", "", "Pause the comparison, or resume it.")
        self._back = push_button("blocks-recorded", "Recorded", RECORDED_TIP)
        self._back.hide()
        self._bar = described(QProgressBar(textVisible=False), "blocks-progress", "Samples taken")
        self._bar.setMinimumWidth(LEAST_BAR_PX)
        self._views = make_segments(VIEWS, lambda _: self._show_chart())
        check_segment(self._views, BARS)
        self._later = Throttle(CALM_MS, self._follow, self)
        segments = HBox(spacing=0).add(*self._views.values())
        buttons = HBox(spacing=6).add(self._start, self._pause, self._back, (self._bar, 3), 1)
        inside = QWidget()
        VBox(inside, MARGINS, 6).add(
            *(buttons, self._subject, self._work, self._note, self.picks, self._sentence),
            HBox(spacing=6).add((self._click, 1), segments),
            *((self.chart, 100), 1),  # what a chart leaves is below it, not between the sentences
        )
        VBox(self, 0).add(UprightArea(inside))
        self._connect()
        self._show_phase(BlocksPhase.IDLE)

    def _connect(self) -> None:
        store, worker = self._store, self._worker
        self.picks.changed.connect(self._inspect_later)
        self.chart.picked.connect(self._apply)
        self._start.clicked.connect(self._toggle)
        self._pause.clicked.connect(
            lambda: worker.comparison.pause(self.phase is not BlocksPhase.PAUSED)
        )
        self._back.clicked.connect(self._show_recorded_again)
        store.changed.connect(self._inspect_later)
        self._live.settled.connect(self._inspect_later)  # by then Auto's pick is known
        worker.device_found.connect(self._begin_if_visible)
        worker.comparison.stepped.connect(self._show_step)
        worker.comparison.paused.connect(self._show_paused)
        worker.comparison.ended.connect(self._show_ended)
        bugs.met.connect(self._break_off)

    def choices(self) -> dict[str, Any]:
        return {**self.picks.choices(), "map": self._views[MAP].isChecked()}

    def restore(self, data: dict[str, Any]) -> None:
        self.picks.restore(data)
        check_segment(self._views, MAP if data.get("map") is True else BARS)
        self._show_chart()

    def start(self) -> None:
        """Compare from the beginning, or show why not."""
        self._later.stop()
        self._inspect()
        self._jobs = jobs = tuple(each.job for each in self._field.able)
        self._found, self._doing = None, "Waiting for its turn …"
        self.phase = BlocksPhase.RUNNING if jobs else BlocksPhase.IDLE
        self._refresh()
        if jobs:
            sampling = self._field.sampling
            self._worker.comparison.start(lambda engine: comparing(jobs, engine, sampling))

    def stop(self) -> None:
        """End the comparison; what was measured stays in sight."""
        self._worker.comparison.cancel()
        self._jobs, self.phase = (), BlocksPhase.IDLE
        self._refresh()

    @property
    def _is_on(self) -> bool:
        return self.phase in (BlocksPhase.RUNNING, BlocksPhase.PAUSED)

    def _toggle(self) -> None:
        if self._is_on:
            self._is_stopped = True
            self.stop()
        else:
            self.start()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self._is_stopped = False
        self._begin_or_show()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802
        super().hideEvent(event)
        if self._is_on:
            self.stop()

    @Slot()
    def _begin_if_visible(self) -> None:
        if self.isVisible():
            self._begin_or_show()

    @property
    def _begins_by_itself(self) -> bool:
        return self._worker.gpu is not None and not self._is_stopped

    def _begin_or_show(self) -> None:
        before = self._field
        self._inspect()
        is_new = self._found is None or not self._field.compares_same(before)
        if self._begins_by_itself and is_new:
            if self.phase is not BlocksPhase.RUNNING:
                self.start()
        elif isinstance(self._worker.device, NoDevice) and not (self._found or self._recorded):
            self._refresh()
            self._background.run(recorded_shapes, self._take_recorded, lambda _: None)

    def _take_recorded(self, recorded: RecordedShapes) -> None:
        self._recorded = recorded
        self._refresh()

    def _show_recorded_again(self) -> None:
        self._found = None
        self.stop()

    @Slot()
    def _inspect_later(self, *_: Any) -> None:
        if self.isVisible():
            self._refresh()  # mark at once what is in use
            self._later.start()

    def _follow(self) -> None:
        """Begin anew where the measurements no longer hold."""
        before = self._field
        self._inspect()
        if self._field.compares_same(before):
            return
        if self.phase is BlocksPhase.PAUSED:
            self.stop()  # a user who paused wants nothing measured
        elif self._begins_by_itself or self.phase is not BlocksPhase.IDLE:
            if self._field.reason:
                self.stop()
            else:
                self.start()

    def _inspect(self) -> None:
        state, shapes = self._store.state, self.picks.shapes
        before = self._field
        device, picked, result = self._worker.device, self._picked(), self._live.result
        self._field = field_of(state, device, picked, shapes, self._picks, result)
        if not self._field.compares_same(before):
            self._found = None
        self._refresh()

    def _picked(self) -> Pick | None:
        result, job = self._live.result, self._job()
        result = result and intents.last_run(result)
        if result is None or result.picked is None:
            return None
        is_alike = job is not None and result.job.same_work(job, any_content=True)
        return result.picked if is_alike else None

    def _job(self) -> Job | None:
        return intents.or_none(intents.step_job, self._store.state, self._live.result)

    def _picks(self, job: Job) -> Iterator[Pick]:
        device = self._worker.device
        assert isinstance(device, Device)
        if self._picker is None or self._picker[0] != device:
            self._picker = device, Picker(device)
        return self._picker[1].picks(job)

    @Slot(object)
    def _show_step(self, step: Any) -> None:
        if isinstance(step, Progress) and self._is_on:
            self._doing = "" if step == COMPARING else f"{step.doing[:1].upper()}{step.doing[1:]} …"
            self._refresh()
        if isinstance(step, Snapshot) and step.jobs == self._jobs and self._jobs:
            self._found = step
            if step.is_over:
                self.phase = BlocksPhase.DONE
            self._refresh()

    @Slot(bool)
    def _show_paused(self, is_paused: bool) -> None:
        if self._is_on:
            self._show_phase(BlocksPhase.PAUSED if is_paused else BlocksPhase.RUNNING)

    @Slot(object, bool)
    def _show_ended(self, error: KernelError | None, _is_complete: bool) -> None:
        if error is not None:
            self._show_phase(BlocksPhase.IDLE)
            self._messages.show_error(error)

    @Slot(str, str)
    def _break_off(self, _sentence: str, _details: str) -> None:
        if self._is_on:
            self.stop()

    def _apply(self, key: Key) -> None:
        for each in self._field.candidates:
            if each.key == key:
                self._store.choose(**each.changes)

    @property
    def _is_recorded(self) -> bool:
        has_none = isinstance(self._worker.device, NoDevice)
        return has_none and self._found is None and self.phase is BlocksPhase.IDLE

    def _refresh(self) -> None:
        field, recorded, found = self._field, self._recorded, self._found
        is_recorded, has_none = self._is_recorded, isinstance(self._worker.device, NoDevice)
        self._back.setVisible(has_none and not is_recorded and recorded is not None)
        self._show_phase(self.phase)
        has_shapes = field.is_of_blocks
        self.picks.setVisible(has_shapes and not is_recorded)
        self._views[MAP].setEnabled(has_shapes or is_recorded)
        if not is_recorded:
            named = OF_BLOCKS if has_shapes and not field.reason else "{subject}"
            self._subject.setText(named.format(subject=field.subject))
            self._work.setText(field.work)
            self._note.show_or_hide(field.note)
            self._click.setText(USES_SHAPE if has_shapes else "A click uses that implementation.")
            rows: tuple[BlockRow, ...] = ()
            sentence = field.reason
            if not field.reason:
                rows = rows_of(field, found, field.current(self._store.state))
                said = sentence_of(rows, is_over=found.is_over) if found else ""
                sentence = f"{said} {self._doing if self._is_on else ''}".strip()
                sentence = sentence if found or self._is_on else NOT_YET
                sentence = sentence if field.able else NONE_CAN
            self.show_rows(rows, sentence)
        elif recorded is None:
            self._subject.setText("Reading what was recorded on a GPU …")
        else:
            state = self._store.state
            named = OF_BLOCKS.format(subject=recorded.subject)
            self._subject.setText(f"{named}, recorded on an {recorded.device}")
            self._work.setText(f"{recorded.work}, L2 cold")
            self._note.show_or_hide(f"{NO_GPU} {untimed(state)}".rstrip())
            self._click.setText(USES_NOTHING)
            self.show_rows(recorded.rows, recorded.beside(self._job(), state.cache))

    def show_rows(self, rows: tuple[BlockRow, ...], sentence: str) -> None:
        """Show the standing of the candidates, and a sentence on it."""
        self.rows = rows
        self._sentence.setText(sentence)
        self._show_chart()

    def _show_phase(self, phase: BlocksPhase) -> None:
        self.phase = phase
        # How many of the least samples are taken; before the first that is unknown.
        least, found = self._field.sampling.min_samples, self._found
        standings = found.standings if found else ()
        begun = [each.timing for each in standings if each.timing and not each.is_over]
        taken = least * sum(each.is_over for each in standings)
        self._bar.setRange(0, least * len(standings))
        self._bar.setValue(taken + sum(min(len(each.samples_ms), least) for each in begun))
        self._bar.setVisible(self._is_on)
        self._start.setText("Stop" if self._is_on else "Compare")
        self._start.setToolTip(STOP_TIP if self._is_on else START_TIP)
        self._start.setEnabled(self._is_on or self._is_recorded or not self._field.reason)
        self._pause.setEnabled(self._is_on)
        self._pause.setText("Resume" if phase is BlocksPhase.PAUSED else "Pause")
        for each in (self._start, self._pause):  # what is beside them stays where it is
            each.setMinimumWidth(max(each.minimumWidth(), each.sizeHint().width()))

    def _show_chart(self) -> None:
        is_map = self._views[MAP].isChecked() and self._views[MAP].isEnabled()
        figure_of = map_of if is_map else bars_of
        self._click.setVisible(bool(self.rows))
        self.chart.show_figure(figure_of(self.rows, self._sentence.text()) if self.rows else None)
