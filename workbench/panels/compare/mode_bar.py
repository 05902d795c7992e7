"""The bar of view modes, the options of each, and the chips on the picture."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QActionGroup, QResizeEvent
from PySide6.QtWidgets import QAbstractSpinBox, QComboBox, QMenu, QSizePolicy, QToolButton, QWidget

from workbench.base import numbers
from workbench.base.plain_text import Label, tip_text
from workbench.imaging.display_mapping import MAX_GAIN
from workbench.model import intents
from workbench.model.names import NEGATIVE_TITLES
from workbench.model.state import State
from workbench.widgets.boxes import HBox
from workbench.widgets.buttons import check_segment, make_button, make_segments
from workbench.widgets.drop_down import ElidingBox
from workbench.widgets.number_boxes import WholeBox

MODES = (
    ("result", "Result", "The filtered picture alone; hold Space for the original (E)"),
    ("wipe", "&Wipe", "Before over after, with a divider to drag across (W)"),
    ("side", "Side &by side", "Before and after next to each other, or one above the other (S)"),
    ("difference", "Difference", "After minus before, made stronger (D)"),
    ("mismatch", "Mismatch", "Which pixels are not those of the float64 reference (M)"),
)
SHORT = {"side": "&Side", "difference": "Diff.", "mismatch": "Mism."}  # where room is scarce
KINDS = (
    ("absolute", "|Δ|", "Absolute: how much each channel differs; black: not at all"),
    (
        "signed",
        "±Δ",
        "Signed: orange: more than before, blue: less; of the channel that differs most",
    ),
)
ORIGINAL = "the original"


class ModeBar(QWidget):
    """The buttons of the view modes; `wanted` emits name and value of a State field."""

    wanted = Signal(str, object)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("modes")
        self.setAccessibleName("How pictures are looked at")
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._is_short = False
        self._row = row = HBox(self, 0, 0)
        row.setSizeConstraint(HBox.SizeConstraint.SetNoConstraint)
        self._modes = make_segments(MODES, lambda mode: self.wanted.emit("view_mode", mode))
        row.add(1, *self._modes.values())  # with short words they would stand apart

    def show_state(self, state: State) -> None:
        """Mark the mode of `state`."""
        check_segment(self._modes, state.view_mode)

    def sizeHint(self) -> QSize:  # noqa: N802
        # Of whole words: with short ones it could not become wide again.
        return QSize(self._whole_width, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(self._whole_width - self._saved, super().minimumSizeHint().height())

    def resizeEvent(self, _event: QResizeEvent) -> None:  # noqa: N802
        rounding = len(SHORT)  # of the words' widths, from which the whole width is worked out
        is_short = self.width() + rounding < self._whole_width
        if is_short != self._is_short:
            self._is_short = is_short
            for mode, text, _ in MODES:
                self._modes[mode].setText(SHORT.get(mode, text) if is_short else text)

    @property
    def _saved(self) -> int:  # px, by short words
        wide = self._modes["side"].fontMetrics().horizontalAdvance
        texts = {mode: text.replace("&", "") for mode, text, _ in MODES}
        return sum(wide(texts[mode]) - wide(text.replace("&", "")) for mode, text in SHORT.items())

    @property
    def _whole_width(self) -> int:
        return self._row.minimumSize().width() + (self._saved if self._is_short else 0)


class ModeOptions(QWidget):
    """The options of the present mode.

    Signals:
        wanted(name, value): the user wants `value` for State field `name`.
        against_wanted(index): compare with 0 the original, else the pin of that number.
        next_wanted(step): go to the next differing pixel (1), or the previous (-1).
        cancel_wanted(): stop comparing with the reference.
    """

    wanted = Signal(str, object)
    against_wanted = Signal(int)
    next_wanted = Signal(int)
    cancel_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._row = HBox(self, 0, 6)
        self._parts: dict[str, list[QWidget]] = {mode: [] for mode, _, _ in MODES}
        self._state = State()
        self._build_against()
        self._build_wipe()
        self._build_difference()
        self._build_mismatch()

    @property
    def is_needed(self) -> bool:
        """True where the mode has options."""
        parts = (self._against, *(part for parts in self._parts.values() for part in parts))
        return any(not part.isHidden() for part in parts)

    def show_state(self, state: State) -> None:
        """Show the options of the mode of `state`."""
        for mode, parts in self._parts.items():
            for part in parts:
                part.setVisible(mode == state.view_mode and part.isEnabledTo(self))
        self._state = state
        self._show_against()
        check_segment(self._kinds, state.difference)
        with QSignalBlocker(self._gain):
            self._gain.setValue(0 if state.gain is None else round(state.gain))

    def show_pins(self, names: Sequence[str], against: int) -> None:
        """Offer the original and these pins to compare the result with."""
        with QSignalBlocker(self._against):
            self._against.clear()
            self._against.addItems([ORIGINAL, *names])
            self._against.setCurrentIndex(against)
        self._show_against()

    def show_search(self, is_under_way: bool, has_places: bool) -> None:
        """Offer Cancel while a search is under way, Next and Previous where pixels differ."""
        for button, is_needed in (
            (self._previous, has_places),
            (self._next, has_places),
            (self._cancel, is_under_way),
        ):
            button.setEnabled(is_needed)  # a button that is not needed is not shown either
            button.setVisible(is_needed and self._state.view_mode == "mismatch")

    def _show_against(self) -> None:
        can_choose = self._against.count() > 1
        self._against.setVisible(self._state.view_mode in ("wipe", "difference") and can_choose)

    def _add(self, mode: str, part: Any) -> None:
        part.hide()
        self._parts[mode].append(part)
        self._row.addWidget(part)

    def _build_wipe(self) -> None:
        turn = make_button(
            "turn-divider", "Rotate divider", "Wipe across, or up and down (Shift+W)"
        )
        other = {"level": "upright", "upright": "level"}
        turn.clicked.connect(lambda: self.wanted.emit("divider", other[self._state.divider]))
        self._add("wipe", turn)

    def _build_against(self) -> None:
        """Build the list of what to compare with, which belongs to two modes."""
        tip = "What the result is compared with (Shift+J: the next)"
        self._against = ElidingBox("against", "Compare with", tip)
        self._against.setMinimumContentsLength(8)
        self._against.setMinimumWidth(72)  # in a narrow window
        self._against.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self._against.activated.connect(self.against_wanted)
        self._against.hide()
        self._row.addWidget(self._against)

    def _build_difference(self) -> None:
        kinds = QWidget()
        row = HBox(kinds, 0, 0)
        self._kinds = make_segments(KINDS, lambda kind: self.wanted.emit("difference", kind))
        for kind, button in self._kinds.items():
            button.setAccessibleName(f"{kind.capitalize()} difference")
            row.addWidget(button)
        self._add("difference", kinds)
        tip = "What differences are multiplied by, 1 to 1000; 0: as fits (auto)"
        self._gain = WholeBox("gain", "Gain", tip)
        self._gain.setRange(0, int(MAX_GAIN))
        self._gain.setSpecialValueText("auto")
        metrics = self._gain.fontMetrics()
        self._gain.setMaximumWidth(metrics.horizontalAdvance("1000") + 2 * metrics.height() + 20)
        self._gain.setStepType(QAbstractSpinBox.StepType.AdaptiveDecimalStepType)
        self._gain.valueChanged.connect(
            lambda value: self.wanted.emit("gain", float(value) if value else None)
        )
        caption = Label("Gain")
        caption.setBuddy(self._gain)
        self._add("difference", caption)
        self._add("difference", self._gain)

    def _build_mismatch(self) -> None:
        self._previous = make_button(
            "previous-differing", "‹", "Go to the previous differing pixel (Shift+N)"
        )
        self._previous.setAccessibleName("Previous differing pixel")
        self._next = make_button("next-differing", "Next ›", "Go to the next differing pixel (N)")
        self._next.setAccessibleName("Next differing pixel")
        self._cancel = make_button(
            "cancel-search", "Cancel", "Stop comparing; what was found so far stays"
        )
        self._previous.clicked.connect(lambda: self.next_wanted.emit(-1))
        self._next.clicked.connect(lambda: self.next_wanted.emit(1))
        self._cancel.clicked.connect(self.cancel_wanted)
        for button in (self._previous, self._next, self._cancel):
            self._add("mismatch", button)
        self.show_search(False, False)


LARGE_TIP = (
    "The picture is larger than memory: this is a reduced copy, and all panels are about it. "
    "Zoomed in far enough, what is in view is read and filtered at full resolution: click for "
    "100 %. File ▸ Filter to file filters all of it."
)


class LargeChip(QToolButton):
    """A button with the scale; hidden where a picture is shown whole."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("large-chip")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Scale at which the picture is shown")
        self.setToolTip(tip_text(LARGE_TIP))
        self.setProperty("onPicture", True)
        self.hide()

    def show_words(self, words: str) -> None:
        """Show `words`, or hide the chip if empty."""
        self.setVisible(bool(words))
        if words != self.text():
            self.setText(words)
            self.setAccessibleName(f"Scale: {words}")


