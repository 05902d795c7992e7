"""The numbers under the pointer in one line: where, before, pinned, after, and a difference."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QToolButton, QWidget

from workbench.base import theme
from workbench.base.plain_text import Label, tip_text
from workbench.panels.compare.pins import MAX_PINS, pin_name
from workbench.widgets.boxes import HBox
from workbench.widgets.buttons import make_button

Values = NDArray[Any] | None  # (C,) samples of one pixel

CHANNELS = {1: ("grey",), 2: ("grey", "α"), 3: ("R", "G", "B"), 4: ("R", "G", "B", "α")}
_PINNED = tuple(pin_name(number).lower() for number in range(1, MAX_PINS + 1))
_PARTS = ("before", *_PINNED, "after", "difference")
_FIRST_TO_GO = ("difference", *reversed(_PINNED), "before", "after")  # where room is scarce
# Characters for a number: of this pixel type; of a result as float32 of such a picture.
_WIDTHS = {"uint8": 3, "uint16": 5, "float16": 10, "float32": 10}
_WIDE_WIDTHS = {"uint8": 7, "uint16": 8, "float16": 10, "float32": 10}
_NONE = "–"
_APART = 18  # px between two parts


class ReadOut(QWidget):
    """The values of one pixel, as they are in the data: neither scaled nor clipped.

    In a narrow window whole parts are left out, the difference first.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Values under the pointer")
        row = HBox(self, 0, _APART)
        row.setSizeConstraint(HBox.SizeConstraint.SetNoConstraint)
        self._digits = 3, 3  # of the picture before, and of all others
        self._of: tuple[tuple[int, ...], str, frozenset[str]] | None = (
            None  # what there is room for
        )
        self._wanted: frozenset[str] = frozenset()
        self._has_point = False
        self.position = _Number("position")
        row.addWidget(self.position)
        self._parts = {name: _Part(name) for name in _PARTS}
        row.add(*self._parts.values(), 1)
        self.show_pins((), 0)
        self._set_fonts()

    def show_pins(self, shown: Collection[int], against: int) -> None:
        """Show parts for the pinned results of these numbers.

        against  subtracted from the newest: 0 the original, else the pin of that number
        """
        self._against = against
        pinned = [name for number, name in enumerate(_PINNED, 1) if number in shown]
        self._wanted = frozenset(("before", *pinned, "after", "difference"))
        other = _PINNED[against - 1] if against else "before"
        difference = self._parts["difference"]
        difference.values.setToolTip(tip_text(f"After minus {other}"))
        difference.title.setText(f"after − {other}" if shown else "difference")
        self._find_room()

    def show_values(
        self, point: tuple[int, int] | None, before: Values, pinned: Sequence[Values], after: Values
    ) -> None:
        """Show samples of one pixel, each (C,); None: no such pixel or picture."""
        self.position.setText(_position(*point) if point else "")
        if (point is not None) != self._has_point:
            self._has_point = point is not None
            self._find_room()
        # `_against` may still name a pin that has just been removed.
        is_there = self._against <= len(pinned)
        other = before if not self._against else pinned[self._against - 1] if is_there else None
        difference = None if other is None or after is None else _subtract(after, other)
        values = (before, *pinned, *[None] * (MAX_PINS - len(pinned)), after, difference)
        for name, each in zip(_PARTS, values, strict=True):
            self._parts[name].values.setText(self._text(each, name))

    def prepare_for(
        self,
        before: NDArray[Any],
        *results: NDArray[Any],
        size: tuple[int, int] | None = None,
    ) -> None:
        """Reserve room for any pixel of these, so that nothing moves under the pointer.

        before, results  (H, W, C), all of one shape
        size             width and height for the position; None: those of the arrays
        """
        own = str(before.dtype)
        shape = before.shape if size is None else (size[1], size[0], before.shape[2])
        of = shape, own, frozenset(str(each.dtype) for each in results)
        if of == self._of:
            return
        self._of = of
        is_like = all(pixel_type == own for pixel_type in of[2])
        self._digits = _WIDTHS[own], (_WIDTHS if is_like else _WIDE_WIDTHS)[own]
        self._reserve()

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(self.position.width(), super().minimumSizeHint().height())

    def sizeHint(self) -> QSize:  # noqa: N802
        wide = [self._parts[name].wide + _APART for name in _PARTS if name in self._wanted]
        return QSize(self.position.width() + sum(wide), super().sizeHint().height())

    def resizeEvent(self, _event: QResizeEvent) -> None:  # noqa: N802
        self._find_room()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        if event.type() == QEvent.Type.ApplicationFontChange:
            self._set_fonts()
        super().changeEvent(event)

    def _set_fonts(self) -> None:
        for label in (self.position, *(part.values for part in self._parts.values())):
            label.setFont(theme.fixed_font())
        self._reserve()

    def _reserve(self) -> None:
        height, width, channels = (1, 1, 3) if self._of is None else self._of[0]
        zeros = np.zeros(channels, np.uint8)
        for name, part in self._parts.items():
            part.values.prepare_for(self._text(zeros, name))
        self.position.prepare_for(_position(width - 1, height - 1))
        self.updateGeometry()
        self._find_room()

    def _find_room(self) -> None:
        """Show as many parts as there is room for, and none where nothing is pointed at."""
        shown = set(self._wanted) if self._has_point else set()
        room = self.width() - self.position.width()
        for name in _FIRST_TO_GO:
            if sum(self._parts[each].wide + _APART for each in shown) <= room:
                break
            shown.discard(name)
        for name, part in self._parts.items():
            part.setVisible(name in shown)

    def _text(self, values: Values, part: str) -> str:
        if values is None:
            return _NONE
        signed = part == "difference"
        wide = self._digits[part != "before"] + signed
        pairs = zip(CHANNELS[values.size], values, strict=True)
        return " ".join(f"{name} {_format(value, wide, signed):<{wide}}" for name, value in pairs)


