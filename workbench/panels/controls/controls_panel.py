"""The panel of settings: filter, implementation, display and weights."""

from __future__ import annotations

import math

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGroupBox, QWidget

from kernels.core.device import Device, NoDevice
from kernels.engine.auto import Auto
from kernels.engine.own_kernel import OwnKernel
from workbench.base import theme
from workbench.base.plain_text import Label, tip_text
from workbench.model import intents
from workbench.model.names import NEGATIVE_TITLES
from workbench.model.state import State
from workbench.panels.controls.filter_controls import FilterControls, WeightsControls
from workbench.panels.controls.tool_boxes import Availability, BlockNumbers
from workbench.panels.controls.tool_row import why_no_block
from workbench.widgets.boxes import Form, HBox, UprightArea, VBox, align
from workbench.widgets.buttons import push_button
from workbench.widgets.drop_down import DropDown
from workbench.widgets.folding import FoldedSection
from workbench.widgets.lazy_panel import MARGINS
from workbench.widgets.number_boxes import DecimalBox

CACHE_TIP = (
    "Cold: the GPU's L2 is emptied before each sample, as when the picture is new to it.\n"
    "Warm: it still holds what the sample before left there, which flatters small pictures."
)
DEVICES_TIP = (
    "So many GPUs share the rows of the picture; the rows that one needs of another's are copied\n"
    "between them. The time is from the first one's start until all have ended."
)
MAX_LINES = 6  # of a sentence about an implementation
NO_CACHE = "Only runs on a GPU have an L2 cache to empty."
NO_GPU = "Auto runs on the CPU here, whose caches are left as they are."


