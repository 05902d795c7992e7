"""Parts of a panel that are folded where there is no room, or hidden on stage."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Signal
from PySide6.QtWidgets import QSizePolicy, QToolButton, QWidget

from workbench.base import theme
from workbench.widgets.boxes import HBox, Placed, VBox
from workbench.widgets.buttons import described
from workbench.widgets.letters import factor_of
from workbench.widgets.watch import Watch

FRAME_PX = 6  # around the words, as the style sheet has it: both sides together


class FoldButton(QToolButton):
    """A button that stays down, as wide as its words: they begin where all else below it does."""

    def __init__(self, name: str, tip: str, title: str) -> None:
        super().__init__()
        described(self, name, title, tip, look="heading")
        self.setCheckable(True)

    def show_fold(self, words: str, is_open: bool) -> None:
        """Show the heading `words`, and which way its fold is."""
        self.setText(f"{'▾' if is_open else '▸'} {words}")

    def sizeHint(self) -> QSize:  # noqa: N802
        self.ensurePolished()
        width = self.fontMetrics().horizontalAdvance(self.text())
        return QSize(width + FRAME_PX, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return self.sizeHint()


class FoldedSection(QWidget):
    """A part that is open where there is room, until the user opens or folds it."""

    chosen = Signal()  # the user opened or folded it

    def __init__(self, name: str, tip: str, title: str, inside: QWidget, *beside: Placed) -> None:
        """Make a heading with `title`, and what is `beside` it, over `inside`, open."""
        super().__init__()
        self._title, self.inside = title, inside
        self._chosen: bool | None = None  # by the user; None: it goes by the room
        self._fold = FoldButton(name, tip, title)
        self._fold.clicked.connect(self._choose)
        VBox(self, 0, 4).add(HBox().add(self._fold, *beside) if beside else self._fold, (inside, 1))
        self._show(True)

    def follow(self, panel: QWidget, least_px: int) -> None:
        """Open it while `panel` is at least so high, for usual letters."""

        def look() -> None:
            self.show_room(panel.height() >= theme.in_letters(least_px) * factor_of(panel))

        Watch(panel, QEvent.Type.Resize, QEvent.Type.FontChange).seen.connect(look)

    def show_room(self, has_room: bool, is_choice: bool = True) -> None:
        """Open it where there is room, and fold it where there is none.

        is_choice  whether what the user chose goes before
        """
        self._show(self._chosen if is_choice and self._chosen is not None else has_room)

    @property
    def is_folded(self) -> bool:
        """True if only its heading is there."""
        return self.inside.isHidden()

    def _choose(self) -> None:
        self._chosen = self.is_folded
        self._show(self._chosen)
        self.chosen.emit()

    def _show(self, is_open: bool) -> None:
        self._fold.show_fold(self._title, is_open)
        self._fold.setChecked(is_open)
        if self.is_folded == is_open:
            self.inside.setVisible(is_open)
        high = QSizePolicy.Policy.Preferred if is_open else QSizePolicy.Policy.Fixed
        self.setSizePolicy(QSizePolicy.Policy.Preferred, high)


class OffStage(QObject):
    """Parts of a panel that are hidden on the presenter's stage, where nobody scrolls.

    is_staged  the panel is on stage
    """

    staged = Signal()  # the panel went on stage, or left it

    def __init__(self, panel: QWidget, *parts: QWidget) -> None:
        """Take the parts, each of which only this shows and hides."""
        super().__init__(panel)
        self._parts, self.is_staged = parts, False

    def set_staged(self, is_staged: bool) -> None:
        """Hide the parts, or show them again."""
        self.is_staged = is_staged
        for part in self._parts:
            part.setVisible(not is_staged)
        self.staged.emit()


def set_staged(panel: QWidget, is_staged: bool) -> None:
    """Tell `panel` that it goes on stage, or leaves it."""
    for each in panel.findChildren(OffStage):
        each.set_staged(is_staged)
