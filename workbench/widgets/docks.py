"""The panels around the pictures: where they stand, which is in front, what is remembered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Protocol, cast

from PySide6.QtCore import QByteArray, QPoint, QRect, QSize, Qt, QTimer
from PySide6.QtWidgets import QDockWidget, QMainWindow, QWidget

from workbench.widgets import keyboard
from workbench.widgets.actions import Action
from workbench.widgets.steady import Steady

LAYOUT_VERSION = 3
SIDE_PX = 312
LARGE_PX = (1000, 760)  # of a panel to read in
AREAS = {
    "left": Qt.DockWidgetArea.LeftDockWidgetArea,
    "right": Qt.DockWidgetArea.RightDockWidgetArea,
    "below": Qt.DockWidgetArea.BottomDockWidgetArea,
}


@dataclass(frozen=True, slots=True)
class Dock:
    """The place of a panel in a window, as the panel's class declares it by DOCK.

    title      on its tab, and in the menu of all panels
    place      those on the right share it, a tab each
    setting    under what name the settings keep its choices; empty: it has none, else it is
               Remembered
    is_hidden  at the first start: it comes with its action
    menu, text, keys, tip  its action, as Action has them, which brings it forward; without a
               menu it has none of its own
    """

    title: str
    place: Literal["left", "right", "below"] = "right"
    setting: str = ""
    is_hidden: bool = False
    menu: str = ""
    text: str = ""
    keys: tuple[str, ...] = ()
    tip: str = ""


class Remembered(Protocol):
    """A panel with choices of its own that the next start takes up."""

    def choices(self) -> dict[str, Any]:
        """Return what the panel remembers, as JSON can hold it."""

    def restore(self, data: dict[str, Any], /) -> None:
        """Take up what `choices` gave; what is not there is as on the first day."""


class Docks(Mapping[str, QDockWidget]):
    """The docks of a window, by their titles.

    A panel behind another's tab does nothing until it is chosen.
    """

    def __init__(self, window: QMainWindow, centre: QWidget, panels: Sequence[QWidget]) -> None:
        """Add a dock for each panel.

        panels: each with its DOCK, in the order in which Tab goes through them.
        """
        self._window = window
        self._declared: dict[str, Dock] = {}
        self._docks: dict[str, QDockWidget] = {}
        window.setDockOptions(QMainWindow.DockOption.AllowTabbedDocks)
        for panel in panels:
            dock: Dock = panel.DOCK  # type: ignore[attr-defined]
            self._declared[dock.title] = dock
            self._docks[dock.title] = self._make(dock, panel)
            if dock.place == "left":
                window.setCentralWidget(Steady(centre))  # here, for Tab's sake
        self._arrange()
        self._first_layout = QByteArray()

    def __getitem__(self, title: str) -> QDockWidget:
        return self._docks[title]

    def __iter__(self) -> Iterator[str]:
        return iter(self._docks)

    def __len__(self) -> int:
        return len(self._docks)

    def bring_forward(self, title: str) -> None:
        """Show the panel called `title`, and put it before those it shares its place with."""
        self[title].show()
        self[title].raise_()

    def enter(self, title: str) -> None:
        """Bring the panel forward, and give it the keyboard."""
        self.bring_forward(title)
        keyboard.enter(self[title].widget())

    def show(self, title: str, is_shown: bool) -> None:
        """Bring the panel forward, or hide it."""
        if is_shown:
            self.bring_forward(title)
        else:
            self[title].hide()

    def enlarge(self, title: str) -> None:
        """Give the panel a window of its own, large enough to read in, or take it back."""
        dock = self[title]
        dock.setFloating(not dock.isFloating())
        if not dock.isFloating():
            dock.raise_()
            return
        box = QRect(QPoint(), QSize(*LARGE_PX))
        box.moveCenter(self._window.geometry().center())
        QTimer.singleShot(0, dock, lambda: dock.setGeometry(box))  # Qt gives it a size first

    def action(self, title: str) -> Action:
        """Return the line of the menu that the panel called `title` declares."""
        dock = self._declared[title]
        return Action(dock.menu, dock.text, partial(self.enter, title), dock.keys, dock.tip)

    # -- what is remembered

    def choices(self) -> dict[str, Any]:
        """Return what the next start takes up, by its name in the settings."""
        return {
            **{name: panel.choices() for name, panel in self._remembered()},
            "geometry": _to_text(self._window.saveGeometry()),
            "layout": _to_text(self._window.saveState(LAYOUT_VERSION)),
        }

    def restore(self, get: Callable[[str, Any], Any]) -> None:
        """Take up what `choices` gave; get: a setting by its name, and what there is without."""
        for name, panel in self._remembered():
            panel.restore(get(name, {}))
        self._first_layout = self._window.saveState(LAYOUT_VERSION)
        self._window.restoreGeometry(_from_text(get("geometry", "")))
        self._window.restoreState(_from_text(get("layout", "")), LAYOUT_VERSION)

    def forget(self) -> None:
        """Put all as at the first start."""
        self._window.restoreState(self._first_layout, LAYOUT_VERSION)
        for _, panel in self._remembered():
            panel.restore({})

    def _remembered(self) -> Iterator[tuple[str, Remembered]]:
        for title, dock in self._declared.items():
            if dock.setting:
                yield dock.setting, cast("Remembered", self[title].widget())

    # -- how they are built

    def _make(self, declared: Dock, panel: QWidget) -> QDockWidget:
        dock = QDockWidget(declared.title, self._window)
        dock.setObjectName(declared.title)
        dock.setWidget(panel)
        if declared.place != "below":
            dock.setMinimumWidth(SIDE_PX)  # whichever tab is chosen, nothing jumps
        # Behind another tab Qt only moves it away, where Tab and Alt would still find it.
        dock.visibilityChanged.connect(panel.setVisible)
        self._window.addDockWidget(AREAS[declared.place], dock)
        return dock

    def _arrange(self) -> None:
        """Let the side panels take the whole height, and what is below the pictures their width."""
        window = self._window
        for corner, side in (
            (Qt.Corner.BottomLeftCorner, AREAS["left"]),
            (Qt.Corner.BottomRightCorner, AREAS["right"]),
        ):
            window.setCorner(corner, side)
        front, *others = (each for each in self._declared.values() if each.place == "right")
        for each in others:
            window.tabifyDockWidget(self[front.title], self[each.title])
            if each.is_hidden:
                self[each.title].hide()
        self[front.title].raise_()
        for each in others:
            if not each.is_hidden:
                self[each.title].widget().hide()  # until its tab is chosen


def _to_text(data: QByteArray) -> str:
    return bytes(data.toBase64().data()).decode()


def _from_text(text: str) -> QByteArray:
    return QByteArray.fromBase64(QByteArray(text.encode(errors="replace")))
