"""The controls of how to compute: the block's numbers, the cache, and the baseline."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QGroupBox, QLabel

from kernels.core.device import Device, NoDevice
from kernels.engine.auto import Auto
from kernels.engine.own_kernel import OwnKernel
from workbench.base.plain_text import Label, tip_text
from workbench.model.state import State
from workbench.panels.controls.block_numbers import BlockNumbers
from workbench.panels.controls.implementation_box import Availability
from workbench.panels.controls.tool_row import why_no_block
from workbench.widgets.boxes import Form
from workbench.widgets.drop_down import DropDown

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
    """The controls of how the filter is computed.

    about  the label with a sentence about the chosen implementation

    Signals:
        wanted(name, value): the user picked `value` for State field `name`.
    """

    wanted = Signal(str, object)

    def __init__(self) -> None:
        super().__init__("Implementation")
        self._availability: Availability = []
        self.about = _sentence("about-implementation")
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
        """Take these implementations, each with the reason it cannot run the job, or None."""
        if availability == self._availability:
            return
        self._availability = availability
        with QSignalBlocker(self._baseline):
            current = self._baseline.currentData()
            self._baseline.clear()
            for implementation, reason in availability:
                if implementation.kind == "cpu":
                    self._add_baseline(implementation.key, implementation.title, reason)
            self._baseline.setCurrentIndex(self._baseline.findData(current))

    def show_device(self, device: Device | NoDevice) -> None:
        """Offer as many GPUs as there are, where there are several."""
        count = device.count if isinstance(device, Device) else 0
        with QSignalBlocker(self._devices):
            chosen = self._devices.currentData()
            self._devices.clear()
            for number in range(1, count + 1):
                self._devices.addItem(f"{number} GPU{'s' if number > 1 else ''}", number)
            self._devices.setCurrentIndex(self._devices.findData(chosen))
        self.form.setRowVisible(self._devices, count > 1)

    def show_state(self, state: State) -> None:
        """Show how the filter is computed, and a sentence about the chosen implementation."""
        chosen_keys = (
            (self._cache, state.cache),
            (self._baseline, state.baseline),
            (self._devices, state.devices),
        )
        for combo, key in chosen_keys:
            with QSignalBlocker(combo):
                combo.setCurrentIndex(combo.findData(key))
        chosen, reason = next(
            (each for each in self._availability if each[0].key == state.implementation),
            (None, None),
        )
        self.about.setText(reason or (chosen.idea if chosen else ""))
        self._block.show_block(state.block_xy)
        self._block.show_refusal(why_no_block(chosen))
        no_cache = NO_CACHE if chosen is None or chosen.kind == "cpu" else ""
        if isinstance(chosen, Auto) and not self._has_gpu():
            no_cache = NO_GPU
        elif isinstance(chosen, OwnKernel) and not self._has_gpu():
            no_cache = NO_CACHE
        self._devices.setEnabled(not no_cache)
        self._cache.setEnabled(not no_cache)
        self._cache.setToolTip(tip_text(no_cache or CACHE_TIP))

    def _has_gpu(self) -> bool:
        """Return whether any implementation on the GPU can run."""
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


def _sentence(name: str) -> QLabel:
    label = Label(name=name, is_muted=True, wraps=True)
    label.setFixedHeight(MAX_LINES * label.fontMetrics().lineSpacing())
    label.setAlignment(Qt.AlignmentFlag.AlignTop)
    return label
