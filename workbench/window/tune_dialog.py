"""A dialog with a tuning's progress, what it has found so far, and a button to stop it."""

from __future__ import annotations

from itertools import islice

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QProgressBar, QWidget

from kernels.engine.auto import ranked
from kernels.engine.measurements import Candidate
from kernels.measuring.tuner import Trial, Tuning
from workbench.base import numbers, theme
from workbench.base.plain_text import Label
from workbench.model.names import implementation_title
from workbench.widgets.boxes import VBox
from workbench.widgets.tile import ElidedLabel, scaled_font

SHOWN = 6  # of the quickest ways
WIDTH_PX = 480
HEADING = "Fastest first, of equal ones the simplest:"


class TuneDialog(QDialog):
    """A dialog about a tuning that leaves the window usable beside it.

    job  what is tuned for, in words

    Signals:
        cancelled(): the user wants it stopped; what was measured stays.
    """

    cancelled = Signal()

    def __init__(self, job: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("tune-dialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Tune")
        self.setMinimumWidth(theme.in_letters(WIDTH_PX))
        self._is_running = True
        self._found: list[Candidate] = []
        self._refused = 0
        self._about = Label(f"Measuring every rung and block shape for\n{job}", wraps=True)
        self._bar = QProgressBar()
        self._bar.setObjectName("tune-progress")
        self._bar.setAccessibleName("Ways measured")
        self._doing = ElidedLabel(0.9, "tune-doing")
        self._best = Label("Nothing is measured yet.", name="tune-best", font=scaled_font(1.0))
        self._best.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._best.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._best.setMinimumHeight((SHOWN + 1) * self._best.fontMetrics().lineSpacing())
        self._buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self._buttons.rejected.connect(self.reject)
        layout = VBox(self, (24, 20, 24, 16), 10)
        layout.add(self._about, self._bar, self._doing, self._best, self._buttons)

    def show_step(self, step: Tuning | Trial) -> None:
        """Show the progress, or the outcome of one way to run the job."""
        if isinstance(step, Tuning):
            self._bar.setRange(0, step.ways)
            self._bar.setValue(step.done)
            self._doing.show_text(step.doing)
            self._doing.setAccessibleName(f"Tuning: {step.doing}")
            return
        if isinstance(step.outcome, Candidate):
            self._found.append(step.outcome)
        else:
            self._refused += 1
        self._show_best()

    def show_end(self, is_complete: bool) -> None:
        """Show that the tuning is complete, or was stopped."""
        self._is_running = False
        if is_complete:
            self._bar.setRange(0, 1)
            self._bar.setValue(1)
        count = len(self._found)
        left_out = f", {self._refused} left out as wrong or far too slow" if self._refused else ""
        self._doing.show_text(
            f"{'Done' if is_complete else 'Stopped'}: {count} ways measured{left_out}."
        )
        self._buttons.setStandardButtons(QDialogButtonBox.StandardButton.Close)

    def done(self, code: int) -> None:
        """Close the dialog, and stop the tuning, which nobody looks at any more."""
        if self._is_running:
            self._is_running = False
            self.cancelled.emit()
        super().done(code)

    def _show_best(self) -> None:
        """List the quickest ways, ties in the order in which Auto ranks them."""
        best = islice(ranked(self._found), SHOWN)
        lines = [f"{numbers.duration(each.median_ms):>9}  {_name(each)}" for each in best]
        self._best.setText("\n".join([HEADING, *lines]) if lines else "Nothing counts yet.")


def _name(candidate: Candidate) -> str:
    block = "{}×{}".format(*candidate.block_xy) if candidate.block_xy else ""
    return f"{implementation_title(candidate.implementation)} {block}".rstrip()
