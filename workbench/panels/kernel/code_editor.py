"""An editor of CUDA C++: numbered lines, colours, brackets, and marks where something is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QEvent, QMimeData, QRect, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextCharFormat,
    QTextCursor,
    QTextFormat,
)
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QToolTip, QWidget

from workbench.base import theme
from workbench.base.paths import asset_table
from workbench.base.plain_text import tip_text
from workbench.panels.kernel import typing_aids
from workbench.panels.kernel.trial_words import LineWords
from workbench.panels.kernel.typing_aids import KEEP, Move
from workbench.widgets.buttons import described
from workbench.widgets.code_view import CodeColours
from workbench.widgets.letters import take_up

MARGIN_PX = 4
SMALLER = 0.8  # letters, where usual ones need too much room
LINE_ALPHA, FOUND_ALPHA = 22, 70
BESIDE_PX = 6  # at either side of the numbers
FEWEST_DIGITS = 2
COUNT_DIGITS = 7  # "1,024 B"
LEAST_LETTERS = 2  # of a word, before completions come by themselves
CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
NONE = Qt.KeyboardModifier.NoModifier
RETURNS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
TABS = (Qt.Key.Key_Tab, Qt.Key.Key_Backtab)
# The window has other actions for these, which wait while the source has the keyboard.
OWN_KEYS = tuple(map(QKeySequence, ("Ctrl+/", "Ctrl+Space", "Ctrl+Tab", "Ctrl+Shift+Tab", "Tab")))
HINT: str = asset_table("tips.toml")["kernel-trial"]["source"]
Extra = QTextEdit.ExtraSelection
Kind = Literal["error", "bug", "step"]  # of the compiler; that a run found; of the step in view


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in the source where something is wrong."""

    line: int  # from 1
    column: int  # from 1; 0: not known
    sentence: str  # on the error
    kind: Kind = "error"


