"""The files of sweeps: sessions and plans, opened, saved, compared and listed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from kernels.sweeps.plan import Plan
from kernels.sweeps.plan_files import as_toml, read_plan
from workbench.base.background import Background
from workbench.base.plain_text import tip_text
from workbench.base.settings import Settings
from workbench.charts.chart_menu import LOG, PUBLISHED, SAVE_SVG, SHOW_ALL
from workbench.panels.sweep.plan_lines import OPEN_PLAN, SAVE_PLAN
from workbench.panels.sweep.report_writer import REPORT, REPORT_AS, REPORT_PDF
from workbench.panels.sweep.session_menu import SessionMenu
from workbench.panels.sweep.shown_sessions import Sessions
from workbench.panels.sweep.sweep_controller import MENU
from workbench.session import session_store
from workbench.session.exporter import Exporter
from workbench.session.worker import Worker
from workbench.widgets.actions import Action, MenuTree
from workbench.widgets.docks import Docks
from workbench.widgets.file_dialogs import ask_file, ask_save_path, remember_folder, save_folder
from workbench.widgets.lazy_panel import LazyPanel
from workbench.widgets.message_bar import MessageBar

if TYPE_CHECKING:
    from workbench.panels.sweep.sweep_panel import SweepPanel

RECENT, RECORDED = f"{MENU}/&Recent sessions", f"{MENU}/Recor&ded sessions"
PLAN, CHART = f"{MENU}/P&lan", f"{MENU}/C&hart"
PLAN_LINES = {"Ctrl+F8": OPEN_PLAN, "Ctrl+Shift+F8": SAVE_PLAN}  # by their keys
CHART_LINES = {
    "Ctrl+F9": SAVE_SVG,
    "Shift+F9": LOG,
    "Alt+F9": PUBLISHED,
    "Ctrl+Shift+F9": SHOW_ALL,
}
CLOSE_ALL = "Close all sessions"
Line = tuple[str, str]
SESSION_FILTER = "Sessions (*.jsonl *.jsonl.gz);;All files (*)"
PLAN_FILTER = "Plans (*.toml);;All files (*)"
NONE_OPEN = "No session is open."
NO_TWO = "Show two sessions first: open another beside the one that is shown."


class SweepMenu(QObject):
    """The menu of sweeps: it opens and saves sessions and plans, with dialogs and lists."""

    def __init__(
        self,
        worker: Worker,
        sweep: LazyPanel[SweepPanel],
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
        self._worker, self._sweep = worker, sweep
        self._sessions, self._docks = sessions, docks
        self._background, self._exporter = background, exporter
        self._settings, self._messages, self._parent = settings, messages, parent
        sweep.when_made(self._connect)

    def _connect(self, sweep: SweepPanel) -> None:
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
            Action(
                *(MENU, f"&{CLOSE_ALL}", self._close_all, ("Ctrl+F4",), "Their files stay."),
                why_not=lambda: NONE_OPEN if self._sessions.is_empty else "",
            ),
            Action(
                *(MENU, "Co&mpare…", self._compare, ("Ctrl+M",)),
                "Two of the sessions that are shown, measurement by measurement.",
                why_not=lambda: NO_TWO if self._sessions.measured < 2 else "",
            ),
        ]

    def fill(self, tree: MenuTree) -> None:
        """Add the lists of files, and what the panel offers as well."""
        self._add_lists(tree.menu(RECENT), tree.menu(RECORDED), tree.menu(MENU))
        plan, chart = tree.menu(PLAN), tree.menu(CHART)
        self._stand_in(plan, PLAN_LINES)
        self._stand_in(chart, CHART_LINES)
        for line in chart.actions():
            line.setEnabled(False)  # there is none yet

        def take_over(sweep: SweepPanel) -> None:
            _replace(plan, sweep.plan_actions)
            _replace(chart, sweep.chart.actions_of_menu)
            everything = tree.menu(MENU)
            sweep.show_session_actions(_second_part(everything))
            names = [each.replace("&", "") for each in (REPORT, REPORT_AS, REPORT_PDF)]
            lines = {each.objectName(): each for each in everything.actions()}
            sweep.show_report_actions([lines[name] for name in names])

        self._sweep.when_made(take_over)

    def _add_lists(self, recent: QMenu, recorded: QMenu, everything: QMenu) -> None:
        """Put the lists of files where they belong."""
        after = next(each for each in everything.actions() if each.objectName() == CLOSE_ALL)
        for menu in (recent, recorded):  # they belong below "Open session…"
            everything.removeAction(menu.menuAction())
            everything.insertAction(after, menu.menuAction())
        for menu, files in (
            (recent, session_store.saved_sessions),
            (recorded, session_store.bundled),
        ):
            listed = SessionMenu(menu, files, self._background, self)
            listed.chosen.connect(self.open_session)
            self._worker.device_found.connect(listed.look)  # once the window has begun

    def _stand_in(self, menu: QMenu, lines: Mapping[str, Line]) -> None:
        """Add lines that do what the panel's own will do, with a key each: they make the panel."""
        for at, (key, (text, tip)) in enumerate(lines.items()):
            action = menu.addAction(text, partial(self._do, menu, at))
            action.setShortcut(key)
            action.setToolTip(tip_text(tip))

    def _do(self, menu: QMenu, at: int) -> None:
        """Make the panel, and do what its own line of `menu` does."""
        self._sweep.get()
        menu.actions()[at].trigger()

    def _ask_session(self) -> None:
        if path := self._ask_file("Open a session", SESSION_FILTER):
            self.open_session(path)

    def open_session(self, path: Path) -> None:
        """Show the measurements in a file, or in a folder, marked as recorded."""
        self._docks.bring_forward("Sweep")
        self._sweep.get().give_chart_room()
        self._sessions.open(path)

    def _open_plan(self) -> None:
        if path := self._ask_file("Open a plan", PLAN_FILTER):
            self.open_plan(path)

    def open_plan(self, path: Path) -> None:
        """Show the plan in a file, to be measured."""
        self._background.run(
            partial(read_plan, path),
            lambda plan: self._sweep.get().show_plan(plan),
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
        chosen = ask_file(self._parent, title, folder, file_types)
        if chosen is not None:
            self._settings.set("session-folder", str(chosen.parent))
        return chosen

    def _close_all(self) -> None:
        self._sweep.get().close_sessions()

    def _compare(self) -> None:
        from workbench.panels.sweep.compare_dialog import CompareDialog

        shown = [each for each in self._sessions.shown if each.session.records]
        CompareDialog(shown, self._background, self._exporter, self._parent).open()


def _replace(menu: QMenu, actions: Iterable[QAction]) -> None:
    """Put `actions` in the places of those in `menu`, with their keys."""
    for old, new in zip(menu.actions(), actions, strict=True):
        new.setShortcut(old.shortcut())
        old.setShortcut("")
        menu.removeAction(old)
        menu.addAction(new)
        old.deleteLater()  # it may be what asks for this


def _second_part(menu: QMenu) -> list[QAction]:
    """Return the actions between a menu's first and second line: all about sessions."""
    parts = groupby(menu.actions(), key=lambda each: each.isSeparator())
    return next(islice((list(part) for is_line, part in parts if not is_line), 1, None))
