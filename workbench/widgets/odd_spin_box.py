"""A spin box that knows only odd sizes."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal

from workbench.widgets.number_boxes import WholeBox, tell


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
