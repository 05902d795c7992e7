"""A slider whose handle comes to where it is pressed."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRect, Qt
from PySide6.QtGui import QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QSlider, QStyle, QStyleOptionSlider

from workbench.widgets.number_boxes import is_page_key
from workbench.widgets.wheel import ignore_wheel, no_wheel_focus


class JumpSlider(QSlider):
    """A horizontal slider whose handle jumps to a press on the track, then is dragged.

    The wheel moves it only while it has the focus.
    """

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        no_wheel_focus(self)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        if not ignore_wheel(self, event):
            super().wheelEvent(event)

    def event(self, event: QEvent) -> bool:
        if is_page_key(event):  # it is a larger step here, and not the next picture
            event.accept()
            return True
        return super().event(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if event.button() == Qt.MouseButton.LeftButton:
            option = QStyleOptionSlider()
            self.initStyleOption(option)
            if not self._part(option, QStyle.SubControl.SC_SliderHandle).contains(
                event.position().toPoint()
            ):
                self.setValue(self._value_at(option, event.position().x()))
        super().mousePressEvent(event)  # which finds the handle under the pointer now

    def _value_at(self, option: QStyleOptionSlider, x: float) -> int:
        groove = self._part(option, QStyle.SubControl.SC_SliderGroove)
        handle = self._part(option, QStyle.SubControl.SC_SliderHandle).width()
        return QStyle.sliderValueFromPosition(
            option.minimum,
            option.maximum,
            round(x) - groove.x() - handle // 2,
            groove.width() - handle,
            option.upsideDown,
        )

    def _part(self, option: QStyleOptionSlider, part: QStyle.SubControl) -> QRect:
        return self.style().subControlRect(QStyle.ComplexControl.CC_Slider, option, part, self)
