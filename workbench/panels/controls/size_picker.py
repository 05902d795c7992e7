"""The size of the weights: a slider on which each doubling is as far, and a number."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QSizePolicy, QWidget

from kernels import filters
from kernels.filters import Filter
from workbench.base import theme
from workbench.base.plain_text import tip_text
from workbench.model.intents import has_parameter, has_sizes
from workbench.model.state import State
from workbench.widgets.boxes import HBox
from workbench.widgets.number_boxes import LogSlider, OddSpinBox

NUMBER_PX = 66
SLIDER_PX = 44, 108  # at least, and at most


class SizePicker(QWidget):
    """A slider and a number, greyed out where the filter leaves no choice.

    Signals:
        wanted(name, value): the user picked `value` for State field "ksize".
    """

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
        """Show the size, and whether there is a choice."""
        chosen = filters.get(state.filter)
        for each in (self.number, self.slider):
            each.setEnabled(has_sizes(chosen))
            each.setToolTip(tip_text(_tip(chosen)))
        with QSignalBlocker(self.slider):
            self.slider.setRange(chosen.sizes[0] // 2, chosen.sizes[-1] // 2)
            self.slider.setValue(state.ksize // 2)
        self.number.show_size(state.ksize, chosen.sizes)

    def step(self, steps: int) -> None:
        """Make the kernel larger or smaller by so many odd sizes, as the keys [ and ] do."""
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
