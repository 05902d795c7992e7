"""Instructions to read, in colour; those of one line of the source are set off."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor, QTextFormat
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit

from workbench.base import theme
from workbench.widgets.code_view import MARGIN_PX, CodeColours

CHOSEN_ALPHA = 70
MAX_COLOURED = 150_000  # characters; beyond, colouring would be felt at every pause in typing


class CodeListing(QPlainTextEdit):
    """A text that can be walked through by mouse and keys.

    Signals:
        row_picked(row): the user put the cursor into this row, from 0.
    """

    row_picked = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("kernel-code")
        self.setAccessibleName("Instructions")
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setFont(theme.fixed_font())
        self.document().setDocumentMargin(MARGIN_PX)
        self._chosen: Sequence[int] = ()
        self._colours = CodeColours(self.document(), theme.colors(self.palette()))
        self.cursorPositionChanged.connect(self._tell)

    @property
    def chosen(self) -> Sequence[int]:
        """Return the rows that are set off."""
        return self._chosen

    def show_rows(self, texts: Sequence[str]) -> None:
        """Show these rows, none of them set off."""
        row, left = self.textCursor().blockNumber(), self.verticalScrollBar().value()
        text = "\n".join(texts)
        self._chosen = ()
        colors = theme.colors(self.palette())
        self._colours.choose(None, colors)  # so that each line is coloured once
        self.blockSignals(True)  # nobody moved the cursor
        self.setPlainText(text)
        self.setTextCursor(QTextCursor(self.document().findBlockByNumber(min(row, len(texts) - 1))))
        self.blockSignals(False)
        self._colours.choose("assembly" if len(text) <= MAX_COLOURED else None, colors)
        self.verticalScrollBar().setValue(left)

    def choose_rows(self, rows: Sequence[int], *, is_followed: bool) -> None:
        """Set these rows off; is_followed: bring the first of them into view, if none is."""
        self._chosen = rows
        self._show_chosen()
        if is_followed and rows and not any(self._is_in_view(row) for row in rows):
            bar = self.verticalScrollBar()  # it counts in rows
            bar.setValue(rows[0] - bar.pageStep() // 3)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_colours"):
            is_coloured = len(self.toPlainText()) <= MAX_COLOURED
            colors = theme.colors(self.palette())
            self._colours.choose("assembly" if is_coloured else None, colors)
            self._show_chosen()

    @Slot()
    def _tell(self) -> None:
        if self.hasFocus():
            self.row_picked.emit(self.textCursor().blockNumber())

    def _is_in_view(self, row: int) -> bool:
        bar = self.verticalScrollBar()
        return bar.value() <= row < bar.value() + bar.pageStep()

    def _show_chosen(self) -> None:
        how = _whole_row(theme.colors(self.palette()).accent, CHOSEN_ALPHA)
        self.setExtraSelections([self._extra(row, how) for row in self._chosen])

    def _extra(self, row: int, how: QTextCharFormat) -> QTextEdit.ExtraSelection:
        made = QTextEdit.ExtraSelection()
        made.cursor = QTextCursor(self.document().findBlockByNumber(row))
        made.format = how
        return made


def _whole_row(color: str, alpha: int) -> QTextCharFormat:
    made, shade = QTextCharFormat(), QColor(color)
    shade.setAlpha(alpha)
    made.setBackground(shade)
    made.setProperty(QTextFormat.Property.FullWidthSelection, True)
    return made
