"""The panels around the pictures: where they stand, which is in front, what is remembered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from PySide6.QtCore import QByteArray, QPoint, QRect, QSize, Qt, QTimer
from PySide6.QtWidgets import QDockWidget, QMainWindow, QWidget

from workbench.widgets.steady import Steady

LAYOUT_VERSION = 3
SIDE_PX = 312
LARGE_PX = (1000, 760)  # of a panel to read in
LEFT = "Controls"
BELOW = "History"  # all others share a place on the right
COME_WITH_THEIR_KEY = ("Pixel", "Anatomy", "Analysis")


class Remembered(Protocol):
    """A view with choices of its own that the next start takes up.

    restore  takes what `choices` gave; what is not there is as on the first day
    """

    def choices(self) -> dict[str, Any]: ...

    def restore(self, data: dict[str, Any], /) -> None: ...


class Panels:
    """Docks, by their titles; those behind another's tab do nothing until they are chosen."""

    def __init__(
        self,
        window: QMainWindow,
        centre: QWidget,
        views: Mapping[str, QWidget],
        remembered: Mapping[str, Remembered],
    ) -> None:
        """
        views       by their panels' titles, in the order in which Tab goes through them
        remembered  by their names in the settings
        """
        self._window, self._remembered = window, remembered
        self.docks: dict[str, QDockWidget] = {}
        window.setDockOptions(QMainWindow.DockOption.AllowTabbedDocks)
        for title, view in views.items():
            self.docks[title] = self._dock(title, view)
            if title == LEFT:
                window.setCentralWidget(Steady(centre))  # here, for Tab's sake
        self._arrange()
        self._first_layout = QByteArray()

    def bring_forward(self, title: str) -> None:
        """Show the panel called `title`, and put it before those it shares its place with."""
        self.docks[title].show()
        self.docks[title].raise_()

    def show(self, title: str, is_shown: bool) -> None:
        """Bring it forward, or hide it."""
        if is_shown:
            self.bring_forward(title)
        else:
            self.docks[title].hide()

    def enlarge(self, title: str) -> None:
        """Give the panel a window of its own, large enough to read in, or take it back."""
        dock = self.docks[title]
        dock.setFloating(not dock.isFloating())
        if not dock.isFloating():
            dock.raise_()
            return
        box = QRect(QPoint(), QSize(*LARGE_PX))
        box.moveCenter(self._window.geometry().center())
        QTimer.singleShot(0, dock, lambda: dock.setGeometry(box))  # Qt gives it a size first

    # -- what is remembered

    def choices(self) -> dict[str, Any]:
        """What the next start takes up, by its name in the settings."""
        return {
            **{name: view.choices() for name, view in self._remembered.items()},
            "geometry": _to_text(self._window.saveGeometry()),
            "layout": _to_text(self._window.saveState(LAYOUT_VERSION)),
        }

    def restore(self, get: Callable[[str, Any], Any]) -> None:
        """Take up what `choices` gave; get: a setting by its name, and what there is without."""
        for name, view in self._remembered.items():
            view.restore(get(name, {}))
        self._first_layout = self._window.saveState(LAYOUT_VERSION)
        self._window.restoreGeometry(_from_text(get("geometry", "")))
        self._window.restoreState(_from_text(get("layout", "")), LAYOUT_VERSION)

    def forget(self) -> None:
        """All as at the first start."""
        self._window.restoreState(self._first_layout, LAYOUT_VERSION)
        for view in self._remembered.values():
            view.restore({})

    # -- how they are built

    def _dock(self, title: str, view: QWidget) -> QDockWidget:
        areas = Qt.DockWidgetArea
        places = {LEFT: areas.LeftDockWidgetArea, BELOW: areas.BottomDockWidgetArea}
        dock = QDockWidget(title, self._window)
        dock.setObjectName(title)
        dock.setWidget(view)
        if title != BELOW:
            dock.setMinimumWidth(SIDE_PX)  # whichever tab is chosen, nothing jumps
        # Behind another tab Qt only moves it away, where Tab and Alt would still find it.
        dock.visibilityChanged.connect(view.setVisible)
        self._window.addDockWidget(places.get(title, areas.RightDockWidgetArea), dock)
        return dock

    def _arrange(self) -> None:
        """The side panels take the whole height, and the history what is below the pictures."""
        window, docks = self._window, self.docks
        for corner, side in (
            (Qt.Corner.BottomLeftCorner, Qt.DockWidgetArea.LeftDockWidgetArea),
            (Qt.Corner.BottomRightCorner, Qt.DockWidgetArea.RightDockWidgetArea),
        ):
            window.setCorner(corner, side)
        front, *others = (title for title in docks if title not in (LEFT, BELOW))
        for title in others:
            window.tabifyDockWidget(docks[front], docks[title])
            if title in COME_WITH_THEIR_KEY:
                docks[title].hide()
        docks[front].raise_()
        for title in others:
            if title not in COME_WITH_THEIR_KEY:
                docks[title].widget().hide()  # until its tab is chosen


def _to_text(data: QByteArray) -> str:
    return bytes(data.toBase64().data()).decode()


def _from_text(text: str) -> QByteArray:
    return QByteArray.fromBase64(QByteArray(text.encode(errors="replace")))
