"""All actions in one table, the menus made of it, and the lines that these show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu, QWidget

from workbench.base.plain_text import tip_text

Do = Callable[[], object]
AddHelp = Callable[[QWidget, str], None]  # makes the help key of a window open a page


@dataclass(frozen=True, slots=True)
class Action:
    """A line of a menu.

    menu  its menu's title, with & for the mnemonic; "&File/&Recent" for one inside another
    keys  shortcuts in portable text; the first is shown
    why_not  returns the reason why it is disabled now, or an empty text; None: always enabled
    name     returns its present text, where that is not always `text`
    """

    menu: str
    text: str
    do: Do
    keys: tuple[str, ...] = ()
    tip: str = ""
    separator: bool = False
    why_not: Callable[[], str] | None = None
    name: Callable[[], str] | None = None


class MenuTree:
    """A window's menu bar, whose menus are made on demand."""

    def __init__(self, window: QMainWindow) -> None:
        self._window = window
        self._menus: dict[str, QMenu] = {}
        self._actions: dict[str, QAction] = {}
        self._changing: list[tuple[Action, QAction]] = []

    def menu(self, path: str) -> QMenu:
        """Return the menu called "&File", or "&File/&Recent" inside it; made if there is none."""
        if path not in self._menus:
            parent, _, title = path.rpartition("/")
            above = self.menu(parent) if parent else self._window.menuBar()
            self._menus[path] = above.addMenu(title)
            self._menus[path].setToolTipsVisible(True)
        return self._menus[path]

    def action(self, name: str) -> QAction:
        """Return the line with the text `name`, without its &."""
        return self._actions[name]

    def add(self, actions: list[Action]) -> None:
        """Append `actions` in their order."""
        for each in actions:
            menu = self.menu(each.menu)
            if each.separator:
                menu.addSeparator()
            menu.addAction(self._make(each))

    def refresh(self) -> None:
        """Enable what has something to do, and name it by what it would do."""
        for each, made in self._changing:
            if each.why_not is not None:
                reason = each.why_not()
                made.setEnabled(not reason)
                made.setToolTip(tip_text(reason or each.tip or each.text.replace("&", "")))
                made.setStatusTip(reason or each.tip)
            if each.name is not None:
                made.setText(each.name())

    def _make(self, action: Action) -> QAction:
        made = QAction(action.text, self._window)
        made.setObjectName(action.text.replace("&", ""))
        made.setShortcuts([QKeySequence(key) for key in action.keys])
        made.setToolTip(tip_text(action.tip or action.text.replace("&", "")))
        made.setStatusTip(action.tip)
        made.triggered.connect(lambda _=False: action.do())
        self._actions[made.objectName()] = made
        self._changing.append((action, made))
        return made


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
