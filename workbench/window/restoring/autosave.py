"""An autosave of what a window shows while it is open, so that it outlives a crash."""

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
from workbench.window.restoring.snapshot import SnapshotContents, taken

HANDED_OVER = "handed over"  # to the next process, on the user's request
MAX_BYTES = 256 << 20  # of a picture that came from no file
EVERY_MS = 1500  # at most this much work is lost


class Keeper(QObject):
    """A watcher that writes down what the window shows whenever it shows something else.

    It begins with `start`, looks every EVERY_MS milliseconds, and writes on a thread of its own.
    """

    def __init__(self, shown: SnapshotContents, place: LockedFile) -> None:
        super().__init__(shown.compare)
        self._shown, self._place = shown, place
        self._pins = shown.memory.pin_notes
        self._marks: dict[str, Any] = {}  # marks that are written down as well
        self._samples: weakref.ref[NDArray[Any]] | None = None  # the samples that are kept
        self._last: dict[str, Any] | None = None
        self._writing = self._make_writer()
        self._timer = QTimer(self, interval=EVERY_MS, timerType=Qt.TimerType.CoarseTimer)
        self._timer.timeout.connect(self._look)

    def start(self) -> None:
        """Start to look, or go on."""
        self._timer.start()

    def pause(self) -> None:
        """Stop looking until `start`: the window is not what the user left."""
        self._timer.stop()

    def hand_over(self) -> bool:
        """Write down what the window shows for the next process; return whether that worked.

        That process brings it back without a question. The window is to be closed then.
        """
        self._timer.stop()
        self._writing.close()  # it may have been writing
        try:
            self._place.write({**taken(self._shown, self._pins), HANDED_OVER: True})
        except OSError:
            self._go_on()
            return False
        self._place.close()
        self._marks = {HANDED_OVER: True}
        return True

    def take_back(self) -> None:
        """Go on writing after a `hand_over` to a process that did not start.

        What the window shows is then for the process that the user starts.
        """
        if self._place.hold():
            self._go_on()

    def close(self) -> None:
        """End: the window was closed normally, so there is nothing to bring back.

        What was handed over stays.
        """
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
        if not shown.compare.isVisible() or shown.presenter.stage is not None:
            return  # it is closing, or shows the steps of a talk and is put back afterwards
        self._keep_samples(shown.store.state.picture)
        now = {**taken(shown, self._pins), **self._marks}
        if now != self._last:
            self._last = now
            # If the disk is full or gone, there will be nothing to bring back.
            self._write(partial(self._place.write, now))

    def _keep_samples(self, picture: Picture | None) -> None:
        """Write down, once, the samples of a picture that there is no other way back to."""
        if picture is None or PictureRef.of(picture).can_load:
            return
        samples = picture.as_in_file
        is_kept = self._samples is not None and self._samples() is samples
        if not is_kept and samples.nbytes <= MAX_BYTES:
            self._samples = weakref.ref(samples)
            self._write(partial(self._place.write_samples, samples))

    def _write(self, work: Callable[[], None]) -> None:
        self._writing.run(work, lambda _: None, lambda _: None)
