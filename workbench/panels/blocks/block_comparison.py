"""The live comparison of block shapes, which starts anew when the window's settings change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from PySide6.QtCore import QObject, QTimer, Slot

from kernels.core.device import Device, NoDevice
from kernels.core.errors import KernelError
from kernels.core.job import Job, Pick
from kernels.engine.auto import Picker
from kernels.measuring.job_comparison import Snapshot, comparing
from workbench.base.background import Background, bugs
from workbench.model import intents
from workbench.panels.blocks.blocks_panel import BlocksPanel, BlocksPhase
from workbench.panels.blocks.candidates import Field, Key, field_of, untimed
from workbench.panels.blocks.rows import (
    BlockRow,
    RecordedShapes,
    recorded_shapes,
    rows_of,
    sentence_of,
)
from workbench.session.live import Live
from workbench.session.store import Store
from workbench.session.worker import Worker
from workbench.widgets.lazy_panel import PanelFrame
from workbench.widgets.message_bar import MessageBar

NONE_CAN = "None of them can run this job; each says why."
CALM_MS = 300  # without changes before it starts anew


class BlockComparison(QObject):
    """Compare while the panel Blocks is visible.

    Without a GPU it shows what an H200 took, until the user starts the CPU's implementations.
    """

    def __init__(
        self,
        store: Store,
        worker: Worker,
        live: Live,
        panel: BlocksPanel,
        frame: PanelFrame,
        background: Background,
        messages: MessageBar,
    ) -> None:
        """Connect the panel.

        frame       emits the panel's visibility
        background  reads what an H200 took
        """
        super().__init__(panel)
        self._background = background
        self._recorded: RecordedShapes | None = None
        self._store, self._worker, self._live = store, worker, live
        self._panel, self._messages = panel, messages
        self._field: Field | str = ""
        self._jobs: tuple[Job, ...] = ()  # asked for last; steps of others are dropped
        self._found: Snapshot | None = None
        self._is_stopped = False  # by the user: then it does not begin by itself
        self._picker: Picker | None = None
        self._picker_of: Device | None = None
        self._later = QTimer(self, singleShot=True, interval=CALM_MS)
        self._later.timeout.connect(self._follow)
        self._connect()
        frame.visibility_changed.connect(self._show_or_hide)

    def _connect(self) -> None:
        store, panel, worker = self._store, self._panel, self._worker
        store.changed.connect(self._inspect_later)
        self._live.settled.connect(self._inspect_later)  # by then Auto's pick is known
        worker.device_found.connect(self._begin_if_visible)
        panel.shapes_changed.connect(self._inspect_later)
        panel.start_wanted.connect(self.start)
        panel.stop_wanted.connect(self._stop_by_user)
        panel.pause_wanted.connect(worker.comparison.pause)
        panel.recorded_wanted.connect(self._show_recorded_again)
        panel.picked.connect(self._apply)
        worker.comparison.stepped.connect(self._show_step)
        worker.comparison.paused.connect(self._show_paused)
        worker.comparison.ended.connect(self._show_ended)
        bugs.met.connect(self._break_off)

    @Slot()
    def start(self) -> None:
        """Compare from the beginning, or show why not."""
        self._later.stop()
        self._inspect()
        self._panel.show_field(self._field)
        if not isinstance(self._field, Field):
            return
        self._jobs = tuple(each.job for each in self._field.able)
        self._found = None
        if not self._jobs:
            self._panel.show_phase(BlocksPhase.IDLE)
            self._panel.show_rows(self._rows(), NONE_CAN)
            return
        self._panel.show_phase(BlocksPhase.RUNNING)
        self._refresh()
        jobs, sampling = self._jobs, self._field.sampling
        self._worker.comparison.start(lambda engine: comparing(jobs, engine, sampling))

    @Slot()
    def stop(self) -> None:
        """End the comparison; what was measured stays in sight."""
        self._worker.comparison.cancel()
        self._jobs = ()
        self._panel.show_phase(BlocksPhase.IDLE)
        self._refresh()

    @Slot()
    def _stop_by_user(self) -> None:
        self._is_stopped = True
        self.stop()

    @Slot()
    def _show_recorded_again(self) -> None:
        """Show recorded times again."""
        self._found = None
        self.stop()

    # -- following

    @Slot()
    def _begin_if_visible(self) -> None:
        if self._panel.isVisible():
            self._begin_or_show()

    @property
    def _begins_by_itself(self) -> bool:
        return isinstance(self._worker.device, Device) and not self._is_stopped

    def _inspect_later(self, *_: Any) -> None:
        if self._panel.isVisible():
            self._refresh()  # mark at once what is in use
            self._later.start()

    @Slot()
    def _follow(self) -> None:
        """Begin anew where the measurements no longer hold."""
        before = self._field
        self._inspect()
        if _is_same(before, self._field):
            return
        self._found = None
        self._refresh()
        if self._panel.phase is BlocksPhase.PAUSED:
            self.stop()  # a user who paused wants nothing measured
        elif self._begins_by_itself or self._panel.phase is not BlocksPhase.IDLE:
            if isinstance(self._field, Field):
                self.start()
            else:
                self.stop()

    def _inspect(self) -> None:
        """Show what there is to compare now."""
        state, shapes = self._store.state, self._panel.picks.shapes
        field = field_of(state, self._worker.device, self._picked(), shapes, self._picks)
        is_new = not _is_same(field, self._field)
        self._field = field
        if is_new:
            self._found = None
        if not self._is_recorded:
            self._panel.show_field(field)
        self._refresh()

    def _picked(self) -> Pick | None:
        """Auto's pick for the present job, once it is known."""
        result, job = self._live.result, self._job()
        if result is None or result.picked is None:
            return None
        is_alike = job is not None and result.job.same_work(job, any_content=True)
        return result.picked if is_alike else None

    def _job(self) -> Job | None:
        """The present job; None without a picture, or where it makes no sense."""
        try:
            return intents.job_for(self._store.state)
        except KernelError:
            return None

    @Slot(bool)
    def _show_or_hide(self, is_visible: bool) -> None:
        if is_visible:
            self._is_stopped = False
            self._begin_or_show()
        elif self._panel.is_on:
            self.stop()

    def _begin_or_show(self) -> None:
        """Begin what was not compared yet; without a GPU show what an H200 took."""
        before = self._field
        self._inspect()
        is_new = self._found is None or not _is_same(before, self._field)
        if self._begins_by_itself and is_new:
            if self._panel.phase is not BlocksPhase.RUNNING:
                self.start()
        elif isinstance(self._worker.device, NoDevice) and self._found is None:
            self._show_recorded()

    def _show_recorded(self) -> None:
        """Show what an H200 took, once that is read."""

        def show(recorded: RecordedShapes) -> None:
            self._recorded = recorded
            self._refresh()

        if self._recorded is None:
            self._panel.show_reading()
            self._background.run(recorded_shapes, show, lambda _: None)

    def _picks(self, job: Job) -> Iterator[Pick]:
        """Yield picks for `job` on the GPU, the quickest first."""
        device = self._worker.device
        assert isinstance(device, Device)
        if self._picker is None or self._picker_of != device:
            self._picker, self._picker_of = Picker(device), device
        return self._picker.picks(job)

    # -- what comes of it

    @Slot(object)
    def _show_step(self, step: Any) -> None:
        if isinstance(step, Snapshot) and step.jobs == self._jobs and self._jobs:
            self._found = step
            if step.is_over:
                self._panel.show_phase(BlocksPhase.DONE)
            self._refresh()

    @Slot(bool)
    def _show_paused(self, is_paused: bool) -> None:
        if self._panel.is_on:
            self._panel.show_phase(BlocksPhase.PAUSED if is_paused else BlocksPhase.RUNNING)

    @Slot(object, bool)
    def _show_ended(self, error: KernelError | None, _is_complete: bool) -> None:
        if error is not None:
            self._panel.show_phase(BlocksPhase.IDLE)
            self._messages.show_message("error", str(error))

    @Slot(str, str)
    def _break_off(self, _sentence: str, _details: str) -> None:
        """Stop after a bug, which ends all work of the worker; the window reports it."""
        if self._panel.is_on:
            self.stop()

    @Slot(object)
    def _apply(self, key: Key) -> None:
        if isinstance(self._field, Field):
            for each in self._field.candidates:
                if each.key == key:
                    self._store.choose(**each.changes)

    def _refresh(self) -> None:
        has_gone_on = isinstance(self._worker.device, NoDevice) and not self._is_recorded
        self._panel.show_can_go_back(has_gone_on and self._recorded is not None)
        if self._is_recorded:
            if self._recorded is not None:
                job, cache = self._job(), self._store.state.cache
                beside = self._recorded.beside(job, cache)
                self._panel.show_recorded(self._recorded, beside, untimed(self._store.state))
            return
        if not isinstance(self._field, Field):
            return
        rows = self._rows()
        found = self._found
        self._panel.show_rows(rows, sentence_of(rows, is_over=found.is_over) if found else "")

    @property
    def _is_recorded(self) -> bool:
        """Recorded times are shown: there is no GPU, and nothing was measured."""
        has_none = isinstance(self._worker.device, NoDevice)
        return has_none and self._found is None and self._panel.phase is BlocksPhase.IDLE

    def _rows(self) -> tuple[BlockRow, ...]:
        assert isinstance(self._field, Field)
        return rows_of(self._field, self._found, self._field.current(self._store.state))


def _is_same(one: Field | str, other: Field | str) -> bool:
    """Measurements for `one` hold for `other`, or both give the same reason."""
    if isinstance(one, Field) and isinstance(other, Field):
        return one.compares_same(other)
    return one == other
