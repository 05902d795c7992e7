"""The menu View ▸ Theme: light, dark, or like the desktop."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QApplication

from workbench.base import theme
from workbench.base.plain_text import tip_text
from workbench.base.settings import Settings
from workbench.widgets.actions import MenuTree

THEME_MENU, THEME = "&View/&Theme", "theme"
# The title of each, its key, and what it is good for.
SCHEMES: dict[theme.Scheme, tuple[str, str, str]] = {
    "system": (
        *("Follow &system", "Ctrl+Shift+F2"),
        "Light or dark, as the desktop is, and changing with it.",
    ),
    "light": (
        *("&Light", "Ctrl+Shift+F3"),
        "Dark letters on light, for a bright room and a projector.",
    ),
    "dark": (
        *("&Dark", "Ctrl+Shift+F4"),
        "Light letters on dark; pictures look brighter beside it.",
    ),
}


class Themes(QObject):
    """A menu that applies the chosen theme, and has the settings remember it."""

    def __init__(self, settings: Settings, parent: QObject) -> None:
        super().__init__(parent)
        self._settings = settings
        self._group = QActionGroup(self)
        self._actions: dict[theme.Scheme, QAction] = {}

    def fill(self, tree: MenuTree) -> None:
        """Add the lines of the menu."""
        for scheme, (title, key, tip) in SCHEMES.items():
            action = tree.menu(THEME_MENU).addAction(title)
            action.setShortcut(key)
            action.setToolTip(tip_text(tip))
            action.setCheckable(True)
            action.setChecked(scheme == self._settings.get(THEME, "system", SCHEMES))
            action.triggered.connect(partial(self._choose, scheme))
            self._group.addAction(action)
            self._actions[scheme] = action

    def forget(self) -> None:
        """Set the theme of a first start: that of the desktop."""
        self._actions["system"].trigger()

    def _choose(self, scheme: theme.Scheme, _checked: bool = False) -> None:
        self._settings.set(THEME, scheme)
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        theme.apply(app, scheme)
