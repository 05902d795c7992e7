"""The controls of the filter: its parameters, the border and the pixel type."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QGroupBox, QPlainTextEdit, QSizePolicy, QWidget

from kernels import filters
from kernels.core.borders import BORDERS
from kernels.core.errors import BadJobError
from kernels.core.job import PIXEL_TYPES
from kernels.filters.custom import parse
from kernels.filters.parameters import AMOUNT, MATRIX, SIGMA, Parameter
from workbench.base import numbers, theme
from workbench.base.plain_text import Label, tip_text
from workbench.base.table_text import shortest
from workbench.model import bell
from workbench.model.bell import has_bell, is_binomial, sigma_of
from workbench.model.intents import has_parameter
from workbench.model.state import Matrix, State
from workbench.widgets.boxes import Form, HBox, VBox
from workbench.widgets.buttons import push_button
from workbench.widgets.drop_down import DropDown
from workbench.widgets.number_boxes import DecimalBox


class WeightsControls(QGroupBox):
    """Custom weights as text; text that is no matrix is explained and changes nothing.

    It is the last of the settings, so that nothing moves where a filter has no use for it.

    Signals:
        wanted(name, value): the user typed other weights, `value`, for State field "matrix".
        grid_wanted(): edit the weights in a grid.
    """

    wanted = Signal(str, object)
    grid_wanted = Signal()

    def __init__(self) -> None:
        super().__init__("Custom weights")
        self._matrix: Matrix = ()
        self._offset = 0.0
        self._text = QPlainTextEdit()
        self._text.setObjectName("matrix")
        self._text.setAccessibleName(MATRIX.title)
        self._text.setToolTip(
            tip_text(
                f"{MATRIX.tip}\nSpaces, commas or tabs between numbers, "
                "which may be fractions such as 1/9; paste works."
            )
        )
        self._text.setTabChangesFocus(True)
        self._text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._text.setFont(theme.fixed_font())
        self._text.setFixedHeight(6 * self._text.fontMetrics().lineSpacing())
        self._text.textChanged.connect(self._read)
        self._objection = Label(name="matrix-objection", wraps=True)
        self._objection.setProperty("objection", True)
        self._objection.hide()
        self._sum = Label(name="matrix-sum", is_muted=True)
        self._sum.setToolTip("How many times as bright an even area of the picture becomes.")
        tip = "The weights editor, with rank and frequency response: Ctrl+E."
        self._grid = push_button("matrix-grid", "Edit in a grid…", tip)
        self._grid.clicked.connect(self.grid_wanted)
        column = VBox(self)
        column.add(self._text, self._objection, self._sum, self._grid)

    def show_state(self, state: State) -> None:
        """Show the weights of a filter that is made of them, in the user's own spelling."""
        self.setVisible(has_parameter(filters.get(state.filter), "matrix"))
        matrix, offset = state.matrix, state.offset
        if offset != self._offset:
            self._offset = offset
            self._sum.setText(_sum_in_words(self._matrix, offset))
        if matrix == self._matrix:
            return
        self._matrix = matrix
        with QSignalBlocker(self._text):
            # The shortest text with the same float32, in which a weight is applied.
            rows = (
                " ".join(shortest(float(str(np.float32(value)))) for value in row) for row in matrix
            )
            self._text.setPlainText("\n".join(rows))
        self._object("")

    def _read(self) -> None:
        try:
            matrix = parse(self._text.toPlainText())
        except BadJobError as error:
            self._object(str(error))
            return
        is_other, self._matrix = matrix != self._matrix, matrix
        self._object("")
        if is_other:
            self.wanted.emit("matrix", matrix)

    def _object(self, sentence: str) -> None:
        self._objection.setText(sentence)
        self._objection.setVisible(bool(sentence))
        self._sum.setVisible(not sentence)
        self._sum.setText(_sum_in_words(self._matrix, self._offset))


