"""The small buttons that stand around the pictures."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton

from workbench.base.plain_text import tip_text


def make_button(name: str, text: str, tip: str) -> QToolButton:
    """Return a button with a name and a tooltip that keyboard and screen reader find, too."""
    button = QToolButton()
    button.setObjectName(name)
    button.setText(text)
    button.setToolTip(tip_text(tip))
    button.setAccessibleName(text.replace("&", ""))
    button.setAccessibleDescription(tip)
    button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    return button


def make_segments(
    segments: tuple[tuple[str, str, str], ...], want: Callable[[str], None]
) -> dict[str, QToolButton]:
    """Return buttons of which one is down, joined to a bar.

    Each of `segments` is name, text and tip.

    want  is called with the name of one that is clicked
    """
    made: dict[str, QToolButton] = {}

    def pick(name: str) -> None:
        check_segment(made, name)  # also when it was down before
        want(name)

    for index, (name, text, tip) in enumerate(segments):
        button = make_button(name, text, tip)
        button.setCheckable(True)
        places = {0: "first", len(segments) - 1: "last"}
        button.setProperty("segment", places.get(index, "middle"))
        button.clicked.connect(lambda _=False, name=name: pick(name))
        made[name] = button
    return made


def check_segment(segments: dict[str, QToolButton], name: str) -> None:
    """Press the button called `name`."""
    for each, button in segments.items():  # in a QButtonGroup, Tab would reach just one of them
        button.setChecked(each == name)
