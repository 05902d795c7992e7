"""Clicking a measurement in the chart applies its settings to the window, with a way back."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Slot

from kernels.sweeps.cell import Cell
from kernels.sweeps.cell_jobs import Given, job_of
from workbench.base import numbers
from workbench.base.background import Background
from workbench.model import intents
from workbench.model.choices import from_data
from workbench.model.names import implementation_title, ran_on
from workbench.model.plan_draft import given, given_name
from workbench.model.plan_words import cell_name, in_words
from workbench.model.state import Picture, State
from workbench.panels.sweep.shown_sessions import Sessions
from workbench.panels.sweep.sweep_controller import MENU
from workbench.panels.sweep.sweep_panel import SweepPanel
from workbench.session.store import Store
from workbench.session.worker import Worker
from workbench.widgets.actions import Action
from workbench.widgets.message_bar import MessageBar

NOWHERE = "Nothing to go back to: choose a measurement in the chart first."
NOT_HERE = "This program does not have what was measured there."


class ApplyMeasurement(QObject):
    """The link from chart to store, which remembers what the window showed before a click."""

    def __init__(
        self,
        store: Store,
        worker: Worker,
        sessions: Sessions,
        sweep: SweepPanel,
        background: Background,
        messages: MessageBar,
        parent: QObject,
    ) -> None:
        """Connect the chart's clicks.

        background  makes pictures
        """
        super().__init__(parent)
        self._store, self._worker, self._sessions = store, worker, sessions
        self._background, self._messages = background, messages
        self._before: State | None = None
        self._after: State | None = None
        self._newest_request = 0
        self._told = ""
        sweep.picked.connect(self.pick)
        store.changed.connect(lambda _old, new: self._follow(new))

    def actions(self) -> list[Action]:
        """Return the menu's action."""
        return [
            Action(
                *(MENU, "&Back to before the point", self.back, ("Alt+Left",)),
                "What the window showed before a measurement in the chart was clicked.",
            )
        ]

    @Slot(object)
    def pick(self, cell: Cell) -> None:
        """Show what `cell` measures: its picture, filter and implementation."""
        self._newest_request += 1
        request, state = self._newest_request, self._store.state
        at_hand = given(state.picture)
        if not (cell.is_made or cell.picture in at_hand) or is_of(state.picture, cell):
            self._show(cell, None)
            return

        def show(picture: Picture) -> None:
            if request == self._newest_request:
                self._show(cell, picture)

        self._background.run(
            lambda: picture_of(cell, state.picture, at_hand),
            show,
            lambda error: self._messages.show_message("error", str(error)),
        )

    @Slot()
    def back(self) -> None:
        """Restore what the window showed before the first of the points clicked in a row."""
        before, self._before, self._after = self._before, None, None
        self._newest_request += 1
        if before is None:
            self._messages.show_message("info", NOWHERE)
            return
        self._store.restore(before)
        self._messages.clear("info")

    def _show(self, cell: Cell, picture: Picture | None) -> None:
        state = self._store.state
        changes = from_data(changes_for(cell), state)
        if not changes.keys() >= {"filter", "ksize", "border"}:
            self._messages.show_message("error", NOT_HERE)
            return
        if state is not self._after:  # in a row of clicks the state before the first counts
            self._before = state
        if picture is not None:
            changes |= {"picture": picture, "levels": None}
        shown = picture or state.picture
        if shown is not None and not shown.is_stored_as(state.pixel_type):
            changes["pixel_type"] = str(shown.samples.dtype)
        remarks = []
        if "implementation" not in changes:
            remarks.append(f"This program has no {cell.implementation}.")
        elif reason := self._why_not_here(cell):
            del changes["implementation"]
            shown_as = intents.implementation(state.implementation).title
            remarks.append(
                f"{implementation_title(cell.implementation)}: {reason} Shown with {shown_as}."
            )
        if shown is None or not is_of(shown, cell):
            remarks.append(f"{cell.picture} is not open, so the picture stays as it is.")
        self._store.choose(**changes)
        self._after = self._store.state
        self._told = " ".join([f"{in_words(cell)}{self._times(cell)}.", *remarks])
        self._messages.show_message("info", self._told, actions=[("&Back", self.back)])

    def _follow(self, state: State) -> None:
        """Forget the way back once undo has led there already."""
        if state == self._before:
            self._before = self._after = None
            self._messages.dismiss(self._told)

    def _times(self, cell: Cell) -> str:
        """List what each shown session measured of `cell`: ": 35.2 µs on NVIDIA H200"."""
        times = [
            f"{numbers.duration(record.verified.kernel.median_ms)} on "
            f"{ran_on(session.machine, [cell.implementation])}"
            for session in self._sessions.sessions()
            for record in session.records
            if record.cell == cell and record.verified
        ]
        return f": {', '.join(times)}" if times else ""

    def _why_not_here(self, cell: Cell) -> str | None:
        device = self._worker.device
        return intents.why_not_here(intents.implementation(cell.implementation), device)


def changes_for(cell: Cell) -> intents.Changes:
    """Return all fields of a State that `cell` decides but the picture; others stay."""
    changes: dict[str, Any] = {
        "filter": cell.filter,
        "ksize": cell.ksize,
        "sigma": cell.sigma,
        "amount": cell.amount,
        "border": cell.border,
        "implementation": cell.implementation,
    }
    optional = {"matrix": cell.matrix, "block_xy": cell.block_xy, "cache": cell.cache}
    return changes | {name: value for name, value in optional.items() if value is not None}


def is_of(picture: Picture | None, cell: Cell) -> bool:
    """Return whether `picture` is what `cell` measures."""
    if picture is None:
        return False
    height, width, channels = picture.samples.shape
    name = cell_name(cell) if cell.is_made else cell.picture
    return (
        name == (picture.name if cell.is_made else given_name(picture))
        and (width, height, channels) == (cell.width, cell.height, cell.channels)
        and str(picture.samples.dtype) == cell.pixel_type
    )


def picture_of(cell: Cell, own: Picture | None, at_hand: Given) -> Picture:
    """Return the picture that `cell` measures; making it may take a while.

    own  the picture in the window, or None. Raises KernelError where the picture cannot be made.
    """
    if not cell.is_made and own is not None and own.samples.shape[2] == cell.channels:
        return own.stored_as(cell.pixel_type)
    name = cell_name(cell) if cell.is_made else cell.picture
    return Picture(name, job_of(cell, at_hand).picture)
