"""Settings that outlive the window, and the picture and pins of a screenshot."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from platformdirs import user_state_dir
from PySide6.QtCore import QObject, Qt, QTimer, Slot

from kernels.core import plain_data, safe_files
from kernels.rungs.own_kernels import is_own, text_hash
from workbench.base.background import Background
from workbench.base.settings import DIRECTORY_VARIABLE
from workbench.files.image_files import PictureRef
from workbench.model import choices, intents
from workbench.model.state import FACTS, State
from workbench.panels.compare.inspection import Inspection
from workbench.panels.compare.wipe_view import MAX_PINS
from workbench.widgets.lazy_panel import LazyPanel
from workbench.window.window_layout import Parts

if TYPE_CHECKING:
    from workbench.panels.weights.weights_draft import WeightsDraft
    from workbench.panels.weights.weights_editor import WeightsEditor

FOLDERS = {
    "folder": "where the last picture was",
    "save-folder": "where the last one was saved",
    "kodak-folder": "which had the Kodak pictures",
}
TOLD_GONE = "told-gone-folders"  # the setting with those that it was said of


class Memory:
    """A keeper of the settings: it collects them, saves them, and resets them."""

    def __init__(self, parts: Parts, inspection: Inspection) -> None:
        self._store, self._worker, self._inspection = parts.store, parts.worker, inspection
        self._docks, self._layout, self._settings = parts.docks, parts.layout, parts.settings
        self._live = parts.live

    def for_screenshot(self) -> dict[str, Any]:
        """Data in a screenshot: the choices, a built-in picture's key, a user kernel's hash."""
        picture = self._store.state.picture
        built_in = picture.built_in if picture else None
        kept = {**choices.to_data(self._store.state), "built_in": built_in}
        own = intents.own_text(self._store.state)
        return {**kept, choices.TEXT: text_hash(own)} if own else kept

    def for_window_screenshot(self) -> dict[str, Any]:
        """Data in a screenshot of the window: also where its picture is, and its pins."""
        picture = self._store.state.picture
        ref = PictureRef.of(picture) if picture is not None else None
        return {
            **self.for_screenshot(),
            "picture": ref.to_data() if ref is not None else None,
            "pins": [self._live.choices_of(pin.result) for pin in self._inspection.pins],
            "against": self._inspection.against,
        }

    def for_settings(self) -> dict[str, Any]:
        """Everything that the next start takes up, by names in the settings."""
        return {
            **self._settings.values(),
            "choices": choices.to_settings(self._store.state),
            **self._docks.choices(),
            **self._layout.choices(),
        }

    def take_up_layout(self) -> None:
        """Arrange the panels and the window as in the settings."""
        self._docks.restore(self._settings.get)
        self._layout.restore(self._settings.get)

    def save(self) -> str:
        """Write all settings; return why that failed, or ""."""
        for name, value in self.for_settings().items():
            self._settings.set(name, value)
        return self._settings.save()

    def look_for_folders(self, background: Background, say: Callable[[str], None]) -> None:
        """Say once which folders are gone; they stay remembered, as a disk may come back."""
        kept = {name: folder for name in FOLDERS if (folder := self._settings.get(name, ""))}
        told = self._settings.get(TOLD_GONE, [])

        def tell(gone: list[str]) -> None:
            for name in gone:
                if kept[name] not in told:
                    say(f"The folder {kept[name]}, {FOLDERS[name]}, is not there any more.")
            self._settings.set(TOLD_GONE, [kept[name] for name in gone])

        if kept:
            background.run(partial(_gone, kept), tell, lambda _: None)

    def forget(self) -> None:
        """Reset settings, choices and layout to those of a first start; the picture stays."""
        self._settings.forget()
        state, device = self._store.state, self._worker.device
        fresh = State(picture=state.picture, levels=state.levels, tone=state.tone)
        if device is not None:
            best = intents.implementation_for(fresh, device)
            fresh = replace(fresh, implementation=best)
        self._store.restore(fresh)
        self._inspection.forget()
        self._docks.forget()
        self._layout.forget()


def _gone(folders: Mapping[str, str]) -> list[str]:
    return [name for name, folder in folders.items() if not os.path.isdir(folder)]  # noqa: PTH112 - Path's raises


NO_PIN = "A pinned result is not restored: {reason}"


class ScreenshotRestore(QObject):
    """Opens the picture of a screenshot, then makes its pinned results anew, one by one.

    The present choices, which came with the screenshot, are there again at the end.
    """

    def __init__(self, parts: Parts, inspection: Inspection) -> None:
        super().__init__(parts.window)
        self._store, self._worker, self._live = parts.store, parts.worker, parts.live
        self._opener, self._kernels, self._inspection = parts.opener, parts.kernels, inspection
        self._undo_history, self._messages = parts.undo, parts.messages
        self._steps: Iterator[None] = iter(())
        self._lost: list[str] = []  # a sentence for each pin that cannot be restored
        self._is_hopeless = False  # the awaited result will not come
        queued = Qt.ConnectionType.QueuedConnection  # never during a step
        parts.live.settled.connect(self._continue, queued)
        parts.live.refused.connect(self._give_up, queued)
        parts.opener.failed.connect(self._give_up, queued)

    def start(self, kept: dict[str, Any]) -> None:
        """Begin with what a screenshot holds, in place of another one under way."""
        self._lost = []
        self._steps = self._all_steps(kept)
        self._continue()

    def _all_steps(self, kept: dict[str, Any]) -> Iterator[None]:
        """Do one step after another; at a `yield` wait for a result."""
        store, inspection = self._store, self._inspection
        wanted = choices.from_data(choices.to_data(store.state), store.state)
        yield from self._open_picture(PictureRef.from_data(kept.get("picture")))
        pins = kept.get("pins")
        for data in pins[:MAX_PINS] if isinstance(pins, list) else ():
            if isinstance(data, dict) and not self._is_pinned(data):
                yield from self._pin(data)
        changes = dict(wanted)
        if (device := self._worker.device) is not None:
            changes["implementation"] = intents.implementation_for(store.state, device)
        with self._undo_history.quietly():
            store.update(**changes)
        against = kept.get("against")
        if isinstance(against, int) and 0 < against <= len(inspection.pins):
            inspection.set_against(against)
        if self._lost:
            self._messages.show_message("warning", " ".join(self._lost))

    def _open_picture(self, ref: PictureRef | None) -> Iterator[None]:
        before = self._store.state.picture
        if ref is not None:
            self._opener.open_ref(ref)
        else:
            self._opener.open_built_in()
        yield from self._until(lambda: self._store.state.picture is not before)
        yield from self._until(self._is_answered)

    def _pin(self, data: dict[str, Any]) -> Iterator[None]:
        changes = choices.from_data(data, self._store.state)
        changes.pop("view_mode", None)
        name, text_sha256 = changes.get("implementation", ""), data.get(choices.TEXT)
        if is_own(name) and (reason := self._kernels.why_another(name, text_sha256)):
            self._lost.append(NO_PIN.format(reason=reason))
            return
        with self._undo_history.quietly():
            self._store.update(**changes)
        yield from self._until(self._is_answered)
        # The window's own pins of this picture may have come back meanwhile.
        if self._is_answered() and not self._is_pinned(data):
            self._inspection.pin()

    def _is_pinned(self, data: dict[str, Any]) -> bool:
        """True for the same pin in the window, or without room."""
        pins = self._inspection.pins
        there = [json.loads(json.dumps(self._live.choices_of(pin.result))) for pin in pins]
        return len(pins) == MAX_PINS or _unviewed(data) in map(_unviewed, there)

    def _until(self, is_so: Callable[[], bool]) -> Iterator[None]:
        self._is_hopeless = False
        while not is_so() and not self._is_hopeless:
            yield

    def _is_answered(self) -> bool:
        """Check that the newest result is one of the present choices."""
        result = self._live.result
        return result is not None and intents.is_answer(result, self._store.state)

    @Slot()
    def _continue(self) -> None:
        next(self._steps, None)

    @Slot()
    def _give_up(self) -> None:
        """Stop waiting for a result; the window says why there is none."""
        self._is_hopeless = True
        self._continue()


def _unviewed(data: dict[str, Any]) -> dict[str, Any]:
    return {name: v for name, v in data.items() if name not in FACTS or not FACTS[name].is_view}


VERSION = 1
EVERY_MS = 1500  # at most this much work is lost
MAX_SESSION_BYTES = 16 << 20
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
        self._writing = Background((OSError,), self)
        self._writing.run(read_session_file, self._offer, lambda _: None)  # before it is written
        self._timer.setInterval(EVERY_MS)
        self._timer.start()

    def _offer(self, found: tuple[Session, float] | None) -> None:
        if found is not None:
            session, at = found
            restore = ("&Restore it", partial(self._restore, session))
            sentence = LEFT.format(f"{datetime.fromtimestamp(at):on %d %B at %H:%M}")
            self._messages.show_message("warning", sentence, actions=[restore], stays=True)

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
        is_known = picture is not None and PictureRef.of(picture).can_load
        is_drawing = panel is not None and panel.isVisible()
        return {
            "settings": self._memory.for_settings(),
            "picture": PictureRef.of(picture).to_data() if picture is not None else None,
            "region": self._store.state.region if is_known else None,
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
        kept = {**_of(settings, "choices", dict), "region": session.get("region")}
        self._store.choose(**choices.from_data(kept, self._store.state))
        self._open_picture(session.get("picture"))
        for path in _of(session, "sessions", list)[:MAX_SESSIONS]:
            if isinstance(path, str):
                self._sessions.open(Path(path))
        if (draft := _draft(_of(session, "weights", dict))) is not None:
            self._weights.get().draw(draft)

    def _open_picture(self, data: Any) -> None:
        ref = PictureRef.from_data(data)
        if ref is not None:
            self._opener.open_ref(ref)
        elif name := _of(data, "name", str):
            self._messages.show_message("warning", GONE.format(name))


def session_path() -> Path:
    """Session file in the user's folder for state, or in FILTER_WORKBENCH_CONFIG."""
    chosen = os.environ.get(DIRECTORY_VARIABLE) or user_state_dir("filter-workbench")
    return Path(chosen) / "session.json"


