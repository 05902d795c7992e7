"""The part of the picture that a kernel was tried on, and its answer, side by side."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QWidget

from workbench.base import theme
from workbench.imaging.display import Display
from workbench.panels.compare.picture_view import PictureView
from workbench.panels.compare.view_transform import ViewTransform, fit
from workbench.widgets.boxes import HBox

HINT = "The part of the picture\nthat it is tried on"
ANSWER_HINT = "What your kernel\nmakes of it"
MIN_PX, MAX_PX = 120, 420  # high
# What else there is to be seen where they are shown, and their share of it where that is little.
OTHERS_PX, MAX_SHARE = 250, 0.35
RING = 1.6  # of the marked pixel's side


class AnswerPair(QWidget):
    """Two views that zoom and move together, with a ring around a pixel that is in question.

    Signals:
        picked(pixel): the user clicked on this pixel (x, y) of the part.
    """

    picked = Signal(object)

    def __init__(self, name: str = "kernel") -> None:
        """Make the pair; `name` is what the names of both begin with."""
        super().__init__()
        self._before = PictureView("Part of the picture", HINT)
        self._after = PictureView("Your kernel's answer", ANSWER_HINT)
        self._size: tuple[int, int] | None = None
        self._transform: ViewTransform | None = None  # None: fit
        self._pixel: tuple[int, int] | None = None
        self._room = QSize()
        row = HBox(self, 0, 4)
        for own, view in ((f"{name}-before", self._before), (f"{name}-answer", self._after)):
            view.setObjectName(own)
            view.moved.connect(self._move)
            view.hovered.connect(self._mark)
            view.picked.connect(self.picked)
            view.overlays.append(self._paint_ring)
            view.installEventFilter(self)
            row.addWidget(view, 1)
        self.take_room(QSize())
        self._before.setAccessibleDescription(HINT)
        self._after.setAccessibleDescription(ANSWER_HINT)

    def show_pictures(
        self, before: Display | None, after: Display | None, caption: str = ""
    ) -> None:
        """Show what it was tried on and what came of it; None: not known.

        caption  of the answer
        """
        size = before.size if before else after.size if after else None
        if size != self._size:
            self._size, self._transform = size, None
            self.take_room(self._room)
        self._before.show_picture(before, "Before")
        self._after.show_picture(after, caption)
        self._arrange()

    def take_room(self, room: QSize) -> None:
        """Take the height that two pictures side by side have in what shows them and more.

        Not in its own width: with the height a scroll bar comes and goes, and that width with it.
        """
        self._room = room
        across, down = self._size or (1, 1)
        most = max(round(MAX_SHARE * room.height()), room.height() - theme.in_letters(OTHERS_PX))
        high = min(room.width() // 2 * down // across, most)
        self.setFixedHeight(min(max(high, MIN_PX), MAX_PX))

    def show_pixel(self, pixel: tuple[int, int] | None) -> None:
        """Draw a ring around a pixel (x, y) of the part; None: around none."""
        self._pixel = pixel
        if pixel is not None and self._transform is not None:
            x, y = pixel
            area = (x - 1.0, y - 1.0, x + 2.0, y + 2.0)
            self._move(self._transform.showing(area, self._before.device_size))
        self._before.update()
        self._after.update()

    @property
    def pixel(self) -> tuple[int, int] | None:
        """Return the pixel with the ring; None: there is none."""
        return self._pixel

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Fit the pictures again where the views have another size."""
        if event.type() == QEvent.Type.Resize:
            self._arrange()
        return super().eventFilter(watched, event)

    def _move(self, transform: ViewTransform | None) -> None:
        size = self._size or (1, 1)
        if transform is not None and transform.scale <= fit(size, self._before.device_size).scale:
            transform = None  # whoever scrolls the panel would leave them too small to see
        self._transform = None if transform is None else transform.kept_within(size)
        self._arrange()

    def _mark(self, point: tuple[int, int] | None) -> None:
        for view in (self._before, self._after):
            view.show_mark(point if view is not self.sender() else None)

    def _arrange(self) -> None:
        if self._size is None:
            return
        for view in (self._before, self._after):
            view.show_transform(self._transform or fit(self._size, view.device_size))

    def _paint_ring(self, painter: QPainter, _visible: QRectF, scale: float) -> None:
        if self._pixel is None:
            return
        x, y = self._pixel
        side = max(RING, 10 / scale)  # to be seen where pixels are small
        ring = QRectF(x + 0.5 - side / 2, y + 0.5 - side / 2, side, side)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for color, width in (("#000000", 4.0), ("#ffffff", 2.0)):
            painter.setPen(QPen(QColor(color), width / scale))
            painter.drawRect(ring)
