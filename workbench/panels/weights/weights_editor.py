"""The weights editor: cells to type into, whose valid changes are filtered at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QSignalBlocker, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QResizeEvent,
    QShowEvent,
    QUndoStack,
)
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QLineEdit, QPushButton, QWidget

from kernels import filters
from kernels.core.errors import BadJobError
from workbench.base import theme
from workbench.base.plain_text import Label, tip_text
from workbench.base.table_text import (
    MAX_CHARACTERS,
    MAX_SIZE,
    SIZES,
    as_text,
    in_words,
    why_no_value,
)
from workbench.panels.weights import library_box, weights_summary
from workbench.panels.weights.filter_list import PresetBox, preset
from workbench.panels.weights.library_box import LibraryBox
from workbench.panels.weights.named_weights import Named, WeightsLibrary
from workbench.panels.weights.pasting import pasted
from workbench.panels.weights.weights_draft import WeightsDraft, drawing_of
from workbench.panels.weights.weights_grid import WeightsGrid
from workbench.panels.weights.weights_summary import WeightsSummary
from workbench.panels.weights.weights_undo import WeightsStep
from workbench.widgets.boxes import Flow, UprightArea, VBox
from workbench.widgets.buttons import push_button
from workbench.widgets.folding import FoldedSection, GivingWay
from workbench.widgets.lazy_panel import MARGINS
from workbench.widgets.letters import factor_of
from workbench.widgets.number_boxes import OddSpinBox

SUMMARY_SHARE = 2  # of the room that is left; the grid has 3
WIDE_PX = 720  # from here on the grid has what the weights do at its right, below it else
TALL_PX = (870, 1150)  # from here on a narrow one has room for each of its sections
MAX_STEPS = 500
EFFECT_TIP = "Their sum, their rank and their frequency response"
NAMED_TIP = "Weights kept under a name, and those of files"
NO_OFFSET = "The offset is a part of white, from −1 to 1: for 128 of 255 write 128/255."
HINT = "Enter: down · Tab: right · Ctrl+Tab: leave grid · Ctrl+Z: undo"
UNDO = QKeySequence.StandardKey.Undo
REDO = (QKeySequence("Ctrl+Shift+Z"), QKeySequence("Ctrl+Y"))


class WeightsEditor(QWidget):
    """The weights editor; what is drawn is picked at once, unless a cell is no number.

    Signals:
        picked(matrix, offset): these weights are wanted, and this part of white added.
    """

    picked = Signal(object, float)

    def __init__(self, library: WeightsLibrary, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("weights-editor")
        self._drawing = WeightsDraft((("0",) * 3, ("0", "1", "0"), ("0",) * 3))
        self._applied: tuple[NDArray[np.float32], float] | None = None
        self._steps = QUndoStack(self)
        self._steps.setUndoLimit(MAX_STEPS)
        self._grid = WeightsGrid(self._drawing)
        self._grid.typed.connect(self._type)
        self._grid.copy_wanted.connect(self._copy)
        self._grid.paste_wanted.connect(self._paste)
        tip = "A larger size adds zeros around; a smaller one crops to the centre."
        self._size = OddSpinBox("weights-size", "Size of the weights", tip)
        self._size.picked.connect(self._resize)
        self._presets = PresetBox()
        self._presets.activated.connect(lambda _: self._draw_preset(self._presets.currentData()))
        self._divisor = _number_line(
            "Divisor", "All cells are divided by it: 1 2 1 over 4 is 0.25 0.5 0.25.", self._divide
        )
        self._offset = _number_line(
            "Offset",
            "Is added to every filtered sample but alpha, as a part of white: 1/2 makes zero a "
            "medium grey, 128/255 adds 128 at 8 bits.",
            self._add,
        )
        self._presets.setMinimumWidth(theme.in_letters(90))
        for narrow in (self._size, self._offset):  # what is left is for the names of filters
            narrow.setMaximumWidth(theme.in_letters(76))
        self._sentence = Label(HINT, name="weights-sentence", wraps=True)
        self._told = WeightsSummary()
        self._library = LibraryBox(library, lambda: self._drawing)
        self._library.picked.connect(self._draw_named)
        self._library.message.connect(self._say)
        self._buttons = self._make_buttons()
        self._lay_out()
        self._show(self._drawing)

    @property
    def drawing(self) -> WeightsDraft:
        """Return what is drawn."""
        return self._drawing

    def show_weights(self, weights: NDArray[np.float32], offset: float, title: str) -> None:
        """Draw the weights of the window's filter, called `title`; nothing is picked."""
        if self._are_applied(weights, offset):
            return
        if len(weights) > MAX_SIZE:
            self._say(
                f"{title} is {len(weights)}×{len(weights)} in the window, and the editor takes "
                f"sizes up to {MAX_SIZE}; what is drawn here is applied when it is changed.",
                is_bad=True,
            )
            self._applied = None
            return
        self._applied = weights, offset
        self._take(drawing_of(weights, offset), title, following=True)

    def draw(self, drawing: WeightsDraft) -> None:
        """Draw this, as if somebody had typed it."""
        self._take(drawing, "what was drawn before")

    def apply(self, drawing: WeightsDraft, sentence: str = HINT) -> None:
        """Show `drawing`, and have it filtered if it can be; only undo steps call this."""
        self._show(drawing, sentence)
        weights, offset = drawing.weights, drawing.added
        if weights is None or offset is None or self._are_applied(weights, offset):
            return
        self._applied = weights, offset
        self.picked.emit(drawing.matrix, offset)

    def _are_applied(self, weights: NDArray[np.float32], offset: float) -> bool:
        if self._applied is None:
            return False
        return np.array_equal(weights, self._applied[0]) and offset == self._applied[1]

    def close_thread(self) -> None:
        """Wait for the library's thread to end."""
        self._library.close_thread()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self._library.refresh()

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        self._grid.setFocus(event.reason())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._turn()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and self.layout() is not None:
            self._turn()  # larger letters need more room

    def event(self, event: QEvent) -> bool:
        """Keep the keys of undo and redo from the menus while the editor has the keyboard."""
        is_asked = event.type() == QEvent.Type.ShortcutOverride
        if is_asked and isinstance(event, QKeyEvent) and (event.matches(UNDO) or _is_redo(event)):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if _is_redo(event):
            self._steps.redo()
        elif event.matches(UNDO):
            self._steps.undo()
        else:
            super().keyPressEvent(event)

    # -- what the user does

    def _type(self, cells: list[tuple[int, int]], text: str) -> None:
        drawing = self._drawing
        for row, column in cells:
            drawing = drawing.with_cell(row, column, text)
        self._take(drawing, "typing")

    def _divide(self) -> None:
        text = self._divisor.text().strip()
        if text != self._drawing.divisor:
            self._take(replace(self._drawing, divisor=text), "the divisor")

    def _add(self) -> None:
        text = self._offset.text().strip()
        if text != self._drawing.offset:
            self._take(replace(self._drawing, offset=text), "the offset")

    def _resize(self, size: int) -> None:
        old = self._drawing
        if size == old.size:
            return
        new = old.resized(size)
        if size > old.size:
            words = "Zeros were added around the weights."
        else:
            cut = old.resized(size).resized(old.size) != old
            words = "Cropped to the centre. Ctrl+Z restores the grid." if cut else ""
        self._take(new, "the size", words or HINT)

    def _draw_preset(self, key: str) -> None:
        drawing, words = preset(key, self._drawing.size)
        self._take(drawing, filters.get(key).title, words or HINT)

    def _draw_named(self, named: Named) -> None:
        self._take(named.drawing, named.name, f"Loaded “{named.name}”.")

    def _change(self, change: Callable[[WeightsDraft], WeightsDraft], words: str) -> None:
        try:
            self._take(change(self._drawing), words)
        except BadJobError as error:
            self._say(str(error), is_bad=True)

    def _copy(self, cells: list[tuple[int, int]] | None = None) -> None:
        """Copy the selected cells, or all where just one is selected, to the clipboard."""
        drawn = self._drawing.cells
        if cells is None or len(cells) <= 1:
            cells = [(y, x) for y in range(len(drawn)) for x in range(len(drawn))]
        rows = sorted({y for y, _ in cells})
        texts = tuple(tuple(drawn[y][x] for a, x in cells if a == y) for y in rows)
        QGuiApplication.clipboard().setText(as_text(texts))
        self._say(f"Copied {len(cells)} cells.")

    def _paste(self) -> None:
        text = QGuiApplication.clipboard().text()[: MAX_CHARACTERS + 1]  # a longer text is refused
        try:
            drawing, words = pasted(text, self._drawing, self._grid.selected)
        except BadJobError as error:
            self._say(str(error), is_bad=True)
            return
        self._take(drawing, "paste", words)

    # -- steps, and what they show

    def _take(
        self, drawing: WeightsDraft, words: str, sentence: str = HINT, following: bool = False
    ) -> None:
        """Take the next step: `drawing` instead of what is there."""
        if following and self._steps.count() == 0:
            self._show(drawing)  # the first drawing is no step
        elif drawing != self._drawing:
            self._steps.push(WeightsStep(self, self._drawing, drawing, words, sentence, following))

    def _show(self, drawing: WeightsDraft, sentence: str = HINT) -> None:
        self._drawing = drawing
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
        """Say why what is drawn is not applied."""
        wrong = drawing.invalid
        if wrong:
            row, column = wrong[0]
            cell = in_words(drawing.cells[row][column])
            reason = why_no_value(drawing.cells[row][column])
            one = f"{cell} in row {row + 1}, column {column + 1} {reason}"
            others = len(wrong) - 1
            more = f", and {others} more {'are' if others > 1 else 'is'} wrong" if others else ""
            self._say(f"{one}{more}: the picture keeps the last weights that were.", is_bad=True)
        elif drawing.divided_by is None:
            self._say("The divisor must be a number other than 0.", is_bad=True)
        elif drawing.added is None:
            self._say(NO_OFFSET, is_bad=True)
        else:
            self._say("These numbers are too large for float32.", is_bad=True)

    def _say(self, sentence: str, is_bad: bool = False) -> None:
        self._sentence.setText(sentence)
        if self._sentence.property("objection") != is_bad:
            self._sentence.setProperty("objection", is_bad)
            self._sentence.style().polish(self._sentence)

    # -- building

    def _make_buttons(self) -> list[QPushButton]:
        change = self._change
        made = [
            _button("Normalise", "Divide so that the weights add up to 1.",
                    partial(change, WeightsDraft.normalised, "normalise")),
            _button("Transpose", "Rows become columns.",
                    partial(change, WeightsDraft.transposed, "transpose")),
            _button("Flip ↔", "Mirror left and right.",
                    partial(change, WeightsDraft.flipped_across, "flip")),
            _button("Flip ↕", "Mirror top and bottom.",
                    partial(change, WeightsDraft.flipped_down, "flip")),
            _button("Rotate 90°", "Rotate clockwise.",
                    partial(change, WeightsDraft.rotated, "rotate")),
            _button("Copy", "All cells, for a spreadsheet; Ctrl+C copies those selected.",
                    self._copy),
            _button("Paste", "A square of numbers, separated by tabs, semicolons, commas or "
                    "spaces, replaces all cells; a number or another rectangle goes where the "
                    "selected cells are (Ctrl+V).", self._paste),
            _button("Undo", "Undo the last change to the cells (Ctrl+Z).", self._steps.undo),
            _button("Redo", "Redo it (Ctrl+Shift+Z).", self._steps.redo),
        ]  # fmt: skip
        undo, redo = made[-2:]
        for button, can in ((undo, self._steps.canUndoChanged), (redo, self._steps.canRedoChanged)):
            button.setEnabled(False)
            can.connect(button.setEnabled)
        return made

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
        buttons, row_of_buttons = QWidget(), Flow(6)
        buttons.setLayout(row_of_buttons)
        for button in self._buttons:
            row_of_buttons.addWidget(button)
        left, right = VBox(), VBox()
        for half in (left, right):
            half.setSpacing(10)
        left.add(head, (self._grid, 1), self._sentence, buttons)
        left.addStretch(0)  # below what is as high as it can be
        self._sections = (
            FoldedSection("weights-fold-effect", EFFECT_TIP, weights_summary.TITLE, self._told),
            FoldedSection("weights-fold-named", NAMED_TIP, library_box.TITLE, self._library),
        )
        right.add((self._sections[0], 3), (self._sections[1], 2))
        inside = QWidget()
        self._both = QBoxLayout(QBoxLayout.Direction.TopToBottom, inside)
        self._both.setContentsMargins(MARGINS)
        self._both.setSpacing(12)
        self._both.addLayout(left, 3)
        self._both.addLayout(right, SUMMARY_SHARE)
        area = UprightArea(inside)
        parts = (self._sections[1], buttons, self._told.response, self._sentence)
        self._giving_way = GivingWay(area, parts)
        self._giving_way.staged.connect(self._turn)
        around = VBox(self, 0)
        around.addWidget(area)

    def _turn(self) -> None:
        """Put the two columns side by side where there is room, else one below the other."""
        is_wide = self.width() >= theme.in_letters(WIDE_PX) * factor_of(self)
        way = QBoxLayout.Direction.LeftToRight if is_wide else QBoxLayout.Direction.TopToBottom
        if self._both.direction() != way:
            self._both.setDirection(way)
        # On stage its cells are as high as the rest leaves room for.
        is_staged = self._giving_way.is_staged
        self._grid.stand_in(0 if is_wide or is_staged else self.width())
        self._both.setStretch(1, 0 if is_staged else SUMMARY_SHARE)
        has_all = is_wide or is_staged
        for section, px in zip(self._sections, TALL_PX, strict=True):
            is_tall = self.height() >= theme.in_letters(px) * factor_of(self)
            section.show_room(has_all or is_tall, is_choice=not has_all)


def _is_redo(event: QKeyEvent) -> bool:
    return QKeySequence(event.keyCombination()) in REDO


def _number_line(title: str, tip: str, do: Callable[[], None]) -> QLineEdit:
    made = QLineEdit()
    made.setObjectName(f"weights-{title.lower()}")
    made.setAccessibleName(title)
    made.setToolTip(tip_text(tip))
    made.editingFinished.connect(do)
    return made


def _button(text: str, tip: str, do: Callable[[], object]) -> QPushButton:
    made = push_button(f"weights-{text.lower()}", text, tip)
    made.setProperty("compact", True)
    made.clicked.connect(lambda _: do())
    return made
