"""The middle of the window: the picture, panels beside it or over it, and the rail."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QIcon, QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QSizePolicy, QSplitter, QToolButton, QWidget

from workbench.base import theme
from workbench.widgets import keyboard
from workbench.widgets.boxes import VBox
from workbench.widgets.buttons import described, theme_pixmap
from workbench.widgets.lazy_panel import LazyPanel, PanelFrame, Side
from workbench.widgets.letters import factor_of, set_factor
from workbench.widgets.tile import scaled_font
from workbench.widgets.watch import Watch

LARGE_PX = (1000, 760)  # of a panel to read in
MAX_PX = 2**15  # of a place or a size on the screen
TITLE_PX = 32  # of a window, above what is in it
SIDES: tuple[Side, Side] = ("left", "right")
USUAL_PX: Mapping[Side, int] = {"left": 320, "right": 356}  # for usual letters
MIN_PX = 240
MIN_SHARE = 0.46  # of the window that panels beside the picture leave to the middle
WISH_SHARE = 0.452  # that one leaves which would be wider than usual, and is
HANDLE_PX = 4


class Docks(QWidget):
    """The picture, at most one panel at either side of it, and the rail at the far right.

    A panel that is closed does nothing; one that was never open is not even made.  Two are open at
    once only where that keeps MIN_SHARE of the window for the picture.  One that would be wider
    than usual is, as far as that changes none of this.

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
        super().__init__(parent)
        self._widths: dict[Side, int] = {}  # that the user gave the panels of a side
        self._share: float | None = None  # of the width that a panel takes on stage
        self._panels = {panel.dock.title: panel for panel in panels}
        self._centre, self._parts = centre, QSplitter(self)
        self._parts.setChildrenCollapsible(False)
        self._parts.setHandleWidth(HANDLE_PX)
        self._parts.addWidget(centre)
        self._parts.setStretchFactor(0, 1)
        self._parts.splitterMoved.connect(self._remember_widths)
        self.frames = {title: self._make(panel) for title, panel in self._panels.items()}
        self.rail = Rail(list(self.frames), self)
        # Making a panel takes as long as showing it: it is made before the finger is up again.
        self.rail.pressed.connect(lambda title: self.panel(title).get())
        self.rail.clicked.connect(self.toggle)
        for title, frame in self.frames.items():
            frame.opened.connect(self.rail.buttons[title].setChecked)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(0)
        grid.addWidget(self._parts, 0, 0)
        grid.addWidget(foot, 1, 0)
        grid.addWidget(self.rail, 0, 1, 2, 1)
        grid.setColumnStretch(0, 1)
        grid.setRowStretch(0, 1)

    def _make(self, panel: LazyPanel[Any]) -> PanelFrame:
        frame = PanelFrame(panel, self._parts)
        place = 0 if panel.dock.place == "left" else self._parts.count()
        frame.setMinimumWidth(theme.in_letters(MIN_PX))
        self._parts.insertWidget(place, frame)
        frame.enlarge_wanted.connect(partial(self.enlarge, panel.dock.title))
        frame.opened.connect(lambda is_open: self._make_room(frame, is_open))

        def put_back(is_enlarged: bool) -> None:
            if not is_enlarged:
                self._parts.insertWidget(place, frame)

        frame.enlarged.connect(put_back)
        return frame

    # -- the frames by their titles

    def __getitem__(self, title: str) -> PanelFrame:
        return self.frames[title]

    def __iter__(self) -> Iterator[str]:
        return iter(self.frames)

    def panel(self, title: str) -> LazyPanel[Any]:
        """The panel called `title`, which may not be made yet."""
        return self._panels[title]

    # -- opening and closing

    def bring_forward(self, title: str) -> None:
        """Open the panel called `title`, in place of the one that is open at its side."""
        frame = self[title]
        frame.show()
        if frame.is_enlarged:
            frame.raise_()
            frame.activateWindow()

    def enter(self, title: str) -> None:
        self.bring_forward(title)
        keyboard.enter(self._panels[title].get())

    def set_open(self, title: str, is_open: bool) -> None:
        """Open the panel and give it the keyboard, or close it."""
        if is_open:
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
            window = self.window()
            box = QRect(QPoint(), theme.window_size(*LARGE_PX))
            box.moveCenter(window.geometry().center())
            room = window.screen().availableGeometry().adjusted(0, TITLE_PX, 0, 0)
            frame.setGeometry(within(box, room))
            frame.setFocus()  # else its first button would have a ring
        frame.show()

    # -- what is remembered

    @property
    def _remembered(self) -> dict[str, LazyPanel[Any]]:
        return {panel.dock.setting: panel for panel in self._panels.values() if panel.dock.setting}

    def choices(self) -> dict[str, Any]:
        """Collect what the panels remember, by its name in the settings."""
        return {name: panel.choices() for name, panel in self._remembered.items()}

    def restore(self, get: Callable[[str, Any], Any]) -> None:
        """Restore `choices()`; get: a setting by its name, and the default without."""
        for name, panel in self._remembered.items():
            panel.restore(get(name, {}))

    def places(self) -> dict[str, Any]:
        """The open panels, their places and widths, as JSON can hold them."""
        return {
            "open": [title for title, each in self.frames.items() if each in self._all_open],
            "enlarged": {
                title: box_of(each.geometry())
                for title, each in self.frames.items()
                if each.is_enlarged and not each.isHidden()
            },
            "widths": dict(self._widths),
        }

    def restore_places(self, data: Mapping[str, Any]) -> None:
        """Restore `places()`; the defaults replace what is missing or makes no sense."""
        for frame in self.frames.values():
            frame.hide()
            frame.enlarge(False)
        widths = _mapping(data.get("widths"))
        self.set_widths({side: widths[side] for side in SIDES if type(widths.get(side)) is int})
        opened = data.get("open")
        for title in opened if isinstance(opened, list) else []:
            if isinstance(title, str) and title in self:
                self[title].show()
        for title, box in _mapping(data.get("enlarged")).items():
            if title in self and (place := box_from(box)) is not None:
                self[title].enlarge(True)
                self[title].setGeometry(place)
                self[title].show()

    def set_widths(self, widths: Mapping[Side, int]) -> None:
        """Set the panels' widths; a side that is missing is as on the first day."""
        self._widths = dict(widths)
        self.arrange()

    def forget(self) -> None:
        """Reset what the panels remember to that of a first start."""
        self.restore(lambda _name, without: without)
        for panel in self._panels.values():
            if panel.made and factor_of(panel.made) != 1:
                set_factor(panel.made, 1.0)

    # -- how they are placed

    def set_share(self, share: float | None) -> None:
        """Give an open panel this part of the width, whatever it needs; None: as usual."""
        self._share = share
        self.arrange()

    def arrange(self) -> None:
        """Give the open panels their widths, and the picture what is left."""
        widths: dict[QWidget | None, int] = {each: self._width_of(each) for each in self._all_open}
        # A panel may have it all on stage.
        self._centre.setHidden(self._share == 1.0 and bool(widths))
        taken = sum(widths.values()) + HANDLE_PX * len(widths)
        widths[self._centre] = max(self._inner_px - taken, 1)
        every = map(self._parts.widget, range(self._parts.count()))
        self._parts.setSizes([widths.get(each, 0) for each in every])

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        if len(self._all_open) > 1 and not self._is_roomy:
            self._all_open[0].hide()
        self.arrange()

    @property
    def _all_open(self) -> list[PanelFrame]:
        return [
            each for each in self.frames.values() if not each.isHidden() and not each.is_enlarged
        ]

    @property
    def _inner_px(self) -> int:
        return self.width() - (0 if self.rail.isHidden() else self.rail.sizeHint().width())

    def _width_of(self, frame: PanelFrame) -> int:
        """Width of a panel: as the user made it, or as it has to be, or as it wishes."""
        if self._share is not None:
            return round(self._share * self._inner_px)
        least = self._least_width(frame)
        if frame.dock.place in self._widths:
            return least
        others = sum(self._least_width(each) for each in self._all_open if each is not frame)
        wish, room = theme.in_letters(frame.dock.width_px), self._room(WISH_SHARE) - others
        return max(least, min(wish, room))

    def _least_width(self, frame: PanelFrame) -> int:
        side, needed = frame.dock.place, frame.minimumSizeHint().width()
        return max(self._widths.get(side, theme.in_letters(USUAL_PX[side])), needed)

    @property
    def _is_roomy(self) -> bool:
        return (
            self._share is not None or sum(map(self._least_width, self._all_open)) <= self._room()
        )

    def _room(self, share: float = MIN_SHARE) -> int:
        """Width that panels beside the picture may take together, so that it keeps its share."""
        picture = share * self.window().width() * self.window().height()
        return int(self._inner_px - picture / max(self._parts.height(), 1))

    def _make_room(self, frame: PanelFrame, is_open: bool) -> None:
        if is_open and not frame.is_enlarged:
            others = [each for each in self._all_open if each is not frame]
            # Those at its side make room first: there may be enough then.
            for each in sorted(others, key=lambda each: each.dock.place != frame.dock.place):
                if each.dock.place == frame.dock.place or not self._is_roomy:
                    each.hide()
        self.arrange()

    def _remember_widths(self) -> None:
        for frame in self._all_open:
            self._widths[frame.dock.place] = frame.width()


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


