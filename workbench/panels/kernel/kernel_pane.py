"""The panel of a kernel of one's own, and what it remembers until the next start."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from kernels.core.device import Device, NoDevice
from workbench.model.rung_times import RungTimes
from workbench.model.state import State
from workbench.panels.kernel.kernel_page import RECENT_FILES, KernelPage
from workbench.session.analysis_thread import StepQueue
from workbench.session.store import Store
from workbench.widgets.boxes import VBox
from workbench.widgets.lazy_panel import MARGINS


class KernelPane(QWidget):
    """The panel, which begins with the kernel of the last time when it is first seen.

    Signals:
        said(kind, sentence): for the message bar.
        refused(sentence): the text does not run, for the message bar where nothing else is said.
        unsaid(sentence): it is no longer so.
        worked_on(name): the kernel in this file is in the panel from now on.
    """

    said = Signal(str, str)
    refused = Signal(str)
    unsaid = Signal(str)
    worked_on = Signal(str)

    def __init__(self, store: Store, times: RungTimes, trials: StepQueue) -> None:
        """Make the panel.

        store  read for the picture and the job, never written to
        times  of this session, which a kernel's time stands beside
        trials  drives what uses the GPU, among all else that does
        """
        super().__init__()
        self.setObjectName("kernel-pane")
        self._store = store
        self._has_begun = False
        self._path: Path | None = None  # of the last time
        self._recent: list[Path] = []
        self._page = KernelPage(store, times, trials)
        self._page.said.connect(self.said)
        self._page.refused.connect(self.refused)
        self._page.unsaid.connect(self.unsaid)
        self._page.worked_on.connect(self.worked_on)
        VBox(self, MARGINS).addWidget(self._page)

    @property
    def page(self) -> KernelPage:
        """Return what is in the panel, with a kernel in it."""
        if not self._has_begun:
            self._has_begun = True
            self._page.begin(self._path, self._recent)
        return self._page

    @property
    def entrance(self) -> QWidget:
        """Return the part that gets the keyboard when the panel is opened."""
        return self.page.entrance

    def show_state(self, state: State) -> None:
        """Try the kernel on the picture and the job that `state` asks for, once it is seen."""
        if self.isVisible():
            self._page.show_state(state)

    def show_device(self, device: Device | NoDevice) -> None:
        """Try kernels on this GPU from the next state on, or on the CPU where there is none."""
        self._page.take_device(device)

    def look_at(self, pixel: tuple[int, int]) -> None:
        """Try the kernel around this pixel (x, y) of the picture from now on."""
        if self.isVisible():
            self.page.look_at(pixel)

    def choices(self) -> dict[str, Any]:
        """Return what to remember until the next start, fit for JSON."""
        path = self._page.path if self._has_begun else self._path
        recent = self._page.recent if self._has_begun else self._recent
        return {
            "path": str(path) if path else "",
            "recent": [str(each) for each in recent],
            "counts_by_line": self._page.is_counted_by_line,
            "shows_code": self._page.is_code_shown,
            "code_kind": self._page.code.kind,
        }

    def restore(self, choices: Mapping[str, Any]) -> None:
        """Take over what `choices()` gave; the defaults replace what makes no sense."""
        path, recent = choices.get("path"), choices.get("recent")
        self._path = Path(path) if isinstance(path, str) and path else None
        names = recent if isinstance(recent, list) else []
        self._recent = [Path(each) for each in names if isinstance(each, str) and each]
        del self._recent[RECENT_FILES:]
        self._page.count_by_line(choices.get("counts_by_line") is True)
        self._page.code.choose(choices.get("code_kind"))
        self._page.show_code(choices.get("shows_code") is True)
        if self._has_begun:
            self._page.show_recent(self._recent)

    def close_threads(self) -> None:
        """Stop what is under way; what was typed and not saved is offered the next time."""
        self._page.close_threads()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self.page.show_state(self._store.state)
