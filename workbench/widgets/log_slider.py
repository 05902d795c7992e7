"""A slider on which each doubling takes as much of the way."""

from __future__ import annotations

import math

from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QStyle, QStyleOptionSlider

from workbench.widgets.jump_slider import JumpSlider

STEPS = 10_000  # of the way, for Qt, which knows whole numbers only


class LogSlider(JumpSlider):
    """A slider whose values from 0 up stand where the logarithms of 2 value + 1 do.

    Its value is a radius, 2 value + 1 the size.  Keys and the wheel go from value to value.
    """

    def initStyleOption(self, option: QStyleOptionSlider) -> None:  # noqa: N802
        super().initStyleOption(option)
        option.minimum, option.maximum = 0, STEPS
        option.sliderPosition = option.sliderValue = round(STEPS * self._share())

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        super().mousePressEvent(event)
        option = QStyleOptionSlider()
        self.initStyleOption(option)
        self._grip = (
            event.position().x()
            - self._part(option, QStyle.SubControl.SC_SliderHandle).center().x()
        )

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if not self.isSliderDown():
            super().mouseMoveEvent(event)
            return
        option = QStyleOptionSlider()
        self.initStyleOption(option)
        self.setSliderPosition(self._value_at(option, event.position().x() - self._grip))

    def _share(self) -> float:
        """Return how far along the way the handle stands, from 0 to 1."""
        low, high = (math.log(2 * each + 1) for each in (self.minimum(), self.maximum()))
        return (math.log(2 * self.sliderPosition() + 1) - low) / ((high - low) or 1.0)

    def _value_at(self, option: QStyleOptionSlider, x: float) -> int:
        step = super()._value_at(option, x)
        low, high = (math.log(2 * each + 1) for each in (self.minimum(), self.maximum()))
        size = math.exp(low + step / STEPS * (high - low))
        return min(max(round((size - 1) / 2), self.minimum()), self.maximum())
