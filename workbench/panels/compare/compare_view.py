"""The view of before, after, pinned results and differences, all under one transform."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QKeyEvent, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QGridLayout,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from workbench.imaging.display import Display
from workbench.imaging.display_mapping import known_unclipped
from workbench.model.state import Picture, State
from workbench.panels.compare.comparison_image import side_by_side
from workbench.panels.compare.mode_bar import ModeBar
from workbench.panels.compare.picture_view import Overlay, PictureView
from workbench.panels.compare.pins import MAX_PINS, Pin, PinView, pin_name
from workbench.panels.compare.read_out import Values
from workbench.panels.compare.view_strip import ViewStrip
from workbench.panels.compare.view_transform import MAX_SCALE, MIN_SCALE, ViewTransform, fit
from workbench.panels.compare.wipe_view import WipeView
from workbench.widgets.actions import Action

OPEN_HINT = "Drop a picture here\nor press Ctrl+O"
RESULT_HINT = "The filtered picture\nappears here"
WORKED_OUT_HINT = "What came of the comparison\nappears here"
BEFORE, ORIGINAL = "Before", "Original"
PANE_PX = 190  # least width of each pane for three in a row
RING_PX = 10  # radius in device-independent pixels
AROUND = 0.9  # share of the view that a shown area fills
CLOSE_ENOUGH = 24.0  # least scale of go_to, device-independent pixels per pixel


class CompareView(QWidget):
    """The view of a picture and of what the filter made of it.

    Holding Space, or the button "Original", shows the original where the filtered picture is.

    bar, options  the modes, and what each lets one choose

    Signals:
        wanted(name, value): the user wants `value` for State field `name`.
        unpin_wanted(index): the pinned result is to be removed.
        cells_wanted(request, deliver), drawn(line, is_done): as of PictureView, from any view.
        hovered(point): likewise.
        pointed(point): as of PictureView, from any view.
        picked(point): likewise.
    """

    wanted = Signal(str, object)
    unpin_wanted = Signal(int)
    cells_wanted = Signal(object, object)
    drawn = Signal(object, bool)
    hovered = Signal(object)
    pointed = Signal(object)
    picked = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Before and after")
        self._picture: Picture | None = None
        self._before: Display | None = None
        self._after: Display | None = None
        self._after_samples: NDArray[Any] | None = None
        self._after_caption = ""
        self._transform: ViewTransform | None = None  # None: fit
        self._point: tuple[int, int] | None = None
        self._holding = False
        self._mode = ""  # the mode that is shown
        self._before_view = PictureView("Before", OPEN_HINT)
        self._after_view = PictureView("After", RESULT_HINT)
        self._wipe_view = WipeView("Before and after", OPEN_HINT)
        self._worked_out_view = PictureView("Comparison", WORKED_OUT_HINT)
        self._pin_views = tuple(PinView(number) for number in range(1, MAX_PINS + 1))
        self._pins: tuple[Pin, ...] = ()
        self._against = 0
        self._worked_out: tuple[Display | None, str] = (None, "")
        self._rings: tuple[tuple[int, int], ...] = ()
        self._worked_out_view.overlays.append(self._paint_rings)
        self._build()
        self.show_nothing()

    # -- what to show

    def actions_of_menu(self) -> list[Action]:
        """Return the actions that set the zoom."""
        return [
            Action(
                *("&View", "&Fit", self.show_fit, ("Ctrl+0",)),
                "The whole picture, as large as there is room.",
                separator=True,
            ),
            Action(
                *("&View", "&100 %", self.show_exact, ("Ctrl+1",)),
                "One pixel of the screen for each of the picture's.",
            ),
        ]

    def show_state(self, state: State) -> None:
        """Show the mode, the divider and the options that `state` has."""
        pages = {"side": 0, "wipe": 1}
        self._stack.setCurrentIndex(pages.get(state.view_mode, 2))
        self._wipe_view.turn(state.divider == "level")
        self.bar.show_state(state)
        self.options.show_state(state)
        if state.view_mode != self._mode:
            self._mode = state.view_mode
            self._make_room()
        self._arrange()

    def show_before(self, picture: Picture, display: Display) -> None:
        """Show a picture, or the same one with other levels.

        The last result stays until its successor comes, if it is like `picture`: it may well be
        what the filter makes of it at once.  Otherwise the place of the result is empty.
        """
        if self._before is None or self._before.size != display.size:
            self._transform = self._point = None
        if self._after_samples is not None and not _alike(self._after_samples, picture):
            self._after = self._after_samples = None
        self._picture, self._before = picture, display
        self._make_room()
        self._refresh()

    def show_after(self, samples: NDArray[Any], display: Display, caption: str) -> None:
        """Show a result and its caption, such as "Gaussian 5×5 · shared".

        One that does not fit the picture shown, because it answers for an earlier one, is ignored.
        """
        if self._picture is not None and _alike(samples, self._picture):
            last, self._after_samples, self._after = self._after_samples, samples, display
            self._after_caption = f"After · {caption}"
            if last is None or last.dtype != samples.dtype:
                self._make_room()
            self._refresh()

    def show_pins(self, pins: Sequence[Pin], against: int) -> None:
        """Show results beside the newest, alike in size, at most MAX_PINS.

        against  what the newest is compared with: 0 the original, else the pin of that number
        """
        self._pins, self._against = tuple(pins), against
        self.options.show_pins([pin_name(number) for number in range(1, len(pins) + 1)], against)
        self._place_panes()
        self._make_room()
        self._refresh()

    def show_worked_out(
        self, display: Display | None, caption: str, rings: Sequence[tuple[int, int]]
    ) -> None:
        """Show the difference or the mismatch in the modes of those names.

        rings  pixels to draw a ring around, so that one alone is found
        """
        self._worked_out = display, caption
        self._rings = tuple(rings)
        self._refresh()

    def go_to(self, x: int, y: int) -> None:
        """Move the pixel (x, y) to the middle, large enough to be seen, and mark it."""
        scale = max(self._shown_transform().scale, CLOSE_ENOUGH * self.devicePixelRatioF())
        self._move(ViewTransform(scale, (x + 0.5, y + 0.5)))
        self._point = (x, y)
        for view in self._views:
            view.show_mark((x, y))
        self._read()
        self.pointed.emit((x + 0.5, y + 0.5))

    @property
    def in_view(self) -> tuple[int, int, int, int] | None:
        """Return top, bottom, left, right of the pixels on screen; None where there are none."""
        if self._before is None:
            return None
        view, transform = self._views[0].device_size, self._shown_transform()
        (left, top), (right, bottom) = (transform.to_picture(at, view) for at in ((0, 0), view))
        width, height = self._before.size
        return (
            max(int(top), 0),
            min(int(bottom) + 1, height),
            max(int(left), 0),
            min(int(right) + 1, width),
        )

    def show_nothing(self) -> None:
        """Remove the picture and its result."""
        self._picture = self._before = self._after = self._after_samples = None
        self._transform = self._point = None
        self._refresh()

    def show_fit(self) -> None:
        """Show the whole picture."""
        self._move(None)

    def show_area(self, area: QRectF) -> None:
        """Fill the view with these pixels of the picture, and a little around them."""
        width, height = self._views[0].device_size
        scale = min(width / area.width(), height / area.height()) * AROUND
        centre = area.center()
        scale = min(max(scale, MIN_SCALE), MAX_SCALE)
        self._move(ViewTransform(scale, (centre.x(), centre.y())))

    def show_exact(self) -> None:
        """Show one screen pixel for each pixel of the picture."""
        self._move(ViewTransform(1.0, self._shown_transform().centre))

    def choices(self) -> dict[str, Any]:
        """Return the part of the picture in view and the divider's place, fit for JSON."""
        place = self._transform and [self._transform.scale, *self._transform.centre]
        return {"place": place, "divider": self._wipe_view.divider.value()}

    def restore(self, choices: Mapping[str, Any]) -> None:
        """Take over what `choices()` gave of the same picture."""
        match choices.get("place"):
            case [int() | float() as scale, int() | float() as x, int() | float() as y]:
                scale = min(max(scale, MIN_SCALE), MAX_SCALE)
                self._move(ViewTransform(scale, (x, y)))
        if isinstance(divider := choices.get("divider"), int):
            self._wipe_view.divider.setValue(divider)

    def comparison(self) -> Callable[[], QImage] | None:
        """Return a function that puts all pictures with captions into one image.

        They are before, after and what is pinned, every pixel of each, and the difference or the
        mismatch where that is on screen. The function is for another thread, since it takes a
        while. None where there is no result.
        """
        if self._picture is None or self._before is None or self._after is None:
            return None
        tiles = [(self._before, self._before_caption), (self._after, self._after_caption)]
        worked_out, caption = self._worked_out
        if self._stack.currentIndex() == 2 and worked_out is not None:
            tiles.append((worked_out, caption))
        pinned = [pinned[:2] for pinned in map(self._pinned, range(1, len(self._pins) + 1))]
        return partial(side_by_side, [*tiles, *pinned])

    def add_overlay(self, overlay: Overlay) -> None:
        """Let `overlay` paint over the picture in every view."""
        for view in self._all_views:
            view.overlays.append(overlay)

    def repaint_overlays(self) -> None:
        """Paint the views again, as what overlays paint has changed."""
        for view in self._views:
            view.update()

    def _paint_rings(self, painter: QPainter, visible: QRectF, scale: float) -> None:
        radius = RING_PX * self.devicePixelRatioF() / scale
        if radius < 1:  # a pixel is as large as the ring
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for color, width in (("#000000", 3.0), ("#ffffff", 1.5)):
            painter.setPen(QPen(QColor(color), width * radius / RING_PX))
            for x, y in self._rings:
                middle = QPointF(x + 0.5, y + 0.5)
                if visible.contains(middle):
                    painter.drawEllipse(middle, radius, radius)

    # -- how it is built

    def _build(self) -> None:
        self.bar = ModeBar()
        self.bar.wanted.connect(self.wanted)
        self._column = QVBoxLayout(self)
        self._column.addWidget(self.bar)  # first, so that Tab comes to it first
        panes = QWidget()
        self._grid = QGridLayout(panes)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._stack = QStackedWidget()
        for page in (panes, self._wipe_view, self._worked_out_view):
            self._stack.addWidget(page)
        for view in self._all_views:
            self._connect_view(view)
        for index, pin in enumerate(self._pin_views):
            pin.removed.connect(lambda index=index: self.unpin_wanted.emit(index))
        self._place_panes()
        self._column.addWidget(self._stack, 1)
        self._column.addWidget(self._build_strip())

    def _build_strip(self) -> ViewStrip:
        self._strip = ViewStrip()
        self._read_out, self.options = self._strip.read_out, self._strip.options
        self.options.wanted.connect(self.wanted)
        self._strip.fit_wanted.connect(self.show_fit)
        self._strip.exact_wanted.connect(self.show_exact)
        self._strip.held.connect(self._hold)
        return self._strip

    def _connect_view(self, view: PictureView) -> None:
        view.moved.connect(self._move)
        view.hovered.connect(self._hover)
        view.resized.connect(self._arrange)
        view.pointed.connect(self.pointed)
        view.picked.connect(self.picked)
        view.drawn.connect(self.drawn)
        view.cells_wanted.connect(self.cells_wanted)
        view.installEventFilter(self)

    def _place_panes(self) -> None:
        """Place up to three panes in a row where there is room, else in two rows.

        Four results need all places, so that before has none.
        """
        results = [self._after_view, *self._pin_views[: len(self._pins)]]
        panes = results if len(results) == 4 else [self._before_view, *results]
        self._across = across = self._places_across(len(panes))
        for view in (self._before_view, self._after_view, *self._pin_views):
            self._grid.removeWidget(view)
            view.setParent(self._grid.parentWidget())
            view.setVisible(view in panes)
        for index, view in enumerate(panes):
            self._grid.addWidget(view, index // across, index % across)
        for line in range(3):
            self._grid.setColumnStretch(line, int(line < across))
            self._grid.setRowStretch(line, int(line < -(-len(panes) // across)))
        self._panes: tuple[PictureView, ...] = tuple(panes)

    def _places_across(self, count: int) -> int:
        has_room = self.width() >= count * PANE_PX
        return count if count < 3 or (count == 3 and has_room) else 2

    # -- what happens

    @property
    def _all_views(self) -> tuple[PictureView, ...]:
        single = (self._wipe_view, self._worked_out_view)
        return (self._before_view, self._after_view, *single, *self._pin_views)

    @property
    def _views(self) -> tuple[PictureView, ...]:
        """Return the views on screen."""
        pages = (self._panes, (self._wipe_view,), (self._worked_out_view,))
        return pages[self._stack.currentIndex()]

    def _move(self, transform: ViewTransform | None) -> None:
        if self._before is not None:
            self._transform = transform and transform.kept_within(self._before.size)
            self._arrange()

    def _hover(self, point: tuple[int, int] | None) -> None:
        self._point = point
        for view in self._views:
            view.show_mark(None if view.underMouse() else point)
        self._read()
        self.hovered.emit(point)

    def _hold(self, holding: bool) -> None:
        if holding != self._holding:
            self._holding = holding
            self._refresh()

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        """Return a width for two panes and the strips above and below them."""
        margins = self._column.contentsMargins()
        two_panes = 2 * self._before_view.minimumWidth() + self._grid.horizontalSpacing()
        width = max(
            two_panes,
            self._strip.minimumSizeHint().width(),
            self.bar.minimumSizeHint().width(),
        )
        return QSize(width + margins.left() + margins.right(), super().minimumSizeHint().height())

    def resizeEvent(self, _event: QResizeEvent) -> None:  # noqa: N802
        if self._places_across(len(self._panes)) != self._across:
            self._place_panes()

    def _make_room(self) -> None:
        """Reserve room for the values of all that is shown: those of a result may be wider."""
        numbers = range(1, len(self._pins) + 1)
        is_side = self._stack.currentIndex() == 0
        seen = [number for number in numbers if is_side or number == self._against]
        self._read_out.show_pins(seen, self._against)
        shown = [pin.samples for pin in self._pins]
        shown += [] if self._after_samples is None else [self._after_samples]
        if self._picture is not None:
            self._read_out.prepare_for(self._picture.samples, *shown)
        self._strip.arrange()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() == Qt.Key.Key_Space:
            self._hold(True)
        else:
            super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() == Qt.Key.Key_Space and not event.isAutoRepeat():
            self._hold(False)
        else:
            super().keyReleaseEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() == QEvent.Type.FocusOut:
            self._hold(False)  # the release of Space will go elsewhere
        return super().eventFilter(watched, event)

    def _refresh(self) -> None:
        """Give the views what they have to paint."""
        after, caption, samples = self._after, self._after_caption, self._after_samples
        before_samples = None if self._picture is None else self._picture.samples
        original = self._before, ORIGINAL, before_samples
        is_held = self._holding and after is not None
        if is_held:
            after, caption, samples = original
        before = self._before, self._before_caption, before_samples
        self._before_view.show_picture(*before)
        self._after_view.show_picture(after, caption, samples)
        for number, view in enumerate(self._pin_views, 1):
            if number > len(self._pins):
                view.show_picture(None, "")  # frees the picture that was there
            else:
                view.show_picture(*(original if is_held else self._pinned(number)))
        near = self._pinned(self._against) if self._against else before
        self._wipe_view.show_picture(*(before if after is None else (after, caption, samples)))
        is_covered = after is not None and not is_held
        self._wipe_view.show_before(*(near if is_covered else (None, "", None)))
        worked_out = original if is_held else (*self._worked_out, None)
        self._worked_out_view.show_picture(*worked_out)
        self.bar.show_can_pin(self._after is not None and len(self._pins) < MAX_PINS)
        self._arrange()
        self._read()

    def _pinned(self, number: int) -> tuple[Display, str, NDArray[Any]]:
        """Return display, caption and samples of a pin; its title has a line to itself."""
        pin = self._pins[number - 1]
        title, _, below = pin.caption.partition("\n")
        return pin.display, f"{title}\n{pin_name(number)} · {below}", pin.samples

    @property
    def _before_caption(self) -> str:
        if self._picture is None or self._before is None:
            return BEFORE
        width, height = self._before.size
        return f"{BEFORE} · {self._picture.name} · {width}×{height}"

    def _shown_transform(self) -> ViewTransform:
        if self._transform is not None or self._before is None:
            return self._transform or ViewTransform(1.0, (0.0, 0.0))
        widths, heights = zip(*(view.device_size for view in self._views), strict=True)
        return fit(self._before.size, (min(widths), min(heights)))

    def _arrange(self) -> None:
        transform = self._shown_transform()
        for view in self._views:
            view.show_transform(transform)
        self._strip.show_scale(None if self._before is None else transform.scale)

    def _read(self) -> None:
        before = None if self._picture is None else self._picture.samples
        pinned = [_values(pin.samples, self._point) for pin in self._pins]
        after = _values(self._after_samples, self._point)
        self._read_out.show_values(self._point, _values(before, self._point), pinned, after)


def _alike(result: NDArray[Any], picture: Picture) -> bool:
    """Return whether a result may be of `picture`: that of whole numbers may be float32."""
    samples = picture.samples
    is_wide = known_unclipped(samples) is not None and result.dtype == np.float32
    return result.shape == samples.shape and (result.dtype == samples.dtype or is_wide)


def _values(samples: NDArray[Any] | None, point: tuple[int, int] | None) -> Values:
    if samples is None or point is None:
        return None
    x, y = point
    height, width = samples.shape[:2]
    return samples[y, x] if x < width and y < height else None
