"""The panel about one pixel: what is added up for it, and what came of that."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QRectF, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFocusEvent, QPainter, QShowEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from kernels.core.errors import KernelError
from kernels.core.job import Job, Result
from kernels.oracle.explain import Explained, explain_pixel
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
from workbench.widgets.docks import Dock
from workbench.widgets.drop_down import DropDown
from workbench.widgets.number_boxes import WholeBox

NO_PICTURE = "Open a picture first, then click one of its pixels."
MAY_BE, LATER = "May be off by", "is said once it has been checked"
TITLES: dict[What, str] = {
    "all": "Sample × weight = product",
    "samples": "Samples",
    "weights": "Weights",
    "products": "Products",
    "weighted": "What the gradient is made of",
}


class PixelPane(QWidget):
    """The panel that explains one pixel: it follows the state, the result and the clicks.

    Signals:
        pixel_changed(): what `paint` paints is another.
        zoom_wanted(x, y): pixel (x, y) is to be seen from near.
    """

    DOCK = Dock("Pixel", is_hidden=True)

    pixel_changed = Signal()
    zoom_wanted = Signal(int, int)

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
        self._found: Explained | None = None
        self._later = Throttle(AFTER_PAINTING_MS, self._refresh, self)
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
        self._refresh()
        if (
            self._store.state.view_mode == "mismatch"
            and (channel := self._furthest_off()) is not None
        ):
            self._choose_channel(channel)

    def paint(self, painter: QPainter, visible: QRectF, scale: float) -> None:
        """Paint the neighbourhood over a picture, as an `Overlay`; nothing while hidden."""
        if self._found is not None and self._job is not None and self.isVisible():
            paint_neighbourhood(painter, visible, scale, self._found, self._job.reach)

    @property
    def found(self) -> Explained | None:
        """Return the explanation that is shown; None where there is none."""
        return self._found

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        """Pass the focus on; with a focus proxy Tab would skip what stands before the table."""
        self._table.setFocus(event.reason())

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
        self._sentence = _label("pixel-sentence")
        self._numbers = NumbersCard()
        self._table = NeighbourTable()
        self._table.stepped.connect(self._step)
        self._shown = DropDown("pixel-show", "What stands in the table")
        self._shown.setToolTip("What stands in the table's cells")
        self._shown.activated.connect(lambda _: self._choose_what(self._shown.currentData()))
        self._zoom = QPushButton("Zoom to it")
        self._zoom.setObjectName("pixel-zoom")
        self._zoom.setAccessibleName("Zoom to the pixel")
        self._zoom.setToolTip("Have the pixel in the middle, large enough to be seen")
        self._zoom.clicked.connect(self._ask_zoom)

    def _lay_out(self) -> None:
        place = QHBoxLayout()
        for axis, box in zip("xy", self._boxes, strict=True):
            place.addWidget(Label(axis))
            place.addWidget(box, 1)
        place.addWidget(self._channels, 1)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(10, 4, 6, 8)
        rows.addLayout(place)
        rows.addWidget(self._sentence)
        rows.addWidget(self._numbers)
        rows.addWidget(self._shown)
        rows.addWidget(self._table, 1)
        rows.addWidget(self._zoom, 0, Qt.AlignmentFlag.AlignRight)

    # -- what happens

    def _typed(self) -> tuple[int, int]:
        x, y = (box.value() for box in self._boxes)
        return x, y

    def _choose_channel(self, channel: int) -> None:
        self._channel = channel
        self._refresh()

    def _choose_what(self, what: What) -> None:
        self._what = what
        self._show_table()

    def _ask_zoom(self) -> None:
        if self._found is not None:
            self.zoom_wanted.emit(self._found.x, self._found.y)

    def _step(self, across: int, down: int) -> None:
        if self._at is not None:
            self._move_to(self._at[0] + across, self._at[1] + down)

    def _move_to(self, x: int, y: int) -> None:
        self._at = x, y
        self._refresh()

    def _refresh(self) -> None:
        """Explain anew; a pixel that is no longer there becomes the nearest that is."""
        self._later.stop()
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
            sentence = pixel_words.sentence(self._found, job.border)
            sentence = f"{sentence} {pixel_words.slopes_sentence(self._found)}".strip()
        self._sentence.setText(sentence)
        self._show_place()
        self._show_numbers()
        self._show_table()
        self.pixel_changed.emit()

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
            shown |= {
                "sum": ("Weighted, in float64", pixel_words.exact(found.total)),
                "gx": ("gx, along x", pixel_words.exact(slopes.gx)),
                "gy": ("gy, along y", pixel_words.exact(slopes.gy)),
                "length": ("Length", pixel_words.exact(slopes.length)),
            }
        pixel_type = self._job.pixel_type
        if found.offset:
            shown |= {
                "offset": ("Offset, added", pixel_words.exact(found.offset)),
                "together": ("Together", pixel_words.exact(found.value)),
            }
        is_cut = pixel_words.is_cut_off(found)
        heading = f"Rounded, cut off to {pixel_type}" if is_cut else f"Rounded to {pixel_type}"
        shown["rounded"] = (heading, pixel_words.stored(found.rounded))
        result = self._result if self._is_of(self._result) else None
        if result is None:
            waiting = {"difference": ("Difference", pixel_words.NOTHING), "bound": (MAY_BE, LATER)}
            return shown | {"value": ("Implementation", "has not answered yet")} | waiting
        name = intents.title_with_pick(result.job.implementation, result.picked)
        value = result.picture[found.y, found.x, found.channel]
        shown["value"] = (name, pixel_words.stored(value))
        shown["difference"] = ("Difference", pixel_words.difference(found, value))
        if found.is_alpha:
            shown["bound"] = (MAY_BE, "nothing: it is copied")
        elif result.check is None:
            shown["bound"] = (MAY_BE, LATER)
        else:
            rounding = "" if value.dtype.kind == "f" else " before rounding"
            shown["bound"] = (MAY_BE, f"{result.check.bound:.3g}{rounding}")
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
        found = self._found
        has_slopes = found is not None and found.slopes is not None
        kinds: list[What] = [each for each in TITLES if has_slopes or each != "weighted"]
        if self._shown.count() != len(kinds):
            self._shown.clear()
            for each in kinds:
                self._shown.addItem(TITLES[each], each)
        what: What = self._what if self._what in kinds else "all"
        self._shown.setCurrentIndex(kinds.index(what))
        is_table = found is not None and not found.is_alpha
        self._table.setEnabled(found is not None)
        border = self._job.border if self._job is not None else ""
        self._table.show_pixel(found if is_table else None, border, what)


def _box(axis: str) -> WholeBox:
    box = WholeBox()
    box.setObjectName(f"pixel-{axis}")
    box.setAccessibleName(f"Pixel, {axis}")
    box.setToolTip("Which pixel is explained; click one in a picture, or type")
    box.setMinimumWidth(64)
    return box


def _label(name: str) -> QLabel:
    label = Label()
    label.setObjectName(name)
    label.setWordWrap(True)
    label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label
