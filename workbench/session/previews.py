"""Previews of what takes long, on a thread of their own; only the newest request counts."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from kernels.core.job import Job
from kernels.cpu.preview import preview
from workbench.base.background import Background
from workbench.imaging.display import Display
from workbench.imaging.display_mapping import DisplayMapping
from workbench.imaging.showing import show


class Previews(QObject):
    """A thread that previews one job; of those requested meanwhile only the newest waits.

    Signals:
        ended(job, look, display): a preview with this look; display is None where there is none.
    """

    ended = Signal(object, object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._background = Background((), self)
        self._wanted: tuple[Job, DisplayMapping] | None = None
        self._running: tuple[Job, DisplayMapping] | None = None

    def request(self, job: Job, look: DisplayMapping) -> None:
        """Compute a preview of `job` next, in place of one that still waits."""
        self._wanted = job, look
        self._begin()

    def forget(self) -> None:
        """Drop the request that still waits."""
        self._wanted = None

    def close(self) -> None:
        """Let what runs finish, and wait for the thread to end."""
        self._wanted = None
        self._background.close()

    def _begin(self) -> None:
        if self._running is not None or self._wanted is None:
            return
        self._running, self._wanted = self._wanted, None
        job, look = self._running
        # Without room for a preview there is none; whether there is for the job, it says itself.
        self._background.run(
            lambda: _shown(job, look),
            self._end,
            lambda _: self._end(None),
            lambda: self._end(None),
        )

    def _end(self, display: Display | None) -> None:
        if self._running is None:
            return
        (job, look), self._running = self._running, None
        self.ended.emit(job, look, display)
        self._begin()


def _shown(job: Job, look: DisplayMapping) -> Display | None:
    previewed = preview(job)
    return None if previewed is None else show(previewed, look)
