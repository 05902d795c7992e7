"""The numbers under the pointer: where, before, after, and their difference."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from workbench import theme

Values = NDArray[Any] | None  # (C,) samples of one pixel

_CHANNELS = {1: ("grey",), 2: ("grey", "α"), 3: ("R", "G", "B"), 4: ("R", "G", "B", "α")}
_ROWS = ("before", "after", "difference")
_WIDTHS = {"uint8": 4, "uint16": 6, "float32": 10}  # characters for a number and its sign
_NONE = "–"


class ReadOut(QWidget):
    """Shows the values of one pixel as they are in the data: nothing scaled, nothing clipped."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Values under the pointer")
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(14)
        grid.setVerticalSpacing(1)
        self._digits = 3
        self._where = {axis: _number(axis) for axis in ("x", "y")}
        self._rows = {name: _number(name) for name in _ROWS}
        for row, (name, label) in enumerate(self._rows.items()):
            grid.addWidget(_muted(name.capitalize()), row, 0)
            grid.addWidget(label, row, 1)
        for row, label in enumerate(self._where.values()):
            grid.addWidget(label, row, 2)
        grid.setColumnStretch(3, 1)
        self._rows["difference"].setToolTip("After minus before")
        self._set_fonts()

    def show_values(self, point: tuple[int, int] | None, before: Values, after: Values) -> None:
        """Both (C,), of the same type; None: there is no such pixel, or no such picture."""
        for index, (axis, label) in enumerate(self._where.items()):
            label.setText(f"{axis} {point[index]}" if point else "")
        difference = None if before is None or after is None else _subtract(after, before)
        for name, values in zip(_ROWS, (before, after, difference), strict=True):
            self._rows[name].setText(self._text(values, signed=name == "difference"))

    def prepare_for(self, samples: NDArray[Any]) -> None:
        """Be wide enough for any pixel of `samples`, so that nothing moves under the pointer."""
        height, width, channels = samples.shape
        self._digits = _WIDTHS[str(samples.dtype)]
        metrics = self._rows["before"].fontMetrics()
        widest = self._text(np.zeros(channels, samples.dtype), signed=True)
        for label in self._rows.values():
            label.setMinimumWidth(metrics.horizontalAdvance(widest))
        for label in self._where.values():
            label.setMinimumWidth(metrics.horizontalAdvance(f"x {max(height, width)}"))

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.ApplicationFontChange:
            self._set_fonts()
        super().changeEvent(event)

    def _set_fonts(self) -> None:
        for label in (*self._where.values(), *self._rows.values()):
            label.setFont(theme.fixed_font())


    def _text(self, values: Values, signed: bool) -> str:
        if values is None:
            return _NONE
        names = _CHANNELS[values.size]
        pairs = zip(names, values, strict=True)
        return "   ".join(f"{name} {_format(value, signed):>{self._digits}}" for name, value in pairs)


def _number(name: str) -> QLabel:
    label = QLabel()
    label.setObjectName(name)
    label.setAccessibleName(name.capitalize())
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label


def _muted(text: str) -> QLabel:
    label = QLabel(text)
    label.setProperty("muted", True)
    return label


def _subtract(after: NDArray[Any], before: NDArray[Any]) -> NDArray[Any]:
    wide = np.int64 if after.dtype.kind == "u" else np.float64
    with np.errstate(invalid="ignore"):  # infinity minus infinity is NaN, and shown as that
        return np.subtract(after, before, dtype=wide)


def _format(value: Any, signed: bool) -> str:
    sign = "+" if signed and value else ""
    return f"{value:{sign}.4g}" if isinstance(value, np.floating) else f"{value:{sign}d}"
