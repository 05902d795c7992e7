"""The menu of sweeps: sessions, plans and reports, opened, saved, compared and listed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import partial
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, QUrl, Slot
from PySide6.QtGui import QAction, QDesktopServices
from PySide6.QtWidgets import QMenu, QWidget

from kernels.core.errors import SessionFileError
from kernels.core.job import Progress
from kernels.sweeps.plan import Plan
from kernels.sweeps.plan_files import as_toml, presets, read_plan
from workbench.base.background import Background
from workbench.base.paths import data_folder
from workbench.base.plain_text import tip_text
from workbench.base.settings import Settings
from workbench.charts.chart_menu import LOG, PUBLISHED, SAVE_SVG, SHOW_ALL
from workbench.model.plan_draft import given
from workbench.panels.sweep.plan_choice import OPEN_PLAN, SAVE_PLAN
from workbench.panels.sweep.shown_sessions import Sessions
from workbench.panels.sweep.sweep_controller import MENU
from workbench.session import session_store
from workbench.session.exporter import Exporter
from workbench.session.store import Store
from workbench.session.worker import Worker
from workbench.widgets.actions import Action, MenuTree
from workbench.widgets.docks import Docks
from workbench.widgets.file_dialogs import (
    FOLDER,
    ask_file,
    ask_folder,
    ask_save_path,
    remember_folder,
    save_folder,
)
from workbench.widgets.lazy_panel import LazyPanel
from workbench.widgets.message_bar import MessageBar

if TYPE_CHECKING:
    from workbench.panels.sweep.sweep_panel import SweepPanel


REPORT, REPORT_AS, REPORT_PDF = "Repor&t…", "Save report &as…", "Report as PD&F…"
NOTHING = "There is nothing to report yet: measure something, or open a session."


class ReportWriter(QObject):
    """Write reports, one at a time, each into a folder of its own, and open them.

    Only the drawing runs in the GUI thread.
    """

    def __init__(
        self,
        store: Store,
        sessions: Sessions,
        background: Background,
        settings: Settings,
        messages: MessageBar,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._store, self._sessions, self._background = store, sessions, background
        self._settings, self._messages, self._parent = settings, messages, parent
        self._steps: Iterator[Any] | None = None
        self._doing = ""

    def actions(self) -> list[Action]:
        """Actions of the menu Sweep."""

        def why_not() -> str:
            return "" if self._sessions.measured else NOTHING

        as_pdf = partial(self.start, as_pdf=True)
        return [
            Action(
                *(MENU, REPORT, self.start, ("Ctrl+R",)),
                "All that is shown, as one file to read, to print and to hand in.",
                why_not=why_not,
            ),
            Action(
                *(MENU, REPORT_AS, self._start_elsewhere, ("Ctrl+Shift+R",)),
                "The same, in a folder that you choose.",
                why_not=why_not,
            ),
            Action(
                *(MENU, REPORT_PDF, as_pdf, ("Ctrl+Alt+R",)),
                "The same for A4, as a PDF beside the page.",
                why_not=why_not,
            ),
        ]

    @Slot()
    def start(self, *, as_pdf: bool = False) -> None:
        """Begin a report, unless one is being written; a PDF is opened at the end."""
        self._start(folder(), as_pdf=as_pdf)

    def _start_elsewhere(self) -> None:
        """Begin a report in a folder that the user chooses."""
        chosen = ask_folder(self._parent, "Save report in…", self._settings.get(FOLDER, ""))
        if chosen is not None:
            self._settings.set(FOLDER, str(chosen))
            self._start(chosen)

    def _start(self, place: Path, *, as_pdf: bool = False) -> None:
        sessions = self._sessions.sessions()
        if self._steps is not None:
            return
        if not any(session.records for session in sessions):
            self._messages.show_message("info", NOTHING)
            return
        from workbench.report.writing import writing  # jinja2 would delay the start

        target = place / f"{datetime.now():%Y-%m-%d %H%M%S} report"
        pictures = given(self._store.state.picture)
        self._steps = writing(sessions, target, pictures, as_pdf=as_pdf)
        self._doing = ""
        self._show_doing("beginning")
        self._work(self._steps)

    def close(self) -> None:
        """Stop writing."""
        self._steps = None

    def _work(self, steps: Iterator[Any]) -> None:
        """Take the next step in the background."""
        self._background.run(partial(self._next, steps), partial(self._handle, steps), self._fail)

    def _draw(self, steps: Iterator[Any]) -> None:
        """Take the next step in the GUI thread."""
        if self._steps is steps:
            self._handle(steps, self._next(steps))

    def _next(self, steps: Iterator[Any]) -> Any:
        """Compute the next step: a Progress, the page's Path or a ReportError."""
        from workbench.report.writing import ReportError

        try:
            return next(steps)
        except ReportError as error:
            return error
        except BaseException:  # a bug, which is shown; the next report is a new one
            self._steps = None
            raise

    def _handle(self, steps: Iterator[Any], step: Any) -> None:
        from workbench.report.writing import ToDraw

        if self._steps is not steps:
            return
        if isinstance(step, Progress):
            self._show_doing(step.doing)
        if isinstance(step, ToDraw):
            QTimer.singleShot(0, self, partial(self._draw, steps))
        elif isinstance(step, Progress):
            self._work(steps)
        elif isinstance(step, Path):
            self._steps = None
            self._messages.show_message(
                "info",
                f"Report saved: {step}.",
                actions=[
                    ("&Open", partial(_open, step)),
                    ("Show &folder", partial(_open, step.parent)),
                ],
                stays=True,
            )
            _open(step)
        else:
            self._fail(step)

    def _show_doing(self, doing: str) -> None:
        """Show each step once, as it may be read out, but never in place of an error."""
        if doing != self._doing and self._messages.kind in (None, "info"):
            self._doing = doing
            self._messages.show_message("info", f"Report: {doing}…", stays=True)

    def _fail(self, error: Exception) -> None:
        self._steps = None
        self._messages.show_message("error", str(error))


