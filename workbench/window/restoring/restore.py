"""The way back of a window to what another one left: step by step, as a user would."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from kernels.rungs.own_kernels import is_own
from workbench.files.picture_errors import ImageFileError
from workbench.files.picture_refs import PictureRef
from workbench.model import choices, intents
from workbench.model.state import Picture
from workbench.panels.compare.pins import MAX_PINS
from workbench.panels.weights.weights_draft import WeightsDraft
from workbench.window.restoring.lockfiles import LockedFile
from workbench.window.restoring.snapshot import SnapshotContents

NO_PIN = "A pinned result is not back: {reason}"
GONE = "{} came from no file, and is gone."
MAX_SESSIONS = 50
MAX_MS = 60_000  # for each step


class BringingBack(QObject):
    """A sequence that brings back picture, pins, place, sessions and weights, one after another.

    lost  a sentence for each thing that is not back since a kernel of the user's own is not what
          it was

    Signals:
        done(complaint): all is there, but for what this sentence says; "" for nothing.
    """

    done = Signal(str)

    def __init__(
        self, shown: SnapshotContents, kept: dict[str, Any], place: LockedFile | None = None
    ) -> None:
        """Prepare to bring back what was `kept`.

        place  where the samples of a picture that came from no file are; None: the user's own
               picture and pins stay where those that were kept are not there
        """
        super().__init__(shown.compare)
        self._shown, self._kept, self._place = shown, kept, place
        self.lost: list[str] = []
        self._complaint = ""
        self._steps = self._all_steps()
        self._later = QTimer(self, singleShot=True, interval=MAX_MS)
        self._later.timeout.connect(self._give_up)
        self._is_hopeless = self._is_over = False

    def start(self) -> None:
        """Begin the first step; `done` tells the end."""
        shown, queued = self._shown, Qt.ConnectionType.QueuedConnection  # never during a step
        shown.live.settled.connect(self._go_on, queued)
        shown.live.refused.connect(self._give_up, queued)
        shown.opener.failed.connect(self._no_picture, queued)
        self._go_on()

    # -- the steps; at a `yield` they wait until something has come of what was asked for

    def _all_steps(self) -> Iterator[None]:
        shown, kept = self._shown, self._kept
        settings = kept.get("settings")
        wanted = choices.from_data(_of(settings, "choices", dict), shown.store.state)
        yield from self._read_kernels()
        if reason := self._why_no_kernel(wanted, None):
            del wanted["implementation"]
            self.lost.append(reason)
        with self._quietly():
            shown.store.choose(**wanted)
        if self._place is not None or "picture" in kept:
            yield from self._open_picture(PictureRef.from_data(kept.get("picture")))
        for data in _of(kept, "pins", list)[:MAX_PINS]:
            if not self._is_pinned(data):
                yield from self._pin(data)
        with self._quietly():
            state = shown.store.state
            changes = dict(wanted)
            if (device := shown.worker.device) is not None:  # as before the pins, with their own
                changes["implementation"] = intents.implementation_for(state, device)
            levels = kept.get("levels")
            if isinstance(levels, list) and len(levels) == 2:
                with suppress(TypeError, ValueError):
                    changes["levels"] = (float(levels[0]), float(levels[1]))
            shown.store.update(**changes)
        if "view" in kept:
            shown.compare.restore(_of(kept, "view", dict))
        match kept.get("pixel"):
            case [int() as x, int() as y]:
                shown.pixel.get().show_pixel((x, y))
        against = kept.get("against")
        if isinstance(against, int) and 0 < against <= len(shown.inspection.pins):
            shown.inspection.set_against(against)
        yield from self._open_sessions()
        self._draw_weights()

    def _open_picture(self, ref: PictureRef | None) -> Iterator[None]:
        opener, before = self._shown.opener, self._shown.store.state.picture
        if ref is not None and ref.path is not None:
            opener.open_file(ref.path)
        elif ref is not None and ref.built_in is not None:
            opener.open_built_in(ref.built_in)
        elif name := _of(self._kept.get("picture"), "name", str):
            self._open_samples(name)
        else:
            opener.open_start_picture()
        yield from self._until(lambda: self._shown.store.state.picture is not before)
        yield from self._until(self._is_answered)

    def _open_samples(self, name: str) -> None:
        """Open the samples of a picture that came from no file."""
        pixel_type = self._shown.store.state.pixel_type

        def load() -> Picture:
            try:
                assert self._place is not None  # a screenshot names files alone
                return Picture(name, self._place.read_samples()).stored_as(pixel_type)
            except OSError as error:
                raise ImageFileError(GONE.format(name)) from error

        self._shown.background.run(
            load, self._shown.opener.opened.emit, lambda error: self._no_picture(str(error))
        )

    def _is_pinned(self, data: Any) -> bool:
        """Return whether the window has this pin already, or no room for it."""
        shown = self._shown
        if self._place is not None:
            return False
        there = json.loads(json.dumps(shown.memory.pin_notes.choices()))
        return data in there or len(shown.inspection.pins) == MAX_PINS

    def _pin(self, data: Any) -> Iterator[None]:
        shown = self._shown
        changes = choices.from_data(data if isinstance(data, dict) else {}, shown.store.state)
        changes.pop("view_mode", None)
        if reason := self._why_no_kernel(changes, _of(data, choices.TEXT, str)):
            self.lost.append(NO_PIN.format(reason=reason))
            return
        with self._quietly():
            shown.store.update(**changes)
        yield from self._until(self._is_answered)
        # The window's own pins of this picture may have come back meanwhile.
        if self._is_answered() and not self._is_pinned(data):
            shown.inspection.pin()

    def _read_kernels(self) -> Iterator[None]:
        """Find out which kernels of the user's own there are."""
        self._shown.kernels.look()
        yield from self._caught_up()

    def _why_no_kernel(self, wanted: dict[str, Any], text_sha256: str | None) -> str | None:
        """Return why a kernel of the user's own, if one is wanted, cannot be what it was.

        text_sha256  None, or empty: whatever its text is
        """
        name = wanted.get("implementation", "")
        if not is_own(name):
            return None
        kernels = self._shown.kernels
        return kernels.why_another(name, text_sha256) if text_sha256 else kernels.why_gone(name)

    def _open_sessions(self) -> Iterator[None]:
        shown = self._shown
        paths = [each for each in _of(self._kept, "sessions", list) if isinstance(each, str)]
        if not paths:
            return
        for path in paths[:MAX_SESSIONS]:
            shown.sessions.open(Path(path))
        yield from self._caught_up()
        sweep = shown.sweep.get()
        sweep.draw_now()
        if isinstance(kind := self._kept.get("chart"), str):
            sweep.chart.show_kind(kind)

    def _draw_weights(self) -> None:
        data = _of(self._kept, "weights", dict)
        cells, divisor, offset = data.get("cells"), data.get("divisor"), data.get("offset", "0")
        if _is_square(cells) and isinstance(divisor, str) and isinstance(offset, str):
            assert isinstance(cells, list)
            self._shown.weights.get().editor.draw(
                WeightsDraft(tuple(map(tuple, cells)), divisor, offset)
            )

    # -- going on

    def _caught_up(self) -> Iterator[None]:
        """Wait for what the background was asked for: it does one thing after another."""
        done: list[None] = []

        def go_on(_: Any) -> None:
            done.append(None)
            self._go_on()

        self._shown.background.run(lambda: None, go_on, lambda _: None)
        yield from self._until(lambda: bool(done))

    def _until(self, is_so: Callable[[], bool]) -> Iterator[None]:
        self._is_hopeless = False
        while not is_so() and not self._is_hopeless:
            yield

    def _is_answered(self) -> bool:
        """Return whether the newest result answers the present choices."""
        result = self._shown.live.result
        return result is not None and intents.is_answer(result, self._shown.store.state)

    @Slot()
    def _give_up(self) -> None:
        """Stop waiting for something that will not come; the window says why."""
        self._is_hopeless = True
        self._go_on()

    @Slot()
    def _go_on(self) -> None:
        if self._is_over:
            return
        self._later.start()
        if next(self._steps, self) is self:
            self._is_over = True
            self._later.stop()
            self.done.emit(" ".join(filter(None, (self._complaint, *self.lost))))

    @Slot(str)
    def _no_picture(self, sentence: str) -> None:
        """Open the start picture in place of one that cannot be opened."""
        if self._is_over or self._complaint:
            return
        self._complaint = sentence
        if self._place is not None:
            self._shown.opener.open_start_picture()
        else:
            self._give_up()

    @contextmanager
    def _quietly(self) -> Iterator[None]:
        with self._shown.undo_history.quietly():
            yield


def bring_back_screenshot(shown: SnapshotContents, kept: dict[str, Any]) -> None:
    """Bring back the picture and the pins that a screenshot of a window was made with."""
    bringing = BringingBack(shown, kept)

    def say() -> None:
        if bringing.lost:
            shown.messages.show_message("warning", " ".join(bringing.lost))

    bringing.done.connect(say)
    bringing.start()


def _of(data: Any, name: str, kind: type) -> Any:
    """Return the value called `name`, or an empty one where there is none of that kind."""
    value = data.get(name) if isinstance(data, dict) else None
    return value if isinstance(value, kind) else kind()


def _is_square(cells: Any) -> bool:
    return (
        isinstance(cells, list)
        and len(cells) % 2 == 1
        and all(isinstance(row, list) and len(row) == len(cells) for row in cells)
        and all(isinstance(text, str) for row in cells for text in row)
    )
