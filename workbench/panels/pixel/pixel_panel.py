"""The panel about one pixel: its weighted neighbours, their sum and the result; its overlay."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QLineF, QObject, QPointF, QRectF, QSignalBlocker, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QPainter,
    QPainterPath,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import QWidget

from kernels.core.borders import OUTSIDE
from kernels.core.errors import KernelError
from kernels.core.job import Job, Result
from kernels.core.nonlinear import NonLocalMeans
from kernels.core.verdict import CHANNELS, Limits
from kernels.oracle.checking import judged
from kernels.oracle.explain import Explained, derivative, explain_pixel, value_at
from workbench.base.background import AFTER_PAINTING_MS, Throttle
from workbench.base.plain_text import Label
from workbench.imaging.pictures import Picture
from workbench.model import intents
from workbench.model.state import State, has_row
from workbench.panels.pixel import pixel_words
from workbench.panels.pixel.neighbourhood_table import NeighbourTable, What
from workbench.panels.pixel.pixel_words import NumbersCard, Stop, links, stops_of
from workbench.session.store import Store
from workbench.widgets.boxes import HBox, UprightArea, VBox
from workbench.widgets.buttons import push_button
from workbench.widgets.chips import hairline, on_screen, outline, paint_words
from workbench.widgets.drop_down import DropDown
from workbench.widgets.folding import OffStage
from workbench.widgets.keyboard import is_escape
from workbench.widgets.lazy_panel import MARGINS
from workbench.widgets.number_boxes import WholeBox
from workbench.widgets.tile import words_label
from workbench.widgets.watch import Watch

NO_PICTURE = "Open a picture, then point at one of its pixels."
WAITING = "The step is explained once those before it are done."
POINT = "Point at a pixel; a click holds it."  # each in a line, so that nothing below moves
FOLLOWS = "Follows the pointer; a click holds it."
HELD = "Held; Esc, or a click on it, lets go."
TITLES: dict[What, str] = {
    "derivative": "Both derivatives",
    "all": "Sample × weight",
    "samples": "Samples",
    "weights": "Weights",
    "products": "Products",
}
MANY = 1000  # beyond the picture's edge
PASSING_MS = 30  # while the pointer moves


class PixelPane(QWidget):
    """The panel that explains one pixel of the state's result.

    A click holds a pixel until another is clicked; a click on it, or Esc, lets go.

    pixel    (x, y), or None: that in the middle
    is_held  the pixel stays while the pointer moves on
    found    the explanation shown, or None
    """

    pixel_changed = Signal()  # `paint` paints another pixel
    zoom_wanted = Signal(int, int)  # (x, y): zoom in to pixel (x, y)
    # (x, y, reach): bring pixel (x, y) into view, with its neighbours.
    view_wanted = Signal(int, int, int)
    step_wanted = Signal(int)  # (number): select a step, from 0; -1: show the original

    def __init__(self, store: Store) -> None:
        """Make the panel, which only reads `store`."""
        super().__init__()
        self.setObjectName("pixel-pane")
        self._store = store
        self._result: Result | None = None
        self._job: Job | None = None
        self._of: Picture | None = None  # the picture of that
        self.pixel: tuple[int, int] | None = None
        self._channel = 0
        self._taken = [-1]  # steps up to the selected one, after -1 for the original
        self._what: dict[bool, What] = {False: "all", True: "derivative"}  # by `_is_gradient`
        self.is_held = self._was_pointed = False
        self.found: Explained | None = None
        self._later = Throttle(AFTER_PAINTING_MS, self._refresh, self)
        self._passing = Throttle(PASSING_MS, self._refresh, self)
        Watch(self, QEvent.Type.Show).seen.connect(self._refresh)
        self._build()

    def show_state(self, state: State) -> None:
        """Explain the pixel anew, after the picture is painted."""
        self._give_back_room()
        if self.isVisible() and self._job and self._of is state.picture:
            self._later.ask()
        else:
            self._refresh()

    def show_result(self, result: Result | None) -> None:
        """Show the value in a result, of the present job or an earlier one."""
        self._result = result
        if not self.isVisible() or self._later.isActive():
            return
        if result is None or self._own_result is not None:
            self._show_numbers()
        else:
            self._refresh()  # the pixel type it was filtered in may have become known

    def show_settled(self, result: Result) -> None:
        if self._later.isActive():
            self._refresh()
        self.show_result(result)

    def show_pixel(self, pixel: tuple[int, int] | None) -> None:
        """Explain pixel (x, y); None: the last one, or the picture's middle."""
        self.pixel = pixel or self.pixel
        self._was_pointed = self._was_pointed or pixel is not None
        self._refresh()
        is_mismatch = self._store.state.view_mode == "mismatch"
        if is_mismatch and (channel := self._furthest_off()) is not None:
            self._choose_channel(channel)

    def ask_view(self) -> None:
        """Request the pixel to be in view with its neighbours, beside the panel."""
        if self.found is not None and self._job is not None:
            self.view_wanted.emit(self.found.x, self.found.y, self._job.reach)

    def point_at(self, point: tuple[float, float]) -> None:
        """Explain the pixel under the pointer soon, unless one is held.

        point  in pixels of the picture, perhaps beside it
        """
        if self.is_held or self._job is None or not self.isVisible():
            return
        x, y = math.floor(point[0]), math.floor(point[1])
        is_inside = 0 <= x < self._job.width and 0 <= y < self._job.height
        if is_inside and ((x, y) != self.pixel or not self._was_pointed):
            self.pixel, self._was_pointed = (x, y), True
            self._passing.ask()

    def pick(self, pixel: tuple[int, int]) -> None:
        """Hold the clicked pixel (x, y), or let go of it if held."""
        self.set_held(not self.is_held or pixel != self.pixel)
        self.show_pixel(pixel)

    def hold(self, pixel: tuple[int, int] | None) -> None:
        """Explain and hold pixel (x, y); None: the one shown."""
        self.set_held(True)
        self.show_pixel(pixel)

    def set_held(self, is_held: bool) -> None:
        self.is_held = is_held
        self._show_hint()
        self.pixel_changed.emit()

    def paint(self, painter: QPainter, visible: QRectF, scale: float) -> None:
        """Paint the neighbourhood over a picture, as an `Overlay`; nothing while hidden."""
        if self.found is not None and self._job is not None and self.isVisible():
            paint_neighbourhood(painter, visible, scale, self.found, self._job.reach, self.is_held)

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        # With a focus proxy Tab would skip the parts before the table.
        self._table.setFocus(event.reason())

    def event(self, event: QEvent) -> bool:
        if self.is_held and is_escape(event, QEvent.Type.ShortcutOverride):
            event.accept()  # else a shortcut takes it
            return True
        if self.is_held and is_escape(event, QEvent.Type.KeyPress):
            self.set_held(False)
            return True
        return super().event(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if isinstance(event, QResizeEvent) and event.size().width() != event.oldSize().width():
            self._give_back_room()
            self._later.ask()
        return super().eventFilter(watched, event)

    def _build(self) -> None:
        tip = "The pixel that is explained: type its place, or point at it in the picture"
        self._boxes = tuple(WholeBox(f"pixel-{axis}", f"Pixel, {axis}", tip) for axis in "xy")
        for box in self._boxes:
            box.setMinimumWidth(60)
            box.valueChanged.connect(lambda _: self._move_to(*(box.value() for box in self._boxes)))
        self._channels = DropDown("pixel-channel", "Channel", "Channels are filtered one by one")
        self._channels.activated.connect(self._choose_channel)
        self._hint = words_label("pixel-hint", is_muted=True)
        tip = "Keep this pixel while the pointer moves on; Esc lets go"
        self._hold = push_button("pixel-hold", "Hold", tip, "Hold the pixel")
        self._hold.setCheckable(True)
        self._hold.clicked.connect(self.set_held)
        self._sentence = words_label("pixel-sentence")
        self._sentence.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._sentence.installEventFilter(self)
        self._numbers = NumbersCard()
        self._headings = tuple(words_label(f"pixel-heading-{axis}", 0.9) for axis in "xy")
        self._table = NeighbourTable("pixel-table", "Neighbours, weights and products")
        second = NeighbourTable("pixel-table-y", "Pixels, weights and products of gy")
        self._tables = (self._table, second)
        for table in self._tables:
            table.stepped.connect(self._step)
            table.followed.connect(self._follow)
        self._shown = DropDown("pixel-show", "Table shows", "Contents of the table's cells")
        self._shown.activated.connect(self._choose_what)
        tip = "Centre the pixel, large enough to read its neighbours"
        self._zoom = push_button("pixel-zoom", "Zoom", tip, "Zoom to the pixel")
        self._zoom.clicked.connect(self._ask_zoom)
        self._path = words_label("pixel-path")
        self._path.setToolTip("The sample after each step; a click, or Tab and Enter, goes there")
        self._path.setTextFormat(Qt.TextFormat.RichText)
        self._path.setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
        self._path.linkActivated.connect(lambda number: self._go_to(int(number)))
        place = HBox()
        for axis, box in zip("xy", self._boxes, strict=True):
            place.add(Label(axis), (box, 1))
        place.addWidget(self._channels, 1)
        tools, inside = QWidget(), QWidget()
        HBox(tools, 0).add((self._shown, 1), self._hold, self._zoom)
        rows = VBox(inside, MARGINS)
        # Buttons first: words of any length move none of them.
        rows.add(self._path, place, tools, self._hint, self._sentence, (self._numbers, 0))
        for heading, table in zip(self._headings, self._tables, strict=True):
            rows.add(heading, (table, 1))
        rows.addStretch()
        self._table.area = second.area = UprightArea(inside)
        # Else all becomes narrower where a pixel at an edge takes longer words.
        second.area.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        VBox(self, 0).add(second.area)
        self._off_stage = OffStage(self, tools)
        self._off_stage.staged.connect(self._show_hint)

    def _choose_channel(self, channel: int) -> None:
        self._channel = channel
        self._refresh()

    def _choose_what(self, index: int) -> None:
        self._what[self._is_gradient] = self._shown.itemData(index)
        self._show_table()

    def _ask_zoom(self) -> None:
        if self.pixel is not None:
            self.zoom_wanted.emit(*self.pixel)

    def _step(self, across: int, down: int) -> None:
        if self.pixel is not None:
            self._move_to(self.pixel[0] + across, self.pixel[1] + down)

    def _move_to(self, x: int, y: int) -> None:
        """Hold another pixel, or the pointer on its way elsewhere would change it again."""
        self.pixel, self._was_pointed = (x, y), True
        self.set_held(True)
        self._refresh()
        self.ask_view()

    def _go_to(self, number: int) -> None:
        """Show the same sample elsewhere in the list, and hold it meanwhile."""
        self.set_held(True)
        self.step_wanted.emit(number)

    def _follow(self, x: int, y: int) -> None:
        """Go to a neighbour, and to the step that made it."""
        is_weighted = self._shown.currentData() == "derivative" and self._shown.count() > 1
        if is_weighted:  # by the weights of this step
            self._what[True] = "all"
        self._move_to(x, y)
        if has_row(self._store.state) and not is_weighted:
            self._go_to(self._taken[-2:][0])

    def _refresh(self) -> None:
        """Explain anew; a pixel beyond a new picture becomes its nearest."""
        self._later.stop()
        self._passing.stop()
        # Else a hidden panel would keep a closed picture.
        self.found, self._job, self._of = None, None, None
        if not self.isVisible():
            return
        self._of = self._store.state.picture
        if self._of is not None:
            height, width, channels = self._of.samples.shape
            x, y = self.pixel or (width // 2, height // 2)
            self.pixel = x, y = min(max(x, 0), width - 1), min(max(y, 0), height - 1)
            self._channel = min(self._channel, channels - 1)
        sentence = NO_PICTURE if self._of is None else WAITING
        try:
            self._job = job = intents.step_job(self._store.state, self._result)
            if job is not None:
                self.found = explain_pixel(job, y, x, self._channel)
                sentence = pixel_words.sentence(self.found, job.border)
                self._reserve(pixel_words.sentence(self.found, job.border, MANY))
        except KernelError as error:
            self._job, sentence = None, str(error)
        self._reserve(sentence)
        for part in (self._numbers, self._shown, self._zoom):
            part.setVisible(self.found is not None)
        self._show_hint()
        self._show_place()
        self._show_numbers()
        self._show_table()
        self.pixel_changed.emit()

    def _reserve(self, sentence: str) -> None:
        """Keep room for a sentence, so that what is below stays when it comes, and afterwards."""
        self._sentence.setText(sentence)
        _keep_room(self._sentence)

    def _give_back_room(self) -> None:
        """Forget what room was needed for another filter or in another width."""
        for label in (self._sentence, self._path):
            label.setMinimumHeight(0)

    @property
    def _is_gradient(self) -> bool:
        return self.found is not None and self.found.slopes is not None

    @property
    def _own_result(self) -> Result | None:
        """The result, if it is of the present job, by any implementation."""
        job, result = self._job, self._result and intents.last_run(self._result)
        return result if result and job and result.job.same_work(job) else None

    def _show_hint(self) -> None:
        self._hint.setText(HELD if self.is_held else FOLLOWS if self._was_pointed else POINT)
        is_staged, is_found = self._off_stage.is_staged, self.found is not None
        self._hint.setVisible(is_found and not is_staged)
        self._sentence.setVisible(not is_found or not is_staged)
        self._hold.setText("Held" if self.is_held else "Hold")
        self._hold.setChecked(self.is_held)
        self._hold.setVisible(self.found is not None)

    def _show_place(self) -> None:
        job, found = self._job, self.found
        sizes = (job.width, job.height) if job else (1, 1)
        places = (found.x, found.y) if found else (0, 0)
        for box, size, at in zip(self._boxes, sizes, places, strict=True):
            with QSignalBlocker(box):
                box.setRange(0, size - 1)
                box.setValue(at)
            box.setEnabled(found is not None)
        self._zoom.setEnabled(found is not None)
        self._channels.show_entries(dict.fromkeys(CHANNELS[job.channels] if job else ("",)))
        self._channels.setCurrentIndex(self._channel if job else 0)
        self._channels.setEnabled(job is not None and job.channels > 1)

    def _show_numbers(self) -> None:
        state, stops = self._store.state, list[Stop]()
        if has_row(state) and self._of is not None and self.pixel is not None:
            with suppress(KernelError):  # of a step behind
                stops = list(stops_of(state, self._result, *self.pixel, self._channel))
        self._taken = [-1, *(number for number, _ in stops[1:] if number <= len(state.before))]
        self._path.show_or_hide(links(state, stops, self._taken[-1]))
        _keep_room(self._path)
        self._numbers.show_numbers(self._in_words(self.found) if self.found is not None else {})

    def _in_words(self, found: Explained) -> dict[str, tuple[str, str]]:
        assert self._job is not None
        exact = pixel_words.exact
        shown = pixel_words.figures(found)
        if (slopes := found.slopes) is not None:
            shown = {"gx": ("gx", exact(slopes.gx)), "gy": ("gy", exact(slopes.gy))}
            shown["length"] = "√(gx² + gy²)", exact(slopes.length)
        if found.offset:
            shown["offset"] = "Offset", exact(found.offset)
            shown["together"] = "Sum + offset", exact(found.value)
        way = "Clipped" if pixel_words.is_cut_off(found) else "Rounded"
        shown["rounded"] = f"{way} to {self._job.pixel_type}", pixel_words.stored(found.rounded)
        shown |= pixel_words.blended(found, intents.job_for(self._store.state))
        if (result := self._own_result) is None:
            return shown | {"value": ("Implementation", "no result yet")}
        name = intents.title_with_pick(result.job.implementation, result.picked)
        sample = result.picture[found.y, found.x, found.channel]
        shown["value"] = name, pixel_words.stored(sample)
        shown["difference"] = "Difference", pixel_words.difference(found, sample)
        tolerance = "once verified"
        if found.is_alpha:
            tolerance = "0: it is copied"
        elif result.check is not None:
            rounding = "" if sample.dtype.kind == "f" else " before rounding"
            tolerance = f"{result.check.bound:.3g}{rounding}"
        return shown | {"tolerance": ("Tolerance", tolerance)} | self._at_the_end(found)

    def _at_the_end(self, found: Explained) -> dict[str, tuple[str, str]]:
        """What the list gives: the last run's output mixed, inside the part, and rounded."""
        result = self._result
        is_whole = result is not None and not result.job.is_one_launch
        if result is None or not is_whole or not intents.is_answer(result, self._store.state):
            return {}
        y, x = slice(found.y, found.y + 1), slice(found.x, found.x + 1)
        share = float(result.job.share((y, x))[0, 0, 0]) if result.job.region else 1.0
        part = {0.0: " outside the part", 1.0: ""}.get(share, f", {100 * share:.0f} % filtered")
        value = pixel_words.stored(result.picture[found.y, found.x, found.channel])
        if (exact := value_at(result.job, found.y, found.x)) is not None:
            value += f" where {pixel_words.exact(exact[0, 0, found.channel])} is exact"
        divided = "" if result.job.opaque is None else ", divided by alpha"
        divided += " found; its own stays" if result.job.runs[-1].blend.opaque else ""
        return {"result": (f"Result{part}{divided}", value)}

    def _furthest_off(self) -> int | None:
        """The channel furthest from the reference; None if unknown or within the tolerance."""
        found, result = self.found, self._result
        if found is None or result is None or not intents.is_answer(result, self._store.state):
            return None
        if (exact := value_at(result.job, found.y, found.x)) is None:
            return None
        got = result.picture[found.y : found.y + 1, found.x : found.x + 1]
        bound = result.check.bound if got.dtype.kind == "f" and result.check is not None else 0.0
        off, _, _ = judged(result.job, got, exact, Limits(bound, 0))
        return int(off.argmax()) if off.max() > bound else None

    def _show_table(self) -> None:
        self._show_kinds()
        what: What = self._shown.currentData()
        job, shown = self._job, self.found
        if shown is not None and shown.is_alpha:
            shown = None
        has_both = job is not None and shown is not None and what == "derivative"
        both: tuple[Explained | None, ...] = (shown, None)
        if job is not None and shown is not None and has_both:
            both = tuple(derivative(job, shown, axis) for axis in ("x", "y"))
        ways = ("gx = right − left", "gy = below − above")
        for way, each, heading, table in zip(ways, both, self._headings, self._tables, strict=True):
            heading.setText(f"{way} = {pixel_words.short(each.total)}" if each else "")
            heading.setVisible(has_both)
            # Where one is waited for, an empty table keeps the keyboard.
            table.setVisible(each is not None or table.hasFocus())
            table.show_pixel(each, job.border if job else "", what)

    def _show_kinds(self) -> None:
        kinds = [each for each in TITLES if self._is_gradient or each != "derivative"]
        if self.found is not None and self._is_gradient and pixel_words.is_identity(self.found):
            kinds = ["derivative"]
        elif self.found is not None and isinstance(self.found.filter, pixel_words.ORDER):
            kinds = ["samples"]
        self._shown.show_entries({TITLES[each]: each for each in kinds})
        chosen = self._what[self._is_gradient]
        self._shown.setCurrentIndex(kinds.index(chosen if chosen in kinds else kinds[0]))
        self._shown.setEnabled(self.found is not None and len(kinds) > 1)


def _keep_room(label: Label) -> None:
    needed_px = label.heightForWidth(label.width())
    label.setMinimumHeight(max(label.minimumHeight(), needed_px))


# On pictures, which may have any colour; Okabe and Ito's orange, blue and green.
OWN, BEYOND, ALIKE = QColor(230, 159, 0), QColor(86, 180, 233), QColor(0, 158, 115)
MIN_FOR_ARROWS = 6.0  # device pixels per pixel
MIN_FOR_ZEROS = 14.0
MAX_ARROWS = 32  # the nearest ones, along each axis
CAPTION_PX, CHIP_PX = 48, 24  # from the upper edge on, captions of two lines; a word's height
RING_PX = 12  # device pixels: the radius of a ring around a pixel too small to be seen


def paint_neighbourhood(
    painter: QPainter,
    visible: QRectF,
    scale: float,
    found: Explained,
    reach: int,
    is_held: bool = False,
) -> None:
    """Paint a pixel's neighbourhood, and arrows to the pixels that stand in beyond the edges.

    painter  in pixels of the picture; see `picture_view.Overlay`
    reach    the radius, and one more where a gradient follows
    is_held  written below a pixel that stays while the pointer moves on, and below the caption
    """
    radius = len(found.rows) // 2
    if not found.is_alpha:
        _paint_beyond(painter, found)
        if scale >= MIN_FOR_ARROWS:
            # Arrows lead from beyond the picture to the sources; a zero where nothing stands in.
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            x, y = found.x + 0.5, found.y + 0.5
            beyond = found.beyond_columns
            for at, source in nearest(found.columns[beyond], found.from_columns[beyond], found.x):
                _arrow_or_zero(painter, scale, QLineF(at + 0.5, y, source + 0.5, y), source)
            beyond = found.beyond_rows
            for at, source in nearest(found.rows[beyond], found.from_rows[beyond], found.y):
                _arrow_or_zero(painter, scale, QLineF(x, at + 0.5, x, source + 0.5), source)
        if reach > radius:
            outline(painter, [_square(found, reach)], OWN, style=Qt.PenStyle.DashLine)
        outline(painter, [_square(found, radius)], OWN)
        outline(painter, list(_patches(found)), ALIKE)
    outline(painter, [_square(found, 0)], OWN)
    if scale < 3:  # too small to be seen by itself
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        centre = QPointF(found.x + 0.5, found.y + 0.5)
        for color, width in ((QColor("#000000"), 4.0), (OWN, 2.0)):
            painter.setPen(hairline(color, width))
            painter.drawEllipse(centre, RING_PX / scale, RING_PX / scale)
    frame = _square(found, 0 if found.is_alpha else reach)
    if is_held and visible.intersects(frame):
        around = max(RING_PX / scale, frame.width() / 2) + 4 / scale
        place, px = frame.center() + QPointF(around, around), painter.device().devicePixelRatio()
        highest, lowest = visible.top() + CAPTION_PX * px / scale, visible.bottom()
        place.setY(min(max(place.y(), highest), lowest - CHIP_PX * px / scale))
        paint_words(painter, scale, place, "held")


def _square(found: Explained, radius: int) -> QRectF:
    return QRectF(found.x - radius, found.y - radius, 2 * radius + 1, 2 * radius + 1)


def _patches(found: Explained) -> Iterator[QRectF]:
    """Yield the patch of non-local means around the pixel, and those most like it."""
    if isinstance(found.filter, NonLocalMeans):
        side = found.filter.patch
        middle = len(found.rows) // 2
        for row, column in ((middle, middle), *found.heaviest):
            x, y = int(found.columns[column]), int(found.rows[row])
            yield QRectF(x - side // 2, y - side // 2, side, side)


def _paint_beyond(painter: QPainter, found: Explained) -> None:
    tint = QColor(BEYOND)
    tint.setAlpha(90)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(tint)
    whole = _square(found, len(found.rows) // 2)
    inside = found.columns[~found.beyond_columns]
    for x in found.columns[found.beyond_columns]:
        painter.drawRect(QRectF(x, whole.top(), 1, whole.height()))
    for y in found.rows[found.beyond_rows]:
        painter.drawRect(QRectF(inside[0], y, len(inside), 1))


def nearest(places: NDArray[Any], sources: NDArray[Any], centre: int) -> Iterator[tuple[int, int]]:
    """Yield the MAX_ARROWS places nearest to `centre`, each with its source."""
    order = np.argsort(np.abs(places - centre), kind="stable")[:MAX_ARROWS]
    return zip(places[order].tolist(), sources[order].tolist(), strict=True)


def _arrow_or_zero(painter: QPainter, scale: float, line: QLineF, source: int) -> None:
    if source == OUTSIDE:
        if scale >= MIN_FOR_ZEROS:
            with on_screen(painter, scale, line.p1()):
                painter.setPen(QColor("#ffffff"))
                painter.drawText(QRectF(-9, -9, 18, 18), Qt.AlignmentFlag.AlignCenter, "0")
        return
    # A point beside the line's centre: arrows along one line would cover each other.
    length = max(line.length(), 1e-6)
    beside = QPointF(-line.dy(), line.dx()) / length * min(0.35 * length, 1.5)
    middle, tip = line.center() + beside, line.p2()
    painter.setBrush(Qt.BrushStyle.NoBrush)
    bow = QPainterPath(line.p1())
    bow.quadTo(middle, tip)
    for color, width in ((QColor("#000000"), 3.0), (QColor("#ffffff"), 1.5)):
        painter.setPen(hairline(color, width))
        painter.drawPath(bow)
    along = QLineF(middle, tip).unitVector()
    step = QPointF(along.dx(), along.dy()) * 7 / scale
    aside = QPointF(-step.y(), step.x()) / 2
    painter.setPen(hairline(QColor("#000000"), 1))
    painter.setBrush(QColor("#ffffff"))
    painter.drawPolygon(QPolygonF([tip, tip - step + aside, tip - step - aside]))
