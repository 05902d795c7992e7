"""A file that is watched: whoever waits for it is told once what was written has come to rest."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal, Slot

STEADY_MS = 5  # a file that is the same for so long is written
SETTLE_MS = 100  # one that is empty, or gone, is for so long: an editor puts another in its place

Stamp = tuple[int, int, int] | None  # of its contents; None: it is not there


class FileWatch(QObject):
    """A watch on one file and on its folder, since editors put another file in its place.

    Signals:
        changed(): it, or its folder, is another, and has come to rest.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._path: Path | None = None
        self._stamp: Stamp = None
        self._steady_ms = 0
        self._watcher = QFileSystemWatcher(self)
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._settle)
        self._watcher.fileChanged.connect(lambda _: self._notice())
        self._watcher.directoryChanged.connect(lambda _: self._notice())

    def begin(self, path: Path | None) -> None:
        """Watch this file from now on; None: nothing.  What was noticed of another is dropped."""
        self._timer.stop()
        self._path = path
        self.renew()

    def renew(self) -> None:
        """Watch it again: one that was replaced is out of sight."""
        path = self._path
        wanted = [] if path is None else [str(path), str(path.parent)]
        watched = [*self._watcher.files(), *self._watcher.directories()]
        if gone := [each for each in watched if each not in wanted]:
            self._watcher.removePaths(gone)
        missing = [each for each in wanted if each not in watched and Path(each).exists()]
        if missing:
            self._watcher.addPaths(missing)

    def _notice(self) -> None:
        self._stamp, self._steady_ms = self._found(), 0
        self._timer.start(STEADY_MS)

    @Slot()
    def _settle(self) -> None:
        found = self._found()
        self._steady_ms = self._steady_ms + STEADY_MS if found == self._stamp else 0
        self._stamp = found
        is_written = found is not None and found[0] > 0
        if self._steady_ms >= (STEADY_MS if is_written else SETTLE_MS):
            self.changed.emit()
        else:
            self._timer.start(STEADY_MS)

    def _found(self) -> Stamp:
        try:
            found = self._path.stat() if self._path is not None else None
        except OSError:
            return None
        return found and (found.st_size, found.st_mtime_ns, found.st_ino)