class _Number(Label):
    """A text of constant size, so that a change needs no new layout."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setAccessibleName(name.capitalize())
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)

    def prepare_for(self, widest: str) -> None:
        """Take the size of `widest`."""
        metrics = self.fontMetrics()
        self.setFixedSize(metrics.horizontalAdvance(widest) + 2, metrics.height())


class _Part(QWidget):
    """The values of one picture, and what it is called."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.title = Label(name, is_muted=True)
        self.values = _Number(name)
        row = HBox(self, 0, 6)
        row.add(self.title, self.values)

    @property
    def wide(self) -> int:
        """Width in px."""
        return self.title.sizeHint().width() + 6 + self.values.width()


def _subtract(after: NDArray[Any], before: NDArray[Any]) -> NDArray[Any]:
    wide = np.int64 if {after.dtype.kind, before.dtype.kind} == {"u"} else np.float64
    with np.errstate(invalid="ignore"):  # infinity minus infinity is NaN, and shown as that
        return after.astype(wide) - before.astype(wide)


def _position(x: int, y: int) -> str:
    return f"x {x}  y {y}"


def _format(value: Any, wide: int, signed: bool) -> str:
    """Write a value in at most `wide` characters, as exact as they allow."""
    sign = "+" if signed and value > 0 else ""
    if not isinstance(value, np.floating):
        return f"{value:{sign}d}"
    ways = (".1f", ".0f") if 1000 <= abs(value) < 1e6 else (".4g", ".3g", ".2g", ".1g")
    texts = [f"{value:{sign}{way}}" for way in ways]
    return next((text for text in texts if len(text) <= wide), texts[-1])


WIDEST_ZOOM = "12800 %"


class ReadOutRow(QWidget):
    """One line for a status bar: values at its left, zoom and buttons at its right.

    read_out  the values under the pointer
    pin       the button that pins the result

    Signals:
        fit_wanted(), exact_wanted(): show the whole picture, or 1:1.
        held(is_held): show the original meanwhile.
        pin_wanted(): keep the result beside those to come.
    """

    fit_wanted = Signal()
    exact_wanted = Signal()
    held = Signal(bool)
    pin_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("read-out-row")
        self.setAccessibleName("Pixel under the pointer and zoom")
        self.read_out = ReadOut()
        self._row = HBox(self, (8, 0, 0, 0), 6)
        self._row.addWidget(self.read_out, 1)
        self._build_zoom()
        self._build_looking()
        self._looking = (self._fit, self._exact, self._original)
        self.show_scale(None)

    def show_scale(self, scale: float | None) -> None:
        """Show the screen pixels per picture pixel in percent; None: no picture."""
        percent = 100 * (scale or 0.0)
        digits = 0 if percent >= 10 else 1
        self._zoom.setText("" if scale is None else f"{percent:.{digits}f} %")
        for button in self._looking:
            button.setEnabled(scale is not None)

    def _build_zoom(self) -> None:
        self._zoom = Label(name="zoom", font=theme.numbers_font())
        self._zoom.setAccessibleName("Zoom")
        metrics = self._zoom.fontMetrics()
        # Of one size, so that another number lays nothing out anew.
        self._zoom.setFixedSize(metrics.horizontalAdvance(WIDEST_ZOOM) + 4, metrics.height() + 4)
        self._zoom.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._zoom.setToolTip("Screen pixels per picture pixel; above 100 % no pixel is blended")
        self._row.addWidget(self._zoom)
        self._fit = self._add("fit", "Fi&t", "Show the whole picture (0, or double-click at 100 %)")
        self._fit.clicked.connect(self.fit_wanted)
        self._exact = self._add("one_to_one", "&1:1", "100 %: one screen pixel per pixel (1)")
        self._exact.clicked.connect(self.exact_wanted)

    def _build_looking(self) -> None:
        self._original = self._add(
            "original", "Hold: &original", "Hold to see the picture before filtering (Space)"
        )
        self._original.pressed.connect(lambda: self.held.emit(True))
        self._original.released.connect(lambda: self.held.emit(False))
        self.pin = self._add("pin", "Pin", "Keep this result beside the next ones, up to three (K)")
        self.pin.setAccessibleName("Pin this result")
        self.pin.clicked.connect(self.pin_wanted)

    def _add(self, name: str, text: str, tip: str) -> QToolButton:
        button = make_button(name, text, tip)
        self._row.addWidget(button)
        return button
