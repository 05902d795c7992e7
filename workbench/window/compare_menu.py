"""The lines of the menu for comparing pictures: modes, pinned results, and pixels that differ."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from workbench.model.state import ViewMode
from workbench.widgets.actions import Action

if TYPE_CHECKING:
    from workbench.window.main_window import MainWindow

MENU = "&View/&Compare"


def actions(window: MainWindow) -> list[Action]:
    """The lines, in their order."""
    return [*_of_modes(window), *_of_differing_pixels(window), *_of_pins(window)]


def _of_modes(window: MainWindow) -> list[Action]:
    def toggle(mode: ViewMode) -> None:
        is_on = window.store.state.view_mode == mode
        window.store.update(view_mode="side" if is_on else mode)

    def turn_divider() -> None:
        divider = "upright" if window.store.state.divider == "level" else "level"
        window.store.update(view_mode="wipe", divider=divider)

    def turn_difference() -> None:
        kind = "signed" if window.store.state.difference == "absolute" else "absolute"
        window.store.update(view_mode="difference", difference=kind)

    return [
        Action(
            *(MENU, "&Side by side or wipe", partial(toggle, "wipe"), ("W",)),
            "Before and after next to each other, or one over the other with a divider.",
        ),
        Action(
            *(MENU, "Turn the divider", turn_divider, ("Shift+W",)),
            "Wipe from left to right, or from top to bottom.",
        ),
        Action(
            *(MENU, "&Difference", partial(toggle, "difference"), ("D",)),
            "After minus before, or minus a pinned result; again: side by side.",
        ),
        Action(
            *(MENU, "Absolute or signed difference", turn_difference, ("Shift+D",)),
            "How much each channel differs, or which way: orange above, blue below.",
        ),
        Action(
            *(MENU, "&Mismatch", partial(toggle, "mismatch"), ("M",)),
            "Every pixel held against the float64 oracle; again: side by side.",
        ),
    ]


def _of_differing_pixels(window: MainWindow) -> list[Action]:
    go_to = window.inspection.worked_out.go_to_differing
    return [
        Action(
            *(MENU, "&Next differing pixel", partial(go_to, 1), ("N",)),
            "Go to the next pixel that is not what the oracle says.",
        ),
        Action(
            *(MENU, "Pr&evious differing pixel", partial(go_to, -1), ("Shift+N",)),
            "Go to the one before.",
        ),
    ]


def _of_pins(window: MainWindow) -> list[Action]:
    inspection = window.inspection
    return [
        Action(
            *(MENU, "Pin this result", inspection.pin, ("K",)),
            "Keep it beside the next ones: up to four at once, zoomed and moved together.",
        ),
        Action(
            *(MENU, "Remove the last pinned result", inspection.unpin, ("Shift+K",)),
            "Forget the result that was pinned last.",
        ),
        Action(
            *(MENU, "Compare with the next pinned result", inspection.step_against, ("Shift+J",)),
            "What wipe, difference and analysis hold the result against: the original, then each "
            "pinned result in turn.",
        ),
    ]
