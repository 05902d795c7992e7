"""Recovery after a crash: one session file, written while the window is open.

A window that closes normally removes the file; where it is found at a start, the session in it is
offered. Of several windows the last one to write wins.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from platformdirs import user_state_dir
from PySide6.QtCore import QObject, Qt, QTimer

from kernels.core import plain_data, safe_files
from workbench.base.background import Background
from workbench.base.settings import DIRECTORY_VARIABLE
from workbench.files.picture_refs import PictureRef
from workbench.model import choices
from workbench.widgets.lazy_panel import LazyPanel
from workbench.window.remembering import Memory
from workbench.window.window_parts import Parts

if TYPE_CHECKING:
    from workbench.panels.weights.weights_draft import WeightsDraft
    from workbench.panels.weights.weights_editor import WeightsEditor


VERSION = 1
EVERY_MS = 1500  # at most this much work is lost
MAX_BYTES = 16 << 20
MAX_SESSIONS = 50
LEFT = "A window was not closed: the program ended unexpectedly {}, or is still open."
GONE = "{} came from no file and cannot be restored."

Session = dict[str, Any]


class CrashRestore(QObject):
    """Autosave of a window's choices, and the offer to restore those that a crash left.

    is_held  whether the window shows something other than the user's choices, such as a talk
    """

    def __init__(
        self,
        parts: Parts,
        weights: LazyPanel[WeightsEditor],
        memory: Memory,
        is_held: Callable[[], bool],
    ) -> None:
        super().__init__(parts.window)
        self._store, self._opener, self._sessions = parts.store, parts.opener, parts.sessions
        self._weights, self._memory, self._settings = weights, memory, parts.settings
        self._messages, self._is_held, self._window = parts.messages, is_held, parts.window
        self._last: Session | None = None
        self._writing: Background | None = None  # from `begin` until `end`
        self._timer = QTimer(self, interval=EVERY_MS, timerType=Qt.TimerType.CoarseTimer)
        self._timer.timeout.connect(self._save)

    def begin(self) -> None:
        """Offer the session of a window that crashed; from now on save this one."""
        if (found := read_session_file()) is not None:
            session, at = found
            restore = ("&Restore it", partial(self._restore, session))
            sentence = LEFT.format(in_words(at))
            self._messages.show_message("warning", sentence, actions=[restore], stays=True)
        self._writing = Background((OSError,), self)
        self._timer.setInterval(EVERY_MS)
        self._timer.start()

    def end(self) -> None:
        """Remove the session file: the window was closed normally."""
        self._timer.stop()
        if self._writing is not None:
            self._writing.close()
        try:
            session_path().unlink(missing_ok=True)
        except OSError:
            return  # it is offered once more

    def session(self) -> Session:
        """Collect the choices of the window as plain data, of the picture only its origin."""
        picture, panel = self._store.state.picture, self._weights.made
        is_drawing = panel is not None and panel.isVisible()
        return {
            "settings": self._memory.for_settings(),
            "picture": PictureRef.of(picture).to_data() if picture is not None else None,
            "sessions": [str(each.path) for each in self._sessions.shown if each.path],
            "weights": asdict(panel.drawing) if panel is not None and is_drawing else None,
        }

    def _save(self) -> None:
        if self._writing is None or not self._window.isVisible() or self._is_held():
            return
        now = self.session()
        if now != self._last:
            self._last = now
            # If the disk is full or gone, there will be nothing to restore.
            self._writing.run(partial(_write, now), lambda _: None, lambda _: None)

    def _restore(self, session: Session) -> None:
        self._messages.clear()
        settings = _of(session, "settings", dict)
        for name, value in settings.items():
            self._settings.set(name, value)
        self._memory.take_up_layout()
        changes = choices.from_data(_of(settings, "choices", dict), self._store.state)
        self._store.choose(**changes)
        self._open_picture(session.get("picture"))
        for path in _of(session, "sessions", list)[:MAX_SESSIONS]:
            if isinstance(path, str):
                self._sessions.open(Path(path))
        if (draft := _draft(_of(session, "weights", dict))) is not None:
            self._weights.get().draw(draft)

    def _open_picture(self, data: Any) -> None:
        ref = PictureRef.from_data(data)
        if ref is not None and ref.path is not None:
            self._opener.open_file(ref.path)
        elif ref is not None and ref.built_in is not None:
            self._opener.open_built_in(ref.built_in)
        elif name := _of(data, "name", str):
            self._messages.show_message("warning", GONE.format(name))


def session_path() -> Path:
    """Session file in the user's folder for state, or in FILTER_WORKBENCH_CONFIG."""
    chosen = os.environ.get(DIRECTORY_VARIABLE) or user_state_dir("filter-workbench")
    return Path(chosen) / "session.json"


def read_session_file() -> tuple[Session, float] | None:
    """Read the session and when it was saved, in seconds since 1970; None without a usable file."""
    path = session_path()
    try:
        if path.stat().st_size > MAX_BYTES:
            return None
        with open(path, "rb", opener=safe_files.regular) as file:
            values = plain_data.parse_json(file.read())
        session, at = values["window"], float(values["at"])
        in_words(at)  # a clock may have been far off
        is_known = values["version"] == VERSION and isinstance(session, dict)
        return (session, at) if is_known else None
    except (OSError, ValueError, ArithmeticError, KeyError, TypeError):
        return None


def in_words(at: float) -> str:
    """Format a time as "at 14:32", or "on 20 November at 14:32" on another day."""
    then = datetime.fromtimestamp(at)
    if then.date() == datetime.now().date():
        return f"at {then:%H:%M}"
    return f"on {then.day} {then:%B} at {then:%H:%M}"


def _write(session: Session) -> None:
    path = session_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    with safe_files.replacing(path) as file:
        values = {"version": VERSION, "at": time.time(), "window": session}
        file.write(json.dumps(values).encode())


def _draft(data: dict[str, Any]) -> WeightsDraft | None:
    """Parse the weights that were being typed; None where there are none."""
    cells, divisor, offset = data.get("cells"), data.get("divisor"), data.get("offset", "0")
    is_square = (
        isinstance(cells, list)
        and len(cells) % 2 == 1
        and all(isinstance(row, list) and len(row) == len(cells) for row in cells)
        and all(isinstance(text, str) for row in cells for text in row)
    )
    if not is_square or not isinstance(divisor, str) or not isinstance(offset, str):
        return None
    assert isinstance(cells, list)
    from workbench.panels.weights.weights_draft import WeightsDraft  # not needed at a start

    return WeightsDraft(tuple(map(tuple, cells)), divisor, offset)


def _of(data: Any, name: str, kind: type) -> Any:
    """Get a value of this kind, or an empty one."""
    value = data.get(name) if isinstance(data, dict) else None
    return value if isinstance(value, kind) else kind()
