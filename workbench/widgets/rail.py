"""The rail at the window's edge: an icon with its name for each panel."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QFont, QIcon, QResizeEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QToolButton, QWidget

from workbench.base import theme
from workbench.base.plain_text import tip_text
from workbench.widgets.boxes import VBox
from workbench.widgets.theme_icon import theme_pixmap

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
        super().__init__()
        self.setObjectName(f"rail-{title.lower()}")
        self.setText(title)
        self.setAccessibleName(title)
        self.setCheckable(True)
        self.setProperty("rail", True)
        self.setIconSize(QSize(ICON_PX, ICON_PX))
        self.setToolButtonStyle(ICON_AND_NAME)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:  # noqa: N802
        has_icon = self.toolButtonStyle() == ICON_AND_NAME
        width = self.fontMetrics().horizontalAdvance(self.text())
        return QSize(width + SIDES_PX, self.height_with(ICON_PX if has_icon else 0))

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return self.sizeHint()

    def height_with(self, icon_px: int) -> int:
        """Return how high the button is with an icon of this height; 0: without one."""
        return icon_px + self.fontMetrics().height() + AROUND_PX


class Rail(QFrame):
    """A column of buttons; the one of an open panel is down.

    Where the height is scarce the names stand alone: they are never cut.

    Signals:
        pressed(title): this panel's button is down; a click may follow.
        clicked(title): the user wants this panel, or no longer.
    """

    pressed = Signal(str)
    clicked = Signal(str)

    def __init__(self, titles: Sequence[str], parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("rail")
        self.setAccessibleName("Panels")
        self._buttons = {title: self._make(title) for title in titles}
        column = VBox(self, (2, SPACING_PX, 2, SPACING_PX), SPACING_PX)
        column.add(*self._buttons.values(), 1)
        self._set_font()
        self._draw_icons()

    def show_open(self, title: str, is_open: bool) -> None:
        """Press the button of the panel called `title`, or release it."""
        self._buttons[title].setChecked(is_open)

    def show_tip(self, title: str, tip: str) -> None:
        """Set what the button's tooltip says."""
        self._buttons[title].setToolTip(tip_text(tip))

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        """Return room for the names alone."""
        return QSize(super().minimumSizeHint().width(), self._height(0))

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._draw_icons()
        elif event.type() == QEvent.Type.ApplicationFontChange:
            self._set_font()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        has_room = event.size().height() >= self._height(ICON_PX)
        style = ICON_AND_NAME if has_room else NAME
        for button in self._buttons.values():
            button.setToolButtonStyle(style)

    def _height(self, icon_px: int) -> int:
        """Return how high the rail is with icons of this height; 0: with names alone."""
        one = max(each.height_with(icon_px) for each in self._buttons.values())
        return len(self._buttons) * (one + SPACING_PX) + 2 * SPACING_PX

    def _make(self, title: str) -> RailButton:
        button = RailButton(title)
        button.pressed.connect(lambda: self.pressed.emit(title))
        button.clicked.connect(lambda _=False: self.clicked.emit(title))
        return button

    def _set_font(self) -> None:
        font = QFont(theme.numbers_font())
        font.setPointSizeF(font.pointSizeF() * LETTERS)
        for button in self._buttons.values():
            button.setFont(font)

    def _draw_icons(self) -> None:
        colors, ratio = theme.colors(self.palette()), self.devicePixelRatioF()
        for title, button in self._buttons.items():
            name = f"panels/{title.lower()}"
            icon = QIcon(theme_pixmap(name, colors.text, ICON_PX, ratio))
            down = theme_pixmap(name, colors.on_accent, ICON_PX, ratio)
            icon.addPixmap(down, QIcon.Mode.Normal, QIcon.State.On)
            icon.addPixmap(down, QIcon.Mode.Active, QIcon.State.On)
            button.setIcon(icon)
