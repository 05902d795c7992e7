"""The live comparison of block shapes, which starts anew when the window's settings change."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, QTimer, Slot

from kernels.core.errors import KernelError
from kernels.core.job import Job, Pick
from kernels.measuring.job_comparison import Snapshot, comparing
from workbench.model import intents
from workbench.panels.blocks.blocks_panel import BlocksPanel, BlocksPhase
from workbench.panels.blocks.candidates import Field, Key, field_of
from workbench.panels.blocks.rows import BlockRow, rows_of, sentence_of
from workbench.session.live import Live
from workbench.session.store import Store
from workbench.session.worker import Worker
from workbench.widgets.actions import Action
from workbench.widgets.docks import Docks
from workbench.widgets.message_bar import MessageBar

NONE_CAN = "None of them can run this job; each says why."
CALM_MS = 300  # without changes before it starts anew


class BlockComparison(QObject):
    """The link between the store, the worker and the panel Blocks.

    Nothing is measured while the panel cannot be seen.
    """

    def __init__(
        self,
        store: Store,
        worker: Worker,
        live: Live,
        panel: BlocksPanel,
        docks: Docks,
        messages: MessageBar,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._store, self._worker, self._live = store, worker, live
        self._panel, self._docks, self._messages = panel, docks, messages
        self._field: Field | str = ""
        self._jobs: tuple[Job, ...] = ()  # asked for last; steps of others are dropped
        self._found: Snapshot | None = None
        self._was_stopped_by_hiding = False
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(CALM_MS)
        self._later.timeout.connect(self._follow)
        self._connect()

    def _connect(self) -> None:
        store, panel, worker = self._store, self._panel, self._worker
        store.changed.connect(self._look_again)
        self._live.settled.connect(self._look_again)  # by then Auto's pick is known
        worker.device_found.connect(self._look_again)
        self._docks[panel.DOCK.title].visibilityChanged.connect(self._show_or_hide)
        panel.shapes_changed.connect(self._look_again)
        panel.start_wanted.connect(self.start)
        panel.stop_wanted.connect(self.stop)
        panel.pause_wanted.connect(worker.pause_comparison)
        panel.picked.connect(self._apply)
        worker.comparison_stepped.connect(self._show_step)
        worker.comparison_paused.connect(self._show_paused)
        worker.comparison_ended.connect(self._end)
        worker.broke.connect(self._break_off)

    def actions(self) -> list[Action]:
        """Return the menu's action."""
        return [
            Action(
                *("&View", "&Block shapes, live", self.show_and_start, ("Ctrl+K",)),
                "Run block shapes in turn on the present job and see their times settle; "
                "without a GPU, the CPU implementations.",
            )
        ]

    @Slot()
    def show_and_start(self) -> None:
        """Bring the panel forward, and compare."""
        self._docks.enter(self._panel.DOCK.title)
        self.start()

    @Slot()
    def start(self) -> None:
        """Compare from the beginning, or say why not."""
        self._later.stop()
        self._look()
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
        self._worker.start_comparison(lambda engine: comparing(jobs, engine, sampling))

    @Slot()
    def stop(self) -> None:
        """End the comparison; what was measured stays in sight."""
        self._worker.cancel_comparison()
        self._jobs = ()
        self._panel.show_phase(BlocksPhase.IDLE)
        self._refresh()

    # -- following

    def _look_again(self, *_: Any) -> None:
        if self._panel.isVisible():
            self._refresh()  # mark at once what is in use
            self._later.start()

    @Slot()
    def _follow(self) -> None:
        """Begin anew where what was measured no longer holds."""
        before = self._field
        self._look()
        if _is_same(before, self._field):
            return
        self._found = None
        self._refresh()
        if self._panel.phase is BlocksPhase.PAUSED:
            self.stop()  # a user who paused wants nothing measured
        elif self._panel.phase is not BlocksPhase.IDLE:
            if isinstance(self._field, Field):
                self.start()
            else:
                self.stop()

    def _look(self) -> None:
        """Find out what there is to compare now, and show it."""
        shapes = self._panel.picks.shapes
        field = field_of(self._store.state, self._worker.device, self._picked(), shapes)
        is_new = not _is_same(field, self._field)
        self._field = field
        if is_new:
            self._found = None
        self._panel.show_field(field)
        self._refresh()

    def _picked(self) -> Pick | None:
        """Return what `auto` runs the present job with, once that is known."""
        result, state = self._live.result, self._store.state
        if result is None or state.picture is None or result.picked is None:
            return None
        try:
            job = intents.job_for(state)
        except KernelError:
            return None
        is_alike = job is not None and result.job.same_work(job, any_content=True)
        return result.picked if is_alike else None

    @Slot(bool)
    def _show_or_hide(self, is_visible: bool) -> None:
        if is_visible:
            was_on, self._was_stopped_by_hiding = self._was_stopped_by_hiding, False
            if was_on:
                self.start()
            else:
                self._look()
        elif self._panel.phase in (BlocksPhase.RUNNING, BlocksPhase.PAUSED):
            self._was_stopped_by_hiding = self._panel.phase is BlocksPhase.RUNNING
            self.stop()

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
        if self._panel.phase in (BlocksPhase.RUNNING, BlocksPhase.PAUSED):
            self._panel.show_phase(BlocksPhase.PAUSED if is_paused else BlocksPhase.RUNNING)

    @Slot(object, bool)
    def _end(self, error: KernelError | None, _is_complete: bool) -> None:
        if error is not None:
            self._panel.show_phase(BlocksPhase.IDLE)
            self._messages.show_message("error", str(error))

    @Slot(str, str)
    def _break_off(self, _sentence: str, _details: str) -> None:
        """Stop after a bug, which ends all work of the worker; the window reports it."""
        if self._panel.phase in (BlocksPhase.RUNNING, BlocksPhase.PAUSED):
            self.stop()

    @Slot(object)
    def _apply(self, key: Key) -> None:
        if isinstance(self._field, Field):
            for each in self._field.contenders:
                if each.key == key:
                    self._store.choose(**each.changes)

    def _refresh(self) -> None:
        if not isinstance(self._field, Field):
            return
        rows = self._rows()
        found = self._found
        self._panel.show_rows(rows, sentence_of(rows, is_over=found.is_over) if found else "")

    def _rows(self) -> tuple[BlockRow, ...]:
        assert isinstance(self._field, Field)
        return rows_of(self._field, self._found, self._field.current(self._store.state))


def _is_same(one: Field | str, other: Field | str) -> bool:
    """Return whether measurements for `one` hold for `other`, or both give the same reason."""
    if isinstance(one, Field) and isinstance(other, Field):
        return one.compares_same(other)
    return one == other
