"""The shape of the CUDA blocks: those to begin with at one click, any other by its numbers."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt

from kernels.measuring.tuner import PRESETS
from workbench.base.plain_text import tip_text
from workbench.panels.controls.block_numbers import BLOCK_TIP, BlockXY
from workbench.widgets.drop_down import ToolList


class BlockBox(ToolList):
    """A list of block shapes, with the present one wherever that is none of the presets."""

    def __init__(self) -> None:
        super().__init__("block", "Block shape")
        self._shapes: list[BlockXY] = []  # the presets, and the present one where it is none
        for preset in PRESETS:
            self._add(preset)

    @property
    def block_xy(self) -> BlockXY:
        """Return the shape chosen, (x, y) in threads."""
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
        """Disable the list for the reason in `sentence`; enable it where that is empty."""
        self.setEnabled(not sentence)
        self.setToolTip(tip_text(sentence or BLOCK_TIP))

    def step(self, steps: int) -> BlockXY:
        """Return the preset so many steps on, from the nearest one in thread count."""
        now = self.block_xy
        nearest = min(PRESETS, key=lambda p: (p != now, abs(p[0] * p[1] - now[0] * now[1])))
        return PRESETS[(PRESETS.index(nearest) + steps) % len(PRESETS)]

    def _add(self, block_xy: BlockXY) -> None:
        x, y = block_xy
        self._shapes.append(block_xy)
        self.addItem(f"{x}×{y}", f"{x}x{y}")
        tip = f"{x * y} threads: {x} along a row of samples, {y} rows"
        self.setItemData(self.count() - 1, tip_text(tip), Qt.ItemDataRole.ToolTipRole)
