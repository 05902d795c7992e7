"""A panel with its title, and the buttons that enlarge and close it."""

from __future__ import annotations

from typing import Any, cast

from PySide6.QtCore import QEvent, QMargins, QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QHideEvent, QIcon, QShowEvent
from PySide6.QtWidgets import QFrame, QToolButton, QWidget

from workbench.base import theme
from workbench.base.plain_text import Label
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.buttons import make_button
from workbench.widgets.lazy_panel import LazyPanel
from workbench.widgets.theme_icon import theme_pixmap

ICON_PX = 16
MARGINS = QMargins(10, 4, 10, 8)  # around what a panel holds: it begins where its title does
ENLARGE, TAKE_BACK = "Give the panel a window of its own", "Put the panel back beside the picture"


class PanelFrame(QFrame):
    """A panel beside the picture, over it, or in a window of its own; made when it is first shown.

    So is the bar with its title.

    Signals:
        opened(is_open): the panel is to be seen, or no longer, wherever the window itself is.
        visibility_changed(is_visible): the panel came on the screen, or left it.
        enlarge_wanted(): the user wants a window of its own for it, or wants it back.
        enlarged(is_so): it got a window of its own, or came back.
    """

    opened = Signal(bool)
    visibility_changed = Signal(bool)
    enlarge_wanted = Signal()
    enlarged = Signal(bool)

    def __init__(self, title: str, panel: LazyPanel[Any], parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName(title)
        self.setProperty("panel", True)
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self._home = parent
        self._panel = panel
        self._bar: _Bar | None = None
        self.hide()
        panel.when_made(self._hold)

    def setVisible(self, is_visible: bool) -> None:  # noqa: N802
        if is_visible:
            self._panel.get()
        super().setVisible(is_visible)

    @property
    def is_enlarged(self) -> bool:
        """Return whether the panel has a window of its own."""
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
            self._bar.show_enlarged(is_so)
        self.enlarged.emit(is_so)

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.ShowToParent, QEvent.Type.HideToParent):
            self.opened.emit(event.type() == QEvent.Type.ShowToParent)
        return super().event(event)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self.visibility_changed.emit(True)

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802
        super().hideEvent(event)
        self.visibility_changed.emit(False)

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802
        super().closeEvent(event)
        self.enlarge(False)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._bar is not None:
            self._draw_icons(self._bar)

    def _hold(self, panel: QWidget) -> None:
        self._bar = bar = _Bar(self.windowTitle())
        bar.enlarge.clicked.connect(self.enlarge_wanted)
        bar.close.clicked.connect(self.hide)
        column = VBox(self, (1, 0, 1, 0), 2)
        column.add(bar, (panel, 1))
        bar.show_enlarged(self.is_enlarged)
        self._draw_icons(bar)
        panel.show()  # else the layout does it later
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # else it is no place in Tab's way
        QWidget.setTabOrder(self, bar.enlarge)
        QWidget.setTabOrder(bar.enlarge, bar.close)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        _put_behind(bar.close, panel)

    def _draw_icons(self, bar: _Bar) -> None:
        color, ratio = theme.colors(self.palette()).muted, self.devicePixelRatioF()
        for button, name in ((bar.enlarge, "float"), (bar.close, "close")):
            button.setIcon(QIcon(theme_pixmap(name, color, ICON_PX, ratio)))


class _Bar(HBox):
    """A title, and the buttons at its right."""

    def __init__(self, title: str) -> None:
        super().__init__(margins=(10, 4, 4, 2), spacing=2)
        self._title = Label(title)
        self._title.setProperty("panel-title", True)
        self.enlarge = _title_button("enlarge", "Enlarge", ENLARGE)
        self.close = _title_button("close", "Close", "Close the panel")
        self.add((self._title, 1), 0, self.enlarge, self.close)

    def show_enlarged(self, is_so: bool) -> None:
        """Show what there is for a panel with a window of its own, or for one without."""
        self.enlarge.setToolTip(TAKE_BACK if is_so else ENLARGE)
        self.close.setVisible(not is_so)  # the window has one
        self._title.setVisible(not is_so)


def _put_behind(button: QWidget, panel: QWidget) -> None:
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
    button = make_button(f"panel-{name}", text, tip)
    button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
    button.setProperty("flat", True)
    button.setIconSize(QSize(ICON_PX, ICON_PX))
    return button
