"""The start after a crash: what another window left is brought back, or offered.

It simply comes back, and one sentence says so, with a way out. If the user asked for something
else, a picture or an option, that comes first, and the rest is offered.
"""

from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path
from typing import Any

from PySide6.QtCore import QTimer

from workbench.base.settings import Settings
from workbench.model import choices
from workbench.model.state import State
from workbench.window.intake.picture_intake import PictureIntake
from workbench.window.restoring import lockfiles
from workbench.window.restoring.autosave import HANDED_OVER, Keeper
from workbench.window.restoring.lockfiles import LockedFile
from workbench.window.restoring.restarter import Restarter
from workbench.window.restoring.snapshot import SnapshotContents

CALM_MS = 2000  # a window that lasts this long did not bring the crash back
NOT_AGAIN = (
    "Bringing back the last window ended the program, so it is not tried again; what it showed "
    "is written down in {}."
)


class Restoring:
    """The recovery of one process, made before its window.

    It is told to `begin` with the window and to `end` after it.

    settings   are given what the crashed window would have saved
    is_asked   whether the user asked for a picture or a filter: these are not changed unasked
    """

    def __init__(self, settings: Settings, *, is_asked: bool) -> None:
        self._is_asked = is_asked
        self._complaint = ""
        self._before = settings.get("choices", {})
        self._left, self._kept, self._at = self._claim()
        self._keeper: Keeper | None = None
        if self._left is None or not (is_asked or self._try()):
            return
        saved = self._kept.get("settings")
        for name, value in saved.items() if isinstance(saved, dict) else ():
            if not (is_asked and name == "choices"):
                settings.set(name, value)

    def begin(
        self,
        shown: SnapshotContents,
        intake: PictureIntake,
        restarter: Restarter,
        paths: list[Path],
    ) -> None:
        """Open `paths`, or what was left; from then on write down what is shown.

        restarter  is given the keeper, to hand over what it keeps
        """
        place = lockfiles.new_place()
        if place is not None:
            self._keeper = restarter.keeper = Keeper(shown, place)
        if self._left is not None and not self._is_asked:
            self._bring_back(shown)
            return
        intake.open_paths(paths)
        self._start_keeping()
        if self._complaint:
            shown.messages.show_message("warning", self._complaint)
        elif self._left is not None:
            self._offer(shown)

    def end(self) -> None:
        """Leave nothing behind: the window was closed normally."""
        if self._keeper is not None:
            self._keeper.close()
        self._forget()

    # -- inside

    def _claim(self) -> tuple[LockedFile | None, dict[str, Any], float]:
        """Return the newest file that was left, its content, and when that was written.

        Files that were tried before in vain are set aside.
        """
        for place in lockfiles.left(time.time()):
            found = place.read()
            if found is None:
                place.remove()
            elif found[2] >= lockfiles.TRIES:
                self._complaint = NOT_AGAIN.format(place.set_aside())
            else:
                return place, found[0], found[1]
        return None, {}, 0.0

    def _try(self) -> bool:
        """Write down that it is tried, and return whether that worked.

        Without that note a crash might repeat itself, so the file is given up.
        """
        try:
            assert self._left is not None
            self._left.write(self._kept, tries=1)
        except OSError:
            self._forget()
        return self._left is not None

    def _offer(self, shown: SnapshotContents) -> None:
        def accept() -> None:
            shown.messages.clear()
            if self._try():
                self._bring_back(shown)

        shown.messages.show_message(
            "warning",
            f"A window ended unexpectedly {in_words(self._at)}.",
            actions=[("&Yes, bring it back", accept)],
        )

    def _bring_back(self, shown: SnapshotContents) -> None:
        if self._keeper is not None:
            self._keeper.pause()
        assert self._left is not None
        from workbench.window.restoring.restore import BringingBack

        bringing = BringingBack(shown, self._kept, self._left)

        def say(complaint: str) -> None:
            QTimer.singleShot(CALM_MS, shown.compare, self._go_on)
            if HANDED_OVER in self._kept and not complaint:
                return
            shown.messages.show_message(
                "warning" if complaint else "info",
                f"This window ended unexpectedly {in_words(self._at)}, and is back as it was."
                + (" The pinned results were measured anew." if shown.inspection.pins else "")
                + (f" {complaint}" if complaint else ""),
                actions=[("&Just start afresh", lambda: self._start_afresh(shown))],
                stays=True,
            )

        bringing.done.connect(say)
        bringing.start()

    def _start_afresh(self, shown: SnapshotContents) -> None:
        """Show what a start without a crash would have shown; its choices can be undone."""
        shown.messages.clear()
        while shown.inspection.pins:
            shown.inspection.unpin()
        if shown.sweep.made is not None:
            shown.sweep.made.close_sessions()
        shown.compare.show_fit()
        fresh = choices.to_settings(State()) | self._before
        unchosen = {"chosen_implementation": None} if "implementation" not in fresh else {}
        shown.store.choose(**choices.from_data(fresh, State()), **unchosen)
        shown.opener.open_start_picture()

    def _go_on(self) -> None:
        """Continue normally: the window is back, and did not crash again."""
        self._forget()
        self._start_keeping()

    def _start_keeping(self) -> None:
        if self._keeper is not None:
            self._keeper.start()

    def _forget(self) -> None:
        if self._left is not None:
            self._left.remove()
            self._left = None


def in_words(at: float) -> str:
    """Return "at 14:32", or "on 20 November at 14:32" where that was another day."""
    then = datetime.fromtimestamp(at)
    if then.date() == datetime.now().date():
        return f"at {then:%H:%M}"
    return f"on {then.day} {then:%B} at {then:%H:%M}"
