"""The controls of how to compute: implementation, block shape, cache, and the baseline."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFont, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QComboBox, QGroupBox, QLabel

from kernels.engine.auto import AUTO
from kernels.rungs.rung import BrokenRung, Rung
from workbench.base.plain_text import Label, tip_text
from workbench.model.intents import Choice
from workbench.model.state import State
from workbench.panels.controls.block_picker import BlockPicker
from workbench.widgets.drop_down import DropDown
from workbench.widgets.form import Form

Availability = list[tuple[Choice, str | None]]
KIND_TITLES = {"cpu": "CPU", "cuda": "CUDA"}


class RunControls(QGroupBox):
    """The controls of how the filter is computed.

    Signals:
        wanted(name, value): the user picked `value` for State field `name`.
    """

    wanted = Signal(str, object)

    def __init__(self) -> None:
        super().__init__("Implementation")
        self._availability: Availability = []
        self._implementation = DropDown("implementation", "Runs on")
        self._implementation.setToolTip(
            "What computes it, on the CPU or the GPU: the answer is the same, the time is not.\n"
            "Keys: I and Shift+I"
        )
        self._about = _sentence("about-implementation")
        self._block = BlockPicker()
        self._cache = DropDown("cache", "L2 cache")
        self._cache.addItem("Cold", "cold")
        self._cache.addItem("Warm", "warm")
        self._cache.setToolTip(
            "Cold: the GPU's L2 is emptied before each sample, as when the picture is new to it.\n"
            "Warm: it still holds what the sample before left there, which flatters small pictures."
        )
        self._baseline = DropDown("baseline", "Speed-up against")
        self._baseline.setToolTip(
            "The CPU implementation that speed-ups are measured against.\n"
            "Nothing but “Speed-up” changes with it."
        )
        for name, combo in (
            ("implementation", self._implementation),
            ("cache", self._cache),
            ("baseline", self._baseline),
        ):
            combo.activated.connect(lambda _, n=name, c=combo: self.wanted.emit(n, c.currentData()))
        self._block.picked.connect(lambda block_xy: self.wanted.emit("block_xy", block_xy))
        self._lay_out()

    def show_implementations(self, availability: Availability) -> None:
        """Offer these implementations, each with the reason it cannot run the job, or None."""
        if availability == self._availability:
            return
        self._availability = availability
        _fill(self._implementation, availability)
        _fill(self._baseline, [each for each in availability if each[0].kind == "cpu"])

    def show_state(self, state: State) -> None:
        """Show how the filter is computed, and a sentence about the chosen implementation."""
        for combo, key in (
            (self._implementation, state.implementation),
            (self._cache, state.cache),
            (self._baseline, state.baseline),
        ):
            with QSignalBlocker(combo):
                combo.setCurrentIndex(combo.findData(key))
        chosen = next(
            (each for each in self._availability if each[0].key == state.implementation), None
        )
        kind = chosen[0].kind if chosen else "cpu"
        self._about.setText(_about(chosen))
        self._block.show_block(state.block_xy)
        self._block.show_refusal(_why_no_block(chosen))
        self._cache.setEnabled(kind != "cpu")

    def step_implementation(self, steps: int) -> None:
        """Go to the next or previous implementation that can run."""
        able = [each.key for each, reason in self._availability if reason is None]
        current = self._implementation.currentData()
        if able:
            at = able.index(current) if current in able else 0
            self.wanted.emit("implementation", able[(at + steps) % len(able)])

    def step_block(self, steps: int) -> None:
        """Go to the next or previous preset block shape."""
        if self._block.isEnabled():
            self._block.step(steps)

    def _lay_out(self) -> None:
        form = Form(self)
        form.add("R&uns on", self._implementation)
        form.addRow(self._about)
        form.addRow(self._block)
        form.add("L&2 cache", self._cache)
        form.add("S&peed-up vs", self._baseline)


def _about(chosen: tuple[Choice, str | None] | None) -> str:
    if chosen is None:
        return ""
    implementation, reason = chosen
    return reason or implementation.idea


def _why_no_block(chosen: tuple[Choice, str | None] | None) -> str:
    """Return the sentence why no block shape can be chosen here; empty where one can."""
    if chosen is None or chosen[0].kind == "cpu":
        return "The CPU has no thread blocks."
    if isinstance(chosen[0], Rung):
        return chosen[0].own_block
    if isinstance(chosen[0], BrokenRung):
        return chosen[0].reason
    return "Auto picks the block shape as well."


def _sentence(name: str) -> QLabel:
    label = Label()
    label.setObjectName(name)
    label.setProperty("muted", True)
    label.setWordWrap(True)
    label.setMinimumHeight(3 * label.fontMetrics().lineSpacing())  # keeps the height
    label.setAlignment(Qt.AlignmentFlag.AlignTop)
    return label


def _fill(combo: QComboBox, availability: Availability) -> None:
    """Fill a list under headings for CPU and CUDA; what cannot run is grey, its tip says why."""
    model = QStandardItemModel(combo)
    current = combo.currentData()
    kind = ""
    for implementation, reason in availability:
        if implementation.kind not in (kind, AUTO.kind):
            kind = implementation.kind
            heading = QStandardItem(KIND_TITLES[kind])
            heading.setFlags(Qt.ItemFlag.NoItemFlags)
            heading.setFont(_bold(combo.font()))
            model.appendRow(heading)
        item = QStandardItem(implementation.title)
        item.setData(implementation.key, Qt.ItemDataRole.UserRole)
        item.setToolTip(tip_text(reason or implementation.idea))
        item.setEnabled(reason is None)
        model.appendRow(item)
    with QSignalBlocker(combo):
        combo.setModel(model)
        combo.setCurrentIndex(combo.findData(current))


def _bold(font: QFont) -> QFont:
    bold = QFont(font)
    bold.setBold(True)
    return bold
