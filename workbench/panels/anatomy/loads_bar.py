"""One bar: the samples that a launch loads per sample, against those of the plain kernel."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from kernels.anatomy.anatomy_words import loads_words
from workbench.base import theme
from workbench.widgets.boxes import VBox
from workbench.widgets.tile import words_label

TIP = (
    "Samples read from global memory for each sample computed, with halos and with the buffers "
    "between launches. The whole bar is the plain kernel, which reads one for every weight."
)
HEIGHT = 10


class LoadsBar(QWidget):
    """A bar with its sentence below; hidden where nothing is known."""

    def __init__(self) -> None:
        super().__init__()
        self._bar, self._words = _Bar(), words_label("anatomy-loads")
        self.setToolTip(TIP)
        column = VBox(self, (0, 2, 0, 2), 3)
        column.add(self._bar, self._words)

    def show_loads(self, loads: tuple[float, float] | None) -> None:
        """Show the loads per sample of a launch and of the plain kernel; None hides the bar."""
        self.setVisible(loads is not None)
        if loads is None:
            return
        sentence = loads_words(*loads)
        self._words.setText(sentence)
        self._bar.show_share(loads[0] / loads[1], sentence)


class _Bar(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("anatomy-loads-bar")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._share = 0.0

    def show_share(self, share: float, sentence: str) -> None:
        """Show a share of the whole bar."""
        self._share = min(share, 1.0)
        self.setAccessibleName(sentence)
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(120, HEIGHT)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colors = theme.colors(self.palette())
        whole = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(QColor(colors.border))
        painter.setBrush(QColor(colors.panel))
        painter.drawRoundedRect(whole, 3, 3)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colors.accent))
        own = QRectF(whole)
        own.setWidth(max(whole.width() * self._share, 3.0))
        painter.drawRoundedRect(own, 3, 3)
