"""The bar of modes in which pictures are compared, and the options of each mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QSignalBlocker, QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractSpinBox, QComboBox, QHBoxLayout, QWidget

from workbench.imaging.display_mapping import MAX_GAIN
from workbench.model.state import State
from workbench.widgets.buttons import check_segment, make_button, make_segments
from workbench.widgets.eliding_box import ElidingBox
from workbench.widgets.number_boxes import WholeBox

MODES = (
    ("side", "Side &by side", "Before and after next to each other (W)"),
    ("wipe", "&Wipe", "One over the other, with a divider to drag across (W)"),
    ("difference", "Difference", "After minus before, made stronger (D)"),
    ("mismatch", "Mismatch", "Which pixels are not what the float64 oracle says (M)"),
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
    """The buttons of the modes, and the one that pins.

    Signals:
        wanted(name, value): the user wants `value` for State field `name`: "view_mode".
        pin_wanted(): the result is to be kept beside those to come.
    """

    wanted = Signal(str, object)
    pin_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._is_short = False
        self._row = row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.setSizeConstraint(QHBoxLayout.SizeConstraint.SetNoConstraint)
        self._modes = make_segments(MODES, lambda mode: self.wanted.emit("view_mode", mode))
        for button in self._modes.values():
            row.addWidget(button)
        row.addStretch(1)
        self._pin = make_button(
            "pin", "Pin", "Keep this result beside the next ones, up to three (K)"
        )
        self._pin.setAccessibleName("Pin this result")
        self._pin.clicked.connect(self.pin_wanted)
        row.addSpacing(6)
        row.addWidget(self._pin)

    def show_state(self, state: State) -> None:
        """Mark the mode of `state`."""
        check_segment(self._modes, state.view_mode)

    def show_can_pin(self, can: bool) -> None:
        """Enable or disable pinning."""
        self._pin.setEnabled(can)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        """Return the size with short words on the buttons."""
        return QSize(self._whole_width - self._saved, super().minimumSizeHint().height())

    def resizeEvent(self, _event: QResizeEvent) -> None:  # noqa: N802
        is_short = self.width() < self._whole_width
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
        cancel_wanted(): stop comparing with the oracle.
    """

    wanted = Signal(str, object)
    against_wanted = Signal(int)
    next_wanted = Signal(int)
    cancel_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(6)
        self._parts: dict[str, list[QWidget]] = {mode: [] for mode, _, _ in MODES}
        self._mode = "side"
        self._build_against()
        self._build_wipe()
        self._build_difference()
        self._build_mismatch()

    def show_state(self, state: State) -> None:
        """Show the options of the mode that `state` has."""
        for mode, parts in self._parts.items():
            for part in parts:
                part.setVisible(mode == state.view_mode)
        self._mode = state.view_mode
        self._show_against()
        self._is_level = state.divider == "level"
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
        """Enable Cancel while a search is under way, Next and Previous where pixels differ."""
        self._cancel.setEnabled(is_under_way)
        for button in (self._previous, self._next):
            button.setEnabled(has_places)

    def _show_against(self) -> None:
        can_choose = self._against.count() > 1
        self._against.setVisible(self._mode in ("wipe", "difference") and can_choose)

    def _add(self, mode: str, part: Any) -> None:
        part.hide()
        self._parts[mode].append(part)
        self._row.addWidget(part)

    def _build_wipe(self) -> None:
        self._is_level = False
        turn = make_button("turn-divider", "Turn", "The divider across, or up and down (Shift+W)")
        turn.clicked.connect(self._turn)
        self._add("wipe", turn)

    def _turn(self) -> None:
        self.wanted.emit("divider", "upright" if self._is_level else "level")

    def _build_against(self) -> None:
        """Build the list of what to compare with, which belongs to two modes."""
        self._against = ElidingBox()
        self._against.setObjectName("against")
        self._against.setAccessibleName("Compare with")
        self._against.setToolTip("What the result is compared with (Shift+J: the next)")
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
        row = QHBoxLayout(kinds)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        self._kinds = make_segments(KINDS, lambda kind: self.wanted.emit("difference", kind))
        for kind, button in self._kinds.items():
            button.setAccessibleName(f"{kind.capitalize()} difference")
            row.addWidget(button)
        self._add("difference", kinds)
        self._gain = WholeBox()
        self._gain.setObjectName("gain")
        self._gain.setAccessibleName("Gain")
        self._gain.setToolTip("What differences are multiplied by, 1 to 1000; 0: as fits (auto)")
        self._gain.setRange(0, int(MAX_GAIN))
        self._gain.setSpecialValueText("auto")
        metrics = self._gain.fontMetrics()
        self._gain.setMaximumWidth(metrics.horizontalAdvance("1000") + 2 * metrics.height() + 20)
        self._gain.setStepType(QAbstractSpinBox.StepType.AdaptiveDecimalStepType)
        self._gain.valueChanged.connect(self._want_gain)
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
