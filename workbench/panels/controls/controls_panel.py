"""The panel of settings: filter, implementation and display."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QEvent, Qt, Slot
from PySide6.QtWidgets import QCheckBox, QGroupBox, QSizePolicy, QWidget

from kernels import filters
from kernels.core.borders import BORDERS
from kernels.core.device import Device, NoDevice
from kernels.core.job import PIXEL_TYPES, Result
from kernels.engine.auto import Auto
from kernels.engine.list_ways import WAYS
from kernels.engine.own_kernel import OwnKernel
from kernels.filters import has_parameter
from kernels.filters.parameters import DISK, NUMBERS, PATCH, SIGMA, Parameter
from kernels.rungs.own_kernels import is_own
from workbench.base import numbers
from workbench.base.background import Background
from workbench.base.paths import asset_table
from workbench.base.plain_text import Label, tip_text
from workbench.imaging.analyses import Levels, around_zero, spanning
from workbench.imaging.display import Display
from workbench.model import bell, intents
from workbench.model.names import NEGATIVE_TITLES
from workbench.model.state import State
from workbench.panels.controls.tool_row import (
    BLOCK_TIP,
    Availability,
    ImplementationBox,
    why_no_block,
)
from workbench.session.live import Live
from workbench.session.store import Store
from workbench.widgets.boxes import Form, HBox, UprightArea, VBox, align
from workbench.widgets.buttons import allow, described, push_button
from workbench.widgets.drop_down import DropDown
from workbench.widgets.folding import FoldedSection
from workbench.widgets.lazy_panel import MARGINS
from workbench.widgets.message_bar import MessageBar
from workbench.widgets.number_boxes import DecimalBox, OddSpinBox, WholeBox
from workbench.widgets.watch import Watch


class FieldList(DropDown):
    """A list of values for one field of the State, which the user's choice replaces."""

    def __init__(self, store: Store, field: str, title: str, tip: str = "") -> None:
        super().__init__(field.replace("_", "-"), title, tip)
        self._field = field
        self.activated.connect(lambda _: store.choose(**{field: self.currentData()}))

    def show_state(self, state: State) -> None:
        self.show_data(getattr(state, self._field))


TIPS = asset_table("tips.toml")["settings"]
BORDER_TIPS, ALPHA_TIPS, WHOLE_TIPS = (TIPS[name] for name in ("borders", "alphas", "wholes"))
LINES = 2
SIZE_TIP = f"Take the kernel size that holds {numbers.percent(bell.ENOUGH)} of the bell."
AUTOMATIC, BINOMIAL = "Auto", "Binomial"  # what automatic sigma gives


# In titles of parameters; a threshold has none that is not taken elsewhere.
LETTERS = {
    **{"sigma": "g", "amount": "m", "percentile": "t", "sigma_colour": "a"},
    **{"patch": "a", "strength": "n", "epsilon": "i", "is_disk": "k"},
}
PATCHES = range(int(PATCH.low or 1), int(PATCH.high or 1) + 1, int(PATCH.step))


