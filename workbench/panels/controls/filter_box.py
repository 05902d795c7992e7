"""The filter of a window's toolbar, whose list shows previews in groups."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QImage

from kernels import filters
from workbench.panels.controls.filter_popup import PREVIEW_PX, FilterPopup
from workbench.widgets.drop_down import ToolList


class FilterBox(ToolList):
    """A list of all filters; the wheel, letters and arrow keys step through it where it stands.

    Signals:
        previews_wanted(width, height, ratio): its popup opens and has room for previews that large,
            with `ratio` pixels to each of the screen's.
        settings_wanted(): the user wants the filters' own parameters.
    """

    previews_wanted = Signal(int, int, float)
    settings_wanted = Signal()

    def __init__(self) -> None:
        super().__init__("filter", "Filter")
        for each in filters.all_filters():
            self.addItem(each.title, each.key)
        self.setToolTip("Which weights, and so which picture comes out.")
        self._popup: FilterPopup | None = None  # made when it is first opened: it takes a moment

    def showPopup(self) -> None:  # noqa: N802
        if self._popup is None:
            self._popup = FilterPopup(self.window())  # a style sheet skips frames in a combo box
            self._popup.picked.connect(self._pick)
            self._popup.settings_wanted.connect(self.settings_wanted)
        size = PREVIEW_PX
        self.previews_wanted.emit(size.width(), size.height(), self.devicePixelRatioF())
        self._popup.open_below(self, self.currentData())

    def hidePopup(self) -> None:  # noqa: N802
        if self._popup is not None:
            self._popup.hide()

    def show_previews(self, images: dict[str, QImage], ratio: float) -> None:
        """Show what each filter makes of the picture in view."""
        if self._popup is not None:
            self._popup.show_previews(images, ratio)

    def _pick(self, key: str) -> None:
        row = self.findData(key)
        self.setCurrentIndex(row)
        self.activated.emit(row)
