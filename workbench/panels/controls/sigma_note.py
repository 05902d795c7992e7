"""A sentence on how much of a bell its size holds, and the size that holds nearly all."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.base import numbers
from workbench.base.plain_text import Label, tip_text
from workbench.model import bell
from workbench.model.state import State
from workbench.widgets.boxes import HBox
from workbench.widgets.buttons import push_button

LINES = 2
TIP = tip_text(f"Take the kernel size that holds {numbers.percent(bell.ENOUGH)} of the bell.")


class SigmaNote(QWidget):
    """A sentence of two lines, which keeps its place where there is nothing to say.

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
        """Say how much of the bell of `state` is inside its size."""
        self._words.setText(bell.in_words(state))
        wanted = bell.better_size(state)
        self._take.setVisible(wanted is not None)
        if wanted is not None:
            self._size = wanted
            self._take.setAccessibleName(f"Take kernel size {wanted}")
