"""The views of the newest times: the line under the picture, and the panel once it is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from kernels.core.job import Result
from workbench.panels.timing.status_line import StatusLine
from workbench.widgets.lazy_panel import LazyPanel

if TYPE_CHECKING:
    from workbench.panels.timing.timing_panel import TimingPanel

NO_PICTURE = "Open a picture to see how fast it is filtered."
REFUSED = "Not filtered, so there is nothing to time."
PREVIEWED = "Preview. The whole picture is filtered next."


class TimingViews(QObject):
    """Show the newest times in the line under the picture, and in the panel once it is made.

    line  its owner places it
    """

    def __init__(self, panel: LazyPanel[TimingPanel], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.line = StatusLine()
        self._panel = panel
        self._result: Result | None = None
        self._baseline: Result | None = None
        self._subject = ""
        self.show_empty(NO_PICTURE)
        panel.when_made(self._show_in)

    def show_result(self, result: Result, baseline: Result | None = None) -> None:
        """Show the newest Result; `baseline` is a CPU's, None keeps the one before."""
        self._result, self._baseline = result, baseline or self._baseline
        self._refresh()

    def show_subject(self, words: str) -> None:
        """Set what was timed; empty: the picture."""
        if words != self._subject:
            self._subject = words
            self._refresh()

    @Slot(object)
    def show_baseline(self, result: Result | None) -> None:
        """Set a CPU's Result to compare with; it counts only for the same work."""
        if result is not self._baseline:  # set with every Result
            self._baseline = result
            self._refresh()

    @Slot(str)
    def show_progress(self, doing: str) -> None:
        """Show what is under way, in the -ing form; empty: nothing."""
        self.line.show_doing(doing and f"{doing} …")

    def show_empty(self, why: str) -> None:
        """Clear all figures; `why` is shown in their place."""
        self._result = self._baseline = None
        self._why_empty = why
        self.show_progress("")
        self._refresh()

    def _refresh(self) -> None:
        self._show_in(self.line)
        if self._panel.made is not None:
            self._show_in(self._panel.made)

    def _show_in(self, view: StatusLine | TimingPanel) -> None:
        if self._result is None:
            view.show_sentence(self._why_empty)
        else:
            view.show_result(self._result, self._baseline, self._subject)
