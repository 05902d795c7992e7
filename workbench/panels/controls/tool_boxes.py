"""The tool bar's boxes for block shape, implementation and kernel size."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from kernels import filters
from kernels.engine.auto import AUTO
from kernels.filters import Filter
from kernels.measuring.tuner import PRESETS
from kernels.rungs.own_kernels import is_own
from workbench.base import theme
from workbench.base.plain_text import Label, tip_text
from workbench.model.intents import Choice, has_parameter, has_sizes
from workbench.model.state import State
from workbench.widgets.boxes import HBox
from workbench.widgets.drop_down import ToolList, heading_item
from workbench.widgets.number_boxes import LogSlider, OddSpinBox, WholeBox

BlockXY = tuple[int, int]
BLOCK_TIP = (
    "Threads per block: x along a row of samples (pixels × channels), y rows.\n"
    "A warp is 32 threads, counted along x first.  Keys: , and .\n"
    "The answer stays the same, the time does not: Ctrl+K compares shapes."
)


class BlockNumbers(QWidget):
    """Two numbers: threads along x, and along y; `picked` emits them as a tuple."""

    picked = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("block-picker")
        self.across, self._down = _box("block-x", "Block width"), _box("block-y", "Block height")
        for box in (self.across, self._down):
            box.valueChanged.connect(self._pick)
        line = HBox(self, 0)
        line.add((self.across, 1), Label("×"), (self._down, 1))
        self.setToolTip(BLOCK_TIP)

    def show_block(self, block_xy: BlockXY) -> None:
        """Show this block shape, (x, y) in threads."""
        for box, value in zip((self.across, self._down), block_xy, strict=True):
            box.show_value(value)

    def show_refusal(self, sentence: str) -> None:
        """Disable the numbers because of `sentence`, or enable them if empty."""
        self.setEnabled(not sentence)
        self.setToolTip(tip_text(sentence or BLOCK_TIP))

    def _pick(self) -> None:
        self.picked.emit((self.across.value(), self._down.value()))


def _box(name: str, title: str) -> WholeBox:
    box = WholeBox(name, title)
    box.setRange(1, 1024)
    box.setMinimumWidth(72)
    return box


class BlockBox(ToolList):
    """A list of block shapes: the presets, and the present one."""

    def __init__(self) -> None:
        super().__init__("block", "Block shape")
        self._shapes: list[BlockXY] = []  # the presets, and the present one where it is none
        for preset in PRESETS:
            self._add(preset)

    @property
    def block_xy(self) -> BlockXY:
        """The chosen shape, (x, y) in threads."""
        return self._shapes[self.currentIndex()]

    def show_block(self, block_xy: BlockXY) -> None:
        """Show this block shape, (x, y) in threads."""
        with QSignalBlocker(self):
            if len(self._shapes) > len(PRESETS) and block_xy != self._shapes[-1]:
                self.removeItem(len(PRESETS))
                self._shapes.pop()
            if block_xy not in self._shapes:
                self._add(block_xy)
            self.setCurrentIndex(self._shapes.index(block_xy))

    def show_refusal(self, sentence: str) -> None:
        """Disable the list because of `sentence`, or enable it if empty."""
        self.setEnabled(not sentence)
        self.setToolTip(tip_text(sentence or BLOCK_TIP))

    def step(self, steps: int) -> BlockXY:
        """The preset `steps` further, from the nearest one in thread count."""
        now = self.block_xy
        nearest = min(PRESETS, key=lambda p: (p != now, abs(p[0] * p[1] - now[0] * now[1])))
        return PRESETS[(PRESETS.index(nearest) + steps) % len(PRESETS)]

    def _add(self, block_xy: BlockXY) -> None:
        x, y = block_xy
        self._shapes.append(block_xy)
        self.addItem(f"{x}×{y}", f"{x}x{y}")
        tip = f"{x * y} threads: {x} along a row of samples, {y} rows"
        self.setItemData(self.count() - 1, tip_text(tip), Qt.ItemDataRole.ToolTipRole)


Availability = list[tuple[Choice, str | None]]
KIND_TITLES = {"cpu": "CPU", "cuda": "CUDA"}
OWN_TITLE = "Yours"
REASON = Qt.ItemDataRole.UserRole + 1  # why it cannot run


class ImplementationBox(ToolList):
    """A list of implementations; those that cannot run are grey, with the reason as tip."""

    def __init__(self, name: str, title: str, *, offers_all: bool = False) -> None:
        """Make a list; with `offers_all` those that cannot run can be chosen, to look at them."""
        super().__init__(name, title)
        self._offers_all = offers_all
        self.setItemDelegate(_Greying(self))

    def show_implementations(self, availability: Availability) -> None:
        """Offer these implementations, each with the reason it cannot run, or None."""
        model = QStandardItemModel(self)
        current = self.currentData()
        kind = ""
        for implementation, reason in availability:
            its_kind = "own" if is_own(implementation.key) else implementation.kind
            if its_kind not in (kind, AUTO.kind):
                kind = its_kind
                title = KIND_TITLES.get(kind, OWN_TITLE)
                model.appendRow(heading_item(title, self.font()))
            item = QStandardItem(implementation.title)
            item.setData(implementation.key, Qt.ItemDataRole.UserRole)
            item.setToolTip(tip_text(reason or implementation.idea))
            item.setData(reason, REASON)
            item.setEnabled(reason is None or self._offers_all)
            model.appendRow(item)
        with QSignalBlocker(self):
            self.setModel(model)
            self.show_choice(current)

    def show_choice(self, key: str | None) -> None:
        """Show the implementation `key`, without a signal."""
        with QSignalBlocker(self):
            self.setCurrentIndex(self.findData(key))


class _Greying(QStyledItemDelegate):
    """Draws implementations that cannot run as disabled, even where they can be chosen."""

    def initStyleOption(  # noqa: N802
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().initStyleOption(option, index)
        if index.data(REASON):
            option.state &= ~QStyle.StateFlag.State_Enabled


NUMBER_PX = 66
SLIDER_PX = 44, 108  # at least, and at most


class SizePicker(QWidget):
    """A slider and a number for the State's "ksize", grey where the filter has one size."""

    wanted = Signal(str, object)

    def __init__(self) -> None:
        super().__init__()
        self.number = OddSpinBox("ksize", "Kernel size")
        self.number.picked.connect(lambda ksize: self.wanted.emit("ksize", ksize))
        self.slider = LogSlider()
        self.slider.setObjectName("ksize-slider")
        self.slider.setAccessibleName("Kernel size")
        self.slider.setPageStep(4)
        self.slider.setFixedWidth(SLIDER_PX[1])
        self.slider.valueChanged.connect(lambda radius: self.wanted.emit("ksize", 2 * radius + 1))
        line = HBox(self, 0, 6)
        line.add(self.slider, self.number)
        self.number.setFixedWidth(theme.in_letters(NUMBER_PX))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def show_state(self, state: State) -> None:
        """Show the size and the range of choice."""
        chosen = filters.get(state.filter)
        for each in (self.number, self.slider):
            each.setEnabled(has_sizes(chosen))
            each.setToolTip(tip_text(_tip(chosen)))
        with QSignalBlocker(self.slider):
            self.slider.setRange(chosen.sizes[0] // 2, chosen.sizes[-1] // 2)
            self.slider.setValue(state.ksize // 2)
        self.number.show_size(state.ksize, chosen.sizes)

    def step(self, steps: int) -> None:
        """Change the size by `steps` odd sizes, as the keys [ and ] do."""
        if self.slider.isEnabled():
            self.slider.setValue(self.slider.value() + steps)


def _tip(chosen: Filter) -> str:
    if has_parameter(chosen, "matrix"):
        return "The size of your weights: Settings, or the weights editor, changes it."
    if len(chosen.sizes) == 1:
        return f"{chosen.title} takes {chosen.sizes_in_words}."
    return (
        f"Kernel size: {chosen.title} takes {chosen.sizes_in_words}.  Keys: [ and ]\n"
        "An even number becomes the next odd one.\n"
        "Larger: more neighbours count, and it takes longer."
    )