ICON_PX = 22
AROUND_PX = 11  # an icon and its name, above and below together
SIDES_PX = 14  # likewise at the sides
SPACING_PX = 2
LETTERS = 0.82  # of the names, relative to the application's
ICON_AND_NAME = Qt.ToolButtonStyle.ToolButtonTextUnderIcon
NAME = Qt.ToolButtonStyle.ToolButtonTextOnly


class RailButton(QToolButton):
    """A button as wide as its name, and as high as its icon and its name."""

    def __init__(self, title: str) -> None:
        super().__init__(toolButtonStyle=ICON_AND_NAME)
        described(self, f"rail-{title.lower()}", title, look="rail")
        self.setText(title)
        self.setCheckable(True)
        self.setIconSize(QSize(ICON_PX, ICON_PX))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:  # noqa: N802
        icon_px = ICON_PX if self.toolButtonStyle() == ICON_AND_NAME else 0
        width = self.fontMetrics().horizontalAdvance(self.text())
        return QSize(width + SIDES_PX, self.height_with(icon_px))

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return self.sizeHint()

    def height_with(self, icon_px: int) -> int:
        """Height of the button with an icon of this height; 0: without one."""
        return icon_px + self.fontMetrics().height() + AROUND_PX


class Rail(QFrame):
    """A column of buttons; the one of an open panel is down.

    Where the height is scarce the names stand alone: they are never cut.

    buttons  by their panels' titles
    """

    pressed = Signal(str)  # (title): this panel's button is down; a click may follow
    clicked = Signal(str)  # (title): the user wants this panel, or no longer

    def __init__(self, titles: Sequence[str], parent: QWidget) -> None:
        super().__init__(parent)
        described(self, "rail", "Panels")
        self.buttons = {title: RailButton(title) for title in titles}
        for title, button in self.buttons.items():
            button.pressed.connect(partial(self.pressed.emit, title))
            button.clicked.connect(lambda _=False, title=title: self.clicked.emit(title))
        VBox(self, (2, SPACING_PX, 2, SPACING_PX), SPACING_PX).add(*self.buttons.values(), 1)
        self._set_font()
        self._draw_icons()
        Watch(self, QEvent.Type.PaletteChange).seen.connect(self._draw_icons)
        Watch(self, QEvent.Type.ApplicationFontChange).seen.connect(self._set_font)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(super().minimumSizeHint().width(), self._height(0))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        has_room = event.size().height() >= self._height(ICON_PX)
        style = ICON_AND_NAME if has_room else NAME
        for button in self.buttons.values():
            button.setToolButtonStyle(style)

    def _height(self, icon_px: int) -> int:
        one = max(each.height_with(icon_px) for each in self.buttons.values())
        return len(self.buttons) * (one + SPACING_PX) + 2 * SPACING_PX

    def _set_font(self) -> None:
        for button in self.buttons.values():
            button.setFont(scaled_font(LETTERS))

    def _draw_icons(self) -> None:
        colors, ratio = theme.colors(self.palette()), self.devicePixelRatioF()
        for title, button in self.buttons.items():
            name = f"panels/{title.lower()}"
            icon = QIcon(theme_pixmap(name, colors.text, ICON_PX, ratio))
            down = theme_pixmap(name, colors.on_accent, ICON_PX, ratio)
            icon.addPixmap(down, QIcon.Mode.Normal, QIcon.State.On)
            icon.addPixmap(down, QIcon.Mode.Active, QIcon.State.On)
            button.setIcon(icon)