class FilterControls(QGroupBox):
    """The controls of the border, the pixel type, and the parameters of the filter.

    Those that another filter has take no room.  They are the last, so that what all have stays in
    its place.

    device  which decides how a list may run; None: not known yet
    """

    def __init__(self, store: Store) -> None:
        super().__init__("Filter")
        self.device: Device | NoDevice | None = None
        tick = QCheckBox(BINOMIAL)  # the wider of its two texts sets its width
        self._automatic = described(tick, "automatic-sigma", "Automatic sigma", TIPS["automatic"])
        self._automatic.setMinimumWidth(self._automatic.sizeHint().width())
        self._numbers = {each.name: _number_box(each) for each in NUMBERS}
        for name, number in self._numbers.items():
            changed = number.picked if isinstance(number, OddSpinBox) else number.valueChanged
            changed.connect(lambda value, name=name: store.choose(**{name: value}))
        self._sigma = self._numbers["sigma"]
        self._automatic.clicked.connect(
            lambda is_on: store.choose(sigma=None if is_on else self._sigma.value())
        )
        self._disk = described(QCheckBox(), "disk", DISK.title, DISK.tip)
        self._disk.clicked.connect(lambda is_on: store.choose(is_disk=is_on))
        self._border = FieldList(store, "border", "Border", TIPS["border"])
        for border in BORDERS:
            self._border.add(border.capitalize(), border, BORDER_TIPS[border])
        self._pixel_type = FieldList(store, "pixel_type", "Pixel type", TIPS["pixel-type"])
        self._pixel_type.add("As in the file")
        for pixel_type in PIXEL_TYPES:
            self._pixel_type.add(pixel_type, pixel_type)
        self._alpha = FieldList(store, "alpha", "Alpha", TIPS["alpha"])
        self._whole = FieldList(store, "whole", "Whole list", TIPS["whole"])
        for box, tips in ((self._alpha, ALPHA_TIPS), (self._whole, WHOLE_TIPS)):
            for value, tip in tips.items():
                box.add(tip.split("\n", 1)[0], value, tip)
        # Two lines about the part of the bell inside the kernel, kept where there is one.
        self._better = 0  # the size that holds nearly all of the bell, if the present one does not
        self._note = Label(name="sigma-note", is_muted=True, wraps=True)
        self._note.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._note.setFixedHeight(LINES * self._note.fontMetrics().lineSpacing())
        self._note.setAlignment(Qt.AlignmentFlag.AlignVCenter)
        self._take = push_button("sigma-size", "Take", SIZE_TIP, look="compact")
        self._take.setFixedWidth(self._take.sizeHint().width() + 12)
        self._take.clicked.connect(lambda: store.choose(ksize=self._better))
        self._lay_out()

    def _lay_out(self) -> None:
        self._rows: dict[str, list[QWidget]] = {}  # by the parameter that they are of
        self._samples = {each.name: Label(is_muted=True) for each in NUMBERS if each.of_white}
        self.form = Form(self)
        self.form.add("Bor&der", self._border)
        self.form.add("Pi&xel type", self._pixel_type)
        self.form.add("Al&pha", self._alpha)
        self.form.add("&Whole list", self._whole)
        for each in (*NUMBERS, DISK):
            row, field = QWidget(), self._numbers.get(each.name, self._disk)
            inside = HBox(row, 0).add(*[self._automatic] * (each is SIGMA), (field, 1))
            if each.of_white:
                samples = self._samples[each.name]
                samples.setMinimumWidth(samples.fontMetrics().horizontalAdvance("= 65535.5²"))
                inside.add(samples)
            letter = LETTERS.get(each.name, "")
            text = each.title.replace(letter, f"&{letter}", 1) if letter else each.title
            self.form.add(text, row, self._automatic if each is SIGMA else field)
            self._rows[each.name] = [row]
            if each is SIGMA:
                self._rows[each.name].append(note_row := QWidget())
                HBox(note_row, 0).add((self._note, 1), self._take)
                self.form.addRow(note_row)

    def show_state(self, state: State) -> None:
        self._border.show_state(state)
        self._pixel_type.show_state(state)
        self._alpha.show_state(state)
        is_clear = state.picture is not None and state.picture.is_transparent
        self.form.setRowVisible(self._alpha, is_clear)
        self._whole.show_state(state)
        self.form.setRowVisible(self._whole, len(state.steps) > 1)
        if len(state.steps) > 1:
            reasons = {way: intents.why_no_way(state, way, self.device) for way in WAYS}
            for way, reason in reasons.items():
                self._whole.show_why_not(way, reason, WHOLE_TIPS[way])
            why = reasons[WAYS[0]] if len(set(reasons.values())) == 1 else ""  # of all of them
            self._whole.setEnabled(state.whole != "auto" or not why)
            self._whole.setToolTip(tip_text(why or TIPS["whole"]))
        allow(self._alpha, TIPS["own-alpha"] * is_own(state.implementation), TIPS["alpha"])
        self._automatic.setChecked(state.sigma is None)
        self._sigma.setEnabled(state.sigma is not None)
        if has_parameter(filters.get(state.filter), "sigma"):
            self._sigma.show_value(bell.sigma_of(state))
            self._automatic.setText(BINOMIAL if bell.is_binomial(state) else AUTOMATIC)
            lines = 1 + bell.is_binomial(replace(state, sigma=None, ksize=3))
            self._automatic.setToolTip(tip_text("\n".join(TIPS["automatic"].split("\n")[:lines])))
        self._note.setText(bell.in_words(state))
        self._better = bell.better_size(state) or 0
        self._take.setVisible(bool(self._better))
        self._take.setAccessibleName(f"Take kernel size {self._better}")
        white = intents.white_of(state)
        for each in NUMBERS[1:]:
            value = getattr(state, each.name)
            self._numbers[each.name].show_value(value)
            if each.of_white:
                samples = f"= {value ** (1 / each.of_white) * white:.5g}{'²' * (each.of_white - 1)}"
                self._samples[each.name].setText(samples if white != 1 else "")
                self._samples[each.name].setToolTip(TIPS["white"].format(white))
        self._disk.setChecked(state.is_disk)
        takes = partial(has_parameter, filters.get(state.filter))
        for name, rows in self._rows.items():
            for row, is_needed in zip(rows, (True, bool(self._note.text())), strict=False):
                self.form.setRowVisible(row, takes(name) and is_needed)


