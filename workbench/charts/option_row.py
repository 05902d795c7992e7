"""Lists to choose from above a chart: its baseline, and one value of each dimension too many."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QComboBox, QGridLayout, QLabel, QSizePolicy, QWidget

from workbench.charts.figure import Option
from workbench.views.tile import MUTED, scaled_font

PAIR_PX = 160  # about what a label and its list take
LEAST_CHARACTERS = 5


class OptionRow(QWidget):
    """As many lists side by side as there is room for, each after its name.

    Signals:
        chosen(name, value): for the option of that name.
    """

    chosen = Signal(str, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._options: tuple[Option, ...] = ()
        self._lists: dict[str, tuple[QLabel, QComboBox]] = {}
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(6)
        self._grid.setVerticalSpacing(4)
        self._pairs = 0
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_options(self, options: Sequence[Option]) -> None:
        """Lists that stay keep what they have; nothing is emitted."""
        if tuple(options) == self._options:
            return
        self._options = tuple(options)
        for option in options:
            _, box = self._lists.get(option.name) or self._new_list(option)
            with QSignalBlocker(box):
                _fill(box, option)
        self._lay_out()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        if self._fitting() != self._pairs:
            self._lay_out()

    def _new_list(self, option: Option) -> tuple[QLabel, QComboBox]:
        box = QComboBox()
        box.setObjectName(f"chart-{option.name}")
        box.setAccessibleName(option.label)
        box.setFont(scaled_font(0.93))
        box.setMinimumContentsLength(LEAST_CHARACTERS)
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        tip = "What speed-ups are against" if option.name == "baseline" else "Which one is shown"
        box.setToolTip(tip)
        box.activated.connect(
            lambda row: self.chosen.emit(option.name, self._value(option.name, row))
        )
        label = QLabel(option.label)
        label.setFont(scaled_font(0.9))
        label.setForegroundRole(MUTED)
        label.setBuddy(box)
        self._lists[option.name] = label, box
        return label, box

    def _value(self, name: str, row: int) -> object:
        option = next(each for each in self._options if each.name == name)
        return option.values[row][0]

    def _fitting(self) -> int:
        return max(1, self.width() // PAIR_PX)

    def _lay_out(self) -> None:
        self._pairs = self._fitting()
        shown = [option.name for option in self._options]
        for name, pair in self._lists.items():
            for widget in pair:
                self._grid.removeWidget(widget)
                widget.setVisible(name in shown)
        for number, name in enumerate(shown):
            row, column = divmod(number, self._pairs)
            label, box = self._lists[name]
            self._grid.addWidget(label, row, 2 * column)
            self._grid.addWidget(box, row, 2 * column + 1)
        for column in range(self._pairs):
            self._grid.setColumnStretch(2 * column + 1, 1)
        self.setVisible(bool(shown))


def _fill(box: QComboBox, option: Option) -> None:
    texts = [text for _, text in option.values]
    if [box.itemText(row) for row in range(box.count())] != texts:
        box.clear()
        box.addItems(texts)
    box.setCurrentIndex([value for value, _ in option.values].index(option.chosen))
