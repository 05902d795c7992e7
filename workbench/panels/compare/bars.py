"""The bars around the pictures: modes, their options, chips, the values under the pointer."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QActionGroup, QResizeEvent
from PySide6.QtWidgets import QAbstractSpinBox, QMenu, QSizePolicy, QToolButton, QWidget

from kernels.core.plain_data import table_beside
from workbench.base import numbers, theme
from workbench.base.plain_text import Label
from workbench.imaging.display_mapping import MAX_GAIN
from workbench.model import intents
from workbench.model.names import NEGATIVE_TITLES
from workbench.model.state import State
from workbench.panels.compare.wipe_view import MAX_PINS, pin_name
from workbench.session.store import Store
from workbench.widgets.boxes import HBox
from workbench.widgets.buttons import check_segment, described, make_button, make_segments
from workbench.widgets.drop_down import DropDown
from workbench.widgets.number_boxes import WholeBox

MODES, KINDS, SEARCH, BUTTONS = table_beside(__file__).values()


class ModeBar(QWidget):
    """The buttons of the view modes."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        described(self, "modes", "How pictures are looked at")
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._modes = make_segments(MODES, lambda mode: store.choose(view_mode=mode))
        HBox(self, 0, 0).add(*self._modes.values())

    def show_state(self, state: State) -> None:
        check_segment(self._modes, state.view_mode)


class ModeOptions(QWidget):
    """The options of the present mode; what is disabled is not shown either.

    against                 the list of what to compare with: the original, then the pins
    previous, next, cancel  buttons of the search for differing pixels
    """

    def __init__(self, store: Store) -> None:
        super().__init__()
        self._mode: str = State().view_mode
        self._row = HBox(self, 0, 6)
        self._parts: list[tuple[QWidget, tuple[str, ...]]] = []
        tip = "What the result is compared with (Shift+J: the next)"
        self.against = DropDown("against", "Compare with", tip)
        self.against.setMinimumContentsLength(8)
        self.against.setMinimumWidth(72)  # in a narrow window
        kinds = QWidget()
        self._kinds = make_segments(KINDS, lambda kind: store.choose(difference=kind))
        HBox(kinds, 0, 0).add(*self._kinds.values())
        for kind, button in self._kinds.items():
            button.setAccessibleName(f"{kind.capitalize()} difference")
        tip = "Factor of differences, 1 to 1000; 0: as fits (auto)"
        self._gain = gain = WholeBox("gain", "Gain", tip)
        gain.setRange(0, int(MAX_GAIN))
        gain.setSpecialValueText("auto")
        metrics = gain.fontMetrics()
        gain.setMaximumWidth(metrics.horizontalAdvance("1000") + 2 * metrics.height() + 20)
        gain.setStepType(QAbstractSpinBox.StepType.AdaptiveDecimalStepType)
        gain.valueChanged.connect(lambda value: store.choose(gain=float(value) if value else None))
        caption = Label("Gain")
        caption.setBuddy(self._gain)
        self.previous, self.next, self.cancel = search = [make_button(*each) for each in SEARCH]
        self._add(("wipe", "difference"), self.against)
        self._add(("difference",), kinds, caption, self._gain)
        self._add(("mismatch",), *search)
        self.show_pins((), 0)
        self.show_search(False, False)

    @property
    def is_needed(self) -> bool:
        return any(not part.isHidden() for part, _ in self._parts)

    def show_state(self, state: State) -> None:
        self._mode = state.view_mode
        check_segment(self._kinds, state.difference)
        with QSignalBlocker(self._gain):
            self._gain.setValue(0 if state.gain is None else round(state.gain))
        self._show()

    def show_pins(self, names: Sequence[str], against: int) -> None:
        """Offer these to compare the result with: the picture before, then pins."""
        self.against.clear()
        self.against.addItems(names)
        self.against.setCurrentIndex(against)
        self.against.setEnabled(len(names) > 1)
        self._show()

    def show_search(self, is_under_way: bool, has_places: bool) -> None:
        """Offer Cancel while a search is under way, Next and Previous where pixels differ."""
        self.previous.setEnabled(has_places)
        self.next.setEnabled(has_places)
        self.cancel.setEnabled(is_under_way)
        self._show()

    def _show(self) -> None:
        for part, modes in self._parts:
            part.setVisible(self._mode in modes and part.isEnabledTo(self))

    def _add(self, modes: tuple[str, ...], *parts: QWidget) -> None:
        self._row.add(*parts)
        self._parts += [(part, modes) for part in parts]


