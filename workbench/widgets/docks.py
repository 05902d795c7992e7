"""The panels around the picture: how they are opened, enlarged, and what is remembered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QWidget

from workbench.base import theme
from workbench.widgets import keyboard
from workbench.widgets.lazy_panel import LazyPanel, PanelFrame
from workbench.widgets.letters import factor_of, set_factor
from workbench.widgets.panel_area import SIDES, PanelArea, Rail

LARGE_PX = (1000, 760)  # of a panel to read in
MAX_PX = 2**15  # of a place or a size on the screen
TITLE_PX = 32  # of a window, above what is in it


class Docks(Mapping[str, PanelFrame]):
    """The panels of a window, by their titles; none is open at first.

    A panel that is closed does nothing; one that was never open is not even made.

    area  the picture with the panels and the rail
    rail  an icon for each panel
    """

    def __init__(
        self, parent: QWidget, centre: QWidget, foot: QWidget, panels: Sequence[LazyPanel[Any]]
    ) -> None:
        """Put a frame for each panel beside `centre`.

        parent  best in its window already: Qt styles all that is in what changes its parent
        foot    a line below the picture and the panels
        panels  in the order of the rail
        """
        self.area = PanelArea(parent)
        self._panels = {panel.dock.title: panel for panel in panels}
        self._remembered = {panel.dock.setting: panel for panel in panels if panel.dock.setting}
        left, right = ([panel for panel in panels if panel.dock.place == side] for side in SIDES)
        made = {panel.dock.title: self._make(panel) for panel in left}
        self.area.set_centre(centre)  # between them, as Tab goes from left to right
        made |= {panel.dock.title: self._make(panel) for panel in right}
        self._frames = {title: made[title] for title in self._panels}
        self.rail = Rail(list(self._frames), self.area)
        # Making a panel takes as long as showing it: it is made before the finger is up again.
        self.rail.pressed.connect(lambda title: self.panel(title).get())
        self.rail.clicked.connect(self.toggle)
        for title, frame in self._frames.items():
            frame.opened.connect(self.rail.buttons[title].setChecked)
        self.area.surround(foot, self.rail)

    def __getitem__(self, title: str) -> PanelFrame:
        return self._frames[title]

    def __iter__(self) -> Iterator[str]:
        return iter(self._frames)

    def __len__(self) -> int:
        return len(self._frames)

    def bring_forward(self, title: str) -> None:
        """Open the panel called `title`, in place of the one that is open at its side."""
        frame = self[title]
        frame.show()
        if frame.is_enlarged:
            frame.raise_()
            frame.activateWindow()

    def enter(self, title: str) -> None:
        """Open the panel, and give it the keyboard."""
        self.bring_forward(title)
        keyboard.enter(self._panels[title].get())

    def show(self, title: str, is_shown: bool) -> None:
        """Open the panel and give it the keyboard, or close it."""
        if is_shown:
            self.enter(title)
        else:
            self[title].hide()

    def toggle(self, title: str) -> None:
        """Open the panel if it is closed, and the other way round; the keyboard stays."""
        if self[title].isHidden():
            self.bring_forward(title)
        else:
            self[title].hide()

    def enlarge(self, title: str) -> None:
        """Give the panel a window of its own, large enough to read in, or take it back."""
        frame = self[title]
        is_large = not frame.is_enlarged
        frame.enlarge(is_large)
        if is_large:
            window = self.area.window()
            box = QRect(QPoint(), theme.window_size(*LARGE_PX))
            box.moveCenter(window.geometry().center())
            room = window.screen().availableGeometry().adjusted(0, TITLE_PX, 0, 0)
            frame.setGeometry(within(box, room))
        frame.show()

    def panel(self, title: str) -> LazyPanel[Any]:
        """The panel called `title`, which may not be made yet."""
        return self._panels[title]

    # -- what is remembered

    def choices(self) -> dict[str, Any]:
        """Collect what the panels remember, by its name in the settings."""
        return {name: panel.choices() for name, panel in self._remembered.items()}

    def restore(self, get: Callable[[str, Any], Any]) -> None:
        """Restore `choices()`; get: a setting by its name, and the default without."""
        for name, panel in self._remembered.items():
            panel.restore(get(name, {}))

    def layout(self) -> dict[str, Any]:
        """The open panels, their places and widths, as JSON can hold them."""
        return {
            "open": [t for t, each in self.items() if not each.isHidden() and not each.is_enlarged],
            "enlarged": {
                title: box_of(each.geometry())
                for title, each in self.items()
                if each.is_enlarged and not each.isHidden()
            },
            "widths": self.area.widths(),
        }

    def restore_layout(self, data: Mapping[str, Any]) -> None:
        """Restore `layout()`; the defaults replace what is missing or makes no sense."""
        for frame in self.values():
            frame.hide()
            frame.enlarge(False)
        widths = _mapping(data.get("widths"))
        self.area.set_widths(
            {side: widths[side] for side in SIDES if type(widths.get(side)) is int}
        )
        opened = data.get("open")
        for title in opened if isinstance(opened, list) else []:
            if isinstance(title, str) and title in self:
                self[title].show()
        for title, box in _mapping(data.get("enlarged")).items():
            if title in self and (place := box_from(box)) is not None:
                self[title].enlarge(True)
                self[title].setGeometry(place)
                self[title].show()

    def forget(self) -> None:
        """Reset what the panels remember to that of a first start."""
        self.restore(lambda _name, without: without)
        for panel in self._panels.values():
            if panel.made and factor_of(panel.made) != 1:
                set_factor(panel.made, 1.0)

    def _make(self, panel: LazyPanel[Any]) -> PanelFrame:
        dock = panel.dock
        frame = PanelFrame(dock.title, panel, self.area)
        frame.enlarge_wanted.connect(partial(self.enlarge, dock.title))
        self.area.add_frame(frame, dock.place, dock.width_px)
        return frame


def box_of(box: QRect) -> list[int]:
    """Left, top, width and height, as JSON can hold them."""
    return [box.x(), box.y(), box.width(), box.height()]


def box_from(data: Any) -> QRect | None:
    """The box that `box_of` gave; None: it makes no sense, or is more than Qt can hold."""
    if not isinstance(data, list) or len(data) != len(box_of(QRect())):
        return None
    is_sane = all(type(each) is int and abs(each) < MAX_PX for each in data)
    return QRect(*data) if is_sane else None


def within(box: QRect, room: QRect) -> QRect:
    """Move `box` to where all of it is in `room`, smaller if need be."""
    placed = QRect(box.topLeft(), box.size().boundedTo(room.size()))
    placed.moveLeft(min(max(box.left(), room.left()), room.right() + 1 - placed.width()))
    placed.moveTop(min(max(box.top(), room.top()), room.bottom() + 1 - placed.height()))
    return placed


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
