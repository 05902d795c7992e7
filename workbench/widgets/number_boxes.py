"""Boxes and sliders for numbers: nothing typed is lost, and a correction is said."""

from __future__ import annotations

import math
import re
from typing import Any

from PySide6.QtCore import QEvent, QLocale, QPoint, QRect, QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import (
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QValidator,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QDoubleSpinBox,
    QSlider,
    QSpinBox,
    QStyle,
    QStyleOptionSlider,
    QToolTip,
)

from workbench.base.plain_text import tip_text
from workbench.widgets.keyboard import ignore_wheel, no_wheel_focus

_PLAIN = r"[+-]?\d*[.,]?\d*([eE][+-]?\d*)?"
_DECIMAL = re.compile(rf"{_PLAIN}(/{_PLAIN})?")  # 0.25, 0,25, 1e-3 or 1/4, or on the way there
_WHOLE = re.compile(r"[+-]?\d*")
SOON_MS = 30
State = QValidator.State


class DecimalBox(QDoubleSpinBox):
    """A box that takes a decimal point or comma, or a fraction.

    A number out of range becomes the nearest in it, and the range is told.
    """

    def __init__(self, name: str, title: str, tip: str = "") -> None:
        super().__init__()
        _prepare(self, name, title, tip)

    def show_value(self, value: float) -> None:
        """Set the value without telling anybody."""
        _show(self, round(value, self.decimals()))

    def show_range(self, low: float, high: float, decimals: int, step: float) -> None:
        """Set the range without telling anybody, should that change the value."""
        self.setSingleStep(step)
        limits = round(low, decimals), round(high, decimals)
        if (*limits, decimals) == (self.minimum(), self.maximum(), self.decimals()):
            return  # else Qt would lay out all around it
        with QSignalBlocker(self):
            self.setDecimals(decimals)
            self.setRange(*limits)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        if not ignore_wheel(self, event):
            super().wheelEvent(event)

    def event(self, event: QEvent) -> bool:
        answer = _claim(self, event)
        return super().event(event) if answer is None else answer

    def validate(self, text: str, position: int) -> tuple[State, str, int]:
        return _judge(self, _DECIMAL, text), text, position

    def fixup(self, text: str) -> str:
        return _nearest(self, text)

    def valueFromText(self, text: str) -> float:  # noqa: N802
        number = _number(text)
        return self.value() if number is None else round(number, self.decimals())


class WholeBox(QSpinBox):
    """A box that takes whole numbers; one out of range becomes the nearest, and that is told."""

    def __init__(self, name: str, title: str, tip: str = "") -> None:
        super().__init__()
        _prepare(self, name, title, tip)

    def show_value(self, value: int) -> None:
        """Set the value without telling anybody."""
        _show(self, value)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        if not ignore_wheel(self, event):
            super().wheelEvent(event)

    def event(self, event: QEvent) -> bool:
        answer = _claim(self, event)
        return super().event(event) if answer is None else answer

    def validate(self, text: str, position: int) -> tuple[State, str, int]:
        return _judge(self, _WHOLE, text), text, position

    def fixup(self, text: str) -> str:
        return _nearest(self, text)


def _prepare(box: QAbstractSpinBox, name: str, title: str, tip: str) -> None:
    box.setObjectName(name)
    box.setAccessibleName(title)
    box.setToolTip(tip_text(tip))
    box.setLocale(QLocale.c())  # a point, as everywhere else in the program
    box.setKeyboardTracking(False)
    no_wheel_focus(box)
    box.editingFinished.connect(lambda: box.lineEdit().setModified(False))
    box.lineEdit().inputRejected.connect(lambda: _say(box, range_of(box)))


def _show(box: Any, value: float) -> None:
    if value == box.value() and not box.lineEdit().isModified():
        return  # Qt would paint it again, and that many times a second while a slider is dragged
    with QSignalBlocker(box):
        box.setValue(value)


def is_page_key(event: QEvent) -> bool:
    """Return whether a shortcut of the window would take Page Up or Down from the focus."""
    if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
        return False
    return event.key() in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


def _claim(box: QAbstractSpinBox, event: QEvent) -> bool | None:
    """Return whether the box, and not the window, has this key; None: that is Qt's to say."""
    is_mine, is_the_windows = is_page_key(event), _is_for_the_window(box, event)
    if not (is_mine or is_the_windows):
        return None
    event.setAccepted(is_mine)
    return is_mine


def _is_for_the_window(box: QAbstractSpinBox, event: QEvent) -> bool:
    """Test for undo and redo, unless something is being typed that they could take back."""
    if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
        return False
    keys = QKeySequence.StandardKey
    is_undo = event.matches(keys.Undo) or event.matches(keys.Redo)
    return is_undo and not box.lineEdit().isModified()


def _judge(box: Any, pattern: re.Pattern[str], text: str) -> State:
    """Return how Qt is to take what is typed: out of range is only intermediate.

    More may be typed, or `fixup` mends it.
    """
    if not pattern.fullmatch(text.strip()):
        return State.Invalid
    number = _number(text)
    is_within = number is not None and box.minimum() <= number <= box.maximum()
    return State.Acceptable if is_within else State.Intermediate


def _nearest(box: Any, text: str) -> str:
    number = _number(text)
    if number is None:
        return text
    tell(box, range_of(box))
    return str(box.textFromValue(min(max(number, box.minimum()), box.maximum())))


def _number(text: str) -> float | None:
    above, _, below = text.replace(",", ".").partition("/")
    try:
        return float(above) / float(below or 1)
    except (ValueError, ZeroDivisionError):
        return None


def tell(box: QAbstractSpinBox, sentence: str) -> None:
    """Say beside the box why it shows another number than was typed.

    It does so when what took the focus away is over: the release of a mouse button would hide it.
    """

    def say() -> None:
        if QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton:
            tell(box, sentence)
        elif box.isVisible() and box.isActiveWindow():
            _say(box, sentence)

    QTimer.singleShot(SOON_MS, box, say)


def range_of(box: Any) -> str:
    """Return the range in words: "A whole number from 1 to 127"."""
    kind = "A number" if isinstance(box, QDoubleSpinBox) else "A whole number"
    low, high = (box.textFromValue(limit) for limit in (box.minimum(), box.maximum()))
    return f"{kind} from {low} to {high}"


def _say(box: QAbstractSpinBox, sentence: str) -> None:
    QToolTip.showText(box.mapToGlobal(QPoint(0, box.height())), tip_text(sentence), box)


class OddSpinBox(WholeBox):
    """A picker of odd sizes in a range; an even number typed in becomes the next odd one.

    Signals:
        picked(ksize): the user chose another size.
    """

    picked = Signal(int)

    def __init__(self, name: str, title: str, tip: str = "") -> None:
        super().__init__(name, title, tip)
        self.setSingleStep(2)
        self.setMinimumWidth(72)
        self.valueChanged.connect(self._pick)

    def show_size(self, ksize: int, sizes: range) -> None:
        """Show a size and the range of sizes without telling anybody."""
        with QSignalBlocker(self):
            if (self.minimum(), self.maximum()) != (sizes[0], sizes[-1]):
                self.setRange(sizes[0], sizes[-1])
        self.show_value(ksize)

    def _pick(self, value: int) -> None:
        odd = value | 1
        if odd != value:
            with QSignalBlocker(self):
                self.setValue(odd)
            tell(self, f"Sizes are odd: {value} became {odd}")
        self.picked.emit(odd)


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
