"""The menu Sweep: what runs, what is shown, and what can be made of it."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFileDialog, QMenu

from kernels.core.errors import SessionFileError
from kernels.sweeps.plan import Plan
from kernels.sweeps.plan_files import as_toml, read_plan
from kernels.sweeps.presets import presets
from workbench.base.plain_text import tip_text
from workbench.panels.sweep.chart_window import ChartWindow
from workbench.panels.sweep.compare_dialog import CompareDialog
from workbench.session import session_store
from workbench.widgets.actions import Action, MenuTree
from workbench.widgets.save_path import ask_save_path, remember_folder, save_folder

if TYPE_CHECKING:
    from workbench.window.main_window import MainWindow

MENU = "&Sweep"
RECENT, RECORDED = f"{MENU}/&Recent sessions", f"{MENU}/Recor&ded sessions"
PLAN, CHART = f"{MENU}/P&lan", f"{MENU}/C&hart"
PLAN_KEYS = ("Ctrl+F8", "Ctrl+Shift+F8")
CHART_KEYS = ("Ctrl+F9", "Shift+F9", "Alt+F9", "Ctrl+Shift+F9")
CLOSE_ALL = "Close all sessions"
SESSION_FILTER = "Sessions (*.jsonl *.jsonl.gz);;All files (*)"
PLAN_FILTER = "Plans (*.toml);;All files (*)"
NO_TWO = "Show two sessions first: open another beside the one that is shown."


class SweepMenu(QObject):
    """What the menu does that takes a dialog or a window."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._chart_window: ChartWindow | None = None
        window.sweep.plan_open_wanted.connect(self._open_plan)
        window.sweep.plan_save_wanted.connect(self._save_plan)
        window.sweep.large_wanted.connect(self.toggle_chart_window)

    def actions(self) -> list[Action]:
        """Its lines, in order."""
        window = self._window
        return [
            Action(
                *(MENU, "&Start or cancel sweep", window.measuring.toggle_sweep, ("Ctrl+B",)),
                "Measure what the panel Sweep says, or stop; what was measured stays.",
            ),
            Action(
                *(MENU, "&Pause or resume", window.measuring.toggle_pause, ("Ctrl+Shift+B",)),
                "Let the sweep stand still, measuring nothing, or go on.",
            ),
            Action(
                *(MENU, "&Open session…", self._open_session, ("Ctrl+Shift+O",)),
                "Show measurements from a file beside what is measured here.",
                separator=True,
            ),
            Action(MENU, f"&{CLOSE_ALL}", self._close_all, ("Ctrl+F4",), "Their files stay."),
            Action(
                *(MENU, "Co&mpare…", self._compare, ("Ctrl+M",)),
                "Two of the sessions that are shown, measurement by measurement.",
            ),
            Action(
                *(MENU, "Repor&t…", window.reporting.start, ("Ctrl+R",)),
                "All that is shown, as one file to read, to print and to hand in.",
            ),
            Action(
                *(MENU, "Save report &as…", window.reporting.start_elsewhere, ("Ctrl+Shift+R",)),
                "The same, in a folder that you choose.",
            ),
            Action(
                *(MENU, "Report as PD&F…", window.reporting.start_pdf, ("Ctrl+Alt+R",)),
                "The same for A4, as a PDF beside the page.",
            ),
            Action(
                *(MENU, "Chart in a &window", self.toggle_chart_window, ("F9",)),
                "The chart in a window of its own, and back.",
                separator=True,
            ),
            Action(
                *(MENU, "&Back to before the point", window.picking.back, ("Alt+Left",)),
                "What the window showed before a measurement in the chart was clicked.",
            ),
        ]

    def connect_lists(self, recent: QMenu, recorded: QMenu, everything: QMenu) -> None:
        """Fill what depends on files whenever it is about to be seen."""
        after = next(each for each in everything.actions() if each.objectName() == CLOSE_ALL)
        for menu in (recent, recorded):  # they belong below "Open session…"
            everything.removeAction(menu.menuAction())
            everything.insertAction(after, menu.menuAction())
        recent.aboutToShow.connect(partial(self._fill, recent, session_store.kept))
        recorded.aboutToShow.connect(partial(self._fill, recorded, session_store.came_with_it))
        for menu in (recent, recorded):
            self._fill(menu, list)
        self._window.sweep.show_session_actions(_second_part(everything))

    def connect_others(self, tree: MenuTree) -> None:
        """Put what stands beside the plan and the chart in menus as well, on a key each."""
        sweep = self._window.sweep
        for path, actions, keys in (
            (PLAN, sweep.plan_actions, PLAN_KEYS),
            (CHART, sweep.chart.actions_of_menu, CHART_KEYS),
        ):
            for action, key in zip(actions, keys, strict=True):
                action.setShortcut(key)
                tree.menu(path).addAction(action)

    def toggle_chart_window(self) -> None:
        """Give the chart a window, or take it back."""
        if self._chart_window is not None:
            self._chart_window.close()
            return
        sweep = self._window.sweep
        sweep.chart_place.removeWidget(sweep.chart)
        sweep.show_chart_away(True)
        self._chart_window = ChartWindow(sweep.chart, self._window)
        self._chart_window.left.connect(self._take_chart_back)
        self._window.helping.serve(self._chart_window, "charts")
        sweep.chart.show()
        self._chart_window.show()
        self._chart_window.activateWindow()

    def close(self) -> None:
        """The window closes, and the chart's with it."""
        if self._chart_window is not None:
            self._chart_window.close()

    def _take_chart_back(self) -> None:
        self._chart_window = None
        sweep = self._window.sweep
        sweep.show_chart_away(False)
        sweep.chart_place.addWidget(sweep.chart)
        sweep.chart.show()

    def _fill(self, menu: QMenu, files: object) -> None:
        assert callable(files)
        menu.clear()
        for path in files():
            action = menu.addAction(title_of(path).replace("&", "&&"))
            action.setToolTip(tip_text(str(path)))
            action.triggered.connect(partial(self._open, path))
        if menu.isEmpty():
            menu.addAction("There are none").setEnabled(False)

    def _open(self, path: Path, _checked: bool = False) -> None:
        self._window.open_session(path)

    def _open_session(self) -> None:
        if path := self._ask_file("Open a session", SESSION_FILTER):
            self._window.open_session(path)

    def _open_plan(self) -> None:
        if path := self._ask_file("Open a plan", PLAN_FILTER):
            self.open_plan(path)

    def open_plan(self, path: Path) -> None:
        """Show the plan in a file, to be measured."""
        window = self._window
        window.reading.run(
            partial(read_plan, path),
            window.sweep.show_plan,
            lambda error: window.messages.show_message("error", str(error)),
        )

    def _save_plan(self, plan: Plan) -> None:
        window = self._window
        name = session_store.slug(plan.title) or "plan"
        proposed = save_folder(window.settings) / f"{name}.toml"
        path = ask_save_path(window, "Save the plan", proposed, PLAN_FILTER)
        if path is None:
            return
        remember_folder(window.settings, path)
        window.exporter.save_text(path, as_toml(plan))

    def _ask_file(self, title: str, file_types: str) -> Path | None:
        folder = str(self._window.settings.get("session-folder", "") or session_store.folder())
        chosen, _ = QFileDialog.getOpenFileName(self._window, title, folder, file_types)
        if not chosen:
            return None
        self._window.settings.set("session-folder", str(Path(chosen).parent))
        return Path(chosen)

    def _close_all(self) -> None:
        self._window.sweep.close_sessions()

    def _compare(self) -> None:
        shown = [each for each in self._window.sessions.shown if each.session.records]
        if len(shown) < 2:
            self._window.messages.show_message("info", NO_TWO)
        else:
            window = self._window
            CompareDialog(shown, window.reading, window.exporter, window).open()


def _second_part(menu: QMenu) -> list[QAction]:
    """What stands between its first and its second line: all about sessions."""
    parts = groupby(menu.actions(), key=lambda each: each.isSeparator())
    return next(islice((list(part) for is_line, part in parts if not is_line), 1, None))


def title_of(path: Path) -> str:
    """What the list of sessions calls it: the title of the preset whose key it has, as those do
    that came with the program; else, from its first line, the plan's title and when it began; or
    its name without the endings."""
    stem = path.name.removesuffix(".gz").removesuffix(".jsonl")
    if preset := next((each for each in presets() if each.key == stem), None):
        return preset.plan.title
    try:
        session = session_store.heading(path)
    except (SessionFileError, OSError):
        return stem
    return f"{session.plan.title} · {datetime.fromtimestamp(session.started):%Y-%m-%d %H:%M}"