def _number_box(of: Parameter) -> DecimalBox | OddSpinBox:
    name = of.name.replace("_", "-")
    if of is PATCH:
        odd = OddSpinBox(name, of.title, of.tip)
        odd.show_size(PATCH.default, PATCHES)
        return odd
    box = DecimalBox(name, of.title, of.tip)
    box.leaves_zeros = True
    box.setDecimals(6 if of.of_white else 2)  # enough for 10/255
    box.setRange(of.low or 0.0, of.high or 0.0)
    box.setSingleStep(of.step)
    box.setMinimumWidth(96 if of.of_white else 72)
    return box


class RunControls(QGroupBox):
    """The controls of block, cache, baseline and devices."""

    def __init__(self, store: Store) -> None:
        super().__init__("Implementation")
        self._availability: Availability = []
        self._block, self._sides = QWidget(), (_side("x", "width"), _side("y", "height"))
        self._block.setObjectName("block-picker")
        self._block.setWhatsThis(BLOCK_TIP)
        for side in self._sides:
            side.valueChanged.connect(
                lambda _: store.choose(block_xy=tuple(each.value() for each in self._sides))
            )
        HBox(self._block, 0).add((self._sides[0], 1), Label("×"), (self._sides[1], 1))
        self._cache = FieldList(store, "cache", "L2 cache")
        self._cache.add("Cold", "cold")
        self._cache.add("Warm", "warm")
        self._cache.setWhatsThis(TIPS["cache"])
        self._devices = FieldList(store, "devices", "Devices", TIPS["devices"])
        self._baseline = ImplementationBox("baseline", "Speed-up against", TIPS["baseline"])
        self._baseline.activated.connect(
            lambda _: store.choose(baseline=self._baseline.currentData())
        )
        self.form = Form(self)
        self.form.add("Block", self._block, self._sides[0])
        self.form.add("L2 &cache", self._cache)
        self.form.add("Speed-up vs", self._baseline)
        self.form.add("Devices", self._devices)
        self.form.setRowVisible(self._devices, False)  # most computers have one GPU, or none

    def show_implementations(self, availability: Availability) -> None:
        """Offer implementations, each with the reason it cannot run the job, or None."""
        if availability != self._availability:
            self._availability = availability
            self._baseline.show_implementations(
                [(each, reason) for each, reason in availability if each.kind == "cpu"]
            )

    def show_device(self, device: Device | NoDevice) -> None:
        """Offer as many GPUs as there are, where there are several."""
        count = device.count if isinstance(device, Device) else 0
        chosen = self._devices.currentData()
        self._devices.clear()
        for number in range(1, count + 1):
            self._devices.add(numbers.plural(number, "GPU"), number)
        self._devices.show_data(chosen)
        self.form.setRowVisible(self._devices, count > 1)

    def show_state(self, state: State) -> None:
        self._baseline.show_choice(state.baseline)
        for each in (self._cache, self._devices):
            each.show_state(state)
        every = (each for each, _ in self._availability)
        chosen = next((each for each in every if each.key == state.implementation), None)
        for side, value in zip(self._sides, state.block_xy, strict=True):
            side.show_value(value)
        allow(self._block, why_no_block(chosen), BLOCK_TIP)
        no_cache = TIPS["no-cache"] if chosen is None or chosen.kind == "cpu" else ""
        has_gpu = any(each.kind == "cuda" and not reason for each, reason in self._availability)
        if isinstance(chosen, Auto | OwnKernel) and not has_gpu:
            no_cache = TIPS["no-gpu"] if isinstance(chosen, Auto) else TIPS["no-cache"]
        self._devices.setEnabled(not no_cache)
        allow(self._cache, no_cache, TIPS["cache"])


def _side(axis: str, title: str) -> WholeBox:
    box = WholeBox(f"block-{axis}", f"Block {title}")
    box.setRange(1, 1024)
    box.setMinimumWidth(72)
    return box


MAX_LEVEL = 1e6  # the largest level; 16 bits end at 65535
MAX_DECIMALS = 9
NOTHING = "Auto levels: what is shown has one value only, so there is nothing to spread."


