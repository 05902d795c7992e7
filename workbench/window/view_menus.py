"""Menus of the view: modes to compare in, panels, and the size of a panel's letters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, get_args

from PySide6.QtCore import QObject
from PySide6.QtGui import QCursor, QKeySequence
from PySide6.QtWidgets import QApplication, QWidget

from workbench.base.plain_text import tip_text
from workbench.model.state import ViewMode
from workbench.panels.compare.inspection import Inspection
from workbench.session.store import Store
from workbench.widgets.actions import Actions, MenuLine, MenuTree
from workbench.widgets.docks import Docks
from workbench.widgets.letters import STEPS, factor_of, next_step, set_factor
from workbench.window.window_layout import Parts


def actions(store: Store, inspection: Inspection) -> Actions:
    """Lines of the menu View ▸ Compare."""
    modes: tuple[ViewMode, ...] = get_args(ViewMode)

    def toggle(mode: ViewMode) -> None:
        is_on = store.state.view_mode == mode
        store.update(view_mode="result" if is_on else mode)

    def next_view() -> None:
        store.update(view_mode=modes[(modes.index(store.state.view_mode) + 1) % len(modes)])

    def rotate_divider() -> None:
        divider = "upright" if store.state.divider == "level" else "level"
        store.update(view_mode="wipe", divider=divider)

    def change_difference() -> None:
        kind = "signed" if store.state.difference == "absolute" else "absolute"
        store.update(view_mode="difference", difference=kind)

    return {
        "Result": partial(store.update, view_mode="result"),
        "Wipe": partial(toggle, "wipe"),
        "Rotate divider": rotate_divider,
        "Side by side": partial(toggle, "side"),
        "Difference": partial(toggle, "difference"),
        "Absolute or signed difference": change_difference,
        "Mismatch": partial(toggle, "mismatch"),
        "Next view": next_view,
        "Next differing pixel": partial(inspection.go_to_differing, 1),
        "Previous differing pixel": partial(inspection.go_to_differing, -1),
        "Pin this result": inspection.pin,
        "Remove the last pinned result": inspection.unpin,
        "Compare with the next pinned result": inspection.step_against,
    }


PANEL_MENU = "&View/&Panels"
ROW = "1234567890-"  # of a keyboard: with Ctrl+Shift the panels, from the top of the rail


def fill_panels(tree: MenuTree, docks: Docks) -> None:
    """Add a line for each panel, which says whether it is open."""
    menu = tree.menu(PANEL_MENU)
    for key, (title, frame) in zip(ROW, docks.items(), strict=True):
        dock = docks.panel(title).dock
        line = menu.addAction(title)
        line.setCheckable(True)
        line.setObjectName("" if title in tree else title)
        line.setShortcuts([QKeySequence(each) for each in (*dock.keys, f"Ctrl+Shift+{key}")])
        line.setToolTip(tip_text(f"Open the panel {title}, or close it.\n{dock.tip}"))
        keys = MenuLine((), line).keys
        docks.rail.buttons[title].setToolTip(tip_text(f"{dock.tip}\n{keys}"))
        frame.opened.connect(line.setChecked)
        show = partial(docks.show, title)  # PySide passes no argument to a partial
        line.triggered.connect(lambda is_shown, show=show: show(is_shown))


SETTING = "letters"
NO_PANEL = "Point at a panel first, or click in it: its letters become larger or smaller."


class PanelLetters(QObject):
    """A service that enlarges the letters of the panel with the pointer, or with the keyboard."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts.window)
        self._docks, self._settings, self._messages = parts.docks, parts.settings, parts.messages
        for title in self._docks:
            self._docks.panel(title).when_made(partial(self._take_up, title))

    def actions(self) -> Actions:
        """Lines of the menu View ▸ Panels."""
        return {"Larger letters": partial(self.step, 1), "Smaller letters": partial(self.step, -1)}

    def step(self, direction: int) -> None:
        """Make the letters of the panel that is meant larger (1) or smaller (-1)."""
        if (title := self._meant()) is None:
            self._messages.show_message("info", NO_PANEL)
            return
        panel = self._docks.panel(title).get()
        factor = next_step(factor_of(panel), direction)
        set_factor(panel, factor)
        self._settings.set(SETTING, {**_sizes(self._settings.get(SETTING, {})), title: factor})

    def _take_up(self, title: str, panel: QWidget) -> None:
        factor = _sizes(self._settings.get(SETTING, {})).get(title, 1.0)
        if factor != 1:
            set_factor(panel, factor)

    def _meant(self) -> str | None:
        """The panel under the pointer, else that with the keyboard, else the only one."""
        for widget in (QApplication.widgetAt(QCursor.pos()), QApplication.focusWidget()):
            for title, panel in self._made():
                if widget is not None and (widget is panel or panel.isAncestorOf(widget)):
                    return title
        seen = [title for title, panel in self._made() if panel.isVisible()]
        return seen[0] if len(seen) == 1 else None

    def _made(self) -> Iterator[tuple[str, QWidget]]:
        for title in self._docks:
            if (panel := self._docks.panel(title).made) is not None:
                yield title, panel


def _sizes(data: Any) -> dict[str, float]:
    """Valid sizes of a settings file."""
    if not isinstance(data, Mapping):
        return {}
    return {
        title: float(factor)
        for title, factor in data.items()
        if isinstance(factor, int | float) and STEPS[0] <= factor <= STEPS[-1]
    }