def _sum_in_words(matrix: Matrix, offset: float) -> str:
    """Describe the sum of the weights, and its effect: "sum 16: brightens 16×"."""
    total = round(math.fsum(map(math.fsum, matrix)), 6)  # nine times 0.1111111 is 1
    if offset:
        return f"sum {total:.4g}, offset {offset:.3g} × white".replace("-", "−")
    if total > 1:
        return f"sum {total:.4g}: brightens {total:.4g}×"
    if total == 1:
        return "sum 1: keeps the brightness"
    if total > 0:
        return f"sum {total:.4g}: darkens to {total:.3g} of the brightness"
    if total == 0:
        return "sum 0: flat areas turn black"
    return f"sum {total:.4g}: flat areas fall below black".replace("-", "−")


LINES = 2
TIP = tip_text(f"Take the kernel size that holds {numbers.percent(bell.ENOUGH)} of the bell.")


class SigmaNote(QWidget):
    """Two lines about the part of the bell inside the kernel, kept free for other filters.

    Signals:
        size_wanted(ksize): the user takes the size that holds nearly all of the bell.
    """

    size_wanted = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._size = 0
        self._words = Label(name="sigma-note", is_muted=True, wraps=True)
        self._words.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._words.setFixedHeight(LINES * self._words.fontMetrics().lineSpacing())
        self._words.setAlignment(Qt.AlignmentFlag.AlignVCenter)
        self._take = push_button("sigma-size", "Take", TIP)
        self._take.setProperty("compact", True)
        self._take.setFixedWidth(self._take.sizeHint().width() + 12)
        self._take.clicked.connect(lambda: self.size_wanted.emit(self._size))
        line = HBox(self, 0)
        line.add((self._words, 1), self._take)

    def show_state(self, state: State) -> None:
        """Show the part of the bell of `state` inside its size."""
        self._words.setText(bell.in_words(state))
        wanted = bell.better_size(state)
        self._take.setVisible(wanted is not None)
        if wanted is not None:
            self._size = wanted
            self._take.setAccessibleName(f"Take kernel size {wanted}")


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

    `wanted` emits name and value of a State field.
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
        self._sigma = _spin_box(SIGMA)
        self._automatic.clicked.connect(
            lambda is_on: self.wanted.emit("sigma", None if is_on else self._sigma.value())
        )
        self._sigma.valueChanged.connect(lambda value: self.wanted.emit("sigma", value))
        self._amount = _spin_box(AMOUNT)
        self._amount.valueChanged.connect(lambda value: self.wanted.emit("amount", value))
        self._note = SigmaNote()
        self._note.size_wanted.connect(lambda ksize: self.wanted.emit("ksize", ksize))
        self._pixel_type = _pixel_type_combo()
        self._border = _border_combo()
        for name, combo in (("pixel_type", self._pixel_type), ("border", self._border)):
            combo.activated.connect(lambda _, n=name, c=combo: self.wanted.emit(n, c.currentData()))
        self._lay_out()

    def show_state(self, state: State) -> None:
        """Show the filter's settings; parameters that it does not have are grey, in their place."""
        chosen = filters.get(state.filter)
        self._border.setCurrentIndex(self._border.findData(state.border))
        self._pixel_type.setCurrentIndex((None, *PIXEL_TYPES).index(state.pixel_type))
        self._automatic.setChecked(state.sigma is None)
        self._sigma.setEnabled(state.sigma is not None)
        if has_bell(state):
            self._sigma.show_value(sigma_of(state))
            self._automatic.setText(BINOMIAL if is_binomial(state) else AUTOMATIC)
        self._note.show_state(state)
        self._amount.show_value(state.amount)
        for name, row in (("sigma", self._sigma_row), ("amount", self._amount)):
            self.form.set_applies(row, has_parameter(chosen, name))

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


def _spin_box(of: Parameter) -> DecimalBox:
    box = DecimalBox(of.title.lower(), of.title, of.tip)
    box.setRange(of.low or 0.0, of.high or 0.0)
    box.setSingleStep(of.step)
    box.setDecimals(2)
    box.setMinimumWidth(72)
    return box