class DisplayControls(QGroupBox):
    """The controls of the display: levels of black and white, and negative values."""

    def __init__(
        self, store: Store, live: Live, background: Background, messages: MessageBar
    ) -> None:
        """Make the controls; `background` finds levels that span the pictures of `live`."""
        super().__init__()
        self.setProperty("untitled", True)
        self.setToolTip(TIPS["display"])
        self._store, self._live = store, live
        self._background, self._messages = background, messages
        # Levels fitted to the newest result.
        self._found = None if live.of_view is None else live.of_view[2].levels
        live.after_ready.connect(self._take)
        self._black = DecimalBox("level-black", "Black point", TIPS["level"].format("black"))
        self._white = DecimalBox("level-white", "White point", TIPS["level"].format("white"))
        for box in (self._black, self._white):
            box.setMinimumWidth(96)
            box.valueChanged.connect(
                lambda _: store.choose(**{self._field: (self._black.value(), self._white.value())})
            )
        tip = "Black and white points that span what is shown."
        auto = push_button("levels-auto", "Auto levels", tip)
        auto.clicked.connect(self._search)
        tip = "The black and white points to begin with."
        self._reset = push_button("levels-reset", "Reset", tip)
        self._reset.clicked.connect(lambda: store.choose(**{self._field: None}))
        self._negative = FieldList(store, "negative_display", "Negative values", TIPS["negative"])
        for key, title in NEGATIVE_TITLES.items():
            self._negative.add(title, key)
        buttons = QWidget()
        HBox(buttons, 0).add((auto, 2), (self._reset, 1))
        self.form = Form(self)
        self.form.add("Black point", self._black)
        self.form.add("White point", self._white)
        self.form.add("Negative", self._negative)
        self.form.add("", buttons)

    def show_state(self, state: State) -> None:
        self.setEnabled(state.picture is not None)
        self._negative.show_state(state)
        is_around_zero = intents.is_around_zero(state)
        self._negative.setEnabled(is_around_zero)
        shown = intents.look_for(state).negative_display
        auto = f"Auto: {NEGATIVE_TITLES[shown].lower()}" if is_around_zero else "Auto"
        self._negative.setItemText(0, auto)
        self._reset.setEnabled(getattr(state, self._field) is not None)
        self._show_levels()

    @Slot(object, object)
    def _take(self, _result: Result, display: Display) -> None:
        self._found = display.levels
        self._show_levels()

    @property
    def _field(self) -> str:
        return "result_levels" if intents.is_around_zero(self._store.state) else "levels"

    def _show_levels(self) -> None:
        state = self._store.state
        if (picture := state.picture) is None:
            return
        low, high = intents.look_for(state).levels or self._found or (0.0, picture.white)
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

    def _search(self) -> None:
        """Fit the result where it swings around zero, else the pictures before and after."""
        asked, of_view = self._store.state, self._live.of_view
        if asked.picture is None:
            return
        field, results = self._field, () if of_view is None else (of_view[1].picture,)
        search: Callable[[], Levels | None] = partial(spanning, asked.picture.samples, *results)
        if results and field == "result_levels":
            search = partial(around_zero, *results, intents.look_for(asked).negative_display)
        elif not results:
            field = "levels"

        def show(levels: Levels | None) -> None:
            now = self._store.state  # another picture or filter may have been chosen meanwhile
            if now.picture is not asked.picture or intents.needs_run(asked, now):
                return
            if levels is None:
                self._messages.show_message("info", NOTHING)
            else:
                self._store.update(**{field: levels})

        self._background.run(search, show, self._messages.show_error)


WEIGHTS_TIP = "The weights editor, with rank and frequency response (Ctrl+E)"
DISPLAY_PX = 640  # the least height at which the display's part is open, whatever is chosen


class ControlPanel(UprightArea):
    """The panel that shows a `State`, and puts the user's choices into the store."""

    def __init__(
        self,
        store: Store,
        live: Live,
        background: Background,
        messages: MessageBar,
        edit_weights: Callable[[], object],
    ) -> None:
        """Make the panel; `edit_weights` opens the weights editor."""
        super().__init__()
        self._filter, self._run = FilterControls(store), RunControls(store)
        self._display = DisplayControls(store, live, background, messages)
        self._groups = (self._filter, self._run, self._display)
        self._weights = push_button("edit-weights", "Edit weights…", WEIGHTS_TIP)
        self._weights.clicked.connect(lambda: edit_weights())
        column = QWidget()
        column.setObjectName("controls")
        fold = FoldedSection("controls-fold-display", TIPS["display"], "Display", self._display)
        fold.follow(self, DISPLAY_PX)
        VBox(column, MARGINS).add(self._filter, self._run, fold, self._weights, 1)
        self.setWidget(column)
        Watch(self, QEvent.Type.FontChange).seen.connect(self._align)
        self._align()

    def show_implementations(self, availability: Availability) -> None:
        self._run.show_implementations(availability)

    def show_device(self, device: Device | NoDevice) -> None:
        self._filter.device = device
        self._run.show_device(device)

    def show_state(self, state: State) -> None:
        for group in self._groups:
            group.show_state(state)
        # The last of the settings, so that nothing moves where a filter has no use for it.
        self._weights.setVisible(filters.has_parameter(filters.get(state.filter), "matrix"))

    def _align(self) -> None:
        align(self._filter.form, self._run.form, self._display.form)
