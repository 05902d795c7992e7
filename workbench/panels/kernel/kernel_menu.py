"""The lines of the menus about a kernel of one's own; each opens its panel first."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.widgets.actions import Action, Do
from workbench.widgets.docks import Docks
from workbench.widgets.lazy_panel import LazyPanel

if TYPE_CHECKING:
    from workbench.panels.kernel.kernel_page import KernelPage
    from workbench.panels.kernel.kernel_pane import KernelPane

# What the panel's buttons do, too.
STEPS: tuple[tuple[str, str, Callable[[KernelPage], object], str], ...] = (
    ("&Next step", "F8", lambda page: page.go_on(1), "A step on, all threads abreast."),
    ("&Step back", "Shift+F8", lambda page: page.go_on(-1), "A step back: the run is recorded."),
    ("Next b&arrier", "F6", lambda page: page.go_to_barrier(1), "On, behind the next barrier."),
    (
        *("Ba&rrier before", "Shift+F6", lambda page: page.go_to_barrier(-1)),
        "Back, behind the barrier before.",
    ),
)
STEPPING = "&Run/St&epping"
FILES = "&File/&Kernel"


class KernelMenu:
    """Actions on what is in the panel, which is made where there is none yet."""

    def __init__(self, panel: LazyPanel[KernelPane], docks: Docks) -> None:
        self._panel, self._docks = panel, docks

    def actions(self) -> list[Action]:
        """Return the lines of the menu."""
        return [
            Action(
                *(FILES, "&New kernel", self._opening(lambda page: page.begin_new(""))),
                keys=("Ctrl+N",),
                tip="Begin with an empty kernel that has everything but the filter.",
            ),
            Action(
                *(FILES, "&Open kernel…", self._opening(lambda page: page.ask_file())),
                keys=("Ctrl+F7",),
                tip="Open a kernel's .cu file.",
            ),
            Action(
                *(FILES, "&Save kernel", self._opening(lambda page: page.save())),
                keys=("F7",),
                tip="Write the kernel into its file; Ctrl+S while it has the keyboard.",
            ),
            Action(
                *(FILES, "Save kernel &as…", self._opening(lambda page: page.save_as())),
                keys=("Shift+F7",),
                tip="Write the kernel into another file.",
            ),
            Action(
                *(FILES, "Save a &copy to share…", self._opening(lambda page: page.save_copy())),
                keys=("Alt+Shift+F7",),
                tip="Write it into one file with its header, its verdict and the machine's name.",
            ),
            Action(
                *(FILES, "&Edit kernel outside", self._opening(lambda page: page.edit_outside())),
                keys=("Alt+F7",),
                tip="Open its file in your own editor; what is saved there is tried here at once.",
            ),
        ]

    def run_actions(self) -> list[Action]:
        """Return the lines of the menu Run, which stand behind others."""
        return [
            Action(
                *("&Run", "Find the bug in the kernel", self._opening(lambda p: p.find_bug())),
                ("Ctrl+Shift+U",),
                "Run it on a small part under checks of bounds, races and barriers.",
            ),
            Action(
                *("&Run", "PTX/SASS of the kernel", self._opening(_turn_code)),
                ("Ctrl+F6",),
                "See the instructions that it becomes beside its lines, and what changed in them.",
            ),
            Action(
                *(STEPPING, "&Begin stepping", self._opening(lambda p: p.step_through())),
                ("Alt+F8",),
                "Walk through one block line by line: its lanes, its variables, its shared memory.",
            ),
            *(
                Action(STEPPING, text, self._opening(do), (keys,), tip)
                for text, keys, do, tip in STEPS
            ),
        ]

    def open_file(self, path: Path) -> None:
        """Show the kernel in a file; one from elsewhere runs only once the user says so."""
        self._opening(lambda page: page.open_file(path))()

    def open_named(self, path: Path) -> None:
        """Show the kernel in a file, and run it: the user named it to be run."""
        self._opening(lambda page: page.open_file(path, is_named=True))()

    def _opening(self, do: Callable[[KernelPage], object]) -> Do:
        def act() -> None:
            self._docks.enter("Kernel")
            do(self._panel.get().page)

        return act


def _turn_code(page: KernelPage) -> None:
    page.show_code(page.is_stepping or not page.is_code_shown)