def make_chip(chip: QToolButton, name: str, title: str, tip: str) -> None:
    """Make a button one that stands on the picture."""
    described(chip, name, title, tip, look="onPicture")
    chip.setFocusPolicy(Qt.FocusPolicy.StrongFocus)


NEGATIVE_MODES = ("result", "wipe", "side")  # that show the result through its mapping
NEGATIVE_TIP = (
    "Negative values: how they are shown, and the values shown as black and as white. Click to "
    "choose another way; the numbers themselves never change."
)


class NegativeChip(QToolButton):
    """A button with the range from black to white; its menu maps negative values otherwise."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        make_chip(self, "negative-chip", "Negative values", NEGATIVE_TIP)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu("Negative values", self)
        group = QActionGroup(menu)
        self._ways: dict[Any, Any] = {}
        for way, title in NEGATIVE_TITLES.items():
            action = menu.addAction(title)
            action.setCheckable(True)
            action.triggered.connect(lambda _, way=way: store.choose(negative_display=way))
            group.addAction(action)
            self._ways[way] = action
        self.setMenu(menu)

    def is_needed(self, state: State) -> bool:
        """True if `state` shows a result that may have negative values."""
        return state.view_mode in NEGATIVE_MODES and intents.is_around_zero(state)

    def show_state(self, state: State, levels: tuple[float, float] | None) -> None:
        """Show the mapping and its levels, black and white; None: not known yet."""
        self._ways[state.negative_display].setChecked(True)
        way = intents.look_for(state).negative_display
        words = NEGATIVE_TITLES[way]
        if levels is not None:
            ends = state.tone.exposed(levels, way in ("offset", "scaled"))
            low, high = (numbers.in_digits(each).replace("-", "−") for each in ends)
            words = f"{words}: {low} to {high}"
        if f"{words} ▾" != self.text():
            self.setText(f"{words} ▾")
            self.setAccessibleName(f"Negative values: {words}")


Values = NDArray[Any] | None  # (C,) samples of one pixel

CHANNELS = {1: ("grey",), 2: ("grey", "α"), 3: ("R", "G", "B"), 4: ("R", "G", "B", "α")}
_PINNED = tuple(pin_name(number).lower() for number in range(1, MAX_PINS + 1))
_FIRST_TO_GO = ("difference", *reversed(_PINNED), "before", "after")  # where room is scarce
# Characters for a number: of this pixel type; of a result as float32 of such a picture.
_WIDTHS = {"uint8": 3, "uint16": 5, "float16": 10, "float32": 10}
_WIDE_WIDTHS = {"uint8": 7, "uint16": 8, "float16": 10, "float32": 10}
_NONE, _APART = "–", "   "
INDENT_PX = 4  # to where messages begin in a status bar


class ReadOut(QWidget):
    """The values of one pixel, as they are in the data: neither scaled nor clipped.

    Nothing moves under the pointer: numbers are padded to the widest of the picture.  In a narrow
    window whole parts are left out, the difference first.
    """

    first_pointed = Signal()  # there is something in `whole` from now on

    def __init__(self) -> None:
        super().__init__()
        self._label = Label(name="values", font=theme.fixed_font(), is_selectable=True)
        self._label.setAccessibleName("Values under the pointer")
        self._label.setIndent(INDENT_PX)
        self._label.setParent(self)
        self.whole = ""  # all parts, of the pixel pointed at last
        self._digits = 3, 3  # of the picture before, and of all others
        self._place = _position(9999, 9999)  # the widest
        self._point: tuple[int, int] | None = None
        self._values: dict[str, Values] = {}
        self.show_pins((), 0)

    def show_pins(self, shown: Collection[int], against: int) -> None:
        """Show parts for the pinned results of these numbers.

        against  subtracted from the newest: 0 the original, else the pin of that number
        """
        self._against = against
        pinned = [name for number, name in enumerate(_PINNED, 1) if number in shown]
        self._titles = {name: name for name in ("before", *pinned, "after", "difference")}
        if pinned:
            other = _PINNED[against - 1] if against else "before"
            self._titles["difference"] = f"after − {other}"
        self._write()

    def show_values(
        self, point: tuple[int, int] | None, before: Values, pinned: Sequence[Values], after: Values
    ) -> None:
        """Show samples of one pixel, each (C,); None: no such pixel or picture."""
        self._point = point
        self._values = dict(zip(_PINNED, pinned, strict=False), before=before, after=after)
        # `_against` may still name a pin that has just been removed.
        other = self._values.get(_PINNED[self._against - 1] if self._against else "before")
        if after is not None and other is not None:
            wide = np.int64 if {after.dtype.kind, other.dtype.kind} == {"u"} else np.float64
            with np.errstate(invalid="ignore"):  # infinity minus infinity is NaN, and shown as that
                self._values["difference"] = after.astype(wide) - other.astype(wide)
        self._write()

    def prepare_for(
        self, before: NDArray[Any], *results: NDArray[Any], size: tuple[int, int] | None = None
    ) -> None:
        """Reserve room for any pixel of these.

        before, results  (H, W, C), all of one shape
        size             width and height for the position; None: those of the arrays
        """
        own, others = str(before.dtype), {str(each.dtype) for each in results}
        width, height = size or before.shape[1::-1]
        self._digits = _WIDTHS[own], (_WIDTHS if others <= {own} else _WIDE_WIDTHS)[own]
        self._place = _position(width - 1, height - 1)
        self._write()

    def sizeHint(self) -> QSize:  # noqa: N802
        metrics = self._label.fontMetrics()
        return QSize(metrics.horizontalAdvance(self._place) + INDENT_PX, metrics.height())

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return self.sizeHint()

    def resizeEvent(self, _event: QResizeEvent) -> None:  # noqa: N802
        self._label.setFixedSize(self.size())  # so that another text lays nothing out anew
        self._write()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        if event.type() == QEvent.Type.ApplicationFontChange:
            self._label.setFont(theme.fixed_font())
            self._write()
        super().changeEvent(event)

    def _write(self) -> None:
        """Write as many parts as there is room for, and none where nothing is pointed at."""
        texts = {
            name: f"{title}  {self._text(self._values.get(name), name)}"
            for name, title in self._titles.items()
        }
        at = _position(*self._point).ljust(len(self._place)) if self._point else ""
        before, self.whole = self.whole, _APART.join((at, *texts.values())) if at else self.whole
        if not before and self.whole:
            self.first_pointed.emit()
        room = (self.width() - INDENT_PX) // self._label.fontMetrics().horizontalAdvance("0")
        for name in _FIRST_TO_GO:
            if len(_APART.join((self._place, *texts.values()))) > room:
                texts.pop(name, None)
        self._label.setText(_APART.join((at, *texts.values())) if self._point else "")

    def _text(self, values: Values, part: str) -> str:
        if values is None:
            return _NONE
        signed = part == "difference"
        wide = self._digits[part != "before"] + signed
        pairs = zip(CHANNELS[values.size], values, strict=True)
        return " ".join(f"{name} {_format(value, wide, signed):<{wide}}" for name, value in pairs)


def _position(x: int, y: int) -> str:
    return f"x {x}  y {y}"


def _format(value: Any, wide: int, signed: bool) -> str:
    """Write a value in at most `wide` characters, as exact as they allow."""
    sign = "+" if signed and value > 0 else ""
    if not isinstance(value, np.floating):
        return f"{value:{sign}d}"
    ways = (".1f", ".0f") if 1000 <= abs(value) < 1e6 else (".4g", ".3g", ".2g", ".1g")
    texts = [f"{value:{sign}{way}}" for way in ways]
    return next((text for text in texts if len(text) <= wide), texts[-1])


class ReadOutRow(QWidget):
    """One line for a status bar: values at its left, zoom and buttons at its right.

    read_out                   the values under the pointer
    fit, exact, original, pin, part  buttons; `original` is held down to see the picture before
    """

    def __init__(self) -> None:
        super().__init__()
        described(self, "read-out-row", "Pixel under the pointer and zoom")
        self.read_out = ReadOut()
        self._zoom = Label(name="zoom", font=theme.numbers_font())
        self._zoom.setAccessibleName("Zoom")
        metrics = self._zoom.fontMetrics()
        # Of one size, so that another number lays nothing out anew.
        self._zoom.setFixedSize(metrics.horizontalAdvance("12800 %") + 4, metrics.height() + 4)
        self._zoom.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._zoom.setToolTip("Screen pixels per picture pixel; above 100 % no pixel is blended")
        self.fit, self.exact, self.original, self.pin, self.part = buttons = [
            make_button(*each) for each in BUTTONS
        ]
        self.part.setCheckable(True)
        HBox(self, (8, 0, 0, 0), 6).add((self.read_out, 1), self._zoom, *buttons)
        self.show_scale(None)

    def show_scale(self, scale: float | None) -> None:
        """Show the screen pixels per picture pixel in percent; None: no picture."""
        percent = 100 * (scale or 0.0)
        digits = 0 if percent >= 10 else 1
        self._zoom.setText("" if scale is None else f"{percent:.{digits}f} %")
        for button in (self.fit, self.exact, self.original, self.part):
            button.setEnabled(scale is not None)
