"""Boxes and sliders for numbers: nothing typed is lost, and a correction is said."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QLocale, QPoint, QRect, QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QMouseEvent, QValidator
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
from workbench.widgets.buttons import described
from workbench.widgets.keyboard import WheelAfterFocus, go_home

_PLAIN = r"[+-]?\d*[.,]?\d*([eE][+-]?\d*)?"
_DECIMAL = re.compile(rf"{_PLAIN}(/{_PLAIN})?")  # 0.25, 0,25, 1e-3 or 1/4, or on the way there
_ZEROS = re.compile(r"(\.\d\d\d*?)0+$")
_WHOLE = re.compile(r"[+-]?\d*")
SOON_MS = 30
State = QValidator.State
if TYPE_CHECKING:
    _Box = QAbstractSpinBox
else:
    _Box = object  # see WheelAfterFocus


class _TypedNumber(WheelAfterFocus, _Box):
    """The part that both boxes share: a number out of range becomes the nearest in it."""

    PATTERN: re.Pattern[str]
    minimum: Any
    maximum: Any
    textFromValue: Any
    value: Any
    setValue: Any

    def __init__(self, name: str, title: str, tip: str = "") -> None:
        super().__init__()
        described(self, name, title, tip)
        self.setLocale(QLocale.c())  # a point, as everywhere else in the program
        self.setKeyboardTracking(False)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # not by the wheel
        self.editingFinished.connect(lambda: self.lineEdit().setModified(False))
        # To the picture, where the box is in its window.
        done = self.lineEdit().returnPressed
        done.connect(lambda: go_home(self))
        self.lineEdit().inputRejected.connect(lambda: _say(self, self.range_in_words()))

    def show_value(self, value: Any) -> None:
        """Set the value without emitting a signal."""
        if value == self.value() and not self.lineEdit().isModified():
            return  # else Qt would paint it many times a second while a slider is dragged
        with QSignalBlocker(self):
            self.setValue(value)

    def range_in_words(self) -> str:
        """The range in words: "A whole number from 1 to 127"."""
        kind = "A number" if isinstance(self, QDoubleSpinBox) else "A whole number"
        low, high = (self.textFromValue(limit) for limit in (self.minimum(), self.maximum()))
        return f"{kind} from {low} to {high}"

    def event(self, event: QEvent) -> bool:
        """Keep the page keys from the window, and leave undo to it unless something is typed."""
        if is_page_key(event):
            event.accept()
            return True
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            keys = QKeySequence.StandardKey
            is_undo = event.matches(keys.Undo) or event.matches(keys.Redo)
            if is_undo and not self.lineEdit().isModified():
                event.ignore()
                return False
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Take back with Esc what is typed and not entered."""
        if event.key() == Qt.Key.Key_Escape and self.lineEdit().isModified():
            self.show_value(self.value())
        super().keyPressEvent(event)

    def validate(self, text: str, position: int) -> tuple[State, str, int]:
        """Accept a number in the range; one out of it is intermediate, as `fixup` mends it."""
        state = State.Invalid
        if self.PATTERN.fullmatch(text.strip()):
            number = _number(text)
            is_within = number is not None and self.minimum() <= number <= self.maximum()
            state = State.Acceptable if is_within else State.Intermediate
        return state, text, position

    def fixup(self, text: str) -> str:
        if (number := _number(text)) is None:
            return text
        tell(self, self.range_in_words())
        return str(self.textFromValue(min(max(number, self.minimum()), self.maximum())))


