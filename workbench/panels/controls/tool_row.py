"""The toolbar's row of controls: filter, size, implementation, block."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QSignalBlocker, QSize, Qt
from PySide6.QtGui import QKeySequence, QPalette, QShortcut, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QSizePolicy, QWidget

from kernels import filters
from kernels.engine.auto import AUTO
from kernels.engine.job_comparison import PRESETS
from kernels.engine.own_kernel import OwnKernel
from kernels.filters import Filter, has_parameter, has_sizes
from kernels.rungs.own_kernels import is_own
from kernels.rungs.rung import BrokenRung, Rung
from workbench.base import theme
from workbench.base.background import Background
from workbench.base.plain_text import Label, tip_text
from workbench.model.intents import Choice
from workbench.model.state import State, has_row
from workbench.panels.controls.filter_popup import ActionSearch, FilterBox
from workbench.session.store import Store
from workbench.widgets.actions import Action, Actions
from workbench.widgets.boxes import HBox, Part, VBox
from workbench.widgets.buttons import allow, described, make_button
from workbench.widgets.drop_down import ToolList, heading_item
from workbench.widgets.number_boxes import LogSlider, OddSpinBox
from workbench.widgets.tile import scaled_font

BlockXY = tuple[int, int]
BLOCK_TIP = (
    "Threads per block: x along a row of samples (pixels × channels), y rows. Keys: , and .\n"
    "The output stays the same, the time does not: Ctrl+K compares shapes."
)


class BlockBox(ToolList):
    """List of block shapes: the presets, and the present one."""

    def __init__(self, name: str = "block") -> None:
        super().__init__(name, "Block shape")

    def show_block(self, block_xy: BlockXY) -> None:
        """Show this block shape, (x, y) in threads."""
        shapes = list(dict.fromkeys((*PRESETS, block_xy)))
        with QSignalBlocker(self):
            self.show_entries({f"{x}×{y}": (x, y) for x, y in shapes})
            self.setCurrentIndex(shapes.index(block_xy))

    def step(self, steps: int) -> BlockXY:
        """The preset `steps` further, from the nearest one in thread count."""
        now: BlockXY = self.currentData()
        nearest = min(PRESETS, key=lambda p: (p != now, abs(p[0] * p[1] - now[0] * now[1])))
        return PRESETS[(PRESETS.index(nearest) + steps) % len(PRESETS)]


Availability = list[tuple[Choice, str | None]]
KIND_TITLES = {"cpu": "CPU", "own": "Yours", "cuda": "CUDA"}


class ImplementationBox(ToolList):
    """A list of implementations; those that cannot run are grey, with the reason as tip."""

    def __init__(self, name: str, title: str, tip: str = "", *, offers_all: bool = False) -> None:
        """Make a list; with `offers_all` those that cannot run can be chosen, to look at them."""
        self._widest = QSize()
        super().__init__(name, title, tip)
        self._offers_all = offers_all

    def sizeHint(self) -> QSize:  # noqa: N802
        # Other filters have other lists, and what stands beside this one is not to move.
        self._widest = self._widest.expandedTo(super().sizeHint())
        return self._widest

    def show_implementations(self, availability: Availability) -> None:
        """Offer these implementations, each with the reason it cannot run, or None."""
        model = QStandardItemModel(self)
        faint = self.palette().brush(QPalette.ColorRole.PlaceholderText)
        current = self.currentData()
        kind = ""
        for implementation, reason in availability:
            its_kind = "own" if is_own(implementation.key) else implementation.kind
            if its_kind not in (kind, AUTO.kind):
                kind = its_kind
                model.appendRow(heading_item(KIND_TITLES[kind], self.font()))
            item = QStandardItem(implementation.title)
            item.setData(implementation.key, Qt.ItemDataRole.UserRole)
            item.setToolTip(tip_text(reason or implementation.idea))
            if reason is not None:
                item.setForeground(faint)
            item.setEnabled(reason is None or self._offers_all)
            model.appendRow(item)
        with QSignalBlocker(self):
            self.setModel(model)
            self.show_data(current)

    def show_choice(self, key: str | None) -> None:
        """Show the implementation `key`, without a signal."""
        with QSignalBlocker(self):
            self.show_data(key)


GAP_PX = 6
NUMBER_PX = 66
NAME_SCALE = 0.8  # of letters
SLIDER_PX = 44, 108  # at least, and at most
RUNS_ON_TIP = (
    "What computes it, on the CPU or the GPU: the result is the same, the time is not.\n"
    "Run ▸ Compare all implementations tells which is the fastest here. Keys: I and Shift+I"
)


ADD_TIP = "Another filter after this one (Ctrl+Shift+N)"


class ToolRow(QWidget):
    """Filter, size, "Runs on" and block in one line.

    Each choice is put into the store.

    add_step  a button that is there until the row of steps has its own
    """

    def __init__(
        self,
        store: Store,
        background: Background,
        open_settings: Callable[[], object],
        actions: Callable[[], ActionSearch],
    ) -> None:
        """Make the row.

        background     makes the previews of all filters
        open_settings  shows the filter's other parameters
        actions        searches for what is no filter
        """
        super().__init__()
        self.setObjectName("tool-row")
        self._store = store
        self._availability: Availability = []
        self._chosen: Choice | None = None
        self._filter = FilterBox(store, background, open_settings, actions)
        self._of_filter = self._filter.toolTip()
        self._number = OddSpinBox("ksize", "Kernel size")
        self._number.setFixedWidth(theme.in_letters(NUMBER_PX))
        self._slider = LogSlider()
        described(self._slider, "ksize-slider", "Kernel size")
        self._slider.setPageStep(4)
        self._slider.setMinimumWidth(SLIDER_PX[0])
        self._slider.setMaximumWidth(SLIDER_PX[1])
        self._implementation = ImplementationBox("implementation", "Runs on", RUNS_ON_TIP)
        self._block = BlockBox()
        self._filter.least, self._implementation.least, self._block.least = 0.75, 0.8, 1.0
        self._number.picked.connect(lambda ksize: store.choose(ksize=ksize))
        self._slider.valueChanged.connect(lambda radius: store.choose(ksize=2 * radius + 1))
        self._filter.activated.connect(lambda _: store.choose(filter=self._filter.currentData()))
        self._implementation.activated.connect(
            lambda _: store.choose(implementation=self._implementation.currentData())
        )
        self._block.activated.connect(lambda _: store.choose(block_xy=self._block.currentData()))
        self.add_step = make_button("tool-add-step", "+ Step", ADD_TIP, "Add a step", "flat")
        policy = self.add_step.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # nothing else comes under the pointer
        policy.setVerticalPolicy(QSizePolicy.Policy.Expanding)  # in line with the boxes
        self.add_step.setSizePolicy(policy)
        size = HBox(spacing=GAP_PX).add(self._slider, self._number)
        parts: dict[str, Part] = {"Filter": self._filter, "Size": size}
        parts |= {"Runs on": self._implementation, "Block": self._block, "": self.add_step}
        line = HBox(self, 0, GAP_PX)
        for name, part in parts.items():  # its name above it, as a window is seldom wide enough
            title = Label(name, is_muted=True)
            title.setFont(scaled_font(NAME_SCALE))
            line.add(VBox(spacing=0).add(title, part))
        line.addStretch(1)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        for letter, box in zip(
            "LZU", (self._filter, self._number, self._implementation), strict=True
        ):
            QShortcut(QKeySequence(f"Alt+{letter}"), self, box.setFocus)

    def choose_filter(self, take_back: Callable[[], object]) -> None:
        """Have the user choose a filter; Esc calls `take_back`."""
        self._filter.setFocus()
        self._filter.showPopup(take_back)

    def menu_actions(self) -> Actions:
        """Lines of the menu Run, whose keys step through the choices."""
        step, size, block = self.step_implementation, self.step_size, self.step_block
        return {
            "Next implementation": partial(step, 1),
            "Previous implementation": partial(step, -1),
            "Larger kernel": partial(size, 1),
            "Smaller kernel": partial(size, -1),
            "Next block shape": Action(partial(block, 1), lambda: why_no_block(self._chosen)),
            "Previous block shape": Action(partial(block, -1), lambda: why_no_block(self._chosen)),
        }

    def show_implementations(self, availability: Availability) -> None:
        if availability != self._availability:
            self._availability = availability
            self._implementation.show_implementations(availability)

    def show_state(self, state: State) -> None:
        self.add_step.setVisible(not has_row(state))
        chosen = filters.get(state.filter)
        self._filter.show_data(state.filter)
        self._filter.setToolTip(tip_text(f"{chosen.title}\n{self._of_filter}"))  # it may be elided
        for each in (self._number, self._slider):
            each.setEnabled(has_sizes(chosen))
            each.setToolTip(tip_text(_size_tip(chosen)))
        with QSignalBlocker(self._slider):
            self._slider.setRange(chosen.sizes[0] // 2, chosen.sizes[-1] // 2)
            self._slider.setValue(state.ksize // 2)
        self._number.show_size(state.ksize, chosen.sizes)
        self._implementation.show_choice(state.implementation)
        self._block.show_block(state.block_xy)
        every = (each for each, _ in self._availability)
        self._chosen = next((each for each in every if each.key == state.implementation), None)
        title = f"{self._chosen.title}\n" if self._chosen is not None else ""
        self._implementation.setToolTip(tip_text(f"{title}{RUNS_ON_TIP}"))
        allow(self._block, why_no_block(self._chosen), BLOCK_TIP)

    def step_implementation(self, steps: int) -> None:
        able = [each.key for each, reason in self._availability if reason is None]
        current = self._implementation.currentData()
        if able:
            at = able.index(current) if current in able else 0
            self._store.choose(implementation=able[(at + steps) % len(able)])

    def step_size(self, steps: int) -> None:
        """Change the size by `steps` odd sizes."""
        if self._slider.isEnabled():
            self._slider.setValue(self._slider.value() + steps)

    def step_block(self, steps: int) -> None:
        if self._block.isEnabled():
            self._store.choose(block_xy=self._block.step(steps))


def _size_tip(chosen: Filter) -> str:
    if has_parameter(chosen, "matrix"):
        return "The size of your weights: the weights editor changes it (Ctrl+E)."
    if len(chosen.sizes) == 1:
        return f"{chosen.title} takes {chosen.sizes_in_words}."
    return f"Kernel size: {chosen.title} takes {chosen.sizes_in_words}.  Keys: [ and ]"


def why_no_block(chosen: Choice | None) -> str:
    """The reason why `chosen` takes no block shape, or empty."""
    if chosen is None or chosen.kind == "cpu":
        return "The CPU has no thread blocks."
    if isinstance(chosen, Rung | OwnKernel):
        return chosen.own_block
    if isinstance(chosen, BrokenRung):
        return chosen.reason
    return "Auto picks the block shape as well."
