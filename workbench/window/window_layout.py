"""Layout of the window, monitors that are gone, and the parts that its services share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt
from PySide6.QtGui import (
    QAction,
    QGuiApplication,
    QIcon,
    QKeySequence,
    QScreen,
    QShortcut,
)
from PySide6.QtWidgets import (
    QApplication,
    QBoxLayout,
    QFrame,
    QMainWindow,
    QMenu,
    QToolButton,
    QWidget,
)

from workbench.base import theme
from workbench.base.background import Throttle
from workbench.base.plain_text import tip_text
from workbench.panels.compare.compare_view import CompareView
from workbench.panels.controls.tool_row import ToolRow
from workbench.panels.sweep.sweep_controller import SweepParts
from workbench.session.live import Live
from workbench.session.opener import Opener
from workbench.widgets import keyboard
from workbench.widgets.actions import Actions
from workbench.widgets.boxes import HBox
from workbench.widgets.buttons import described, make_button, theme_pixmap
from workbench.widgets.docks import Docks, box_from, box_of, within
from workbench.widgets.message_bar import MessageBar
from workbench.widgets.watch import Watch
from workbench.window.undo_history import UndoHistory

ACROSS, DOWN = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
ICON_PX, GAP_PX = 20, 8


class Toolbar(QFrame):
    """Open and Save, the five controls of a filter, and the view modes at the right end.

    Where the window is too narrow for all of it the view modes have a line of their own.

    tools  the controls of the filter
    modes  those of the view
    """

    def __init__(self, tools: ToolRow, modes: QWidget) -> None:
        super().__init__()
        described(self, "toolbar", "Tools")
        self._buttons: dict[str, QToolButton] = {}
        for name, text in (("open", "Open"), ("save", "Save")):
            button = self._buttons[name] = make_button(f"tool-{name}", text, "", look="flat")
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            button.setIconSize(QSize(ICON_PX, ICON_PX))
        below = Qt.AlignmentFlag.AlignBottom  # in line with the boxes, not with their names
        buttons = [(each, 0, below) for each in self._buttons.values()]
        self._left = HBox(spacing=GAP_PX).add(*buttons, (tools, 1))
        self._modes = modes
        self._parts = QBoxLayout(ACROSS, self)
        self._parts.setContentsMargins(8, 1, 8, 3)
        self._parts.setSpacing(GAP_PX)
        self._parts.addLayout(self._left, 1)
        self._parts.addLayout(HBox().add(1, (modes, 0, below)))
        Watch(self, QEvent.Type.Resize, QEvent.Type.LayoutRequest).seen.connect(self._arrange)
        Watch(self, QEvent.Type.PaletteChange).seen.connect(self._draw_icons)
        self._draw_icons()

    def connect_action(self, name: str, action: QAction, menu: QMenu | None = None) -> None:
        """Let a button, "open" or "save", do what `action` of the menus does.

        menu  behind an arrow of the button
        """
        button = self._buttons[name]
        keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        button.setToolTip(tip_text(f"{action.toolTip()} ({keys})"))
        button.clicked.connect(action.trigger)
        if menu is not None:
            menu.setParent(button, menu.windowFlags())
            button.setMenu(menu)
            button.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        """Size with two lines, so that the window may become narrow."""
        margins = self._parts.contentsMargins()
        width = max(self._left.minimumSize().width(), self._modes.minimumSizeHint().width())
        height = super().minimumSizeHint().height()
        return QSize(width + margins.left() + margins.right(), height)

    def _arrange(self) -> None:
        margins = self._parts.contentsMargins()
        modes = self._modes.minimumSizeHint().width()
        needed = self._left.minimumSize().width() + modes + GAP_PX
        is_one_line = needed + margins.left() + margins.right() <= self.width()
        self._parts.setDirection(ACROSS if is_one_line else DOWN)

    def _draw_icons(self) -> None:
        color, ratio = theme.colors(self.palette()).text, self.devicePixelRatioF()
        for name, button in self._buttons.items():
            button.setIcon(QIcon(theme_pixmap(name, color, ICON_PX, ratio)))


LAYOUTS = "layouts"  # the setting: a layout by the size of its screen
ALONE = "Everything but the picture is hidden: F10 or Tab brings it back."
ALONE_ON_SCREEN = "The picture alone, on the whole screen: F11 ends it."
WIDGET_MAX_PX = (1 << 24) - 1  # Qt's QWIDGETSIZE_MAX: no limit
OWN_SHARE = 0.8  # of the screen, each way, once it is no longer maximised
FILLING = Qt.WindowState.WindowMaximized | Qt.WindowState.WindowFullScreen
FRAME_PX = QSize(4, 40)  # what the desktop puts around a window that is not maximised


class WindowLayout(QObject):
    """The layout of a window, remembered for each screen size as plain JSON.

    picture  has the keyboard at first
    chrome   everything around the picture but the panels and the menus; the rail among it
    """

    def __init__(
        self,
        window: QMainWindow,
        docks: Docks,
        picture: CompareView,
        chrome: Sequence[QWidget],
        messages: MessageBar,
    ) -> None:
        super().__init__(window)
        self._window, self._docks, self._messages = window, docks, messages
        self._picture = picture
        self._chrome = tuple(chrome)
        self._tab = QShortcut(QKeySequence("Tab"), window, self.toggle_bare, enabled=False)
        for panel in docks.frames.values():
            panel.opened.connect(self._let_tab_go)
        self._others: dict[str, Any] = {}  # layouts of other screens
        self._wants_bare = self._is_bare = self._was_shown = False
        self._put_aside: list[str] = []  # panels that were open before all was hidden
        self._before_stage: tuple[Qt.WindowState, QRect, dict[str, Any]] | None = None
        window.installEventFilter(self)

    def actions(self) -> Actions:
        return {
            "Picture only": self.toggle_bare,
            "Full screen": self.toggle_full_screen,
            "First layout": self.put_back,
        }

    def toggle_bare(self) -> None:
        """Hide all but the picture, or bring it back; the stage stays."""
        if self._before_stage is not None:
            return
        self._wants_bare = not self._is_bare
        if self._window.isFullScreen():
            self.toggle_full_screen()
        self._show_bare()

    def toggle_full_screen(self) -> None:
        """Show the picture alone on the whole screen, or the window as it was."""
        # A maximised window stays maximised underneath.
        self._window.setWindowState(self._window.windowState() ^ Qt.WindowState.WindowFullScreen)

    # -- as a stage

    def enter_stage(self, screen: QScreen) -> None:
        """Show the picture alone on the whole of `screen`; the keys of the menus rest."""
        window, layout = self._window, self._docks.places()
        self._before_stage = window.windowState(), window.geometry(), layout
        self._docks.restore_places({"widths": layout["widths"]})
        self._show_bare()
        window.menuBar().hide()
        if screen is not window.screen():
            window.setGeometry(screen.geometry())
        window.setWindowState(window.windowState() | Qt.WindowState.WindowFullScreen)

    def leave_stage(self) -> None:
        assert self._before_stage is not None
        state, box, layout = self._before_stage
        self._window.menuBar().show()
        if not state & FILLING:
            self._window.setWindowState(state)
        self._window.setGeometry(box)
        self._window.setWindowState(state)
        self._before_stage = None
        self._show_bare()
        self._docks.restore_places(layout)

    # -- between two runs

    def choices(self) -> dict[str, Any]:
        """Layouts by the sizes of their screens, as JSON can hold them."""
        window, panels = self._window, self._docks.places()
        is_filling = window.isMaximized() or window.isFullScreen()
        box = window.normalGeometry() if is_filling else window.geometry()
        panels["open"] = panels["open"] or self._put_aside
        here = {"window": box_of(box), "maximised": window.isMaximized(), "panels": panels}
        return {LAYOUTS: {**self._others, self._screen_key: here}}

    def restore(self, get: Callable[[str, Any], Any]) -> None:
        """Take up the layout for this screen's size; without one fill the screen.

        get: a setting by its name, with its default
        """
        self._others = get(LAYOUTS, {})
        here = self._others.get(self._screen_key)
        here = here if isinstance(here, dict) else {}
        room = self._window.screen().availableGeometry()
        box = box_from(here.get("window"))
        usual = QRect(QPoint(), room.size() * OWN_SHARE)
        usual.moveCenter(room.center())
        self._window.setGeometry(box or usual)
        size = self._window.size().expandedTo(self._window.minimumSizeHint())
        self._window.resize(size.boundedTo(room.size() - FRAME_PX))
        if box is None or here.get("maximised") is True:
            self._window.setWindowState(Qt.WindowState.WindowMaximized)
        panels = here.get("panels")
        self._docks.restore_places(panels if isinstance(panels, dict) else {})

    def put_back(self) -> None:
        """Put the panels as at the first start; layouts of other screens stay."""
        self._wants_bare, self._put_aside = False, []
        self._show_bare()
        self._docks.restore_places({})

    def forget(self) -> None:
        """Put the panels as at the first start, on all screens."""
        self._others = {}
        self.put_back()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() == QEvent.Type.WindowStateChange:
            self._show_bare()
        elif event.type() == QEvent.Type.Show and not self._was_shown:
            self._was_shown = True
            keyboard.enter(self._picture, Qt.FocusReason.OtherFocusReason)
        return super().eventFilter(watched, event)

    # -- how

    @property
    def _screen_key(self) -> str:
        size = self._window.screen().size()
        return f"{size.width()}x{size.height()}"

    def _show_bare(self) -> None:
        is_full, is_on_stage = self._window.isFullScreen(), self._before_stage is not None
        is_bare, docks = self._wants_bare or is_full or is_on_stage, self._docks
        if is_bare == self._is_bare:
            return
        self._is_bare = is_bare
        if is_bare:
            self._put_aside = docks.places()["open"]
            for title in self._put_aside:
                docks[title].hide()
        for each in self._chrome:
            each.setVisible(not is_bare)
        self._picture.set_bare(is_bare and not is_on_stage)
        # Keys of menus work only where the menu bar is to be seen.
        self._window.menuBar().setMaximumHeight(0 if is_bare else WIDGET_MAX_PX)
        if not is_bare:
            if not docks.places()["open"]:
                for title in self._put_aside:
                    docks[title].show()
            self._put_aside = []
            self._messages.clear("info")
        elif not is_on_stage:
            self._messages.show_message("info", ALONE_ON_SCREEN if is_full else ALONE)
        self._let_tab_go()
        docks.arrange()

    def _let_tab_go(self) -> None:
        """Let Tab bring everything back where it has nothing else to go through."""
        self._tab.setEnabled(self._is_bare and not self._docks.places()["open"])


CALM_MS = 300  # the desktop moves windows by itself, and several monitors may go at once
HANDLE_PX, WIDE_PX = 32, 100  # of a window's top: enough to drag it by
MOVED = "A monitor is gone; what was on it has been moved here."


class OnScreen(QObject):
    """A guard that brings windows back from monitors that are gone, at the start and later."""

    def __init__(self, messages: MessageBar, parent: QObject) -> None:
        super().__init__(parent)
        self._messages, self._is_start = messages, True
        self._later = Throttle(CALM_MS, self._look, self)
        self._later.start()  # by then all windows have their size
        app = QGuiApplication.instance()
        assert isinstance(app, QGuiApplication)
        app.screenRemoved.connect(self._look_later)
        app.screenAdded.connect(self._follow)
        for screen in app.screens():
            self._follow(screen)

    def _follow(self, screen: QScreen) -> None:
        screen.availableGeometryChanged.connect(self._look_later)

    def _look_later(self) -> None:
        self._is_start = False
        self._later.start()

    def _look(self) -> None:
        screens = [each.availableGeometry() for each in QGuiApplication.screens()]
        moved = [_bring_back(each, screens) for each in QApplication.topLevelWidgets()]
        if any(moved) and not self._is_start and self._messages.kind is None:
            self._messages.show_message("info", MOVED)


def brought_back(frame: QRect, screens: Sequence[QRect]) -> QRect | None:
    """Place for a window on the nearest of `screens`; None: it is within reach."""
    handle = QRect(frame.topLeft(), frame.topRight() + QPoint(0, HANDLE_PX - 1))
    needed = QSize(min(WIDE_PX, frame.width()), HANDLE_PX // 2)
    seen = [handle.intersected(screen).size() for screen in screens]
    if not screens or any(each.boundedTo(needed) == needed for each in seen):
        return None
    middle = frame.center()
    screen = min(screens, key=lambda each: (each.center() - middle).manhattanLength())
    return within(frame, screen)


def _bring_back(widget: QWidget, screens: Sequence[QRect]) -> bool:
    """Move a window in sight if need be; menus and tooltips place themselves."""
    kinds = (Qt.WindowType.Window, Qt.WindowType.Dialog, Qt.WindowType.Tool)
    is_seen = widget.isVisible() and not widget.isMinimized() and widget.windowType() in kinds
    place = brought_back(widget.frameGeometry(), screens) if is_seen else None
    if place is None:
        return False
    state = widget.windowState()
    widget.setWindowState(state & ~FILLING)  # a normal window can be moved
    around = widget.frameGeometry().size() - widget.geometry().size()
    widget.resize(place.size() - around)
    widget.move(place.topLeft())
    widget.setWindowState(state)
    return True


@dataclass(frozen=True, slots=True, eq=False)
class Parts(SweepParts):
    """Parts of one window."""

    undo: UndoHistory
    live: Live
    opener: Opener
    compare: CompareView
    layout: WindowLayout