NEGATIVE_MODES = ("result", "wipe", "side")  # in which the result is seen as it is mapped
NEGATIVE_TIP = (
    "Negative values: how they are shown, and the values shown as black and as white. Click to "
    "choose another way; the numbers themselves never change."
)


class NegativeChip(QToolButton):
    """A button with the range from black to white; its menu maps negative values otherwise.

    `wanted` emits name and value of a State field.
    """

    wanted = Signal(str, object)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("negative-chip")
        self.setAccessibleName("Negative values")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setToolTip(tip_text(NEGATIVE_TIP))
        self.setProperty("onPicture", True)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu("Negative values", self)
        group = QActionGroup(menu)
        self._ways: dict[Any, Any] = {}
        for way, title in NEGATIVE_TITLES.items():
            action = menu.addAction(title)
            action.setCheckable(True)
            action.triggered.connect(partial(self._want, way))
            group.addAction(action)
            self._ways[way] = action
        self.setMenu(menu)

    def is_needed(self, state: State) -> bool:
        """Tell whether `state` shows a result that may have negative values."""
        return state.view_mode in NEGATIVE_MODES and intents.is_around_zero(state)

    def show_state(self, state: State, levels: tuple[float, float] | None) -> None:
        """Show the mapping and its levels, black and white; None: not known yet."""
        self._ways[state.negative_display].setChecked(True)
        way = intents.look_for(state).negative_display
        words = NEGATIVE_TITLES[way]
        if levels is not None:
            low, high = (numbers.in_digits(each).replace("-", "−") for each in levels)
            words = f"{words}: {low} to {high}"
        if f"{words} ▾" != self.text():
            self.setText(f"{words} ▾")
            self.setAccessibleName(f"Negative values: {words}")

    def _want(self, way: Any, _checked: bool = False) -> None:
        self.wanted.emit("negative_display", way)
