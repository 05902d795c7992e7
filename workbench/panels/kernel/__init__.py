"""A user kernel, tried and searched: what the window needs before the panel is made."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.widgets.actions import Actions
from workbench.widgets.lazy_panel import LazyPanel

if TYPE_CHECKING:
    from workbench.panels.kernel.kernel_pane import KernelPane
    from workbench.widgets.docks import Docks

# What the lines of the menus do, by their texts.
LINES: dict[str, Callable[[KernelPane], object]] = {
    "New kernel": lambda pane: pane.files.begin_new(""),
    "Open kernel…": lambda pane: pane.files.ask_file(),
    "Save kernel": lambda pane: pane.files.save(),
    "Save kernel as…": lambda pane: pane.files.save_as(),
    "Save a copy to share…": lambda pane: pane.files.save_copy(*pane.trying.verdict),
    "Filter with the kernel": lambda pane: pane.files.use(),
    "Edit kernel outside": lambda pane: pane.files.edit_outside(),
    "Find the bug in the kernel": lambda pane: pane.find_bug(),
    "PTX/SASS of the kernel": lambda pane: pane.turn_code(),
    "Begin stepping": lambda pane: pane.step_through(),
    "Next step": lambda pane: pane.walk(pane.steps.go_on, 1),
    "Step back": lambda pane: pane.walk(pane.steps.go_on, -1),
    "Next barrier": lambda pane: pane.walk(pane.steps.go_to_barrier, 1),
    "Barrier before": lambda pane: pane.walk(pane.steps.go_to_barrier, -1),
}


class KernelMenu:
    """Actions on the kernel in the panel, which is made where there is none yet."""

    def __init__(self, panel: LazyPanel[KernelPane], docks: Docks) -> None:
        self._panel, self._docks = panel, docks

    def actions(self) -> Actions:
        return {name: partial(self._do, do) for name, do in LINES.items()}

    def open_file(self, path: Path, *, is_named: bool = False) -> None:
        """Show the kernel in a file; one from elsewhere runs only once the user says so.

        is_named  the user has said so, by naming it
        """
        self._do(lambda pane: pane.files.open_file(path, is_named=is_named))

    def _do(self, do: Callable[[KernelPane], object]) -> None:
        self._docks.enter("Kernel")
        pane = self._panel.get()
        pane.begin()
        do(pane)