class DecimalBox(_TypedNumber, QDoubleSpinBox):
    """A box that takes a decimal point or comma, or a fraction.

    leaves_zeros  behind the second decimal, of numbers that may have many
    """

    PATTERN = _DECIMAL
    leaves_zeros = False

    def show_value(self, value: float) -> None:
        super().show_value(round(value, self.decimals()))

    def show_range(self, low: float, high: float, decimals: int, step: float) -> None:
        """Set the range; emit no signal should that change the value."""
        self.setSingleStep(step)
        limits = round(low, decimals), round(high, decimals)
        if (*limits, decimals) == (self.minimum(), self.maximum(), self.decimals()):
            return  # else Qt would lay out all around it
        with QSignalBlocker(self):
            self.setDecimals(decimals)
            self.setRange(*limits)

    def valueFromText(self, text: str) -> float:  # noqa: N802
        number = _number(text)
        return self.value() if number is None else round(number, self.decimals())

    def textFromValue(self, value: float) -> str:  # noqa: N802
        text = super().textFromValue(value)
        return _ZEROS.sub(r"\1", text) if self.leaves_zeros else text


class WholeBox(_TypedNumber, QSpinBox):
    """A box that takes whole numbers."""

    PATTERN = _WHOLE


def is_page_key(event: QEvent) -> bool:
    """True if a shortcut of the window would take Page Up or Down from the focus."""
    if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
        return False
    is_plain = not event.modifiers() & Qt.KeyboardModifier.ShiftModifier
    return is_plain and event.key() in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


def _number(text: str) -> float | None:
    above, _, below = text.replace(",", ".").partition("/")
    try:
        return float(above) / float(below or 1)
    except (ValueError, ZeroDivisionError):
        return None


def tell(box: QAbstractSpinBox, sentence: str) -> None:
    """Say beside the box why it shows another number than was typed.

    This waits for the end of a click: the release of a mouse button would hide it.
    """

    def say() -> None:
        if QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton:
            tell(box, sentence)
        elif box.isVisible() and box.isActiveWindow():
            _say(box, sentence)

    QTimer.singleShot(SOON_MS, box, say)


def _say(box: QAbstractSpinBox, sentence: str) -> None:
    QToolTip.showText(box.mapToGlobal(QPoint(0, box.height())), tip_text(sentence), box)


class OddSpinBox(WholeBox):
    """A picker of odd sizes in a range; an even number typed in becomes the next odd one."""

    picked = Signal(int)  # (ksize): the user chose another size

    def __init__(self, name: str, title: str, tip: str = "") -> None:
        super().__init__(name, title, tip)
        self.setSingleStep(2)
        self.setMinimumWidth(72)
        self.valueChanged.connect(self._pick)

    def show_size(self, ksize: int, sizes: range) -> None:
        """Show a size and the range of sizes without emitting a signal."""
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


class JumpSlider(WheelAfterFocus, QSlider):
    """A horizontal slider whose handle jumps to a press on the track, then is dragged."""

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # not by the wheel

    def event(self, event: QEvent) -> bool:
        if is_page_key(event):  # it is a larger step here, and not the next picture
            event.accept()
            return True
        return super().event(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if event.button() == Qt.MouseButton.LeftButton:
            option = QStyleOptionSlider()
            self.initStyleOption(option)
            handle = self._part(option, QStyle.SubControl.SC_SliderHandle)
            is_held = handle.contains(event.position().toPoint())
            middle = handle.x() + handle.width() // 2
            self._grip = event.position().x() - middle if is_held else 0.0
            if not is_held:
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
        low, high = self._ends
        share = (math.log(2 * self.sliderPosition() + 1) - low) / ((high - low) or 1.0)
        option.sliderPosition = option.sliderValue = round(STEPS * share)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if not self.isSliderDown():
            super().mouseMoveEvent(event)
            return
        option = QStyleOptionSlider()
        self.initStyleOption(option)
        self.setSliderPosition(self._value_at(option, event.position().x() - self._grip))

    @property
    def _ends(self) -> tuple[float, float]:
        return math.log(2 * self.minimum() + 1), math.log(2 * self.maximum() + 1)

    def _value_at(self, option: QStyleOptionSlider, x: float) -> int:
        step = super()._value_at(option, x)
        low, high = self._ends
        size = math.exp(low + step / STEPS * (high - low))
        return min(max(round((size - 1) / 2), self.minimum()), self.maximum())
