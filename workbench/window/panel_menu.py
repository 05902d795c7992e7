"""The menu View ▸ Panels: a line for each, which brings it forward or hides it."""

from __future__ import annotations

from functools import partial

from PySide6.QtWidgets import QMenu, QWidget

from workbench.base.plain_text import tip_text
from workbench.widgets.actions import MenuTree
from workbench.widgets.docks import Docks

MENU = "&View/&Panels"


class PanelMenu:
    """A menu with lines of its own: Qt's would hide a panel that stands behind another's tab."""

    def __init__(self, docks: Docks) -> None:
        self._docks = docks
        self._lines: QMenu | None = None

    def fill(self, tree: MenuTree) -> None:
        """Add a line for each panel."""
        self._lines = tree.menu(MENU)
        for number, (title, dock) in enumerate(self._docks.items(), 1):
            line = self._lines.addAction(title)
            line.setCheckable(True)
            line.setShortcut(f"Ctrl+Shift+{number}")
            line.setToolTip(tip_text(f"Show the panel {title} before all others, or hide it."))
            dock.visibilityChanged.connect(line.setChecked)
            show = partial(self._docks.show, title)  # PySide passes no argument to a partial
            line.triggered.connect(lambda is_shown, show=show: show(is_shown))

    def popup(self, parent: QWidget) -> QMenu:
        """Return the lines once more, in a menu that belongs to the caller."""
        menu = QMenu(parent)  # it must be the caller's: Qt deletes it when it closes
        menu.setToolTipsVisible(True)
        if self._lines is not None:
            menu.addActions(self._lines.actions())
        return menu
