"""The files of sweeps: sessions and plans, opened, saved, compared and listed."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from itertools import groupby, islice
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from kernels.core.errors import SessionFileError
from kernels.sweeps.plan import Plan
from kernels.sweeps.plan_files import as_toml, read_plan
from kernels.sweeps.presets import presets
from workbench.base.background import Background
from workbench.base.plain_text import tip_text
from workbench.base.settings import Settings
from workbench.panels.sweep.shown_sessions import Sessions
from workbench.panels.sweep.sweep_controller import MENU
from workbench.panels.sweep.sweep_panel import SweepPanel
from workbench.session import session_store
from workbench.session.exporter import Exporter
from workbench.widgets.actions import Action, MenuTree
from workbench.widgets.docks import Docks
from workbench.widgets.message_bar import MessageBar
from workbench.widgets.save_path import ask_save_path, remember_folder, save_folder

RECENT, RECORDED = f"{MENU}/&Recent sessions", f"{MENU}/Recor&ded sessions"
PLAN, CHART = f"{MENU}/P&lan", f"{MENU}/C&hart"
PLAN_KEYS = ("Ctrl+F8", "Ctrl+Shift+F8")
CHART_KEYS = ("Ctrl+F9", "Shift+F9", "Alt+F9", "Ctrl+Shift+F9")
CLOSE_ALL = "Close all sessions"
SESSION_FILTER = "Sessions (*.jsonl *.jsonl.gz);;All files (*)"
PLAN_FILTER = "Plans (*.toml);;All files (*)"
NO_TWO = "Show two sessions first: open another beside the one that is shown."


class SweepMenu(QObject):
    """The menu of sweeps: it opens and saves sessions and plans, with dialogs and lists."""

    def __init__(
        self,
        sweep: SweepPanel,
        sessions: Sessions,
        docks: Docks,
        background: Background,
        exporter: Exporter,
        settings: Settings,
        messages: MessageBar,
        parent: QWidget,
    ) -> None:
        """Connect the panel's requests for files.

        parent  of the dialogs
        """
        super().__init__(parent)
        self._sweep, self._sessions, self._docks = sweep, sessions, docks
        self._background, self._exporter = background, exporter
        self._settings, self._messages, self._parent = settings, messages, parent
        sweep.plan_open_wanted.connect(self._open_plan)
        sweep.plan_save_wanted.connect(self._save_plan)

    def actions(self) -> list[Action]:
        """Return the menu's actions."""
        return [
            Action(
                *(MENU, "&Open session…", self._ask_session, ("Ctrl+Shift+O",)),
                "Show measurements from a file beside what is measured here.",
                separator=True,
            ),
            Action(MENU, f"&{CLOSE_ALL}", self._close_all, ("Ctrl+F4",), "Their files stay."),
            Action(
                *(MENU, "Co&mpare…", self._compare, ("Ctrl+M",)),
                "Two of the sessions that are shown, measurement by measurement.",
            ),
        ]

    def fill(self, tree: MenuTree) -> None:
        """Add the lists of files, and what the panel offers as well."""
        self._add_lists(tree.menu(RECENT), tree.menu(RECORDED), tree.menu(MENU))
        self._add_others(tree)

    def _add_lists(self, recent: QMenu, recorded: QMenu, everything: QMenu) -> None:
        """Fill the lists of files whenever they are about to be seen."""
        after = next(each for each in everything.actions() if each.objectName() == CLOSE_ALL)
        for menu in (recent, recorded):  # they belong below "Open session…"
            everything.removeAction(menu.menuAction())
            everything.insertAction(after, menu.menuAction())
        recent.aboutToShow.connect(partial(self._list, recent, session_store.saved_sessions))
        recorded.aboutToShow.connect(partial(self._list, recorded, session_store.bundled))
        for menu in (recent, recorded):
            self._list(menu, list)
        self._sweep.show_session_actions(_second_part(everything))

    def _add_others(self, tree: MenuTree) -> None:
        """Put the actions beside plan and chart in menus as well, each with a key."""
        sweep = self._sweep
        for path, actions, keys in (
            (PLAN, sweep.plan_actions, PLAN_KEYS),
            (CHART, sweep.chart.actions_of_menu, CHART_KEYS),
        ):
            for action, key in zip(actions, keys, strict=True):
                action.setShortcut(key)
                tree.menu(path).addAction(action)

    def _list(self, menu: QMenu, files: object) -> None:
        assert callable(files)
        menu.clear()
        for path in files():
            action = menu.addAction(session_title(path).replace("&", "&&"))
            action.setToolTip(tip_text(str(path)))
            action.triggered.connect(partial(self._open, path))
        if menu.isEmpty():
            menu.addAction("There are none").setEnabled(False)

    def _open(self, path: Path, _checked: bool = False) -> None:
        self.open_session(path)

    def _ask_session(self) -> None:
        if path := self._ask_file("Open a session", SESSION_FILTER):
            self.open_session(path)

    def open_session(self, path: Path) -> None:
        """Show the measurements in a file, or in a folder, marked as recorded."""
        self._docks.bring_forward("Sweep")
        self._sweep.give_chart_room()
        self._sessions.open(path)

    def _open_plan(self) -> None:
        if path := self._ask_file("Open a plan", PLAN_FILTER):
            self.open_plan(path)

    def open_plan(self, path: Path) -> None:
        """Show the plan in a file, to be measured."""
        self._background.run(
            partial(read_plan, path),
            self._sweep.show_plan,
            lambda error: self._messages.show_message("error", str(error)),
        )

    def _save_plan(self, plan: Plan) -> None:
        name = session_store.slug(plan.title) or "plan"
        proposed = save_folder(self._settings) / f"{name}.toml"
        path = ask_save_path(self._parent, "Save the plan", proposed, PLAN_FILTER)
        if path is None:
            return
        remember_folder(self._settings, path)
        self._exporter.save_text(path, as_toml(plan))

    def _ask_file(self, title: str, file_types: str) -> Path | None:
        folder = str(self._settings.get("session-folder", "") or session_store.folder())
        chosen, _ = QFileDialog.getOpenFileName(self._parent, title, folder, file_types)
        if not chosen:
            return None
        self._settings.set("session-folder", str(Path(chosen).parent))
        return Path(chosen)

    def _close_all(self) -> None:
        self._sweep.close_sessions()

    def _compare(self) -> None:
        shown = [each for each in self._sessions.shown if each.session.records]
        if len(shown) < 2:
            self._messages.show_message("info", NO_TWO)
        else:
            from workbench.panels.sweep.compare_dialog import CompareDialog

            CompareDialog(shown, self._background, self._exporter, self._parent).open()


def _second_part(menu: QMenu) -> list[QAction]:
    """Return the actions between a menu's first and second line: all about sessions."""
    parts = groupby(menu.actions(), key=lambda each: each.isSeparator())
    return next(islice((list(part) for is_line, part in parts if not is_line), 1, None))


def session_title(path: Path) -> str:
    """Return the name of a session's file in the lists.

    It is the title of the preset whose key the file has, as those have that came with the program;
    else, from its first line, the plan's title and when it began; or the file's name without the
    endings.
    """
    stem = path.name.removesuffix(".gz").removesuffix(".jsonl")
    if preset := next((each for each in presets() if each.key == stem), None):
        return preset.plan.title
    try:
        session = session_store.heading(path)
    except (SessionFileError, OSError):
        return stem
    return f"{session.plan.title} · {datetime.fromtimestamp(session.started):%Y-%m-%d %H:%M}"
