"""The ways in which the window shows a picture, to be measured in each of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QTimer

from workbench.cli.real_window import Wait
from workbench.panels.compare.picture_view import PictureView
from workbench.window.main_window import MainWindow

POLL_MS = 5


@dataclass(frozen=True, slots=True)
class ViewMode:
    """A way to look at a picture.

    name     as printed
    view     the accessible name of the view in which there is something to see
    state    fields of State with their values
    pins     how many results are pinned beside the newest
    panel    of those on the right the one that is open; "" for none
    """

    name: str
    view: str = "After"
    view_mode: str = "result"
    divider: str = "upright"
    pins: int = 0
    panel: str = ""

    @contextmanager
    def on(self, window: MainWindow) -> Iterator[PictureView]:
        """Give the view, with the window in this mode and room for pictures; then put it back."""
        before, layout = window.store.state, window.docks.layout()
        for dock in window.docks.values():
            dock.hide()
        if self.panel:
            window.docks.bring_forward(self.panel)
        window.store.update(view_mode=self.view_mode, divider=self.divider)
        for _ in range(self.pins):
            window.inspection.pin()
        try:
            view = named_view(window, self.view)
            _wait_until_shown(window, view)
            yield view
        finally:
            for _ in range(self.pins):
                window.inspection.unpin()
            window.store.restore(before)
            window.docks.restore_layout(layout)


# The result first: what the others are compared with.
MODES = (
    ViewMode("result"),
    ViewMode("side by side", view_mode="side"),
    ViewMode("wipe", "Before and after", "wipe"),
    ViewMode("wipe down", "Before and after", "wipe", "level"),
    ViewMode("difference", "Comparison", "difference"),
    ViewMode("mismatch", "Comparison", "mismatch"),
    ViewMode("four results", view_mode="side", pins=3),
    ViewMode("this pixel", view_mode="side", panel="Pixel"),
    ViewMode("anatomy", view_mode="side", panel="Anatomy"),
    ViewMode("analysis", view_mode="side", panel="Analysis"),
)


def named_view(window: MainWindow, name: str) -> PictureView:
    """Return the one of the pictures' views with this accessible name."""
    views = window.compare.findChildren(PictureView)
    return next(view for view in views if view.accessibleName() == name)


def _wait_until_shown(window: MainWindow, view: PictureView) -> None:
    """Wait until the view is on the screen and has a picture."""
    wait: Any = Wait(window)
    poll = QTimer()
    poll.timeout.connect(
        lambda: wait.end(None) if view.isVisible() and view.display is not None else None
    )
    wait.until_ended(lambda: poll.start(POLL_MS))
