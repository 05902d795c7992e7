"""Menus, made of one table of all lines, and the lines that these show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu, QWidget

from workbench.base.paths import asset_table
from workbench.base.plain_text import tip_text

Do = Callable[[], object]
AddHelp = Callable[[QWidget, str], None]  # makes the help key of a window open a page
SEPARATOR = "-"


@dataclass(frozen=True, slots=True)
class Action:
    """Callable of a menu line that can be disabled or renamed."""

    do: Do
    why_not: Callable[[], str] = str  # the reason why it is disabled now, or ""
    name: Callable[[], str] | None = None  # its present text; None: that of the table


Actions = Mapping[str, Do | Action]  # by the texts of their lines, without &


class MenuTree:
    """A window's menu bar, made of the lines in assets/menus.toml."""

    def __init__(self, window: QMainWindow, actions: Actions) -> None:
        """Make all menus; `actions` has one for each line of the table."""
        self._window = window
        self._menus: dict[str, QMenu] = {}
        self._actions: dict[str, QAction] = {}
        self._changing: list[tuple[Action, QAction]] = []
        for path, *line in asset_table("menus.toml")["lines"]:
            menu = self.menu(path)
            if line == [SEPARATOR]:
                menu.addSeparator()
            elif line:
                menu.addAction(self._make(actions, *line))

    def __contains__(self, name: str) -> bool:
        return name in self._actions

    def menu(self, path: str) -> QMenu:
        """The menu called "&File", or "&File/&Recent" inside it; made if there is none."""
        if path not in self._menus:
            parent, _, title = path.rpartition("/")
            above = self.menu(parent) if parent else self._window.menuBar()
            self._menus[path] = above.addMenu(title)
            self._menus[path].setToolTipsVisible(True)
        return self._menus[path]

    def action(self, name: str) -> QAction:
        """The line with the text `name`, without its &."""
        return self._actions[name]

    def offer_on(self, view: QWidget, name: str) -> None:
        """Give `view` a context menu: its own lines, then those that the table lists as `name`."""
        menu = QMenu(view, toolTipsVisible=True)
        menu.addActions(view.actions())
        for each in asset_table("menus.toml")[name]:
            if each == SEPARATOR:
                menu.addSeparator()
            else:
                menu.addAction(self._actions[each])
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        view.customContextMenuRequested.connect(lambda at: menu.popup(view.mapToGlobal(at)))

    def refresh(self) -> None:
        """Enable what has something to do, and name it by what it would do."""
        for each, made in self._changing:
            show_reason(made, each.why_not())
            if each.name is not None:
                made.setText(each.name())

    def _make(self, actions: Actions, text: str, keys: str, tip: str) -> QAction:
        name = plain(text)
        act = actions[name]
        made = self._actions[name] = QAction(text, self._window)
        made.setObjectName(name)
        made.setShortcuts([QKeySequence(key) for key in keys.split()])
        made.setWhatsThis(tip)
        show_reason(made, "")
        if isinstance(act, Action):
            self._changing.append((act, made))
        do = act.do if isinstance(act, Action) else act
        made.triggered.connect(lambda _=False: do())
        return made


def show_reason(action: QAction, why_not: str) -> None:
    """Enable an action, or disable it with this reason as its tip in place of "what's this"."""
    action.setEnabled(not why_not)
    action.setToolTip(tip_text(why_not or action.whatsThis()))
    action.setStatusTip(why_not or action.whatsThis())


def list_in(menu: QMenu, lines: Iterable[tuple[str, str, Do | None]], keeps: int = 0) -> None:
    """Put lines of text, tip and what they do, or None, after the first `keeps` of a menu."""
    for old in menu.actions()[keeps:]:
        menu.removeAction(old)
        old.deleteLater()  # otherwise there would be more each time the menu opens
    for text, tip, do in lines:
        made = QAction(text.replace("&", "&&"), menu)  # PySide would never free one of the menu's
        made.setObjectName(text)
        made.setToolTip(tip_text(tip))
        made.setEnabled(do is not None)
        made.triggered.connect(lambda _=False, do=do: do())
        menu.addAction(made)


Menus = Mapping[QAction, QMenu]  # by what stands for them in the menus above


@dataclass(frozen=True, slots=True, eq=False)
class MenuLine:
    """A line of a menu that does something."""

    path: tuple[str, ...]  # titles of the menus above it, from the menu bar down, without their &
    action: QAction

    @property
    def name(self) -> str:
        """Its text, without the & of mnemonics."""
        return plain(self.action.text()).removesuffix("…")

    @property
    def keys(self) -> str:
        """Its shortcuts as this system writes them: "Ctrl+Y"; empty without any."""
        native = QKeySequence.SequenceFormat.NativeText
        return " or ".join(key.toString(native) for key in self.action.shortcuts())


def menu_lines(window: QMainWindow) -> list[MenuLine]:
    """List every line that does something, in order; menus filled when opened are filled."""
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
    """Remove the & of mnemonics: "Save && &quit" is "Save & quit"."""
    return text.replace("&&", "\0").replace("&", "").replace("\0", "&")