def folder() -> Path:
    """The folder of reports, unless the user chooses another place."""
    return data_folder() / "reports"


def _open(path: Path) -> None:
    """Open a file or folder with the system's program for it."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))


Named = list[tuple[Path, str]]
LOOKING, NONE = "Looking…", "There are none"


class SessionMenu(QObject):
    """A menu of session files, searched again in the background before it shows.

    files   finds them
    choose  shows one
    """

    def __init__(
        self,
        menu: QMenu,
        files: Callable[[], list[Path]],
        choose: Callable[[Path], None],
        background: Background,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._menu, self._files, self._choose = menu, files, choose
        self._background = background
        self._shown: Named | None = None
        self._is_looking, self._is_outdated = False, False
        self._add_note(LOOKING)
        menu.aboutToShow.connect(self.look)

    @Slot()
    def look(self) -> None:
        """Search the files; the menu lists them a moment later."""
        if self._is_looking:
            self._is_outdated = True  # it may have been looked at already
            return
        self._is_looking = True

        def named() -> Named:
            return [(path, session_title(path)) for path in self._files()]

        self._background.run(named, self._show, self._fail, self._finish)

    def _show(self, found: Named) -> None:
        if found != self._shown:  # else it stays as it is under the pointer
            self._shown = found
            self._menu.clear()
            for path, title in found:
                action = self._menu.addAction(title.replace("&", "&&"))
                action.setToolTip(tip_text(f"Show the measurements in {path.name}."))
                action.triggered.connect(lambda _=False, path=path: self._choose(path))
            if not found:
                self._add_note(NONE)
        self._finish()

    def _fail(self, error: Exception) -> None:
        self._shown = None
        self._menu.clear()
        self._add_note(str(error))
        self._finish()

    def _finish(self) -> None:
        self._is_looking = False
        if self._is_outdated:
            self._is_outdated = False
            self.look()

    def _add_note(self, text: str) -> None:
        self._menu.addAction(text.replace("&", "&&")).setEnabled(False)


def session_title(path: Path) -> str:
    """The name of a session's file in lists.

    That is the title of its preset, the plan's title with its beginning, or the file's name.
    """
    stem = path.name.removesuffix(".gz").removesuffix(".jsonl")
    if preset := next((each for each in presets() if each.key == stem), None):
        return preset.plan.title
    try:
        session = session_store.heading(path)
    except (SessionFileError, OSError):
        return stem
    return f"{session.plan.title} · {datetime.fromtimestamp(session.started):%Y-%m-%d %H:%M}"


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
    """The menu of sweeps: open and save sessions and plans, with dialogs and lists."""

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
        super().__init__(parent)
        self._worker, self._sweep = worker, sweep
        self._sessions, self._docks = sessions, docks
        self._background, self._exporter = background, exporter
        self._settings, self._messages, self._parent = settings, messages, parent
        sweep.when_made(self._connect)

    def _connect(self, sweep: SweepPanel) -> None:
        sweep.choice.open_wanted.connect(self._open_plan)
        sweep.choice.save_wanted.connect(self._save_plan)

    def actions(self) -> list[Action]:
        """Actions of the menu Sweep."""
        return [
            Action(
                *(MENU, "&Open session…", self._ask_session, ("Ctrl+Shift+O",)),
                "Show measurements from a file beside what is measured here.",
                separator=True,
            ),
            Action(
                *(
                    MENU,
                    f"&{CLOSE_ALL}",
                    lambda: self._sweep.get().close_sessions(),
                    ("Ctrl+F4",),
                    "Their files stay.",
                ),
                why_not=lambda: NONE_OPEN if self._sessions.is_empty else "",
            ),
            Action(
                *(MENU, "Co&mpare…", self._compare, ("Ctrl+M",)),
                "Two of the sessions that are shown, measurement by measurement.",
                why_not=lambda: NO_TWO if self._sessions.measured < 2 else "",
            ),
        ]

    def fill(self, tree: MenuTree) -> None:
        """Add the lists of files, and the panel's own actions."""
        self._add_lists(tree.menu(RECENT), tree.menu(RECORDED), tree.menu(MENU))
        plan, chart = tree.menu(PLAN), tree.menu(CHART)
        self._stand_in(plan, PLAN_LINES)
        self._stand_in(chart, CHART_LINES)
        for line in chart.actions():
            line.setEnabled(False)  # there is none yet

        def take_over(sweep: SweepPanel) -> None:
            _replace(plan, sweep.choice.plan_actions)
            _replace(chart, sweep.chart.actions_of_menu)
            everything = tree.menu(MENU)
            names = [each.replace("&", "") for each in (REPORT, REPORT_AS, REPORT_PDF)]
            lines = {each.objectName(): each for each in everything.actions()}
            reports = [lines[name] for name in names]
            sweep.show_menu_actions(_second_part(everything), reports)

        self._sweep.when_made(take_over)

    def _add_lists(self, recent: QMenu, recorded: QMenu, everything: QMenu) -> None:
        after = next(each for each in everything.actions() if each.objectName() == CLOSE_ALL)
        for menu in (recent, recorded):  # they belong below "Open session…"
            everything.removeAction(menu.menuAction())
            everything.insertAction(after, menu.menuAction())
        for menu, files in (
            (recent, session_store.saved_sessions),
            (recorded, session_store.bundled),
        ):
            listed = SessionMenu(menu, files, self.open_session, self._background, self)
            self._worker.device_found.connect(listed.look)  # once the window has begun

    def _stand_in(self, menu: QMenu, lines: Mapping[str, Line]) -> None:
        """Add lines with the keys of the panel's own; the first use makes the panel."""

        def do(at: int) -> None:
            self._sweep.get()
            menu.actions()[at].trigger()  # by now it is the panel's own

        for at, (key, (text, tip)) in enumerate(lines.items()):
            action = menu.addAction(text, partial(do, at))
            action.setShortcut(key)
            action.setToolTip(tip_text(tip))

    def _ask_session(self) -> None:
        if path := self._ask_file("Open a session", SESSION_FILTER):
            self.open_session(path)

    def open_session(self, path: Path) -> None:
        """Show the measurements in a file or folder, marked as recorded."""
        self._docks.bring_forward("Sweep")
        self._sweep.get().show_choice(False)
        self._sessions.open(path)

    def _open_plan(self) -> None:
        if path := self._ask_file("Open a plan", PLAN_FILTER):
            self.open_plan(path)

    def open_plan(self, path: Path) -> None:
        """Show the plan in a file."""
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

    def _compare(self) -> None:
        from workbench.panels.sweep.compare_dialog import CompareDialog

        shown = [each for each in self._sessions.shown if each.session.records]
        CompareDialog(shown, self._background, self._exporter, self._parent).open()


def _replace(menu: QMenu, actions: Iterable[QAction]) -> None:
    """Replace the actions in `menu` by `actions`, with their keys."""
    for old, new in zip(menu.actions(), actions, strict=True):
        new.setShortcut(old.shortcut())
        old.setShortcut("")
        menu.removeAction(old)
        menu.addAction(new)
        old.deleteLater()  # it may be what asks for this


def _second_part(menu: QMenu) -> list[QAction]:
    """The actions between a menu's first and second separator: all about sessions."""
    parts = groupby(menu.actions(), key=lambda each: each.isSeparator())
    return next(islice((list(part) for is_line, part in parts if not is_line), 1, None))