class CodeEditor(QPlainTextEdit):
    """A text with numbered lines.  Marks move with the text they stand at.

    has_counts      counts are shown beside the lines
    actions_by_key  called for these keys, in portable text, in place of the window's actions
    completions     the list of completions, which takes its keys while it is open
    """

    # (least): the user types a word, which may be completed from this many letters on; 0: or asks
    # for completions.
    completion_wanted = Signal(int)

    def __init__(self) -> None:
        super().__init__(lineWrapMode=QPlainTextEdit.LineWrapMode.NoWrap)
        described(self, "kernel-source", "Kernel source")
        self.setAccessibleDescription(HINT)
        self.document().setDocumentMargin(MARGIN_PX)
        self.actions_by_key: Mapping[str, Callable[[], object]] = {}
        self.completions: QWidget | None = None
        self.has_counts = False
        self._is_leaving = False  # Esc was pressed: the next Tab leaves
        self._marks: list[tuple[QTextCursor, Mark]] = []
        self._found: list[QTextCursor] = []
        self._step: QTextCursor | None = None  # the line that was pointed at
        self._counts: list[tuple[QTextCursor, LineWords]] = []
        self._colours = CodeColours(self.document(), theme.colors(self.palette()))
        self._colours.choose("cuda", theme.colors(self.palette()))
        self._gutter = LineGutter(self)
        self.setFont(theme.fixed_font())
        self.blockCountChanged.connect(lambda _: self._make_room())
        self.updateRequest.connect(self._scroll_gutter)
        self.cursorPositionChanged.connect(self._show_extras)
        self._make_room()
        self._show_extras()

    def replace_text(self, text: str) -> None:
        """Show `text` instead; Ctrl+Z brings back the text before."""
        if text != self.toPlainText():
            line, cursor = self.textCursor().blockNumber(), QTextCursor(self.document())
            cursor.select(QTextCursor.SelectionType.Document)
            cursor.insertText(text)
            self.go_to_line(line + 1)

    def begin_with(self, text: str) -> None:
        """Show `text` of another file; there is nothing to undo."""
        self._marks, self._counts = [], []
        self.setPlainText(text)
        self._show_extras()

    def go_to_line(self, number: int, column: int = 0) -> None:
        """Put the cursor into the line, counted from 1; beyond the text, into the last."""
        block = self.document().findBlockByNumber(min(max(number, 1), self.blockCount()) - 1)
        at = block.position() + min(max(column - 1, 0), block.length() - 1)
        self.setTextCursor(_span(self, at, at))
        self.centerCursor()

    def go_to_mark(self, line: int) -> None:
        """Put the cursor where the mark of a line, counted from 1, begins, or at its start."""
        marks = (each.selectionStart() for each, _ in self._marks if each.blockNumber() == line - 1)
        block = self.document().findBlockByNumber(line - 1)
        self.go_to_line(line, next(marks, block.position()) - block.position() + 1)

    def show_marks(self, marks: Sequence[Mark]) -> None:
        self._marks = [(self._place_of(each), each) for each in marks if each.line > 0]
        self._show_extras()

    def marked_lines(self) -> dict[int, str]:
        """The kind of mark of each line that has one, counted from 0."""
        return {cursor.blockNumber(): mark.kind for cursor, mark in reversed(self._marks)}

    def sentence_at(self, line: int) -> str:
        """The errors and counts of a line, counted from 0; empty: none."""
        found = [mark.sentence for cursor, mark in self._marks if cursor.blockNumber() == line]
        if self.has_counts:
            found += [each.sentences for at, each in self._counts if at.blockNumber() == line]
        return "\n".join(found)

    def show_counts(self, counts: Mapping[int, LineWords]) -> None:
        """Set the counts of lines, from 1, which move with the text."""
        block_at = self.document().findBlockByNumber
        self._counts = [
            (QTextCursor(block_at(line - 1)), words)
            for line, words in counts.items()
            if 0 < line <= self.blockCount()
        ]
        self._gutter.update()

    def make_counts_visible(self, is_shown: bool) -> None:
        self.has_counts = is_shown
        self._make_room()
        self._gutter.update()

    def counted_lines(self) -> dict[int, str]:
        """The counts beside the lines, from 0; {}: none are shown."""
        shown = self._counts if self.has_counts else ()
        return {cursor.blockNumber(): words.short for cursor, words in shown}

    def show_step(self, line: int, sentence: str = "") -> None:
        """Highlight the line, from 1, of a step or an instruction, with what is bad; 0: none."""
        self._marks = [each for each in self._marks if each[1].kind != "step"]
        if sentence:
            self._marks.append((self._place_of(mark := Mark(line, 0, sentence, "step")), mark))
        block = self.document().findBlockByNumber(line - 1)
        self._step = QTextCursor(block) if line > 0 and block.isValid() else None
        if self._step is not None and self.textCursor().blockNumber() != line - 1:
            end = QTextCursor(self._step)
            end.movePosition(Move.EndOfBlock)
            for each in (end, self._step):  # a wrapped line is seen to its end
                self.setTextCursor(each)
                self.ensureCursorVisible()
        self._show_extras()

    @property
    def step_line(self) -> int:
        """The line that `show_step` highlights, from 1; 0: there is none."""
        return 0 if self._step is None else self._step.blockNumber() + 1

    def show_found(self, found: Sequence[QTextCursor]) -> None:
        self._found = list(found)
        self._show_extras()

    def lines_in_view(self) -> Iterator[tuple[int, QRect]]:
        """Yield the number of each line in view, from 0, and its place in the gutter."""
        block = self.firstVisibleBlock()
        while block.isValid():
            box = self.blockBoundingGeometry(block).translated(self.contentOffset()).toRect()
            if box.top() > self.viewport().height():
                return
            yield block.blockNumber(), box
            block = block.next()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            pressed = QKeySequence(event.keyCombination())
            if event.key() == Qt.Key.Key_Escape:
                self._is_leaving = True  # whatever else the window does with it
            if pressed.toString() in self.actions_by_key or pressed in OWN_KEYS:
                event.accept()
                return True
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            at = self.viewport().mapFrom(self, event.pos())
            sentence = self.sentence_at(self.cursorForPosition(at).blockNumber())
            QToolTip.showText(event.globalPos(), tip_text(sentence or HINT), self)
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        pressed = QKeySequence(event.keyCombination()).toString()
        is_listing = self.completions is not None and self.completions.isVisible()
        if is_listing and event.key() in (Qt.Key.Key_Escape, *RETURNS, *TABS):
            event.ignore()  # the list's
            return
        if pressed in self.actions_by_key:
            self.actions_by_key[pressed]()
        elif event.key() in TABS:
            is_back = event.key() == Qt.Key.Key_Backtab
            if event.modifiers() & CTRL or self._is_leaving:
                self._is_leaving = False
                self.setTabChangesFocus(True)  # else Qt keeps the keyboard here
                self.focusNextPrevChild(not is_back)
                self.setTabChangesFocus(False)
            elif is_back:
                typing_aids.dedent(self.textCursor())
            else:
                typing_aids.indent(self.textCursor())
        elif event.key() == Qt.Key.Key_Escape:
            self._is_leaving = True
            super().keyPressEvent(event)
        elif not self._aid(event):
            super().keyPressEvent(event)
            if is_listing or (event.text() and event.text().isprintable()):
                self.completion_wanted.emit(LEAST_LETTERS)
        if event.key() not in (Qt.Key.Key_Escape, *TABS, Qt.Key.Key_Shift):
            self._is_leaving = False

    def canInsertFromMimeData(self, source: QMimeData) -> bool:  # noqa: N802
        """Accept only text: the window opens a file that is dropped here."""
        return not source.hasUrls() and super().canInsertFromMimeData(source)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if not hasattr(self, "_gutter"):
            return  # Qt styles it while it is made
        if event.type() == QEvent.Type.PaletteChange:
            self._colours.choose("cuda", theme.colors(self.palette()))
            self._show_extras()
        elif event.type() == QEvent.Type.FontChange:
            self._make_room()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._place_gutter()

    def _aid(self, event: QKeyEvent) -> bool:
        """Act on a key that stands for more than its letter; False: it does not."""
        key, modifiers, cursor = event.key(), event.modifiers(), self.textCursor()
        if key in RETURNS and modifiers in (NONE, SHIFT, Qt.KeyboardModifier.KeypadModifier):
            typing_aids.break_line(cursor)
            self.setTextCursor(cursor)
            self.ensureCursorVisible()
            return True
        if event.text() == "}":
            typing_aids.close_brace(cursor)
            return True
        if key == Qt.Key.Key_Backspace and modifiers == NONE:
            return typing_aids.delete_stop(cursor)
        if key == Qt.Key.Key_Slash and modifiers & CTRL:
            typing_aids.toggle_comment(cursor)
            return True
        if key == Qt.Key.Key_Space and modifiers == CTRL:
            self.completion_wanted.emit(0)
            return True
        return False

    def _place_of(self, mark: Mark) -> QTextCursor:
        """The word of a mark; without a column, all of its line."""
        block = self.document().findBlockByNumber(min(mark.line, self.blockCount()) - 1)
        text, at = block.text(), mark.column - 1
        if not (0 <= at < len(text) and text[at].strip()):
            indent = len(text) - len(text.lstrip())
            return _span(self, block.position() + indent, block.position() + len(text))
        cursor = _span(self, block.position() + at, block.position() + at)
        cursor.movePosition(Move.EndOfWord, KEEP)
        if not cursor.hasSelection():
            cursor.movePosition(Move.NextCharacter, KEEP)
        return cursor

    def _show_extras(self) -> None:
        colors, here = theme.colors(self.palette()), self.textCursor()
        here.clearSelection()
        extras = [extra(here, whole_line(colors.muted, LINE_ALPHA))]
        if self._step is not None:
            extras.append(extra(self._step, whole_line(colors.accent, FOUND_ALPHA)))
        extras += [extra(cursor, _filled(colors.warn, FOUND_ALPHA)) for cursor in self._found]
        if (pair := typing_aids.bracket_pair(self.toPlainText(), here.position())) is not None:
            how = _filled(colors.accent if pair[1] >= 0 else colors.bad, FOUND_ALPHA)
            how.setFontUnderline(pair[1] < 0)
            extras += [extra(_span(self, at, at + 1), how) for at in pair if at >= 0]
        for cursor, mark in self._marks:
            wave = QTextCharFormat()
            wave.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
            wave.setUnderlineColor(_mark_color(mark.kind, colors))
            extras.append(extra(cursor, wave))
        self.setExtraSelections(extras)
        self._gutter.update()

    def fit_letters(self, count: int, px: float) -> int:
        """Take smaller letters where `count` of a line need more than `px`; return that need."""
        for scale in (1.0, SMALLER):
            font = theme.fixed_font()
            font.setPointSizeF(scale * font.pointSizeF())
            self.setFont(font)
            take_up(self)
            letters, bar = (
                self.fontMetrics().horizontalAdvance("0" * count),
                self.verticalScrollBar(),
            )
            around = self.width() - self.viewport().width() + 2 * MARGIN_PX + 1
            around += 0 if bar.isVisible() else bar.sizeHint().width()
            if (needed := letters + around) <= px:
                break
        return needed

    def _make_room(self) -> None:
        self.setViewportMargins(self._gutter.needed_px(), 0, 0, 0)
        self.setTabStopDistance(typing_aids.STEP * self.fontMetrics().horizontalAdvance(" "))
        self._place_gutter()

    def _place_gutter(self) -> None:
        place = self.contentsRect()
        place.setWidth(self._gutter.needed_px())
        self._gutter.setGeometry(place)

    def _scroll_gutter(self, changed: QRect, down: int) -> None:
        if down:
            self._gutter.scroll(0, down)
        else:
            self._gutter.update(0, changed.y(), self._gutter.width(), changed.height())


