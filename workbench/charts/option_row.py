"""Lists above a chart: its baseline, and one value of each dimension it has no room for."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSignalBlocker, QTimer, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QComboBox, QLabel, QSizePolicy, QWidget

from workbench.base.plain_text import Label
from workbench.charts.data.figure import Option
from workbench.widgets.eliding_box import ElidingBox
from workbench.widgets.letters import take_up
from workbench.widgets.tile import scaled_font

MAX_PX = 300  # of a list
FRAME_PX, ARROW_EM = 24, 1.5  # of theme.qss: paddings and borders; and the arrow, in lines of text
GAP_PX, PAIR_GAP_PX, ROW_GAP_PX = 6, 14, 4


class OptionRow(QWidget):
    """A row of lists, each after its name, broken into as many lines as the width needs.

    Signals:
        chosen(name, value): the user chose a value of the option of that name.
    """

    chosen = Signal(str, object)

    def __init__(self) -> None:
        super().__init__()
        self._options: tuple[Option, ...] = ()
        self._lists: dict[str, tuple[QLabel, QComboBox]] = {}
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self._lay_out)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_options(self, options: Sequence[Option]) -> None:
        """Show a list for each option without emitting; lists that stay keep their entries."""
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
        self._lay_out()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self._lay_out()
        elif event.type() == QEvent.Type.FontChange:
            self._later.start()  # its lists get their letters after it

    def _new_list(self, option: Option) -> tuple[QLabel, QComboBox]:
        tip = "What speed-ups are against" if option.name == "baseline" else "Which one is shown"
        box = ElidingBox(f"chart-{option.name}", option.label, tip, self)
        box.setFont(scaled_font(0.93))
        # Under the other policies a list is resized only a moment after it was filled.
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.activated.connect(lambda row: self._choose(option.name, row))
        label = Label(option.label, self, font=scaled_font(0.9), is_muted=True)
        label.setBuddy(box)
        for part in (label, box):
            take_up(part)
        self._lists[option.name] = label, box
        return label, box

    def _choose(self, name: str, row: int) -> None:
        """Emit the choice, unless the chart has lost this option since the list was opened."""
        option = next((each for each in self._options if each.name == name), None)
        if option is not None and row < len(option.values):
            self.chosen.emit(name, option.values[row][0])

    @Slot()
    def _lay_out(self) -> None:
        """Place the lists in rows, each as wide as its longest entry if there is room."""
        shown = [option.name for option in self._options]
        for name, pair in self._lists.items():
            for widget in pair:
                widget.setVisible(name in shown)
        x = y = row_px = 0
        for name in shown:
            label, box = self._lists[name]
            row_px = box.sizeHint().height()
            label_px, box_px = label.sizeHint().width(), min(_list_px(box), MAX_PX)
            if x > 0 and x + label_px + GAP_PX + box_px > self.width():
                x, y = 0, y + row_px + ROW_GAP_PX
            box_px = min(box_px, self.width() - x - label_px - GAP_PX)
            label.setGeometry(x, y, label_px, row_px)
            box.setGeometry(x + label_px + GAP_PX, y, box_px, row_px)
            x += label_px + GAP_PX + box_px + PAIR_GAP_PX
        self.setFixedHeight(y + row_px)
        self.setVisible(bool(shown))


def _list_px(box: QComboBox) -> int:
    """Return the width that the longest entry of a list takes, in pixels."""
    texts = (box.itemText(row) for row in range(box.count()))
    metrics = box.fontMetrics()
    around = FRAME_PX + round(ARROW_EM * metrics.height())
    return around + max(map(metrics.horizontalAdvance, texts), default=0)


def _fill(box: QComboBox, option: Option) -> None:
    texts = [text for _, text in option.values]
    if [box.itemText(row) for row in range(box.count())] != texts:
        box.clear()
        box.addItems(texts)
    box.setCurrentIndex([value for value, _ in option.values].index(option.chosen))
