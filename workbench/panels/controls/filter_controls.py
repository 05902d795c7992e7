"""The controls of the filter: its parameters, the border, the pixel type."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QGroupBox, QSizePolicy, QWidget

from kernels import filters
from kernels.core.borders import BORDERS
from kernels.core.job import PIXEL_TYPES
from kernels.filters.parameters import AMOUNT, SIGMA, Parameter
from workbench.base import numbers
from workbench.base.plain_text import Label
from workbench.model import bell
from workbench.model.intents import has_parameter
from workbench.model.state import State
from workbench.session.store import Store
from workbench.widgets.boxes import Form, HBox
from workbench.widgets.buttons import described, push_button
from workbench.widgets.drop_down import DropDown
from workbench.widgets.number_boxes import DecimalBox


class FieldList(DropDown):
    """A list of values for one field of the State, which the user's choice replaces."""

    def __init__(self, store: Store, field: str, title: str, tip: str = "") -> None:
        super().__init__(field.replace("_", "-"), title, tip)
        self._field = field
        self.activated.connect(lambda _: store.choose(**{field: self.currentData()}))

    def show_state(self, state: State) -> None:
        """Show the field's value."""
        self.show_data(getattr(state, self._field))


LINES = 2
SIZE_TIP = f"Take the kernel size that holds {numbers.percent(bell.ENOUGH)} of the bell."
BORDER_TIPS = {
    "zero": "0 0 | a b c d | 0 0\nBlack all around; the edges darken.",
    "clamp": "a a | a b c d | d d\nThe edge pixel is repeated.",
    "reflect": "b a | a b c d | d c\nMirrored, the edge pixel twice.",
    "mirror": "c b | a b c d | c b\nMirrored around the edge pixel.",
    "wrap": "c d | a b c d | a b\nThe picture is repeated.",
}
AUTOMATIC, BINOMIAL = "Auto", "Binomial"  # what automatic sigma gives
AUTOMATIC_TIP = (
    "Let sigma follow the kernel size K: σ = 0.3 · ((K − 1) / 2 − 1) + 0.8, as in OpenCV.\n"
    "A blur of size 3 or 5 is binomial instead, 1 2 1 or 1 4 6 4 1."
)
BORDER_TIP = "What lies beyond the picture's edge; costs almost nothing."
PIXEL_TYPE_TIP = (
    "What the picture is stored as before it is filtered; black and white stay what they are.\n"
    "Sums are float32 all the same; fewer bytes per sample take less time to read and write."
)


class FilterControls(QGroupBox):
    """The controls of the filter's parameters, the border and the pixel type."""

    def __init__(self, store: Store) -> None:
        super().__init__("Filter")
        box = QCheckBox(BINOMIAL)  # the wider of its two texts sets its width
        self._automatic = described(box, "automatic-sigma", "Automatic sigma", AUTOMATIC_TIP)
        self._automatic.setMinimumWidth(self._automatic.sizeHint().width())
        self._sigma, self._amount = _spin_box(SIGMA), _spin_box(AMOUNT)
        self._automatic.clicked.connect(
            lambda is_on: store.choose(sigma=None if is_on else self._sigma.value())
        )
        self._sigma.valueChanged.connect(lambda value: store.choose(sigma=value))
        self._amount.valueChanged.connect(lambda value: store.choose(amount=value))
        self._border = FieldList(store, "border", "Border", BORDER_TIP)
        for border in BORDERS:
            self._border.add(border.capitalize(), border, BORDER_TIPS[border])
        self._pixel_type = FieldList(store, "pixel_type", "Pixel type", PIXEL_TYPE_TIP)
        self._pixel_type.add("As in the file")
        for pixel_type in PIXEL_TYPES:
            self._pixel_type.add(pixel_type, pixel_type)
        self._make_note(store)
        self._lay_out()

    def _make_note(self, store: Store) -> None:
        """Make two lines about the part of the bell inside the kernel, kept for other filters."""
        self._better = 0  # the size that holds nearly all of the bell, if the present one does not
        self._note = Label(name="sigma-note", is_muted=True, wraps=True)
        self._note.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._note.setFixedHeight(LINES * self._note.fontMetrics().lineSpacing())
        self._note.setAlignment(Qt.AlignmentFlag.AlignVCenter)
        self._take = push_button("sigma-size", "Take", SIZE_TIP)
        self._take.setProperty("compact", True)
        self._take.setFixedWidth(self._take.sizeHint().width() + 12)
        self._take.clicked.connect(lambda: store.choose(ksize=self._better))

    def _lay_out(self) -> None:
        self._sigma_row, note_row = QWidget(), QWidget()
        HBox(self._sigma_row, 0).add(self._automatic, (self._sigma, 1))
        HBox(note_row, 0).add((self._note, 1), self._take)
        self.form = Form(self)
        self.form.add("Si&gma", self._sigma_row, self._automatic)
        self.form.addRow(note_row)
        self.form.add("A&mount", self._amount)
        self.form.add("Bor&der", self._border)
        self.form.add("Pi&xel type", self._pixel_type)

    def show_state(self, state: State) -> None:
        """Show the filter's settings; parameters that it does not have are grey, in their place."""
        self._border.show_state(state)
        self._pixel_type.show_state(state)
        self._automatic.setChecked(state.sigma is None)
        self._sigma.setEnabled(state.sigma is not None)
        if bell.has_bell(state):
            self._sigma.show_value(bell.sigma_of(state))
            self._automatic.setText(BINOMIAL if bell.is_binomial(state) else AUTOMATIC)
        self._note.setText(bell.in_words(state))
        self._better = bell.better_size(state) or 0
        self._take.setVisible(bool(self._better))
        self._take.setAccessibleName(f"Take kernel size {self._better}")
        self._amount.show_value(state.amount)
        for name, row in (("sigma", self._sigma_row), ("amount", self._amount)):
            self.form.set_applies(row, has_parameter(filters.get(state.filter), name))


def _spin_box(of: Parameter) -> DecimalBox:
    box = DecimalBox(of.title.lower(), of.title, of.tip)
    box.setRange(of.low or 0.0, of.high or 0.0)
    box.setSingleStep(of.step)
    box.setDecimals(2)
    box.setMinimumWidth(72)
    return box
