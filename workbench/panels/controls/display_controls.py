"""The controls of the display: black point, white point, and negative values."""

from __future__ import annotations

import math

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGroupBox, QWidget

from workbench.base.plain_text import tip_text
from workbench.model import intents
from workbench.model.names import NEGATIVE_TITLES
from workbench.model.state import State
from workbench.widgets.boxes import Form, HBox
from workbench.widgets.buttons import push_button
from workbench.widgets.drop_down import DropDown
from workbench.widgets.number_boxes import DecimalBox

MAX_LEVEL = 1e6  # the largest level; 16 bits end at 65535
MAX_DECIMALS = 9
NEGATIVE_TIP = (
    "How results with negative values are shown (Sobel, Laplacian and others whose weights sum to "
    "0).\nAuto: absolute for slopes such as Sobel and Prewitt, fit range for all others.\n"
    "Clip: negative is black.  Absolute: without sign.  Centre on grey: 0 is grey.\n"
    "Fit range: 0 is grey, and 99.5 % of all other values fit between black and white.\n"
    "The data keep their negative values: pictures of 8 or 16 bits are filtered, and timed, as "
    "float32.\nTo have them cut off, and to time that, choose uint8 or uint16 as pixel type, and "
    "Auto or Clip here."
)
LEVEL_TIP = "Samples of this value, and beyond it, are shown as {}."


class DisplayControls(QGroupBox):
    """The controls of the display: levels of black and white, and negative values.

    Signals:
        wanted(name, value): the user picked `value` for State field `name`: "levels",
            "result_levels" or "negative_display".
        auto_levels_wanted(): the levels are to span what is shown.
    """

    wanted = Signal(str, object)
    auto_levels_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("untitled", True)
        self._state = State()
        self._found: tuple[float, float] | None = None  # by fitting the newest result
        self._black = _spin_box("level-black", "Black point")
        self._white = _spin_box("level-white", "White point")
        for box, shade in ((self._black, "black"), (self._white, "white")):
            box.setToolTip(tip_text(LEVEL_TIP.format(shade)))
            box.valueChanged.connect(self._want)
        tip = "Black and white points that span what is shown."
        self._auto = push_button("levels-auto", "Auto levels", tip)
        self._auto.clicked.connect(self.auto_levels_wanted)
        tip = "The black and white points to begin with."
        self._reset = push_button("levels-reset", "Reset", tip)
        self._reset.clicked.connect(lambda: self.wanted.emit(self._field, None))
        self._negative = DropDown("negative-display", "Negative values")
        self._negative.setToolTip(tip_text(NEGATIVE_TIP))
        for key, title in NEGATIVE_TITLES.items():
            self._negative.addItem(title, key)
        self._negative.activated.connect(
            lambda row: self.wanted.emit("negative_display", self._negative.itemData(row))
        )
        self._lay_out()

    def show_state(self, state: State) -> None:
        """Show the levels, and how negative values are displayed."""
        self._state = state
        self.setEnabled(state.picture is not None)
        self._negative.setCurrentIndex(list(NEGATIVE_TITLES).index(state.negative_display))
        is_around_zero = intents.is_around_zero(state)
        self._negative.setEnabled(is_around_zero)
        shown = intents.look_for(state).negative_display
        auto = f"Auto: {NEGATIVE_TITLES[shown].lower()}" if is_around_zero else "Auto"
        self._negative.setItemText(0, auto)
        self._reset.setEnabled(getattr(state, self._field) is not None)
        self._show_levels()

    def show_levels(self, levels: tuple[float, float] | None) -> None:
        """Show the levels that were found by fitting the newest result."""
        self._found = levels
        self._show_levels()

    @property
    def _field(self) -> str:
        """Return the State's field that the two points belong to."""
        return "result_levels" if intents.is_around_zero(self._state) else "levels"

    def _show_levels(self) -> None:
        picture = self._state.picture
        if picture is None:
            return
        low, high = intents.look_for(self._state).levels or self._found or (0.0, picture.white)
        # The range of floats depends on their file: 0 to 1, 0 to 4095, or a few millionths.
        digits = 0 if picture.white > 1 else 3 - math.floor(math.log10(high - low))
        decimals = min(max(digits, 0), MAX_DECIMALS)
        apart = 10.0**-decimals
        for box, value, least, most in (
            (self._black, low, -MAX_LEVEL, high - apart),
            (self._white, high, low + apart, MAX_LEVEL),
        ):
            box.show_range(least, most, decimals, max(round((high - low) / 100, decimals), apart))
            box.show_value(value)

    def _want(self) -> None:
        self.wanted.emit(self._field, (self._black.value(), self._white.value()))

    def _lay_out(self) -> None:
        self.form = form = Form(self)
        form.add("Black point", self._black)
        form.add("White point", self._white)
        form.add("Negative", self._negative)
        buttons = QWidget()
        line = HBox(buttons, 0)
        line.add((self._auto, 2), (self._reset, 1))
        form.add("", buttons)
        self.setToolTip(
            "How pictures are shown. The black and the white point are for looking only:\n"
            "filters and saved files never change with them."
        )


def _spin_box(name: str, title: str) -> DecimalBox:
    box = DecimalBox(name, title)
    box.setMinimumWidth(96)
    return box
