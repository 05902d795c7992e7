"""The threads of a block, x by y, as numbers."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from workbench.base.plain_text import Label, tip_text
from workbench.widgets.boxes import HBox
from workbench.widgets.number_boxes import WholeBox

BlockXY = tuple[int, int]
BLOCK_TIP = (
    "Threads per block: x along a row of samples (pixels × channels), y rows.\n"
    "A warp is 32 threads, counted along x first.  Keys: , and .\n"
    "The answer stays the same, the time does not: Ctrl+K compares shapes."
)


class BlockNumbers(QWidget):
    """Two numbers: threads along x, and along y.

    Signals:
        picked(block_xy): the user chose another shape, as (x, y).
    """

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
        """Disable the numbers for the reason in `sentence`; enable them where that is empty."""
        self.setEnabled(not sentence)
        self.setToolTip(tip_text(sentence or BLOCK_TIP))

    def _pick(self) -> None:
        self.picked.emit((self.across.value(), self._down.value()))


def _box(name: str, title: str) -> WholeBox:
    box = WholeBox(name, title)
    box.setRange(1, 1024)
    box.setMinimumWidth(72)
    return box
