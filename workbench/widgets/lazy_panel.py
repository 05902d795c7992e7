"""Panels that are made when first shown, and the frame with title and buttons around each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Generic, Literal, TypeVar, cast

from PySide6.QtCore import QEvent, QMargins, QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QIcon
from PySide6.QtWidgets import QApplication, QFrame, QToolButton, QWidget

from kernels.core.plain_data import from_plain
from workbench.base import theme
from workbench.base.paths import asset_table
from workbench.base.plain_text import Label
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.buttons import described, make_button, theme_pixmap
from workbench.widgets.keyboard import go_home
from workbench.widgets.watch import Watch

Side = Literal["left", "right"]
P = TypeVar("P", bound=QWidget)


@dataclass(frozen=True, slots=True)
class Dock:
    """The place of a panel in a window, as the panel's folder declares it."""

    title: str  # on the rail, over the panel, and in the menu of all panels
    panel: str  # "module:name" of its class, or of a function that makes it; imported when needed
    place: Side = "right"  # at which side it opens
    setting: str = ""  # the name of its `choices()` in the settings; empty: it has none
    tip: str = ""  # what is in it, for the rail's tooltip and its action's
    keys: tuple[str, ...] = ()  # what opens and closes it, besides what View ▸ Panels has for each
    width_px: int = 0  # how wide it opens where there is room, for usual letters; 0: as others


DOCKS = {
    title: from_plain(Dock, {"title": title, **facts})
    for title, facts in asset_table("panels.toml").items()
}


class LazyPanel(Generic[P]):
    """A panel that is imported and made when it is first shown, or by `get`.

    Regular updates go to `made`, if there is one; the connections of its signals, and its first
    values, stand in a function given to `when_made`.

    made  the panel; None until then
    """

    def __init__(self, dock: Dock, *services: Any) -> None:
        """Declare the panel; it is made with `services` as arguments."""
        self.dock, self._services = dock, services
        self.made: P | None = None
        self._kept: dict[str, Any] = {}  # choices to be restored once it is made
        self._waiting: list[Callable[[P], object]] = []

    def serve(self, *services: Any) -> None:
        """Set the arguments of a panel whose services are made after its place in the window."""
        self._services = services

    def get(self) -> P:
        """The panel, which is made now if there is none yet."""
        if self.made is None:
            module, _, name = self.dock.panel.partition(":")
            self.made = cast("P", getattr(import_module(module), name)(*self._services))
            self.restore(self._kept)
            waiting, self._waiting = self._waiting, []
            for each in waiting:
                each(self.made)
        return self.made

    def choices(self) -> dict[str, Any]:
        """What the panel remembers, as JSON can hold it; of one that has a setting only."""
        return self._kept if self.made is None else cast("Any", self.made).choices()

    def restore(self, choices: dict[str, Any]) -> None:
        """Restore `choices()`, now or once the panel is made; defaults replace what is missing."""
        self._kept = choices
        if self.made is not None and self.dock.setting:
            cast("Any", self.made).restore(choices)

    def if_made(self, do: Callable[[P], object]) -> None:
        """Call `do` with the panel, if there is one."""
        if self.made is not None:
            do(self.made)

    def when_made(self, do: Callable[[P], object]) -> None:
        """Call `do` with the panel once it is made, in the order of these calls; now if it is."""
        if self.made is None:
            self._waiting.append(do)
        else:
            do(self.made)


ICON_PX = 16
MARGINS = QMargins(10, 4, 10, 8)  # around what a panel holds: it begins where its title does
BAR_MARGINS = (10, 4, 4, 2)
ENLARGE, TAKE_BACK = "Give the panel a window of its own", "Put the panel back beside the picture"


