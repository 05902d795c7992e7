"""The bar of modes in which pictures are looked at, and the options of each mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QSignalBlocker, QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractSpinBox, QComboBox, QSizePolicy, QWidget

from workbench.base.plain_text import Label
from workbench.imaging.display_mapping import MAX_GAIN
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
    """The buttons of the modes, in one bar.

    Signals:
        wanted(name, value): the user wants `value` for State field `name`: "view_mode".
    """

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
        """Return the size with whole words: with short ones it could not become wide again."""
        return QSize(self._whole_width, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        """Return the size with short words on the buttons."""
        return QSize(self._whole_width - self._saved, super().minimumSizeHint().height())

    def resizeEvent(self, _event: QResizeEvent) -> None:  # noqa: N802
        rounding = len(SHORT)  # of the words' widths, from which the whole width is worked out
        is_short = self.width() + rounding < self._whole_width
        if is_short != self._is_short:
            self._is_short = is_short
            for mode, text, _ in MODES:
                self._modes[mode].setText(SHORT.get(mode, text) if is_short else text)

    @property
    def _saved(self) -> int:
        """Return how many px short words are narrower."""
        wide = self._modes["side"].fontMetrics().horizontalAdvance
        texts = {mode: text.replace("&", "") for mode, text, _ in MODES}
        return sum(wide(texts[mode]) - wide(text.replace("&", "")) for mode, text in SHORT.items())

    @property
    def _whole_width(self) -> int:
        return self._row.minimumSize().width() + (self._saved if self._is_short else 0)


class ModeOptions(QWidget):
    """The options of the present mode.

    Signals:
        wanted(name, value): the user wants `value` for State field `name`: "divider", "difference",
            "gain".
        against_wanted(index): what the result is compared with: 0 the original, else the pin of
            that number.
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
        """Return whether the mode has anything to choose."""
        return any(not part.isHidden() for part in self._all)

    def show_state(self, state: State) -> None:
        """Show the options of the mode that `state` has."""
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

    @property
    def _all(self) -> list[QWidget]:
        return [self._against, *(part for parts in self._parts.values() for part in parts)]

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
        turn.clicked.connect(self._turn)
        self._add("wipe", turn)

    def _turn(self) -> None:
        self.wanted.emit("divider", "upright" if self._state.divider == "level" else "level")

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
        self._gain.valueChanged.connect(self._want_gain)
        caption = Label("Gain")
        caption.setBuddy(self._gain)
        self._add("difference", caption)
        self._add("difference", self._gain)

    def _want_gain(self, value: int) -> None:
        self.wanted.emit("gain", float(value) if value else None)

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
