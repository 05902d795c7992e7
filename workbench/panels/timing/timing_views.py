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
    """A link that tells the line of the newest Result, and the panel once there is one.

    Attributes:
        line: says what matters most; its owner finds a place for it.
    """

    def __init__(self, panel: LazyPanel[TimingPanel], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.line = StatusLine()
        self._panel = panel
        self._result: Result | None = None
        self._baseline: Result | None = None
        self._subject = ""
        self.show_nothing()
        panel.when_made(self._tell)

    def show_result(self, result: Result, baseline: Result | None = None) -> None:
        """Show the newest that is known of the newest job.

        baseline  a CPU's Result for the same work; None: the one that was told last stays
        """
        self._result, self._baseline = result, baseline or self._baseline
        self._refresh()

    def show_subject(self, words: str) -> None:
        """Say of what all times are; empty: of the picture."""
        if words != self._subject:
            self._subject = words
            self._refresh()

    @Slot(object)
    def show_baseline(self, result: Result | None) -> None:
        """Set a CPU's Result to compare with; it counts only for the same work."""
        if result is not self._baseline:  # told with every Result
            self._baseline = result
            self._refresh()

    @Slot(str)
    def show_progress(self, doing: str) -> None:
        """Show what is under way, in the -ing form; empty: nothing is."""
        self.line.show_doing(doing and f"{doing} …")

    def show_nothing(self) -> None:
        """Clear all figures: there is no picture, or nothing is known of it."""
        self._show_empty(NO_PICTURE)

    def show_preview(self) -> None:
        """Clear all figures: a preview is shown, and what it is of is not filtered yet."""
        self._show_empty(PREVIEWED)

    def show_refused(self) -> None:
        """Clear all figures: the picture could not be filtered as chosen."""
        self._show_empty(REFUSED)

    def _show_empty(self, why: str) -> None:
        self._result = self._baseline = None
        self._why_empty = why
        self.show_progress("")
        self._refresh()

    def _refresh(self) -> None:
        self._tell(self.line)
        if self._panel.made is not None:
            self._tell(self._panel.made)

    def _tell(self, view: StatusLine | TimingPanel) -> None:
        if self._result is None:
            view.show_sentence(self._why_empty)
        else:
            view.show_result(self._result, self._baseline, self._subject)
