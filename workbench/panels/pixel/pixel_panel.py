"""The panel about one pixel: what is added up for it, and what came of that."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QEvent, QRectF, QSignalBlocker, Signal
from PySide6.QtGui import QFocusEvent, QPainter, QShowEvent
from PySide6.QtWidgets import QWidget

from kernels.core.errors import KernelError
from kernels.core.job import Job, Result
from kernels.oracle.explain import Explained, derivative, explain_pixel
from workbench.base.channels import CHANNELS
from workbench.base.plain_text import Label
from workbench.base.throttle import AFTER_PAINTING_MS, Throttle
from workbench.model import intents
from workbench.model.state import State
from workbench.panels.pixel import pixel_words
from workbench.panels.pixel.neighbourhood_table import NeighbourTable, What
from workbench.panels.pixel.numbers_card import NumbersCard
from workbench.panels.pixel.pixel_overlay import paint_neighbourhood
from workbench.session.store import Store
from workbench.widgets.boxes import HBox, UprightArea, VBox
from workbench.widgets.buttons import push_button
from workbench.widgets.drop_down import DropDown
from workbench.widgets.folding import GivingWay
from workbench.widgets.keyboard import is_escape
from workbench.widgets.lazy_panel import MARGINS
from workbench.widgets.number_boxes import WholeBox
from workbench.widgets.tile import words_label

NO_PICTURE = "Open a picture, then point at one of its pixels."
POINT = "Point at a pixel of the picture; a click holds it."
FOLLOWS = "Follows the pointer; a click on the picture holds the pixel."
HELD = "Held. Click another pixel to hold that; Esc, or a click on it, lets go."
TOLERANCE, LATER = "Tolerance", "shown once the result is verified"
TITLES: dict[What, str] = {
    "derivative": "Both derivatives",
    "all": "Sample × weight",
    "samples": "Samples",
    "weights": "Weights",
    "products": "Products",
}
PASSING_MS = 30  # while the pointer moves


class PixelPane(QWidget):
    """The panel that explains one pixel: it follows the state, the result and the pointer.

    A click holds a pixel until another is clicked; a click on it, or Esc, lets go.

    Signals:
        pixel_changed(): what `paint` paints is another.
        zoom_wanted(x, y): pixel (x, y) is to be seen from near.
        view_wanted(x, y, reach): it was typed or stepped to, and is to be seen with its neighbours.
    """

    pixel_changed = Signal()
    zoom_wanted = Signal(int, int)
    view_wanted = Signal(int, int, int)

    def __init__(self, store: Store) -> None:
        """Make the panel.

        store  read for the state, never written to
        """
        super().__init__()
        self.setObjectName("pixel-pane")
        self._store = store
        self._result: Result | None = None
        self._job: Job | None = None
        self._at: tuple[int, int] | None = None
        self._channel = 0
        self._what: What = "all"
        self._what_of_gradient: What = "derivative"
        self._is_held = self._was_pointed = False
        self._found: Explained | None = None
        self._later = Throttle(AFTER_PAINTING_MS, self._refresh, self)
        self._passing = Throttle(PASSING_MS, self._refresh, self)
        self._make()
        self._lay_out()

    # -- what to show

    def show_state(self, state: State) -> None:
        """Explain the pixel anew in a moment: while a slider is dragged the picture goes first."""
        is_of_it = self._job is not None and intents.is_of(self._job, state.picture)
        if not self.isVisible() or not is_of_it:
            self._refresh()
        else:
            self._later.ask()

    def show_result(self, result: Result | None) -> None:
        """Show the value in a result, be it of the present job or of an earlier one."""
        self._result = result
        if not self.isVisible() or self._later.isActive():
            return
        if result is None or self._is_of(result):
            self._show_numbers()
        else:
            self._refresh()  # the pixel type it was filtered in may have become known

    def show_settled(self, result: Result) -> None:
        """Show the final result of a job."""
        if self._later.isActive():
            self._refresh()
        self.show_result(result)

    @property
    def pixel(self) -> tuple[int, int] | None:
        """Return the pixel to explain, (x, y); None: that in the middle."""
        return self._at

    def show_pixel(self, pixel: tuple[int, int] | None) -> None:
        """Explain pixel (x, y); None: the last one, or the picture's middle."""
        self._at = pixel or self._at
        self._was_pointed = self._was_pointed or pixel is not None
        self._refresh()
        if (
            self._store.state.view_mode == "mismatch"
            and (channel := self._furthest_off()) is not None
        ):
            self._choose_channel(channel)

    def ask_view(self) -> None:
        """Have the pixel seen with its neighbours: the panel may lie over it."""
        if self._found is not None and self._job is not None:
            self.view_wanted.emit(self._found.x, self._found.y, self._job.reach)

    @property
    def is_held(self) -> bool:
        """Return whether the pixel stays while the pointer moves on."""
        return self._is_held

    def point_at(self, point: tuple[float, float]) -> None:
        """Explain the pixel under the pointer in a moment, unless one is held.

        point  in pixels of the picture, may be beside it
        """
        if self._is_held or self._job is None or not self.isVisible():
            return
        x, y = math.floor(point[0]), math.floor(point[1])
        is_inside = 0 <= x < self._job.width and 0 <= y < self._job.height
        if is_inside and ((x, y) != self._at or not self._was_pointed):
            self._at, self._was_pointed = (x, y), True
            self._passing.ask()

    def pick(self, pixel: tuple[int, int]) -> None:
        """Hold the pixel (x, y) that was clicked, or let go of it where it is the one held."""
        self.set_held(not self._is_held or pixel != self._at)
        self.show_pixel(pixel)

    def hold(self, pixel: tuple[int, int] | None) -> None:
        """Explain pixel (x, y), and hold it; None: that which is shown."""
        self.set_held(True)
        self.show_pixel(pixel)

    def set_held(self, is_held: bool) -> None:
        """Hold the pixel that is shown, or let it follow the pointer again."""
        self._is_held = is_held
        self._show_hint()
        self.pixel_changed.emit()

    def paint(self, painter: QPainter, visible: QRectF, scale: float) -> None:
        """Paint the neighbourhood over a picture, as an `Overlay`; nothing while hidden."""
        if self._found is not None and self._job is not None and self.isVisible():
            reach = self._job.reach
            paint_neighbourhood(painter, visible, scale, self._found, reach, self._is_held)

    @property
    def found(self) -> Explained | None:
        """Return the explanation that is shown; None where there is none."""
        return self._found

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        """Pass the focus on; with a focus proxy Tab would skip what stands before the table."""
        self._table.setFocus(event.reason())

    def event(self, event: QEvent) -> bool:
        if self._is_held and is_escape(event, QEvent.Type.ShortcutOverride):
            event.accept()  # else a shortcut takes it
            return True
        if self._is_held and is_escape(event, QEvent.Type.KeyPress):
            self.set_held(False)
            return True
        return super().event(event)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self._refresh()

    # -- building

    def _make(self) -> None:
        self._boxes = tuple(_box(axis) for axis in ("x", "y"))
        for box in self._boxes:
            box.valueChanged.connect(lambda _: self._move_to(*self._typed()))
        self._channels = DropDown("pixel-channel", "Channel")
        self._channels.setToolTip("Channels are filtered one by one")
        self._channels.activated.connect(self._choose_channel)
        self._hint = words_label("pixel-hint", is_muted=True)
        tip = "Keep this pixel while the pointer moves on; Esc lets go"
        self._hold = push_button("pixel-hold", "Hold", tip, "Hold the pixel")
        self._hold.setCheckable(True)
        self._hold.clicked.connect(self.set_held)
        self._sentence = words_label("pixel-sentence")
        self._numbers = NumbersCard()
        self._headings = tuple(words_label(f"pixel-heading-{axis}", 0.9) for axis in "xy")
        self._table = NeighbourTable("pixel-table", "Neighbours, weights and products")
        self._second = NeighbourTable("pixel-table-y", "Pixels, weights and products of gy")
        for table in self._tables:
            table.stepped.connect(self._step)
        self._shown = DropDown("pixel-show", "Table shows")
        self._shown.setToolTip("What the table's cells show")
        self._shown.activated.connect(lambda _: self._choose_what(self._shown.currentData()))
        tip = "Centre the pixel, large enough to read its neighbours"
        self._zoom = push_button("pixel-zoom", "Zoom", tip, "Zoom to the pixel")
        self._zoom.clicked.connect(self._ask_zoom)

    @property
    def _tables(self) -> tuple[NeighbourTable, NeighbourTable]:
        return self._table, self._second

    def _lay_out(self) -> None:
        place = HBox()
        for axis, box in zip("xy", self._boxes, strict=True):
            place.add(Label(axis), (box, 1))
        place.addWidget(self._channels, 1)
        tools = QWidget()
        shown = HBox(tools, 0)
        shown.add((self._shown, 1), self._hold, self._zoom)
        inside = QWidget()
        rows = VBox(inside, MARGINS)
        rows.add(place, self._hint, self._sentence, tools)
        for heading, table in zip(self._headings, self._tables, strict=True):
            rows.add(heading, (table, 1))
        rows.add(self._numbers, 0)
        whole = VBox(self, 0)
        area = UprightArea(inside)
        whole.addWidget(area)
        prose = (self._hint, self._sentence)
        self._giving_way = GivingWay(area, (*prose, tools), usual=len(prose))

    # -- what happens

    def _typed(self) -> tuple[int, int]:
        x, y = (box.value() for box in self._boxes)
        return x, y

    def _choose_channel(self, channel: int) -> None:
        self._channel = channel
        self._refresh()

    def _choose_what(self, what: What) -> None:
        if self._is_gradient:
            self._what_of_gradient = what
        else:
            self._what = what
        self._show_table()

    def _ask_zoom(self) -> None:
        if self._found is not None:
            self.zoom_wanted.emit(self._found.x, self._found.y)

    def _step(self, across: int, down: int) -> None:
        if self._at is not None:
            self._move_to(self._at[0] + across, self._at[1] + down)

    def _move_to(self, x: int, y: int) -> None:
        """Hold another pixel: the pointer on its way elsewhere would change it again."""
        self._at, self._was_pointed = (x, y), True
        self.set_held(True)
        self._refresh()
        self.ask_view()

    def _refresh(self) -> None:
        """Explain anew; a pixel that is no longer there becomes the nearest that is."""
        self._later.stop()
        self._passing.stop()
        self._found, self._job = None, None  # else a hidden panel would keep a closed picture
        if not self.isVisible():
            return
        sentence = NO_PICTURE
        try:
            self._job = intents.job_for(self._store.state)
        except KernelError as error:
            sentence = str(error)
        if self._job is not None:
            job = self._job
            x, y = self._at or (job.width // 2, job.height // 2)
            self._at = x, y = min(max(x, 0), job.width - 1), min(max(y, 0), job.height - 1)
            self._channel = min(self._channel, job.channels - 1)
            self._found = explain_pixel(job, y, x, self._channel)
            describe = pixel_words.slopes_sentence if self._is_gradient else pixel_words.sentence
            sentence = describe(self._found, job.border)
        self._sentence.setText(sentence)
        for part in (self._numbers, self._shown, self._zoom):
            part.setVisible(self._found is not None)
        self._show_hint()
        self._show_place()
        self._show_numbers()
        self._show_table()
        self.pixel_changed.emit()

    @property
    def _is_gradient(self) -> bool:
        return self._found is not None and self._found.slopes is not None

    def _show_hint(self) -> None:
        self._hint.setText(HELD if self._is_held else FOLLOWS if self._was_pointed else POINT)
        self._giving_way.rest(self._found is None)
        if self._found is None:
            self._hint.hide()
            self._sentence.show()
        self._hold.setText("Held" if self._is_held else "Hold")
        self._hold.setChecked(self._is_held)
        self._hold.setVisible(self._found is not None)

    def _show_place(self) -> None:
        job, found = self._job, self._found
        for box, size, at in zip(
            self._boxes,
            (job.width, job.height) if job else (1, 1),
            (found.x, found.y) if found else (0, 0),
            strict=True,
        ):
            with QSignalBlocker(box):
                box.setRange(0, size - 1)
                box.setValue(at)
            box.setEnabled(found is not None)
        self._zoom.setEnabled(found is not None)
        names = CHANNELS[job.channels] if job else ("",)
        if self._channels.entries() != list(names):
            self._channels.clear()
            self._channels.addItems(names)
        self._channels.setCurrentIndex(self._channel if job else 0)
        self._channels.setEnabled(job is not None and job.channels > 1)

    def _show_numbers(self) -> None:
        self._numbers.show_numbers(self._in_words(self._found) if self._found is not None else {})

    def _in_words(self, found: Explained) -> dict[str, tuple[str, str]]:
        """Return headings and values by name, one of numbers_card.ROWS."""
        assert self._job is not None
        shown = {"sum": ("Sum in float64", pixel_words.exact(found.total))}
        if (slopes := found.slopes) is not None:
            shown = {
                "gx": ("gx", pixel_words.exact(slopes.gx)),
                "gy": ("gy", pixel_words.exact(slopes.gy)),
                "length": ("√(gx² + gy²)", pixel_words.exact(slopes.length)),
            }
        pixel_type = self._job.pixel_type
        if found.offset:
            shown |= {
                "offset": ("Offset", pixel_words.exact(found.offset)),
                "together": ("Sum + offset", pixel_words.exact(found.value)),
            }
        is_cut = pixel_words.is_cut_off(found)
        heading = f"Clipped to {pixel_type}" if is_cut else f"Rounded to {pixel_type}"
        shown["rounded"] = (heading, pixel_words.stored(found.rounded))
        result = self._result if self._is_of(self._result) else None
        if result is None:
            waiting = ("Difference", pixel_words.NOTHING), (TOLERANCE, LATER)
            shown["value"] = "Implementation", "no result yet"
            return shown | dict(zip(("difference", "tolerance"), waiting, strict=True))
        name = intents.title_with_pick(result.job.implementation, result.picked)
        value = result.picture[found.y, found.x, found.channel]
        shown["value"] = (name, pixel_words.stored(value))
        shown["difference"] = ("Difference", pixel_words.difference(found, value))
        if found.is_alpha:
            shown["tolerance"] = (TOLERANCE, "0: it is copied")
        elif result.check is None:
            shown["tolerance"] = (TOLERANCE, LATER)
        else:
            rounding = "" if value.dtype.kind == "f" else " before rounding"
            shown["tolerance"] = (TOLERANCE, f"{result.check.bound:.3g}{rounding}")
        return shown

    def _furthest_off(self) -> int | None:
        """Return the channel whose sample is furthest from the reference.

        None where no error is larger than sums of float32 allow, or where it is not known.
        """
        job, found, result = self._job, self._found, self._result
        if job is None or found is None or result is None or not self._is_of(result):
            return None
        explained = [
            found if each == found.channel else explain_pixel(job, found.y, found.x, each)
            for each in range(job.channels)
        ]
        exact = np.array([each.rounded for each in explained], float)
        got = result.picture[found.y, found.x].astype(float)
        with np.errstate(invalid="ignore"):  # infinities
            off = np.abs(got - exact)
        off[(got == exact) | (np.isnan(got) & np.isnan(exact))] = 0.0
        off = np.nan_to_num(off, nan=np.inf)
        is_float = result.picture.dtype.kind == "f"
        bound = result.check.bound if is_float and result.check is not None else 0.0
        return int(off.argmax()) if off.max() > bound else None

    def _is_of(self, result: Result | None) -> bool:
        """Return whether `result` answers the present job, by whatever implementation."""
        return result is not None and self._job is not None and result.job.same_work(self._job)

    def _show_table(self) -> None:
        found, job = self._found, self._job
        self._show_kinds(self._kinds())
        if found is None or job is None or found.is_alpha:
            self._show_derivatives(None)
            self._table.show_pixel(None, "", "all")
        elif self._shown.currentData() == "derivative":
            self._show_derivatives(tuple(derivative(job, found, axis) for axis in ("x", "y")))
        else:
            self._show_derivatives(None)
            self._table.show_pixel(found, job.border, self._shown.currentData())

    def _kinds(self) -> list[What]:
        """Return what there is to choose for the table."""
        if self._found is not None and self._is_gradient and pixel_words.is_identity(self._found):
            return ["derivative"]
        return [each for each in TITLES if self._is_gradient or each != "derivative"]

    def _show_kinds(self, kinds: list[What]) -> None:
        titles = [TITLES[each] for each in kinds]
        if self._shown.entries() != titles:
            self._shown.clear()
            for each in kinds:
                self._shown.addItem(TITLES[each], each)
        chosen = self._what_of_gradient if self._is_gradient else self._what
        self._shown.setCurrentIndex(kinds.index(chosen if chosen in kinds else kinds[0]))
        self._shown.setEnabled(self._found is not None and len(kinds) > 1)

    def _show_derivatives(self, both: tuple[Explained, ...] | None) -> None:
        """Show gx and gy below each other, each as a sum of products; None: no gradient."""
        border = self._job.border if self._job is not None else ""
        for part in (*self._headings, self._second):
            part.setVisible(both is not None)
        self._table.setVisible(self._found is not None and not self._found.is_alpha)
        if both is None:
            self._second.show_pixel(None, border, "derivative")
            return
        ways = ("gx = right − left", "gy = below − above")
        for way, each, heading, table in zip(ways, both, self._headings, self._tables, strict=True):
            heading.setText(f"{way} = {pixel_words.short(each.total)}")
            table.show_pixel(each, border, "derivative")


def _box(axis: str) -> WholeBox:
    tip = "The pixel that is explained: type its place, or point at it in the picture"
    box = WholeBox(f"pixel-{axis}", f"Pixel, {axis}", tip)
    box.setMinimumWidth(60)
    return box
