"""A user kernel: written, tried on the picture, and searched for its bug.

Only the parts that the window needs before the panel is made.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.widgets.actions import Action
from workbench.widgets.lazy_panel import Dock, LazyPanel

if TYPE_CHECKING:
    from workbench.panels.kernel.kernel_pane import KernelPane
    from workbench.widgets.docks import Docks

    Line = tuple[str, str, Callable[[KernelPane], object], str]

DOCK = Dock(
    "Kernel",
    "workbench.panels.kernel.kernel_pane:KernelPane",
    setting="kernel",
    keys=("Ctrl+U",),
    tip="A CUDA kernel of your own: write it, and see what it does to the picture.",
    width_px=568,  # 60 letters of its source
)
# Of each menu its lines: text, key, action and tip.
FILES: dict[str, tuple[Line, ...]] = {
    "&File/&Kernel": (
        (
            *("&New kernel", "Ctrl+N", lambda pane: pane.files.begin_new("")),
            "Begin with an empty kernel that has everything but the filter.",
        ),
        (
            *("&Open kernel…", "Ctrl+F7", lambda pane: pane.files.ask_file()),
            "Open a kernel's .cu file.",
        ),
        (
            *("&Save kernel", "F7", lambda pane: pane.files.save()),
            "Write the kernel into its file; Ctrl+S while it has the keyboard.",
        ),
        (
            *("Save kernel &as…", "Shift+F7", lambda pane: pane.files.save_as()),
            "Write the kernel into another file.",
        ),
        (
            *("Save a &copy to share…", "Alt+Shift+F7", lambda pane: pane.save_copy()),
            "Write it into one file with its header, its verdict and the machine's name.",
        ),
        (
            *("&Edit kernel outside", "Alt+F7", lambda pane: pane.files.edit_outside()),
            "Open its file in your own editor; what is saved there is tried here at once.",
        ),
    )
}
RUN: dict[str, tuple[Line, ...]] = {
    "&Run": (
        (
            *("Find the bug in the kernel", "Ctrl+Shift+U", lambda pane: pane.find_bug()),
            "Run it on a small part under checks of bounds, races and barriers.",
        ),
        (
            *("PTX/SASS of the kernel", "Ctrl+F6", lambda pane: pane.turn_code()),
            "See the instructions that it becomes beside its lines.",
        ),
    ),
    "&Run/St&epping": (
        (
            *("&Begin stepping", "Alt+F8", lambda pane: pane.step_through()),
            "Walk through one block line by line: its lanes, its variables, its shared memory.",
        ),
        (*("&Next step", "F8", lambda pane: pane.go_on(1)), "One step on, all threads together."),
        (
            *("&Step back", "Shift+F8", lambda pane: pane.go_on(-1)),
            "A step back: the run is recorded.",
        ),
        (
            *("Next b&arrier", "F6", lambda pane: pane.go_to_barrier(1)),
            "Forward to the step after the next barrier.",
        ),
        (
            *("Ba&rrier before", "Shift+F6", lambda pane: pane.go_to_barrier(-1)),
            "Back to the step after the previous barrier.",
        ),
    ),
}


class KernelMenu:
    """Actions on the kernel in the panel, which is made where there is none yet."""

    def __init__(self, panel: LazyPanel[KernelPane], docks: Docks) -> None:
        self._panel, self._docks = panel, docks

    def actions(self, lines: dict[str, tuple[Line, ...]]) -> list[Action]:
        """Make the lines of menus, FILES or RUN."""
        return [
            Action(menu, text, partial(self._do, do), (keys,), tip)
            for menu, own in lines.items()
            for text, keys, do, tip in own
        ]

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
