"""The chip on a picture that says how negative values are shown, and changes it in place."""

from __future__ import annotations

from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QMenu, QToolButton

from workbench.base import numbers
from workbench.base.plain_text import tip_text
from workbench.model import intents
from workbench.model.names import NEGATIVE_TITLES
from workbench.model.state import State

MODES = ("result", "wipe", "side")  # in which the result is seen as it is mapped
TIP = (
    "Negative values: how they are shown, and the values shown as black and as white. Click to "
    "choose another way; the numbers themselves never change."
)


class NegativeChip(QToolButton):
    """A button with the range of values from black to white; its menu has the other ways.

    Signals:
        wanted(name, value): the user wants `value` for State field `name`: "negative_display".
    """

    wanted = Signal(str, object)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("negative-chip")
        self.setAccessibleName("Negative values")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setToolTip(tip_text(TIP))
        self.setProperty("onPicture", True)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu("Negative values", self)
        group = QActionGroup(menu)
        self._ways: dict[Any, Any] = {}
        for way, title in NEGATIVE_TITLES.items():
            action = menu.addAction(title)
            action.setCheckable(True)
            action.triggered.connect(partial(self._want, way))
            group.addAction(action)
            self._ways[way] = action
        self.setMenu(menu)

    def is_needed(self, state: State) -> bool:
        """Return whether `state` shows a result that may have negative values."""
        return state.view_mode in MODES and intents.is_around_zero(state)

    def show_state(self, state: State, levels: tuple[float, float] | None) -> None:
        """Say how negative values are shown.

        levels  the values shown as black and as white; None: not known yet
        """
        self._ways[state.negative_display].setChecked(True)
        way = intents.look_for(state).negative_display
        words = NEGATIVE_TITLES[way]
        if levels is not None:
            words = f"{words}: {_in_words(*levels)}"
        if f"{words} ▾" != self.text():
            self.setText(f"{words} ▾")
            self.setAccessibleName(f"Negative values: {words}")

    def _want(self, way: Any, _checked: bool = False) -> None:
        self.wanted.emit("negative_display", way)


def _in_words(low: float, high: float) -> str:
    return f"{_signed(low)} to {_signed(high)}"


def _signed(value: float) -> str:
    return numbers.in_digits(value).replace("-", "−")
