"""The menu of sweeps: sessions, plans and reports, opened, saved, compared and listed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from datetime import datetime
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QMenu

from kernels.core.errors import KernelError, SessionFileError
from kernels.sweeps.cell_jobs import Given
from kernels.sweeps.plan import Plan
from kernels.sweeps.plan_files import as_toml, presets, read_plan
from kernels.sweeps.record import Session
from kernels.sweeps.session_files import read_heading
from workbench.base.background import Background
from workbench.charts import LINES, NO_CHART
from workbench.model.plan_draft import given
from workbench.panels.sweep.sweep_controller import SweepParts
from workbench.session import session_store
from workbench.widgets import file_dialogs
from workbench.widgets.actions import Action, Actions, MenuTree, list_in, show_reason

if TYPE_CHECKING:
    from workbench.panels.sweep.sweep_panel import SweepPanel
    from workbench.report.report_figures import ReportChart


REPORTS = {"Report…": "Pages (*.html)", "Report as PDF…": "PDF (*.pdf)"}  # types of files
BUSY = "A report is being written already"
NOTHING = "There is nothing to report yet: first measure something (Ctrl+B), or open a session."


class ReportWriter(QObject):
    """Write reports where the user says and open them; the GUI thread only draws charts."""

    _stepped = Signal(str)
    _waits = Signal(object, object)

    def __init__(self, parts: SweepParts) -> None:
        super().__init__(parts.window)
        self._parts, self._messages = parts, parts.messages
        self._background = Background((KernelError,), self)  # its steps take seconds
        self._doing = ""  # "": nothing is being written
        self._is_stopped = False
        self._svg: Future[str] = Future()  # that the thread waits for
        self._stepped.connect(self._show_doing)
        self._waits.connect(self._draw)

    def actions(self) -> Actions:
        def why() -> str:
            return "" if self._parts.sessions.measured else NOTHING

        return {name: Action(partial(self.start, name), why) for name in REPORTS}

    def start(self, name: str = "Report…") -> None:
        """Ask for the file of one of REPORTS and begin it, unless one is being written."""
        sessions = self._parts.sessions.sessions()
        if self._doing or not any(session.records for session in sessions):
            why = f"{BUSY}: {self._doing}…" if self._doing else NOTHING
            self._messages.show_message("info", why, stays=bool(self._doing))
            return
        types, where = REPORTS[name], (self._parts.window, self._parts.settings, "report")
        file = f"{session_store.slug(sessions[0].plan.title)}-report{types[types.index('.') : -1]}"
        shown = self._parts.store.state.picture
        usual = shown.path.parent if shown is not None and shown.path is not None else None
        if target := file_dialogs.ask_where(*where, name.removesuffix("…"), file, types, usual):
            pictures = given(shown)
            self._is_stopped = False
            self._show_doing("beginning")
            write = partial(self._write, sessions, target, pictures)
            self._background.run(write, self._show_written, self._fail, self._end)

    def stop(self) -> None:
        """Stop writing after the present step."""
        self._is_stopped = True
        self._svg.cancel()

    def close(self) -> None:
        self.stop()
        self._background.close()

    def _write(self, sessions: Sequence[Session], target: Path, pictures: Given) -> list[Path]:
        """Write all of it, on the thread; none: it was stopped."""
        from workbench.report.writing import writing  # jinja2 would delay the start

        with suppress(CancelledError):
            for step in writing(sessions, target, pictures, draw=self._drawn):
                if isinstance(step, list):
                    return step
                if self._is_stopped:
                    break
                self._stepped.emit(step.doing)
        return []

    def _drawn(self, chart: ReportChart) -> str:
        """Have a chart drawn, and wait for it on the thread; `stop` ends that."""
        svg: Future[str] = Future()
        self._svg = svg
        self._waits.emit(chart, svg)
        if self._is_stopped:
            svg.cancel()
        return svg.result()

    @Slot(object, object)
    def _draw(self, chart: ReportChart, svg: Future[str]) -> None:
        if svg.set_running_or_notify_cancel():
            try:
                svg.set_result(chart.svg())
            except Exception as error:  # noqa: BLE001 - raised again by the thread
                svg.set_exception(error)

    def _show_written(self, paths: list[Path]) -> None:
        self._end()
        if not paths:
            return
        *beside, path = paths
        opening = ("&Open", partial(_open, path)), ("Show &folder", partial(_open, path.parent))
        said = f"Report saved: {path.name}, with {' and '.join(each.name for each in beside)}."
        self._messages.show_message("info", said, actions=opening)
        _open(path)

    @Slot(str)
    def _show_doing(self, doing: str) -> None:
        """Show each step once, but never in place of an error."""
        if doing != self._doing and self._messages.kind in (None, "info"):
            self._messages.show_message("info", f"Report: {doing}…", stays=True)
        self._doing = doing

    def _fail(self, error: Exception) -> None:
        self._end()
        self._messages.show_error(error)

    def _end(self) -> None:
        self._doing = ""


def _open(path: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))


Named = list[tuple[Path, str]]
LOOKING, NONE = "Looking…", "There are none"


def session_title(path: Path) -> str:
    """The name of a session's file in lists.

    That is the title of its preset, the plan's title with its beginning, or the file's name.
    """
    stem = path.name.removesuffix(".gz").removesuffix(".jsonl")
    if preset := next((each for each in presets() if each.key == stem), None):
        return preset.plan.title
    try:
        session = read_heading(path)
    except (SessionFileError, OSError):
        return stem
    return f"{session.plan.title} · {datetime.fromtimestamp(session.started):%Y-%m-%d %H:%M}"


RECENT, RECORDED = "&Sweep/&Recent sessions", "&Sweep/Recor&ded sessions"
PLAN, CHART = "&Sweep/P&lan", "&Sweep/C&hart"
CHART_KEYS = (
    "Ctrl+F9",
    "Shift+F9",
    "Alt+F9",
    "Ctrl+Shift+F9",
)  # of the last lines of a chart's menu
SESSION_FILTER = "Sessions (*.jsonl *.jsonl.gz);;All files (*)"
PLAN_FILTER = "Plans (*.toml);;All files (*)"
NO_TWO = "Show two sessions first: open another beside the one that is shown."


class SweepMenu(QObject):
    """The menu of sweeps: open and save sessions and plans, with dialogs and lists."""

    def __init__(self, parts: SweepParts) -> None:
        super().__init__(parts.window)
        self._parts, self._sweep, self._sessions = parts, parts.sweep, parts.sessions
        self._looks: list[Callable[[], None]] = []
        parts.worker.device_found.connect(self._look)

    def actions(self) -> Actions:
        return {
            "Open session…": partial(
                self._ask_file, "session", "Open a session", SESSION_FILTER, self.open_session
            ),
            "Close all sessions": Action(
                lambda: self._sweep.get().close_sessions(),
                lambda: "No session is open." if self._sessions.is_empty else "",
            ),
            "Compare…": Action(
                self._compare, lambda: NO_TWO if self._sessions.measured < 2 else ""
            ),
            "Open plan…": partial(
                self._ask_file, "plan", "Open a plan", PLAN_FILTER, self.open_plan
            ),
            "Save plan as…": self._save_plan,
        }

    def fill(self, tree: MenuTree) -> None:
        """Add the lists of files, and the chart's own actions."""
        for path, find in (
            (RECENT, session_store.saved_sessions),
            (RECORDED, session_store.bundled),
        ):
            self._list(tree.menu(path), find)
        chart = tree.menu(CHART)
        chart.menuAction().setEnabled(False)  # until there is a chart
        for key, text in zip(CHART_KEYS, list(LINES)[-len(CHART_KEYS) :], strict=True):
            line = chart.addAction(text, key)  # told of by the help and the palette
            line.setWhatsThis(LINES[text])
            show_reason(line, NO_CHART)

        def take_over(sweep: SweepPanel) -> None:
            chart.clear()
            for key, action in zip(CHART_KEYS, sweep.chart.actions_of_menu, strict=True):
                action.setShortcut(key)
                chart.addAction(action)
            chart.menuAction().setEnabled(True)
            reports = [tree.action(name) for name in REPORTS]
            plans = tree.menu(PLAN).actions()
            lines = tree.menu("&Sweep").actions()
            parts = groupby(lines, key=lambda each: each.isSeparator())
            sessions = [list(part) for is_line, part in parts if not is_line][1]
            sweep.show_menu_actions(sessions, reports, plans)

        self._sweep.when_made(take_over)

    def _list(self, menu: QMenu, find: Callable[[], list[Path]]) -> None:
        """List session files in a menu, searched again in the background before it shows."""
        menu.addAction(LOOKING).setEnabled(False)
        shown: Named = []

        def named() -> Named:
            return [(path, session_title(path)) for path in find()]

        def show(found: Named) -> None:
            if found == shown and shown:
                return  # it stays as it is under the pointer
            shown[:] = found
            do, tip = self.open_session, "Show the measurements in {}."
            lines = [(title, tip.format(e.name), partial(do, e)) for e, title in found]
            list_in(menu, lines or [(NONE, "", None)])

        def look() -> None:
            self._parts.reading.run(named, show, self._parts.messages.show_error)

        menu.aboutToShow.connect(look)
        self._looks.append(look)

    @Slot()
    def _look(self) -> None:
        """Search the files of all lists, once the window has begun."""
        for each in self._looks:
            each()

    def open_session(self, path: Path) -> None:
        """Show the measurements in a file or folder, marked with where they are from."""
        self._parts.docks.bring_forward("Sweep")
        self._sweep.get().show_choice(False)
        self._sessions.open(path)

    def open_plan(self, path: Path) -> None:
        parts = self._parts

        def show(plan: Plan) -> None:
            parts.docks.bring_forward("Sweep")
            self._sweep.get().show_plan(plan)

        parts.reading.run(partial(read_plan, path), show, parts.messages.show_error)

    def _save_plan(self) -> None:
        choice, parts = self._sweep.get().choice, self._parts
        if (plan := choice.plan) is None:
            parts.messages.show_message("info", choice.in_a_line)
            return
        name = f"{session_store.slug(plan.title) or 'plan'}.toml"
        where = parts.window, parts.settings, "plan"
        if path := file_dialogs.ask_where(*where, "Save the plan", name, PLAN_FILTER):
            parts.exporter.save_text(path, as_toml(plan))

    def _ask_file(self, kind: str, title: str, types: str, do: Callable[[Path], None]) -> None:
        where = self._parts.window, self._parts.settings, kind
        if path := file_dialogs.ask_which(*where, title, types, session_store.folder()):
            do(path)

    def _compare(self) -> None:
        from workbench.panels.sweep.compare_dialog import CompareDialog

        shown = [each for each in self._sessions.shown if each.session.records]
        parts = self._parts
        CompareDialog(shown, parts.reading, parts.exporter, parts.window).open()