def extra(cursor: QTextCursor, how: QTextCharFormat) -> Extra:
    made = Extra()
    made.cursor = cursor
    made.format = how
    return made


def _filled(color: str, alpha: int) -> QTextCharFormat:
    made, shade = QTextCharFormat(), QColor(color)
    shade.setAlpha(alpha)
    made.setBackground(shade)
    return made


def whole_line(color: str, alpha: int) -> QTextCharFormat:
    """The format of a line that is filled to the edge."""
    made = _filled(color, alpha)
    made.setProperty(QTextFormat.Property.FullWidthSelection, True)
    return made


def _span(editor: QPlainTextEdit, begin: int, end: int) -> QTextCursor:
    cursor = QTextCursor(editor.document())
    cursor.setPosition(begin)
    cursor.setPosition(end, KEEP)
    return cursor


def _mark_color(kind: str, colors: theme.Colors) -> QColor:
    return QColor(colors.bad if kind == "error" else colors.warn)


class LineGutter(QWidget):
    """The column of line numbers, counts and marks beside the source.

    Screen readers get marks as sentences below the source, so it takes no keys.
    """

    def __init__(self, editor: CodeEditor) -> None:
        super().__init__(editor)
        self._editor = editor

    def needed_px(self) -> int:
        """Width of marks, counts and numbers; constant with counts, or the text would jump."""
        metrics = self._editor.fontMetrics()
        counts_px = COUNT_DIGITS * metrics.horizontalAdvance("0") if self._editor.has_counts else 0
        return metrics.height() + counts_px + self._numbers_px()

    def _numbers_px(self) -> int:
        digits = max(FEWEST_DIGITS, len(str(self._editor.blockCount())))
        return digits * self._editor.fontMetrics().horizontalAdvance("0") + BESIDE_PX

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        painter = QPainter(self)
        colors = theme.colors(self.palette())
        painter.fillRect(event.rect(), QColor(colors.surface))
        painter.setFont(self._editor.font())
        here, counts = self._editor.textCursor().blockNumber(), self._editor.counted_lines()
        wrong = self._editor.marked_lines()
        for number, box in self._editor.lines_in_view():
            painter.setPen(QColor(colors.text if number == here else colors.muted))
            place = QRect(0, box.top(), self.width() - BESIDE_PX, box.height())
            painter.drawText(place, Qt.AlignmentFlag.AlignRight, str(number + 1))
            if number in counts:
                painter.setPen(QColor(colors.accent))
                place.setWidth(self.width() - self._numbers_px() - BESIDE_PX)
                painter.drawText(place, Qt.AlignmentFlag.AlignRight, counts[number])
            if kind := wrong.get(number):  # shapes differ, not just colours
                painter.setPen(_mark_color(kind, colors))
                painter.drawText(place.adjusted(2, 0, 0, 0), 0, "●" if kind == "error" else "▲")
