"""The row of the pixel under the pointer, the zoom, and the buttons of looking."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QToolButton, QWidget

from workbench.base import theme
from workbench.base.plain_text import Label
from workbench.panels.compare.read_out import ReadOut
from workbench.widgets.boxes import HBox
from workbench.widgets.buttons import make_button

WIDEST_ZOOM = "12800 %"


class ReadOutRow(QWidget):
    """One line for a status bar: values at its left, zoom and buttons at its right.

    read_out  the values under the pointer

    Signals:
        fit_wanted(), exact_wanted(): the user wants the whole picture, or its own pixels.
        held(is_held): the user wants to see the original for as long.
        pin_wanted(): the result is to be kept beside those to come.
    """

    fit_wanted = Signal()
    exact_wanted = Signal()
    held = Signal(bool)
    pin_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("read-out-row")
        self.setAccessibleName("Pixel under the pointer and zoom")
        self.read_out = ReadOut()
        self._row = HBox(self, (8, 0, 0, 0), 6)
        self._row.addWidget(self.read_out, 1)
        self._build_zoom()
        self._build_looking()
        self._looking = (self._fit, self._exact, self._original)
        self.show_scale(None)

    def show_scale(self, scale: float | None) -> None:
        """Show the screen pixels per picture pixel in percent.

        None: there is no picture, and so nothing to look at.
        """
        percent = 100 * (scale or 0.0)
        digits = 0 if percent >= 10 else 1
        self._zoom.setText("" if scale is None else f"{percent:.{digits}f} %")
        for button in self._looking:
            button.setEnabled(scale is not None)

    def show_can_pin(self, can: bool) -> None:
        """Enable or disable pinning."""
        self._pin.setEnabled(can)

    def _build_zoom(self) -> None:
        self._zoom = Label(name="zoom", font=theme.numbers_font())
        self._zoom.setAccessibleName("Zoom")
        metrics = self._zoom.fontMetrics()
        # Of one size, so that another number lays nothing out anew.
        self._zoom.setFixedSize(metrics.horizontalAdvance(WIDEST_ZOOM) + 4, metrics.height() + 4)
        self._zoom.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._zoom.setToolTip("Screen pixels per picture pixel; above 100 % no pixel is blended")
        self._row.addWidget(self._zoom)
        self._fit = self._add("fit", "Fi&t", "Show the whole picture (0, or double-click at 100 %)")
        self._fit.clicked.connect(self.fit_wanted)
        self._exact = self._add("one_to_one", "&1:1", "100 %: one screen pixel per pixel (1)")
        self._exact.clicked.connect(self.exact_wanted)

    def _build_looking(self) -> None:
        self._original = self._add(
            "original", "Hold: &original", "Hold to see the picture before filtering (Space)"
        )
        self._original.pressed.connect(lambda: self.held.emit(True))
        self._original.released.connect(lambda: self.held.emit(False))
        self._pin = self._add(
            "pin", "Pin", "Keep this result beside the next ones, up to three (K)"
        )
        self._pin.setAccessibleName("Pin this result")
        self._pin.clicked.connect(self.pin_wanted)

    def _add(self, name: str, text: str, tip: str) -> QToolButton:
        button = make_button(name, text, tip)
        self._row.addWidget(button)
        return button
