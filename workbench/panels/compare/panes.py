"""The views of several pictures, beside or above one another."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from workbench.panels.compare.picture_view import PictureView
from workbench.panels.compare.view_transform import Size, places_across

_GAP = 6  # px between two views
_UNKNOWN: Size = (3, 2)  # a picture's shape while there is none


class Panes(QWidget):
    """A grid of views, in whichever arrangement makes their pictures largest."""

    def __init__(self, views: Sequence[PictureView]) -> None:
        """Take all views that may ever be shown; `show_views` says which are."""
        super().__init__()
        self._all = tuple(views)
        self._shown: tuple[PictureView, ...] = ()
        self._picture: Size = _UNKNOWN
        self._across = 0
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(_GAP)
        for view in self._all:
            view.setParent(self)

    @property
    def shown(self) -> tuple[PictureView, ...]:
        """Return the views that are shown, in their order."""
        return self._shown

    def show_views(self, views: Sequence[PictureView]) -> None:
        """Show these views, in this order."""
        if tuple(views) != self._shown:
            self._shown = tuple(views)
            self._place()

    def show_size(self, picture: Size | None) -> None:
        """Place the views for pictures of this width and height; None: there are none."""
        self._picture = picture or _UNKNOWN
        self._rearrange()

    def resizeEvent(self, _event: QResizeEvent) -> None:  # noqa: N802
        self._rearrange()

    def _rearrange(self) -> None:
        if self._best() != self._across:
            self._place()

    def _best(self) -> int:
        room = self.width(), self.height()
        return places_across(len(self._shown), room, self._picture, _GAP)

    def _place(self) -> None:
        self._across = across = self._best()
        for view in self._all:
            self._grid.removeWidget(view)
            view.setVisible(view in self._shown)
        for index, view in enumerate(self._shown):
            self._grid.addWidget(view, index // across, index % across)
        down = -(-len(self._shown) // across)
        for line in range(len(self._all)):
            self._grid.setColumnStretch(line, int(line < across))
            self._grid.setRowStretch(line, int(line < down))
