"""Parts of a panel that are folded or hidden where the others have no room."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QSize, Signal, Slot
from PySide6.QtWidgets import QScrollArea, QSizePolicy, QToolButton, QWidget

from workbench.widgets.boxes import VBox
from workbench.widgets.buttons import described

FRAME_PX = 6  # around the words, as the style sheet has it: both sides together


class FoldButton(QToolButton):
    """A button that stays down, as wide as its words: they begin where all else below it does."""

    def __init__(self, name: str, tip: str, title: str) -> None:
        super().__init__()
        described(self, name, title, tip)
        self.setProperty("heading", True)
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
        """True if only its heading is there."""
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


class GivingWay(QObject):
    """A guard of a panel that hides parts of it until the rest can be seen at once.

    In a window one scrolls: there only the first of the parts give way, and only where that is
    enough; a FoldedSection is folded there, unless the user opened it. On stage no one scrolls or
    opens anything, so all may be hidden.

    is_staged  the panel is on stage

    Signals:
        staged(): the panel went on stage, or left it.
    """

    staged = Signal()

    def __init__(self, area: QWidget, parts: Sequence[QWidget], usual: int = 0) -> None:
        """Take the parts, each of which only this shows and hides.

        area   holds them, or scrolls what does
        parts  what gives way, in this order
        usual  how many of them do so in a window, too
        """
        super().__init__(area)
        self._area, self._parts, self._usual = area, tuple(parts), usual
        self.is_staged = self._is_resting = False
        inside = area.widget() if isinstance(area, QScrollArea) else area
        assert inside is not None
        self._inside = inside
        for each in {area, inside}:
            each.installEventFilter(self)

    def set_staged(self, is_staged: bool) -> None:
        """Have all parts give way, or only those that do so in a window."""
        self.is_staged = is_staged
        self.staged.emit()
        self._arrange()

    def rest(self, is_resting: bool) -> None:
        """Leave the parts as they are, or go on."""
        self._is_resting = is_resting
        self._arrange()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        # A layout has heard of its request before a filter does, so it knows its new height.
        if (watched is self._inside and event.type() == QEvent.Type.LayoutRequest) or (
            watched is self._area and event.type() == QEvent.Type.Resize
        ):
            self._arrange()
        return super().eventFilter(watched, event)

    def _arrange(self) -> None:
        if self._is_resting:
            return
        away = self._away()
        for number, part in enumerate(self._parts):
            is_there = number >= away
            if isinstance(part, FoldedSection) and number < self._usual:
                part.show_room(is_there or self.is_staged, is_choice=not self.is_staged)
                is_there = is_there or not self.is_staged
            if part.isHidden() == is_there:
                part.setVisible(is_there)

    def _away(self) -> int:
        """The number of parts that have to give way."""
        layout = self._inside.layout()
        assert layout is not None
        margins, whole = layout.contentsMargins(), self._area.width()
        if isinstance(self._area, QScrollArea):
            # Beside its bar: where one shows already, Qt asks what does not need one there.
            whole -= self._area.verticalScrollBar().sizeHint().width()
        wide = whole - margins.left() - margins.right()
        highs = [_high_px(each, wide) + layout.spacing() for each in self._parts]
        needed = layout.totalHeightForWidth(whole)
        if needed < 0:
            needed = layout.totalSizeHint().height()
        pairs = zip(self._parts, highs, strict=True)
        needed += sum(
            high
            for part, high in pairs
            if part.isHidden() or (isinstance(part, FoldedSection) and part.is_folded)
        )
        most = len(self._parts) if self.is_staged else self._usual
        fits = (n for n in range(most + 1) if needed - sum(highs[:n]) <= self._area.height())
        return next(fits, most if self.is_staged else 0)


def set_staged(panel: QWidget, is_staged: bool) -> None:
    """Tell all guards in `panel` that it goes on stage, or leaves it."""
    for each in panel.findChildren(GivingWay):
        each.set_staged(is_staged)


def _high_px(part: QWidget, wide: int) -> int:
    """The height of the part; the heading of one that folds does not count."""
    if isinstance(part, FoldedSection):
        part = part.inside
    high = part.heightForWidth(wide) if part.hasHeightForWidth() else part.sizeHint().height()
    return max(min(high, part.maximumHeight()), part.minimumHeight())
