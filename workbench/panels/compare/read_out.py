"""The numbers under the pointer: where, before, pinned, after, and a difference."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from workbench.base import theme
from workbench.base.plain_text import Label, tip_text
from workbench.panels.compare.pins import MAX_PINS, pin_name

Values = NDArray[Any] | None  # (C,) samples of one pixel

_CHANNELS = {1: ("grey",), 2: ("grey", "α"), 3: ("R", "G", "B"), 4: ("R", "G", "B", "α")}
_PINNED = tuple(pin_name(number).lower() for number in range(1, MAX_PINS + 1))
_ROWS = ("before", *_PINNED, "after", "difference")
# Characters for a number and its sign.
_WIDTHS = {"uint8": 4, "uint16": 6, "float16": 10, "float32": 10}
_NONE = "–"
NARROW = 240  # px; room for colours of 8 or 16 bits


class ReadOut(QWidget):
    """The values of one pixel as they are in the data: nothing scaled, nothing clipped.

    Its label `position` says where that is; its owner finds a place for it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Values under the pointer")
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(20)
        grid.setVerticalSpacing(1)
        self._digits = 3
        self._of: tuple[tuple[int, ...], frozenset[str]] | None = None  # what there is room for
        self.position = _Number("position")
        self._titles = {name: _muted(name.capitalize()) for name in _ROWS}
        self._rows = {name: _Number(name) for name in _ROWS}
        for row, name in enumerate(_ROWS):
            grid.addWidget(self._titles[name], row, 0)
            grid.addWidget(self._rows[name], row, 1)
        grid.setColumnStretch(2, 1)
        self.show_pins((), 0)
        self._set_fonts()

    def show_pins(self, shown: Collection[int], against: int) -> None:
        """Show rows for the pinned results of these numbers.

        against  what is subtracted from the newest: 0 the original, else the pin of that number
        """
        self._against = against
        for number, name in enumerate(_PINNED, 1):
            self._titles[name].setVisible(number in shown)
            self._rows[name].setVisible(number in shown)
        other = _PINNED[against - 1] if against else "before"
        self._rows["difference"].setToolTip(tip_text(f"After minus {other}"))
        self._titles["difference"].setText(f"After − {other}" if shown else "Difference")

    def show_values(
        self, point: tuple[int, int] | None, before: Values, pinned: Sequence[Values], after: Values
    ) -> None:
        """Show samples of one pixel, each (C,), in the same units.

        None: there is no such pixel, or no such picture.
        """
        self.position.setText(_position(*point) if point else "")
        # `_against` may still name a pin that has just been removed.
        is_there = self._against <= len(pinned)
        other = before if not self._against else pinned[self._against - 1] if is_there else None
        difference = None if other is None or after is None else _subtract(after, other)
        values = (before, *pinned, *[None] * (MAX_PINS - len(pinned)), after, difference)
        for name, each in zip(_ROWS, values, strict=True):
            self._rows[name].setText(self._text(each, signed=name == "difference"))

    def prepare_for(self, *pictures: NDArray[Any]) -> None:
        """Reserve room for any pixel of `pictures`, so that nothing moves under the pointer.

        pictures  (H, W, C), all of one shape
        """
        of = pictures[0].shape, frozenset(str(each.dtype) for each in pictures)
        if of == self._of:
            return
        self._of = of
        height, width, channels = pictures[0].shape
        self._digits = max(_WIDTHS[pixel_type] for pixel_type in of[1])
        widest = self._text(np.zeros(channels, np.uint8), signed=True)
        for label in self._rows.values():
            label.prepare_for(widest)
        self.position.prepare_for(_position(width - 1, height - 1))

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        if event.type() == QEvent.Type.ApplicationFontChange:
            self._set_fonts()
        super().changeEvent(event)

    def _set_fonts(self) -> None:
        for label in (self.position, *self._rows.values()):
            label.setFont(theme.fixed_font())

    def _text(self, values: Values, signed: bool) -> str:
        if values is None:
            return _NONE
        names = _CHANNELS[values.size]
        pairs = zip(names, values, strict=True)
        return "  ".join(
            f"{name} {_format(value, signed):>{self._digits}}" for name, value in pairs
        )


class _Number(Label):
    """A text that changes in place; as wide as the widest, unless the window is too narrow."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._widest = ""
        self.setObjectName(name)
        self.setAccessibleName(name.capitalize())
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)

    def prepare_for(self, widest: str) -> None:
        self._widest = widest
        self.updateGeometry()

    def sizeHint(self) -> QSize:  # noqa: N802
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(self._widest) + 2, metrics.height())

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(min(self.sizeHint().width(), NARROW), self.sizeHint().height())


def _muted(text: str) -> QLabel:
    label = Label(text)
    label.setProperty("muted", True)
    return label


def _subtract(after: NDArray[Any], before: NDArray[Any]) -> NDArray[Any]:
    wide = np.int64 if {after.dtype.kind, before.dtype.kind} == {"u"} else np.float64
    with np.errstate(invalid="ignore"):  # infinity minus infinity is NaN, and shown as that
        return after.astype(wide) - before.astype(wide)


def _position(x: int, y: int) -> str:
    return f"x {x}  y {y}"


def _format(value: Any, signed: bool) -> str:
    sign = "+" if signed and value > 0 else ""
    return f"{value:{sign}.4g}" if isinstance(value, np.floating) else f"{value:{sign}d}"
