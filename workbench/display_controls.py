"""Which sample values are shown as black and as white; the data stay as they are."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import (
    QDoubleSpinBox,
    QFormLayout,
    QGroupBox,
    QHBoxLayout,
    QPushButton,
    QWidget,
)

from workbench.state import Picture, State


class DisplayControls(QGroupBox):
    """Shows and changes the display's window: the levels of black and white.

    Signals:
        wanted(name, value): the user picked `value` for State field `name`: "levels".
        stretch_wanted(): the levels are to span the picture's own values.
    """

    wanted = Signal(str, object)
    stretch_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Display", parent)
        self._black = _spin_box("level-black", "Value shown as black")
        self._white = _spin_box("level-white", "Value shown as white")
        for box in (self._black, self._white):
            box.valueChanged.connect(self._want)
        self._stretch = _button("Stretch", "Span the values that the picture really has.")
        self._stretch.clicked.connect(self.stretch_wanted)
        self._reset = _button("Reset", "Black is 0, white the pixel type's full intensity.")
        self._reset.clicked.connect(lambda: self.wanted.emit("levels", None))
        form = QFormLayout(self)
        form.addRow("Blac&k at", self._black)
        form.addRow("&White at", self._white)
        buttons = QHBoxLayout()
        buttons.addWidget(self._stretch)
        buttons.addWidget(self._reset)
        form.addRow(buttons)
        self.setToolTip("For looking only: filters and saved files never change with it.")

    def show_state(self, state: State) -> None:
        self.setEnabled(state.picture is not None)
        if state.picture is None:
            return
        white = state.picture.white
        low, high = state.levels or (0.0, white)
        for box, value in ((self._black, low), (self._white, high)):
            with QSignalBlocker(box):
                box.setDecimals(0 if white > 1 else 3)
                box.setSingleStep(white / 100 if white > 255 or white == 1 else 1)
                box.setRange(-16 * white, 16 * white)
                box.setValue(value)
        self._reset.setEnabled(state.levels is not None)

    def _want(self) -> None:
        low, high = self._black.value(), self._white.value()
        if low < high:
            self.wanted.emit("levels", (low, high))


def stretched(picture: Picture) -> tuple[float, float] | None:
    """The span of the picture's finite values, alpha left out; None where it is a single value."""
    samples = picture.samples
    colours = samples[..., :-1] if samples.shape[2] in (2, 4) else samples
    finite = colours[np.isfinite(colours)] if colours.dtype.kind == "f" else colours
    if finite.size == 0 or finite.min() == finite.max():
        return None
    return float(finite.min()), float(finite.max())


def _spin_box(name: str, title: str) -> QDoubleSpinBox:
    box = QDoubleSpinBox()
    box.setObjectName(name)
    box.setAccessibleName(title)
    box.setKeyboardTracking(False)
    box.setMinimumWidth(96)
    return box


def _button(title: str, tip: str) -> QPushButton:
    button = QPushButton(title)
    button.setObjectName(f"levels-{title.lower()}")
    button.setToolTip(tip)
    return button
