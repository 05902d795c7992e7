"""The writing of a report of what is shown, step by step while the window stays usable."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer, QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from kernels.core.job import Progress
from workbench.base.background import Background
from workbench.base.data_folder import data_folder
from workbench.base.settings import Settings
from workbench.model.plan_draft import given
from workbench.panels.sweep.shown_sessions import Sessions
from workbench.session.store import Store
from workbench.widgets.actions import Action
from workbench.widgets.file_dialogs import FOLDER, ask_folder
from workbench.widgets.message_bar import MessageBar

MENU = "&Sweep"
REPORT, REPORT_AS, REPORT_PDF = "Repor&t…", "Save report &as…", "Report as PD&F…"
NOTHING = "There is nothing to report yet: measure something, or open a session."


class ReportWriter(QObject):
    """The writer of reports, one at a time, each into a folder of its own and then opened.

    It draws in the GUI thread, since only that may, and does all else in the background.
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
        """Take what a report is made of.

        parent  of the dialog that asks for a folder
        """
        super().__init__(parent)
        self._store, self._sessions, self._background = store, sessions, background
        self._settings, self._messages, self._parent = settings, messages, parent
        self._steps: Iterator[Any] | None = None
        self._doing = ""

    def actions(self) -> list[Action]:
        """Return the menu's actions."""
        return [
            Action(
                *(MENU, REPORT, self.start, ("Ctrl+R",)),
                "All that is shown, as one file to read, to print and to hand in.",
                why_not=self._why_not,
            ),
            Action(
                *(MENU, REPORT_AS, self.start_elsewhere, ("Ctrl+Shift+R",)),
                "The same, in a folder that you choose.",
                why_not=self._why_not,
            ),
            Action(
                *(MENU, REPORT_PDF, self.start_pdf, ("Ctrl+Alt+R",)),
                "The same for A4, as a PDF beside the page.",
                why_not=self._why_not,
            ),
        ]

    def _why_not(self) -> str:
        return "" if self._sessions.measured else NOTHING

    @Slot()
    def start(self) -> None:
        """Begin a report, unless one is being written."""
        self._start(folder())

    @Slot()
    def start_pdf(self) -> None:
        """Begin a report that is a PDF as well, which is opened at the end."""
        self._start(folder(), as_pdf=True)

    @Slot()
    def start_elsewhere(self) -> None:
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

        target = new_folder(place, datetime.now())
        pictures = given(self._store.state.picture)
        self._steps = writing(sessions, target, pictures, as_pdf=as_pdf)
        self._doing = ""
        self._show_doing("beginning")
        self._go_on(self._steps)

    def close(self) -> None:
        """Stop writing, as the window closes."""
        self._steps = None

    def _go_on(self, steps: Iterator[Any]) -> None:
        """Take the next step in the background."""
        self._background.run(partial(self._next, steps), partial(self._take, steps), self._fail)

    def _draw(self, steps: Iterator[Any]) -> None:
        """Take the next step in this thread, after all else that the window has to do."""
        if self._steps is steps:
            self._take(steps, self._next(steps))

    def _next(self, steps: Iterator[Any]) -> Any:
        """Return the next step: a Progress, the page's Path or a ReportError."""
        from workbench.report.writing import ReportError

        try:
            return next(steps)
        except ReportError as error:
            return error
        except BaseException:  # a bug, which is shown; the next report is another one
            self._steps = None
            raise

    def _take(self, steps: Iterator[Any], step: Any) -> None:
        from workbench.report.writing import ToDraw

        if self._steps is not steps:
            return
        if isinstance(step, Progress):
            self._show_doing(step.doing)
        if isinstance(step, ToDraw):
            QTimer.singleShot(0, self, partial(self._draw, steps))
        elif isinstance(step, Progress):
            self._go_on(steps)
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
    """Return where reports are written unless somebody chooses another place."""
    return data_folder() / "reports"


def new_folder(place: Path, now: datetime) -> Path:
    """Return the folder in `place` for a report begun `now`."""
    return place / f"{now:%Y-%m-%d %H%M%S} report"


def _open(path: Path) -> None:
    """Open a file or folder with the program that the system has for it."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))