class RunControls(QGroupBox):
    """Block, cache, baseline and devices; `wanted` emits name and value of a State field.

    about  the label with a sentence about the chosen implementation
    """

    wanted = Signal(str, object)

    def __init__(self) -> None:
        super().__init__("Implementation")
        self._availability: Availability = []
        self.about = Label(name="about-implementation", is_muted=True, wraps=True)
        self.about.setFixedHeight(MAX_LINES * self.about.fontMetrics().lineSpacing())
        self.about.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._block = BlockNumbers()
        self._cache = DropDown("cache", "L2 cache")
        self._cache.addItem("Cold", "cold")
        self._cache.addItem("Warm", "warm")
        self._devices = DropDown("devices", "Devices")
        self._devices.setToolTip(DEVICES_TIP)
        self._baseline = DropDown("baseline", "Speed-up against")
        self._baseline.setToolTip(
            "The CPU implementation that speed-ups are measured against.\n"
            "Nothing but “Speed-up” changes with it."
        )
        combos = {"cache": self._cache, "baseline": self._baseline, "devices": self._devices}
        for name, combo in combos.items():
            combo.activated.connect(lambda _, n=name, c=combo: self.wanted.emit(n, c.currentData()))
        self._block.picked.connect(lambda block_xy: self.wanted.emit("block_xy", block_xy))
        self._lay_out()

    def show_implementations(self, availability: Availability) -> None:
        """Offer implementations, each with the reason it cannot run the job, or None."""
        if availability == self._availability:
            return
        self._availability = availability
        current = self._baseline.currentData()
        self._baseline.clear()
        for implementation, reason in availability:
            if implementation.kind == "cpu":
                self._add_baseline(implementation.key, implementation.title, reason)
        self._baseline.setCurrentIndex(self._baseline.findData(current))

    def show_device(self, device: Device | NoDevice) -> None:
        """Offer as many GPUs as there are, where there are several."""
        count = device.count if isinstance(device, Device) else 0
        chosen = self._devices.currentData()
        self._devices.clear()
        for number in range(1, count + 1):
            self._devices.addItem(f"{number} GPU{'s' if number > 1 else ''}", number)
        self._devices.setCurrentIndex(self._devices.findData(chosen))
        self.form.setRowVisible(self._devices, count > 1)

    def show_state(self, state: State) -> None:
        """Show how the filter is computed, and a sentence about the chosen implementation."""
        for combo, key in (
            (self._cache, state.cache),
            (self._baseline, state.baseline),
            (self._devices, state.devices),
        ):
            combo.setCurrentIndex(combo.findData(key))  # only `activated` is listened to
        chosen, reason = next(
            (each for each in self._availability if each[0].key == state.implementation),
            (None, None),
        )
        self.about.setText(reason or (chosen.idea if chosen else ""))
        self._block.show_block(state.block_xy)
        self._block.show_refusal(why_no_block(chosen))
        no_cache = NO_CACHE if chosen is None or chosen.kind == "cpu" else ""
        if isinstance(chosen, Auto | OwnKernel) and not self._has_gpu():
            no_cache = NO_GPU if isinstance(chosen, Auto) else NO_CACHE
        self._devices.setEnabled(not no_cache)
        self._cache.setEnabled(not no_cache)
        self._cache.setToolTip(tip_text(no_cache or CACHE_TIP))

    def _has_gpu(self) -> bool:
        return any(each.kind == "cuda" and not reason for each, reason in self._availability)

    def _add_baseline(self, key: str, title: str, reason: str | None) -> None:
        self._baseline.addItem(title, key)
        if reason:
            row = self._baseline.count() - 1
            self._baseline.model().item(row).setEnabled(False)  # type: ignore[attr-defined]
            self._baseline.setItemData(row, tip_text(reason), Qt.ItemDataRole.ToolTipRole)

    def _lay_out(self) -> None:
        self.form = form = Form(self)
        form.add("Block", self._block, self._block.across)
        form.add("L&2 cache", self._cache)
        form.add("S&peed-up vs", self._baseline)
        form.add("Devices", self._devices)
        form.setRowVisible(self._devices, False)  # most computers have one GPU, or none
        form.addRow(self.about)  # below, as high as the longest: nothing moves with what it says


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
        wanted(name, value): the user picked `value` for State field `name`.
        auto_levels_wanted(): fit the levels to the pictures shown.
    """

    wanted = Signal(str, object)
    auto_levels_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("untitled", True)
        self._state = State()
        self._found: tuple[float, float] | None = None  # by fitting the newest result
        self._black = DecimalBox("level-black", "Black point", LEVEL_TIP.format("black"))
        self._white = DecimalBox("level-white", "White point", LEVEL_TIP.format("white"))
        for box in (self._black, self._white):
            box.setMinimumWidth(96)
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
        """Show the levels and the mapping of negative values."""
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
        """Show the levels fitted to the newest result."""
        self._found = levels
        self._show_levels()

    @property
    def _field(self) -> str:
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


DISPLAY_TIP = "How pictures are shown; filters and saved files never change with it."
# From these heights on there is room for a sentence about the implementation, and for the display's
# part to be open.  They go by no content: what stands here keeps its place whatever is chosen.
SENTENCE_PX, DISPLAY_PX = 745, 640


class ControlPanel(UprightArea):
    """The panel that shows a `State` and emits the user's choices; it decides nothing.

    Signals:
        wanted(name, value): the user picked `value` for State field `name`.
        auto_levels_wanted(): fit the display's levels to the pictures shown.
    """

    wanted = Signal(str, object)
    auto_levels_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.filter = FilterControls()
        self.run = RunControls()
        self._display = DisplayControls()
        self.weights = WeightsControls()
        self._groups = (self.filter, self.run, self._display, self.weights)
        for group in self._groups:
            group.wanted.connect(self.wanted)
        self._display.auto_levels_wanted.connect(self.auto_levels_wanted)
        column = QWidget()
        column.setObjectName("controls")
        rows = VBox(column, MARGINS)
        self._fold = FoldedSection("controls-fold-display", DISPLAY_TIP, "Display", self._display)
        rows.add(self.filter, self.run, self._fold, self.weights)
        rows.addStretch(1)
        self.setWidget(column)
        self._align()

    def show_implementations(self, availability: Availability) -> None:
        """Offer implementations, each with the reason it cannot run the job, or None."""
        self.run.show_implementations(availability)

    def show_device(self, device: Device | NoDevice) -> None:
        """Offer several GPUs where there are some."""
        self.run.show_device(device)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and self.widget() is not None:
            self._align()
            self._give_way()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._give_way()

    def _give_way(self) -> None:
        self.run.about.setVisible(self.height() >= theme.in_letters(SENTENCE_PX))
        self._fold.show_room(self.height() >= theme.in_letters(DISPLAY_PX))

    def _align(self) -> None:
        align(self.filter.form, self.run.form, self._display.form)

    def show_levels(self, levels: tuple[float, float] | None) -> None:
        """Show the levels fitted to the newest result."""
        self._display.show_levels(levels)

    def show_state(self, state: State) -> None:
        """Show `state` in every group."""
        for group in self._groups:
            group.show_state(state)
