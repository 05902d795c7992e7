"""Small buttons that stand around the pictures, and icons in a colour of the theme."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QSize, Qt
from PySide6.QtGui import QImageReader, QPixmap
from PySide6.QtWidgets import QAbstractButton, QPushButton, QToolButton

from workbench.base.paths import asset
from workbench.base.plain_text import tip_text

_Button = TypeVar("_Button", bound=QAbstractButton)


def tab_button(name: str, text: str, tip: str, title: str = "") -> QToolButton:
    """Return a button with a name and a tooltip, which a click does not give the keyboard.

    title  what screen readers say in place of `text`
    """
    return _described(QToolButton(), name, text, tip, title)


def push_button(name: str, text: str, tip: str = "", title: str = "") -> QPushButton:
    """Return the same as a push button."""
    return _described(QPushButton(), name, text, tip, title)


def _described(button: _Button, name: str, text: str, tip: str, title: str) -> _Button:
    button.setObjectName(name)
    button.setText(text)
    button.setToolTip(tip_text(tip))
    button.setAccessibleName(title)  # else Qt says the text, and for want of a description the tip
    return button


def make_button(name: str, text: str, tip: str, title: str = "") -> QToolButton:
    """Return a `tab_button` of constant text that a click gives the keyboard, too."""
    button = tab_button(name, text, tip, title or text.replace("&", ""))
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


INK = "#848b94"  # what the files are drawn in


@lru_cache(maxsize=128)
def theme_pixmap(name: str, color: str, side_px: int, ratio: float) -> QPixmap:
    """Return the icon assets/icons/NAME.svg in `color`.

    side_px  its width and height in device-independent pixels
    ratio    device pixels per such pixel
    """
    text = asset(f"icons/{name}.svg").read_text(encoding="utf-8").replace(INK, color)
    buffer = QBuffer()
    buffer.setData(QByteArray(text.encode()))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer, QByteArray(b"svg"))
    side = round(side_px * ratio)
    reader.setScaledSize(QSize(side, side))
    pixmap = QPixmap.fromImage(reader.read())
    pixmap.setDevicePixelRatio(ratio)
    return pixmap
