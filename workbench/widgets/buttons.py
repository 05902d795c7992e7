"""Small buttons that stand around the pictures, and icons in a colour of the theme."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QSize, Qt
from PySide6.QtGui import QImageReader, QPixmap
from PySide6.QtWidgets import QPushButton, QToolButton, QWidget

from workbench.base.paths import asset
from workbench.base.plain_text import tip_text

W = TypeVar("W", bound=QWidget)


def described(widget: W, name: str, title: str, tip: str = "", look: str = "") -> W:
    """Give a widget its object name, what screen readers call it, its tooltip, and its look.

    look  "primary" or another that the style sheet knows; empty: the usual one
    """
    if look:
        widget.setProperty(look, True)
    widget.setObjectName(name)
    widget.setAccessibleName(title)
    widget.setToolTip(tip_text(tip))
    return widget


def allow(control: Any, why_not: str | None, tip: str) -> None:
    """Enable a widget or an item, or disable it with the reason as its tooltip."""
    control.setEnabled(not why_not)
    control.setToolTip(tip_text(why_not or tip))


def tab_button(name: str, text: str, tip: str, title: str = "", look: str = "") -> QToolButton:
    """A button with a name and a tooltip, which a click does not give the keyboard.

    title  what screen readers say in place of `text`
    """
    button = described(QToolButton(), name, title, tip, look)
    button.setText(text)
    return button


def push_button(
    name: str, text: str, tip: str = "", title: str = "", look: str = ""
) -> QPushButton:
    """The same as a push button."""
    return described(QPushButton(text), name, title, tip, look)


def make_button(name: str, text: str, tip: str, title: str = "", look: str = "") -> QToolButton:
    """A `tab_button` of constant text that a click gives the keyboard, too."""
    button = tab_button(name, text, tip, title or text.replace("&", ""), look)
    button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    return button


def make_segments(
    segments: tuple[tuple[str, str, str], ...], want: Callable[[str], None]
) -> dict[str, QToolButton]:
    """Buttons of which one is down, joined to a bar.

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
    """The icon assets/icons/NAME.svg in `color`.

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
