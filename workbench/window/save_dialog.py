"""A question before a picture is saved in a format that loses, or may lose, some of it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QDialog, QDialogButtonBox, QSpinBox, QWidget

from workbench.base.plain_text import Label
from workbench.files.reducing import Fit
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.buttons import push_button
from workbench.widgets.number_boxes import JumpSlider

WIDTH_PX = 460
QUALITY_TIP = "From 1, small and coarse, to 100, large and fine"


class SaveDialog(QDialog):
    """A dialog that says what a format loses, offers one that does not, and asks for the quality.

    name     of the file
    quality  to begin with; None: without loss, where the format can do that
    default  the quality to begin with once loss is allowed

    Signals:
        agreed(quality): save it so; None: without loss of quality.
        other_wanted(title): save it in the format of that title instead.
    """

    agreed = Signal(object)
    other_wanted = Signal(str)

    def __init__(
        self, name: str, fit: Fit, quality: int | None, default: int, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("save-dialog")
        self.setWindowTitle(f"Save {name}")
        self.setMinimumWidth(WIDTH_PX)
        self._fit = fit
        column = VBox(self, (24, 20, 24, 16), 12)
        if not fit.is_exact:
            said = Label(str(fit), name="save-said", wraps=True)
            column.addWidget(said)
        if fit.format.has_quality and fit.why_not is None:
            self._add_quality(column, quality, default)
        column.addWidget(self._make_buttons())

    def _add_quality(self, column: VBox, quality: int | None, default: int) -> None:
        self._lossless = QCheckBox("&Lossless: every sample as it is")
        self._lossless.setObjectName("save-lossless")
        self._lossless.setToolTip("Larger, and exact; without it small, and nearly the same")
        self._lossless.setVisible(self._fit.format.can_be_lossless)
        label = Label("&Quality")
        self._slider, self._quality = JumpSlider(), QSpinBox()
        for each, name in ((self._slider, "save-quality"), (self._quality, "save-quality-number")):
            each.setObjectName(name)
            each.setAccessibleName("Quality")
            each.setToolTip(QUALITY_TIP)
            each.setRange(1, 100)
        label.setBuddy(self._slider)
        self._slider.valueChanged.connect(self._quality.setValue)
        self._quality.valueChanged.connect(self._slider.setValue)
        self._quality.setValue(quality or default)
        row = HBox(spacing=10)
        row.add(label, (self._slider, 1), self._quality)
        column.add(self._lossless, row)
        for part in (label, self._slider, self._quality):
            self._lossless.toggled.connect(part.setDisabled)
        self._lossless.setChecked(quality is None and self._fit.format.can_be_lossless)

    def _make_buttons(self) -> QDialogButtonBox:
        title = self._fit.format.title
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        buttons.rejected.connect(self.reject)
        if self._fit.why_not is None:
            tip = f"Write the file as {title}, with what is said above"
            save = push_button("save-agreed", f"&Save as {title}", tip)
            save.setDefault(True)
            save.clicked.connect(self._agree)
            buttons.addButton(save, QDialogButtonBox.ButtonRole.AcceptRole)
        if not self._fit.is_exact and self._fit.instead:
            other = self._fit.instead[0]
            text = f"Save as {other[0]}&{other[1:]} instead…"
            tip = "Choose a name in a format that holds the picture as it is"
            button = push_button("save-other", text, tip)
            button.clicked.connect(lambda: self._choose(other))
            buttons.addButton(button, QDialogButtonBox.ButtonRole.ActionRole)
        return buttons

    def _agree(self) -> None:
        self.accept()
        has_quality = self._fit.format.has_quality and not self._lossless.isChecked()
        self.agreed.emit(self._quality.value() if has_quality else None)

    def _choose(self, title: str) -> None:
        self.reject()
        self.other_wanted.emit(title)
