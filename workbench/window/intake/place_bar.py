"""The place of the picture in its folder, "8 of 12", with a way to those beside it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QToolButton, QWidget

from workbench.base.plain_text import Label, tip_text
from workbench.files.neighbours import Shelf
from workbench.widgets.boxes import HBox
from workbench.widgets.buttons import tab_button


class PlaceBar(QWidget):
    """A row for the status bar; hidden where there is nowhere to go.

    Signals:
        stepped(step): the next (1) or the previous (-1) picture is wanted.
    """

    stepped = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("place")
        self._words = Label(name="place-words")
        self._back = self._make_button(Qt.ArrowType.LeftArrow, -1, "Previous picture", "PgUp")
        self._forth = self._make_button(Qt.ArrowType.RightArrow, 1, "Next picture", "PgDn")
        row = HBox(self, (4, 0, 4, 0), 2)
        row.add(self._back, self._words, self._forth)
        self.hide()

    def show_place(self, shelf: Shelf | None) -> None:
        """Show where the picture in view stands on `shelf`; None: on none."""
        if shelf is None or shelf.index is None or len(shelf.names) < 2:
            self.hide()
            return
        at, count = shelf.index + 1, len(shelf.names)
        self._words.setText(f"{at:,} of {count:,}")
        where = "opened together" if shelf.folder is None else f"in {shelf.folder}"
        said = f"Picture {at:,} of {count:,} {where}"
        self._words.setToolTip(tip_text(said))
        self._words.setAccessibleName(said)
        self._back.setEnabled(at > 1)
        self._forth.setEnabled(at < count)
        self.show()

    def _make_button(self, arrow: Qt.ArrowType, step: int, name: str, key: str) -> QToolButton:
        place = "place-forth" if step > 0 else "place-back"
        button = tab_button(place, "", f"{name} ({key})", name)
        button.setArrowType(arrow)
        button.setAutoRaise(True)
        button.setProperty("flat", True)
        button.clicked.connect(partial(self._step, step))
        return button

    def _step(self, step: int, _checked: bool = False) -> None:
        self.stepped.emit(step)
