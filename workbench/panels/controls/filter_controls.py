"""The controls of the filter: its parameters, the border and the pixel type."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QGroupBox, QWidget

from kernels import filters
from kernels.core.borders import BORDERS
from kernels.core.job import PIXEL_TYPES
from kernels.filters.parameters import AMOUNT, SIGMA
from workbench.model.bell import has_bell, is_binomial, sigma_of
from workbench.model.intents import has_parameter
from workbench.model.state import State
from workbench.panels.controls.sigma_note import SigmaNote
from workbench.widgets.boxes import Form, HBox
from workbench.widgets.drop_down import DropDown
from workbench.widgets.number_boxes import DecimalBox

BORDER_TIPS = {
    "zero": "0 0 | a b c d | 0 0\nBlack all around; the edges darken.",
    "clamp": "a a | a b c d | d d\nThe edge pixel is repeated.",
    "reflect": "b a | a b c d | d c\nMirrored, the edge pixel twice.",
    "mirror": "c b | a b c d | c b\nMirrored around the edge pixel.",
    "wrap": "c d | a b c d | a b\nThe picture is repeated.",
}
AUTOMATIC, BINOMIAL = "Auto", "Binomial"  # what automatic sigma gives


class FilterControls(QGroupBox):
    """The controls of the filter's parameters, the border and the pixel type.

    Signals:
        wanted(name, value): the user picked `value` for State field `name`.
    """

    wanted = Signal(str, object)

    def __init__(self) -> None:
        super().__init__("Filter")
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
        self._note = SigmaNote()
        self._note.size_wanted.connect(lambda ksize: self._want("ksize", ksize))
        self._pixel_type = _pixel_type_combo()
        self._pixel_type.activated.connect(
            lambda _: self._want("pixel_type", self._pixel_type.currentData())
        )
        self._border = _border_combo()
        self._border.activated.connect(lambda _: self._want("border", self._border.currentData()))
        self._lay_out()

    def show_state(self, state: State) -> None:
        """Show the filter's settings; parameters that it does not have are grey, in their place."""
        chosen = filters.get(state.filter)
        blocked = [QSignalBlocker(each) for each in (self._border, self._pixel_type)]
        self._border.setCurrentIndex(self._border.findData(state.border))
        types = [self._pixel_type.itemData(i) for i in range(self._pixel_type.count())]
        self._pixel_type.setCurrentIndex(types.index(state.pixel_type))
        self._automatic.setChecked(state.sigma is None)
        self._sigma.setEnabled(state.sigma is not None)
        if has_bell(state):
            self._sigma.show_value(sigma_of(state))
            self._automatic.setText(BINOMIAL if is_binomial(state) else AUTOMATIC)
        self._note.show_state(state)
        self._amount.show_value(state.amount)
        for name, row in (("sigma", self._sigma_row), ("amount", self._amount)):
            self.form.set_applies(row, has_parameter(chosen, name))
        del blocked

    def _want(self, name: str, value: object) -> None:
        self.wanted.emit(name, value)

    def _want_sigma(self, automatic: bool) -> None:
        self._want("sigma", None if automatic else self._sigma.value())

    def _lay_out(self) -> None:
        self._sigma_row = QWidget()
        line = HBox(self._sigma_row, 0)
        line.add(self._automatic, (self._sigma, 1))
        self.form = Form(self)
        self.form.add("Si&gma", self._sigma_row, self._automatic)
        self.form.addRow(self._note)
        self.form.add("A&mount", self._amount)
        self.form.add("Bor&der", self._border)
        self.form.add("Pi&xel type", self._pixel_type)


def _border_combo() -> DropDown:
    combo = DropDown("border", "Border")
    for border in BORDERS:
        combo.addItem(border.capitalize(), border)
        combo.setItemData(combo.count() - 1, BORDER_TIPS[border], Qt.ItemDataRole.ToolTipRole)
    combo.setToolTip(
        "What lies beyond the picture's edge.\n"
        "Changes only pixels within one radius of the edge; costs almost nothing."
    )
    return combo


def _pixel_type_combo() -> DropDown:
    combo = DropDown("pixel-type", "Pixel type")
    combo.addItem("As in the file", None)
    for pixel_type in PIXEL_TYPES:
        combo.addItem(pixel_type, pixel_type)
    combo.setToolTip(
        "What the picture is stored as before it is filtered; black and white stay what they are.\n"
        "Sums are float32 all the same; fewer bytes per sample take less time to read and write."
    )
    return combo


def _spin_box(
    title: str, tip: str, low: float | None, high: float | None, step: float
) -> DecimalBox:
    box = DecimalBox(title.lower(), title, tip)
    box.setRange(low or 0.0, high or 0.0)
    box.setSingleStep(step)
    box.setDecimals(2)
    box.setMinimumWidth(72)
    return box
