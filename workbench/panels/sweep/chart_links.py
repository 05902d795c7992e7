"""Apply a measurement from the chart to the window."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject

from kernels.core.errors import KernelError
from kernels.engine.auto import AUTO, DEFAULT_BLOCK_XY
from kernels.rungs.own_kernels import is_own
from kernels.sweeps.cell_jobs import Given, job_of, steps_of
from kernels.sweeps.plan import Cell
from workbench.base import numbers
from workbench.base.numbers import star
from workbench.imaging.pictures import Picture
from workbench.model import intents
from workbench.model.cell_words import cell_in_words, cell_name
from workbench.model.choices import as_data, from_data
from workbench.model.names import implementation_title, ran_on
from workbench.model.plan_draft import given, given_name
from workbench.model.state import State
from workbench.model.step_files import changes_of_steps
from workbench.panels.sweep.sweep_controller import SweepParts

NOWHERE = "Nothing to go back to: choose a measurement in the chart first."
MEASURED = "measured picture"  # what is made in the background
NOT_HERE = "This program does not have what was measured there."


class ApplyMeasurement(QObject):
    """Apply a measurement clicked in the chart, and restore the window's state from before."""

    def __init__(self, parts: SweepParts) -> None:
        super().__init__(parts.window)
        self._parts, self._store, self._messages = parts, parts.store, parts.messages
        self._before: State | None = None
        self._after: State | None = None
        self._made: Picture | None = None  # the last picture that was made for a point
        self._sentence = ""
        parts.sweep.when_made(lambda panel: panel.chart.picked.connect(self.pick))
        parts.store.changed.connect(self._follow)

    def pick(self, cell: Cell) -> None:
        """Show the filter and implementation of `cell` on the open picture.

        The measured picture is opened only where none is open, or the open one came this way, or
        differs in its type alone; else the message offers it.
        """
        self._parts.reading.drop(MEASURED)
        picture = self._store.state.picture
        may_be_made = cell.is_made and picture in (None, self._made)
        if is_of(picture, cell) or not (may_be_made or cell.picture in given(picture)):
            self._show(cell, None)
        else:
            self._show_measured(cell)

    def _show_measured(self, cell: Cell) -> None:
        """Show `cell` on the picture that was measured, which is generated in the background."""
        own = self._store.state.picture

        def show(picture: Picture) -> None:
            self._made = picture if cell.is_made else None
            self._show(cell, picture)

        make = partial(picture_of, cell, own, given(own))
        self._parts.reading.run(make, show, self._messages.show_error, of=MEASURED)

    def back(self) -> None:
        """Restore the state from before the first of the points clicked in a row."""
        before, self._before, self._after = self._before, None, None
        self._parts.reading.drop(MEASURED)
        self._unmark()
        if before is None:
            self._messages.show_message("info", NOWHERE)
            return
        self._store.restore(before)
        self._messages.clear("info")

    def _show(self, cell: Cell, picture: Picture | None) -> None:
        state, wanted, same = self._store.state, intents.Changes(), ("filter", "ksize", "border")
        with suppress(KernelError):  # steps that this program does not have
            wanted = changes_for(cell)
        changes = from_data(wanted, state)
        others = changes.get("before", ())
        has_all = bool(wanted) and len(others) == len(wanted["before"])
        if not has_all or any(changes.get(name) != wanted[name] for name in same):
            self._messages.show_message("error", NOT_HERE)
            return
        if state is not self._after:  # in a row of clicks the state before the first counts
            self._before = state
        if picture is not None:
            changes |= intents.with_picture(picture)
        shown = picture or state.picture
        if shown is not None and not shown.is_stored_as(state.pixel_type):
            changes["pixel_type"] = str(shown.samples.dtype)
        remarks = []
        if "implementation" not in changes:
            remarks.append(f"This program has no {cell.implementation}.")
        elif reason := self._why_not_here(cell):
            del changes["implementation"]
            how: intents.Changes = {"implementation": AUTO.key, "chosen_implementation": None}
            if not is_own(state.implementation):  # which runs one step alone
                how = {name: getattr(state, name) for name in how}
            changes["before"] = tuple(replace(each, **how) for each in others)
            shown_as = intents.implementation(state.implementation).title
            remarks.append(
                f"{implementation_title(cell.implementation)}: {reason} Shown with {shown_as}."
            )
        actions = [("&Back to my picture", self.back)]
        if shown is None or not is_of(shown, cell):
            remarks.append(f"Measured on {cell_name(cell)}; your picture stays.")
            if cell.is_made:
                opening = f"&Open {cell_name(cell)}"
                actions.insert(0, (opening, partial(self._show_measured, cell)))
        self._store.choose(**changes)
        self._after = self._store.state
        self._sentence = " ".join([f"{cell_in_words(cell)}{self._times(cell)}.", *remarks])
        self._messages.show_message("info", self._sentence, actions=actions)

    def _follow(self, _old: State, new: State) -> None:
        """Forget the way back once undo has led there already."""
        if new == self._before:
            self._before = self._after = None
            self._unmark()
            self._messages.dismiss(self._sentence)

    def _unmark(self) -> None:
        self._parts.sweep.if_made(lambda panel: panel.chart.show_marked(None))

    def _times(self, cell: Cell) -> str:
        """List what each shown session measured of `cell`: ": 35.2 µs on NVIDIA H200"."""
        times = [
            f"{numbers.duration(record.verified.kernel.median_ms)}"
            f"{star(record.verified.disturbances)} on "
            f"{ran_on(session.machine, [cell.implementation])}"
            for session in self._parts.sessions.sessions()
            for record in session.records
            if record.cell == cell and record.verified
        ]
        return f": {', '.join(times)}" if times else ""

    def _why_not_here(self, cell: Cell) -> str | None:
        key, parts = cell.implementation, self._parts
        if is_own(key) and (reason := parts.kernels.why_another(key, cell.text_sha256)):
            return reason
        return intents.why_not_here(intents.implementation(key), parts.worker.device)


def changes_for(cell: Cell) -> intents.Changes:
    """All fields of a State that `cell` decides, but the picture."""
    names = ("filter", "ksize", "sigma", "amount", "border", "implementation")
    changes = {name: getattr(cell, name) for name in names}
    optional = {
        "matrix": cell.matrix,
        "block_xy": cell.block_xy,
        "cache": cell.cache,
        "devices": cell.devices if cell.cache else None,  # of no account on the CPU
    }
    alone = {"before": (), "after": (), "mix": 1.0, "is_on": True}
    if cell.list:
        key, xy = cell.implementation, cell.block_xy or DEFAULT_BLOCK_XY
        steps = [replace(e, chosen_implementation=key, block_xy=xy) for e in steps_of(cell)]
        alone = as_data(changes_of_steps(steps))
        changes = {name: changes[name] for name in ("border", "implementation")}
    return {**changes, **alone, **{name: v for name, v in optional.items() if v is not None}}


def is_of(picture: Picture | None, cell: Cell) -> bool:
    """Compare `picture` with the one that `cell` measures: name, size and type."""
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
    """Make the picture that `cell` measures, which may take a while.

    own  the picture in the window, or None. Raises KernelError where the picture cannot be made.
    """
    if not cell.is_made and own is not None and own.samples.shape[2] == cell.channels:
        return own.stored_as(cell.pixel_type)
    name = cell_name(cell) if cell.is_made else cell.picture
    return Picture(name, job_of(cell, at_hand).picture).looked_through()
