"""A watch on a file that reports a change once the file has come to rest."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal

from workbench.base.background import Background

STEADY_MS = 5  # a file that is the same for so long is written
SETTLE_MS = 100  # one that is empty, or gone, is for so long: an editor puts another in its place

Stamp = tuple[int, int, int] | None  # of its contents; None: it is not there


class FileWatch(QObject):
    """A watch on one file and on its folder, since editors put another file in its place.

    Signals:
        changed(): it, or its folder, is another, and has come to rest.
    """

    changed = Signal()

    def __init__(self, background: Background, parent: QObject | None = None) -> None:
        """Make the watch.

        background  looks at the file, whose disk may be slow
        """
        super().__init__(parent)
        self._background = background
        self._path: Path | None = None
        self._stamp: Stamp = None
        self._watcher = QFileSystemWatcher(self)
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(lambda: self._look(after_rest=True))
        self._watcher.fileChanged.connect(lambda _: self._look())
        self._watcher.directoryChanged.connect(lambda _: self._look())

    def begin(self, path: Path | None) -> None:
        """Watch this file from now on; None: nothing.  Notices of another are dropped."""
        self._timer.stop()
        self._path = path
        self._watch([])
        if path is not None:
            self.renew(self._look)  # what was written until it is watched

    def renew(self, then: Callable[[], None] = lambda: None) -> None:
        """Watch it again: one that was replaced is out of sight."""
        path = self._path

        def watch(there: list[str]) -> None:
            if path == self._path:
                self._watch(there)
                then()

        if path is not None:
            self._background.run(partial(_there, path), watch, lambda _: None)

    def _watch(self, wanted: list[str]) -> None:
        watched = [*self._watcher.files(), *self._watcher.directories()]
        if gone := [each for each in watched if each not in wanted]:
            self._watcher.removePaths(gone)
        if missing := [each for each in wanted if each not in watched]:
            self._watcher.addPaths(missing)

    def _look(self, *, after_rest: bool = False) -> None:
        """Look at the file, and again after a rest, in which it has to stay the same."""
        path = self._path
        self._timer.stop()

        def take(found: Stamp) -> None:
            if path != self._path:
                return
            if after_rest and found == self._stamp:
                self.changed.emit()
                return
            self._stamp = found
            is_written = found is not None and found[0] > 0
            self._timer.start(STEADY_MS if is_written else SETTLE_MS)

        self._background.run(partial(_stamp_of, path), take, lambda _: None)


def _there(path: Path) -> list[str]:
    return [str(each) for each in (path, path.parent) if os.path.exists(each)]  # noqa: PTH110 - Path's may raise


def _stamp_of(path: Path | None) -> Stamp:
    try:
        found = path.stat() if path is not None else None
    except (OSError, ValueError):
        return None
    return found and (found.st_size, found.st_mtime_ns, found.st_ino)
