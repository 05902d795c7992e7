"""The controls of the display: values shown as black and white, and those below zero."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QGroupBox,
    QHBoxLayout,
    QPushButton,
)

from workbench.base.plain_text import tip_text
from workbench.model.state import Picture, State
from workbench.widgets.eliding_box import ElidingBox
from workbench.widgets.form import Form
from workbench.widgets.number_boxes import DecimalBox

MAX_LEVEL = 1e6  # the largest level; 16 bits end at 65535
MAX_DECIMALS = 9
SIGNED_TITLES = {
    "clipped": "Clipped to black",
    "absolute": "Absolute",
    "offset": "Offset by half",
    "scaled": "Scaled to fit",
}
SIGNED_TIP = (
    "How filters that swing around zero (Sobel, Laplacian and others whose weights cancel) are "
    "shown.\nClipped: below 0 is black.  Absolute: without the sign.  Offset: 0 is grey.\n"
    "Scaled: 0 is grey, the largest size black or white.\n"
    "In each way the numbers below zero stay in the data: pictures of 8 or 16 bits are filtered, "
    "and timed, as float32.\nTo have them cut off, and to time that, choose Clipped, and above, "
    "under Pixels, uint8 or uint16."
)


class DisplayControls(QGroupBox):
    """The controls of the display: levels of black and white, and values below zero.

    Signals:
        wanted(name, value): the user picked `value` for State field `name`: "levels" or
            "negative_display".
        stretch_wanted(): the levels are to span the picture's own values.
    """

    wanted = Signal(str, object)
    stretch_wanted = Signal()

    def __init__(self) -> None:
        super().__init__("Display")
        self._black = _spin_box("level-black", "Value shown as black")
        self._white = _spin_box("level-white", "Value shown as white")
        for box, shade in ((self._black, "black"), (self._white, "white")):
            box.setToolTip(tip_text(f"Samples of this value, and beyond it, are shown as {shade}."))
            box.valueChanged.connect(self._want)
        self._stretch = _button("Stretch", "Span the values that the picture before really has.")
        self._stretch.clicked.connect(self.stretch_wanted)
        self._reset = _button("Reset", "Black is 0, white the pixel type's full intensity.")
        self._reset.clicked.connect(lambda: self.wanted.emit("levels", None))
        self._negative_display = ElidingBox()
        self._negative_display.setObjectName("signed-as")
        self._negative_display.setAccessibleName("Values below zero")
        self._negative_display.setToolTip(SIGNED_TIP)
        for key, title in SIGNED_TITLES.items():
            self._negative_display.addItem(title, key)
        self._negative_display.activated.connect(
            lambda row: self.wanted.emit("negative_display", self._negative_display.itemData(row))
        )
        form = Form(self)
        form.add("Black at", self._black)
        form.add("White at", self._white)
        form.add("Below zero", self._negative_display)
        buttons = QHBoxLayout()
        buttons.addWidget(self._stretch)
        buttons.addWidget(self._reset)
        form.addRow(buttons)
        self.setToolTip(
            "How pictures are shown. The levels of black and white are for looking only:\n"
            "filters and saved files never change with them."
        )

    def show_state(self, state: State) -> None:
        """Show the levels, and how values below zero are displayed."""
        self.setEnabled(state.picture is not None)
        if state.picture is None:
            return
        white = state.picture.white
        low, high = state.levels or (0.0, white)
        # The range of floats depends on their file: 0 to 1, 0 to 4095, or a few millionths.
        digits = 0 if white > 1 else 3 - math.floor(math.log10(high - low))
        decimals = min(max(digits, 0), MAX_DECIMALS)
        apart = 10.0**-decimals
        for box, value, least, most in (
            (self._black, low, -MAX_LEVEL, high - apart),
            (self._white, high, low + apart, MAX_LEVEL),
        ):
            box.show_range(least, most, decimals, max(round((high - low) / 100, decimals), apart))
            box.show_value(value)
        self._reset.setEnabled(state.levels is not None)
        self._negative_display.setCurrentIndex(
            self._negative_display.findData(state.negative_display)
        )

    def _want(self) -> None:
        self.wanted.emit("levels", (self._black.value(), self._white.value()))


def stretched(picture: Picture) -> tuple[float, float] | None:
    """Return the lowest and highest finite value, alpha left out.

    None where the picture has only one value, or none that is finite.
    """
    samples = picture.samples
    colours = samples[..., :-1] if samples.shape[2] in (2, 4) else samples
    finite = colours[np.isfinite(colours)] if colours.dtype.kind == "f" else colours
    if finite.size == 0 or finite.min() == finite.max():
        return None
    return float(finite.min()), float(finite.max())


def _spin_box(name: str, title: str) -> DecimalBox:
    box = DecimalBox()
    box.setObjectName(name)
    box.setAccessibleName(title)
    box.setMinimumWidth(96)
    return box


def _button(title: str, tip: str) -> QPushButton:
    button = QPushButton(title)
    button.setObjectName(f"levels-{title.lower()}")
    button.setToolTip(tip_text(tip))
    return button
