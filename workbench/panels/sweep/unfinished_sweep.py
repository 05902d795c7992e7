"""The offer, once at the start, to resume a sweep that was left unfinished here."""

from __future__ import annotations

import time
from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from kernels.core.atomic_files import regular
from kernels.core.device import Device, NoDevice
from kernels.core.errors import SessionFileError
from kernels.core.locks import lock
from kernels.sweeps.session_files import read_session
from workbench.base.background import Background
from workbench.base.settings import Settings
from workbench.model.plan_words import short
from workbench.panels.sweep.shown_sessions import ShownSession
from workbench.panels.sweep.sweep_controller import SweepController
from workbench.session.session_store import can_grow, is_this_machine, saved_sessions
from workbench.session.worker import Worker
from workbench.widgets.lazy_panel import LazyPanel
from workbench.widgets.message_bar import MessageBar

if TYPE_CHECKING:
    from workbench.panels.sweep.sweep_panel import SweepPanel

RECENT_S = 7 * 24 * 3600
OFFERED = "offered"  # the setting with the names of files that were offered
MAX_OFFERED = 50


class UnfinishedSweep(QObject):
    """The search for an unfinished sweep, once in the background, and the offer to resume it."""

    def __init__(
        self,
        worker: Worker,
        background: Background,
        settings: Settings,
        sweep: LazyPanel[SweepPanel],
        controller: SweepController,
        messages: MessageBar,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._background, self._settings = background, settings
        self._sweep, self._controller, self._messages = sweep, controller, messages
        worker.device_found.connect(self._look)

    def _look(self, device: Device | NoDevice) -> None:
        self._background.run(
            partial(unfinished, device, self._offered, time.time()), self._offer, lambda _: None
        )

    @property
    def _offered(self) -> list[str]:
        return [each for each in self._settings.get(OFFERED, []) if isinstance(each, str)]

    def _offer(self, left: ShownSession | None) -> None:
        if left is None or left.path is None:
            return
        name, path = left.path.name, left.path
        others = [each for each in self._offered if each != name]
        self._settings.set(OFFERED, [*others, name][-MAX_OFFERED:])

        def resume() -> None:
            self._settings.set(OFFERED, others)  # offer it again if it is left again
            self._controller.resume(path)

        done = sum(record.is_complete for record in left.session.records)
        left_at = f"A sweep was left at {done:,} of {done + left.missing:,}"
        sentence = f"{left_at}: {short(left.session.plan)}."
        self._sweep.when_made(lambda panel: panel.offer(sentence, resume))
        panel = self._sweep.made
        if panel is None or not panel.isVisible():  # it is closed at the first start
            self._messages.show_message("info", sentence, actions=[("&Resume", resume)])


def unfinished(device: Device | NoDevice, but: Collection[str], now: float) -> ShownSession | None:
    """Return the newest session kept here that can be resumed; None where there is none.

    It lacks something, was measured on this machine in the last seven days, and is not being
    written to.

    device  this machine's
    but     names of files that do not count
    now     seconds since 1970
    """
    for path in saved_sessions():
        try:
            if path.name in but or not can_grow(path) or now - path.stat().st_mtime > RECENT_S:
                continue
            left = ShownSession(0, read_session(path), path)
            is_candidate = left.session.records and left.missing
            if is_candidate and is_this_machine(left.session.machine, device) and _is_free(path):
                return left
        except (SessionFileError, OSError):
            continue
    return None


def _is_free(path: Path) -> bool:
    with open(path, "rb", opener=regular) as file:
        return lock(file.fileno())
