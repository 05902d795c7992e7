"""The strip below the pictures: the values under the pointer, the zoom, and the buttons."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QWidget

from workbench.base import theme
from workbench.base.plain_text import Label
from workbench.panels.compare.mode_bar import ModeOptions
from workbench.panels.compare.read_out import ReadOut
from workbench.widgets.buttons import make_button

ACROSS, DOWN = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
_APART = 24  # between the read-out and the buttons


class ViewStrip(QWidget):
    """The read-out and the buttons, beside one another or, where it is narrow, in two rows.

    Below the read-out the buttons stand in one line where there is room.

    read_out  the values under the pointer
    options   what the mode lets one choose

    Signals:
        fit_wanted(), exact_wanted(): the user wants the whole picture, or its own pixels.
        held(is_held): the user wants to see the original for as long.
    """

    fit_wanted = Signal()
    exact_wanted = Signal()
    held = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.read_out = ReadOut()
        self.options = ModeOptions()
        self._rows = self._build_zoom(), self._build_modes()
        self._buttons = QBoxLayout(DOWN)
        self._buttons.setSpacing(6)
        for row in self._rows:
            self._buttons.addLayout(row)
        self._parts = QBoxLayout(ACROSS, self)
        self._parts.setContentsMargins(0, 0, 0, 0)
        self._parts.addWidget(self.read_out, 1)
        self._parts.addLayout(self._buttons)

    def show_scale(self, scale: float | None) -> None:
        """Show the screen pixels per picture pixel in percent; None: there is no picture."""
        percent = 100 * (scale or 0.0)
        digits = 0 if percent >= 10 else 1
        self._zoom.setText("" if scale is None else f"{percent:.{digits}f} %")

    def arrange(self) -> None:
        """Find places for what may be wider now."""
        wide = [row.sizeHint().width() for row in self._rows]
        room = self.width()
        is_beside = self.read_out.sizeHint().width() + max(wide) + _APART <= room
        is_one_line = not is_beside and sum(wide) + _APART <= room
        self._parts.setDirection(ACROSS if is_beside else DOWN)
        self._buttons.setDirection(ACROSS if is_one_line else DOWN)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        """Return a narrow size, with the read-out above the buttons."""
        widths = [row.minimumSize().width() for row in self._rows]
        width = max(self.read_out.minimumSizeHint().width(), *widths)
        return QSize(width, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self.arrange()

    def _build_zoom(self) -> QHBoxLayout:
        self._zoom = Label()
        self._zoom.setObjectName("zoom")
        self._zoom.setAccessibleName("Zoom")
        self._zoom.setFont(theme.numbers_font())
        self._zoom.setMinimumWidth(self._zoom.fontMetrics().horizontalAdvance("6400 %"))
        self._zoom.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._zoom.setToolTip("Screen pixels per picture pixel; above 100 % no pixel is blended")
        whole = make_button("fit", "Fi&t", "Show the whole picture (0, or double-click at 100 %)")
        whole.clicked.connect(self.fit_wanted)
        exact = make_button(
            "one_to_one", "&1:1", "One screen pixel for each pixel (1, or double-click)"
        )
        exact.clicked.connect(self.exact_wanted)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch(1)
        row.addWidget(self.read_out.position)
        row.addSpacing(8)
        for widget in (self._zoom, whole, exact):
            row.addWidget(widget)
        return row

    def _build_modes(self) -> QHBoxLayout:
        original = make_button("original", "&Original", "Hold to see the original (Space)")
        original.pressed.connect(lambda: self.held.emit(True))
        original.released.connect(lambda: self.held.emit(False))
        row = QHBoxLayout()
        row.setSpacing(6)
        row.addStretch(1)
        row.addWidget(self.options)
        row.addWidget(original)
        return row
