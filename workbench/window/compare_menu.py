"""The menu for comparing pictures: modes, pinned results, and pixels that differ."""

from __future__ import annotations

from functools import partial
from typing import get_args

from workbench.model.state import ViewMode
from workbench.panels.compare.inspection import Inspection
from workbench.session.store import Store
from workbench.widgets.actions import Action

COMPARE_MENU = "&View/&Compare"


def actions(store: Store, inspection: Inspection) -> list[Action]:
    """Return the lines of the menu, in their order."""
    return [*_of_modes(store), *_of_differing_pixels(inspection), *_of_pins(inspection)]


def _of_modes(store: Store) -> list[Action]:
    def toggle(mode: ViewMode) -> None:
        is_on = store.state.view_mode == mode
        store.update(view_mode="result" if is_on else mode)

    def next_view() -> None:
        modes: tuple[ViewMode, ...] = get_args(ViewMode)
        store.update(view_mode=modes[(modes.index(store.state.view_mode) + 1) % len(modes)])

    def rotate_divider() -> None:
        divider = "upright" if store.state.divider == "level" else "level"
        store.update(view_mode="wipe", divider=divider)

    def change_difference() -> None:
        kind = "signed" if store.state.difference == "absolute" else "absolute"
        store.update(view_mode="difference", difference=kind)

    return [
        Action(
            *(COMPARE_MENU, "&Result", partial(store.update, view_mode="result"), ("E",)),
            "The filtered picture alone; hold Space for the original.",
        ),
        Action(
            *(COMPARE_MENU, "&Wipe", partial(toggle, "wipe"), ("W",)),
            "Before over after, with a divider to drag; again: the result.",
        ),
        Action(
            *(COMPARE_MENU, "Rotate divider", rotate_divider, ("Shift+W",)),
            "Wipe from left to right, or from top to bottom.",
        ),
        Action(
            *(COMPARE_MENU, "&Side by side", partial(toggle, "side"), ("S",)),
            "Before and after next to each other, or one above the other, whichever makes them "
            "larger; again: the result.",
        ),
        Action(
            *(COMPARE_MENU, "&Difference", partial(toggle, "difference"), ("D",)),
            "After minus before, or minus a pinned result; again: the result.",
        ),
        Action(
            *(COMPARE_MENU, "Absolute or signed difference", change_difference, ("Shift+D",)),
            "How much each channel differs, or which way: orange above, blue below.",
        ),
        Action(
            *(COMPARE_MENU, "&Mismatch", partial(toggle, "mismatch"), ("M",)),
            "Every pixel compared with the float64 reference; again: the result.",
        ),
        Action(
            *(COMPARE_MENU, "Next &view", next_view, ("V",)),
            "Result, wipe, side by side, difference, mismatch, and from the beginning.",
        ),
    ]


def _of_differing_pixels(inspection: Inspection) -> list[Action]:
    go_to = inspection.worked_out.go_to_differing
    return [
        Action(
            *(COMPARE_MENU, "&Next differing pixel", partial(go_to, 1), ("N",)),
            "Go to the next pixel that differs from the reference.",
        ),
        Action(
            *(COMPARE_MENU, "Pr&evious differing pixel", partial(go_to, -1), ("Shift+N",)),
            "Go to the one before.",
        ),
    ]


def _of_pins(inspection: Inspection) -> list[Action]:
    return [
        Action(
            *(COMPARE_MENU, "Pin this result", inspection.pin, ("K",)),
            "Keep it beside the next ones: up to four at once, zoomed and moved together.",
        ),
        Action(
            *(COMPARE_MENU, "Remove the last pinned result", inspection.unpin, ("Shift+K",)),
            "Forget the result that was pinned last.",
        ),
        Action(
            *(
                COMPARE_MENU,
                "Compare with the next pinned result",
                inspection.step_against,
                ("Shift+J",),
            ),
            "What wipe, difference and analysis hold the result against: the original, then each "
            "pinned result in turn.",
        ),
    ]
