"""The one toolbar: what everybody does, in the order in which it is done."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QAction, QIcon, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QMenu, QToolButton, QWidget

from workbench.base import theme
from workbench.base.plain_text import tip_text
from workbench.widgets.boxes import HBox
from workbench.widgets.buttons import make_button, theme_pixmap

ACROSS, DOWN = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
ICON_PX = 20
GAP_PX = 8
FILES = (("open", "Open"), ("save", "Save"))


class Toolbar(QFrame):
    """Open and Save, the five controls of a filter, and the view modes at the right end.

    Where the window is too narrow for all of it the view modes have a line of their own.
    """

    def __init__(self, tools: QWidget, modes: QWidget) -> None:
        """Make the bar.

        tools  what is filtered, how large, what it runs on, and with which blocks
        modes  how the result is looked at
        """
        super().__init__()
        self.setObjectName("toolbar")
        self.setAccessibleName("Tools")
        self._buttons = {name: _file_button(name, text) for name, text in FILES}
        self._modes = modes
        left = HBox(spacing=GAP_PX)
        left.add(*self._buttons.values(), (tools, 1))
        self._left = left
        right = HBox()
        right.add(1, modes)
        self._parts = QBoxLayout(ACROSS, self)
        self._parts.setContentsMargins(8, 4, 8, 4)
        self._parts.setSpacing(GAP_PX)
        self._parts.addLayout(left, 1)
        self._parts.addLayout(right)
        self._draw_icons()

    def connect_action(self, name: str, action: QAction) -> None:
        """Let the button called `name`, of FILES, do what `action` of the menus does."""
        keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        self._buttons[name].setToolTip(tip_text(f"{action.toolTip()} ({keys})"))
        self._buttons[name].clicked.connect(action.trigger)

    def offer(self, name: str, menu: QMenu) -> None:
        """Give the button called `name`, of FILES, an arrow with this menu."""
        button = self._buttons[name]
        menu.setParent(button, menu.windowFlags())
        button.setMenu(menu)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        """Return the size with two lines, so that the window may become narrow."""
        margins = self._parts.contentsMargins()
        width = max(self._left.minimumSize().width(), self._modes.minimumSizeHint().width())
        height = super().minimumSizeHint().height()
        return QSize(width + margins.left() + margins.right(), height)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._arrange()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self._arrange()
        return super().event(event)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._draw_icons()

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


def _file_button(name: str, text: str) -> QToolButton:
    button = make_button(f"tool-{name}", text, "")
    button.setProperty("flat", True)
    button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    button.setIconSize(QSize(ICON_PX, ICON_PX))
    return button