def read_session_file() -> tuple[Session, float] | None:
    """Read the session and its time in seconds since 1970; None without one."""
    path = session_path()
    try:
        if path.stat().st_size > MAX_SESSION_BYTES:
            return None
        with open(path, "rb", opener=safe_files.regular) as file:
            values = plain_data.parse_json(file.read())
        session, at = values["window"], float(values["at"])
        datetime.fromtimestamp(at)  # a clock may have been far off
        is_known = values["version"] == VERSION and isinstance(session, dict)
        return (session, at) if is_known else None
    except (OSError, ValueError, ArithmeticError, KeyError, TypeError):
        return None


def _write(session: Session) -> None:
    path = session_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    with safe_files.replacing(path) as file:
        values = {"version": VERSION, "at": time.time(), "window": session}
        file.write(json.dumps(values).encode())


def _draft(data: dict[str, Any]) -> WeightsDraft | None:
    """Parse the weights that were being typed; None where there are none."""
    from workbench.panels.weights.weights_draft import WeightsDraft  # not needed at a start

    try:
        draft = plain_data.from_plain(WeightsDraft, data)
    except ValueError:
        return None
    size = len(draft.cells)
    return draft if size % 2 and all(len(row) == size for row in draft.cells) else None


def _of(data: Any, name: str, kind: type) -> Any:
    """Get a value of this kind, or an empty one."""
    value = data.get(name) if isinstance(data, dict) else None
    return value if isinstance(value, kind) else kind()
