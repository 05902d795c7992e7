"""The window's first size, what of it is hidden, and a layout for each screen size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt, Slot
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QMainWindow, QWidget

from workbench.widgets import keyboard
from workbench.widgets.actions import Action
from workbench.widgets.docks import Docks, box_from, box_of
from workbench.widgets.message_bar import MessageBar

VIEW = "&View"
LAYOUTS = "layouts"  # the setting: a layout by the size of its screen
ALONE = "Everything but the picture is hidden: F10 or Tab brings it back."
ALONE_ON_SCREEN = "The picture alone, on the whole screen: F11 ends it."
WIDGET_MAX_PX = (1 << 24) - 1  # Qt's QWIDGETSIZE_MAX: no limit
OWN_SHARE = 0.8  # of the screen, each way: a window's first size that is not the screen's
FRAME_PX = QSize(4, 40)  # what the desktop puts around a window that is not maximised


class WindowLayout(QObject):
    """The layout of a window, remembered for each screen size as plain JSON.

    picture  what has the keyboard at first
    chrome   all that is around the picture but the panels and the menus; the rail among it
    """

    def __init__(
        self,
        window: QMainWindow,
        docks: Docks,
        picture: QWidget,
        chrome: Sequence[QWidget],
        messages: MessageBar,
    ) -> None:
        super().__init__(window)
        self._window, self._docks, self._messages = window, docks, messages
        self._picture = picture
        self._chrome = tuple(chrome)
        self._tab = QShortcut(QKeySequence("Tab"), window, self.toggle_bare, enabled=False)
        for panel in docks.values():
            panel.opened.connect(self._let_tab_go)
        self._others: dict[str, Any] = {}  # layouts of other screens
        self._is_bare = self._was_bare = False
        self._is_full = self._was_shown = False
        self._has_own_size = True  # else it was maximised ever since the first start
        self._put_aside: list[str] = []  # panels that were open before all was hidden
        window.installEventFilter(self)

    def actions(self) -> list[Action]:
        """Return the lines of the menu."""
        return [
            Action(
                *(VIEW, "Pict&ure only", self.toggle_bare, ("F10",)),
                "Hide all but the picture, and bring it back; so does Tab, where the pointer is "
                "over the picture.",
                separator=True,
            ),
            Action(
                *(VIEW, "Full &screen", self.toggle_full_screen, ("F11",)),
                "The picture alone over the whole screen, and back.",
            ),
            Action(
                *(VIEW, "First &layout", self.put_back, ("Ctrl+Shift+F10",)),
                "The panels as at the first start: all closed, as wide as they were.",
            ),
        ]

    @Slot()
    def toggle_bare(self) -> None:
        """Hide all but the picture, or bring it back."""
        self._set_bare(not self._is_bare, ALONE)

    @Slot()
    def toggle_full_screen(self) -> None:
        """Show the picture alone on the whole screen, or the window as it was."""
        # A maximised window stays maximised underneath.
        self._window.setWindowState(self._window.windowState() ^ Qt.WindowState.WindowFullScreen)

    # -- what is remembered

    def choices(self) -> dict[str, Any]:
        """Return the layouts by the sizes of their screens, as JSON can hold them."""
        window = self._window
        box = window.normalGeometry() if self._is_filling else window.geometry()
        panels = self._docks.layout()
        panels["open"] = panels["open"] or self._put_aside
        own = box_of(box) if self._has_own_size else None
        here = {"window": own, "maximised": window.isMaximized(), "panels": panels}
        return {LAYOUTS: {**self._others, self._screen_key: here}}

    def restore(self, get: Callable[[str, Any], Any]) -> None:
        """Take up the layout for this screen's size; without one the window is as large as it.

        get: a setting by its name, and what there is without
        """
        self._others = get(LAYOUTS, {})
        here = self._others.get(self._screen_key)
        here = here if isinstance(here, dict) else {}
        room = self._room
        box = box_from(here.get("window"))
        self._has_own_size = box is not None
        if box is not None:
            box.setSize(box.size().boundedTo(room.size() - FRAME_PX))
            self._window.setGeometry(box)
            is_maximised = here.get("maximised") is True
        else:
            size = (room.size() - FRAME_PX).expandedTo(self._window.minimumSizeHint())
            self._window.resize(size.boundedTo(room.size()))
            is_maximised = True
        if is_maximised:
            self._window.setWindowState(Qt.WindowState.WindowMaximized)
        panels = here.get("panels")
        self._docks.restore_layout(panels if isinstance(panels, dict) else {})

    @Slot()
    def put_back(self) -> None:
        """Put the panels as at the first start; layouts of other screens stay."""
        self._set_bare(False)
        self._docks.restore_layout({})

    def forget(self) -> None:
        """Put the panels as at the first start, on all screens."""
        self._others = {}
        self.put_back()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() == QEvent.Type.WindowStateChange:
            if not (self._has_own_size or self._is_filling):
                self._take_own_size()
            is_full = self._window.isFullScreen()
            if is_full != self._is_full:
                self._is_full = is_full
                if is_full:
                    self._was_bare = self._is_bare
                self._set_bare(is_full or self._was_bare, ALONE_ON_SCREEN)
        elif event.type() == QEvent.Type.Show and not self._was_shown:
            self._was_shown = True
            keyboard.enter(self._picture, Qt.FocusReason.OtherFocusReason)
        return super().eventFilter(watched, event)

    # -- how

    @property
    def _screen_key(self) -> str:
        size = self._window.screen().size()
        return f"{size.width()}x{size.height()}"

    @property
    def _room(self) -> QRect:
        return self._window.screen().availableGeometry()

    @property
    def _is_filling(self) -> bool:
        return self._window.isMaximized() or self._window.isFullScreen()

    def _take_own_size(self) -> None:
        """Make the window smaller than the screen: that it is no longer maximised is to be seen.

        Only now, as a desktop without maximised windows shows it as large as it was made.
        """
        self._has_own_size = True
        room = self._room
        least = self._window.minimumSizeHint()
        box = QRect(QPoint(), (room.size() * OWN_SHARE).expandedTo(least))
        box.setSize(box.size().boundedTo(room.size() - FRAME_PX))
        box.moveCenter(room.center())
        self._window.setGeometry(box)

    def _set_bare(self, is_bare: bool, sentence: str = "") -> None:
        if is_bare == self._is_bare:
            return
        self._is_bare = is_bare
        docks = self._docks
        if is_bare:
            self._put_aside = docks.layout()["open"]
            for title in self._put_aside:
                docks[title].hide()
        for each in self._chrome:
            each.setVisible(not is_bare)
        # Keys of menus work only where the menu bar is to be seen.
        self._window.menuBar().setMaximumHeight(0 if is_bare else WIDGET_MAX_PX)
        if not is_bare:
            if not docks.layout()["open"]:
                for title in self._put_aside:
                    docks[title].show()
            self._put_aside = []
            self._messages.clear("info")
        elif sentence:
            self._messages.show_message("info", sentence)
        self._let_tab_go()
        docks.area.arrange()

    def _let_tab_go(self) -> None:
        """Have Tab bring everything back where it has nothing else to go through."""
        self._tab.setEnabled(self._is_bare and not self._docks.layout()["open"])
