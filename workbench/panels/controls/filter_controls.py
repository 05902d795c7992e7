"""The controls of the filter: which, how large, its parameters, the border and pixel type."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QGroupBox,
    QHBoxLayout,
    QWidget,
)

from kernels import filters
from kernels.core.borders import BORDERS
from kernels.core.job import PIXEL_TYPES
from kernels.filters import Filter, gaussian
from kernels.filters.parameters import AMOUNT, SIGMA
from workbench.base.plain_text import tip_text
from workbench.model.intents import has_parameter, has_sizes
from workbench.model.state import State
from workbench.panels.controls.matrix_edit import MatrixEdit
from workbench.widgets.drop_down import DropDown
from workbench.widgets.form import Form
from workbench.widgets.jump_slider import JumpSlider
from workbench.widgets.number_boxes import DecimalBox
from workbench.widgets.odd_spin_box import OddSpinBox

BORDER_TIPS = {
    "zero": "0 0 | a b c d | 0 0\nBlack all around; the edges darken.",
    "clamp": "a a | a b c d | d d\nThe edge pixel is repeated.",
    "reflect": "b a | a b c d | d c\nMirrored, the edge pixel twice.",
    "mirror": "c b | a b c d | c b\nMirrored around the edge pixel.",
    "wrap": "c d | a b c d | a b\nThe picture is repeated.",
}


AUTOMATIC, BINOMIAL = "Auto", "Binomial"  # what automatic sigma gives


class FilterControls(QGroupBox):
    """The controls of filter, kernel size, parameters, border and pixel type.

    Signals:
        wanted(name, value): the user picked `value` for State field `name`.
        grid_wanted(): the user wants to edit the weights in a grid.
    """

    wanted = Signal(str, object)
    grid_wanted = Signal()

    def __init__(self) -> None:
        super().__init__("Filter")
        self._filter = _filter_combo()
        self._filter.activated.connect(lambda _: self._want("filter", self._filter.currentData()))
        self._size = OddSpinBox()
        self._size.picked.connect(lambda ksize: self._want("ksize", ksize))
        self._slider = _size_slider()
        self._slider.valueChanged.connect(lambda radius: self._want("ksize", 2 * radius + 1))
        self._automatic = QCheckBox(BINOMIAL)  # the wider of its two texts sets its width
        self._automatic.setMinimumWidth(self._automatic.sizeHint().width())
        self._automatic.setToolTip(
            "Let sigma follow the kernel size K, so that the bell always fills it:\n"
            "σ = 0.3 · ((K − 1) / 2 − 1) + 0.8, as in OpenCV.  A blur of size 3 or 5 is\n"
            "binomial instead, 1 2 1 or 1 4 6 4 1: no sampled bell, though σ = √((K − 1) / 4)\n"
            "is its standard deviation.  cv2.GaussianBlur(…, 0) has tables of its own at\n"
            "size 7 and, in newer versions, 9, and differs from this there."
        )
        self._automatic.setObjectName("automatic-sigma")
        self._automatic.setAccessibleName("Automatic sigma")
        self._sigma = _spin_box(SIGMA.title, SIGMA.tip, SIGMA.low, SIGMA.high, SIGMA.step)
        self._automatic.clicked.connect(self._want_sigma)
        self._sigma.valueChanged.connect(lambda value: self._want("sigma", value))
        self._amount = _spin_box(AMOUNT.title, AMOUNT.tip, AMOUNT.low, AMOUNT.high, AMOUNT.step)
        self._amount.valueChanged.connect(lambda value: self._want("amount", value))
        self._matrix = MatrixEdit()
        self._matrix.picked.connect(lambda matrix: self._want("matrix", matrix))
        self._matrix.grid_wanted.connect(self.grid_wanted)
        self._pixel_type = _pixel_type_combo()
        self._pixel_type.activated.connect(
            lambda _: self._want("pixel_type", self._pixel_type.currentData())
        )
        self._border = _border_combo()
        self._border.activated.connect(lambda _: self._want("border", self._border.currentData()))
        self._lay_out()

    def show_state(self, state: State) -> None:
        """Show the filter and its settings, and only the parameters that this filter has."""
        chosen = filters.get(state.filter)
        quiet = (self._filter, self._slider, self._border, self._pixel_type)
        blocked = [QSignalBlocker(each) for each in quiet]
        self._filter.setCurrentIndex(self._filter.findData(state.filter))
        self._border.setCurrentIndex(self._border.findData(state.border))
        types = [self._pixel_type.itemData(i) for i in range(self._pixel_type.count())]
        self._pixel_type.setCurrentIndex(types.index(state.pixel_type))
        self._show_size(state, chosen)
        self._automatic.setChecked(state.sigma is None)
        self._sigma.setEnabled(state.sigma is not None)
        if has_parameter(chosen, "sigma"):
            # Edges smooths with the Gaussian's rule and has none of its own.
            automatic = chosen.automatic_sigma or gaussian.automatic_sigma
            self._sigma.show_value(automatic(state.ksize) if state.sigma is None else state.sigma)
            is_binomial = automatic is gaussian.automatic_sigma and gaussian.is_binomial(
                state.ksize
            )
            self._automatic.setText(BINOMIAL if is_binomial and state.sigma is None else AUTOMATIC)
        self._amount.show_value(state.amount)
        self._matrix.show_matrix(state.matrix, state.offset)
        for name, row in (("sigma", self._sigma_row), ("amount", self._amount)):
            self._form.setRowVisible(row, has_parameter(chosen, name))
        self._form.setRowVisible(self._matrix, has_parameter(chosen, "matrix"))
        del blocked

    def step_size(self, steps: int) -> None:
        """Make the kernel larger or smaller by so many odd sizes, as the keys [ and ] do."""
        if self._slider.isEnabled():
            self._slider.setValue(self._slider.value() + steps)

    def _show_size(self, state: State, chosen: Filter) -> None:
        drawn_by_hand = has_parameter(chosen, "matrix")
        for each in (self._size, self._slider):
            each.setEnabled(has_sizes(chosen))
            each.setToolTip(tip_text(_size_tip(chosen, drawn_by_hand)))
        self._slider.setRange(chosen.sizes[0] // 2, chosen.sizes[-1] // 2)
        self._slider.setValue(state.ksize // 2)
        self._size.show_size(state.ksize, chosen.sizes)

    def _want(self, name: str, value: object) -> None:
        self.wanted.emit(name, value)

    def _want_sigma(self, automatic: bool) -> None:
        self._want("sigma", None if automatic else self._sigma.value())

    def _lay_out(self) -> None:
        size_row, self._sigma_row = QWidget(), QWidget()
        for row, parts in (
            (size_row, ((self._slider, 1), (self._size, 0))),
            (self._sigma_row, ((self._automatic, 0), (self._sigma, 1))),
        ):
            line = QHBoxLayout(row)
            line.setContentsMargins(0, 0, 0, 0)
            for part, stretch in parts:
                line.addWidget(part, stretch)
        self._form = Form(self)
        self._form.add("Fi&lter", self._filter)
        self._form.add("Kernel si&ze", size_row, self._size)
        self._form.add("Si&gma", self._sigma_row, self._automatic)
        self._form.add("A&mount", self._amount)
        self._form.addRow(self._matrix)
        self._form.add("Bor&der", self._border)
        self._form.add("Pi&xels", self._pixel_type)


def _filter_combo() -> DropDown:
    combo = DropDown("filter", "Filter")
    for each in filters.all_filters():
        combo.addItem(each.title, each.key)
    combo.setToolTip(
        "Which weights, and so which picture comes out. The time goes with their size, and with\n"
        "whether they can be taken apart into a row and a column."
    )
    return combo


def _border_combo() -> DropDown:
    combo = DropDown("border", "Border")
    for border in BORDERS:
        combo.addItem(border.capitalize(), border)
        combo.setItemData(combo.count() - 1, BORDER_TIPS[border], Qt.ItemDataRole.ToolTipRole)
    combo.setToolTip(
        "What lies beyond the picture's edge.\n"
        "It changes the result as far in as the radius, and hardly the time."
    )
    return combo


def _pixel_type_combo() -> DropDown:
    combo = DropDown("pixel-type", "Pixel type")
    combo.addItem("As in the file", None)
    for pixel_type in PIXEL_TYPES:
        combo.addItem(pixel_type, pixel_type)
    combo.setToolTip(
        "What the picture is stored as before it is filtered; black and white stay what they are.\n"
        "Sums are float32 all the same; fewer bytes a sample take less time to read and write."
    )
    return combo


def _size_slider() -> JumpSlider:
    slider = JumpSlider()
    slider.setObjectName("ksize-slider")
    slider.setAccessibleName("Kernel size")
    slider.setPageStep(4)
    slider.setMinimumWidth(80)
    return slider


def _spin_box(
    title: str, tip: str, low: float | None, high: float | None, step: float
) -> DecimalBox:
    box = DecimalBox()
    box.setObjectName(title.lower())
    box.setAccessibleName(title)
    box.setToolTip(tip_text(tip))
    box.setRange(low or 0.0, high or 0.0)
    box.setSingleStep(step)
    box.setDecimals(2)
    box.setMinimumWidth(72)
    return box


def _size_tip(chosen: Filter, drawn_by_hand: bool) -> str:
    if drawn_by_hand:
        return "The size of the weights drawn below."
    rounded = "" if len(chosen.sizes) == 1 else "\nAn even number becomes the next odd one."
    cost = "" if len(chosen.sizes) == 1 else "\nLarger: more neighbours count, and it takes longer."
    return f"{chosen.title} takes {chosen.sizes_in_words}.  Keys: [ and ]{rounded}{cost}"
