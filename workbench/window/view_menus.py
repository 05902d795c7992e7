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
from workbench.widgets.actions import Action, MenuLine, MenuTree
from workbench.widgets.docks import Docks
from workbench.widgets.letters import STEPS, factor_of, next_step, set_factor
from workbench.window.window_parts import Parts

COMPARE_MENU = "&View/&Compare"


def actions(store: Store, inspection: Inspection) -> list[Action]:
    """Lines of the menu, in their order."""
    return [*_of_modes(store), *_of_differing_pixels(inspection), *_of_pins(inspection)]


def _of_modes(store: Store) -> list[Action]:
    def toggle(mode: ViewMode) -> None:
        is_on = store.state.view_mode == mode
        store.update(view_mode="result" if is_on else mode)

    def next_view() -> None:
        modes: tuple[ViewMode, ...] = get_args(ViewMode)
        store.update(view_mode=modes[(modes.index(store.state.view_mode) + 1) % len(modes)])

    def rotate_divider() -> None:
        divider = "upright" if store.state.divider == "level" else "level"
        store.update(view_mode="wipe", divider=divider)

    def change_difference() -> None:
        kind = "signed" if store.state.difference == "absolute" else "absolute"
        store.update(view_mode="difference", difference=kind)

    return [
        Action(
            *(COMPARE_MENU, "&Result", partial(store.update, view_mode="result"), ("E",)),
            "The filtered picture alone; hold Space for the original.",
        ),
        Action(
            *(COMPARE_MENU, "&Wipe", partial(toggle, "wipe"), ("W",)),
            "Before over after, with a divider to drag; again: the result.",
        ),
        Action(
            *(COMPARE_MENU, "Rotate divider", rotate_divider, ("Shift+W",)),
            "Wipe from left to right, or from top to bottom.",
        ),
        Action(
            *(COMPARE_MENU, "&Side by side", partial(toggle, "side"), ("S",)),
            "Before and after next to each other, or one above the other, whichever makes them "
            "larger; again: the result.",
        ),
        Action(
            *(COMPARE_MENU, "&Difference", partial(toggle, "difference"), ("D",)),
            "After minus before, or minus a pinned result; again: the result.",
        ),
        Action(
            *(COMPARE_MENU, "Absolute or signed difference", change_difference, ("Shift+D",)),
            "How much each channel differs, or which way: orange above, blue below.",
        ),
        Action(
            *(COMPARE_MENU, "&Mismatch", partial(toggle, "mismatch"), ("M",)),
            "Every pixel compared with the float64 reference; again: the result.",
        ),
        Action(
            *(COMPARE_MENU, "Next &view", next_view, ("V",)),
            "Result, wipe, side by side, difference, mismatch, and from the beginning.",
        ),
    ]


def _of_differing_pixels(inspection: Inspection) -> list[Action]:
    go_to = inspection.worked_out.go_to_differing
    return [
        Action(
            *(COMPARE_MENU, "&Next differing pixel", partial(go_to, 1), ("N",)),
            "Go to the next pixel that differs from the reference.",
        ),
        Action(
            *(COMPARE_MENU, "Pr&evious differing pixel", partial(go_to, -1), ("Shift+N",)),
            "Go to the one before.",
        ),
    ]


def _of_pins(inspection: Inspection) -> list[Action]:
    return [
        Action(
            *(COMPARE_MENU, "Pin this result", inspection.pin, ("K",)),
            "Keep it beside the next ones: up to four at once, zoomed and moved together.",
        ),
        Action(
            *(COMPARE_MENU, "Remove the last pinned result", inspection.unpin, ("Shift+K",)),
            "Forget the result that was pinned last.",
        ),
        Action(
            *(
                COMPARE_MENU,
                "Compare with the next pinned result",
                inspection.step_against,
                ("Shift+J",),
            ),
            "What wipe, difference and analysis hold the result against: the original, then each "
            "pinned result in turn.",
        ),
    ]


PANEL_MENU = "&View/&Panels"
ROW = "1234567890-"  # of a keyboard: with Ctrl+Shift the panels, from the top of the rail


class PanelMenu:
    """A menu that says which panels are open."""

    def __init__(self, docks: Docks) -> None:
        self._docks = docks

    def fill(self, tree: MenuTree) -> None:
        """Add a line for each panel."""
        menu = tree.menu(PANEL_MENU)
        for key, (title, frame) in zip(ROW, self._docks.items(), strict=True):
            line = menu.addAction(title)
            line.setCheckable(True)
            place = self._docks.panel(title).dock
            has_own = bool(place.menu)
            line.setObjectName("" if has_own else title)
            keys = () if has_own else place.keys
            line.setShortcuts([QKeySequence(each) for each in (*keys, f"Ctrl+Shift+{key}")])
            line.setToolTip(tip_text(f"Open the panel {title}, or close it.\n{place.tip}"))
            self._docks.rail.show_tip(title, f"{place.tip}\n{MenuLine((), line).keys}")
            frame.opened.connect(line.setChecked)
            show = partial(self._docks.show, title)  # PySide passes no argument to a partial
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

    def actions(self) -> list[Action]:
        """Lines of the menu, in their order."""
        return [
            Action(
                *(PANEL_MENU, "&Larger letters", partial(self.step, 1), ("Ctrl++", "Ctrl+=")),
                "Enlarge the letters of the panel under the pointer, or the one with the keyboard.",
            ),
            Action(
                *(PANEL_MENU, "S&maller letters", partial(self.step, -1), ("Ctrl+-",)),
                "Make them smaller again.",
            ),
        ]

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
            if (title := self._around(widget)) is not None:
                return title
        seen = [title for title, panel in self._made() if panel.isVisible()]
        return seen[0] if len(seen) == 1 else None

    def _around(self, widget: QWidget | None) -> str | None:
        for title, panel in self._made():
            if widget is not None and (widget is panel or panel.isAncestorOf(widget)):
                return title
        return None

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
