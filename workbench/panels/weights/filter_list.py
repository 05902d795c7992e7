"""The list of filters whose weights can be drawn."""

from __future__ import annotations

from PySide6.QtCore import Qt

from kernels import filters
from workbench.base.plain_text import tip_text
from workbench.panels.weights.weights_draft import WeightsDraft, drawing_of
from workbench.widgets.drop_down import DropDown

SIZE_CHANGED = "{} takes {}, so the size changed."
WEIGHTS_ALONE = "{} also computes a gradient; these are its weights alone."


class PresetBox(DropDown):
    """The list that names the filter that was drawn, for as long as its weights stand there."""

    def __init__(self) -> None:
        super().__init__("weights-preset", "Start from a filter's weights")
        self.setToolTip("Load a filter's weights at this size, or at the nearest size that it has.")
        for each in filters.all_filters():
            if each.key != "custom":
                self.addItem(each.title, each.key)
        self.setCurrentIndex(-1)
        self.setPlaceholderText("Choose…")
        self.setMinimumContentsLength(7)  # room for the placeholder

    def show_drawing(self, drawing: WeightsDraft) -> None:
        """Drop the choice where something else is drawn; tooltips tell which filters resize it."""
        size = drawing.size
        for row in range(self.count()):
            chosen = filters.get(self.itemData(row))
            tip = f"{chosen.title} {size}×{size}"
            if size not in chosen.sizes:
                tip = f"{chosen.title} takes {chosen.sizes_in_words}: the size will change."
            self.setItemData(row, tip_text(tip), Qt.ItemDataRole.ToolTipRole)
        if (key := self.currentData()) is not None and drawing != preset(key, size)[0]:
            self.setCurrentIndex(-1)


def preset(key: str, size: int) -> tuple[WeightsDraft, str]:
    """Return a filter's weights at its size nearest to `size`, and a sentence on them, or ""."""
    chosen = filters.get(key)
    nearest = chosen.nearest_size(size)
    words = ""
    if nearest != size:
        words = SIZE_CHANGED.format(chosen.title, chosen.sizes_in_words)
    if chosen.gradient:
        words = WEIGHTS_ALONE.format(chosen.title)
    return drawing_of(chosen.weights(nearest)), words
