"""The three parts of a launch as a bar of buttons: load, share, compute."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QSizePolicy, QWidget

from kernels.anatomy.record import PARTS, Part
from workbench.widgets.boxes import HBox
from workbench.widgets.buttons import push_button

TITLES: dict[Part, str] = {"load": "1 Load", "share": "2 Share", "compute": "3 Compute"}
TIPS: dict[Part, str] = {
    "load": "What the warp loads from global memory (1)",
    "share": "What the block stores in shared memory (2)",
    "compute": "What a thread reads and computes (3)",
}


class PartButtons(QWidget):
    """Buttons of which one is down, and one that zooms to the block.

    Signals:
        chosen(part): the user wants this one of PARTS.
        zoom_wanted(): the block is to fill the view.
    """

    chosen = Signal(str)
    zoom_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._group = QButtonGroup(self)
        row = HBox(self, 0, 4)
        for number, part in enumerate(PARTS):
            title, tip = TITLES[part], f"{TIPS[part]}; Shift+A: the next part"
            button = push_button(f"anatomy-part-{part}", title, tip, f"Part {title}")
            button.setCheckable(True)
            button.setProperty("compact", True)
            button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            self._group.addButton(button, number)
            row.addWidget(button, 1)
        tip = "Fill the view with the block and its halo"
        self.zoom = push_button("anatomy-zoom", "Zoom", tip, "Zoom to the block")
        self.zoom.setProperty("compact", True)
        self.zoom.clicked.connect(self.zoom_wanted)
        row.addWidget(self.zoom)
        self._group.idClicked.connect(lambda number: self.chosen.emit(PARTS[number]))

    def show_part(self, part: Part) -> None:
        """Show which one is looked at."""
        self._group.button(PARTS.index(part)).setChecked(True)