class PanelFrame(QFrame):
    """A panel beside the picture, or in a window of its own; made when it is first shown."""

    opened = Signal(bool)  # (is_open): it is to be seen, or no longer, wherever the window is
    enlarge_wanted = Signal()  # the user wants a window of its own for it, or wants it back
    enlarged = Signal(bool)  # (is_so): it got a window of its own, or came back

    def __init__(self, panel: LazyPanel[Any], parent: QWidget) -> None:
        super().__init__(parent)
        self.dock = panel.dock
        described(self, self.dock.title, self.dock.title, look="panel")
        self.setWindowTitle(self.dock.title)
        self._home = parent
        self._panel = panel
        self._bar: HBox | None = None
        self.hide()
        panel.when_made(self._hold)

    def setVisible(self, is_visible: bool) -> None:  # noqa: N802
        if is_visible:
            self._panel.get()
        elif self.isAncestorOf(QApplication.focusWidget() or self):
            go_home(self._home)  # not to Qt's next one
        super().setVisible(is_visible)

    @property
    def is_enlarged(self) -> bool:
        """True if the panel has a window of its own."""
        return self.isWindow()

    def enlarge(self, is_so: bool) -> None:
        """Give the panel a window of its own, or put it back; it is hidden until it is shown."""
        if is_so == self.is_enlarged:
            return
        if is_so:
            # A tool window leaves the keys of the main window at work.
            self.setParent(self._home.window(), Qt.WindowType.Tool)
        else:
            self.setParent(self._home, Qt.WindowType.Widget)
        if self._bar is not None:
            self._show_enlarged()
        self.enlarged.emit(is_so)

    def show_bar(self, is_shown: bool) -> None:
        """Show title and buttons, or the panel alone."""
        if self._bar is not None:
            for part in (self._title, self._enlarge, self._close):
                part.setVisible(is_shown)
            self._bar.setContentsMargins(*(BAR_MARGINS if is_shown else (0, 0, 0, 0)))

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.ShowToParent, QEvent.Type.HideToParent):
            self.opened.emit(event.type() == QEvent.Type.ShowToParent)
        return super().event(event)

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802
        super().closeEvent(event)
        self.hide()  # else it would be seen for a moment where it is put back, and make room
        self.enlarge(False)

    def _hold(self, panel: QWidget) -> None:
        self._title = Label(self.windowTitle())
        self._title.setProperty("panel-title", True)
        self._enlarge = _title_button("enlarge", "Enlarge", ENLARGE)
        self._close = _title_button("close", "Close", "Close the panel")
        self._bar = HBox(margins=BAR_MARGINS, spacing=2).add(
            (self._title, 1), 0, self._enlarge, self._close
        )
        self._enlarge.clicked.connect(self.enlarge_wanted)
        self._close.clicked.connect(self.hide)
        VBox(self, (1, 0, 1, 0), 2).add(self._bar, (panel, 1))
        self._show_enlarged()
        self._draw_icons()
        Watch(self, QEvent.Type.PaletteChange).seen.connect(self._draw_icons)
        panel.show()  # else the layout does it later
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # else it is no place in Tab's way
        QWidget.setTabOrder(self, self._enlarge)
        QWidget.setTabOrder(self._enlarge, self._close)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        _put_after(self._close, panel)

    def _show_enlarged(self) -> None:
        is_so = self.is_enlarged
        self._enlarge.setToolTip(TAKE_BACK if is_so else ENLARGE)
        self._close.setVisible(not is_so)  # the window has one
        self._title.setVisible(not is_so)

    def _draw_icons(self) -> None:
        color, ratio = theme.colors(self.palette()).muted, self.devicePixelRatioF()
        for button, name in ((self._enlarge, "float"), (self._close, "close")):
            button.setIcon(QIcon(theme_pixmap(name, color, ICON_PX, ratio)))


def _put_after(button: QWidget, panel: QWidget) -> None:
    """Have Tab come from `button` to the parts of `panel`, which stand last in the window.

    Qt moves a widget alone unless the keyboard goes through it to a part: then with all its parts.
    """
    policy, proxy = panel.focusPolicy(), cast("QWidget", panel.focusProxy())  # None is allowed
    part = next(each for each in panel.findChildren(QWidget) if each.focusProxy() is None)
    panel.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    panel.setFocusProxy(part)
    QWidget.setTabOrder(button, panel)
    panel.setFocusProxy(proxy)
    panel.setFocusPolicy(policy)


def _title_button(name: str, text: str, tip: str) -> QToolButton:
    button = make_button(f"panel-{name}", text, tip, look="flat")
    button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
    button.setIconSize(QSize(ICON_PX, ICON_PX))
    return button
