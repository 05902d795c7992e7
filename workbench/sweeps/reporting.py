"""A report of what is shown, written a step at a time between all else that the window does."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from platformdirs import user_data_dir
from PySide6.QtCore import QObject, QTimer, QUrl, Slot
from PySide6.QtGui import QDesktopServices

from workbench.sweeps.draft import given

if TYPE_CHECKING:
    from workbench.main_window import MainWindow

NOTHING = "There is nothing to report yet: measure something, or open a session."


class Reporting(QObject):
    """Writes one report at a time, into a folder of its own, and opens it in the browser."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._steps: Iterator[Any] | None = None
        self._turn = QTimer(self, interval=0)
        self._turn.timeout.connect(self._step)

    @Slot()
    def start(self) -> None:
        """Begin, unless one is being written."""
        sessions = self._window.sessions.sessions()
        if self._steps is not None:
            return
        if not any(session.records for session in sessions):
            self._window.messages.show_message("info", NOTHING)
            return
        from workbench.report.writing import writing  # jinja2 is not for the window's start

        folder = new_folder(datetime.now())
        self._steps = writing(sessions, folder, given(self._window.store.state.picture))
        self._window.messages.show_message("info", "Writing the report…")
        self._turn.start()

    def close(self) -> None:
        """Leave it unwritten: the window closes."""
        self._turn.stop()
        self._steps = None

    @Slot()
    def _step(self) -> None:
        assert self._steps is not None
        from workbench.report.writing import ReportError

        try:
            step = next(self._steps, None)
        except ReportError as error:
            self._window.messages.show_message("error", str(error))
            step = None
        except BaseException:
            self.close()
            raise
        if isinstance(step, Path):
            self._window.messages.show_message("info", f"The report is {step}.")
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(step)))
            step = None
        if step is None:
            self.close()


def new_folder(now: datetime) -> Path:
    """Where a report begun `now` is written."""
    return Path(user_data_dir("filter-workbench")) / "reports" / f"{now:%Y-%m-%d %H%M%S}"
