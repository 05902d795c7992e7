"""Links between the pictures and the two panels that explain them and paint over them."""

from __future__ import annotations

import math

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from kernels.core.job import Result
from workbench.panels.anatomy.anatomy_panel import AnatomyPane
from workbench.panels.compare.compare_view import CompareView
from workbench.panels.compare.inspection import Inspection
from workbench.panels.pixel.pixel_panel import PixelPane
from workbench.session.live import Live
from workbench.widgets.actions import Action
from workbench.widgets.docks import Docks

VIEW = "&View"


class Explaining(QObject):
    """A link that takes the pointer to the panels, and their painting to the pictures."""

    def __init__(
        self,
        compare: CompareView,
        inspection: Inspection,
        live: Live,
        docks: Docks,
        pixel: PixelPane,
        anatomy: AnatomyPane,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._docks, self._pixel, self._anatomy = docks, pixel, anatomy
        self._pointed: tuple[float, float] | None = None  # the last place in a picture
        compare.add_overlay(anatomy.paint)
        compare.add_overlay(pixel.paint)
        compare.pointed.connect(self._point)
        compare.picked.connect(self._pick)
        inspection.worked_out.found.connect(self._pick)
        anatomy.look_changed.connect(compare.repaint_overlays)
        pixel.pixel_changed.connect(compare.repaint_overlays)
        pixel.zoom_wanted.connect(compare.go_to)
        anatomy.area_wanted.connect(compare.show_area)
        for title in ("Anatomy", "Pixel"):
            docks[title].visibilityChanged.connect(lambda _: compare.repaint_overlays())
        live.after_ready.connect(lambda result, _: self._show_result(result))
        live.settled.connect(self._show_settled)
        # The right button's menu, in any picture.
        here = QAction("Explain this pixel", compare)
        here.triggered.connect(self.explain_pixel)
        compare.addAction(here)
        compare.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)

    def actions(self) -> list[Action]:
        """Return the lines of the menu that open the two panels."""
        return [
            Action(
                VIEW,
                "This pi&xel",
                self.explain_pixel,
                ("P",),
                "The pixel under the pointer: its neighbours, the weights, the products and their "
                "sum.",
                separator=True,
            ),
            Action(
                VIEW,
                "&Anatomy of a launch",
                self.show_anatomy,
                ("A",),
                "Blocks, tile and halo, warps and threads over the picture, and what their "
                "accesses to memory cost.",
            ),
        ]

    @Slot()
    def explain_pixel(self) -> None:
        """Bring the Pixel panel forward, with the pixel that was pointed at last."""
        at = self._pointed
        pixel = (math.floor(at[0]), math.floor(at[1])) if at is not None else None
        self._raise("Pixel", self._pixel)
        self._pixel.show_pixel(pixel)

    def show_anatomy(self) -> None:
        """Bring the Anatomy panel forward, with the thread that was pointed at last."""
        self._raise("Anatomy", self._anatomy)
        self._anatomy.point_at(self._pointed)

    def _raise(self, title: str, pane: QWidget) -> None:
        self._docks.bring_forward(title)
        pane.setVisible(True)  # its dock may not have shown it yet
        pane.setFocus()

    def _point(self, point: tuple[float, float] | None) -> None:
        if point is not None:
            self._pointed = point
            self._anatomy.point_at(point)

    def _pick(self, pixel: tuple[int, int]) -> None:
        if self._pixel.isVisible():
            self._pixel.show_pixel(pixel)

    def _show_result(self, result: Result) -> None:
        self._pixel.show_result(result)
        self._anatomy.show_result(result)

    def _show_settled(self, result: Result) -> None:
        self._pixel.show_settled(result)
        self._anatomy.show_settled(result)
