"""A menu of sessions' files, which another thread looks for: their drive may be slow."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QMenu

from kernels.core.errors import SessionFileError
from kernels.sweeps.presets import presets
from workbench.base.background import Background
from workbench.base.plain_text import tip_text
from workbench.session import session_store

Named = list[tuple[Path, str]]
LOOKING, NONE = "Looking…", "There are none"


class SessionMenu(QObject):
    """A menu that lists the files found last, and looks anew whenever it is about to show.

    files  finds them, on the background's thread

    Signals:
        chosen(path): a file is to be shown.
    """

    chosen = Signal(object)

    def __init__(
        self, menu: QMenu, files: Callable[[], list[Path]], background: Background, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._menu, self._files, self._background = menu, files, background
        self._shown: Named | None = None
        self._is_looking, self._is_outdated = False, False
        self._say(LOOKING)
        menu.aboutToShow.connect(self.look)

    @Slot()
    def look(self) -> None:
        """Look for the files; what is found is in the menu a moment later."""
        if self._is_looking:
            self._is_outdated = True  # it may have been looked at already
            return
        self._is_looking = True
        self._background.run(partial(_named, self._files), self._show, self._fail, self._end)

    def _show(self, found: Named) -> None:
        if found != self._shown:  # else it stays as it is under the pointer
            self._shown = found
            self._list(found)
        self._end()

    def _fail(self, error: Exception) -> None:
        self._shown = None
        self._menu.clear()
        self._say(str(error))
        self._end()

    def _end(self) -> None:
        self._is_looking = False
        if self._is_outdated:
            self._is_outdated = False
            self.look()

    def _list(self, found: Named) -> None:
        self._menu.clear()
        for path, title in found:
            action = self._menu.addAction(title.replace("&", "&&"))
            action.setToolTip(tip_text(f"Show the measurements in {path.name}."))
            action.triggered.connect(partial(self._choose, path))
        if not found:
            self._say(NONE)

    def _say(self, text: str) -> None:
        self._menu.addAction(text.replace("&", "&&")).setEnabled(False)

    def _choose(self, path: Path, _checked: bool = False) -> None:
        self.chosen.emit(path)


def _named(files: Callable[[], list[Path]]) -> Named:
    return [(path, session_title(path)) for path in files()]


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
