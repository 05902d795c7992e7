"""The toolbar's row of controls: filter, size, implementation, block."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEvent, QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLayout, QSizePolicy, QWidget

from kernels.engine.own_kernel import OwnKernel
from kernels.rungs.rung import BrokenRung, Rung
from workbench.base.plain_text import Label
from workbench.model.intents import Choice
from workbench.model.state import State
from workbench.panels.controls.filter_popup import FilterBox
from workbench.panels.controls.tool_boxes import (
    SLIDER_PX,
    Availability,
    BlockBox,
    ImplementationBox,
    SizePicker,
)
from workbench.widgets.actions import Action
from workbench.widgets.boxes import HBox

MENU = "&Run"
GAP_PX = 6


class ToolRow(QWidget):
    """Filter, size, "Runs on" and block in one line; a narrow one drops labels, then the slider.

    `wanted` emits name and value of a State field.
    """

    wanted = Signal(str, object)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("tool-row")
        self._availability: Availability = []
        self._chosen: Choice | None = None
        self.filter = FilterBox()
        self.size_picker = SizePicker()
        self._implementation = ImplementationBox("implementation", "Runs on")
        self._implementation.setToolTip(
            "What computes it, on the CPU or the GPU: the answer is the same, the time is not.\n"
            "Run ▸ Compare all implementations tells which is the fastest here. Keys: I and Shift+I"
        )
        self._block = BlockBox()
        self.size_picker.wanted.connect(self.wanted)
        for name, box in (("filter", self.filter), ("implementation", self._implementation)):
            box.activated.connect(lambda _, n=name, b=box: self.wanted.emit(n, b.currentData()))
        self._block.activated.connect(lambda _: self.wanted.emit("block_xy", self._block.block_xy))
        self._labels: list[Label] = []
        self._lay_out()

    def actions_of_menu(self) -> list[Action]:
        """Make the menu's actions, whose keys step through the choices."""
        size = self.size_picker
        return [
            Action(
                *(MENU, "Next &implementation", partial(self.step_implementation, 1), ("I",)),
                "What it runs on: the next that can; the answer stays, the time changes.",
                separator=True,
            ),
            Action(
                *(MENU, "Previous implementation", partial(self.step_implementation, -1)),
                ("Shift+I",),
                "What it runs on: the one before that can.",
            ),
            Action(
                *(MENU, "&Larger kernel", partial(size.step, 1), ("]",)),
                "The next size of the weights: more neighbours count, and it takes longer.",
            ),
            Action(
                *(MENU, "&Smaller kernel", partial(size.step, -1), ("[",)),
                "The size before: fewer neighbours count, and it takes less long.",
            ),
            Action(
                *(MENU, "Next &block shape", partial(self.step_block, 1), (".",)),
                "Another shape of the CUDA blocks: the answer stays, the time changes.",
                why_not=self.why_no_block,
            ),
            Action(
                *(MENU, "Previous block shape", partial(self.step_block, -1), (",",)),
                "The shape before.",
                why_not=self.why_no_block,
            ),
        ]

    def show_implementations(self, availability: Availability) -> None:
        """Offer these implementations, each with the reason it cannot run the job, or None."""
        if availability != self._availability:
            self._availability = availability
            self._implementation.show_implementations(availability)

    def show_state(self, state: State) -> None:
        """Show filter, size, implementation and block."""
        self.filter.setCurrentIndex(self.filter.findData(state.filter))
        self.size_picker.show_state(state)
        self._implementation.show_choice(state.implementation)
        self._block.show_block(state.block_xy)
        self._chosen = next(
            (each for each, _ in self._availability if each.key == state.implementation), None
        )
        self._block.show_refusal(self.why_no_block())

    def why_no_block(self) -> str:
        """The reason why no block shape can be chosen now, or empty."""
        return why_no_block(self._chosen)

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
            self.wanted.emit("block_xy", self._block.step(steps))

    # -- how it fits into any width

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(self._full_width(), self._height())

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        number, *lists = self._boxes()
        boxes = _width(number) + sum(each.minimumSizeHint().width() for each in lists)
        return QSize(boxes + GAP_PX * (len(self._boxes()) - 1), self._height())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fit(event.size().width())

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:  # other letters, or a list's other entries
            self._fit(self.width())
        return super().event(event)

    def _fit(self, width: int) -> None:
        full = self._full_width()
        least, most = SLIDER_PX
        for label in self._labels:
            label.setVisible(width >= full)
        spare = most if width >= full else width - (full - self._labels_width() - most)
        self.size_picker.slider.setVisible(spare >= least)
        self.size_picker.slider.setFixedWidth(min(max(spare, least), most))

    def _full_width(self) -> int:
        boxes = sum(_width(each) for each in self._boxes())
        slider = SLIDER_PX[1] + GAP_PX
        return boxes + slider + GAP_PX * (len(self._boxes()) - 1) + self._labels_width()

    def _labels_width(self) -> int:
        return sum(label.sizeHint().width() + GAP_PX for label in self._labels)

    def _boxes(self) -> tuple[QWidget, ...]:
        return self.size_picker.number, self.filter, self._implementation, self._block

    def _height(self) -> int:
        return max(each.sizeHint().height() for each in self._boxes())

    def _lay_out(self) -> None:
        line = HBox(self, 0, GAP_PX)
        line.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)  # see minimumSizeHint
        for text, part, buddy in (
            ("Fi&lter", self.filter, self.filter),
            ("Si&ze", self.size_picker, self.size_picker.number),
            ("R&uns on", self._implementation, self._implementation),
            ("Block", self._block, self._block),
        ):
            label = Label(text)
            label.setBuddy(buddy)
            self._labels.append(label)
            line.add(label, part)
        line.addStretch(1)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)


def _width(box: QWidget) -> int:
    return min(box.sizeHint().width(), box.maximumWidth())


def why_no_block(chosen: Choice | None) -> str:
    """The reason why `chosen` takes no block shape, or empty."""
    if chosen is None or chosen.kind == "cpu":
        return "The CPU has no thread blocks."
    if isinstance(chosen, Rung | OwnKernel):
        return chosen.own_block
    if isinstance(chosen, BrokenRung):
        return chosen.reason
    return "Auto picks the block shape as well."
