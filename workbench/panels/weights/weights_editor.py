"""The Weights panel: cells to type into, whose valid changes are filtered at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QSignalBlocker
from PySide6.QtGui import QGuiApplication, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QLineEdit, QPushButton, QWidget

from kernels import filters
from kernels.core.errors import BadJobError, KernelError
from kernels.sweeps.step_words import blend_of
from workbench.base import theme
from workbench.base.background import Background
from workbench.base.paths import asset_table
from workbench.base.plain_text import Label
from workbench.base.table_text import (
    MAX_CHARACTERS,
    MAX_SIZE,
    SIZES,
    as_text,
    in_words,
    why_no_value,
)
from workbench.model import intents
from workbench.model.state import State
from workbench.panels.weights import named_weights, weights_summary
from workbench.panels.weights.named_weights import LibraryBox, PresetBox, preset, small_button
from workbench.panels.weights.weights_draft import WeightsDraft, drawing_of, pasted
from workbench.panels.weights.weights_grid import WeightsGrid
from workbench.panels.weights.weights_summary import WeightsSummary
from workbench.session.store import Store
from workbench.widgets.boxes import Flow, UprightArea, VBox
from workbench.widgets.buttons import described
from workbench.widgets.folding import FoldedSection, OffStage
from workbench.widgets.lazy_panel import MARGINS
from workbench.widgets.letters import factor_of
from workbench.widgets.number_boxes import OddSpinBox
from workbench.widgets.watch import Watch

SUMMARY_SHARE = 2  # of the room that is left; the grid has 3
WIDE_PX = 720  # from here on the grid has what the weights do at its right, below it else
TALL_PX = (870, 1150)  # from here on a narrow one has room for each of its sections
LOW_PX = 560  # up to here the grid has made room for a second line of the sentence
TIPS = asset_table("tips.toml")["weights"]
TOO_LARGE = (
    f"{{title}} is {{size}}×{{size}} in the window; its middle, {MAX_SIZE}×{MAX_SIZE}, is drawn "
    "here, and applied when it is changed."
)
HINT = "Enter ↓ · Tab → · Ctrl+Tab: leave · Ctrl+Z: undo"
WEAKENED = "The threshold comes after these weights: it weakens each change of a sample."


class WeightsEditor(QWidget):
    """Weights panel: follows the filter, and filters valid input at once.

    drawing  the present WeightsDraft
    """

    def __init__(self, store: Store, writing: Background) -> None:
        """Make the editor; `writing` reads and writes named weights."""
        super().__init__()
        self.setObjectName("weights-editor")
        self._store = store
        self.drawing = WeightsDraft((("0",) * 3, ("0", "1", "0"), ("0",) * 3))
        self._applied: tuple[NDArray[np.float32], float] | None = None
        self._grid = self.entrance = WeightsGrid(self.drawing)
        self._grid.typed.connect(self._type)
        self._grid.copy_wanted.connect(self._copy)
        self._grid.paste_wanted.connect(self._paste)
        tip = "A larger size adds zeros around; a smaller one crops to the centre."
        self._size = OddSpinBox("weights-size", "Size of the weights", tip)
        self._size.picked.connect(self._resize)
        self._presets = PresetBox()
        self._presets.activated.connect(self._draw_preset)
        self._divisor = self._number_line("divisor", TIPS["divisor"])
        self._offset = self._number_line("offset", TIPS["offset"])
        self._presets.setMinimumWidth(theme.in_letters(90))
        for narrow in (self._size, self._offset):  # what is left is for the names of filters
            narrow.setMaximumWidth(theme.in_letters(76))
        self._sentence = Label(HINT, name="weights-sentence", wraps=True, lines=1)
        self._told = WeightsSummary()
        self._library = LibraryBox(
            writing,
            lambda: self.drawing,
            lambda chosen: self.draw(chosen.drawing, f"Loaded “{chosen.name}”."),
            self._say,
        )
        self._buttons = self._make_buttons()
        self._lay_out()
        # Larger letters need more room.
        Watch(self, QEvent.Type.Resize, QEvent.Type.FontChange).seen.connect(self._turn)
        self._show(self.drawing)
        self._follow(store.state)

    def show_state(self, state: State) -> None:
        """Show the weights of the filter, while the panel is seen."""
        if self.isVisible():
            self._follow(state)

    def _follow(self, state: State) -> None:
        """Draw the weights of the window's filter, which changes nothing there."""
        try:
            weights = intents.weights_for(state)
        except KernelError:
            return  # the window says why there are none
        chosen = filters.get(state.filter)
        if weights is None:
            self._say(f"{chosen.title} has no weights; those here are the last ones.")
            self._applied = None
            return
        offset = state.offset if filters.has_parameter(chosen, "matrix") else 0.0
        words = WEAKENED if blend_of(state).threshold else HINT
        if self._are_applied(weights, offset):
            if {words, self._sentence.text()} == {WEAKENED, HINT}:
                self._say(words)
            return
        if len(weights) > MAX_SIZE:
            inner = slice((len(weights) - MAX_SIZE) // 2, (len(weights) + MAX_SIZE) // 2)
            self._show(drawing_of(weights[inner, inner], offset))
            self._say(TOO_LARGE.format(title=chosen.title, size=len(weights)), is_bad=True)
            self._told.show_weights(weights, offset)
            self._applied = None
            return
        self._applied = weights, offset
        self._show(drawing_of(weights, offset), words)

    def _are_applied(self, weights: NDArray[np.float32], offset: float | None) -> bool:
        known = self._applied
        return known is not None and np.array_equal(weights, known[0]) and offset == known[1]

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self._library.refresh()
        self._follow(self._store.state)

    def _type(self, cells: list[tuple[int, int]], text: str) -> None:
        drawing = self.drawing
        for row, column in cells:
            drawing = drawing.with_cell(row, column, text)
        self.draw(drawing)

    def _number_line(self, field: str, tip: str) -> QLineEdit:
        made = described(QLineEdit(), f"weights-{field}", field.capitalize(), tip)

        def take() -> None:
            change: dict[str, Any] = {field: made.text().strip()}
            self.draw(replace(self.drawing, **change))

        made.editingFinished.connect(take)
        return made

    def _resize(self, size: int) -> None:
        old, new = self.drawing, self.drawing.resized(size)
        words = HINT
        if size > old.size:
            words = "Zeros were added around the weights."
        elif new.resized(old.size) != old:
            is_undone = old.weights is not None and self._are_applied(old.weights, old.added)
            words = "Cropped to the centre." + " Ctrl+Z restores the grid." * is_undone
        self.draw(new, words)

    def _draw_preset(self) -> None:
        drawing, words = preset(self._presets.currentData(), self.drawing.size)
        self.draw(drawing, words or HINT)

    def _change(self, change: Callable[[WeightsDraft], WeightsDraft]) -> None:
        try:
            self.draw(change(self.drawing))
        except BadJobError as error:
            self._say(str(error), is_bad=True)

    def _copy(self, cells: list[tuple[int, int]] | None = None) -> None:
        drawn = self.drawing.cells
        if cells is None or len(cells) <= 1:
            cells = [(y, x) for y in range(len(drawn)) for x in range(len(drawn))]
        rows = sorted({y for y, _ in cells})
        texts = tuple(tuple(drawn[y][x] for a, x in cells if a == y) for y in rows)
        QGuiApplication.clipboard().setText(as_text(texts))
        self._say(f"Copied {len(cells)} cells.")

    def _paste(self) -> None:
        text = QGuiApplication.clipboard().text()[: MAX_CHARACTERS + 1]  # a longer text is refused
        try:
            drawing, words = pasted(text, self.drawing, self._grid.selected)
            self.draw(drawing, words)
        except BadJobError as error:
            self._say(str(error), is_bad=True)

    def draw(self, drawing: WeightsDraft, sentence: str = HINT) -> None:
        """Draw this, as if it had been typed, and have it filtered if all are numbers."""
        if drawing == self.drawing:
            return
        self._show(drawing, sentence)
        weights, offset = drawing.weights, drawing.added
        if weights is None or offset is None or self._are_applied(weights, offset):
            return
        self._applied = weights, offset
        self._store.choose(filter="custom", matrix=drawing.matrix, offset=offset)

    def _show(self, drawing: WeightsDraft, sentence: str = HINT) -> None:
        self.drawing = drawing
        self._grid.show_drawing(drawing)
        self._size.show_size(drawing.size, SIZES)
        for line, text in ((self._divisor, drawing.divisor), (self._offset, drawing.offset)):
            with QSignalBlocker(line):
                line.setText(text)
        self._presets.show_drawing(drawing)
        self._told.show_weights(drawing.weights, drawing.added or 0.0)
        if drawing.weights is None or drawing.added is None:
            self._object(drawing)
        else:
            self._say(sentence)

    def _object(self, drawing: WeightsDraft) -> None:
        words = "These numbers are too large for float32."
        if wrong := drawing.invalid:
            row, column = wrong[0]
            text = drawing.cells[row][column]
            one = f"{in_words(text)} in row {row + 1}, column {column + 1} {why_no_value(text)}"
            more = f" (of {len(wrong)} that are wrong)" if len(wrong) > 1 else ""
            words = f"{one}{more}: the picture keeps the last valid weights."
        elif drawing.divided_by is None:
            words = "The divisor must be a number other than 0."
        elif drawing.added is None:
            words = "The offset is a part of white, from −1 to 1: for 128 of 255 write 128/255."
        self._say(words, is_bad=True)

    def _say(self, sentence: str, is_bad: bool = False) -> None:
        self._sentence.setText(sentence)
        if self._sentence.property("objection") != is_bad:
            self._sentence.setProperty("objection", is_bad)
            self._sentence.style().polish(self._sentence)

    def _make_buttons(self) -> list[QPushButton]:
        draft = WeightsDraft
        changes = (
            ("Normalise", "Divide so that the weights add up to 1.", draft.normalised),
            ("Transpose", "Rows become columns.", draft.transposed),
            ("Flip ↔", "Mirror left and right.", draft.flipped_across),
            ("Flip ↕", "Mirror top and bottom.", draft.flipped_down),
            ("Rotate 90°", "Rotate clockwise.", draft.rotated),
        )
        return [
            *(small_button(text, tip, partial(self._change, do)) for text, tip, do in changes),
            small_button("Copy", "All cells, for a spreadsheet; Ctrl+C copies those selected.",
                    self._copy),
            small_button("Paste", "A square of numbers, separated by tabs, semicolons, commas or "
                    "spaces, replaces all cells; a number or another rectangle goes where the "
                    "selected cells are (Ctrl+V).", self._paste),
        ]  # fmt: skip

    def _lay_out(self) -> None:
        head = QGridLayout()
        head.setHorizontalSpacing(8)
        for row, column, title, part in (
            (0, 0, "Start from", self._presets),
            (0, 2, "Size", self._size),
            (1, 0, "Divisor", self._divisor),
            (1, 2, "Offset", self._offset),
        ):
            label = Label(title)
            label.setBuddy(part)
            head.addWidget(label, row, column)
            head.addWidget(part, row, column + 1)
        head.setColumnStretch(1, 1)
        buttons = QWidget()
        buttons.setLayout(Flow(6, *self._buttons))
        # An empty share: below what is as high as it can be.
        left = VBox(spacing=8).add(head, (self._grid, 1), self._sentence, buttons, 0)
        self._sections = (
            FoldedSection("weights-fold-effect", TIPS["effect"], weights_summary.TITLE, self._told),
            FoldedSection("weights-fold-named", TIPS["named"], named_weights.TITLE, self._library),
        )
        right = VBox(spacing=10).add((self._sections[0], 3), (self._sections[1], 2))
        inside = QWidget()
        self._both = QBoxLayout(QBoxLayout.Direction.TopToBottom, inside)
        self._both.setContentsMargins(MARGINS)
        self._both.setSpacing(12)
        self._both.addLayout(left, 3)
        self._both.addLayout(right, SUMMARY_SHARE)
        parts = (self._sections[1], buttons, self._told.response, self._sentence)
        self._off_stage = OffStage(self, *parts)
        self._off_stage.staged.connect(self._turn)
        VBox(self, 0).add(UprightArea(inside))

    def _turn(self) -> None:
        is_wide = self.width() >= theme.in_letters(WIDE_PX) * factor_of(self)
        way = QBoxLayout.Direction.LeftToRight if is_wide else QBoxLayout.Direction.TopToBottom
        if self._both.direction() != way:
            self._both.setDirection(way)
        # On stage its cells are as high as the rest leaves room for.
        is_staged = self._off_stage.is_staged
        self._grid.stand_in(0 if is_wide or is_staged else self.width())
        self._both.setStretch(1, 0 if is_staged else SUMMARY_SHARE)
        self._sentence.keep_lines(1 + (self.height() > theme.in_letters(LOW_PX) * factor_of(self)))
        has_all = is_wide or is_staged
        for section, px in zip(self._sections, TALL_PX, strict=True):
            is_tall = self.height() >= theme.in_letters(px) * factor_of(self)
            section.show_room(has_all or is_tall, is_choice=not has_all)
