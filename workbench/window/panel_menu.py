"""The menu View ▸ Panels: a line for each, which opens or closes it, and its key."""

from __future__ import annotations

from functools import partial

from PySide6.QtGui import QKeySequence

from workbench.base.plain_text import tip_text
from workbench.widgets.actions import MenuTree
from workbench.widgets.docks import Docks
from workbench.widgets.menu_lines import MenuLine

MENU = "&View/&Panels"
ROW = "1234567890-"  # of a keyboard: with Ctrl+Shift the panels, from the top of the rail


class PanelMenu:
    """A menu that says which panels are open."""

    def __init__(self, docks: Docks) -> None:
        self._docks = docks

    def fill(self, tree: MenuTree) -> None:
        """Add a line for each panel."""
        menu = tree.menu(MENU)
        for key, (title, frame) in zip(ROW, self._docks.items(), strict=True):
            line = menu.addAction(title)
            line.setCheckable(True)
            place = self._docks.declared(title)
            has_own = bool(place.menu)
            line.setObjectName("" if has_own else title)
            keys = () if has_own else place.keys
            line.setShortcuts([QKeySequence(each) for each in (*keys, f"Ctrl+Shift+{key}")])
            line.setToolTip(tip_text(f"Open the panel {title}, or close it.\n{place.tip}"))
            self._docks.rail.show_tip(title, f"{place.tip}\n{MenuLine((), line).keys}")
            frame.opened.connect(line.setChecked)
            show = partial(self._docks.show, title)  # PySide passes no argument to a partial
            line.triggered.connect(lambda is_shown, show=show: show(is_shown))
