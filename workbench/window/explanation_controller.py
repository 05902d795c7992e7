"""Links between the pictures and the two panels that explain them and paint over them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeVar

from PySide6.QtCore import QEvent, QMargins, QObject, QRectF, Qt, Slot
from PySide6.QtGui import QAction, QPainter
from PySide6.QtWidgets import QWidget

from kernels.core.job import Result
from workbench.panels.compare.inspection import Inspection
from workbench.panels.compare.picture_view import PictureView
from workbench.widgets.actions import Action
from workbench.widgets.keyboard import is_escape
from workbench.widgets.lazy_panel import LazyPanel
from workbench.window.window_parts import Parts

if TYPE_CHECKING:
    from workbench.panels.anatomy.anatomy_panel import AnatomyPane
    from workbench.panels.pixel.pixel_panel import PixelPane


VIEW = "&View"
CAPTION_PX = 32  # what the caption takes of a picture's upper edge
P = TypeVar("P", bound=QWidget)


class ExplanationController(QObject):
    """A link that takes the pointer to the panels, and their painting to the pictures."""

    def __init__(
        self,
        parts: Parts,
        inspection: Inspection,
        pixel: LazyPanel[PixelPane],
        anatomy: LazyPanel[AnatomyPane],
    ) -> None:
        super().__init__(parts.window)
        compare, live, docks = parts.compare, parts.live, parts.docks
        self._compare, self._live, self._docks = compare, live, docks
        self._pixel, self._anatomy = pixel, anatomy
        self._places: tuple[Any, Any] | None = None  # in view before Anatomy, and what it went to
        self._pointed: tuple[float, float] | None = None  # the last place in a picture
        self._held_before: tuple[int, int] | None = None  # the last click
        compare.add_overlay(self._paint_anatomy)
        compare.hides_values = self._is_anatomy_painted  # they would run into blocks and warps
        compare.add_overlay(self._paint_pixel)
        compare.pointed.connect(self._point)
        compare.picked.connect(self._pick)
        compare.installEventFilter(self)  # for Esc
        for view in compare.findChildren(PictureView):
            view.installEventFilter(self)  # for double clicks
        inspection.worked_out.found.connect(self._hold)
        pixel.when_made(self._connect_pixel)
        anatomy.when_made(self._connect_anatomy)
        for title in ("Anatomy", "Pixel"):
            docks[title].visibility_changed.connect(lambda _: compare.repaint_overlays())
        live.after_ready.connect(lambda result, _: self._show_result(result))
        live.settled.connect(self._show_settled)
        # The right button's menu, in any picture.
        here = QAction("Explain this pixel", compare)
        here.triggered.connect(self._explain_here)
        compare.addAction(here)
        compare.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)

    def _connect_pixel(self, pixel: PixelPane) -> None:
        pixel.pixel_changed.connect(self._compare.repaint_overlays)
        pixel.zoom_wanted.connect(self._compare.go_to)
        pixel.view_wanted.connect(self._compare.follow)
        if self._live.result is not None:
            pixel.show_result(self._live.result)

    def _connect_anatomy(self, anatomy: AnatomyPane) -> None:
        anatomy.look_changed.connect(self._compare.repaint_overlays)
        anatomy.area_wanted.connect(self._show_area)
        anatomy.entered.connect(self._enter_anatomy)
        anatomy.left.connect(self._leave_anatomy)
        if self._live.result is not None:
            anatomy.show_result(self._live.result)

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
            Action(
                VIEW,
                "&Next part of the anatomy",
                self.show_next_part,
                ("Shift+A",),
                "Load, share, compute: the three parts of a launch, one after the other.",
            ),
        ]

    @Slot()
    def explain_pixel(self) -> None:
        """Bring the Pixel panel forward, with the pixel pointed at last unless one is held."""
        panel = self._raise("Pixel", self._pixel)
        pointed = None if panel.is_held else self._pointed_pixel
        panel.show_pixel(pointed)
        if pointed is not None:
            panel.ask_view()

    @Slot()
    def _explain_here(self) -> None:
        """Hold the pixel whose menu it was chosen from."""
        self._raise("Pixel", self._pixel).hold(self._pointed_pixel)

    @property
    def pixel(self) -> tuple[int, int] | None:
        """Return the pixel that is held, or that was pointed at last."""
        panel = self._pixel.made
        return panel.pixel if panel is not None and panel.is_held else self._pointed_pixel

    @property
    def _pointed_pixel(self) -> tuple[int, int] | None:
        at = self._pointed
        return None if at is None else (math.floor(at[0]), math.floor(at[1]))

    def show_anatomy(self) -> None:
        """Bring the Anatomy panel forward, with the thread that was pointed at last."""
        self._raise("Anatomy", self._anatomy).point_at(self._pointed)

    def show_next_part(self) -> None:
        """Show the next part of the launch, or the panel where it is not open."""
        panel = self._anatomy.made
        if panel is not None and panel.isVisible():
            panel.show_next_part()
        else:
            self.show_anatomy()

    def _enter_anatomy(self, area: QRectF) -> None:
        """Fill the view with the block that the panel opens on."""
        if self._places is None:
            self._places = self._place, self._place
        self._show_area(area)

    def _show_area(self, area: QRectF) -> None:
        """Fill the view with a block; where the view was before Anatomy it still goes back to."""
        is_there = self._places is not None and self._place == self._places[1]
        self._compare.show_area(area, QMargins(0, CAPTION_PX, 0, self._anatomy.get().legend_px))
        if is_there and self._places is not None:
            self._places = self._places[0], self._place

    @property
    def _place(self) -> Any:
        return self._compare.choices().get("place")

    def _leave_anatomy(self) -> None:
        """Go back to where the view was, unless it was moved since."""
        places, self._places = self._places, None
        if places is None or self._place != places[1]:
            return
        if places[0] is None:
            self._compare.show_fit()
        else:
            self._compare.restore({"place": places[0]})

    def _raise(self, title: str, panel: LazyPanel[P]) -> P:
        self._docks.bring_forward(title)
        panel.get().setFocus()
        return panel.get()

    def _point(self, point: tuple[float, float] | None) -> None:
        if point is not None:
            self._pointed = point
            if self._anatomy.made is not None:
                self._anatomy.made.point_at(point)
            if self._pixel.made is not None:
                self._pixel.made.point_at(point)

    def _paint_anatomy(self, painter: QPainter, visible: QRectF, scale: float) -> None:
        if (panel := self._anatomy.made) is not None and self._is_anatomy_painted():
            compare = self._compare
            panel.paint(painter, visible, scale, compare.foot_px, compare.corner_px)

    def _is_anatomy_painted(self) -> bool:
        panel = self._anatomy.made
        return panel is not None and panel.is_painting

    def _paint_pixel(self, painter: QPainter, visible: QRectF, scale: float) -> None:
        if (panel := self._pixel.made) is not None:
            panel.paint(painter, visible, scale)

    @property
    def _seen_pixel(self) -> PixelPane | None:
        """Return the panel about a pixel while it is seen."""
        panel = self._pixel.made
        return panel if panel is not None and panel.isVisible() else None

    def _pick(self, pixel: tuple[int, int]) -> None:
        if (panel := self._seen_pixel) is not None:
            self._held_before = panel.pixel if panel.is_held else None
            panel.pick(pixel)

    def _undo_pick(self, panel: PixelPane) -> None:
        if self._held_before is None:
            panel.set_held(False)
        else:
            panel.hold(self._held_before)

    def _hold(self, pixel: tuple[int, int]) -> None:
        if (panel := self._seen_pixel) is not None:
            panel.hold(pixel)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Let Esc over the picture let go of the pixel that is held, before it clears a message.

        A double click zooms: what its first click did to the pixel is undone.
        """
        if (panel := self._seen_pixel) is not None:
            if event.type() == QEvent.Type.MouseButtonDblClick:
                self._undo_pick(panel)
            if panel.is_held and is_escape(event, QEvent.Type.ShortcutOverride):
                event.accept()
                return True
            if panel.is_held and is_escape(event, QEvent.Type.KeyPress):
                panel.set_held(False)
                return True
        return super().eventFilter(watched, event)

    def _show_result(self, result: Result) -> None:
        for panel in (self._pixel.made, self._anatomy.made):
            if panel is not None:
                panel.show_result(result)

    def _show_settled(self, result: Result) -> None:
        for panel in (self._pixel.made, self._anatomy.made):
            if panel is not None:
                panel.show_settled(result)
