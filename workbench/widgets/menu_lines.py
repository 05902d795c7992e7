"""The lines of a window's menus, as they would be seen now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu

Menus = Mapping[QAction, QMenu]  # by what stands for them in the menus above


@dataclass(frozen=True, slots=True, eq=False)
class MenuLine:
    """A line of a menu that does something.

    path  the titles of the menus above it, from the menu bar down, without their &
    """

    path: tuple[str, ...]
    action: QAction

    @property
    def name(self) -> str:
        """Return the line's text, without the & of mnemonics."""
        return plain(self.action.text()).removesuffix("…")

    @property
    def keys(self) -> str:
        """Return its shortcuts as this system writes them: "Ctrl+Y"; empty without any."""
        native = QKeySequence.SequenceFormat.NativeText
        return " or ".join(key.toString(native) for key in self.action.shortcuts())


def menu_lines(window: QMainWindow) -> list[MenuLine]:
    """Return every line that does something, in order; menus filled when opened are filled."""
    # Not by QAction.menu(): PySide 6.8 takes what that gave for deleted soon afterwards.
    menus = {menu.menuAction(): menu for menu in window.findChildren(QMenu)}
    lines: list[MenuLine] = []
    for action in window.menuBar().actions():
        if (menu := menus.get(action)) is not None:
            lines += _lines(menu, (plain(action.text()),), menus)
    return lines


def _lines(menu: QMenu, path: tuple[str, ...], menus: Menus) -> Iterator[MenuLine]:
    menu.aboutToShow.emit()
    for action in menu.actions():
        if (below := menus.get(action)) is not None:
            yield from _lines(below, (*path, plain(action.text())), menus)
        elif not action.isSeparator():
            yield MenuLine(path, action)


def plain(text: str) -> str:
    """Return text without the & of mnemonics: "Save && &quit" is "Save & quit"."""
    return text.replace("&&", "\0").replace("&", "").replace("\0", "&")
