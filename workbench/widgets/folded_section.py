"""A part of a panel under a heading, which folds it away where there is no room for it."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.widgets.boxes import VBox
from workbench.widgets.fold_button import FoldButton


class FoldedSection(QWidget):
    """A part that is open where there is room, until the user opens or folds it.

    inside  what it folds away
    """

    def __init__(self, name: str, tip: str, title: str, inside: QWidget) -> None:
        """Make a heading with `title` over `inside`, open."""
        super().__init__()
        self._title, self.inside = title, inside
        self._chosen: bool | None = None  # by the user; None: it goes by the room
        self._fold = FoldButton(name, tip, title)
        self._fold.clicked.connect(self._choose)
        VBox(self, 0, 4).add(self._fold, (inside, 1))
        self._show(True)

    def show_room(self, has_room: bool, is_choice: bool = True) -> None:
        """Open it where there is room, and fold it where there is none.

        is_choice  whether what the user chose goes before
        """
        self._show(self._chosen if is_choice and self._chosen is not None else has_room)

    @property
    def is_folded(self) -> bool:
        """Return whether only its heading is there."""
        return self.inside.isHidden()

    @Slot()
    def _choose(self) -> None:
        self._chosen = self.is_folded
        self._show(self._chosen)

    def _show(self, is_open: bool) -> None:
        self._fold.show_fold(self._title, is_open)
        self._fold.setChecked(is_open)
        if self.is_folded == is_open:
            self.inside.setVisible(is_open)
        high = QSizePolicy.Policy.Preferred if is_open else QSizePolicy.Policy.Fixed
        self.setSizePolicy(QSizePolicy.Policy.Preferred, high)
