"""The results kept beside the newest, and the view that shows one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray
from PySide6.QtCore import Signal
from PySide6.QtGui import QPainter, QResizeEvent

from kernels.core.job import Result
from workbench.imaging.display import Display
from workbench.imaging.display_mapping import DisplayMapping
from workbench.panels.compare.picture_view import PictureView
from workbench.widgets.buttons import make_button
from workbench.widgets.chips import paint_chip

MAX_PINS = 3  # beside the newest result: four in all
_MARGIN = 8


def pin_name(number: int) -> str:
    """Return the name of the pin with this number, from 1."""
    return f"Pinned {number}"


@dataclass(frozen=True, slots=True, eq=False)
class Pin:
    """A kept result, and how it is shown.

    display  made with `look`
    caption  what it is, how long it took, and how it is shown: "Gaussian blur 5×5 · OpenCV", and
             below that "1.23 ms"
    """

    result: Result
    display: Display
    look: DisplayMapping
    caption: str

    @property
    def samples(self) -> NDArray[Any]:
        """Return the filtered picture, (H, W, C)."""
        return self.result.picture


class PinView(PictureView):
    """The view of a pinned result, with a button that removes it.

    Signals: those of PictureView, and
        removed(): the user wants it gone.
    """

    removed = Signal()

    def __init__(self, number: int) -> None:
        super().__init__(pin_name(number), "")
        self._close = make_button(f"unpin-{number}", "×", "Remove this result from the view")
        self._close.setProperty("onPicture", True)
        self._close.setAccessibleName(f"Remove pinned result {number}")
        self._close.setParent(self)
        self._close.clicked.connect(self.removed)
        self._close.adjustSize()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        size = self._close.sizeHint()
        self._close.resize(size)
        self._close.move(self.width() - size.width() - _MARGIN, _MARGIN)
        super().resizeEvent(event)

    def _paint_captions(self, painter: QPainter) -> None:
        room = self._close.width() + _MARGIN
        paint_chip(painter, self.rect().adjusted(0, 0, -room, 0), self._caption)
