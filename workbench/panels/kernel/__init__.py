"""A user kernel: written, tried on the picture, and searched for its bug.

Here is what the window needs before the panel is made.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.widgets.actions import Action, Do
from workbench.widgets.lazy_panel import Dock, LazyPanel

if TYPE_CHECKING:
    from workbench.model.rung_times import RungTimes
    from workbench.panels.kernel.kernel_pane import KernelPane
    from workbench.session.analysis_thread import StepQueue
    from workbench.session.store import Store
    from workbench.widgets.docks import Docks

DOCK = Dock(
    "Kernel",
    setting="kernel",
    keys=("Ctrl+U",),
    tip="A CUDA kernel of your own: write it, and see what it does to the picture.",
    width_px=568,  # 60 letters of its source
)
STEPPING, FILES = "&Run/St&epping", "&File/&Kernel"


def lazy_panel(store: Store, times: RungTimes, trials: StepQueue) -> LazyPanel[KernelPane]:
    """Return the panel of kernels; it takes what KernelPane takes."""

    def make() -> KernelPane:
        from workbench.panels.kernel.kernel_pane import KernelPane

        return KernelPane(store, times, trials)

    return LazyPanel(DOCK, make)


class KernelMenu:
    """Actions on what is in the panel, which is made where there is none yet."""

    def __init__(self, panel: LazyPanel[KernelPane], docks: Docks) -> None:
        self._panel, self._docks = panel, docks

    def actions(self) -> list[Action]:
        """Return the lines of the menu."""
        return [
            self._line(
                *(FILES, "&New kernel", "Ctrl+N", lambda pane: pane.files.begin_new("")),
                "Begin with an empty kernel that has everything but the filter.",
            ),
            self._line(
                *(FILES, "&Open kernel…", "Ctrl+F7", lambda pane: pane.files.ask_file()),
                "Open a kernel's .cu file.",
            ),
            self._line(
                *(FILES, "&Save kernel", "F7", lambda pane: pane.files.save()),
                "Write the kernel into its file; Ctrl+S while it has the keyboard.",
            ),
            self._line(
                *(FILES, "Save kernel &as…", "Shift+F7", lambda pane: pane.files.save_as()),
                "Write the kernel into another file.",
            ),
            self._line(
                *(FILES, "Save a &copy to share…", "Alt+Shift+F7", lambda pane: pane.save_copy()),
                "Write it into one file with its header, its verdict and the machine's name.",
            ),
            self._line(
                *(FILES, "&Edit kernel outside", "Alt+F7", lambda pane: pane.files.edit_outside()),
                "Open its file in your own editor; what is saved there is tried here at once.",
            ),
        ]

    def run_actions(self) -> list[Action]:
        """Return the lines of the menu Run, which stand behind others."""
        return [
            self._line(
                *(
                    "&Run",
                    "Find the bug in the kernel",
                    "Ctrl+Shift+U",
                    lambda pane: pane.find_bug(),
                ),
                "Run it on a small part under checks of bounds, races and barriers.",
            ),
            self._line(
                *("&Run", "PTX/SASS of the kernel", "Ctrl+F6", lambda pane: pane.turn_code()),
                "See the instructions that it becomes beside its lines, and what changed in them.",
            ),
            self._line(
                *(STEPPING, "&Begin stepping", "Alt+F8", lambda pane: pane.step_through()),
                "Walk through one block line by line: its lanes, its variables, its shared memory.",
            ),
            self._line(
                *(STEPPING, "&Next step", "F8", lambda pane: pane.go_on(1)),
                "A step on, all threads abreast.",
            ),
            self._line(
                *(STEPPING, "&Step back", "Shift+F8", lambda pane: pane.go_on(-1)),
                "A step back: the run is recorded.",
            ),
            self._line(
                *(STEPPING, "Next b&arrier", "F6", lambda pane: pane.go_to_barrier(1)),
                "On, behind the next barrier.",
            ),
            self._line(
                *(STEPPING, "Ba&rrier before", "Shift+F6", lambda pane: pane.go_to_barrier(-1)),
                "Back, behind the barrier before.",
            ),
        ]

    def open_file(self, path: Path) -> None:
        """Show the kernel in a file; one from elsewhere runs only once the user says so."""
        self._opening(lambda pane: pane.files.open_file(path))()

    def open_named(self, path: Path) -> None:
        """Show the kernel in a file, and run it: the user named it to be run."""
        self._opening(lambda pane: pane.files.open_file(path, is_named=True))()

    def _line(
        self, menu: str, text: str, keys: str, do: Callable[[KernelPane], object], tip: str
    ) -> Action:
        return Action(menu, text, self._opening(do), (keys,), tip)

    def _opening(self, do: Callable[[KernelPane], object]) -> Do:
        def act() -> None:
            self._docks.enter("Kernel")
            pane = self._panel.get()
            pane.begin()
            do(pane)

        return act
