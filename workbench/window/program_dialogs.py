"""Dialogs about the program itself: all keys, all actions, what it is, and a reset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QMainWindow

from kernels.core.device import NoDevice
from workbench.base.plain_text import ask_before
from workbench.session.kernel_folder import KernelFolder
from workbench.session.store import Store
from workbench.session.worker import Worker
from workbench.widgets.actions import Action, menu_lines
from workbench.widgets.docks import Docks
from workbench.widgets.lazy_panel import LazyPanel
from workbench.window.restoring.remembering import Memory
from workbench.window.themes import Themes

if TYPE_CHECKING:
    from workbench.panels.sweep.sweep_panel import SweepPanel
    from workbench.window.palette.entries import PaletteEntry

MENU = "&Help"
FORGET = "Reset settings, layout, theme and recent files?"


class ProgramDialogs(QObject):
    """A maker of dialogs, each imported and made from the present menus when it is wanted.

    window  whose menus are meant, and over which the dialogs lie
    """

    def __init__(
        self,
        store: Store,
        worker: Worker,
        docks: Docks,
        sweep: LazyPanel[SweepPanel],
        kernel_folder: KernelFolder,
        memory: Memory,
        themes: Themes,
        window: QMainWindow,
    ) -> None:
        super().__init__(window)
        self._store, self._worker, self._docks, self._sweep = store, worker, docks, sweep
        self._kernel_folder = kernel_folder
        self._memory, self._themes, self._window = memory, themes, window

    def actions(self) -> list[Action]:
        """Return the lines of the menu."""
        return [
            Action(
                *(MENU, "&Keyboard shortcuts", self._show_shortcuts, ("?",)),
                "All keys on one page, over the window.",
            ),
            Action(
                *(MENU, "A&ll actions…", self._show_palette, ("Ctrl+Shift+P",)),
                "Find any action, filter, implementation, preset or session by some letters.",
            ),
            Action(
                *(MENU, "&Reset all settings…", self._ask_to_forget, ("Ctrl+Shift+F12",)),
                "Choices, layout, theme and recent files as at the first start, after a question.",
                separator=True,
            ),
            Action(
                *(MENU, "&About and diagnostics", self._show_about, ("Ctrl+F1",)),
                "Version, licence, and what was found on this computer, ready to copy.",
            ),
        ]

    def entries(self) -> list[PaletteEntry]:
        """Return all entries of the palette, as things are now."""
        from workbench.window.palette.entries import entries_of

        return entries_of(
            *(
                self._window,
                self._store,
                self._worker,
                self._docks,
                self._sweep,
                self._kernel_folder,
            )
        )

    @Slot()
    def _show_shortcuts(self) -> None:
        from workbench.window.help.shortcuts import ShortcutsDialog

        ShortcutsDialog(menu_lines(self._window), self._window).open()

    @Slot()
    def _show_palette(self) -> None:
        from workbench.window.palette.palette import Palette

        Palette(self.entries(), self._window).open()

    @Slot()
    def _show_about(self) -> None:
        from workbench.window.about import AboutDialog

        device = self._worker.device or NoDevice("The GPU is still being looked for.")
        AboutDialog(device, self._window).open()

    @Slot()
    def _ask_to_forget(self) -> None:
        ask_before(self._window, FORGET, "Reset", self._forget)

    def _forget(self) -> None:
        self._memory.forget()
        self._themes.forget()
