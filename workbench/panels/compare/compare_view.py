"""The view of before, after, pinned results and differences, all under one transform."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QToolButton, QWidget

from workbench.base.background import Throttle
from workbench.imaging.display import Display
from workbench.imaging.display_mapping import BARE, known_unclipped
from workbench.imaging.pictures import Picture
from workbench.model.state import State
from workbench.panels.compare.bars import (
    ModeBar,
    ModeOptions,
    NegativeChip,
    ReadOutRow,
    Values,
    make_chip,
)
from workbench.panels.compare.picture_layer import (
    MAX_SCALE,
    Patch,
    Point,
    Shown,
    Size,
    ViewTransform,
    fit,
)
from workbench.panels.compare.picture_view import Overlay, PictureKeys, PictureView
from workbench.panels.compare.wipe_view import (
    MAX_PINS,
    Panes,
    Pin,
    PinView,
    WipeView,
    pin_name,
    side_by_side,
)
from workbench.session.store import Store
from workbench.widgets.actions import Action, Actions
from workbench.widgets.boxes import VBox
from workbench.widgets.message_bar import Floating, OpeningCard

LARGE_TIP = (
    "The picture is larger than memory: this is a reduced copy, and all panels are about it. "
    "Zoomed in far enough, what is in view is read and filtered at full resolution: click for "
    "100 %. File ▸ Filter to file filters all of it."
)
EXPOSURE_TIP = "Exposure, gamma, false colour, clipped pixels (X); the samples never change"
OPEN_HINT = "Drop a picture here\nor press Ctrl+O"
RESULT_HINT = "The filtered picture\nappears here"
WORKED_OUT_HINT = "What came of the comparison\nappears here"
BEFORE, ORIGINAL, THE_ORIGINAL = "Before", "Original", "the original"
MAX_PANES = 4
MIN_SIZE = QSize(160, 120)
# What the main view is called in modes in which it stands alone, and then shows.
NAMES = {"wipe": "Before and after", "difference": "Comparison", "mismatch": "Comparison"}
WORKED_OUT = ("difference", "mismatch")
RING_PX = 10  # radius in device-independent pixels
LEAST_PX = 64
AROUND = 0.88  # share of the view that a shown area fills
TOGETHER_MS = 300  # within which a picture's result comes with it
SLOW_MS = 700  # to open a picture; beyond it, it is said, with a way to stop
CLOSE_ENOUGH = 24.0  # least scale of go_to, device-independent pixels per pixel


class CompareView(QWidget):
    """The view of a picture and its filtered results.

    Holding Space, or the button "Hold: original", shows the original in place of the result.

    bar           the modes, for the window's toolbar
    read_out_row  the values under the pointer and the zoom, for its status bar
    exposure      the button for the brightness of deep pictures
    options       the options of the mode, in a corner of the picture
    keys          those of the picture under the pointer
    main          the view of the result, or of what the mode makes of it
    picture       the one on screen; the state may have a newer one
    """

    arranged = Signal()  # another part may be in view
    changed = Signal()  # another picture is on screen
    stopped = Signal()  # the user does not want the picture that is being opened
    escaped = Signal()  # Esc was pressed
    unpin_wanted = Signal(int)  # (index): remove the pinned result
    # As of PictureView, from any view.
    cells_wanted = Signal(object, object)
    drawn = Signal(object, bool)
    hovered = Signal(object)
    pointed = Signal(object)
    picked = Signal(object)

    def __init__(self, store: Store) -> None:
        super().__init__()
        self.setAccessibleName("Before and after")
        self.setMinimumSize(MIN_SIZE)  # however many views there are
        self._store, self._state = store, State()
        self.picture: Picture | None = None
        self._before: Display | None = None
        self.compared: Shown | None = None  # shown before in place of the original
        self.before_name = THE_ORIGINAL  # or "after step 2"
        self._after = Shown()  # the newest result
        self._opening, self._share = "", 0.0  # what is being opened, and which share has been read
        self._next: tuple[Picture, Display] | None = None  # waits for its result
        self._transform: ViewTransform | None = None  # None: fit
        self._point: tuple[int, int] | None = None
        self._at: Point | None = None  # where exactly the pointer is
        self._patches: tuple[Patch | None, Patch | None] = (None, None)  # before and after
        self._holding = self._is_original = self._is_bare = False
        self._has_captions = True
        self._before_view = PictureView("Before", OPEN_HINT)
        self.main = WipeView("After", OPEN_HINT)
        self._pin_views = tuple(PinView(number) for number in range(1, MAX_PINS + 1))
        self._all_views = (self._before_view, self.main, *self._pin_views)
        self._pins: tuple[Pin, ...] = ()
        self._against = 0
        self._worked_out = Shown()
        self._rings: tuple[tuple[int, int], ...] = ()
        self.hides_values: Callable[[], bool] = lambda: False  # of large pixels, under overlays
        self.main.overlays.append(self._paint_rings)
        self._build()
        self.show_nothing()

    def menu_actions(self) -> Actions:
        acts: dict[str, Callable[[], None]] = {
            "Fit": self.show_fit,
            **{f"{100 * n} %": partial(self.show_exact, n) for n in (1, 2, 4)},
            "Zoom in": partial(self.zoom, 1),
            "Zoom out": partial(self.zoom, -1),
        }

        def why_not() -> str:
            return "Open a picture first." if self._state.picture is None else ""

        return {name: Action(do, why_not) for name, do in acts.items()}

    def show_state(self, state: State) -> None:
        """Show the mode, the divider and the options of `state`."""
        is_other = state.view_mode != self._state.view_mode
        self._state = state
        self.main.setAccessibleName(NAMES.get(state.view_mode, "After"))
        self.main.turn(state.divider == "level")
        self.bar.show_state(state)
        self.options.show_state(state)
        self._show_opening()
        self._show_options()
        self._show_negative()
        if is_other:
            self._rebuild()
        self._arrange()

    def show_captions(self, is_shown: bool) -> None:
        """Write over the pictures what they are, or nothing."""
        self._has_captions = is_shown
        for view in self._all_views:
            view.has_captions = is_shown and not self._is_bare
            view.update()

    def set_bare(self, is_bare: bool) -> None:
        """Show nothing over the pictures: neither captions nor controls."""
        self._is_bare = is_bare
        self.show_captions(self._has_captions)
        self._show_options()
        self._show_negative()

    def _show_options(self) -> None:
        self._options_corner.setVisible(self.options.is_needed and not self._is_bare)

    def show_before(self, picture: Picture, display: Display) -> None:
        """Show a picture, or the same one with other levels.

        The last result stays until its successor comes, if it is like `picture`.  Another picture
        comes with its result, or alone after a moment: never beside the result of the one before.
        """
        self._next = picture, display
        if self._is_another(picture) and self._after.display is not None:
            self._patience.start()
        else:
            self._take_next()

    def _is_another(self, picture: Picture | None) -> bool:
        """True for a picture that is not on screen, in whatever pixel type."""
        now = self.picture and self.picture.as_in_file
        return picture is not None and picture.as_in_file is not now

    def _take_next(self) -> None:
        """Show the picture that waits.

        Zoom and relative place are kept, unless the view would then show less than fits.
        """
        if self._next is None:
            return
        (picture, display), self._next = self._next, None
        self._patience.stop()
        is_another = self._is_another(picture)
        if self._before is None or self._before.size != display.size:
            self._point = None
            if self._before is not None and self._transform is not None:
                carried = self._transform.carried(self._before.size, display.size)
                is_larger = carried.scale > fit(display.size, self._view_size).scale
                self._transform = carried if is_larger else None
        is_alike = self._after.samples is not None and _alike(self._after.samples, picture)
        if is_another or not is_alike:
            self._after = Shown()
        self.picture, self._before = picture, display
        self._show_opening()
        if is_another:
            self.changed.emit()
        for view in self._all_views:
            view.exact_scale, view.limits = self._exact_scale, self._limits
        self._panes.show_size(display.size)
        self._make_room()
        self._refresh()

    def show_after(self, samples: NDArray[Any], display: Display, caption: str) -> None:
        """Show a result and its caption; ignore one of an earlier, different picture."""
        self._take_next()
        if self.picture is not None and _alike(samples, self.picture):
            last = self._after.samples
            self._after = Shown(display, f"{self.after_name} · {caption}", samples)
            if last is None or last.dtype != samples.dtype:
                self._make_room()
            self._refresh()

    def show_preview(self, display: Display, caption: str) -> None:
        """Show an approximate result, which has no values to be read or pinned."""
        self._take_next()
        if self._before is not None and display.size == self._before.size:
            self._after = Shown(display, f"{self.after_name} · {caption}")
            self._refresh()

    def show_pins(self, pins: Sequence[Pin], against: int) -> None:
        """Show at most MAX_PINS results beside the newest, which is compared with `against`.

        against  0 the original, else the pin of that number
        """
        self._pins, self._against = tuple(pins), against
        self.options.show_pins([self.before_name, *map(pin_name, range(1, len(pins) + 1))], against)
        self._show_options()
        self._rebuild()

    def show_compared(self, shown: Shown | None) -> None:
        """Show the picture after a step as the one before; None: the original."""
        self.compared = shown
        name = shown.caption.partition(" · ")[0] if shown else THE_ORIGINAL
        self.before_name = name.replace("After step", "after step")
        self.show_pins(self._pins, self._against)

    def show_worked_out(
        self, display: Display | None, caption: str, rings: Sequence[tuple[int, int]]
    ) -> None:
        """Show the difference or the mismatch, with rings around single pixels."""
        self._worked_out = Shown(display, caption)
        self._rings = tuple(rings)
        self._refresh()

    def show_patches(self, before: Patch | None, after: Patch | None, words: str) -> None:
        """Show parts at full resolution over the pictures, which are reduced copies.

        words  for the chip with the scale; empty: the pictures are whole
        """
        self._large.setVisible(bool(words))
        self._large.setText(words)
        self._large.setAccessibleName(f"Scale: {words}")
        self._show_negative()
        if (before, after) != self._patches:
            self._patches = before, after
            self._refresh()

    def show_search(self, is_under_way: bool, has_places: bool) -> None:
        """Offer to cancel the search for differing pixels, and to go to those found."""
        self.options.show_search(is_under_way, has_places)
        self._show_options()

    def go_to(self, x: int, y: int) -> None:
        """Mark the pixel (x, y), and show it large in the middle."""
        scale = max(self._shown_transform().scale, CLOSE_ENOUGH * self.devicePixelRatioF())
        self._move(ViewTransform(scale, (x + 0.5, y + 0.5)))
        self._point = (x, y)
        for view in self._views:
            view.show_mark((x, y))
        self._read()
        self.pointed.emit((x + 0.5, y + 0.5))

    def follow(self, x: int, y: int, reach: int) -> None:
        """Move the picture as little as shows pixel (x, y), and `reach` around it."""
        area = (x - reach, y - reach, x + 1 + reach, y + 1 + reach)
        seen = self._shown_transform()
        moved = seen.showing(area, self._view_size)
        if moved != seen:
            self._move(moved)

    @property
    def in_view(self) -> tuple[int, int, int, int] | None:
        """Top, bottom, left, right of the pixels on screen; None without a picture."""
        if self._before is None or (seen := self.seen) is None:
            return None
        part = seen.toAlignedRect().intersected(QRect(QPoint(0, 0), QSize(*self._before.size)))
        return part.top(), part.bottom() + 1, part.left(), part.right() + 1

    @property
    def seen(self) -> QRectF | None:
        """The part in view, in pixels of the picture, beyond which it may reach; or None."""
        if self._before is None:
            return None
        left, top, right, bottom = self._shown_transform().visible(self._views[0].device_size)
        return QRectF(left, top, right - left, bottom - top)

    @property
    def scale(self) -> float:
        """Device pixels per pixel of the picture."""
        return self._shown_transform().scale

    def show_nothing(self) -> None:
        self.picture = self._before = self._transform = self._point = None
        self._after = Shown()
        self._refresh()

    def show_fit(self) -> None:
        self._move(None)

    def zoom(self, direction: int) -> None:
        """Show the next larger (1) or smaller (-1) round scale."""
        self._move(self._shown_transform().stepped(direction, self._limits))

    def show_area(self, area: QRectF) -> None:
        """Fill the view with these pixels of the picture, and a little around them."""
        (width, height), centre = self._view_size, area.center()
        scale = min(width / area.width(), height / area.height()) * AROUND
        self._move(ViewTransform(self._within(scale), (centre.x(), centre.y())))

    def show_exact(self, times: int = 1) -> None:
        """Show each pixel of the picture's file as so many of the screen, across and down."""
        self._move(ViewTransform(times * self._exact_scale, self._shown_transform().centre))

    def choices(self) -> dict[str, Any]:
        """The part of the picture in view and the divider's place, fit for JSON."""
        place = self._transform and [self._transform.scale, *self._transform.centre]
        return {"place": place, "divider": self.main.divider.value()}

    def restore(self, choices: Mapping[str, Any]) -> None:
        match choices.get("place"):
            case [int() | float() as scale, int() | float() as x, int() | float() as y]:
                self._move(ViewTransform(self._within(scale), (x, y)))
        if isinstance(divider := choices.get("divider"), int):
            self.main.divider.setValue(divider)

    def comparison(self) -> Callable[[], QImage] | None:
        """Make a function, for another thread, that joins all pictures with captions.

        They are before, after, pins, and the difference or mismatch on screen, every pixel of each
        that is in view, as large as it is there if it is enlarged.  None where there is no result.
        """
        if (seen := self.in_view) is None or self._after.samples is None:  # perhaps just a preview
            return None
        top, bottom, left, right = seen
        part = QRect(left, top, right - left, bottom - top)
        zoom = 1 if self._transform is None else max(round(self.scale), 1)
        worked_out = [self._worked_out] if self._state.view_mode in WORKED_OUT else []
        pinned = map(self._pinned, range(1, len(self._pins) + 1))
        tiles = (self.compared or self._original, self._after, *worked_out, *pinned)
        shown = [(each.display, each.label) for each in tiles if each.display]
        return partial(side_by_side, shown, part, zoom)

    def add_overlay(self, overlay: Overlay) -> None:
        for view in self._all_views:
            view.overlays.append(overlay)

    def repaint_overlays(self) -> None:
        """Paint the views again, with changed overlays."""
        for view in self._views:
            view.update()

    def _paint_rings(self, painter: QPainter, visible: QRectF, scale: float) -> None:
        radius = RING_PX * self.devicePixelRatioF() / scale
        if radius < 1 or self._state.view_mode not in WORKED_OUT:  # a pixel is as large as the ring
            return
        middles = [QPointF(x + 0.5, y + 0.5) for x, y in self._rings]
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for color, width in (("#000000", 3.0), ("#ffffff", 1.5)):
            painter.setPen(QPen(QColor(color), width * radius / RING_PX))
            for middle in filter(visible.contains, middles):
                painter.drawEllipse(middle, radius, radius)

    def _build(self) -> None:
        self.bar, self.options = ModeBar(self._store), ModeOptions(self._store)
        self.read_out_row = row = ReadOutRow()
        self._read_out = row.read_out
        row.fit.clicked.connect(self.show_fit)
        row.exact.clicked.connect(lambda: self.show_exact())
        row.original.pressed.connect(lambda: self._hold(True))
        row.original.released.connect(lambda: self._hold(False))
        self.keys = PictureKeys(self)
        self.keys.held.connect(self._hold)
        self._panes = Panes(self._all_views)
        for view in self._all_views:
            self._connect_view(view)
        for index, pin in enumerate(self._pin_views):
            pin.removed.connect(lambda index=index: self.unpin_wanted.emit(index))
        VBox(self, 0).add(self._panes)
        self._options_corner = Floating(self, self.options, is_opaque=True)
        self._negative, self._large = NegativeChip(self._store), QToolButton()
        make_chip(self._large, "large-chip", "Scale at which the picture is shown", LARGE_TIP)
        self._large.hide()
        self._large.clicked.connect(lambda: self.show_exact())
        self.exposure = QToolButton()
        make_chip(self.exposure, "exposure-chip", "Exposure", EXPOSURE_TIP)
        self.exposure.setText("Exposure ▾")
        chips = QWidget()
        VBox(chips, 0, 4).add(self._large, self._negative, self.exposure)
        self._chips_corner = Floating(self, chips, Qt.AlignmentFlag.AlignLeft)
        self._card = OpeningCard()
        self._card.cancel.clicked.connect(self.stopped)
        self._card_place = Floating(self, self._card, Qt.AlignmentFlag.AlignHCenter, is_opaque=True)
        self._slow = Throttle(SLOW_MS, self._card_place.show, self)
        self._patience = Throttle(TOGETHER_MS, self._take_next, self)
        self._choose_panes()

    def _connect_view(self, view: PictureView) -> None:
        view.moved.connect(self._move)
        view.hovered.connect(self._hover)
        view.resized.connect(self._arrange)
        view.pointed.connect(self._point_at)
        view.pointed.connect(lambda at: self.keys.point(view, at is not None))
        view.take_tab = self.keys.tab
        view.hides_values = lambda: self.hides_values()
        view.picked.connect(self.picked)
        view.drawn.connect(self.drawn)
        view.cells_wanted.connect(self.cells_wanted)

    def _rebuild(self) -> None:
        self._choose_panes()
        self._make_room()
        self._refresh()

    def _choose_panes(self) -> None:
        mode, results = self._state.view_mode, (self.main, *self._pin_views[: len(self._pins)])
        has_before = mode == "side" and len(results) < MAX_PANES
        views = (self._before_view, *results) if has_before else results
        self._panes.show_views((self.main,) if mode in NAMES else views)

    @property
    def _views(self) -> tuple[PictureView, ...]:
        return self._panes.shown

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

    def _point_at(self, at: Point | None) -> None:
        self._at = at
        if self._patches[0] is not None:
            self._read()
        self.pointed.emit(at)

    def _hold(self, holding: bool) -> None:
        if holding != self._holding:
            self._holding = holding
            self._refresh()

    def show_original(self, is_shown: bool) -> None:
        """Show the original in place of the result, as while Space is held, or no longer."""
        if is_shown != self._is_original:
            self._is_original = is_shown
            self._refresh()

    def _show_negative(self) -> None:
        is_hidden = self._holding or self._is_original or self._is_bare
        after = None if is_hidden else self._after.display
        is_needed = after is not None and self._negative.is_needed(self._state)
        if after is not None and is_needed:
            self._negative.show_state(self._state, after.levels)
        self._negative.setVisible(is_needed)
        picture = self._state.picture
        is_deep = picture is not None and picture.samples.itemsize > 1
        self.exposure.setVisible(is_deep or self._state.tone != BARE)
        chips = (self._large, self._negative, self.exposure)
        is_empty = self._is_bare or all(map(QToolButton.isHidden, chips))
        self._chips_corner.setVisible(is_needed or not is_empty)

    def _make_room(self) -> None:
        """Reserve room for the values of all pictures: those of a result may be wider."""
        is_side = self._state.view_mode not in NAMES
        numbers = range(1, len(self._pins) + 1)
        seen = [number for number in numbers if is_side or number == self._against]
        self._read_out.show_pins(seen, self._against)
        shown = [pin.samples for pin in self._pins]
        shown += [] if self._after.samples is None else [self._after.samples]
        before = (self.compared or self._original).samples
        if self.picture is not None and before is not None:
            large = self.picture.large
            size = None if large is None else (large.width, large.height)
            self._read_out.prepare_for(before, *shown, size=size)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() == Qt.Key.Key_Escape:
            self.escaped.emit()
        elif not self.keys.take(event):
            super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if not self.keys.take(event):
            super().keyReleaseEvent(event)

    def show_opening(self, name: str) -> None:
        """Show that the picture `name` is being opened; empty: none is."""
        self._opening, self._share = name, 0.0
        self._show_opening()

    def show_share(self, share: float) -> None:
        """Show which share of it has been read."""
        self._share = share
        self._show_opening()

    def _show_opening(self) -> None:
        """Say what is being opened, or made fit for the screen, once that takes long."""
        self._show_hints()
        name, coming = self._opening, self._state.picture
        if not name and coming is not None and self._is_another(coming):
            name = coming.name
        self._card.show_opening(name, self._share)
        if not name:
            self._slow.stop()
            self._card_place.hide()
        elif self._card_place.isHidden() and not self._slow.isActive():
            self._slow.start()

    def _show_hints(self) -> None:
        picture, is_beside = self._state.picture, self._before_view in self._views
        name = self._opening or (picture.name if picture is not None else "")
        hint = f"Opening {name}…" if name else OPEN_HINT
        self._before_view.show_hint(hint)
        hint = RESULT_HINT if is_beside else hint
        self.main.show_hint(WORKED_OUT_HINT if self._state.view_mode in WORKED_OUT else hint)

    def _refresh(self) -> None:
        self._show_negative()
        mode, far, before = self._state.view_mode, self._patches[1], self._original
        original, before = before._replace(caption=ORIGINAL), self.compared or before
        is_of_files = self._state.reference is not None
        hold = self.read_out_row.original
        hold.setMinimumWidth(hold.width() if is_of_files else 0)  # what is beside it stays
        hold.setText("Hold: &A" if is_of_files else "Hold: &original")
        if is_of_files:  # two files take turns
            original = before
        has_after = self._after.display is not None
        is_held = (self._holding or self._is_original) and has_after
        main = before
        if mode in WORKED_OUT:
            main = self._worked_out
        elif has_after or self._before_view in self._views:
            caption = far.caption if far is not None else self._after.caption
            main = self._after._replace(caption=caption, patch=far)
        self._before_view.show_picture(before)
        self._show_hints()
        self.main.show_picture(original if is_held else main)
        for number, view in enumerate(self._pin_views, 1):
            pinned = Shown()  # which frees the picture that was there
            if number <= len(self._pins):
                pinned = original if is_held else self._pinned(number)
            view.show_picture(pinned)
        cover = self._pinned(self._against) if self._against else before
        is_covered = mode == "wipe" and has_after and not is_held
        self.main.show_before(cover if is_covered else Shown())
        can_pin = self._after.samples is not None and len(self._pins) < MAX_PINS
        self.read_out_row.pin.setEnabled(can_pin)
        self._arrange()
        self._read()

    def _pinned(self, number: int) -> Shown:
        """A pin to show; its title has a line to itself."""
        pin = self._pins[number - 1]
        title, _, below = pin.caption.partition("\n")
        return Shown(pin.display, f"{title}\n{pin_name(number)} · {below}", pin.samples)

    @property
    def after_name(self) -> str:
        """What the result is called: "After", or the second of two files."""
        picture = None if self._state.reference is None else self._state.picture
        return "After" if picture is None else f"B: {picture.title}"

    @property
    def _original(self) -> Shown:
        if self.picture is None or self._before is None:
            return Shown(caption=BEFORE)
        (width, height), near, large = self._before.size, self._patches[0], self.picture.large
        size = f"{width}×{height}"
        if large is not None:
            size = large.scale_in_words if near is None else large.size_in_words
        caption = f"{BEFORE} · {self.picture.title} · {size}"
        return Shown(self._before, caption, self.picture.samples, near)

    @property
    def _exact_scale(self) -> float:
        """The scale at which a screen pixel is one of the picture's file."""
        large = None if self.picture is None else self.picture.large
        return 1.0 if large is None else float(large.step)

    @property
    def _limits(self) -> tuple[float, float]:
        """Scales to zoom to; at the least the picture is still LEAST_PX long, or as in its file."""
        exact, size = self._exact_scale, (1, 1) if self._before is None else self._before.size
        return min(LEAST_PX / max(size), exact), MAX_SCALE * exact

    def _within(self, scale: float) -> float:
        return min(max(scale, self._limits[0]), self._limits[1])

    def _shown_transform(self) -> ViewTransform:
        size = (1, 1) if self._before is None else self._before.size
        return self._transform or fit(size, self._view_size)

    @property
    def _view_size(self) -> Size:
        """Width and height, in device pixels, that every view on screen has."""
        widths, heights = zip(*(view.device_size for view in self._views), strict=True)
        return min(widths), min(heights)

    def _arrange(self) -> None:
        transform = self._shown_transform()
        for view in self._views:
            view.show_transform(transform)
        scale = transform.scale / self._exact_scale
        self.read_out_row.show_scale(None if self._before is None else scale)
        self.arranged.emit()

    def _read(self) -> None:
        near, far = self._patches
        if near is not None and self._at is not None and (pixel := near.pixel_at(self._at)):
            is_filtered = far is not None and far.pixel_at(self._at) is not None
            filtered = far.values(pixel) if far and is_filtered else None
            self._read_out.show_values(pixel, near.values(pixel), (), filtered)
            return
        before = (self.compared or self._original).samples
        pinned = [_values(pin.samples, self._point) for pin in self._pins]
        after = _values(self._after.samples, self._point)
        self._read_out.show_values(self._point, _values(before, self._point), pinned, after)


def _alike(result: NDArray[Any], picture: Picture) -> bool:
    """True if a result may be of `picture`: that of whole numbers may be float32."""
    samples = picture.samples
    is_wide = known_unclipped(samples) is not None and result.dtype == np.float32
    return result.shape == samples.shape and (result.dtype == samples.dtype or is_wide)


def _values(samples: NDArray[Any] | None, point: tuple[int, int] | None) -> Values:
    if samples is None or point is None:
        return None
    x, y = point
    height, width = samples.shape[:2]
    return samples[y, x] if x < width and y < height else None
