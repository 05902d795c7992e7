"""The menu for comparing pictures: modes, pinned results, and pixels that differ."""

from __future__ import annotations

from functools import partial

from workbench.model.state import ViewMode
from workbench.panels.compare.inspection import Inspection
from workbench.session.store import Store
from workbench.widgets.actions import Action

MENU = "&View/&Compare"


def actions(store: Store, inspection: Inspection) -> list[Action]:
    """Return the lines of the menu, in their order."""
    return [*_of_modes(store), *_of_differing_pixels(inspection), *_of_pins(inspection)]


def _of_modes(store: Store) -> list[Action]:
    def toggle(mode: ViewMode) -> None:
        is_on = store.state.view_mode == mode
        store.update(view_mode="side" if is_on else mode)

    def turn_divider() -> None:
        divider = "upright" if store.state.divider == "level" else "level"
        store.update(view_mode="wipe", divider=divider)

    def turn_difference() -> None:
        kind = "signed" if store.state.difference == "absolute" else "absolute"
        store.update(view_mode="difference", difference=kind)

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


def _of_differing_pixels(inspection: Inspection) -> list[Action]:
    go_to = inspection.worked_out.go_to_differing
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


def _of_pins(inspection: Inspection) -> list[Action]:
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
