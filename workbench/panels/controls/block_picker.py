"""The threads of a block, x by y: five shapes at one click, any other by number."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from kernels.measuring.tuner import PRESETS
from workbench.base.plain_text import Label, tip_text
from workbench.widgets.number_boxes import WholeBox

BlockXY = tuple[int, int]
TIP = (
    "Threads per block: x along a row of samples (pixels × channels), y rows.\n"
    "A warp is 32 threads, counted along x first.  Keys: , and .\n"
    "The answer stays the same, the time does not: Ctrl+K compares shapes."
)


class BlockPicker(QWidget):
    """The picker that shows a block shape and lets the user choose another.

    Signals:
        picked(block_xy): the user chose another shape, as (x, y).
    """

    picked = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("block-picker")
        self._presets = QButtonGroup(self)
        self._presets.idClicked.connect(lambda number: self.picked.emit(PRESETS[number]))
        self._x, self._y = _spin_box("block-x", "Block width"), _spin_box("block-y", "Block height")
        for box in (self._x, self._y):
            box.valueChanged.connect(self._pick)
        self._threads = Label()
        self._threads.setProperty("muted", True)
        self._lay_out()
        # Otherwise a form would take height for it from the sentence above.
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setToolTip(TIP)

    def show_block(self, block_xy: BlockXY) -> None:
        """Show this block shape, (x, y) in threads."""
        for box, value in zip((self._x, self._y), block_xy, strict=True):
            box.show_value(value)
        self._presets.setExclusive(False)
        for number, preset in enumerate(PRESETS):
            self._presets.button(number).setChecked(preset == block_xy)
        self._presets.setExclusive(block_xy in PRESETS)
        self._threads.setText(f"= {block_xy[0] * block_xy[1]} threads")

    def show_refusal(self, sentence: str) -> None:
        """Disable the picker for the reason in `sentence`; enable it where that is empty."""
        self.setEnabled(not sentence)
        self.setToolTip(tip_text(sentence or TIP))
        self.setAccessibleDescription(sentence or TIP)

    def step(self, steps: int) -> None:
        """Go so many presets on, from the nearest one in thread count."""
        now = self._x.value(), self._y.value()
        nearest = min(PRESETS, key=lambda p: (p != now, abs(p[0] * p[1] - now[0] * now[1])))
        self.picked.emit(PRESETS[(PRESETS.index(nearest) + steps) % len(PRESETS)])

    def _pick(self) -> None:
        self.picked.emit((self._x.value(), self._y.value()))

    def _lay_out(self) -> None:
        grid = QGridLayout()
        grid.setSpacing(3)
        for number, (x, y) in enumerate(PRESETS):
            button = QPushButton(f"{x}×{y}")
            button.setObjectName(f"block-{x}x{y}")
            button.setAccessibleName(f"Block shape {x} by {y}")
            button.setCheckable(True)
            button.setProperty("compact", True)
            self._presets.addButton(button, number)
            grid.addWidget(button, 0, number)
        numbers = QHBoxLayout()
        for part, stretch in ((self._x, 1), (Label("×"), 0), (self._y, 1), (self._threads, 1)):
            numbers.addWidget(part, stretch)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(grid)
        column.addLayout(numbers)


def _spin_box(name: str, title: str) -> WholeBox:
    box = WholeBox()
    box.setObjectName(name)
    box.setAccessibleName(title)
    box.setRange(1, 1024)
    box.setMinimumWidth(72)
    return box
