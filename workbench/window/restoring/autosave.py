"""Keeps what a window shows while it is open, so that it outlives a crash."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

from numpy.typing import NDArray
from PySide6.QtCore import QObject, Qt, QTimer

from workbench.base.background import Background
from workbench.files.picture_refs import PictureRef
from workbench.model.state import Picture
from workbench.window.restoring.lockfiles import LockedFile
from workbench.window.restoring.snapshot import PinNotes, SnapshotContents, taken

HANDED_OVER = "handed over"  # to the next process, of one's own free will
MAX_BYTES = 256 << 20  # of a picture that came from no file
EVERY_MS = 1500  # so much of what was done may be lost


class Keeper(QObject):
    """Looks now and then whether the window shows something else, and if so writes that down on a
    thread of its own.  Begins with `start`."""

    def __init__(self, shown: SnapshotContents, place: LockedFile) -> None:
        super().__init__(shown.compare)
        self._shown, self._place = shown, place
        self._pins = PinNotes(shown.live, shown.store, shown.inspection)
        self._marks: dict[str, Any] = {}  # what is written down besides
        self._samples: weakref.ref[NDArray[Any]] | None = None  # of those that are kept
        self._last: dict[str, Any] | None = None
        self._writing = self._make_writer()
        self._timer = QTimer(self, interval=EVERY_MS, timerType=Qt.TimerType.CoarseTimer)
        self._timer.timeout.connect(self._look)

    def start(self) -> None:
        self._timer.start()

    def pause(self) -> None:
        """Stop until `start`: the window is not what the user left."""
        self._timer.stop()

    def hand_over(self) -> bool:
        """Write down what the window shows now, for the next process, which brings it back without
        a question; whether it could be written.  The window is to be closed then."""
        self._timer.stop()
        self._writing.close()  # which may have been writing
        try:
            self._place.write({**taken(self._shown, self._pins), HANDED_OVER: True})
        except OSError:
            self._go_on()
            return False
        self._place.close()
        self._marks = {HANDED_OVER: True}
        return True

    def take_back(self) -> None:
        """No next process came by itself: go on writing down what the window shows, for that which
        the user starts."""
        if self._place.hold():
            self._go_on()

    def close(self) -> None:
        """The window was closed as it should be: there will be nothing to bring back, unless it was
        handed over."""
        self._timer.stop()
        self._writing.close()
        if self._marks:
            self._place.close()
        else:
            self._place.remove()

    def _go_on(self) -> None:
        self._writing = self._make_writer()
        self._timer.start()

    def _make_writer(self) -> Background:
        writer = Background((OSError,), self)
        writer.broke.connect(self._shown.messages.show_bug)
        return writer

    def _look(self) -> None:
        shown = self._shown
        if not shown.compare.isVisible() or shown.presenting.stage is not None:
            return  # it is closing; or shows the steps of a talk, and is put back afterwards
        self._keep_samples(shown.store.state.picture)
        now = {**taken(shown, self._pins), **self._marks}
        if now != self._last:
            self._last = now
            # Where the disk is full, or gone, there will be nothing to bring back.
            self._write(partial(self._place.write, now))

    def _keep_samples(self, picture: Picture | None) -> None:
        """Keep those of a picture that there is no other way back to; once."""
        if picture is None or PictureRef.of(picture).can_load:
            return
        samples = picture.as_in_file
        is_kept = self._samples is not None and self._samples() is samples
        if not is_kept and samples.nbytes <= MAX_BYTES:
            self._samples = weakref.ref(samples)
            self._write(partial(self._place.write_samples, samples))

    def _write(self, work: Callable[[], None]) -> None:
        self._writing.run(work, lambda _: None, lambda _: None)
